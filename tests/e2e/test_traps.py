#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small odd captures that once gave wrong figures somewhere, with the right ones."""

from __future__ import annotations

import json

import harness
from harness import data, edge, rows, run, run_all, run_skill, summary

SAME_AS_PLAIN = ("permuted_columns", "versioned_tables")


class Lanes(harness.Case):
    def test_equal_stream_numbers_are_four_lanes(self):
        got = rows("stream_concurrency", edge("equal_stream_numbers"))
        self.assertEqual([(r["deviceId"], r["streamId"]) for r in got], [(0, 7), (0, 17), (1, 17), (2, 17)])
        for row in got:
            self.assertEqual((row["total_gpu_ms"], row["stream_util_pct"], row["active_streams"]), (860.0, 86.0, 4))

    def test_processes_on_one_stream_number_keep_their_own_gaps(self):
        answer = rows("gpu_idle_gaps", edge("processes_share_a_device"))
        self.assertEqual([(r["start_ns"], r["gap_ns"]) for r in data(answer)],
                         [(2_000_000, 4_000_000), (5_000_000, 4_000_000)])
        self.assertEqual(len(rows("stream_concurrency", edge("processes_share_a_device"))), 2)

    def test_busy_time_is_a_union_not_a_sum(self):
        capture = edge("compute_beside_nccl")
        row = rows("overlap_breakdown", capture)[0]
        self.assertEqual([row[k] for k in ("compute_only_ms", "overlap_ms", "nccl_only_ms", "idle_ms", "overlap_pct")],
                         [500.0, 500.0, 500.0, 0.0, 50.0])
        row = rows("pipeline_bubble_metrics", capture, "--trim", "0", "2")[0]
        self.assertEqual((row["active_ms"], row["bubble_pct"], row["tail_idle_ms"]), (1500.0, 0.0, 500.0))

    def test_overlap_within_a_stream_is_no_negative_gap(self):
        capture = edge("overlap_within_a_stream")
        answer = rows("gpu_idle_gaps", capture, "-p", "min_gap_ns=0")
        self.assertEqual((data(answer), summary(answer)["gap_count"], summary(answer)["total_idle_ms"]), ([], 0, 0.0))
        self.assertEqual(rows("stream_concurrency", capture)[0]["stream_util_pct"], 100.0)
        self.assertEqual(rows("pipeline_bubble_metrics", capture)[0]["active_ms"], 0.15)

    def test_a_long_kernel_hides_what_looks_like_a_gap(self):
        answer = rows("gpu_idle_gaps", edge("long_kernel_hides_a_gap"), "-p", "min_gap_ns=0")
        self.assertEqual(summary(answer)["gap_count"], 0)

    def test_gaps_fall_into_their_bucket(self):
        answer = rows("gpu_idle_gaps", edge("gaps_of_every_size"), "-p", "min_gap_ns=1000")
        about = summary(answer)
        self.assertEqual([about[k] for k in ("gaps_lt1ms", "gaps_1_5ms", "gaps_5_50ms", "gaps_gt50ms", "gap_count")],
                         [1, 1, 1, 1, 4])
        self.assertEqual([r["gap_ns"] for r in data(answer)], [80_000_000, 7_000_000, 1_500_000, 500_000])

    def test_attribution_stays_inside_the_gap_and_the_process(self):
        longest = data(rows("gpu_idle_gaps", edge("gaps_of_every_size")))[0]
        self.assertEqual((longest["start_ns"], longest["end_ns"]), (13_000_000, 93_000_000))
        self.assertEqual(longest["attribution"]["category"], "synchronization")
        self.assertEqual([(a["name"], a["total_ms"]) for a in longest["attribution"]["top_apis"]],
                         [("cudaStreamSynchronize_v3020", 10.0), ("cudaMemcpyAsync_v3020", 1.0),
                          ("cudaLaunchKernel_v7000", 0.01)])

    def test_limit_zero_keeps_the_count(self):
        about = rows("gpu_idle_gaps", edge("gaps_of_every_size"), "-p", "limit=0")
        self.assertEqual([r["gap_count"] for r in about], [3])

    def test_no_gap_has_the_keys_of_every_summary(self):
        some, none = (summary(rows("gpu_idle_gaps", edge("gaps_of_every_size"), "-p", f"min_gap_ns={n}"))
                      for n in (0, 10**12))
        self.assertEqual(none["gap_count"], 0)
        self.assertEqual(list(none)[:len(some)], list(some))
        self.assertTrue(none["note"])

    def test_four_devices_each_have_their_own_figure(self):
        capture = edge("four_devices")
        self.assertEqual([rows("overlap_breakdown", capture, "-p", f"device={d}")[0]["overlap_pct"] for d in range(4)],
                         [0.0, 25.0, 50.0, 100.0])
        default = rows("overlap_breakdown", capture)[0]
        self.assertEqual((default["device_id"], default["present_devices"]), (0, [0, 1, 2, 3]))
        text = run("skill", "run", "overlap_breakdown", capture).text
        self.assertRegex(text, r"1, 2, 3")

    def test_the_only_device_is_not_zero(self):
        row = rows("overlap_breakdown", edge("only_device_three"))[0]
        self.assertEqual((row["error"], row["requested_device"], row["available_devices"]),
                         ("no kernels found", 0, {"3": 2}))
        self.assertIn("device=3", row["hint"])
        self.assertEqual(rows("overlap_breakdown", edge("only_device_three"), "-p", "device=3")[0]["compute_kernels"],
                         2)

    def test_a_captured_but_idle_device_is_known(self):
        capture = edge("idle_device_in_the_inventory")
        row = rows("overlap_breakdown", capture, "-p", "device=1")[0]
        self.assertEqual((row["error"], row["available_devices"]), ("no kernels found", {"0": 1, "1": 0}))
        self.assertEqual(rows("kernel_instances", capture, "-p", "device=1"), [])

    def test_equal_times_are_two_events_and_one_stretch(self):
        capture = edge("equal_times")
        self.assertEqual(rows("top_kernels", capture)[0]["invocations"], 3)
        self.assertEqual(rows("overlap_breakdown", capture)[0]["compute_only_ms"], 1.0)
        self.assertEqual(len(rows("nvtx_kernel_map", capture)), 3)

    def test_host_waits_by_call_and_by_owner(self):
        capture = edge("host_waits")
        self.assertEqual([rows("overlap_breakdown", capture, "-p", f"device={d}")[0]["sync_ms"] for d in (0, 1)],
                         [10.0, 7.0])
        self.assertEqual(rows("pipeline_bubble_metrics", capture)[0]["sync_ms"], 12.0)  # 2-12 and 7-14


