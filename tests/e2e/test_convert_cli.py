#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsys-ai convert as a command: where files go, what is refused, and that a set is published whole or not at all."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time

import harness
import kills
from harness import edge, scratch, synthetic
from kills import files_in, hidden_in

REPORT = b"NVIDIA Tegra Profiler report, made up\0" * 20
# What it exports stands in $FAKE_TABLES; %s is what else it does.
FAKE_NSYS = """#!/bin/sh
[ "$1" = --version ] && { echo "NVIDIA Nsight Systems version 2025.1.1.0"; exit 0; }
[ "$2" = --help ] && { echo "--type: sqlite, %s"; exit 0; }
for word in "$@"; do case "$word" in --output=*) out="${word#--output=}";; esac; report="$word"; done
for word in "$@"; do echo "$word"; done >> "$FAKE_LOG"
%s
"""
EXPORTS = 'mkdir -p "$out" && cp "$FAKE_TABLES"/*.parquet "$out"'
KNOWN_KEYS = (
    "report kernels cuda_api cuda_sync_api launch_dependencies core_launch_dependencies memcpy h2d d2h d2d "
    "memcpy_launch_dependencies pcie_usage_launch_dependencies nvtx nvtx_timestamp_repaired nvtx_kernel "
    "stream_overlap_lanes projected_nvtx_overlap_lanes stream_dependencies json_events parquet_rows anchor_ns "
    "alignment_anchor").split()


def everything(folder: pathlib.Path) -> dict[str, tuple]:
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.lstat().st_size, p.lstat().st_mtime_ns)
            for p in sorted(folder.rglob("*"))}


def summary_of(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split(" "))


class ConvertCase(harness.Case):
    def setUp(self) -> None:
        context = scratch()
        self.folder = pathlib.Path(context.__enter__()).resolve()
        self.addCleanup(context.__exit__, None, None, None)
        self.root = self.folder / "workspace"
        self.capture = self.folder / "model.sqlite"
        shutil.copyfile(edge("plain"), self.capture)

    def environment(self, more: dict[str, str] | None = None) -> dict[str, str]:
        return {"NSYS_WORKSPACE_ROOT": str(self.root), "NSYS": ""} | (more or {})

    def convert(self, *args: object, code: int = 0, env: dict[str, str] | None = None, **more) -> harness.Outcome:
        got = harness.run("convert", *args, env=self.environment(env), **more)
        self.assertEqual(got.code, code, got)
        return got

    def names(self, name: str = "model") -> set[str]:
        return {f"{name}.perfetto.json.gz", f"{name}.pftrace", f"{name}.perfetto.parquet",
                f"{name}.kernel_dependencies.parquet"}

    def assert_json(self, path: pathlib.Path, events: str | None = None) -> None:
        opened = gzip.open(path) if path.name.endswith(".gz") else open(path, "rb")
        with opened as file:
            document = json.load(file)
        self.assertIsInstance(document, list)
        self.assertTrue(document)
        if events is not None:
            self.assertEqual(len(document), int(events))


