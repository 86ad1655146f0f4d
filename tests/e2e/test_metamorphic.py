#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A known change of the capture changes the answers in a known way."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sqlite3

import harness
from harness import rows, run_all, synthetic

TIMES = ("start", "end", "timestamp")
ABSOLUTE_MS = {"start_ms", "end_ms", "gpu_start_s", "gpu_end_s"}  # positions, in rounded units
POSITIONS = {"start_ns", "end_ns", "gpu_start_ns", "gpu_end_ns", "span_start_ns", "span_end_ns", "profile_start_ns",
             "profile_end_ns", "start", "end"}
POSITIONS |= {"max_gap_start_ns", "window_start", "window_end"}  # kernel_launch_pattern, h2d_distribution
WITHOUT = {  # table -> skills that cannot answer without it
    "CUPTI_ACTIVITY_KIND_KERNEL": ("top_kernels", "kernel_instances", "gpu_idle_gaps", "stream_concurrency",
                                   "nccl_breakdown", "overlap_breakdown", "nvtx_kernel_map", "iteration_timing"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": ("memory_transfers", "memory_bandwidth"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": ("nvtx_kernel_map", "iteration_timing"),
    "NVTX_EVENTS": ("nvtx_kernel_map", "iteration_timing"),
}


def changed(name: str, source: pathlib.Path, *statements: str) -> pathlib.Path:
    """A copy of the capture on which the statements were run."""
    def make(path: str) -> None:
        shutil.copyfile(source, path)
        with sqlite3.connect(path) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return harness.made_once(f"{source.stem}_{name}.sqlite", make)


def shift_statements(source: pathlib.Path, delta: int) -> list[str]:
    with sqlite3.connect(source) as db:
        tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [(t, c[1]) for t in tables for c in db.execute(f'PRAGMA table_info("{t}")') if c[1] in TIMES]
    db.close()
    return [f'UPDATE "{t}" SET "{c}" = "{c}" + ({delta}) WHERE "{c}" IS NOT NULL' for t, c in columns]


def moved_back(value: object, delta: int, key: str = "") -> object:
    """The answer with its positions shifted back, and without those that are only there rounded."""
    if isinstance(value, dict):
        return {k: moved_back(v, delta, k) for k, v in value.items() if k not in ABSOLUTE_MS}
    if isinstance(value, list):
        return [moved_back(v, delta, key) for v in value]
    if isinstance(value, str):  # a command with times in it
        return re.sub(r"(start|end)_ns=(-?\d+)", lambda m: f"{m[1]}_ns={int(m[2]) - delta}", value)
    return value - delta if key in POSITIONS and value is not None else value


class Metamorphic(harness.Case):
    def test_shift_of_all_times(self):
        capture, truth = synthetic(1, 2, "node")
        first = truth["devices"]["0"]["active_first_ns"]
        for delta in (-first - 40_000_000, 1_800_000_000_000_000_000 - first):  # across zero; Unix time
            shifted = changed(f"shift_{delta}", capture, *shift_statements(capture, delta))
            self.assert_same_but_moved(shifted, delta, capture)

    def test_shift_moves_the_window_too(self):
        capture, truth = synthetic(1, 2, "node")
        delta = 5_000_000_000
        shifted = changed(f"shift_{delta}", capture, *shift_statements(capture, delta))
        begin, end = truth["processes"]["4000"]["iterations"][2]["gpu_ns"]
        self.assert_same_but_moved(shifted, delta, capture, (begin, end))

    def assert_same_but_moved(self, shifted: pathlib.Path, delta: int, capture: pathlib.Path,
                              window: tuple[int, int] | None = None) -> None:
        """Every skill says of `shifted` what it says of `capture`, `delta` ns later."""
        def answers(path: pathlib.Path, moved: int) -> dict[str, object]:
            trim = ("--trim", *(f"{(t + moved) / 1e9:.6f}" for t in window)) if window else ("-p", "marker=iteration_")
            return {skill: moved_back(json.loads(line), moved) for skill, line in run_all(path, *trim).items()}

        expected = answers(capture, 0)
        for skill, answer in answers(shifted, delta).items():
            with self.subTest(skill=skill, delta=delta, window=window):
                self.assertEqual(answer, expected[skill])

    def test_a_dropped_table_is_said_and_never_a_zero(self):
        capture, _ = synthetic(0, 2, "node")
        for table, skills in WITHOUT.items():
            without = changed(f"without_{table}", capture, f"DROP TABLE {table}")
            for skill in skills:
                with self.subTest(skill=skill, table=table):
                    answer = self.assert_abstains(rows(skill, without))
                    self.assertIn(table, answer["missing_tables"])
                    self.assertIn(table, answer["reason"])

    def test_tables_that_a_skill_does_not_read_change_nothing(self):
        capture, _ = synthetic(0, 2, "node")
        drop = [f"DROP TABLE {t}" for t in ("OSRT_API", "SCHED_EVENTS", "GPU_METRICS", "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                            "META_DATA_CAPTURE")]
        without = changed("without_others", capture, *drop)
        expected = run_all(capture)
        for skill, line in run_all(without).items():
            if skill != "schema_inspect":
                with self.subTest(skill=skill):
                    self.assertEqual(line, expected[skill])

    def test_absent_synchronization_is_absent_not_zero(self):
        capture, _ = synthetic(0, 2, "node")
        without = changed("without_sync", capture, "DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")
        for skill in ("overlap_breakdown", "pipeline_bubble_metrics"):
            self.assertIn("sync_ms", rows(skill, capture)[0])
            self.assertNotIn("sync_ms", rows(skill, without)[0])

    def test_kernels_cut_into_halves_keep_the_union(self):
        capture, _ = synthetic(0, 1, "node")
        kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
        halved = changed("halved", capture, f"CREATE TEMP TABLE half AS SELECT * FROM {kernel}",
                         "UPDATE half SET start = (start + end) / 2",
                         f"UPDATE {kernel} SET end = (start + end) / 2", f"INSERT INTO {kernel} SELECT * FROM half")
        whole, parts = rows("overlap_breakdown", capture)[0], rows("overlap_breakdown", halved)[0]
        for key in ("compute_only_ms", "nccl_only_ms", "overlap_ms", "idle_ms", "total_ms"):
            self.assertEqual(whole[key], parts[key], key)
        self.assertEqual(parts["compute_kernels"], 2 * whole["compute_kernels"])
        self.assertEqual(rows("pipeline_bubble_metrics", capture), rows("pipeline_bubble_metrics", halved))


if __name__ == "__main__":
    harness.main()
