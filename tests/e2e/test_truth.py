#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of generated captures are exactly those that were laid out when the capture was made."""

from __future__ import annotations

import functools
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable

import harness
from harness import data, rows, summary, synthetic

CONFIGURATIONS = harness.thinned(
    ((seed, devices, mode) for seed in (0, 1, 7) for devices in (1, 2) for mode in ("node", "graph")), 5)
NCCL_RANGES = ("ncclAllReduce", "ncclAllGather")


def for_each_capture(test: Callable) -> Callable:
    """Run `test(self, path, truth)` as a subtest of every configuration."""
    @functools.wraps(test)
    def all_of_them(self):
        for seed, devices, mode in CONFIGURATIONS:
            with self.subTest(seed=seed, devices=devices, graph_mode=mode):
                test(self, *synthetic(seed, devices, mode))

    return all_of_them


class Truth(harness.Case):
    @for_each_capture
    def test_kernel_counts_and_sums_by_name(self, path, truth):
        wanted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for device in truth["devices"].values():
            for name, one in device["top_kernels"].items():
                wanted[name][0] += one["count"]
                wanted[name][1] += one["total_ns"]
        got = rows("top_kernels", path, "-p", "limit=1000")
        self.assertEqual(len(got), len(wanted))
        for row in got:
            name = next(n for n in wanted if n in row["kernel_name"].replace("::", " ") or n in row["kernel_name"])
            self.assertEqual(row["invocations"], wanted[name][0], name)
            self.assertEqual(row["total_ns"], wanted[name][1], name)
            self.assert_ms(row["total_ms"], wanted[name][1], 2, name)
            self.assert_ms(row["min_ms"], row["min_ns"], 2, name)

    @for_each_capture
    def test_every_execution_is_listed_once(self, path, truth):
        for number, device in truth["devices"].items():
            got = rows("kernel_instances", path, "-p", f"device={number}", "-p", "limit=100000")
            self.assertEqual(len(got), device["kernel_count"])
            self.assertEqual(sum(r["end_ns"] - r["start_ns"] for r in got), device["kernel_sum_ns"])
            self.assertEqual(min(r["start_ns"] for r in got), device["first_kernel_ns"])
            self.assertEqual(max(r["end_ns"] for r in got), device["last_kernel_ns"])
            counts = Counter(r["short_name"] for r in got)
            self.assertEqual(counts, {n: t["count"] for n, t in device["top_kernels"].items()})

    @for_each_capture
    def test_time_behind_mfu(self, path, truth):
        for number, device in truth["devices"].items():
            for name, one in device["top_kernels"].items():
                row, = rows("region_mfu", path, "-p", "source=kernel", "-p", "match_mode=exact", "-p", f"name={name}",
                            "-p", "theoretical_flops=1", "-p", f"device_id={number}")
                self.assertEqual((row["kernel_count"], row["gpu_kernel_sum_ns"]), (one["count"], one["total_ns"]))
                self.assertEqual(row["peak_tflops_per_gpu"], 989.0)  # the generator writes an H100 SXM
            row, = rows("arithmetic_intensity", path, "-p", "theoretical_flops=1", "-p", f"device={number}")
            self.assertEqual((row["kernel_count"], row["kernel_union_ns"]),
                             (device["kernel_count"], device["busy_union_ns"]))
            self.assertEqual((row["peak_fp16_tflops"], row["hbm_bw_gbps"]), (989.0, 3350.0))

    @for_each_capture
    def test_overlap_parts(self, path, truth):
        for number, device in truth["devices"].items():
            row = rows("overlap_breakdown", path, "-p", f"device={number}")[0]
            for key, wanted in (("compute_only_ms", "compute_only_ns"), ("nccl_only_ms", "exposed_nccl_ns"),
                                ("overlap_ms", "overlap_ns"),
                                ("idle_ms", "idle_ns"), ("total_ms", "span_ns")):
                self.assert_ms(row[key], device[wanted], 2, key)
            self.assertEqual(row["span_start_ns"], device["first_kernel_ns"])
            self.assertEqual(row["span_end_ns"], device["last_kernel_ns"])
            nccl = sum(op["count"] for op in device["nccl"].values())
            self.assertEqual((row["compute_kernels"], row["nccl_kernels"]), (device["kernel_count"] - nccl, nccl))
            self.assertTrue(harness.shows(row["overlap_pct"], 100 * device["overlap_ns"] / device["nccl_union_ns"], 1))

    @for_each_capture
    def test_host_waits(self, path, truth):
        for process in truth["processes"].values():
            row = rows("overlap_breakdown", path, "-p", f"device={process['device']}")[0]
            waits = sum(one["total_ns"] for kind, one in process["sync_rows_by_type"].items() if kind != "2")
            self.assert_ms(row["sync_ms"], waits - self.waits_outside(path, process, row), 3)

    @staticmethod
    def waits_outside(path, process, row) -> int:
        """What the waits of a process have before its first or after its last kernel; no two of them overlap."""
        with sqlite3.connect(path) as db:
            found = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
                               "WHERE syncType <> 2 AND deviceId = ?", (process["device"],)).fetchall()
        db.close()
        kept = sum(max(0, min(e, row["span_end_ns"]) - max(s, row["span_start_ns"])) for s, e in found)
        return sum(e - s for s, e in found) - kept

    @for_each_capture
    def test_streams(self, path, truth):
        got = {(r["deviceId"], r["streamId"]): r for r in rows("stream_concurrency", path, "-p", "limit=1000")}
        self.assertEqual(len(got), sum(len(d["streams"]) for d in truth["devices"].values()))
        for number, device in truth["devices"].items():
            for stream, wanted in device["streams"].items():
                row = got[int(number), int(stream)]
                self.assertEqual(row["kernel_count"], wanted["count"])
                self.assertEqual(row["total_gpu_ns"], wanted["busy_ns"])  # no stream overlaps itself
                self.assert_ms(row["total_gpu_ms"], wanted["busy_ns"], 2)
                span = wanted["last_ns"] - wanted["first_ns"]
                self.assert_ms(row["stream_span_ms"], span, 2)
                self.assertTrue(harness.shows(row["stream_util_pct"], 100 * wanted["busy_ns"] / span, 1))
                self.assertEqual(row["device_max_concurrent_kernels"], device["concurrency"]["max"])
                self.assert_ms(row["device_concurrent_ms"], device["concurrency"]["ns_at_2_or_more"], 3)
                self.assert_ms(row["device_copy_ms"], device["copy_union_ns"], 3)
                self.assert_ms(row["device_copy_overlapped_ms"], device["copy_overlapping_kernels_ns"], 3)

    @for_each_capture
    def test_copies_by_kind(self, path, truth):
        wanted: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        for number, device in truth["devices"].items():
            answer = rows("memory_bandwidth", path, "-p", f"device={number}")
            one = {r["copyKind"]: r for r in data(answer)}
            self.assertEqual(set(one), {int(k) for k in device["memcpy"]})
            for kind, copy in device["memcpy"].items():
                row = one[int(kind)]
                self.assertEqual((row["op_count"], row["total_ns"]), (copy["count"], copy["total_ns"]))
                self.assert_ms(row["total_mb"], copy["bytes"], 2)
                self.assertTrue(harness.shows(row["avg_bandwidth_gbps"], copy["bytes"] / copy["total_ns"], 2))
                for i, key in enumerate(("count", "bytes", "total_ns")):
                    wanted[int(kind)][i] += copy[key]
        got = {r["copyKind"]: [r["count"], r["total_bytes"], r["total_ns"]] for r in rows("memory_transfers", path)}
        self.assertEqual(got, wanted)

    @for_each_capture
    def test_collectives(self, path, truth):
        for number, device in truth["devices"].items():
            got = {r["type"]: r for r in rows("nccl_breakdown", path, "-p", f"device={number}")}
            self.assertEqual(set(got), set(device["nccl"]))
            total = sum(op["total_ns"] for op in device["nccl"].values())
            for name, op in device["nccl"].items():
                row = got[name]
                self.assertEqual((row["stream_id"], row["count"], row["total_ns"]), (20, op["count"], op["total_ns"]))
                self.assert_ms(row["min_ms"], op["min_ns"], 3)
                self.assert_ms(row["max_ms"], op["max_ns"], 3)
                self.assertTrue(harness.shows(row["pct"], 100 * op["total_ns"] / total, 1))

    @for_each_capture
    def test_collectives_of_the_communicator(self, path, truth):
        for number, device in truth["devices"].items():
            answer = rows("nccl_communicator_analysis", path, "-p", f"device={number}")
            got = {r["collective_type"]: r for r in data(answer)}
            self.assertEqual(set(got), set(device["nccl"]))
            for name, op in device["nccl"].items():
                self.assertEqual([got[name][k] for k in ("count", "total_ns", "total_bytes", "num_ranks")],
                                 [op["count"], op["total_ns"], op["bytes"], truth["world_size"]])
        total = summary(rows("nccl_payload_breakdown", path))
        self.assertEqual(total["total_bytes_all"], sum(op["bytes"] for device in truth["devices"].values()
                                                       for op in device["nccl"].values()))

    @for_each_capture
    def test_gaps_between_kernels(self, path, truth):
        for number, device in truth["devices"].items():
            answer = rows("gpu_idle_gaps", path, "-p", f"device={number}", "-p", "limit=1000")
            by_stream: dict[int, list[int]] = defaultdict(list)
            for row in data(answer):
                by_stream[row["streamId"]].append(row["gap_ns"])
                self.assertEqual(row["gap_ns"], row["end_ns"] - row["start_ns"])
            wanted = self.gaps(path, int(number))
            self.assertEqual({s: sorted(g) for s, g in by_stream.items()}, wanted)
            if truth["generator"]["graph_mode"] == "node":
                for stream, one in device["streams"].items():
                    gaps = wanted.get(int(stream), [])
                    over = one["gaps_over_1ms"]
                    self.assertEqual((len(gaps), sum(gaps)), (over["count"], over["total_ns"]))
                    self.assertEqual(max(gaps, default=0), over["largest_ns"] if over["count"] else 0)
            about = summary(answer)
            self.assertEqual(about["gap_count"], sum(map(len, wanted.values())))
            self.assert_ms(about["total_idle_ms"], sum(map(sum, wanted.values())), 2)
            self.assert_ms(about["device_idle_ms"], device["idle_ns"], 2)

    @staticmethod
    def gaps(path, device: int) -> dict[int, list[int]]:
        """Gaps of more than 1 ms by stream, from the file: a graph traced as a whole is work of its stream."""
        lanes: dict[int, list[tuple[int, int]]] = defaultdict(list)
        with sqlite3.connect(path) as db:
            for table in ("KERNEL", "GRAPH_TRACE"):
                table = f"CUPTI_ACTIVITY_KIND_{table}"
                if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                    for stream, s, e in db.execute(f"SELECT streamId, start, end FROM {table} WHERE deviceId = ?",
                                                   (device,)):
                        lanes[stream].append((s, e))
        db.close()
        out: dict[int, list[int]] = {}
        for stream, works in lanes.items():
            works.sort()
            gaps = [b[0] - a[1] for a, b in zip(works, works[1:]) if b[0] - a[1] > 1_000_000]
            if gaps:
                out[stream] = sorted(gaps)
        return out

    @for_each_capture
    def test_iterations(self, path, truth):
        for process in truth["processes"].values():
            got = rows("iteration_timing", path, "-p", f"device={process['device']}", "-p", "marker=iteration_")
            self.assertEqual(got, rows("iteration_timing", path, "--param", f"device={process['device']}", "--param",
                                       "marker=ITERATION_"))
            self.assertEqual([r["iteration"] for r in got], [i["index"] for i in process["iterations"]])
            for row, wanted in zip(got, process["iterations"]):
                self.assertEqual(row["text"], f"iteration_{wanted['index']}")
                self.assertEqual([row["gpu_start_ns"], row["gpu_end_ns"]], wanted["gpu_ns"])
                self.assertEqual((row["kernel_count"], row["nccl_count"]), (wanted["kernels"], wanted["nccl_kernels"]))
                self.assert_ms(row["duration_ms"], wanted["gpu_ns"][1] - wanted["gpu_ns"][0], 2)
                self.assertFalse(row["heuristic"])
            kernels = process["launches"]["kernels_with_call"]
            self.assertEqual(sum(r["kernel_count"] for r in got), kernels)

    @for_each_capture
    def test_kernels_by_range(self, path, truth):
        leaf: dict[int, dict] = defaultdict(lambda: defaultdict(lambda: {"kernels": 0, "kernel_ns": 0}))
        paths: dict[int, dict] = defaultdict(lambda: defaultdict(lambda: {"kernels": 0, "kernel_ns": 0}))
        for row in rows("nvtx_kernel_map", path, "-p", "limit=100000"):
            steps = [s for s in row["nvtx_path"].split(" > ") if s not in NCCL_RANGES]  # the truth is about domain 0
            if row["nvtx_text"] not in NCCL_RANGES:
                self.assertEqual(row["nvtx_text"], steps[-1])
            for table, key in ((leaf, steps[-1]), (paths, " > ".join(steps))):
                table[row["device_id"]][key]["kernels"] += 1
                table[row["device_id"]][key]["kernel_ns"] += row["end_ns"] - row["start_ns"]
        for process in truth["processes"].values():
            self.assertEqual(leaf[process["device"]], process["kernels_by_innermost_range"])
            self.assertEqual(paths[process["device"]], process["kernels_by_range_path"])

    @for_each_capture
    def test_time_by_region(self, path, truth):
        wanted: Counter[str] = Counter()
        for process in truth["processes"].values():
            wanted.update({p: one["kernel_ns"] for p, one in process["kernels_by_range_path"].items()})
        got: Counter[str] = Counter()
        grouped: Counter[str] = Counter()
        everything = ("-p", "limit=100000", "-p")
        for row in data(rows("nvtx_layer_breakdown", path, *everything, "auto_depth=false")):
            got[" > ".join(s for s in row["nvtx_path"].split(" > ") if s not in NCCL_RANGES)] += row["total_gpu_ns"]
            self.assert_ms(row["total_gpu_ms"], row["total_gpu_ns"], 2)
        self.assertEqual(got, wanted)
        for row in data(rows("nvtx_layer_breakdown", path, *everything, "auto_depth=true")):
            grouped[row["nvtx_path"]] += row["total_gpu_ns"]
            self.assertEqual(row["is_layer"], "layer_" in row["nvtx_path"])
        outermost: Counter[str] = Counter()
        for steps, ns in wanted.items():
            outermost[steps.split(" > ")[0]] += ns
        self.assertEqual(grouped, outermost)

    @for_each_capture
    def test_iteration_details(self, path, truth):
        for process in truth["processes"].values():
            for wanted in process["iterations"]:
                row, = rows("iteration_detail", path, "-p", f"device={process['device']}", "-p", "marker=iteration_",
                            "-p", f"iteration={wanted['index']}")
                self.assertEqual([row["gpu_start_ns"], row["gpu_end_ns"]], wanted["gpu_ns"])
                self.assertEqual((row["kernel_count"], row["nccl_count"]), (wanted["kernels"], wanted["nccl_kernels"]))
                self.assertEqual(row["total_iterations"], len(process["iterations"]))
                self.assertLessEqual(sum(k["pct"] for k in row["top_kernels"]), 100.2)

    @for_each_capture
    def test_call_modes_of_collectives(self, path, truth):
        eager, compiled, undecided = data(rows("nccl_compile_context_breakdown", path))
        nccl = [one for device in truth["devices"].values() for one in device["nccl"].values()]
        self.assertEqual((eager["count"], eager["ns"]), (sum(n["count"] for n in nccl), sum(n["total_ns"] for n in nccl)))
        self.assertEqual((compiled["count"], undecided["count"]), (0, 0))

    @for_each_capture
    def test_active_time(self, path, truth):
        first = min(d["active_first_ns"] for d in truth["devices"].values())
        got = {r["deviceId"]: r
               for r in rows("pipeline_bubble_metrics", path, "--trim", (first - 1_000_000_000) / 1e9, "inf")}
        for number, device in truth["devices"].items():
            row = got[int(number)]
            span = device["active_last_ns"] - device["active_first_ns"]
            self.assert_ms(row["active_ms"], device["active_union_ns"], 2)
            self.assert_ms(row["total_span_ms"], span, 2)
            self.assert_ms(row["bubble_ms"], span - device["active_union_ns"], 2)
            self.assertTrue(harness.shows(row["bubble_pct"], 100 * (span - device["active_union_ns"]) / span, 2))

    @for_each_capture
    def test_tensor_core_kernels(self, path, truth):
        got = {r["kernel_name"]: r for r in rows("tensor_core_usage", path)}
        wanted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for device in truth["devices"].values():
            for name, one in device["top_kernels"].items():
                if name.startswith(("gemm", "flash")):
                    wanted[name][0] += one["count"]
                    wanted[name][1] += one["total_ns"]
        self.assertEqual(len(got), len(wanted))
        for name, (count, total_ns) in wanted.items():
            row = next(r for n, r in got.items() if name in n)
            self.assertEqual((row["call_count"], row["total_ns"], row["total_gpu_ms"]),
                             (count, total_ns, total_ns / 1e6))
            self.assertEqual(row["tc_active_calls"], count if name.startswith("flash") else 0)

    @for_each_capture
    def test_small_kernels_and_graph_launches(self, path, truth):
        for process in truth["processes"].values():
            device = process["device"]
            answer = rows("kernel_launch_overhead", path, "-p", f"device={device}", "-p", "min_launches=1")
            small = {n: t for n, t in truth["devices"][str(device)]["top_kernels"].items()
                     if t["total_ns"] < 10_000 * t["count"]}
            got = {r["kernel_name"]: (r["launch_count"], r["total_kernel_ns"]) for r in data(answer)}
            self.assertEqual(got, {n: (t["count"], t["total_ns"]) for n, t in small.items()})
            graph = summary(answer, "_graph_launches")
            api = next(t for n, t in process["api"].items() if n.startswith("cudaGraphLaunch"))
            self.assertEqual(graph["launch_count"], process["graph"]["launches"])
            self.assert_ms(graph["total_api_ms"], api["total_ns"], 3)
            nodes = process["graph"]["launches"] * process["graph"]["nodes_per_launch"]
            whole = truth["generator"]["graph_mode"] == "graph"
            self.assertEqual((graph["kernel_count"], graph["whole_graph_count"]),
                             (0, process["graph"]["launches"]) if whole else (nodes, 0))

    @for_each_capture
    def test_launch_pattern(self, path, truth):
        got = {(r["deviceId"], r["streamId"]): r for r in rows("kernel_launch_pattern", path, "-p", "limit=1000")}
        self.assertEqual(len(got), sum(len(d["streams"]) for d in truth["devices"].values()))
        for number, device in truth["devices"].items():
            for stream, wanted in device["streams"].items():
                row = got[int(number), int(stream)]
                span = wanted["last_ns"] - wanted["first_ns"]
                self.assertEqual((row["kernel_count"], row["span_ns"]), (wanted["count"], span))
                self.assertTrue(harness.shows(row["dispatch_rate_per_ms"], wanted["count"] / span * 1e6, 1))
                if truth["generator"]["graph_mode"] == "node":  # whole graphs are work of their stream
                    self.assertTrue(harness.shows(row["occupancy_pct"], 100 * wanted["busy_ns"] / span, 1))
                    gaps = wanted["gaps_over_1ms"]
                    self.assertEqual((row["sync_stalls"], row["max_gap_ns"]), (gaps["count"], gaps["largest_ns"]))

    @for_each_capture
    def test_copies_to_the_device(self, path, truth):
        for number, device in truth["devices"].items():
            answer = rows("h2d_distribution", path, "-p", f"device={number}")
            wanted = device["memcpy"]["1"]
            for key, total in (("ops", "count"), ("total_bytes", "bytes"), ("total_ns", "total_ns")):
                self.assertEqual(sum(r[key] for r in data(answer)), wanted[total])
            self.assertEqual(summary(answer, "_pattern")["type"], "too_short")

    @for_each_capture
    def test_means_of_collectives(self, path, truth):
        got: dict[tuple[int, str], list[dict]] = defaultdict(list)
        for row in rows("nccl_anomaly", path, "-p", "threshold=0.000001", "-p", "limit=100000"):
            got[row["deviceId"], row["op_type"]].append(row)
        for number, device in truth["devices"].items():
            for name, op in device["nccl"].items():
                mine = got.pop((int(number), name))
                self.assertEqual(sum(r["dur_ns"] for r in mine), op["total_ns"])
                for row in mine:
                    self.assertEqual(row["total_count"], op["count"])
                    self.assert_ms(row["avg_ms"], op["total_ns"] / op["count"], 3)
                    self.assertTrue(harness.shows(row["ratio_to_avg"], row["dur_ns"] * op["count"] / op["total_ns"], 1))
        self.assertEqual(got, {})

    @for_each_capture
    def test_overlap_by_category(self, path, truth):
        for number, device in truth["devices"].items():
            ns = {(r["category_a"], r["category_b"]): r["overlap_ns"]
                  for r in rows("kernel_overlap_matrix", path, "-p", f"device={number}")}
            self.assertEqual(ns["compute", "compute"], device["compute_union_ns"])
            for name, op in device["nccl"].items():  # no collective overlaps another
                self.assertEqual(ns[f"nccl_{name}", f"nccl_{name}"], op["total_ns"])
            self.assertEqual(sum(ns["compute", f"nccl_{name}"] for name in device["nccl"]), device["overlap_ns"])

    @for_each_capture
    def test_launches_by_process(self, path, truth):
        for pid, process in truth["processes"].items():
            mine = [r for r in rows("cpu_gpu_pipeline", path, "-p", "limit=1000") if r["pid"] == int(pid)]
            self.assertEqual(sum(r["dispatches"] for r in mine), process["launches"]["kernels_with_call"])
            longest = process["launches"]["end_to_start_ns_where_positive"]["max_ns"]
            self.assertTrue(harness.shows(max(r["max_queue_delay_us"] for r in mine), longest / 1e3, 1))

    @for_each_capture
    def test_sampled_cycles(self, path, truth):
        got = {(r["pid"], r["tid"]): r["cycles"] for r in rows("thread_utilization", path, "-p", "limit=1000")}
        self.assertEqual(got, {(int(pid), int(tid)): cycles for pid, process in truth["processes"].items()
                               for tid, cycles in process["cpu_cycles_by_thread"].items()})

    @for_each_capture
    def test_loading_and_collecting(self, path, truth):
        def total(key: str) -> tuple[int, int]:
            found = [process[key] for process in truth["processes"].values()]
            return sum(f["count"] for f in found), sum(f.get("total_ns", 0) for f in found)

        def sums(answer: list[dict]) -> tuple[int, int]:
            return sum(r["occurrences"] for r in answer), sum(r["total_ns"] for r in answer)

        loading = rows("module_loading", path)
        self.assertEqual(sums(loading), total("module_loading"))
        for row in loading:
            self.assertEqual(row["before_first_kernel_ms"], row["total_ms"])  # all in iteration 0, before its work
        events = rows("gc_impact", path)
        self.assertEqual(sums([r for r in events if r["source"] == "nvtx"]), total("gc_ranges"))
        self.assertEqual(sums([r for r in events if r["source"] == "cuda_api"]), total("alloc_calls"))

    @for_each_capture
    def test_waits_by_type(self, path, truth):
        first = min(d["active_first_ns"] for d in truth["devices"].values())
        row = rows("sync_cost_analysis", path, "--trim", (first - 1_000_000_000) / 1e9, "inf")[0]
        got = {d["device"]: d for d in row["sync_by_device"]}
        names = {"2": "STREAM_WAIT_EVENT", "3": "STREAM_SYNCHRONIZE", "4": "CONTEXT_SYNCHRONIZE"}
        for process in truth["processes"].values():
            device = got[process["device"]]
            kinds = process["sync_rows_by_type"]
            self.assertEqual(len(device["sync_by_type_ms"]), len(kinds))
            for kind, one in kinds.items():  # no two waits of a process overlap
                shown = device["sync_by_type_ms"]["CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_" + names[kind]]
                self.assert_ms(shown, one["total_ns"], 3)
            self.assert_ms(device["total_sync_wall_ms"],
                           sum(one["total_ns"] for kind, one in kinds.items() if kind != "2"), 3)

    @for_each_capture
    def test_critical_path_parts(self, path, truth):
        for number, device in truth["devices"].items():
            row = rows("critical_path", path, "-p", f"device={number}")[0]
            parts = row["breakdown"]
            self.assert_ms(parts["gpu_compute_ms"], device["compute_union_ns"], 3)
            self.assert_ms(parts["comm_ms"], device["exposed_nccl_ns"], 3)
            self.assert_ms(row["critical_path_ms"], device["span_ns"], 3)
            rest = parts["cpu_ms"] + parts["copy_ms"] + parts["graph_ms"]
            self.assertAlmostEqual(rest, device["idle_ns"] / 1e6, places=2)
            if truth["generator"]["graph_mode"] == "node":
                self.assertEqual(parts["graph_ms"], 0)


if __name__ == "__main__":
    harness.main()