class Outputs(ConvertCase):
    def test_the_workspace(self):
        got = self.convert(self.capture)
        lines = got.text.splitlines()
        home = self.root / "model"
        self.assertEqual(set(files_in(home)), self.names())
        self.assertEqual(hidden_in(home), [])
        self.assertEqual(lines[-1], str(home / "model.perfetto.json.gz"))
        summary = summary_of(lines[0])
        self.assertEqual(list(summary)[:len(KNOWN_KEYS)], KNOWN_KEYS)
        self.assertEqual(summary["report"], "model")
        self.assert_json(home / "model.perfetto.json.gz", summary["json_events"])
        for name in self.names():
            self.assertTrue(any(line.endswith(str(home / name)) for line in lines[1:]), name)

    def test_home_is_the_default(self):
        got = self.convert(self.capture, env={"NSYS_WORKSPACE_ROOT": "", "HOME": str(self.folder)})
        self.assertEqual(got.text.splitlines()[-1],
                         str(self.folder / ".nsys-workspace" / "model" / "model.perfetto.json.gz"))
        none = self.convert(self.capture, env={"NSYS_WORKSPACE_ROOT": "", "HOME": ""}, code=2)
        self.assertIn(b"NSYS_WORKSPACE_ROOT", none.err)

    def test_a_folder_and_formats(self):
        out = self.folder / "out"
        self.convert(self.capture, "-o", out)
        self.assertEqual(set(files_in(out)), self.names())
        (out / "notes.txt").write_text("mine")
        got = self.convert(self.capture, "-o", out, "--format", "pftrace")
        self.assertEqual(set(files_in(out)), {"model.pftrace", "notes.txt"})
        self.assertTrue(got.text.splitlines()[-1].endswith("model.pftrace"))
        other = self.folder / "other.sqlite"
        shutil.copyfile(self.capture, other)
        self.convert(self.capture, other, "-o", out, "--format", "json")
        self.assertEqual(set(files_in(out)), {"model.pftrace", "notes.txt", "model/model.perfetto.json.gz",
                                              "other/other.perfetto.json.gz"})
        self.assertFalse(self.root.exists())

    def test_single_files(self):
        out = self.folder / "out" / "deep"
        got = self.convert("--parquet-dir", self.capture, "--report", "a b%", "--output-json", out / "t.json",
                           "--output-parquet", out / "t.parquet", "--output-dependencies", out / "d.parquet")
        self.assertEqual(set(files_in(out)), {"t.json", "t.parquet", "d.parquet"})
        self.assertEqual(sorted(os.listdir(out)), sorted(files_in(out)))
        lines = got.text.splitlines()
        self.assertEqual(summary_of(lines[0])["report"], "a%20b%25")
        self.assertEqual(lines[-1], str(out / "t.json"))
        self.assert_json(out / "t.json", summary_of(lines[0])["json_events"])
        for table in ("t.parquet", "d.parquet"):
            content = (out / table).read_bytes()
            self.assertEqual((content[:4], content[-4:]), (b"PAR1", b"PAR1"))

    def test_named_outputs_follow_links(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "old.json").write_text("old")
        (elsewhere / "old.json").chmod(0o600)
        for name, target in (("file", "elsewhere/old.json"), ("dangling", "elsewhere/new.json"),
                             ("far", "elsewhere/deep/new.json"), ("chain", "dangling")):
            with self.subTest(link=name):
                link = self.folder / f"{name}.json" if name != "chain" else self.folder / "chain.json"
                link.symlink_to(f"{target}.json" if name == "chain" else target)
                got = self.convert(self.capture, "--output-json", link)
                self.assertTrue(link.is_symlink())
                self.assertEqual(got.text.splitlines()[-1], str(link.resolve()))
                self.assertTrue(link.resolve().is_relative_to(elsewhere))
                self.assert_json(link, summary_of(got.text.splitlines()[0])["json_events"])
        self.assertEqual(sorted(files_in(elsewhere)), ["deep/new.json", "new.json", "old.json"])
        self.assertEqual(hidden_in(self.folder), [])

    def test_a_set_replaces_links(self):
        out = self.folder / "out"
        out.mkdir()
        kept = self.folder / "kept"
        kept.write_text("kept")
        for name, target in (("model.perfetto.json.gz", kept), ("model.pftrace", self.folder / "nowhere")):
            (out / name).symlink_to(target)
        self.convert(self.capture, "-o", out)
        self.assertFalse(any(p.is_symlink() for p in out.iterdir()))
        self.assertEqual(set(files_in(out)), self.names())
        self.assertEqual(kept.read_text(), "kept")
        self.assertFalse((self.folder / "nowhere").exists())

    def test_standard_output_that_cannot_be_written(self):
        for where, says in ((">/dev/full", b"No space left"), (">&-", b"Bad file descriptor"),
                            ("</dev/null >&-", b"Bad file descriptor"), ("<&- >&-", b"Bad file descriptor")):
            for summary in ("text", "json"):
                with self.subTest(where=where, summary=summary):
                    shutil.rmtree(self.root, ignore_errors=True)
                    other = self.folder / "other.sqlite"
                    shutil.copyfile(self.capture, other)
                    got = self.convert(self.capture, other, "--summary", summary, code=1,
                                       prefix=("sh", "-c", f'exec "$@" {where}', "redirected"))
                    self.assertIn(says, got.err)
                    self.assertIn(b"standard output", got.err)
                    self.assertIn(b"what was converted is complete", got.err)
                    for name in ("model", "other"):
                        self.assertEqual(set(files_in(self.root / name)), self.names(name))
                        self.assert_json(self.root / name / f"{name}.perfetto.json.gz")
                    self.assertEqual(hidden_in(self.root), [])

    def test_json_summary(self):
        document = self.convert(self.capture, "--summary", "json").json()
        (report,) = document["reports"]
        self.assertEqual(list(report["summary"])[:len(KNOWN_KEYS) - 1], KNOWN_KEYS[1:])
        self.assertEqual(report["json"], str(self.root / "model" / "model.perfetto.json.gz"))
        for file in report["files"]:
            self.assertEqual(file["bytes"], pathlib.Path(file["path"]).stat().st_size)
        error = self.convert(self.folder / "none.sqlite", "--summary", "json", code=1).json()["error"]
        self.assertEqual(error["code"], "PROFILE_NOT_FOUND")
        usage = self.convert(self.capture, "--format", "jason", "--summary", "json", code=2).json()["error"]
        self.assertIn("did you mean 'json'", usage["hint"])

    def test_odd_names(self):
        for name in ("a b", "it's", 'say "x"', "naïve 模型", "50%d", "line\nbreak", "-dash", "$(touch x)"):
            with self.subTest(name=name):
                path = self.folder / f"{name}.sqlite"
                shutil.copyfile(self.capture, path)
                got = self.convert(path)
                shown = name.replace("\n", "_")  # the last line is to be one path
                home = self.root / shown
                self.assertEqual(set(files_in(home)), self.names(shown))
                self.assertTrue(got.text.endswith(f"\n{home / shown}.perfetto.json.gz\n"), got.text)
                self.assertEqual(len(got.text.splitlines()[0].split(" ")), len(summary_of(got.text.splitlines()[0])))
        self.assertEqual(summary_of(self.convert(self.folder / "line\nbreak.sqlite").text.splitlines()[0])["report"],
                         "line%0Abreak")


