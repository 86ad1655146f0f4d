#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Custom skills: the Markdown format, skill add, remove and save, and that they run like any other skill."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import stat

import edge_captures
import harness
from harness import edge, parquetdir, rows, run, run_skill, scratch, synthetic

EXAMPLES = harness.ROOT / "examples" / "skills"
# Built-in skills that have a statement of the same rows.
WITH_SQL = ("top_kernels", "kernel_instances", "memory_transfers", "memory_bandwidth", "schema_inspect",
            "stream_concurrency", "h2d_distribution", "tensor_core_usage", "module_loading",
            "kernel_launch_pattern", "thread_utilization")
# Tables that a statement reads although the skill does without.
ALSO_READ = {"stream_concurrency": "CUPTI_ACTIVITY_KIND_MEMCPY", "module_loading": "CUPTI_ACTIVITY_KIND_KERNEL",
             "thread_utilization": "ThreadNames"}
SEED_FORM = """# busy_streams

## Description
Kernel time of each stream.

## Category
kernels

## SQL
```sql
SELECT k.deviceId, k.streamId, COUNT(*) AS kernels, ROUND(SUM(k.[end] - k.start) / 1e6, 2) AS ms
FROM {kernel_table} k
WHERE 1=1 {trim_clause}
GROUP BY k.deviceId, k.streamId
ORDER BY ms DESC, k.deviceId, k.streamId
```
"""


def skill_text(name: str, sql: str, sections: str = "") -> str:
    return f"# {name}\n{sections}\n## SQL\n```sql\n{sql}\n```\n"


def random_capture(seed: int) -> edge_captures.Capture:
    """Few values of everything: ties in figures and orders, parts that are null, graphs that lap over kernels."""
    pick = random.Random(seed)
    capture = edge_captures.Capture({"COMPOSITE_EVENTS": "id start cpu threadState globalTid cpuCycles",
                                     "ThreadNames": "nameId priority globalTid"})

    def times(longest_us: int = 3000, first_us: int = 0) -> tuple[int, int]:
        start = pick.randrange(first_us, 3_000_000, 5) * 1000
        return start, start + pick.choice((0, 5, 15, 125, 375, pick.randrange(longest_us))) * 1000

    def lane() -> dict:
        more = {"device": pick.randrange(2), "stream": pick.choice((7, 7, 13)), "contextId": pick.choice((1, 2))}
        return more | pick.choice(({}, {}, {"globalPid": None}, {"pid": 101}))

    for _ in range(200):
        capture.kernel(*times(first_us=1_000_000), pick.choice(("sgemm", "ampere_bf16_gemm", "flash_fwd", "add", "conv")), **lane())
        capture.copy(*times(), pick.choice((0, 1000, 12345)), kind=pick.choice((1, 1, 2)), **lane())
        capture.call(*times(), 0, pick.choice(("cuModuleLoadData", "CUDALIBRARYLOADDATA", "cuModuleGetLoadingMode",
                                               "cuLinkCreate_v2", "cudaLaunchKernel_v7000")), pid=pick.choice((100, 101, 102)))
        thread = pick.choice((None, *(edge_captures.global_tid(pid, tid) for pid in (100, 101) for tid in (1, 2, 3))))
        capture.add("COMPOSITE_EVENTS", start=times()[0], globalTid=thread, cpuCycles=pick.choice((0, 1, 1, 7, 1000)))
    for _ in range(20):
        capture.gpu(edge_captures.GRAPH, *times(50_000), **lane())
        capture.add("ThreadNames", nameId=capture.string(pick.choice(("main", "worker", "pt_autograd"))),
                    priority=pick.choice((None, 0, 10)), globalTid=edge_captures.global_tid(100, pick.choice((1, 2))))
    return capture


class Custom(harness.Case):
    def setUp(self):
        holder = scratch()
        self.folder = holder.__enter__()
        self.addCleanup(holder.__exit__, None, None, None)
        self.skills = self.folder / "skills"
        self.capture = synthetic(0, 2)[0]

    def write(self, text: str, name: str = "given.md") -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def add(self, text: str, *options: str) -> harness.Outcome:
        return run("skill", "--skills-dir", self.skills, "add", self.write(text), *options)

    def added(self, text: str) -> None:
        got = self.add(text)
        self.assertEqual((got.code, got.err), (0, b""), got)

    def run_custom(self, name: str, *options: object, capture: object = None) -> harness.Outcome:
        return run_skill(name, capture or self.capture, "--skills-dir", self.skills, *options)

    def rows_of(self, name: str, *options: object, capture: object = None) -> list[dict]:
        got = self.run_custom(name, *options, capture=capture)
        self.assertEqual(got.code, 0, got)
        answer = got.json()
        assert isinstance(answer, list)
        return answer

    def assert_refused(self, got: harness.Outcome, code: int, *words: str) -> None:
        self.assertEqual((got.code, got.out, len(got.error_lines)), (code, b"", 1), got)
        for word in words:
            self.assertIn(word, got.error_lines[0])

    def files(self) -> list[str]:
        return sorted(p.name for p in self.skills.iterdir()) if self.skills.is_dir() else []