class Windows(harness.Case):
    def test_a_window_outside_is_refused_with_the_real_range(self):
        capture = edge("gaps_of_every_size")
        for skill in harness.skills():
            if skill == "schema_inspect":
                continue
            with self.subTest(skill=skill):
                got = run_skill(skill, capture, "--trim", "500", "501")
                self.assertEqual((got.code, got.json()["error"]["code"]), (2, "TRIM_OUT_OF_RANGE"))
                self.assertIn("from 0.000 s to 0.094 s", got.json()["error"]["message"])

    def test_a_window_moves_every_figure(self):
        capture, truth = harness.synthetic(0, 2, "node")
        begin, end = (t / 1e9 for t in truth["processes"]["4000"]["iterations"][3]["gpu_ns"])
        for skill in harness.skills():
            options = harness.TO_FIND_ANY.get(skill, ())
            if skill not in ("schema_inspect", "iteration_timing"):
                with self.subTest(skill=skill):
                    self.assertNotEqual(rows(skill, capture, *options),
                                        rows(skill, capture, "--trim", begin, end, *options))

    def test_a_window_at_zero_is_a_window(self):
        answer = rows("top_kernels", edge("negative_times"), "--trim", "0", "1")
        self.assertEqual([r["kernel_name"] for r in answer], ["void after(int)"])

    def test_a_window_in_a_pause_is_not_good_news(self):
        row = rows("gpu_idle_gaps", edge("gaps_of_every_size"), "--trim", "0.02", "0.05")[0]
        self.assertEqual(row["error"], "no kernels found")