class Refusals(ConvertCase):
    def refused(self, *args: object) -> str:
        before = everything(self.folder)
        got = self.convert(*args, code=2)
        self.assertEqual(got.out, b"", got)
        self.assertEqual(len(got.error_lines), 1, got)
        self.assertEqual(everything(self.folder), before, args)
        return got.error_lines[0]

    def test_outputs(self):
        tables = self.folder / "tables.parquetdir"
        tables.mkdir()
        (tables / "x.parquet").write_bytes(b"PAR1")
        (self.folder / "kept").mkdir()
        (self.folder / "kept" / "precious").write_text("x")
        link = self.folder / "link.json"
        link.symlink_to(self.capture)
        os.mkfifo(self.folder / "pipe")
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "set").mkdir()
        (self.folder / "set" / "model.pftrace").symlink_to("model.pftrace")
        for args, says in (
                ((self.capture, "--output-json", self.folder / "kept"), "is a folder"),
                ((self.capture, "--output-json", f"{self.folder}/new/"), "is a folder"),
                ((self.capture, "--output-json", self.capture), "over the input"),
                ((self.capture, "--output-json", link), "over the input"),
                ((self.capture, "--output-json", f"{self.folder}/kept/../model.sqlite"), "over the input"),
                ((self.capture, "--output-json", self.folder / "pipe"), "no regular file"),
                ((self.capture, "--output-json", self.folder / "loop"), "links that lead to each other"),
                ((self.capture, "--output-json", self.folder / "loop" / "x.json"), "links that lead to each other"),
                ((self.capture, "-o", self.folder / "loop"), "links that lead to each other"),
                ((self.capture, "-o", self.folder / "set"), "links that lead to each other"),
                ((self.capture, "--output-json", self.capture / "x.json"), "no folder"),
                ((tables, "--output-parquet", tables / "y.parquet"), "or into it"),
                ((tables, "-o", tables), "or into it"),
                ((tables, "-o", tables / "deep"), "or into it"),
                ((self.capture, tables, "-o", tables), "or into it"),
                ((self.capture, "-o", self.capture), "no folder"),
                ((self.capture, "--output-json", "a.json", "--output-parquet", "./a.json"), "written over"),
                ((self.capture, "-o", self.folder, "--output-parquet", self.folder / "model.pftrace"), "written over"),
                ((self.capture, tables, "--output-json", "a.json"), "one by one"),
                ((self.capture, "--output-json", ""), "takes a name")):
            with self.subTest(args=args):
                self.assertIn(says, self.refused(*args))

    def test_one_name_twice(self):
        (self.folder / "b").mkdir()
        shutil.copyfile(self.capture, self.folder / "b" / "model.sqlite")
        self.assertIn("have one name, 'model'", self.refused(self.capture, self.folder / "b" / "model.sqlite"))
        self.assertIn("have one name", self.refused(self.capture, self.capture))

    def test_an_export_of_somebody_else(self):
        report = self.folder / "model.nsys-rep"
        report.write_bytes(REPORT)
        (self.folder / "out" / "parquet").mkdir(parents=True)
        (self.folder / "out" / "parquet" / "mine.parquet").write_bytes(b"mine")
        self.assertIn("not made by a conversion", self.refused(report, "-o", self.folder / "out"))

    def test_words(self):
        for args in ((), ("--with", "memsets"), ("--api", "none"), ("--trim", "2", "1"), ("--max-regions", "-1"),
                     ("--nvtx-scope", "threads"), ("--threads", "0"), ("--summary", "xml"), ("--bogus",)):
            with self.subTest(args=args):
                self.refused(*((self.capture, *args) if args else ()))

    def test_a_window_of_nothing(self):
        got = self.convert(self.capture, "--trim", "90000", "90001", code=2)
        self.assertIn(b"TRIM_OUT_OF_RANGE", got.err)
        self.assertFalse(self.root.exists() and any(self.root.rglob("*.gz")))


