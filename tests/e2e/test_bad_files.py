#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever is given in place of a capture: exit 1, one line or one JSON document that says why, no file left behind."""

from __future__ import annotations

import contextlib
import gzip
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess

import harness
from harness import edge, run, scratch, synthetic

REPORT = b"NVIDIA Tegra Profiler report, made up\0" * 20
FAKE_NSYS = """#!/bin/sh
[ "$2" = --help ] && { echo "--type: sqlite, parquetdir-is-not-known-here"; exit 0; }
for word in "$@"; do case "$word" in --output=*) out="${word#--output=}";; esac; done
%s
"""


def tree(folder: pathlib.Path) -> dict[str, tuple]:
    """All that a run could change: names, sizes, contents' times."""
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.lstat().st_size, p.lstat().st_mtime_ns)
            for p in sorted(folder.rglob("*"))}


class Refusals(harness.Case):
    def assert_refused(self, path: pathlib.Path, code: str | None = None, status: int = 1, prefix: tuple[str, ...] = (),
                       **env: str) -> str:
        """Both output modes refuse `path`, and nothing appears beside it. Gives the message and the hint."""
        folder = path.parent
        before = tree(folder)
        text = run("skill", "run", "top_kernels", path, cwd=folder, env=env, timeout=30, prefix=prefix)
        self.assertEqual(text.code, status, text)
        self.assertEqual(text.out, b"", text)
        self.assertEqual(len(text.error_lines), 1, text)
        as_json = harness.run_skill("top_kernels", path, cwd=folder, env=env, timeout=30, prefix=prefix)
        self.assertEqual((as_json.code, as_json.err), (status, b""), as_json)
        error = as_json.json()["error"]
        self.assertTrue(error["message"] and error["hint"], error)
        if code:
            self.assertEqual(error["code"], code, error)
        self.assertIn(f"[{error['code']}]", text.error_lines[0])
        self.assertEqual(tree(folder), before)
        return f"{error['message']} {error['hint']}"