class AddAndRemove(Custom):
    def test_the_documented_spellings(self):
        given = self.write(SEED_FORM)
        environment = {"NSYS_AI_CUSTOM_SKILLS_DIR": str(self.skills)}
        for before, behind, env in ((["--skills-dir", self.skills], [], {}), ([f"--skills-dir={self.skills}"], [], {}),
                                    ([], ["--skills-dir", self.skills], {}), ([], [], environment),
                                    (["--skills-dir", self.skills], [], {"NSYS_AI_CUSTOM_SKILLS_DIR": "/nowhere"})):
            got = run("skill", *before, "add", given, *behind, env=env)
            self.assertEqual((got.code, got.err), (0, b""), got)
            self.assertEqual(got.text, f"Added skill 'busy_streams' → {self.skills}/busy_streams.md\n")
            self.assertEqual((self.skills / "busy_streams.md").read_text(), SEED_FORM)
            listed = run("skill", *before, "list", "--format", "json", *behind, env=env).json()
            self.assertEqual([s["category"] for s in listed if s["origin"] == "custom"], ["kernels"])
            got = run("skill", *before, "remove", "busy_streams", *behind, env=env)
            self.assertEqual((got.code, got.err), (0, b""), got)
            self.assertEqual(got.text, f"Removed skill 'busy_streams' ({self.skills}/busy_streams.md)\n")
            self.assertEqual(self.files(), [])

    def test_a_folder_is_needed(self):
        for args in (("add", self.write(SEED_FORM)), ("remove", "busy_streams")):
            self.assert_refused(run("skill", *args), 2, "--skills-dir", "NSYS_AI_CUSTOM_SKILLS_DIR")
            self.assert_refused(run("skill", *args, env={"NSYS_AI_CUSTOM_SKILLS_DIR": ""}), 2, "--skills-dir")
        self.assert_refused(run("skill", "--skills-dir", "a", "list", "--skills-dir", "b"), 2, "twice")
        self.assert_refused(run("skill", "--skills-dir", "", "list"), 2, "name of a folder")

    def test_help(self):
        got = run("skill")
        self.assertEqual((got.code, got.err), (2, b""))
        for word in ("add", "remove", "save", "--skills-dir"):
            self.assertIn(word, got.text)
        for command in ("add", "remove", "save"):
            self.assertEqual(run("skill", command, "--help").code, 0)

    def test_builtin_names_are_taken(self):
        for options in ((), ("--force",)):
            self.assert_refused(self.add(skill_text("top_kernels", "SELECT 42 AS x"), *options), 1, "built-in")
        self.assertEqual(self.files(), [])
        self.skills.mkdir()
        (self.skills / "top_kernels.md").write_text(skill_text("top_kernels", "SELECT 42 AS x"))
        got = self.run_custom("top_kernels", "-p", "limit=1")
        self.assertEqual((got.code, len(got.error_lines)), (0, 1))
        self.assertIn("built-in", got.error_lines[0])
        self.assertEqual(got.json(), rows("top_kernels", self.capture, "-p", "limit=1"))
        self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "memory_transfers"), 1, "built-in")

    def test_an_existing_skill_needs_force(self):
        self.added(skill_text("mine", "SELECT 1 AS x"))
        other = skill_text("mine", "SELECT 2 AS x")
        self.assert_refused(self.add(other), 1, "already there", "--force")
        self.assertEqual(self.rows_of("mine"), [{"x": 1}])
        self.assertEqual(self.add(other, "--force").code, 0)
        self.assertEqual(self.rows_of("mine"), [{"x": 2}])
        self.assert_refused(run("skill", "--skills-dir", self.skills, "add", self.skills / "mine.md"), 1, "--force")

    def test_what_is_wrong_is_said_and_nothing_changes(self):
        cases = {
            "my-skill name": (skill_text("my-skill name", "SELECT 1"), ("line 1", "my_skill_name")),
            "no name": ("## SQL\n```sql\nSELECT 1\n```\n", ("no name",)),
            "front matter alone": ("---\nauthor: x\n---\n## SQL\n```sql\nSELECT 1\n```\n", ("no name",)),
            "empty": ("# a\n## SQL\n```sql\n\n```\n", ("empty",)),
            "no such column": (skill_text("a", "SELECT k.strat FROM {kernel_table} k"), ("line 5", "strat")),
            "no such table": (skill_text("a", "SELECT 1\nFROM nonsense"), ("nonsense",)),
            "two statements": (skill_text("a", "SELECT 1; SELECT 2"), ("line 5",)),
            "a write": (skill_text("a", "DROP TABLE StringIds"), ("line 5",)),
            "attach": (skill_text("a", "ATTACH 'x' AS y"), ("line 5",)),
            "undeclared": (skill_text("a", "SELECT 1 LIMIT {limit}"), ("line 5", "{limit}", "## Parameters")),
            "in quotes": (skill_text("a", "SELECT '{trim_start_ns}'"), ("line 5", "text in quotes")),
            "no utf-8": (None, ("UTF-8",)),
        }
        for case, (text, words) in cases.items():
            with self.subTest(case):
                given = self.write(text or "")
                if text is None:
                    given.write_bytes(b"# a\xff\n")
                self.assert_refused(run("skill", "--skills-dir", self.skills, "add", given), 1, str(given), *words)
                self.assertFalse(self.skills.exists())
        for missing in (self.folder / "none.md", self.folder):
            self.assert_refused(run("skill", "--skills-dir", self.skills, "add", missing), 1, str(missing))
        os.mkfifo(self.folder / "pipe.md")
        self.assert_refused(run("skill", "--skills-dir", self.skills, "add", self.folder / "pipe.md", timeout=10), 1)

    def test_profile_is_checked_on_demand(self):
        self.assertEqual(self.add(SEED_FORM, "--profile", str(self.capture)).code, 0)
        got = self.add(skill_text("other", "SELECT * FROM {memcpy_table} k"), "--profile", str(edge("strings_only")))
        self.assertEqual((got.code, len(got.error_lines)), (0, 1))
        self.assertIn("abstain", got.error_lines[0])
        self.assert_refused(self.add(skill_text("third", "SELECT 1"), "--profile", "/no/such"), 1, "/no/such")

    def test_remove_stays_in_its_folder(self):
        self.added(SEED_FORM)
        outside = self.write("precious", "precious.md")
        for name in ("../precious", "/etc/passwd", str(outside.with_suffix("")), "a/b", "a\nb", ".", "..", "", "A",
                     "busy_streams.md", "*"):
            with self.subTest(name):
                self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "--", name), 2)
        self.assertTrue(outside.exists())
        self.assertEqual(self.files(), ["busy_streams.md"])

    def test_remove_what_is_not_there(self):
        self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "unknown"), 1, "unknown")
        self.added(SEED_FORM)
        self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "busy_stream"), 1, "did you mean")
        (self.skills / "busy_streams.md").rename(self.skills / "by-hand.md")
        self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "busy_streams"), 1, "by-hand.md")
        (self.skills / "sub.md").mkdir()
        self.assert_refused(run("skill", "--skills-dir", self.skills, "remove", "sub"), 1)

    def test_links_are_removed_not_followed(self):
        self.skills.mkdir()
        outside = self.write(skill_text("linked", "SELECT 1 AS x"), "outside.md")
        (self.skills / "linked.md").symlink_to(outside.resolve())
        (self.skills / "dangling.md").symlink_to((self.folder / "none").resolve())
        self.assertEqual(self.rows_of("linked"), [{"x": 1}])
        replacement = skill_text("linked", "SELECT 2 AS x")
        for options in ((), ("--force",)):
            self.assertEqual(self.add(replacement, *options).code, 1)
        self.assertEqual(self.add(skill_text("dangling", "SELECT 2"), "--force").code, 1)
        self.assertFalse((self.folder / "none").exists())
        for name in ("linked", "dangling"):
            self.assertEqual(run("skill", "--skills-dir", self.skills, "remove", name).code, 0)
        self.assertEqual(self.files(), [])
        self.assertIn("SELECT 1", outside.read_text())

    def test_folders_that_cannot_be_used(self):
        given = self.write(SEED_FORM)
        blocked = self.write("", "file") / "skills"
        self.assert_refused(run("skill", "--skills-dir", blocked, "add", given), 1, str(blocked))
        got = run("skill", "--skills-dir", self.folder / "none", "list")
        self.assertEqual((got.code, len(got.error_lines)), (0, 1))
        self.assertIn("none", got.error_lines[0])
        self.assertIn("top_kernels", got.text)
        if os.geteuid() != 0:  # root may write everywhere
            self.added(SEED_FORM)
            self.skills.chmod(stat.S_IRUSR | stat.S_IXUSR)
            self.assertEqual(self.add(skill_text("other", "SELECT 1")).code, 1)
            self.assertEqual(run("skill", "--skills-dir", self.skills, "remove", "busy_streams").code, 1)
            self.skills.chmod(0)
            self.assertEqual(len(run("skill", "--skills-dir", self.skills, "list").error_lines), 1)
            self.skills.chmod(0o700)

    def test_broken_files_leave_the_others_alone(self):
        self.added(SEED_FORM)
        (self.skills / "broken.md").write_text("# Broken\n")
        (self.skills / "second.md").write_text(SEED_FORM)
        (self.skills / "notes.txt").write_text("no skill")
        (self.skills / ".hidden.md").write_text("no skill")
        os.mkfifo(self.skills / "pipe.md")
        got = run("skill", "--skills-dir", self.skills, "list", timeout=10)
        self.assertEqual((got.code, len(got.error_lines)), (0, 3), got)
        for word in ("broken.md, line 1", "second.md", "pipe.md"):
            self.assertEqual(sum(word in line for line in got.error_lines), 1, word)
        self.assertRegex(got.text, r"(?m)^busy_streams +kernels +custom ")
        # A file that cannot be read as a skill can still be removed.
        self.assertEqual(run("skill", "--skills-dir", self.skills, "remove", "broken").code, 0)

    def test_a_skill_added_from_nowhere_changes_nothing_else(self):
        self.added(SEED_FORM)
        before = {p: p.stat().st_mtime_ns for p in self.folder.rglob("*")}
        self.rows_of("busy_streams")
        run("skill", "--skills-dir", self.skills, "info", "busy_streams")
        self.assertEqual({p: p.stat().st_mtime_ns for p in self.folder.rglob("*")}, before)


