#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""root_cause_matcher and profile_health_manifest on whole captures: bounds that always hold, faults that were planted."""

from __future__ import annotations

import functools
import json
import pathlib
import sqlite3

import edge_captures
import harness
from edge_captures import MS, US
from harness import rows, run, synthetic

CONFIGURATIONS = harness.thinned(
    ((seed, devices, mode) for seed in (0, 1, 7) for devices in (1, 2) for mode in ("node", "graph")), 5)
KIND = "CUPTI_ACTIVITY_KIND_"
WORK = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
QUIET_KERNELS = 60
# Of odd captures, those with several devices, processes, streams or times of every size.
ODD = ("equal_stream_numbers", "processes_share_a_device", "compute_beside_nccl", "gaps_of_every_size", "four_devices",
       "host_waits", "big_and_zero_copies", "bad_rows", "whole_graphs_only", "negative_times", "plain", "equal_times",
       "only_device_three")
SKILLS = ("root_cause_matcher", "profile_health_manifest", "overlap_breakdown")
Span = tuple[int, int]


def causes_of(path: pathlib.Path, *args: str) -> list[dict]:
    """The rows of root_cause_matcher without the one about time that no cause claims."""
    return [r for r in rows("root_cause_matcher", path, *args) if "_unclaimed" not in r]


def union(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for s, e in sorted(spans):
        if out and s <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], e))
        elif e > s:
            out.append((s, e))
    return out


def length(spans: list[Span]) -> int:
    return sum(e - s for s, e in spans)


def common(a: list[Span], b: list[Span]) -> list[Span]:
    return [(max(s, bs), min(e, be)) for s, e in a for bs, be in b if max(s, bs) < min(e, be)]


class Events:
    """What ran on one device of a capture, by plain queries."""

    def __init__(self, path: pathlib.Path, device: int):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            there = {name for name, in db.execute("SELECT name FROM sqlite_master")}
            self.work: list[Span] = []
            for table in WORK:
                if KIND + table in there:
                    self.work += db.execute(f"SELECT start, end FROM {KIND}{table} WHERE deviceId = ?", (device,))
            self.kernels = db.execute(f"SELECT start, end FROM {KIND}KERNEL WHERE deviceId = ?", (device,)).fetchall()
            self.span = (min(s for s, _ in self.kernels), max(e for _, e in self.kernels))
            pid, = db.execute(f"SELECT DISTINCT globalPid FROM {KIND}KERNEL WHERE deviceId = ?", (device,)).fetchone()
            self.waits: list[Span] = db.execute(
                f"SELECT start, end FROM {KIND}RUNTIME JOIN StringIds ON nameId = id "
                "WHERE value LIKE '%Synchronize%' AND globalTid >> 24 = ? >> 24", (pid,)).fetchall()
            self.pageable: list[Span] = db.execute(
                f"SELECT start, end FROM {KIND}MEMCPY WHERE deviceId = ? AND 0 IN (srcKind, dstKind)",
                (device,)).fetchall()
        db.close()
        active = union(common(union(self.work), [self.span]))
        self.idle = [(a[1], b[0]) for a, b in zip(active, active[1:])]


def quiet() -> edge_captures.Capture:
    """Three kernels of equal weight, back to back for 60 ms, launched well ahead: nothing to complain about."""
    c = edge_captures.Capture()
    for i in range(QUIET_KERNELS):
        c.launched(i * 20 * US, 2 * MS + i * MS, 3 * MS + i * MS, ("gemm", "softmax", "norm")[i % 3])
    c.range(0, 70 * MS, "run")
    return c


def for_each_device(test):
    """Run `test(self, path, truth, device)` as a subtest of every device of every configuration."""
    @functools.wraps(test)
    def all_of_them(self):
        for configuration in CONFIGURATIONS:
            path, truth = synthetic(*configuration)
            for device in truth["devices"]:
                with self.subTest(configuration=configuration, device=device):
                    test(self, path, truth, int(device))

    return all_of_them


def causes(path: pathlib.Path, *args: object) -> dict[str, dict]:
    """Rows by pattern; of several of one pattern the first."""
    found: dict[str, dict] = {}
    for row in causes_of(path, *args):
        if "pattern" in row:
            found.setdefault(row["pattern"], row)
    return found


