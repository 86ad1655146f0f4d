#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: help, lists, arguments, windows, streams, signals, and that nothing is ever written."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable

import harness
from harness import edge, rows, run, run_skill, scratch, synthetic

LIST_KEYS = ["name", "title", "description", "category", "params"]
MISSING = "/no/such/folder/capture.sqlite"
BAD_LIMITS = ("-1", "3.5", "abc", "nan", "inf", "", "1e3", "0x10", " 5", "99999999999999999999", "--5")
EXPECTED = {"gpu_idle_gaps", "iteration_timing", "kernel_instances", "memory_bandwidth", "memory_transfers",
            "nccl_breakdown", "nvtx_kernel_map",
            "overlap_breakdown", "pipeline_bubble_metrics", "schema_inspect", "stream_concurrency", "top_kernels"}
OF_ONE_DEVICE = {"gpu_idle_gaps", "iteration_timing", "kernel_instances", "memory_bandwidth", "nccl_breakdown",
                 "overlap_breakdown"}


def process_state(pid: int) -> str:
    """The letter that Linux gives the state of a process, or nothing when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def sleeps(pid: int) -> bool:
    return process_state(pid) == "S"


def runs(pid: int) -> bool:
    return process_state(pid) not in ("", "Z")


class Usage(harness.Case):
    def assert_usage(self, *args: object, code: str = "USAGE_ERROR", says: str = "") -> dict:
        """Exit 2 in both modes, one line or one document, each saying what is wrong."""
        text = run(*args)
        self.assertEqual((text.code, text.out, len(text.error_lines)), (2, b"", 1), (args, text))
        self.assertIn(f"[{code}]", text.error_lines[0])
        as_json = run(*args, env={"NSYS_AI_AGENT": "1"})
        self.assertEqual((as_json.code, as_json.err), (2, b""), (args, as_json))
        error = as_json.json()["error"]
        self.assertEqual(error["code"], code, args)
        self.assertEqual(list(error)[:2], ["code", "message"])
        told = error["message"] + " " + error.get("hint", "")
        self.assertIn(says, told)
        self.assertIn(says, text.error_lines[0])
        return error


class Catalogue(Usage):
    def test_help_and_version(self):
        for args in (("--help",), ("skill", "--help"), ("skill", "run", "--help"), ("skill", "list", "--help")):
            got = run(*args)
            self.assertEqual((got.code, got.err), (0, b""))
            self.assertIn(b"nsys-ai", got.out)
        self.assertRegex(run("--version").text, r"^nsys-ai \d+\.\d+\.\d+\n$")
        for option in ("--format", "--param", "--trim", "--iteration", "--marker", "--max-rows", "--threads"):
            self.assertIn(option, run("skill", "run", "--help").text)

    def test_a_missing_command_shows_help(self):
        for args in ((), ("skill",)):
            got = run(*args)
            self.assertEqual(got.code, 2)
            self.assertIn("skill" if not args else "list", got.text)

    def test_list(self):
        got = run("skill", "list", "--format", "json")
        skills = got.json()
        self.assertTrue(got.out.isascii())
        self.assertTrue(all(list(s)[:5] == LIST_KEYS for s in skills))
        names = [s["name"] for s in skills]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual(EXPECTED, set(names))
        for skill in skills:
            for param in skill["params"]:
                self.assertEqual(list(param), ["name", "type", "required", "default"])
                self.assertIn(param["type"], ("int", "float", "bool", "str"))
        text = run("skill", "list").text
        self.assertTrue(all(n in text for n in names))

    def test_parameters_of_the_reference(self):
        params = {s["name"]: {p["name"]: p["default"] for p in s["params"]} for s in harness.skill_list()}
        for name, wanted in {"top_kernels": {"limit": 15}, "kernel_instances": {"device": 0, "name": "", "limit": 10},
                             "gpu_idle_gaps": {"min_gap_ns": 1_000_000, "limit": 20, "device": 0},
                             "stream_concurrency": {"limit": 10},
                             "memory_transfers": {}, "memory_bandwidth": {"device": 0, "limit": 5},
                             "nccl_breakdown": {"device": 0},
                             "overlap_breakdown": {"device": 0}, "nvtx_kernel_map": {"limit": 50, "name": ""},
                             "nvtx_layer_breakdown": {"limit": 20, "depth": None, "auto_depth": True,
                                                      "report": "full", "raw": False},
                             "iteration_detail": {"iteration": None, "device": 0, "marker": "sample_0"},
                             "code_attribution_candidates": {"start_ns": None, "end_ns": None, "device": "all",
                                                             "limit": 5, "min_overlap_pct": 0.0},
                             "nccl_compile_context_breakdown": {},
                             "iteration_timing": {"device": 0, "marker": "sample_0"},
                             "region_mfu": {"name": None, "theoretical_flops": None, "source": "nvtx",
                                            "peak_tflops": None, "num_gpus": 1, "occurrence_index": 1,
                                            "device_id": None, "match_mode": "contains", "precision": "fp16"},
                             "theoretical_flops": {"operation": None, "hidden_dim": 0, "seq_len": 0, "num_layers": 1,
                                                   "ffn_dim": None, "batch_size": 1, "multiplier": 1,
                                                   "M": 0, "N": 0, "K": 0},
                             "arithmetic_intensity": {"theoretical_flops": None, "bytes_moved": None, "device": 0,
                                                      "peak_tflops": None, "hbm_bw_gbps": None, "precision": "fp16"},
                             "speedup_estimator": {"iteration_ms": None, "compute_ms": 0.0, "nccl_ms": 0.0,
                                                   "idle_ms": 0.0, "overlap_pct": 0.0, "tp_degree": 1,
                                                   "model_params_b": 0.0, "gpu_memory_gb": 80.0},
                             "pipeline_bubble_metrics": {}, "schema_inspect": {}}.items():
            self.assertEqual(params[name], wanted, name)

    def test_info(self):
        for skill in harness.skill_list():
            info = run("skill", "info", skill["name"]).json()
            self.assertEqual(list(info)[:3], ["name", "description", "parameters"])
            self.assertEqual(list(info["parameters"]), [p["name"] for p in skill["params"]])
            for param in info["parameters"].values():
                self.assertEqual(list(param), ["type", "description", "default", "required"])

    def test_columns_of_info_are_the_keys_of_rows(self):
        capture, _ = synthetic(0, 2, "graph")
        for name in harness.skills():
            known = set(run("skill", "info", name).json()["columns"])
            answer = harness.data(rows(name, capture, *harness.TO_FIND_ANY.get(name, ())))
            self.assertTrue(answer, name)
            for row in answer:
                self.assertLessEqual(set(row), known, name)

    def test_misspelt_words_get_one_suggestion(self):
        for args, code, says in ((("skil", "list"), "USAGE_ERROR", "'skill'"),
                                 (("skill", "lst"), "USAGE_ERROR", "'list'"),
                                 (("skill", "run", "top_kernel", MISSING), "SKILL_NOT_FOUND", "'top_kernels'"),
                                 (("skill", "info", "overlap_breakdwn"), "SKILL_NOT_FOUND", "'overlap_breakdown'"),
                                 (("skill", "run", "top_kernels", MISSING, "-p", "limt=3"), "USAGE_ERROR", "'limit'"),
                                 (("skill", "run", "top_kernels", MISSING, "--formt", "json"), "USAGE_ERROR",
                                  "'--format'")):
            with self.subTest(args=args):
                self.assert_usage(*args, code=code, says=says)

    def test_an_unknown_skill_lists_the_known(self):
        error = self.assert_usage("skill", "run", "zzz", MISSING, code="SKILL_NOT_FOUND")
        self.assertEqual(error["available_skills"], [s["name"] for s in harness.skill_list()])


class Parameters(Usage):
    def test_arguments_are_checked_before_the_file(self):
        for skill in harness.skill_list():
            for param in skill["params"]:
                if param["type"] == "int":
                    with self.subTest(skill=skill["name"], param=param["name"]):
                        error = self.assert_usage("skill", "run", skill["name"], MISSING, "-p", f"{param['name']}=abc",
                                                  says=param["name"])
                        self.assertEqual((error["skill"], error["parameter"]), (skill["name"], param["name"]))
        self.assertEqual(run_skill("top_kernels", MISSING).json()["error"]["code"], "PROFILE_NOT_FOUND")

    def test_bad_values(self):
        for value in BAD_LIMITS:
            with self.subTest(value=value):
                self.assert_usage("skill", "run", "top_kernels", MISSING, "-p", f"limit={value}", says="limit")
        for param in ("min_gap_ns", "limit"):
            self.assert_usage("skill", "run", "gpu_idle_gaps", MISSING, "-p", f"{param}=-1", says=param)
        self.assert_usage("skill", "run", "iteration_timing", MISSING, "-p", "marker=", says="marker")

    def test_bad_syntax(self):
        for args in (("-p", "limit"), ("-p", "=3"), ("-p",), ("-p", "limit=1", "-p", "limit=2"), ("-p", "nosuch=1"),
                     ("--param", "limit")):
            with self.subTest(args=args):
                self.assert_usage("skill", "run", "top_kernels", MISSING, *args)
        self.assert_usage("skill", "run", "memory_transfers", MISSING, "-p", "limit=1", says="limit")
        self.assert_usage("skill", "run", "top_kernels", MISSING, "--format", "yaml", says="yaml")
        self.assert_usage("skill", "run", "top_kernels", MISSING, "surplus", says="surplus")
        self.assert_usage("skill", "run", "top_kernels")

    def test_good_values(self):
        capture, _ = synthetic()
        everything = rows("top_kernels", capture, "-p", "limit=9223372036854775807")
        self.assertEqual(rows("top_kernels", capture, "-p", "limit=0"), [])
        self.assertEqual(rows("top_kernels", capture, "--param", "limit=3"), everything[:3])
        self.assertEqual(rows("top_kernels", capture, "--param=limit=3"), everything[:3])

    def test_several_parameters(self):
        capture, _ = synthetic()
        wanted = rows("kernel_instances", capture, "-p", "limit=2", "-p", "name=gemm", "-p", "device=1")
        self.assertEqual([(r["device_id"], "gemm" in r["kernel_name"]) for r in wanted], [(1, True), (1, True)])
        before_profile = run("skill", "run", "--format", "json", "-p", "device=1", "kernel_instances", "--param",
                             "name=gemm", capture, "-p", "limit=2")
        self.assertEqual(before_profile.json(), wanted)
        self.assertEqual(rows("kernel_instances", capture, "-p", "name=a=b"), [])

    def test_an_absent_device_is_answered_with_the_present_ones(self):
        capture, _ = synthetic()
        self.assertLessEqual(OF_ONE_DEVICE, set(harness.device_skills()))
        for skill in harness.device_skills():
            with self.subTest(skill=skill):
                row = rows(skill, capture, "-p", "device=9")[0]
                self.assertEqual((row["error"], row["requested_device"], list(row["available_devices"])),
                                 ("no kernels found", 9, ["0", "1"]))
                self.assertIn("device=0", row["hint"])
                self.assertEqual(rows(skill, capture, "-p", "device=9", "--max-rows", "0")[0], row)
                self.assertEqual(run("skill", "run", skill, capture, "-p", "device=9").code, 0)


class Windows(Usage):
    def test_trim_that_cannot_be(self):
        capture, _ = synthetic()
        for words in (("5", "3"), ("5", "5"), ("1", "2"), ("99999", "99999.5")):
            with self.subTest(words=words):
                self.assert_usage("skill", "run", "top_kernels", capture, "--trim", *words, code="TRIM_OUT_OF_RANGE")
        for words in (("nan", "3"), ("1", "nan"), ("a", "b"), ("inf", "inf"), ("1e300", "inf"), ("1",)):
            with self.subTest(words=words):
                self.assert_usage("skill", "run", "top_kernels", capture, "--trim", *words)
        self.assert_usage("skill", "run", "top_kernels", MISSING, "--trim", "5", "3", code="TRIM_OUT_OF_RANGE")

    def test_an_open_end(self):
        capture, truth = synthetic()
        middle = truth["processes"]["4000"]["iterations"][3]["gpu_ns"][0] / 1e9
        self.assertEqual(rows("top_kernels", capture, "--trim", middle, "inf"),
                         rows("top_kernels", capture, "--trim", middle, "5000"))
        self.assertEqual(rows("top_kernels", capture, "--trim", "0", "inf"), rows("top_kernels", capture))

    def test_iteration(self):
        capture, truth = synthetic()
        begin, end = truth["processes"]["4000"]["iterations"][2]["gpu_ns"]
        row = rows("overlap_breakdown", capture, "--iteration", "2", "--marker", "iteration_")[0]
        self.assertEqual((row["span_start_ns"], row["span_end_ns"]), (begin, end))
        other = truth["processes"]["4100"]["iterations"][2]["gpu_ns"]
        row = rows("overlap_breakdown", capture, "--iteration", "2", "--marker", "iteration_", "-p", "device=1")[0]
        self.assertEqual([row["span_start_ns"], row["span_end_ns"]], other)

    def test_iteration_that_cannot_be(self):
        capture, _ = synthetic()
        self.assert_usage("skill", "run", "top_kernels", capture, "--iteration", "6", "--marker", "iteration_",
                          says="0 to 5")
        for word in ("-1", "x", "1.5"):
            self.assert_usage("skill", "run", "top_kernels", capture, "--iteration", word, says="--iteration")
        self.assert_usage("skill", "run", "top_kernels", MISSING, "--iteration", "0", "--trim", "1", "2", says="--trim")

    def test_iteration_on_the_device_that_has_kernels(self):
        got = run_skill("top_kernels", edge("only_device_three"), "--iteration", "0")
        self.assertNotIn("device 0", got.err.decode())

    def test_iteration_without_launches_is_an_abstention(self):
        for name in ("equal_stream_numbers", "empty_kernel_table"):
            for skill in ("top_kernels", "memory_transfers", "stream_concurrency"):
                [row] = rows(skill, edge(name), "--iteration", "7")
                self.assertTrue(row["_abstained"], (name, skill))

    def test_empty_values_are_not_taken_for_absent_ones(self):
        for option in ("--iteration", "--max-rows", "-o", "--threads", "--device"):
            got = run_skill("kernel_instances", edge("plain"), option, "")
            self.assertEqual(got.code, 2, option)
            self.assertIn("''", json.loads(got.out)["error"]["message"])

    def test_arithmetic_needs_no_capture(self):
        words = ("-p", "operation=linear", "-p", "M=3", "-p", "N=5", "-p", "K=7")
        with_capture = run_skill("theoretical_flops", edge("plain"), *words)
        self.assertEqual(with_capture.json()[0]["theoretical_flops"], 210)
        for profile in ((), ("-",)):
            got = run("skill", "run", "theoretical_flops", *profile, "--format", "json", *words)
            self.assertEqual((got.code, got.out), (0, with_capture.out))
        self.assert_usage("skill", "run", "top_kernels", says="top_kernels")
        self.assertEqual(run_skill("theoretical_flops", MISSING, *words).json()["error"]["code"], "PROFILE_NOT_FOUND")

    def test_a_name_behind_two_dashes(self):
        got = run("skill", "run", "top_kernels", "--", "-no-such.sqlite")
        self.assertEqual(got.code, 1)
        self.assertIn(b"-no-such.sqlite", got.err)

    def test_a_heuristic_iteration_is_announced(self):
        got = run_skill("top_kernels", edge("library_ranges_only"), "--iteration", "0")
        self.assertEqual(got.code, 0, got)
        self.assertIn("sample_0", got.err.decode())

    def test_max_rows(self):
        capture, _ = synthetic()
        everything = rows("top_kernels", capture)
        cut = rows("top_kernels", capture, "--max-rows", "3")
        self.assertEqual(cut, everything[:3] + [{"_truncated": True, "_total_rows": len(everything), "_shown_rows": 3}])
        self.assertEqual(rows("top_kernels", capture, "--max-rows", "1000"), everything)
        self.assertEqual(rows("top_kernels", capture, "--max-rows", "0")[0]["_shown_rows"], 0)
        gaps = rows("gpu_idle_gaps", capture, "--max-rows", "1")
        self.assertEqual([next(iter(r)) for r in gaps], ["streamId", "_summary", "_truncated"])
        self.assertEqual(run("skill", "run", "top_kernels", capture, "--max-rows", "1").out,
                         run("skill", "run", "top_kernels", capture).out)
        for word in ("-1", "x"):
            self.assert_usage("skill", "run", "top_kernels", MISSING, "--max-rows", word, says="--max-rows")


class RunAll(Usage):
    def test_it_says_what_each_skill_says(self):
        capture, _ = synthetic()
        args = ("-p", "marker=iteration_", "--trim", "1000", "inf")
        entries = {e["skill"]: e for e in run("skill", "run-all", capture, "--format", "json", *args).json()["skills"]}
        self.assertEqual(set(entries), {s["name"] for s in harness.skill_list()})
        for skill in harness.skill_list():
            name = skill["name"]
            lacking = [p["name"] for p in skill["params"] if p["required"] and p["default"] is None]
            with self.subTest(skill=name):
                if lacking:
                    needs = "needs" + "".join(f" -p {p}=VALUE" for p in lacking)
                    self.assertEqual(entries[name], {"skill": name, "not_run": needs})
                    continue
                taken = args if any(p["name"] == "marker" for p in skill["params"]) else args[2:]
                self.assertEqual(entries[name], {"skill": name, "rows": run_skill(name, capture, *taken).json()})

    def test_forms(self):
        capture, _ = synthetic()
        only = ("--only", "top_kernels, gpu_idle_gaps ,top_kernels")
        whole = run("skill", "run-all", capture, "--format", "json", *only)
        lines = [json.loads(line) for line in run("skill", "run-all", capture, "--format", "jsonl", *only).out.splitlines()]
        self.assertEqual([e["skill"] for e in lines], ["top_kernels", "gpu_idle_gaps"])
        self.assertEqual(whole.json(), {"profile": str(capture), "skills": lines})
        text = run("skill", "run-all", capture, *only).text
        top, gaps = (run("skill", "run", s, capture).text for s in ("top_kernels", "gpu_idle_gaps"))
        self.assertEqual(text, f"# top_kernels\n\n{top}\n# gpu_idle_gaps\n\n{gaps}")

    def test_what_cannot_be(self):
        for args, says in ((("--only", "top_kernel"), "did you mean 'top_kernels'"), (("--only", ","), "--only"),
                           (("-p", "nosuch=1"), "none of these skills takes the parameter 'nosuch'"),
                           (("--only", "region_mfu"), "region_mfu needs -p name=VALUE -p theoretical_flops=VALUE"),
                           (("-p", "limit=x"), "limit"),
                           (("--format", "csv"), "--format takes one of text, json, jsonl")):
            with self.subTest(args=args):
                got = run("skill", "run-all", MISSING, *args)
                self.assertEqual(got.code, 2, got)
                self.assertIn(says, got.err.decode())
        capture, _ = synthetic()
        self.assert_usage("skill", "run-all", capture, "--trim", "1", "2", code="TRIM_OUT_OF_RANGE")
        self.assert_usage("skill", "run-all", capture, "-o", capture, says="capture")

    def test_pauses_in_place_of_a_marker_are_warned_of_once(self):
        capture, _ = synthetic()
        for only in ("", "nvtx_kernel_map,gc_impact,kernel_launch_pattern,overlap_breakdown,top_kernels"):
            got = run("skill", "run-all", capture, "--iteration", "1", *(("--only", only) if only else ()))
            self.assertEqual(got.code, 0, got.err)
            self.assertEqual(got.err.count(b"no NVTX range holds the marker"), 1, got.err)

    def test_a_skill_that_fails_leaves_the_others(self):
        capture, _ = synthetic()
        with scratch() as folder:
            text = ("# broken\n\n## Title\n\nBroken\n\n## Description\n\nAlways fails.\n\n## Category\n\nutility\n\n"
                    "## SQL\n\n```sql\nSELECT no_such_column FROM StringIds\n```\n")
            (folder / "broken.md").write_text(text)
            got = run("skill", "run-all", capture, "--skills-dir", folder, "--only", "broken,top_kernels",
                      "--format", "json")
            self.assertEqual(got.code, 1, got)
            first, second = got.json()["skills"]
            self.assertEqual((first["skill"], first["error"]["code"]), ("broken", "SQL_ERROR"))
            self.assertEqual(second["rows"], rows("top_kernels", capture))


class Streams(harness.Case):
    def test_every_answer_is_one_plain_document(self):
        for capture in (synthetic(0, 2, "graph")[0], edge("hostile_names"), edge("strings_only"), edge("equal_times")):
            for skill in harness.skills():
                got = run_skill(skill, capture)
                got.json()
                self.assertTrue(got.out.isascii() and got.out.endswith(b"\n") and not got.out.endswith(b"\n\n"))
                self.assertEqual(run("skill", "run", skill, capture, "--format=json").out, got.out)
                self.assertEqual(got.out, (json.dumps(got.json(), indent=2) + "\n").encode(), skill)

    def test_no_colours_without_a_terminal(self):
        capture, _ = synthetic()
        for env in ({}, {"TERM": "xterm-256color"}, {"NO_COLOR": "1"}):
            got = run("skill", "run-all", capture, env=env)
            self.assertNotIn(b"\x1b", got.out + got.err)

    def on_terminal(self, **env: str) -> bytes:
        """What the program prints when stdout is a terminal."""
        capture, _ = synthetic()
        main, other = pty.openpty()
        process = subprocess.Popen([harness.BINARY, "skill", "run", "top_kernels", str(capture)], stdout=other,
                                   stderr=subprocess.DEVNULL, env=harness.RUN_ENVIRONMENT | {"TERM": "xterm"} | env)
        os.close(other)
        out = b""
        try:
            while chunk := os.read(main, 65536):
                out += chunk
        except OSError:
            pass  # how a closed terminal reads on Linux
        self.assertEqual(process.wait(), 0)
        os.close(main)
        self.assertIn(b"Top GPU Kernels", out)
        return out

    def test_no_color_is_obeyed_on_a_terminal(self):
        self.assertNotIn(b"\x1b", self.on_terminal(NO_COLOR="1"))
        self.assertNotIn(b"\x1b", self.on_terminal(TERM="dumb"))
        coloured = self.on_terminal()
        self.assertIn(b"\x1b[", coloured)
        self.assertEqual(re.sub(rb"\x1b\[[0-9;]*m", b"", coloured), self.on_terminal(NO_COLOR="1"))

    def test_a_closed_pipe_ends_it_quietly(self):
        capture, _ = synthetic()
        script = ('"$0" skill run nvtx_kernel_map "$1" -p limit=100000 --format json | head -c 1; '
                  'exit "${PIPESTATUS[0]}"')
        done = subprocess.run(["bash", "-c", script, harness.BINARY, str(capture)], capture_output=True,
                              env=harness.RUN_ENVIRONMENT, check=False)
        self.assertEqual(done.returncode, 141)  # the answer is larger than a pipe holds
        self.assertEqual((done.stdout, done.stderr), (b"[", b""))

    def test_a_pipe_that_nobody_reads(self):
        capture, _ = synthetic()
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([harness.BINARY, "skill", "run", "top_kernels", str(capture)], stdout=write,
                                   stderr=subprocess.PIPE, env=harness.RUN_ENVIRONMENT)
        os.close(write)
        _, err = process.communicate(timeout=30)
        self.assertIn(process.returncode, (141, -signal.SIGPIPE))
        self.assertEqual(err, b"")

    def test_a_full_disk_is_an_error(self):
        capture, _ = synthetic()
        for args in (("skill", "list"), ("skill", "run", "top_kernels", str(capture)),
                     ("skill", "run", "top_kernels", str(capture), "--format", "json")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([harness.BINARY, *args], stdout=full, stderr=subprocess.PIPE,
                                      env=harness.RUN_ENVIRONMENT, check=False)
            self.assertEqual(done.returncode, 1, args)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def wait_until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        """Look again and again until `condition` holds."""
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.01)

    def test_ctrl_c(self):
        with scratch() as folder:
            report = folder / "slow.nsys-rep"
            report.write_bytes(b"made up")
            started = folder / "started"
            tool = folder / "nsys"
            tool.write_text(f"#!/bin/sh\necho $$ > '{started}.part'\nmv '{started}.part' '{started}'\nexec sleep 30\n")
            tool.chmod(0o755)
            process = subprocess.Popen([harness.BINARY, "skill", "run", "top_kernels", str(report)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=harness.RUN_ENVIRONMENT | {"NSYS": str(tool), "TMPDIR": str(folder)})
            self.wait_until(lambda: started.exists() and sleeps(process.pid))
            self.assertEqual(len(list(folder.glob("nsys-ai-*"))), 1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=10)
            self.assertEqual((process.returncode, out, err), (130, b"", b""))
            self.assertEqual(sorted(p.name for p in folder.iterdir()), ["nsys", "slow.nsys-rep", "started"])
            self.wait_until(lambda: not runs(int(started.read_text())))


class Files(harness.Case):
    def test_a_read_only_folder(self):
        capture, _ = synthetic()
        with scratch() as folder:
            shutil.copyfile(capture, folder / "capture.sqlite")
            (folder / "capture.sqlite").chmod(0o444)
            folder.chmod(0o555)
            try:
                self.assertEqual(harness.run_all(folder / "capture.sqlite", cwd=folder), harness.run_all(capture))
                self.assertEqual([p.name for p in folder.iterdir()], ["capture.sqlite"])
            finally:
                folder.chmod(0o755)

    def test_nothing_is_opened_for_writing(self):
        capture, _ = synthetic()
        if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True,
                                                        check=False).returncode:
            self.skipTest("strace does not work here")
        captures = [capture]
        try:
            captures.append(harness.parquetdir(capture))
        except (ImportError, subprocess.CalledProcessError):
            pass  # without pyarrow the file alone
        with scratch() as folder:
            for skill in ("top_kernels", "nvtx_kernel_map", "schema_inspect"):
                for one in captures:
                    log = folder / "strace.log"
                    calls = "trace=open,openat,creat,mkdir,mkdirat,rename,renameat2,unlink,unlinkat"
                    got = run("skill", "run", skill, one, cwd=folder, env={"ASAN_OPTIONS": "detect_leaks=0"},
                              prefix=("strace", "-f", "-qq", "-e", calls, "-o", str(log)))
                    self.assertEqual(got.code, 0, got)
                    allowed = ("/dev/null", "/dev/tty", "/proc/self/")
                    self.assertIn(one.name, log.read_text())
                    written = [line for line in log.read_text().splitlines()
                               if re.search(r"O_WRONLY|O_RDWR|O_CREAT|mkdir|creat\(|rename|unlink", line)
                               and not any(a in line for a in allowed)]
                    self.assertEqual(written, [], skill)

    def test_readers_agree_and_tell_themselves_when_asked(self):
        capture, _ = synthetic()
        silent = run_skill("stream_concurrency", capture)
        self.assertEqual((silent.code, silent.err), (0, b""))
        with scratch() as folder:
            refused = folder / "defaults.sqlite"
            shutil.copy(capture, refused)
            os.chmod(refused, 0o600)
            with contextlib.closing(sqlite3.connect(refused)) as db, db:
                db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN greenContextId")
                db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN greenContextId INTEGER DEFAULT 0")
            for path, reader, told in (
                    (capture, "auto", "read by pages"), (capture, "pages", "read by pages"),
                    (capture, "sqlite", "read by SQLite"),
                    (refused, "auto", "read by pages; by SQLite the rest of CUPTI_ACTIVITY_KIND_KERNEL (a column with "
                                      "a default was added to rows that exist)")):
                answer = run_skill("stream_concurrency", path, "--reader", reader)
                self.assertEqual((answer.code, answer.out), (0, silent.out), (path, reader))
                self.assertEqual(answer.error_lines, [f"nsys-ai: {told}"], (path, reader))
            answer = run_skill("stream_concurrency", refused, "--reader", "pages")
            self.assertEqual(answer.code, 1)
            self.assertIn("by pages: table CUPTI_ACTIVITY_KIND_KERNEL: ", answer.json()["error"]["message"])

    def test_odd_paths(self):
        capture, _ = synthetic()
        wanted = run_skill("top_kernels", capture).out
        with scratch() as folder:
            for name in ("with blank.sqlite", "it's \"quoted\".sqlite", "Größe 漢字.sqlite",
                         "percent%20?mode=rw#x.sqlite", "-dash.sqlite",
                         "new\nline.sqlite", "no_extension", "UPPER.SQLITE", "back\\slash.db"):
                shutil.copyfile(capture, folder / name)
                self.assertEqual(run_skill("top_kernels", folder / name).out, wanted, name)
            self.assertEqual(run_skill("top_kernels", "./-dash.sqlite", cwd=folder).out, wanted)
            os.symlink("with blank.sqlite", folder / "link.sqlite")
            self.assertEqual(run_skill("top_kernels", folder / "link.sqlite").out, wanted)
            missing = run("skill", "run", "top_kernels", folder / "gone\nand \x1b[31mred.sqlite")
            self.assertEqual((missing.code, len(missing.error_lines)), (1, 1))
            self.assertNotIn(b"\x1b", missing.err)
            self.assertEqual(len(list(folder.iterdir())), 10)

    def test_a_journal_beside_the_capture_is_left_alone(self):
        capture, _ = synthetic()
        with scratch() as folder:
            path = folder / "wal.sqlite"
            shutil.copyfile(capture, path)
            db = sqlite3.connect(path)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("CREATE TABLE later (x INTEGER)")
            db.commit()
            before = {p.name: p.stat().st_size for p in folder.iterdir()}
            got = run_skill("top_kernels", path)
            self.assertEqual(got.code, 0, got)
            self.assertEqual(got.out, run_skill("top_kernels", capture).out)
            self.assertEqual({p.name: p.stat().st_size for p in folder.iterdir()}, before)
            db.close()

    def test_output_never_overwrites_the_capture(self):
        with scratch() as folder:
            capture = folder / "x.sqlite"
            shutil.copy(edge("plain"), capture)
            before = capture.read_bytes()
            (folder / "link").symlink_to("x.sqlite")
            for target in (capture, folder / "link", folder / "." / "x.sqlite"):
                got = run_skill("top_kernels", capture, "-o", target)
                self.assertEqual(got.code, 2)
                self.assertIn("overwrite", json.loads(got.out)["error"]["message"])
            self.assertEqual(capture.read_bytes(), before)

    def test_output_that_cannot_be_written_is_one_document(self):
        got = run_skill("top_kernels", edge("plain"), "-o", "/no/such/folder/x.json")
        self.assertEqual((got.code, got.err), (1, b""))
        self.assertIn("error", json.loads(got.out))

    def test_output_file(self):
        capture, _ = synthetic()
        with scratch() as folder:
            path = pathlib.Path(folder) / "rows.json"
            got = run_skill("top_kernels", capture, "-o", path)
            self.assertEqual((got.code, got.out), (0, b""))
            self.assertEqual(path.read_bytes(), run_skill("top_kernels", capture).out)
            self.assertEqual([p.name for p in folder.iterdir()], ["rows.json"])
            self.assertEqual(run_skill("top_kernels", capture, "-o", folder / "no" / "x.json").code, 1)


if __name__ == "__main__":
    harness.main()
