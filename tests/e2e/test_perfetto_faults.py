#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each capture of perfetto_captures.py, and what has to become of it: no slice lost, no arrow wrong, no file harmed.

That all formats agree, that Perfetto loads them and that nothing is missing is tested in test_perfetto.py for these
captures too; here stands what is special about each.
"""

from __future__ import annotations

import os
import pathlib

import harness
import perfetto_captures
import perfetto_runs
from perfetto_runs import Converted, convert, converted

DEVICE_0 = "CUDA Device 0 / Source PID 100"


def small(name: str) -> pathlib.Path:
    return harness.made_once(f"perfetto_{name}.sqlite", perfetto_captures.CAPTURES[name])


def folder(name: str) -> pathlib.Path:
    harness.require_pyarrow()
    return harness.made_once(f"perfetto_{name}", perfetto_captures.FOLDERS[name])


class FaultCase(harness.Case):
    def of(self, name: str, *options: object) -> Converted:
        return converted(small(name), *options)

    def spans(self, got: Converted, category: str) -> list[tuple[str, int, int]]:
        return sorted((s.name, s.start, s.end) for s in got.drawn.of(category))

    def arrows(self, got: Converted) -> list[tuple[str, str, str]]:
        """(call's name, category of the work, its name) of every arrow, from a reader that checks what they bind to."""
        found = sorted((a.name, b.category, b.name) for a, b in got.drawn.flows)
        self.assertEqual(found, sorted((a.name, b.category, b.name) for a, b in got.drawn_proto.flows))
        return found

    def kernel(self, got: Converted, name: str):
        return next(s for s in got.drawn.of("cuda") if s.name == name)


class Times(FaultCase):
    def test_overlapping_copies_have_lanes(self):
        got = self.of("overlapping_copies")
        usage = [s for s in got.drawn.of("cuda_copy_usage")]
        lanes = {plain: {s.track.name for s in usage if s.track.plain == plain} for plain in ("PCIe Usage", "GPU Copy D2D")}
        self.assertEqual(lanes["PCIe Usage"], {"PCIe Usage", "PCIe Usage / Lane 2", "PCIe Usage / Lane 3"})
        self.assertEqual(lanes["GPU Copy D2D"], {"GPU Copy D2D", "GPU Copy D2D / Lane 2"})
        self.assertEqual(len([1 for _, b in got.drawn.flows if b.category == "cuda_copy_usage"]), 3)

    def test_ranges_without_length_are_never_active(self):
        got = self.of("ranges_without_length")
        self.assertEqual(self.spans(got, "nvtx"),
                         [("A", 0, 160), ("A", 10, 10), ("B", 20, 20), ("C", 20, 20), ("D", 88, 100)])
        self.assertEqual(self.spans(got, "nvtx-kernel"), [("A", 560, 860), ("D", 760, 860)])
        self.assertEqual(self.kernel(got, "a").args["NVTXRegions"], ["A"])
        self.assertEqual(self.kernel(got, "b").args["NVTXRegions"], ["A", "D"])

    def test_ranges_that_end_before_they_start_are_clamped(self):
        got = self.of("ranges_that_end_before_they_start")
        self.assertEqual(self.spans(got, "nvtx"), [("around", 10, 75), ("backwards", 0, 0)])
        self.assertEqual(self.spans(got, "nvtx-kernel"), [("around", 550, 650)])
        self.assertIn("1", got.err)

    def test_crossing_ranges_keep_their_ends(self):
        got = self.of("crossing_ranges")
        self.assertEqual(self.spans(got, "nvtx"), [("A", 0, 80), ("B", 30, 150), ("S", 240, 340), ("S", 290, 390), ("tail", 440, 490)])

    def test_call_without_length_keeps_its_arrow(self):
        got = self.of("call_without_length")
        ends = {(a.start, a.end, b.name) for a, b in got.drawn.flows}
        self.assertEqual(ends, {(0, 0, "a"), (0, 100, "b")})

    def test_no_arrow_goes_back_in_time(self):
        got = self.of("late_call")
        early, fine = self.kernel(got, "early").args, self.kernel(got, "fine").args
        self.assertEqual({b.name for _, b in got.drawn.flows}, {"fine"})
        self.assertIsNotNone(early["launchEventId"])
        self.assertEqual(early["launchSkewNs"], 50)
        self.assertNotIn("launchSkewNs", fine)
        self.assertEqual(got.count("skewed_links"), 1)
        self.assertEqual(got.count("launch_dependencies"), 2)

    def test_work_that_ends_before_it_starts_is_clamped(self):
        got = self.of("work_that_ends_before_it_starts")
        self.assertEqual(self.spans(got, "cuda"), [("backwards", 500, 500), ("fine", 800, 900)])
        self.assertEqual(self.spans(got, "cuda_memcpy"), [("CUDA Memcpy H2D", 700, 700)])
        self.assertEqual(sorted((s.start, s.end) for s in got.drawn.of("cuda_api")), [(0, 5), (30, 35), (60, 60)])
        recorded = [s.args["recordedEndNs"] for s in got.drawn.slices if "recordedEndNs" in s.args]
        self.assertEqual(sorted(recorded), [550, 900, 1150])
        self.assertEqual(got.count("clamped"), 3)

    def test_arrows_to_tiny_slices(self):
        got = self.of("copy_right_before_a_kernel")
        self.assertEqual(sum(category == "cuda" for _, category, _ in self.arrows(got)), 6)
        self.assertEqual(sum(category == "cuda_memcpy" for _, category, _ in self.arrows(got)), 1)

    def test_every_nanosecond_survives(self):
        got = self.of("whole_nanoseconds")
        month = 30 * 86_400 * 10**9
        self.assertEqual(sorted((s.start, s.end) for s in got.drawn.of("cuda")), [(1007, 1011), (1000 + month + 1, 1000 + month + 8)])
        self.assertEqual(self.spans(got, "nvtx"), [("odd", 0, 1002)])
        self.assertEqual({s.args["gpuStartNs"] for s in got.drawn.of("cuda")},
                         {1_764_470_000_123_456_796, 1_764_470_000_123_456_790 + month})

    def test_a_range_on_another_clock_is_put_right(self):
        got = self.of("ranges_on_another_clock")
        self.assertEqual(self.spans(got, "nvtx"), [("good", 0, 4000), ("off", 1000, 3000)])
        self.assertEqual({s.name: s.args["timestampRepaired"] for s in got.drawn.of("nvtx")}, {"good": False, "off": True})
        self.assertEqual(got.count("nvtx_timestamp_repaired"), 1)

    def test_an_ambiguous_clock_is_told(self):
        got = self.of("ranges_half_on_another_clock")
        half = next(s for s in got.drawn.of("nvtx") if s.name == "half")
        self.assertFalse(half.args["timestampRepaired"])
        self.assertIn("clock", got.err)
        strict = convert(small("ranges_half_on_another_clock"), "--strict-clocks")
        self.assertEqual(strict.code, 1)
        self.assertEqual(strict.published, [])


class Links(FaultCase):
    def test_null_links_to_nothing(self):
        got = self.of("no_correlation")
        self.assertEqual(self.arrows(got), [("cudaLaunchKernel_v7000", "cuda", "linked"),
                                            ("cudaLaunchKernel_v7000", "cuda_kernel_usage", "linked")])
        self.assertIsNone(self.kernel(got, "null").args["launchEventId"])
        self.assertEqual(got.count("cuda_api"), 1)

    def test_contexts_with_equal_correlation_ids(self):
        got = converted(harness.edge("equal_correlation_ids_of_contexts"))
        linked = sorted((b.name, a.track.plain) for a, b in got.drawn.flows if b.category == "cuda")
        self.assertEqual(linked, [("of_context_1", "CUDA API 101")] * 3 + [("of_context_2", "CUDA API 102")] * 3 +
                         [("warm_up_1", "CUDA API 101"), ("warm_up_2", "CUDA API 102")])
        self.assertEqual(self.arrows(got), sorted((a.name, b.category, b.name) for a, b in got.drawn.flows))
        by_id = {call.args["eventId"]: call.track.plain for call in got.drawn.of("cuda_api")}
        named = sorted((s.name, by_id[s.args["launchEventId"]]) for s in got.drawn.of("cuda"))
        self.assertEqual(named, linked)
        self.assertEqual((got.count("launch_dependencies"), got.count("skewed_links")), (8, 0))

    def test_graph_replay(self):
        got = self.of("graph_replay")
        self.assertEqual(len(self.arrows(got)), 4 + 4 + 1 + 1)
        node = self.kernel(got, "node 2").args
        self.assertEqual((node["graphId"], node["graphNodeId"]), (3, (1 << 32) + 2))
        first = self.of("graph_replay", "--graph-flows", "first")
        self.assertEqual([b for _, c, b in self.arrows(first) if c == "cuda"], ["node 0"])
        self.assertEqual(first.count("launch_dependencies"), 4)

    def test_equal_pids_stay_apart(self):
        got = self.of("equal_pids")
        self.assertEqual(len({s.track for s in got.drawn.of("cuda")}), 2)
        self.assertEqual({s.start: next(b.name for a, b in got.drawn.flows if a is s) for s in got.drawn.of("cuda_api")},
                         {0: "here", 1400: "there"})

    def test_scope_of_ranges(self):
        got = self.of("range_of_another_thread")
        self.assertEqual(self.kernel(got, "k").args["NVTXRegions"], ["loader", "forward"])
        strict = self.of("range_of_another_thread", "--nvtx-scope", "thread")
        self.assertEqual(self.kernel(strict, "k").args["NVTXRegions"], ["forward"])
        self.assertEqual([name for name, _, _ in self.spans(strict, "nvtx-kernel")], ["forward"])

    def test_order_of_regions(self):
        got = self.of("crossing_projections")
        self.assertEqual(self.kernel(got, "c").args["NVTXRegions"], ["B", "C"])
        self.assertEqual(self.kernel(got, "b").args["NVTXRegions"], ["A", "B", "C"])


class Facts(FaultCase):
    def test_every_copy_kind(self):
        got = self.of("every_copy_kind")
        directions = {s.args["copyKindId"]: s.args["direction"] for s in got.drawn.of("cuda_memcpy")}
        self.assertEqual(directions, {0: "Unknown", 1: "H2D", 2: "D2H", 3: "H2A", 4: "A2H", 5: "A2A", 6: "A2D", 7: "D2A", 8: "D2D",
                                      9: "H2H", 10: "P2P", 11: "Unified H2D", 12: "Unified D2H", 13: "Unified D2D", 14: "Unknown"})
        usage = {}
        for s in got.drawn.of("cuda_copy_usage"):
            usage.setdefault(s.track.plain, set()).add(s.args["direction"])
        self.assertEqual(usage, {"PCIe Usage": {"H2D", "D2H", "H2A", "A2H", "Unified H2D", "Unified D2H"},
                                 "GPU Copy D2D": {"A2A", "A2D", "D2A", "D2D", "Unified D2D"}, "NVLink/P2P": {"P2P"}})
        counts = [got.count(key) for key in ("memcpy", "h2d", "d2h", "d2d", "memcpy_other")]
        self.assertEqual(counts, [15, 3, 3, 5, 4])

    def test_copies_between_devices_show_on_both(self):
        got = self.of("between_devices")
        shown = {(s.track.plain, s.track.process[:13]) for s in got.drawn.of("cuda_copy_usage")}
        self.assertEqual(shown, {(track, f"CUDA Device {d}") for track in ("NVLink/P2P", "GPU Copy D2D") for d in (0, 1)})
        self.assertEqual(len(got.drawn.of("cuda_memcpy")), 2)

    def test_kernel_names(self):
        short = self.of("kernel_names")
        self.assertEqual({s.name for s in short.drawn.of("cuda")}, {"elementwise_kernel"})
        self.assertEqual({s.args["demangledName"] for s in short.drawn.of("cuda")},
                         {"void elementwise_kernel<float>(int)", "void elementwise_kernel<half>(int)"})
        for form, wanted in (("demangled", {"void elementwise_kernel<float>(int)", "void elementwise_kernel<half>(int)"}),
                             ("mangled", {"_Z18elementwise_kernelIfE", "_Z18elementwise_kernelIhE"})):
            got = self.of("kernel_names", "--kernel-name", form)
            self.assertEqual({s.name for s in got.drawn.of("cuda")}, wanted)
            self.assertEqual({s.name for s in got.drawn_proto.of("cuda_kernel_usage")}, wanted)

    def test_every_nvtx_type(self):
        got = self.of("every_nvtx_type")
        self.assertEqual(self.spans(got, "nvtx"), [("open", 40, 650), ("open start-end", 45, 650), ("push-pop", 0, 150),
                                                   ("start-end", 10, 450), ("start-end", 20, 250)])
        self.assertEqual({s.name for s in got.drawn.of("nvtx") if s.args.get("open")}, {"open", "open start-end"})
        self.assertEqual([(s.name, s.start) for s in got.drawn.instants], [("mark", 30)])
        self.assertEqual({s.track.plain for s in got.drawn.of("nvtx") if "start-end" in s.name}, {"NVTX Range 100"})
        self.assertEqual(got.count("nvtx"), 1)
        for key, value in (("nvtx_start_end", 2), ("nvtx_open", 2), ("nvtx_marks", 1)):
            self.assertEqual(got.count(key), value, key)

    def test_start_end_ranges_and_marks_alone_make_a_trace(self):
        got = self.of("start_end_ranges_and_marks_only")
        self.assertEqual((len(got.drawn.slices), len(got.drawn.instants)), (1, 1))

    def test_attributes_of_ranges(self):
        args = {s.name: s.args for s in self.of("range_attributes").drawn.of("nvtx")}
        read, real = args["read"], args["real"]
        self.assertEqual((read["domain"], read["category"], read["payload"]), ("loader", "io", -5))
        self.assertEqual(read["color"].upper(), "#FF00FF00")
        self.assertEqual(real["payload"], 0.25)

    def test_names_survive(self):
        got = self.of("names_to_escape")
        name = 'q"b\\s/\n\t\r\x01\x1f\x7f\u2028 é 漢 😀 </script>'
        for drawn in (got.drawn, got.drawn_proto):
            self.assertEqual({s.name for s in drawn.of("cuda")}, {name, "", "k" * 100_000})
            self.assertEqual({s.name for s in drawn.of("nvtx")}, {'a"\\\n\tb', "", "NVTX", "by id"})

    def test_numbers_where_names_are_missing(self):
        got = self.of("dangling_names")
        self.assertEqual({s.name for s in got.drawn.of("cuda")}, {"kernel_99", "kernel_"})
        self.assertEqual({s.name for s in got.drawn.of("cuda_api")}, {"cuda_api_98", "cuda_api_"})
        bare = self.of("no_strings")
        self.assertEqual(bare.count("cuda_sync_api"), 0)
        self.assertTrue(all(s.name.startswith("kernel_") for s in bare.drawn.of("cuda")))
        self.assertIn("StringIds", bare.err)

    def test_waits(self):
        linked = self.of("waits_of_every_kind")
        waits = {"cudaStreamSynchronize_v3020", "cudaDeviceSynchronize"}
        names = {s.name for s in linked.drawn.of("cuda_api")} - {"cudaLaunchKernel_v7000"}
        self.assertEqual(names, waits)
        wide = {s.name for s in self.of("waits_of_every_kind", "--api", "sync-wide").drawn.of("cuda_api")}
        self.assertEqual(wide - names - {"cudaLaunchKernel_v7000"}, {"cudaEventSynchronize_v3020", "cuCtxSynchronize", "cuStreamSynchronize"})
        everything = self.of("waits_of_every_kind", "--api", "all")
        self.assertEqual(len(everything.drawn.of("cuda_api")), 10)
        self.assertEqual({got.count("cuda_sync_api") for got in (linked, everything)}, {2})

    def test_host_tracks_show_each_call_once(self):
        usual, once = self.of("two_processes"), self.of("two_processes", "--host-tracks")
        waits = [[s for s in got.drawn.of("cuda_api") if "Synchronize" in s.name] for got in (usual, once)]
        self.assertEqual([len(w) for w in waits], [2, 1])
        self.assertEqual(len([s for s in once.drawn.of("nvtx") if s.name == "loader"]), 1)
        self.assertEqual(len(once.drawn.flows), len(usual.drawn.flows))

    def test_extra_tables(self):
        usual, more = self.of("extra_tables"), self.of("extra_tables", "--with", "all")
        added = [s for s in more.drawn.slices if s.category not in ("cuda", "cuda_kernel_usage", "cuda_api")]
        self.assertEqual(sorted((s.start, s.duration) for s in added), [(0, 200), (450, 150), (500, 800), (1100, 100)])
        alone = self.of("extra_tables", "--with", "memset")
        self.assertEqual(len(alone.drawn.slices), len(usual.drawn.slices) + 1)

    def test_names_of_threads_stand_behind_the_numbers(self):
        got = self.of("named_threads")
        for track in got.drawn.tracks:
            if track.plain.startswith("NVTX Thread"):
                self.assertTrue(track.plain.startswith("NVTX Thread 100"), track.plain)
        self.assertTrue(all(t.process.startswith(DEVICE_0) for t in got.drawn.tracks))

    def test_measured_batch(self):
        harness.require_pyarrow()
        import pyarrow.parquet as pq
        got = self.of("measured_batch")
        self.assertEqual((got.summary["alignment_anchor"], got.count("anchor_ns")), ("critical_path_batch_0", 100))
        aligned = {r["name"]: r["aligned_ts_us"] for r in pq.read_table(got.events).to_pylist() if r["cat"] == "nvtx"}
        self.assertEqual(aligned["CriticalPath/MeasuredBatch/x/batch_0"], 0.0)
        self.assertEqual(aligned["CriticalPath/MeasuredBatch/x/batch_1"], -0.05)
        self.assertEqual(self.of("plain").summary["alignment_anchor"], "first_trace_event")


class Sizes(FaultCase):
    def test_many_lanes_do_not_run_into_other_tracks(self):
        got = self.of("many_lanes")
        self.assertEqual(len({s.track.name for s in got.drawn.of("cuda_kernel_usage")}), 130)
        for drawn in (got.drawn, got.drawn_proto):
            order = [track for _, track in drawn.track_order()]
            self.assertEqual(order[:2], ["CUDA Core Timeline", "PCIe Usage"])
            self.assertEqual(order[-3:], ["NVTX Kernel 100", "NVTX Thread 100", "CUDA API 100"])

    def test_deep_ranges_are_cut(self):
        got = self.of("deep_ranges")
        for kernel in got.drawn.of("cuda"):
            self.assertEqual(len(kernel.args["NVTXRegions"]), 64)
            self.assertEqual(kernel.args["NVTXRegionsTruncated"], 600 - 64)
            self.assertEqual(kernel.args["NVTXRegions"][0], "level 0")
        whole = self.of("deep_ranges", "--max-regions", 1000)
        self.assertEqual({len(k.args["NVTXRegions"]) for k in whole.drawn.of("cuda")}, {600})


class Tables(FaultCase):
    def test_first_of_two_texts(self):
        self.assertEqual(self.of("duplicate_string_ids").files, self.of("plain").files)

    def test_words_are_bit_patterns(self):
        self.assertEqual(self.of("unsigned_ids").drawn.slice_counts(), self.of("plain").drawn.slice_counts())
        self.assertEqual(self.of("unsigned_ids").drawn.flow_counts(), self.of("plain").drawn.flow_counts())

    def test_broken_text_becomes_text(self):
        got = self.of("broken_text")
        for drawn in (got.drawn, got.drawn_proto):
            self.assertEqual({s.name for s in drawn.of("cuda")}, {"k\ufffd\ufffd"})
            self.assertEqual({s.name for s in drawn.of("nvtx")}, {"r\ufffd"})

    def test_a_missing_column_costs_what_it_told_and_no_more(self):
        for name in perfetto_captures.WITHOUT_A_COLUMN:
            with self.subTest(column=name):
                got = self.of(name)
                counts = [got.count(key) for key in ("kernels", "memcpy", "nvtx")]
                self.assertEqual(counts, [1, 1, 1])
                self.assertEqual(len(got.drawn.of("cuda")), 1)

    def test_a_device_that_is_not_there(self):
        got = self.of("no_device")
        self.assertEqual({s.name: s.track.process for s in got.drawn.of("cuda")},
                         {"nowhere": "CUDA Device -1 / Source PID 100", "somewhere": DEVICE_0, "alone": "CUDA Device -1 / Source PID 200"})

    def test_parts_of_a_capture_are_enough(self):
        self.assertEqual(len(self.of("no_kernels").drawn.of("cuda_api")), 2)
        self.assertEqual(len(self.of("copies_only").drawn.slices), 2)
        self.assertEqual({t.process for t in self.of("ranges_only").drawn.tracks}, {"CUDA Device -1 / Source PID 100"})

    def test_nothing_to_draw(self):
        got = convert(small("empty_tables"))
        self.assertEqual((got.code, got.published, got.outcome.out), (1, [], b""))
        self.assertTrue(got.err)


class Folders(FaultCase):
    def failed(self, name: str, *options: object) -> str:
        got = convert(folder(name), *options)
        self.assertEqual((got.code, got.published), (1, []), (name, got.err))
        return got.err

    def test_types_of_columns_do_not_matter(self):
        wanted = self.of("plain").files
        for name in ("as_it_should_be", "with_dictionaries", "with_bytes", "with_other_widths", "with_parts"):
            with self.subTest(folder=name):
                self.assertEqual(converted(folder(f"folder_{name}")).files, wanted)

    def test_a_broken_table_is_named(self):
        for name in ("with_garbage", "with_an_empty_file", "with_a_cut_file"):
            with self.subTest(folder=name):
                self.assertIn("NVTX_EVENTS.parquet", self.failed(f"folder_{name}"))
                got = converted(folder(f"folder_{name}"), "--keep-going")
                self.assertEqual((got.count("kernels"), got.count("nvtx")), (1, 0))
                self.assertIn("NVTX_EVENTS", got.err)

    def test_a_name_in_other_letters_is_pointed_out(self):
        got = converted(folder("folder_with_lower_case_names"))
        self.assertEqual(got.count("nvtx"), 0)
        self.assertIn("nvtx_events", got.err)

    def test_a_folder_without_tables(self):
        self.assertTrue(self.failed("folder_without_tables"))

    def test_a_time_beyond_all_numbers(self):
        got = convert(folder("folder_with_times_beyond_63_bits"))
        self.assertIn(got.code, (0, 1))
        self.assertEqual(got.published == [], got.code != 0)
        self.assertIn("NVTX_EVENTS", got.err)


class Outputs(FaultCase):
    """No file is lost, and none is left half written."""

    def test_an_output_that_is_a_folder_is_refused(self):
        with harness.scratch() as home:
            target = home / "r.perfetto.json.gz"
            (target / "kept").mkdir(parents=True)
            got = harness.run("convert", small("plain"), "-o", home, "--report", "r")
            self.assertNotEqual(got.code, 0)
            self.assertTrue((target / "kept").is_dir())
            self.assertEqual([p.name for p in home.iterdir() if not p.name.startswith(".")], [target.name])

    def test_outputs_of_one_path_or_in_the_input_are_refused(self):
        with harness.scratch() as home:
            one = home / "t"
            got = harness.run("convert", small("plain"), "--output-json", one, "--output-pftrace", one)
            self.assertNotEqual(got.code, 0)
            self.assertFalse(one.exists())
        source = folder("folder_as_it_should_be")
        before = sorted(p.name for p in source.iterdir())
        self.assertNotEqual(harness.run("convert", source, "-o", source).code, 0)
        self.assertNotEqual(harness.run("convert", source, "--output-json", source / "t.json").code, 0)
        self.assertEqual(sorted(p.name for p in source.iterdir()), before)

    def test_a_full_disk_leaves_nothing_and_keeps_what_was_there(self):
        limit = ("bash", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "limited")
        got = convert(small("many_lanes"), prefix=limit)
        self.assertEqual((got.code, got.published), (1, []), got.err)
        with harness.scratch() as home:
            options = ("-o", home, "--report", "r")
            self.assertEqual(harness.run("convert", small("many_lanes"), *options).code, 0)
            before = {p.name: p.read_bytes() for p in home.iterdir() if not p.name.startswith(".")}
            self.assertEqual(harness.run("convert", small("many_lanes"), *options, "--api", "all", prefix=limit).code, 1)
            after = {p.name: p.read_bytes() for p in home.iterdir() if not p.name.startswith(".")}
            self.assertEqual(before, after)

    def test_the_input_is_not_touched(self):
        capture = small("plain")
        before = (capture.read_bytes(), os.stat(capture).st_mtime_ns, sorted(p.name for p in capture.parent.glob(capture.stem + "*")))
        self.of("plain", "--with", "all")
        self.assertEqual((capture.read_bytes(), os.stat(capture).st_mtime_ns,
                          sorted(p.name for p in capture.parent.glob(capture.stem + "*"))), before)

    def test_names_of_reports_in_the_summary(self):
        for report in ("with blank", 'quo"te', "percent%20", "漢"):
            with self.subTest(report=report):
                got = convert(small("plain"), report=report)
                self.assertEqual(got.code, 0, got.err)
                self.assertEqual(len(got.summary), len(self.of("plain").summary))
                self.assertTrue(got.json.exists())
                self.assertTrue(all(s.args["eventId"].startswith(report + ":") for s in got.drawn.of("cuda")))
                told = convert(small("plain"), "--summary", "json", report=report)
                self.assertEqual([r["report"] for r in told.outcome.json()["reports"]], [report])

    def test_several_inputs_go_on_after_a_failure(self):
        with harness.scratch() as home:
            broken = home / "broken.sqlite"
            broken.write_bytes(b"nothing")
            out = home / "out"
            got = harness.run("convert", broken, small("plain"), "-o", out)
            self.assertEqual(got.code, 1)
            self.assertIn("broken", got.err.decode())
            self.assertTrue(list(out.rglob("perfetto_plain.perfetto.json.gz")))
            first = harness.run("convert", broken, small("plain"), "-o", home / "other", "--fail-fast")
            self.assertEqual(first.code, 1)
            self.assertFalse(list((home / "other").rglob("*.json.gz")))

    def test_inputs_of_one_name_are_refused(self):
        with harness.scratch() as home:
            for side in ("a", "b"):
                (home / side).mkdir()
                (home / side / "same.sqlite").write_bytes(small("plain").read_bytes())
            got = harness.run("convert", home / "a" / "same.sqlite", home / "b" / "same.sqlite", "-o", home / "out")
            self.assertNotEqual(got.code, 0)
            self.assertFalse(list(home.rglob("*.json.gz")))


class Everywhere(FaultCase):
    def test_perfetto_complains_of_none(self):
        """Also of what test_perfetto.py does not convert: the same captures with all there is to draw."""
        for name in perfetto_captures.CAPTURES:
            if name == "empty_tables":
                continue
            with self.subTest(capture=name):
                got = self.of(name, "--with", "all", "--api", "all", "--host-tracks")
                for file, drawn in ((got.json, got.drawn), (got.pftrace, got.drawn_proto)):
                    loaded = perfetto_runs.importer().load(file)
                    self.assertEqual((loaded.error, loaded.complaints), (None, []))
                    self.assertEqual(loaded.counts["slices"], len(drawn.slices) + len(drawn.instants))
                    self.assertEqual(loaded.counts["flows"], len(drawn.flows))


if __name__ == "__main__":
    harness.main()