class Run(Custom):
    def test_all_formats(self):
        self.added(SEED_FORM)
        answer = self.rows_of("busy_streams")
        self.assertGreater(len(answer), 2)
        self.assertEqual(list(answer[0]), ["deviceId", "streamId", "kernels", "ms"])
        common = ("skill", "run", "busy_streams", self.capture, "--skills-dir", self.skills)
        self.assertRegex(run(*common).text, r"^Busy Streams\n\ndeviceId  streamId  kernels +ms\n-{8}  -{8}  -+  -+\n")
        csv = run(*common, "--format", "csv").text.splitlines()
        self.assertEqual(csv[0], "deviceId,streamId,kernels,ms")
        self.assertEqual(len(csv), len(answer) + 1)
        lines = run(*common, "--format", "jsonl").text.splitlines()
        self.assertEqual([json.loads(line) for line in lines], answer)
        cut = self.rows_of("busy_streams", "--max-rows", 1)
        self.assertEqual(cut, [answer[0], {"_truncated": True, "_total_rows": len(answer), "_shown_rows": 1}])
        target = self.folder / "out.json"
        self.assertEqual(self.run_custom("busy_streams", "-o", target).out, b"")
        self.assertEqual(json.loads(target.read_text()), answer)

    def test_windows(self):
        self.added(SEED_FORM)
        whole = sum(r["kernels"] for r in self.rows_of("busy_streams"))
        for window in (("--trim", "1001.03", "1001.06"), ("--trim", "1001.03", "inf"),
                       ("--iteration", "1", "--marker", "iteration_")):
            native = sum(r["invocations"] for r in rows("top_kernels", self.capture, "-p", "limit=1000", *window))
            custom = sum(r["kernels"] for r in self.rows_of("busy_streams", *window))
            self.assertEqual(custom, native)
            self.assertLess(custom, whole)
        self.assertEqual(self.run_custom("busy_streams", "--trim", "1", "2").code, 2)
        self.added(skill_text("bounds", "SELECT {trim_start_ns} AS a, {trim_end_ns} AS b"))
        self.assertEqual(self.rows_of("bounds"), [{"a": None, "b": None}])
        self.assertEqual(self.rows_of("bounds", "--trim", "1001", "1002"),
                         [{"a": 1001 * 10**9, "b": 1002 * 10**9}])
        self.added(skill_text("whole", "SELECT COUNT(*) AS n FROM {kernel_table}"))
        got = self.run_custom("whole", "--trim", "1001.03", "1001.06")
        self.assertEqual((got.json(), len(got.error_lines)), ([{"n": whole}], 1))

    def test_parameters(self):
        sections = ("## Parameters\n- limit (int, default 2): rows\n- part (str, default \"\"): text\n"
                    "- factor (float): number\n- on (bool, default false): flag\n")
        self.added(skill_text("mine", "SELECT value, {part} AS part, {factor} AS factor, {on} AS flag FROM StringIds "
                              "WHERE instr(value, :part) > 0 ORDER BY value LIMIT {limit}", sections))
        answer = self.rows_of("mine")
        self.assertEqual([list(r.values())[1:] for r in answer], [["", None, 0]] * 2)
        quote = "it's \"%_{limit}\" -- ;"
        self.assertEqual(self.rows_of("mine", "-p", f"part={quote}"), [])
        got = self.rows_of("mine", "-p", "part=nccl", "-p", "factor=1.5", "-p", "on=yes", "-p", "limit=1")
        self.assertEqual([list(r.values())[1:] for r in got], [["nccl", 1.5, 1]])
        for wrong in ("limit=-1", "limit=x", "factor=nan", "on=maybe", "other=1", "limt=1"):
            self.assertEqual(self.run_custom("mine", "-p", wrong).code, 2, wrong)
        self.added(skill_text("needs", "SELECT {x} AS x", "## Parameters\n- x (int, required): number\n"))
        self.assertEqual(self.run_custom("needs").json()["error"]["code"], "SKILL_PARAMETER_REQUIRED")
        self.assertRegex(run("skill", "--skills-dir", self.skills, "list").text, r"(?m)^needs \*")

    def test_devices_are_checked(self):
        self.added(skill_text("of_device", "SELECT COUNT(*) AS n FROM {kernel_table} k WHERE k.deviceId = {device}",
                              "## Parameters\n- device (int, default 0): GPU\n"))
        self.assertEqual(set(self.rows_of("of_device", "--device", "1")[0]), {"n"})
        self.assertEqual(self.rows_of("of_device", "--device", "9")[0]["error"], "no kernels found")

    def test_braces_are_literal(self):
        self.added(skill_text("braces", """SELECT '{"a":{"b":1}}' AS json, '{{x}}' AS doubled, '{other}' AS other"""))
        self.assertEqual(self.rows_of("braces"), [{"json": '{"a":{"b":1}}', "doubled": "{x}", "other": "{other}"}])

    def test_placeholders(self):
        self.added(skill_text("tables", "SELECT (SELECT COUNT(*) FROM {kernel_table}) + (SELECT COUNT(*) FROM "
                              "{memcpy_table}) + (SELECT COUNT(*) FROM {runtime_table}) AS n, {_sqlite_path} AS path, "
                              "{overhead_ns} AS overhead"))
        answer = self.rows_of("tables")
        self.assertEqual(answer[0]["path"], str(self.capture))
        self.assertGreater(answer[0]["n"], 0)
        self.assertIsInstance(answer[0]["overhead"], int)
        self.added(skill_text("ranges", "SELECT {nvtx_text_expr} AS text, COUNT(*) AS n FROM {nvtx_table} n "
                              "{nvtx_text_join} WHERE n.[end] IS NOT NULL GROUP BY text ORDER BY n DESC, text"))
        self.assertIn("iteration_", "".join(r["text"] or "" for r in self.rows_of("ranges")))
        versioned = self.rows_of("tables", capture=edge("all_event_types"))
        self.assertTrue(versioned)
        self.added(SEED_FORM)
        self.assertTrue(self.rows_of("busy_streams", capture=edge("versioned_tables"))[0]["kernels"])

    def test_rounding_of_the_built_in_skills(self):
        self.added(skill_text("rounded", "SELECT nsys_round(0.125, 2) AS tie, nsys_round(0.375, 2) AS odd, "
                              "nsys_round(0.015, 2) AS below, nsys_round(7, 0) AS whole, nsys_round('7', 2) AS text, "
                              "nsys_round(NULL, 2) AS missing, nsys_round(0.5, 10) AS places"))
        self.assertEqual(self.rows_of("rounded"), [{"tie": 0.12, "odd": 0.38, "below": 0.01, "whole": 7.0, "text": None,
                                                    "missing": None, "places": None}])

    def test_graphs_may_be_missing(self):
        self.added(skill_text("graphs", "SELECT COUNT(*) AS n, SUM(g.[end] - g.start) AS ns FROM {graph_trace_table} g"))
        self.assertEqual(self.rows_of("graphs"), [{"n": 0, "ns": None}])
        self.assertGreater(self.rows_of("graphs", capture=synthetic(1, 1, "graph")[0])[0]["ns"], 0)

    def test_abstains_like_any_other(self):
        self.added(SEED_FORM)
        self.added(skill_text("plain", "SELECT COUNT(*) AS n FROM CUPTI_ACTIVITY_KIND_MEMSET"))
        self.added(skill_text("listed", "SELECT 1 AS x", "## Tables\n- SOME_TABLE\n"))
        self.assertEqual(self.assert_abstains(self.rows_of("busy_streams", capture=edge("strings_only")))
                         ["missing_tables"], ["CUPTI_ACTIVITY_KIND_KERNEL"])
        self.assertIn("empty_tables",
                      self.assert_abstains(self.rows_of("busy_streams", capture=edge("empty_kernel_table"))))
        self.assertEqual(self.assert_abstains(self.rows_of("plain", capture=edge("strings_only")))["missing_tables"],
                         ["CUPTI_ACTIVITY_KIND_MEMSET"])
        self.assertEqual(self.assert_abstains(self.rows_of("listed"))["missing_tables"], ["SOME_TABLE"])

    def test_duckdb_dialect(self):
        def duck(name: str, sql: str, sections: str = "") -> str:
            return skill_text(name, sql, sections).replace("```sql", "```duckdb")

        self.added(duck("duck", "SELECT k.streamId, COUNT(*)::INT AS n, {'a': {limit}} AS s, {part} AS part "
                        "FROM {kernel_table} k WHERE true {trim_clause} GROUP BY ALL ORDER BY n DESC LIMIT {limit}",
                        "## Parameters\n- limit (int, default 1): rows\n- part (str, default \"it's\"): text\n"))
        whole, cut = self.rows_of("duck"), self.rows_of("duck", "--trim", "1001.03", "1001.06")
        self.assertEqual((len(whole), list(whole[0]), whole[0]["part"]), (1, ["streamId", "n", "s", "part"], "it's"))
        self.assertLess(cut[0]["n"], whole[0]["n"])
        self.added(duck("no_table", "SELECT COUNT(*) AS n FROM CUPTI_ACTIVITY_KIND_MEMSET"))
        self.assert_abstains(self.rows_of("no_table", capture=edge("strings_only")))
        self.added(duck("no_column", "SELECT k.globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL k"))
        self.assert_abstains(self.rows_of("no_column", capture=edge("minimal_export")))
        self.assert_refused(self.add(duck("bad", "SELECT k.strat FROM {kernel_table} k")), 1, "line 5")
        self.assert_refused(self.add(duck("evil", "COPY (SELECT 1) TO 'pwned.csv'")), 1, "line 5")

    def test_a_hostile_file_in_the_folder(self):
        self.skills.mkdir()
        copy = self.folder / "copy.sqlite"
        shutil.copy(self.capture, copy)
        before = copy.read_bytes()
        for name, sql in {"drop": "DROP TABLE StringIds", "attach": "ATTACH DATABASE 'new.db' AS x",
                          "two": "SELECT 1; DELETE FROM StringIds", "read": "SELECT readfile('/etc/hostname')",
                          "pragma": "PRAGMA journal_mode = WAL"}.items():
            (self.skills / f"{name}.md").write_text(skill_text(name, sql))
            got = self.run_custom(name, capture=copy)
            self.assertEqual(got.code, 1, got)
            self.assertEqual(got.json()["error"]["code"], "SQL_ERROR", name)
            self.assertEqual(got.json()["error"]["skill"], name)
        self.assertEqual(copy.read_bytes(), before)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["copy.sqlite", "skills"])

    def test_info(self):
        self.added(skill_text("mine", "SELECT {limit} AS x FROM {kernel_table}",
                              "## Title\nMy Title\n## Category\nodd things\n## Parameters\n"
                              "- limit (int, default 3): rows\n## Tables\n- SOME_TABLE\n"))
        info = run("skill", "--skills-dir", self.skills, "info", "mine").json()
        self.assertEqual(list(info)[:3], ["name", "description", "parameters"])
        self.assertEqual(info["parameters"], {"limit": {"type": "int", "description": "rows", "default": 3,
                                                        "required": False}})
        self.assertEqual(info["required_tables"], ["CUPTI_ACTIVITY_KIND_KERNEL", "SOME_TABLE"])
        self.assertEqual((info["title"], info["category"], info["origin"]), ("My Title", "odd things", "custom"))
        self.assertEqual(info["sql"], "SELECT {limit} AS x FROM {kernel_table}")
        self.assertEqual(info["file"], str(self.skills / "mine.md"))
        self.assertIn("SELECT {limit}", run("skill", "info", "mine", "--format", "text", "--skills-dir",
                                            self.skills).text)
        self.assertEqual(run("skill", "info", "top_kernels").json()["origin"], "builtin")


