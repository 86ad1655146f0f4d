#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same capture gives the same bytes, whatever the threads, the run and the order of rows in the file."""

from __future__ import annotations

import pathlib
import random
import sqlite3

import harness
from harness import edge, run, run_all, synthetic

ORDERED = {"SAMPLING_CALLCHAINS"}  # tables whose key fixes the order of rows


def shuffled(capture: pathlib.Path, seed: int) -> pathlib.Path:
    """The capture with the rows of every table in another order."""
    def make(path: str) -> None:
        source = sqlite3.connect(capture)
        source.text_factory = bytes
        target = sqlite3.connect(path)
        order = random.Random(seed)
        tables = source.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for name, sql in tables:
            table = name.decode()
            columns = source.execute(f'PRAGMA table_info("{table}")').fetchall()
            kinds = ",".join(f'typeof("{c[1].decode()}")' for c in columns)
            found = source.execute(f'SELECT *, {kinds} FROM "{table}"').fetchall()
            order.shuffle(found)
            target.execute(sql.decode())
            for row in found:
                values, types = row[:len(columns)], row[len(columns):]
                slots = ",".join("CAST(? AS TEXT)" if t == b"text" else "?" for t in types)
                target.execute(f'INSERT INTO "{table}" VALUES ({slots})', values)
        target.commit()
        target.close()
        source.close()

    return harness.made_once(f"{capture.stem}_shuffled_{seed}.sqlite", make)


class Determinism(harness.Case):
    def captures(self) -> list[pathlib.Path]:
        odd = ("ten_equal_totals", "equal_times", "crossing_domains", "processes_share_a_device", "equal_strings",
               "gaps_of_every_size", "hostile_names", "four_devices")
        return [synthetic(0, 2, "node")[0], synthetic(7, 2, "graph")[0], *map(edge, odd)]

    def outputs(self, capture: pathlib.Path, *options: str) -> dict[tuple[str, str], bytes]:
        return {(form, skill): said for form in ("jsonl", "text")
                for skill, said in run_all(capture, *options, form=form).items()}

    def test_threads_and_runs(self):
        for capture in self.captures():
            with self.subTest(capture=capture.name):
                first = self.outputs(capture, "--threads", "1")
                self.assertEqual(first, self.outputs(capture, "--threads", "4"))
                self.assertEqual(first, self.outputs(capture, "--threads", "1"))

    def test_order_of_rows_in_the_file(self):
        for capture in self.captures():
            first = self.outputs(capture)
            for seed in (1, 2):
                with self.subTest(capture=capture.name, seed=seed):
                    self.assertEqual(first, self.outputs(shuffled(capture, seed)))

    def test_ties_in_many_runs(self):
        capture = edge("ten_equal_totals")
        seen = {run("skill", "run", "top_kernels", capture, "--format", "json", "--threads", 1 + 7 * (i % 2)).out
                for i in range(20)}
        self.assertEqual(len(seen), 1)
        names = [r["kernel_name"] for r in harness.rows("top_kernels", capture)]
        self.assertEqual(names, [f"void tie_{c}(int)" for c in "abcdefghij"])


if __name__ == "__main__":
    harness.main()