class Ranges(harness.Case):
    def test_library_ranges_are_no_iterations(self):
        capture = edge("library_ranges_only")
        answer = rows("iteration_timing", capture)
        self.assertEqual([(r["text"], r["heuristic"], r["gpu_start_ns"], r["kernel_count"]) for r in answer],
                         [(f"heuristic_step_{i}", True, i * 5_000_000 + 10_000, 1) for i in range(8)])
        text = run("skill", "run", "iteration_timing", capture).text
        self.assertIn("No NVTX range holds the marker 'sample_0'", text)
        self.assertIn("not proven iterations", text)

    def test_only_start_end_ranges_is_said(self):
        row = self.assert_abstains(rows("nvtx_kernel_map", edge("start_end_ranges_only")))
        self.assertEqual(row["nvtx_event_types"], "60")

    def test_only_marks_is_said(self):
        row = self.assert_abstains(rows("nvtx_kernel_map", edge("marks_only")))
        self.assertEqual(row["nvtx_event_types"], "34,75")

    def test_only_push_pop_ranges_enclose(self):
        row = rows("nvtx_kernel_map", edge("all_event_types"))[0]
        self.assertEqual((row["nvtx_text"], row["nvtx_path"]), ("inner", "outer > inner"))

    def test_names_by_id_alone(self):
        self.assertEqual(rows("nvtx_kernel_map", edge("names_only_by_id"))[0]["nvtx_path"], "old outer > old inner")

    def test_ranges_without_name_take_no_part_and_both_devices_show(self):
        answer = rows("nvtx_kernel_map", edge("ranges_without_name"))
        self.assertEqual([(r["device_id"], r["nvtx_path"]) for r in answer], [(0, "named"), (1, "named")])

    def test_equal_correlation_ids_of_two_processes(self):
        answer = rows("nvtx_kernel_map", edge("equal_correlation_ids"))
        self.assertEqual([(r["kernel_name"], r["nvtx_text"]) for r in answer],
                         [("void of_100(int)", "range of 100"), ("void of_200(int)", "range of 200")])

    def test_equal_correlation_ids_of_two_contexts(self):
        capture = edge("equal_correlation_ids_of_contexts")
        found = {(r["kernel_name"], r["nvtx_text"]) for r in rows("nvtx_kernel_map", capture)}
        self.assertEqual(found, {("void of_context_1(int)", "range of 101"), ("void of_context_2(int)", "range of 102")})
        answer = data(rows("kernel_launch_overhead", capture, "-p", "min_launches=3"))
        self.assertEqual({r["kernel_name"]: (r["launch_count"], r["api_calls"], r["avg_queue_us"]) for r in answer},
                         {"of_context_1": (3, 3, 695.0), "of_context_2": (3, 3, 95.0)})

    def test_equal_thread_ids_of_two_processes(self):
        answer = rows("nvtx_kernel_map", edge("equal_thread_ids"))
        self.assertEqual([r["kernel_name"] for r in answer], ["void of_100(int)"])

    def test_crossing_domains(self):
        answer = rows("nvtx_kernel_map", edge("crossing_domains"))
        self.assertEqual([r["nvtx_path"] for r in answer], ["domain 5 > domain 0", "domain 5"])

    def test_one_graph_launch_with_many_kernels(self):
        capture = edge("one_graph_launch")
        answer = rows("nvtx_kernel_map", capture, "-p", "limit=1000")
        self.assertEqual({r["nvtx_text"] for r in answer}, {"sample_0 graph step"})
        self.assertEqual(len(answer), 50)
        self.assertEqual([r["kernel_count"] for r in rows("iteration_timing", capture)], [50])

    def test_iterations_count_all_threads_of_the_process(self):
        answer = rows("iteration_timing", edge("iterations_with_a_worker_thread"))
        self.assertEqual([(r["text"], r["kernel_count"], r["compute_ms"], r["duration_ms"]) for r in answer],
                         [(f"SAMPLE_0 step {i}", 3, 3.0, 5.0) for i in range(3)])

    def test_iterations_are_numbered_as_listed(self):
        capture = edge("empty_step_between_steps")
        answer = rows("iteration_timing", capture)
        self.assertEqual([(r["iteration"], r["text"]) for r in answer],
                         [(0, "sample_0 step 0"), (1, "sample_0 step 2")])
        chosen = rows("kernel_instances", capture, "--iteration", "1")
        self.assertEqual(min(r["start_ns"] for r in chosen), answer[1]["gpu_start_ns"])


