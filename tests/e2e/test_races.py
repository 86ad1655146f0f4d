#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures that change while they are read, and surroundings that leave the program little: folders that may not be
written, many processes at once, an end of memory."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess

import harness
import races
from harness import edge, run, scratch, synthetic


def tree(folder: pathlib.Path) -> dict[str, tuple]:
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.lstat().st_size, p.lstat().st_mtime_ns)
            for p in sorted(folder.rglob("*"))}


class Races(harness.Case):
    def assert_raced(self, old: pathlib.Path, new: pathlib.Path, count: int, seed: int) -> None:
        with scratch() as folder:
            seen = races.Races(old, new, folder, seed).run(count)
        self.assertGreater(seen["answer"], 0, seen)
        self.assertGreater(seen["change"], 0, seen)

    def test_a_file(self):
        self.assert_raced(synthetic(0, 2, "node")[0], synthetic(1, 2, "node")[0], 84 if harness.SANITIZED else 280, 11)

    def test_a_folder_of_tables(self):
        harness.require_pyarrow()
        old, new = (harness.parquetdir(synthetic(seed, 2, "node")[0]) for seed in (0, 1))
        self.assert_raced(old, new, 28 if harness.SANITIZED else 84, 12)


class Surroundings(harness.Case):
    def test_a_folder_that_may_not_be_written(self):
        prefix = ()
        if os.geteuid() == 0:
            prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            if not shutil.which("setpriv") or subprocess.run([*prefix, harness.BINARY, "--version"],
                                                             capture_output=True, check=False).returncode:
                self.skipTest("the program cannot be run as another user here")
        with scratch() as folder:
            path = folder / "capture.sqlite"
            shutil.copyfile(edge("plain"), path)
            path.chmod(0o444)
            folder.chmod(0o555)
            if subprocess.run([*prefix, "test", "-r", str(path)], check=False).returncode:
                self.skipTest("the other user cannot reach the test data")
            before = tree(folder)
            for args in (("skill", "run-all", path, "--format", "json"),
                         ("sql", path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")):
                got = run(*args, prefix=prefix, cwd=folder)
                self.assertEqual((got.code, got.out), (0, run(*args).out), got)
            self.assertEqual(tree(folder), before)
            folder.chmod(0o755)

    def test_many_processes_at_once(self):
        capture = edge("plain")
        command = [harness.BINARY, "skill", "run-all", str(capture), "--format", "json", "--threads", "2"]
        count = 16 if harness.SANITIZED else 64
        running = [subprocess.Popen(command, env=harness.RUN_ENVIRONMENT, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(count)]
        ended = [(*process.communicate(timeout=300), process.returncode) for process in running]
        self.assertEqual({(hashlib.sha256(out).hexdigest(), err, code) for out, err, code in ended},
                         {(hashlib.sha256(run(*command[1:]).out).hexdigest(), b"", 0)})


class Memory(harness.Case):
    """An end of memory is told, on whatever thread and in whatever library it comes."""

    LIMITS = (*range(8, 40), *range(40, 120, 4), *range(120, 400, 20), 512, 768, 1024)  # MiB

    def assert_limited(self, *command: object) -> None:
        whole = run(*command).out
        told = 0
        for limit in self.LIMITS:
            got = run(*command, prefix=("sh", "-c", f'ulimit -v {limit * 1024}; exec "$@"', "limited"), timeout=60)
            if got.code == 127 or b"error while loading shared libraries" in got.err:
                continue  # not even the program could be loaded
            with self.subTest(command=command[:2], limit=limit):
                self.assertIn(got.code, (0, 1), got)
                if got.code == 0:
                    self.assertEqual(got.out, whole)
                else:
                    told += 1
                    self.assertIn("memory", (got.out + got.err).decode().lower())
                    self.assertNotIn(b"damaged", got.out + got.err)
        self.assertGreater(told, 0)
        self.assertEqual(got.code, 0, got)

    def setUp(self) -> None:
        if harness.SANITIZED:
            self.skipTest("sanitizers reserve all addresses")
        self.capture = synthetic(0, 2, "node")[0]

    def test_skills(self):
        self.assert_limited("skill", "run-all", self.capture, "--format", "json", "--threads", 4)

    def test_sql(self):
        query = "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1, 2"
        self.assert_limited("sql", self.capture, query, "--format", "json")
        self.assert_limited("sql", self.capture, query, "--format", "json", "--engine", "duckdb", "--threads", 2)

    def test_a_folder_of_tables(self):
        harness.require_pyarrow()
        self.assert_limited("skill", "run", "top_kernels", harness.parquetdir(self.capture), "--format", "json",
                            "--threads", 2)

    def test_convert(self):
        with scratch() as folder:
            self.assert_limited("convert", self.capture, "--output-json", folder / "trace.json", "--threads", 4)


if __name__ == "__main__":
    harness.main()