class BadFiles(Refusals):
    def refuse_bytes(self, name: str, content: bytes, code: str | None = "PROFILE_ERROR") -> str:
        with scratch() as folder:
            path = folder / name
            path.write_bytes(content)
            return self.assert_refused(path, code)

    def test_nothing_there(self):
        with scratch() as folder:
            self.assert_refused(folder / "missing.sqlite", "PROFILE_NOT_FOUND")

    def test_files_that_are_something_else(self):
        noise = random.Random(7).randbytes(70_000)
        for name, content in (("empty.sqlite", b""), ("zeros.sqlite", bytes(8192)), ("one_byte.sqlite", b"S"),
                              ("text.sqlite", b"hello, world\n" * 100),
                              ("page.sqlite", b"<!DOCTYPE html><html><body>404</body></html>"), ("noise.sqlite", noise),
                              ("packed.sqlite", gzip.compress(b"SQLite format 3\0" + bytes(5000))),
                              ("head.sqlite", b"SQLite format 3\0"),
                              ("garbage.sqlite", b"SQLite format 3\0" + noise),
                              ("table.parquet", b"PAR1" + noise + b"PAR1")):
            with self.subTest(name=name):
                self.refuse_bytes(name, content)

    def test_a_database_of_something_else(self):
        with scratch() as folder:
            path = folder / "cookies.sqlite"
            with sqlite3.connect(path) as db:
                db.execute("CREATE TABLE cookies (id INTEGER, value TEXT)")
                db.execute("INSERT INTO cookies VALUES (1, 'x')")
            db.close()
            self.assertIn("cookies", self.assert_refused(path, "SCHEMA_ERROR"))

    def test_truncated_captures(self):
        whole = synthetic(0, 2, "node")[0].read_bytes()
        for length in (100, 1000, 4096, 5000, 8192, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
            with self.subTest(length=length):
                self.refuse_bytes("cut.sqlite", whole[:length])

    def test_damaged_captures_give_the_answer_or_an_error(self):
        whole = synthetic(0, 1, "node")[0]
        right = {s: harness.run_skill(s, whole).out for s in ("top_kernels", "nvtx_kernel_map")}
        refused = unharmed = 0
        content = whole.read_bytes()
        dice = random.Random(3)
        with scratch() as folder:
            path = folder / "damaged.sqlite"
            for _ in range(25):
                broken = bytearray(content)
                at = dice.randrange(0, len(broken) - 4096)
                broken[at:at + 64] = dice.randbytes(64)
                path.write_bytes(broken)
                for skill, answer in right.items():
                    got = harness.run_skill(skill, path, timeout=30)
                    self.assertIn(got.code, (0, 1), got)
                    if got.code == 1:
                        self.assertEqual(got.json()["error"]["code"], "PROFILE_ERROR")
                        refused += 1
                    else:
                        self.assertIsInstance(got.json(), list)
                        unharmed += got.out == answer
        # A changed value cannot be noticed; but most damage lies where a skill does not look, and some where it does.
        self.assertGreater(refused, 0)
        self.assertGreater(unharmed, 25)

    def test_folders(self):
        with scratch() as folder:
            (folder / "nothing").mkdir()
            self.assertIn("holds no .parquet tables", self.assert_refused(folder / "nothing", "PROFILE_ERROR"))
            (folder / "notes").mkdir()
            (folder / "notes" / "a.txt").write_text("x")
            self.assertIn("holds no .parquet tables", self.assert_refused(folder / "notes", "PROFILE_ERROR"))

    def test_folder_with_one_broken_table(self):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        good = harness.parquetdir(synthetic(0, 2, "node")[0])
        for cut in (0, 3, 10, 200):
            with scratch() as folder, self.subTest(cut=cut):
                broken = folder / "capture.parquetdir"
                shutil.copytree(good, broken)
                table = broken / "CUPTI_ACTIVITY_KIND_KERNEL.parquet"
                content = table.read_bytes()
                table.write_bytes(content[:cut] if cut != 10 else content[:-10])
                self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL", self.assert_refused(broken, "PROFILE_ERROR"))

    def test_no_permission(self):
        if os.geteuid() == 0:
            prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            if not shutil.which("setpriv") or subprocess.run([*prefix, harness.BINARY, "--version"],
                                                             capture_output=True, check=False).returncode:
                self.skipTest("the program cannot be run as another user here")
        else:
            prefix = ()
        with scratch() as folder:
            folder.chmod(0o755)
            path = folder / "secret.sqlite"
            shutil.copyfile(edge("plain"), path)
            path.chmod(0)
            probe = subprocess.run([*prefix, "test", "-x", str(folder)], check=False)
            if probe.returncode:
                self.skipTest("the other user cannot reach the test data")
            self.assertIn("permission", self.assert_refused(path, "PROFILE_ERROR", prefix=prefix).lower())

    def test_things_that_are_no_files(self):
        with scratch() as folder:
            os.mkfifo(folder / "pipe.sqlite")
            self.assertIn("is a pipe", self.assert_refused(folder / "pipe.sqlite", "PROFILE_ERROR"))
            os.symlink("/dev/null", folder / "null.sqlite")
            self.assertIn("is a device", self.assert_refused(folder / "null.sqlite", "PROFILE_ERROR"))
            os.symlink("loop.sqlite", folder / "loop.sqlite")
            self.assertIn("cannot open", self.assert_refused(folder / "loop.sqlite", "PROFILE_ERROR"))

    def test_cells_of_another_type_are_told(self):
        with scratch() as folder:
            path = folder / "types.sqlite"
            shutil.copyfile(edge("plain"), path)
            db = sqlite3.connect(path)
            with db:
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc' WHERE rowid = 1")
            got = harness.run_skill("top_kernels", path)
            self.assertEqual((got.code, len(got.error_lines)), (0, 2), got)
            self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL: column start: 1 value of another type than integer (text)",
                          got.error_lines[0])
            with db:
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc'")
            db.close()
            told = self.assert_refused(path, "PROFILE_ERROR")
            self.assertIn("no value of its column start is of type integer", told)

    def test_tables_that_are_no_files(self):
        harness.require_pyarrow()
        good = harness.parquetdir(edge("plain"))
        with scratch() as folder:
            capture = folder / "capture.parquetdir"
            shutil.copytree(good, capture)
            table = capture / "CUPTI_ACTIVITY_KIND_MEMCPY.parquet"
            table.unlink()
            os.mkfifo(table)
            self.assertIn("MEMCPY.parquet is a pipe, not a regular file", self.assert_refused(capture, "PROFILE_ERROR"))
            for command in (("convert", capture, "-o", folder / "out"), ("sql", capture, "SELECT 1")):
                got = run(*command, timeout=30)
                self.assertEqual(got.code, 1, got)
                self.assertIn(b"MEMCPY.parquet is a pipe", got.err + got.out)
            got = run("convert", capture, "-o", folder / "out", "--keep-going", timeout=30)
            self.assertEqual(got.code, 0, got)
            self.assertIn(b"CUPTI_ACTIVITY_KIND_MEMCPY left out", got.err)
            table.unlink()
            table.symlink_to("nowhere")
            self.assertIn("a symbolic link that leads nowhere", self.assert_refused(capture, "PROFILE_ERROR"))
            table.unlink()
            table.mkdir()
            os.mkfifo(table / "part.parquet")
            got = run("convert", capture, "-o", folder / "out", timeout=30)
            self.assertEqual(got.code, 1, got)
            self.assertIn(b"part.parquet is a pipe", got.err)
            self.assertIn("only convert reads tables in parts", harness.run_skill("top_kernels", capture).err.decode())

    def test_a_folder_that_is_called_a_report(self):
        with scratch() as folder:
            path = folder / "x.nsys-rep"
            path.mkdir()
            self.assertIn("x.nsys-rep is a folder, not a report", self.assert_refused(path, "PROFILE_ERROR"))
            got = run("convert", path, "-o", folder / "out")
            self.assertEqual(got.code, 1, got)
            self.assertIn(b"is a folder, not a report", got.err)

    def test_unknown_gpu_tables_are_named(self):
        answer = harness.rows("top_kernels", edge("unknown_gpu_tables"))
        row = self.assert_abstains(answer)
        self.assertIn("CUPTI_ACTIVITY_KIND_KERNEL", row["missing_tables"])
        self.assertTrue(row.get("unknown_gpu_tables"), row)

    def test_an_empty_kernel_table_is_not_good_health(self):
        row = self.assert_abstains(harness.rows("gpu_idle_gaps", edge("empty_kernel_table")))
        self.assertIn("kernel", row["reason"])