class Save(Custom):
    def test_what_is_saved_can_be_added(self):
        for name in WITH_SQL:
            saved = self.folder / "deep" / "er" / f"{name}.md"
            got = run("skill", "save", name, "-o", saved)
            self.assertEqual((got.code, len(got.error_lines)), (0, 1), got)
            self.assertEqual(got.text, f"Saved skill '{name}_sql' → {saved}\n")
            self.assertIn(f"{name}_sql", got.error_lines[0])
            again = run("skill", "--skills-dir", self.skills, "add", saved)
            self.assertEqual((again.code, again.err), (0, b""), again)
            info = run("skill", "info", name).json()
            copy = run("skill", "--skills-dir", self.skills, "info", f"{name}_sql").json()
            for key in ("title", "description", "category", "sql"):
                self.assertEqual(copy[key], info[key], (name, key))
            self.assertLessEqual(copy["parameters"].items(), info["parameters"].items())

    def test_a_custom_skill_comes_back_as_it_is(self):
        self.added((EXAMPLES / "kernel_overlap.md").read_text())
        first, second = self.folder / "first.md", self.folder / "second.md"
        for target in (first, second):
            got = run("skill", "--skills-dir", self.skills, "save", "kernel_overlap", "-o", target)
            self.assertEqual((got.code, got.err), (0, b""), got)
            self.assertEqual(run("skill", "--skills-dir", self.skills, "add", target, "--force").code, 0)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertEqual((EXAMPLES / "kernel_overlap.md").read_text().partition("\n## Notes")[0], first.read_text())

    def test_refusals(self):
        target = self.folder / "x.md"
        self.assert_refused(run("skill", "save", "overlap_breakdown", "-o", target), 1, "computed in code",
                            "skill-template.md")
        self.assert_refused(run("skill", "save", "top_kernel", "-o", target), 2, "did you mean 'top_kernels'?")
        self.assertFalse(target.exists())
        blocked = self.write("", "file") / "sub" / "x.md"
        self.assert_refused(run("skill", "save", "top_kernels", "-o", blocked), 1, "sub")
        self.assert_refused(run("skill", "save", "top_kernels", "-o", self.folder), 1, str(self.folder))
        self.assert_refused(run("skill", "save", "top_kernels", "-o", "/proc/nothing/x.md"), 1)
        self.assert_refused(run("skill", "save", "top_kernels"), 2, "--output")

    def test_the_statements_give_the_same_rows(self):
        for name in WITH_SQL:
            run("skill", "save", name, "-o", self.folder / f"{name}.md")
            run("skill", "--skills-dir", self.skills, "add", self.folder / f"{name}.md")
        params = {s["name"]: {p["name"] for p in s["params"]} for s in harness.skill_list()}
        captures = [*harness.corpus_captures(), self.capture, synthetic(1, 1, "graph")[0],
                    *(edge(name) for name in edge_captures.EDGES)]
        captures = harness.thinned(captures, 5)
        compared = 0
        for capture in captures:
            for name in WITH_SQL:
                for options in ((), ("--iteration", "1", "--marker", "iteration_"), ("--device", "1")):
                    if options[:1] == ("--device",) and "device" not in params[name]:
                        continue
                    compared += self.compare_rows(capture, name, options)
        self.assertGreater(compared, 30 if harness.SANITIZED else 300)

    def test_the_statements_on_random_captures(self):
        names = ("h2d_distribution", "kernel_launch_pattern", "module_loading", "tensor_core_usage", "thread_utilization")
        for name in names:
            run("skill", "save", name, "-o", self.folder / f"{name}.md")
            run("skill", "--skills-dir", self.skills, "add", self.folder / f"{name}.md")
        for seed in harness.thinned(range(10), 5):
            capture = self.folder / f"random_{seed}.sqlite"
            random_capture(seed).save(str(capture))
            for name in names:
                for options in ((), ("--trim", "0.05", "2.3")):
                    self.assertEqual(self.compare_rows(capture, name, options), 1, (seed, name, options))

    def compare_rows(self, capture: pathlib.Path, name: str, options: tuple[str, ...]) -> int:
        """1 when both gave rows."""
        native = run_skill(name, capture, *options)
        saved = self.run_custom(f"{name}_sql", *options, capture=capture)
        self.assertEqual(saved.code, native.code, (capture, name, saved))
        if native.code != 0:
            return 0
        wanted, got = harness.data(native.json()), [r for r in saved.json() if "_iteration" not in r]
        if got and got[0].get("_abstained"):
            # Statements read columns that not every export has.
            reason = got[0]["reason"]
            lacking = "lacks the column" in reason or (name in ALSO_READ and ALSO_READ[name] in reason)
            self.assertTrue(not wanted or lacking, (capture, name, reason))
            return 0
        self.assertEqual(json.dumps(got), json.dumps([self.flags_as_numbers(r) for r in wanted]), (capture, name))
        return 1

    @staticmethod
    def flags_as_numbers(row: dict) -> dict:
        return {key: int(value) if isinstance(value, bool) else value for key, value in row.items()}