class Names(harness.Case):
    def test_communication_by_any_name(self):
        row = rows("overlap_breakdown", edge("communication_names"))[0]
        self.assertEqual((row["nccl_kernels"], row["compute_kernels"]), (5, 1))
        types = {r["type"] for r in rows("nccl_breakdown", edge("communication_names"))}
        self.assertEqual(types, {"allreduce", "allgather", "other", "custom_allreduce", "custom_alltoall"})

    def test_no_communication_is_zero_not_nan(self):
        row = rows("overlap_breakdown", edge("overlap_within_a_stream"))[0]
        self.assertEqual((row["overlap_pct"], row["nccl_only_ms"]), (0, 0.0))
        self.assertEqual(rows("nccl_breakdown", edge("overlap_within_a_stream")), [])

    def test_hostile_names_survive(self):
        capture = edge("hostile_names")
        got = run_skill("top_kernels", capture)
        names = {r["kernel_name"] for r in got.json()}
        self.assertTrue(got.out.isascii())
        self.assertEqual(names, {'k<"a\\b",\n\'</script>\'>', "tab\tand\x01control", "\x1b[31mred\x1b[0m", "Grüße 漢字 😀",
                                 "ba\ufffdd()", "n\0ul()"})
        for skill, text in run_all(capture, form="text").items():
            self.assertNotIn(b"\x1b", text, skill)
            self.assertNotIn(b"\x01", text, skill)
            self.assertNotIn(b"\0", text, skill)
            text.decode("utf-8")

    def test_no_kernel_is_dropped_for_a_missing_name(self):
        capture = edge("dangling_string_ids")
        self.assertEqual(sum(r["invocations"] for r in rows("top_kernels", capture)), 4)
        names = {r["kernel_name"] for r in rows("top_kernels", capture)}
        self.assertIn("kernel_999001", names)
        self.assertIn("only_short", names)
        row = rows("overlap_breakdown", capture)[0]
        self.assertEqual((row["compute_kernels"], row["nccl_kernels"], row["total_ms"]), (3, 1, 21.0))
        self.assertEqual(len(rows("kernel_instances", capture)), 4)
        self.assertEqual(summary(rows("gpu_idle_gaps", capture))["gap_count"], 3)

    def test_equal_strings_are_one_group(self):
        self.assertEqual([(r["kernel_name"], r["invocations"]) for r in rows("top_kernels", edge("equal_strings"))],
                         [("void same(int)", 2)])

    def test_wildcards_are_letters(self):
        capture = edge("wildcards_in_names")
        for wanted, name in ((["gemm_f32"], "gemm_f32"), (["half%done"], "%"), (["GEMM_F32"], "GEMM"), ([], "gemm%f32"),
                             ([], "' OR 1=1 --")):
            self.assertEqual([r["kernel_name"] for r in rows("kernel_instances", capture, "-p", f"name={name}")],
                             wanted, name)

    def test_ties_are_ordered_by_name(self):
        names = [r["kernel_name"] for r in rows("top_kernels", edge("ten_equal_totals"), "-p", "limit=4")]
        self.assertEqual(names, [f"void tie_{c}(int)" for c in "abcd"])


class Numbers(harness.Case):
    def test_rates_of_long_and_of_empty_copies(self):
        by_kind = {r["copyKind"]: r for r in data(rows("memory_bandwidth", edge("big_and_zero_copies")))}
        self.assertEqual((by_kind[1]["avg_bandwidth_gbps"], by_kind[1]["peak_bandwidth_gbps"]), (5.73, 5.73))
        self.assertEqual((by_kind[2]["avg_bandwidth_gbps"], by_kind[2]["total_dur_ms"]), (0.0, 0.0))
        names = {k: r["direction"] for k, r in by_kind.items()}
        self.assertEqual(len(set(names.values())), len(names), names)
        text = run("skill", "run", "memory_transfers", edge("big_and_zero_copies")).text
        for word in ("H2D", "D2H", "D2D", "P2P", "H2H"):
            self.assertIn(word, text)

    def test_times_around_zero(self):
        capture = edge("negative_times")
        row = rows("overlap_breakdown", capture)[0]
        self.assertEqual((row["span_start_ns"], row["span_end_ns"], row["compute_only_ms"]),
                         (-4_000_000, 6_000_000, 5.0))
        self.assertEqual(rows("iteration_timing", capture)[0]["gpu_start_ns"], -4_000_000)
        self.assertEqual(len(rows("top_kernels", capture, "--trim", "-0.0045", "-0.0025")), 1)

    def test_ids_with_the_top_bit_set(self):
        capture = edge("unsigned_patterns")
        self.assertEqual([r["text"] for r in rows("iteration_timing", capture)],
                         [f"sample_0 step {i}" for i in range(3)])
        self.assertEqual(len(rows("nvtx_kernel_map", capture)), 3)
        # 0-3 ms, cut to the first kernel at 1 ms.
        self.assertEqual(rows("pipeline_bubble_metrics", capture)[0]["sync_ms"], 2.0)
        self.assertNotIn("-144115188075855872", run_skill("overlap_breakdown", capture).text)

    def test_rows_that_cannot_be_are_left_out_and_said(self):
        got = run_skill("top_kernels", edge("bad_rows"))
        self.assertEqual([(r["kernel_name"], r["invocations"], r["total_ns"], r["min_ns"]) for r in got.json()],
                         [("void good(int)", 2, 3_000_000, 1_000_000)])
        self.assertEqual(len(got.error_lines), 2, got)
        for line, what in zip(got.error_lines, ("has no end", "ends before it starts")):
            self.assertIn("warning: CUPTI_ACTIVITY_KIND_KERNEL", line)
            self.assertIn(what, line)

    def test_graph_columns_without_graphs_change_nothing(self):
        self.assertEqual(run_all(edge("graph_node_null")), run_all(edge("graph_node_zero")))

    def test_whole_graphs_are_work_but_no_kernels(self):
        capture = edge("whole_graphs_only")
        row = rows("pipeline_bubble_metrics", capture)[0]
        self.assertEqual((row["active_ms"], row["total_span_ms"], row["bubble_ms"]), (12.0, 24.0, 12.0))
        row = self.assert_abstains(rows("top_kernels", capture))
        self.assertIn("graph", row["reason"])