class Reports(ConvertCase):
    def setUp(self) -> None:
        super().setUp()
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        self.tables = harness.parquetdir(edge("plain"))
        self.log = self.folder / "arguments"
        self.report = self.folder / "model.nsys-rep"
        self.report.write_bytes(REPORT)
        self.capture.unlink()

    def nsys(self, body: str = EXPORTS, types: str = "parquetdir", name: str = "nsys") -> dict[str, str]:
        tool = self.folder / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(FAKE_NSYS % (types, body))
        tool.chmod(0o755)
        return {"NSYS": str(tool), "FAKE_TABLES": str(self.tables), "FAKE_LOG": str(self.log)}

    def test_exports_into_the_workspace(self):
        got = self.convert(self.report, env=self.nsys())
        home = self.root / "model"
        tables = {f"parquet/{p.name}" for p in self.tables.glob("*.parquet")}
        self.assertEqual(set(files_in(home)), self.names() | tables)
        self.assertEqual(hidden_in(home), [])
        self.assertIn("NVIDIA Nsight Systems version 2025.1.1.0", got.text.splitlines()[0])
        words = self.log.read_text().splitlines()
        self.assertEqual(words[:5] + words[6:], ["export", "--type=parquetdir", "--ts-normalize=true",
                                                 "--force-overwrite=true", "--quiet=true", str(self.report)])
        self.assertEqual(self.report.read_bytes(), REPORT)
        # The tables beside a report are replaced with the set, and go when the report is not exported again.
        self.convert(self.report, env=self.nsys(EXPORTS + ' && echo more > "$out/note.txt"'))
        self.assertIn("parquet/note.txt", files_in(home))
        self.convert(edge("plain"), "--report", "model")
        self.assertEqual(set(files_in(home)), self.names())

    def test_an_export_that_fails_leaves_the_old_set(self):
        self.convert(self.report, env=self.nsys())
        home = self.root / "model"
        before = files_in(home)
        for body, says in (("echo 'unreadable report' >&2; exit 1", "unreadable report"),
                           ("exit 0", "wrote no tables"),
                           ("kill -9 $$", "exit status 137"),
                           (EXPORTS + '; echo garbage > "$out/StringIds.parquet"', "StringIds.parquet"),
                           ('mkdir -p "$out"; echo half > "$out/StringIds.parquet"; echo no space >&2; exit 1',
                            "no space")):
            with self.subTest(body=body):
                got = self.convert(self.report, env=self.nsys(body), code=1)
                self.assertEqual(got.out, b"")
                self.assertIn(says, got.error_lines[-1])
                self.assertEqual(files_in(home), before)
                self.assertEqual(hidden_in(home), [])

    def test_a_failure_makes_no_folder(self):
        self.convert(self.report, env=self.nsys("exit 3"), code=1)
        self.assertFalse(self.root.exists())

    def test_several_reports(self):
        bad = self.folder / "bad one.nsys-rep"
        last = self.folder / "last.qdrep"
        for path in (bad, last):
            path.write_bytes(REPORT)
        env = self.nsys('case "$report" in *bad*) echo broken >&2; exit 1;; esac; ' + EXPORTS)
        got = self.convert(self.report, bad, last, env=env, code=1)
        self.assertEqual(got.error_lines[-1], f"nsys-ai: 1 of 3 inputs failed: {bad}")
        self.assertEqual(got.text.splitlines()[-1], str(self.root / "last" / "last.perfetto.json.gz"))
        self.assertEqual(sorted(os.listdir(self.root)), ["last", "model"])
        shutil.rmtree(self.root)
        got = self.convert(bad, last, "--fail-fast", env=env, code=1)
        self.assertFalse((self.root / "last").exists())
        document = self.convert(bad, last, "--summary", "json", env=env, code=1).json()
        self.assertEqual(document["reports"][0]["error"]["code"], "EXPORT_ERROR")
        self.assertTrue(document["reports"][1]["json"])

    def test_which_nsys(self):
        old = self.convert(self.report, env=self.nsys(types="json"), code=1)
        self.assertIn("2024.6", old.error_lines[0])
        self.convert(self.report, "--nsys", self.nsys(name="other")["NSYS"], env=self.nsys("exit 1"))
        self.convert(self.report, "--nsys", self.folder / "none", env=self.nsys(), code=1)
        env = self.nsys() | {"NSYS": "", "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}
        self.convert(self.report, env=env)
        nowhere = self.convert(self.report, env={"PATH": "/nowhere"}, code=1)
        self.assertIn("EXPORT_TOOL_MISSING", nowhere.error_lines[0])

    def test_keep_going(self):
        tables = self.folder / "broken.parquetdir"
        shutil.copytree(self.tables, tables)
        (tables / "StringIds.parquet").write_bytes(b"PAR1 garbage")
        refused = self.convert(tables, code=1)
        self.assertIn("StringIds.parquet", refused.error_lines[-1])
        self.assertFalse(self.root.exists())
        got = self.convert(tables, "--keep-going")
        self.assertTrue(any("StringIds.parquet" in line for line in got.error_lines), got)
        self.assertEqual(set(files_in(self.root / "broken")), self.names("broken"))

    def test_odd_names(self):
        for name in ("a b's \"x\"", "naïve %d $(touch x)"):
            report = self.folder / f"{name}.nsys-rep"
            report.write_bytes(REPORT)
            self.convert(report, env=self.nsys())
            self.assertTrue(self.names(name) <= set(files_in(self.root / name)))
        self.assertFalse((self.folder / "x").exists())

    def test_a_signal_ends_the_export_too(self):
        self.convert(self.report, env=self.nsys())
        before = files_in(self.root)
        env = harness.RUN_ENVIRONMENT | self.environment(self.nsys('echo $$ > "$FAKE_LOG.pid"; exec sleep 100'))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            marker = pathlib.Path(f"{self.log}.pid")
            marker.unlink(missing_ok=True)
            with subprocess.Popen([harness.BINARY, "convert", str(self.report)], env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
                while not (marker.exists() and marker.read_text().endswith("\n")):
                    time.sleep(0.01)
                process.send_signal(number)
                process.communicate()
            self.assertEqual(process.returncode, 128 + number)
            with self.assertRaises(ProcessLookupError):
                os.kill(int(marker.read_text()), 0)
            self.assertEqual(files_in(self.root), before)
            self.assertEqual(hidden_in(self.root), [])

    def test_the_wrapper(self):
        scripts = self.folder / "scripts"
        scripts.mkdir()
        wrapper = scripts / "convert_nsys.sh"
        shutil.copy(harness.ROOT / "scripts" / "convert_nsys.sh", wrapper)
        (scripts / "nsys-ai").symlink_to(harness.BINARY)
        env = harness.RUN_ENVIRONMENT | self.environment(self.nsys())

        def call(*args: object) -> subprocess.CompletedProcess[str]:
            return subprocess.run([str(wrapper), *map(str, args)], env=env, capture_output=True, text=True, check=False)

        for word in ("-h", "--help"):
            helped = call(word)
            self.assertEqual((helped.returncode, helped.stderr), (0, ""), word)
            self.assertIn("usage: ", helped.stdout)
        for args in ((), ("--halp",), (self.report, "-o", "x"), (self.folder / "model.sqlite",)):
            refused = call(*args)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), args)
            self.assertIn("usage: ", refused.stderr)
        spaced = self.folder / "my model.qdrep"
        spaced.write_bytes(REPORT)
        done = call(self.report, spaced)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.splitlines()[-1], str(self.root / "my model" / "my model.perfetto.json.gz"))