class Limits(Refusals):
    """What the system refuses to give says so, and is no damage of the capture."""

    def limited(self, *command: object, files: int) -> harness.Outcome:
        return run(*command, prefix=("sh", "-c", f'ulimit -n {files}; exec "$@"', "limited"), timeout=60)

    def test_too_many_open_files(self):
        if harness.SANITIZED:
            self.skipTest("sanitizers open files of their own")
        captures = [edge("plain")]
        with contextlib.suppress(ImportError):
            import pyarrow  # noqa: F401
            captures.append(harness.parquetdir(edge("plain")))
        refused = 0
        with scratch() as folder:
            for capture in captures:
                for command in (("skill", "run", "top_kernels", capture, "--threads", 2),
                                ("convert", capture, "-o", folder / "out", "--threads", 2),
                                ("sql", capture, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")):
                    for files in range(4, 24):
                        got = self.limited(*command, files=files)
                        if got.code == 127 or b"error while loading shared libraries" in got.err:
                            continue  # not even the program could be loaded
                        if got.code == 0:
                            break
                        refused += 1
                        with self.subTest(command=command[0], capture=capture.name, files=files):
                            self.assertEqual(got.code, 1, got)
                            self.assertIn(b"Too many open files", got.err)
                            self.assertIn(b"ulimit -n", got.err)
                            self.assertNotIn(b"damaged", got.err)
                    self.assertEqual(got.code, 0, got)
        self.assertGreater(refused, 0)

    def test_no_more_threads(self):
        prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1")
        if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("prlimit"):
            self.skipTest("the number of threads cannot be limited here")
        limits = {"prefix": prefix, "timeout": 60, "env": {"ASAN_OPTIONS": "detect_leaks=0"}}
        if run("--version", **limits).code:
            self.skipTest("the program cannot be run as another user here")
        with scratch() as folder:
            folder.chmod(0o777)
            capture = folder / "x.sqlite"
            shutil.copyfile(edge("plain"), capture)
            capture.chmod(0o644)
            if subprocess.run([*prefix, "test", "-r", str(capture)], check=False).returncode:
                self.skipTest("the other user cannot reach the test data")
            got = run("skill", "run", "top_kernels", capture, "--threads", 8, "--format", "json", **limits)
            self.assertEqual((got.code, got.err), (0, b""), got)
            self.assertEqual(got.json(), harness.rows("top_kernels", capture))
            got = run("convert", capture, "-o", folder / "out", "--threads", 8, **limits)
            self.assertEqual(got.code, 0, got)
            got = run("sql", capture, "SELECT 1", "--format", "json", **limits)
            self.assertEqual(got.code, 1, got)
            error = got.json()["error"]
            self.assertIn("no more threads", error["message"])
            self.assertIn("--threads 1", error["hint"])


class Reports(Refusals):
    """`.nsys-rep` files, with and without an export beside them."""

    def setUp(self):
        context = scratch()
        self.folder = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        self.path = self.folder / "my run.nsys-rep"
        self.path.write_bytes(REPORT)
        self.no_nsys = {"PATH": str(self.folder / "nowhere"), "HOME": str(self.folder)}
        self.wanted = harness.rows("top_kernels", edge("plain"))

    def answer(self, **env: str) -> list[dict]:
        got = harness.run_skill("top_kernels", self.path, env=env)
        self.assertEqual(got.code, 0, got)
        return got.json()

    def age(self, path: pathlib.Path, seconds: int) -> None:
        now = path.stat().st_mtime + seconds
        os.utime(path, (now, now))

    def test_without_nsys_the_command_is_shown(self):
        told = self.assert_refused(self.path, "EXPORT_TOOL_MISSING", **self.no_nsys)
        self.assertIn("nsys export --type=", told)
        self.assertIn(f"'{self.path}'", told)

    def test_a_fresh_database_beside_it(self):
        shutil.copyfile(edge("plain"), self.path.with_suffix(".sqlite"))
        self.age(self.path.with_suffix(".sqlite"), 5)
        self.assertEqual(self.answer(**self.no_nsys), self.wanted)

    def test_a_fresh_folder_beside_it(self):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        for name in ("my run.parquetdir", "my run_pqtdir"):
            folder = self.folder / name
            shutil.copytree(harness.parquetdir(edge("plain")), folder)
            for table in folder.iterdir():
                os.utime(table)
                self.age(table, 5)
            self.assertEqual(self.answer(**self.no_nsys), self.wanted, name)
            shutil.rmtree(folder)

    def test_a_stale_database_is_not_used(self):
        shutil.copyfile(edge("plain"), self.path.with_suffix(".sqlite"))
        self.age(self.path.with_suffix(".sqlite"), -3600)
        self.assertIn("older", self.assert_refused(self.path, "EXPORT_TOOL_MISSING", **self.no_nsys))

    def fake_nsys(self, body: str) -> dict[str, str]:
        tool = self.folder / "bin" / "nsys"
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(FAKE_NSYS % body)
        tool.chmod(0o755)
        (self.folder / "tmp").mkdir(exist_ok=True)
        return {"PATH": f"{tool.parent}:/usr/bin:/bin", "TMPDIR": str(self.folder / "tmp")}

    def test_nsys_exports_to_a_place_of_its_own(self):
        env = self.fake_nsys(f'cp "{edge("plain")}" "$out"')
        before = tree(self.folder)
        self.assertEqual(self.answer(**env), self.wanted)
        after = tree(self.folder)
        self.assertEqual(set(after), set(before))

    def test_nsys_that_fails(self):
        for body, code, says in (("echo 'unreadable report' >&2; exit 1", "EXPORT_ERROR", "unreadable report"),
                                 ("exit 0", "EXPORT_ERROR", "it wrote nothing"),
                                 ("kill -9 $$", "EXPORT_ERROR", "exit status 137"),
                                 ('echo garbage > "$out"', "PROFILE_ERROR", "damaged")):
            env = self.fake_nsys(body)
            with self.subTest(body=body):
                before = set(tree(self.folder))
                got = harness.run_skill("top_kernels", self.path, env=env, timeout=30)
                self.assertEqual((got.code, len(got.error_lines)), (1, 0), got)
                self.assertEqual(got.json()["error"]["code"], code, got)
                self.assertIn(says, got.json()["error"]["message"])
                self.assertEqual(set(tree(self.folder)), before)


if __name__ == "__main__":
    harness.main()