class Schemas(harness.Case):
    def test_columns_and_tables_are_found_by_name(self):
        plain = run_all(edge("plain"))
        for name in SAME_AS_PLAIN:
            for skill, line in run_all(edge(name)).items():
                if skill != "schema_inspect":
                    with self.subTest(capture=name, skill=skill):
                        self.assertEqual(line, plain[skill])

    def test_peer_copies_do_not_pose_as_copies(self):
        for name in ("peer_copies_only", "peer_copies_only_v2"):
            for skill in ("memory_transfers", "memory_bandwidth"):
                row = self.assert_abstains(rows(skill, edge(name)), (name, skill))
                self.assertEqual(row["missing_tables"], ["CUPTI_ACTIVITY_KIND_MEMCPY"])

    def test_a_minimal_export_answers_what_it_can(self):
        capture = edge("minimal_export")
        self.assertEqual([r["invocations"] for r in rows("top_kernels", capture)], [2, 2])
        self.assertEqual(rows("overlap_breakdown", capture)[0]["nccl_kernels"], 2)
        self.assertEqual(summary(rows("gpu_idle_gaps", capture))["gap_count"], 2)
        self.assertEqual([r["streamId"] for r in rows("stream_concurrency", capture)], [7, 8])
        for skill in ("nvtx_kernel_map", "iteration_timing", "memory_transfers"):
            self.assert_abstains(rows(skill, capture), skill)

    def test_a_reduced_schema_answers_what_it_can(self):
        capture = edge("reduced_schema")
        self.assertEqual(rows("top_kernels", capture)[0]["invocations"], 2)
        self.assertEqual(rows("memory_transfers", capture)[0]["count"], 1)
        for skill in ("nvtx_kernel_map", "iteration_timing"):
            self.assertIn("NVTX_EVENTS", self.assert_abstains(rows(skill, capture))["missing_tables"])

    def test_cannot_answer_is_said_in_one_way(self):
        for name in ("strings_only", "no_kernel_table", "empty_kernel_table"):
            for skill in harness.skills():
                needs = json.loads(run("skill", "info", skill).out)
                tables = needs["required_tables"] + needs["required_one_of"]
                kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
                if not tables or (name == "empty_kernel_table" and kernel not in needs["required_tables"]) or \
                        (name == "no_kernel_table" and kernel not in tables):
                    continue
                with self.subTest(capture=name, skill=skill):
                    row = self.assert_abstains(rows(skill, edge(name)))
                    self.assertTrue({"missing_tables", "empty_tables"} & set(row), row)
                    text = run("skill", "run", skill, edge(name)).text
                    self.assertIn("not applicable", text)
                    self.assertIn(row["reason"].split(".")[0][:40], text)

    def test_a_missing_column_is_named_and_the_rest_stands(self):
        capture = edge("kernels_without_end")
        for skill in ("top_kernels", "overlap_breakdown", "gpu_idle_gaps", "nvtx_kernel_map",
                      "pipeline_bubble_metrics"):
            row = self.assert_abstains(rows(skill, capture), skill)
            self.assertIn("end", json.dumps(row.get("missing_columns")), skill)
        self.assertEqual(rows("memory_transfers", capture)[0]["count"], 2)


if __name__ == "__main__":
    harness.main()