class AllOrNothing(ConvertCase):
    """The old set is a conversion of one capture, the new one of another under the same name."""

    def setUp(self) -> None:
        super().setUp()
        sets = []
        for seed in (1, 2):
            self.capture.unlink()
            self.capture.symlink_to(synthetic(seed)[0])
            self.convert(self.capture, "-o", self.folder / f"set{seed}")
            sets.append(files_in(self.folder / f"set{seed}"))
        self.old, self.new = sets
        self.assertTrue(all(self.old[name] != self.new[name] for name in self.old if "dependencies" not in name))
        self.home = self.root / "model"
        self.restore()

    def restore(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.folder / "set1", self.home)

    def test_signals_at_any_moment(self):
        seen = kills.Kills((synthetic(1)[0], synthetic(2)[0]), self.folder / "killed", 5).run(16)
        self.assertGreater(seen["old"], 0, seen)

    def assert_fails_without_a_trace(self, got: harness.Outcome, says: str) -> None:
        self.assertEqual((got.code, got.out), (1, b""), got)
        self.assertIn(says, got.error_lines[-1])
        self.assertIn(str(self.home / "model."), got.error_lines[-1])
        self.assertEqual(files_in(self.home), self.old)
        self.assertEqual(hidden_in(self.home), [])

    def test_a_file_over_the_limit(self):
        if shutil.which("prlimit") is None:
            self.skipTest("no prlimit here")
        sizes = sorted((self.folder / "set2" / name).stat().st_size for name in self.new)
        for limit in (1, sizes[-1] // 2, sizes[-1] - 1):
            with self.subTest(limit=limit):
                got = harness.run("convert", self.capture, env=self.environment(),
                                  prefix=("prlimit", f"--fsize={limit}"))
                self.assert_fails_without_a_trace(got, "File too large")

    def test_a_full_disk(self):
        self.root.mkdir(exist_ok=True)
        size = sum((self.folder / "set1" / name).stat().st_size for name in self.old) * 3 // 2
        shutil.rmtree(self.root)
        self.root.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size // 4096 * 4096}", "none", str(self.root)],
                                 check=False, capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no tmpfs may be mounted here")
        try:
            shutil.copytree(self.folder / "set1", self.home)
            got = harness.run("convert", self.capture, env=self.environment())
            self.assert_fails_without_a_trace(got, "No space left on device")
        finally:
            subprocess.run(["umount", str(self.root)], check=True)

    def test_a_folder_that_may_not_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        self.home.chmod(stat.S_IRUSR | stat.S_IXUSR)
        try:
            got = self.convert(self.capture, code=1)
            self.assertIn("Permission denied", got.error_lines[-1])
            self.assertEqual(files_in(self.home), self.old)
        finally:
            self.home.chmod(0o755)

    def test_one_run_at_a_time(self):
        lock = self.home / ".nsys-ai-lock"
        with open(lock, "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write("process 1 on nowhere")
            file.flush()
            got = self.convert(self.capture, code=1)
            self.assertIn("process 1 on nowhere is writing into", got.error_lines[-1])
            self.assertEqual(files_in(self.home), self.old)
            with subprocess.Popen([harness.BINARY, "convert", "--wait", str(self.capture)], stdin=subprocess.DEVNULL,
                                  env=harness.RUN_ENVIRONMENT | self.environment(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                time.sleep(0.3)
                self.assertIsNone(process.poll())
                lock.unlink()
                fcntl.flock(file, fcntl.LOCK_UN)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(files_in(self.home), self.new)

    def test_two_runs_at_once(self):
        runs = [subprocess.Popen([harness.BINARY, "convert", "--wait", str(self.capture)], stdin=subprocess.DEVNULL,
                                 env=harness.RUN_ENVIRONMENT | self.environment(), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
                for _ in range(3)]
        self.assertEqual([run.wait() for run in runs], [0, 0, 0])
        self.assertEqual(files_in(self.home), self.new)
        self.assertEqual(hidden_in(self.home), [])


if __name__ == "__main__":
    harness.main()