class Bounds(harness.Case):
    """Sums that no capture, device or window may break."""

    def captures(self) -> list[pathlib.Path]:
        made = [synthetic(*configuration)[0] for configuration in CONFIGURATIONS]
        return harness.thinned([*made, *map(harness.edge, ODD), *harness.corpus_captures()], 3)

    def windows(self, path: pathlib.Path) -> list[tuple[str, ...]]:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            try:
                first, last = db.execute(f"SELECT min(start), max(end) FROM {KIND}KERNEL").fetchone()
            except sqlite3.OperationalError:
                return [()]
        db.close()
        cuts = [(first + (last - first) * a // 10) / 1e9 for a in (0, 3, 5, 6, 10)]
        return [(), *(("--trim", f"{a:.9f}", f"{b:.9f}") for a, b in ((cuts[0], cuts[2]), (cuts[1], cuts[3]),
                                                                     (cuts[2], cuts[4])) if 0 <= a < b)]

    def check_causes(self, said: dict[str, list[dict]], path: pathlib.Path, window: tuple[str, ...], device: int) -> None:
        found = [r for r in said["root_cause_matcher"] if "_unclaimed" not in r]
        if not found or "pattern" not in found[0]:
            self.assertTrue(found and ({"_abstained", "error"} & set(found[0])), found)
            return
        for row in found:
            self.assertGreaterEqual(row["recoverable_ms"], 0)
            self.assertLessEqual(row["start_ns"] or 0, row["end_ns"] or 0)
        # Shares are rounded to a tenth of a percent each.
        shares = [row["recoverable_pct"] for row in found if row["recoverable_pct"] is not None]
        self.assertLessEqual(sum(shares), 100 + 0.05 * len(shares), found)
        analysed = found[0]["analysed_device"]  # another when nothing ran on the one asked for
        span, = (said["overlap_breakdown"] if analysed == device else
                 rows("overlap_breakdown", path, *window, "-p", f"device={analysed}"))
        span_ms = (span["span_end_ns"] - span["span_start_ns"]) / MS
        self.assertLessEqual(sum(row["recoverable_ms"] for row in found), span_ms + 0.0005 * len(found), found)
        self.assertEqual([r["recoverable_ms"] for r in found],
                         sorted((r["recoverable_ms"] for r in found), reverse=True))

    def check_manifest(self, row: dict) -> None:
        quality = row["data_quality"]
        for share in (quality["overhead_pct"], row["idle"].get("device_idle_pct"), row["idle"].get("idle_pct"),
                      row["sync"].get("sync_density_pct"), row["overlap"].get("overlap_pct")):
            self.assertTrue(share is None or 0 <= share <= 100, row)
        self.assertLessEqual(quality["profiler_overhead_ms"], row["profile_span_ms"])
        self.assertLessEqual(len(row["root_causes"]), min(5, row["root_cause_count"]))

    def test_figures(self):
        for path in self.captures():
            for window in self.windows(path):
                for device in (0, 1, 3):
                    with self.subTest(capture=path.name, window=window, device=device):
                        lines = harness.run_all(path, "--only", ",".join(SKILLS), *window, "-p", f"device={device}")
                        said = {skill: json.loads(line)["rows"] for skill, line in lines.items()}
                        self.check_causes(said, path, window, device)
                        manifest = said["profile_health_manifest"]
                        if manifest and "device" in manifest[0]:
                            self.check_manifest(manifest[0])

    def check_silent(self, got: harness.Outcome) -> None:
        self.assertEqual(got.code, 0, got.err)
        self.assertTrue(all(line.startswith("nsys-ai: warning: ") for line in got.error_lines), got.err)

    def test_text(self):
        for path in self.captures():
            for window in self.windows(path):
                with self.subTest(capture=path.name, window=window):
                    matcher = run("skill", "run", "root_cause_matcher", path, *window)
                    self.check_silent(matcher)
                    text = run("skill", "run", "profile_health_manifest", path, *window)
                    self.check_silent(text)
                    row, = rows("profile_health_manifest", path, *window)
                    lines = [line for line in text.text.splitlines() if line.startswith("Bottleneck")]
                    words = row.get("suspected_bottleneck")
                    self.assertEqual(len(lines), 1 if "suspected_bottleneck" in row or "gpu" in row else 0)
                    if "gpu" in row:
                        self.assertIn(words or "nothing that stands out", lines[0])


class Planted(harness.Case):
    """Faults of the generator are found where they are and as large as they are; what was not planted is not found."""

    @for_each_device
    def test_pauses(self, path, truth, device):
        events = Events(path, device)
        stretches = [s for s in events.idle if s[1] - s[0] > MS]
        row = causes(path, "-p", f"device={device}")["GPU Bubbles (Pipeline Stalls)"]
        self.assert_ms(row["magnitude_ms"], length(stretches), 3)
        self.assertEqual(row["severity"], "warning")
        longest = max(stretches, key=lambda s: s[1] - s[0])
        self.assertEqual((row["start_ns"], row["end_ns"]), longest)
        process, = (p for p in truth["processes"].values() if p["device"] == device)
        planted = truth["planted"]["gc_in_iteration"]
        before, after = (process["iterations"][i]["gpu_ns"] for i in (planted - 1, planted))
        self.assertTrue(before[1] <= row["start_ns"] < row["end_ns"] <= after[0], "the longest is not the planted one")

    @for_each_device
    def test_exposed_collectives(self, path, truth, device):
        one = truth["devices"][str(device)]
        found = causes(path, "-p", f"device={device}")
        fires = round(100 * one["overlap_ns"] / one["nccl_union_ns"], 1) < 30
        self.assertEqual("NCCL Serialization" in found, fires)
        if fires:
            row = found["NCCL Serialization"]
            self.assert_ms(row["magnitude_ms"], one["exposed_nccl_ns"], 3)
            self.assertEqual(row["severity"], "critical")
        bound = 2 * one["compute_union_ns"] < one["nccl_union_ns"]
        self.assertEqual("Compute-Communication Imbalance" in found, bound)

    @for_each_device
    def test_tiny_kernels(self, path, truth, device):
        row = causes(path, "-p", f"device={device}").get("Small Kernel Overhead")
        name = truth["planted"]["tiny_kernels"]
        count = truth["devices"][str(device)]["top_kernels"][name]["count"]
        self.assertEqual(row is not None, count >= 100)
        if row is not None:
            self.assertEqual(row["where"], f"device {device}, kernel {name}")
            self.assert_ms(row["magnitude_ms"], count * 5 * US, 3)  # one launch call takes 5 us

    @for_each_device
    def test_pageable_copies(self, path, truth, device):
        copies = Events(path, device).pageable
        row = causes(path, "-p", f"device={device}")["Pageable Memory in Async Memcpy"]
        process, = (p for p in truth["processes"].values() if p["device"] == device)
        self.assertEqual(len(copies), len(process["iterations"]))
        self.assert_ms(row["magnitude_ms"], length(copies), 3)
        self.assertIn((row["start_ns"], row["end_ns"]), copies)
        self.assertEqual(row["severity"], "info", "4 bytes an iteration are no warning")

    @for_each_device
    def test_blocking_waits(self, path, truth, device):
        events = Events(path, device)
        waits = common(union(events.waits), [events.span])
        row = causes(path, "-p", f"device={device}")["Excessive Synchronization"]
        self.assert_ms(row["magnitude_ms"], length(waits), 3)
        process, = (p for p in truth["processes"].values() if p["device"] == device)
        self.assertLessEqual(length(waits), process["host_blocked_in_sync_ns"])
        self.assertEqual(row["where"], f"thread {process['main_thread']}")
        self.assertLessEqual(row["recoverable_ms"], length(common(events.idle, waits)) / MS + 0.0005)

    @for_each_device
    def test_slow_communicators(self, path, truth, device):
        """One communicator; of its operations the one with the least bandwidth, if below a fifth of 900 GB/s."""
        nccl = truth["devices"][str(device)]["nccl"]
        worst = min(nccl.values(), key=lambda one: one["bytes"] / one["total_ns"])
        row = causes(path, "-p", f"device={device}").get("Inefficient NCCL Communicator")
        self.assertEqual(row is not None, worst["bytes"] / worst["total_ns"] < 180)
        if row is not None:
            self.assert_ms(row["magnitude_ms"], worst["total_ns"], 3)
            self.assertEqual((row["recoverable_ms"], row["start_ns"]), (0, None))

    @for_each_device
    def test_nothing_that_was_not_planted(self, path, truth, device):
        del truth
        found = set(causes(path, "-p", f"device={device}"))
        never = {"Synchronous Memcpy", "Synchronous Memset", "Excessive H2D Transfers", "Continuous H2D Transfers",
                 "H2D Transfer Spike"}
        self.assertEqual(found & never, set())

    def test_nothing_in_a_quiet_capture(self):
        path = harness.made_once("quiet_composition.sqlite", lambda name: quiet().save(name))
        found = causes_of(path)
        self.assertEqual([r["severity"] for r in found if r["severity"] != "info"], [], found)
        self.assertEqual(found[0]["pattern"], "No Known Anti-Patterns Detected")
        row, = rows("profile_health_manifest", path)
        self.assertEqual((row["root_cause_count"], row["root_causes"]), (0, []))
        self.assertNotIn("suspected_bottleneck", row)


if __name__ == "__main__":
    harness.main()