class Examples(Custom):
    def setUp(self):
        super().setUp()
        for path in sorted(EXAMPLES.glob("*.md")):
            got = run("skill", "--skills-dir", self.skills, "add", path)
            self.assertEqual((got.code, got.err), (0, b""), got)

    def test_template_in_the_documents(self):
        text = (harness.ROOT / "docs" / "skill-template.md").read_text()
        example = text.partition("````markdown\n")[2].partition("````\n")[0]
        self.added(example)
        name = example.split("\n", 1)[0].removeprefix("# ")
        self.assertTrue(self.rows_of(name))

    def test_pairs_of_kernels_by_hand(self):
        answer = self.rows_of("kernel_overlap", capture=edge("compute_beside_nccl"))
        self.assertEqual([(r["stream_a"], r["stream_b"], r["overlap_us"], r["pct_of_shorter"]) for r in answer],
                         [(7, 20, 500_000.0, 50.0)])
        name = answer[0]["kernel_a"]
        self.assertEqual(len(self.rows_of("kernel_overlap", "-p", f"name={name}", capture=edge("compute_beside_nccl"))), 1)
        self.assertEqual(self.rows_of("kernel_overlap", "-p", "name=no such", capture=edge("compute_beside_nccl")), [])

    def test_hidden_communication_as_the_built_in_skill_counts_it(self):
        for capture in (*harness.corpus_captures(), self.capture, edge("compute_beside_nccl")):
            for row in self.rows_of("nccl_compute_overlap", capture=capture):
                device = row["device"]
                native = rows("overlap_breakdown", capture, "--device", str(device))[0]
                if native["compute_kernels"] + native["nccl_kernels"] == 0:
                    continue
                for ours, theirs in ((row["hidden_ms"], native["overlap_ms"]),
                                     (row["exposed_ms"], native["nccl_only_ms"]),
                                     (row["compute_ms"] - row["hidden_ms"], native["compute_only_ms"])):
                    self.assertAlmostEqual(ours, theirs, delta=0.0061, msg=(capture, device))

    def test_they_run_on_every_capture(self):
        for capture in (*harness.corpus_captures(), *(edge(name) for name in edge_captures.EDGES)):
            for path in EXAMPLES.glob("*.md"):
                with self.subTest(capture=capture.name, skill=path.stem):
                    got = run_skill(path.stem, capture, "--skills-dir", self.skills, timeout=20)
                    self.assertEqual(got.code, rows_code(capture), got)

    def test_both_formats_of_a_capture_agree(self):
        harness.require_pyarrow()
        for capture in (self.capture, edge("compute_beside_nccl")):
            folder = parquetdir(capture, "--types", "native", "--empty", "keep")
            for path in EXAMPLES.glob("*.md"):
                one, other = (run_skill(path.stem, c, "--skills-dir", self.skills) for c in (capture, folder))
                self.assertEqual((one.code, one.out), (other.code, other.out), (capture, path.stem))


def rows_code(capture: pathlib.Path) -> int:
    """How the program ends on this capture, whatever the skill."""
    return run_skill("top_kernels", capture).code


if __name__ == "__main__":
    harness.main()
