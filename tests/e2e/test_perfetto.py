#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Perfetto traces show what the capture holds: every slice and every arrow, in every format, for any input form.

Three things are held against each other: an independent computation from the capture (perfetto_expect.py), our own
strict readers of both trace formats, and Perfetto's importer.
"""

from __future__ import annotations

import functools
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
from collections import Counter

import harness
import perfetto_captures
import perfetto_runs
from harness import edge, parquetdir, synthetic
from perfetto_expect import Expected
from perfetto_runs import Converted, converted

ODD = ("hostile_names", "names_only_by_id", "negative_times", "all_event_types", "minimal_export", "crossing_domains",
       "processes_share_a_device", "equal_correlation_ids", "big_and_zero_copies", "four_devices",
       "overlap_within_a_stream", "versioned_tables", "permuted_columns", "dangling_string_ids")
# Whose outcome the rules leave open, or that hold nothing to draw: see test_perfetto_faults.py.
NOT_MODELLED = ("empty_tables", "ranges_on_another_clock", "ranges_half_on_another_clock", "equal_pids", "unsigned_ids",
                "no_runtime_globalTid", "no_events_globalTid", "broken_text", "edge_minimal_export")


def small(name: str) -> pathlib.Path:
    return harness.made_once(f"perfetto_{name}.sqlite", perfetto_captures.CAPTURES[name])


@functools.cache
def without_a_column() -> tuple[pathlib.Path, ...]:
    return tuple(small(name) for name in perfetto_captures.WITHOUT_A_COLUMN)


@functools.cache
def captures() -> tuple[pathlib.Path, ...]:
    """Captures that can be drawn."""
    own = [small(name) for name in perfetto_captures.CAPTURES
           if name != "empty_tables" and name not in perfetto_captures.WITHOUT_A_COLUMN]
    made = [synthetic(0, 2, "node")[0], synthetic(7, 2, "graph")[0], *map(edge, ODD)]
    return (*own, *harness.thinned((*made, *corpus()), 4))


def corpus() -> list[pathlib.Path]:
    """Real captures; of two of the same job the first."""
    return [c for c in harness.corpus_captures() if not c.stem.endswith("_after")]


@functools.cache
def expected(capture: pathlib.Path) -> Expected:
    return Expected(capture)


@functools.cache
def trace(capture: pathlib.Path) -> Converted:
    return converted(capture, "--threads", 1)


def modelled(capture: pathlib.Path) -> bool:
    return capture.stem.removeprefix("perfetto_") not in NOT_MODELLED


def _each(all_of_them):
    def decorate(check):
        @functools.wraps(check)
        def test(self):
            for capture in all_of_them():
                with self.subTest(capture=capture.name):
                    check(self, capture)

        return test

    return decorate


each_capture = _each(captures)  # a test of one capture as a test of all
each_and_without_columns = _each(lambda: captures() + without_a_column())


class TraceCase(harness.Case):
    def same_counts(self, got: Counter, wanted: Counter, what: str) -> None:
        missing, added = wanted - got, got - wanted
        self.assertFalse(missing or added, f"{what}: {sum(missing.values())} missing, as {list(missing)[:3]}; "
                                           f"{sum(added.values())} added, as {list(added)[:3]}")


class Traces(TraceCase):
    @each_capture
    def test_threads_and_runs_do_not_matter(self, capture):
        self.assertEqual(trace(capture).files, converted(capture, "--threads", 3).files)

    @each_and_without_columns
    def test_input_form_does_not_matter(self, capture):
        harness.require_pyarrow()
        folder = parquetdir(capture, "--types", "native", "--empty", "keep")
        for threads in (1, 3):
            of_folder = converted(folder, "--threads", threads)
            self.assertEqual(of_folder.outcome.text.replace(str(of_folder.folder), ""),
                             trace(capture).outcome.text.replace(str(trace(capture).folder), ""))
            self.assertEqual(trace(capture).files, of_folder.files)

    @each_capture
    def test_both_formats_show_the_same(self, capture):
        of_json, of_proto = trace(capture).drawn, trace(capture).drawn_proto
        self.same_counts(of_proto.slice_counts(), of_json.slice_counts(), "slices")
        self.same_counts(of_proto.instant_counts(), of_json.instant_counts(), "instants")
        self.same_counts(of_proto.flow_counts(), of_json.flow_counts(), "arrows")
        self.assertEqual(of_proto.totals(), of_json.totals())
        self.assertEqual(of_proto.track_order(), of_json.track_order())

    @each_and_without_columns
    def test_slices_in_are_slices_out(self, capture):
        if modelled(capture):
            wanted, got = expected(capture), trace(capture)
            self.same_counts(got.drawn.slice_counts(), wanted.slices, "slices")
            self.same_counts(got.drawn.instant_counts(), wanted.instants, "instants")
            self.same_counts(got.drawn.flow_counts(), wanted.flows, "arrows")
            self.assertEqual({(t.process, t.plain) for t in got.drawn.tracks}, wanted.tracks)
            counts = {key: int(got.summary[key]) for key in wanted.summary()}
            self.assertEqual(counts, wanted.summary())

    @each_capture
    def test_ranges_around_each_kernel(self, capture):
        if modelled(capture):
            wanted = expected(capture)
            names = Counter((k.start - wanted.origin, k.name, frozenset(wanted.regions[id(k)])) for k in wanted.kernels)
            told = Counter()
            for kernel in trace(capture).drawn.of("cuda"):
                regions = kernel.args["NVTXRegions"]
                self.assertEqual(len(regions), len(set(regions)))
                if "NVTXRegionsTruncated" not in kernel.args:
                    told[kernel.start, kernel.name, frozenset(regions)] += 1
            self.assertFalse(told - names, list(told - names)[:3])
            if capture.stem != "perfetto_deep_ranges":
                self.same_counts(told, names, "ranges of kernels")

    @each_capture
    def test_every_arrow_is_told_by_its_ends(self, capture):
        """What a launch says of itself in its args is what the arrows show."""
        drawn = trace(capture).drawn
        self.assertEqual(len(drawn.of("cuda")), len({s.args["eventId"] for s in drawn.of("cuda")}))
        arrows = {(s.args["eventId"], t.args["eventId"]) for s, t in drawn.flows}
        for work in (*drawn.of("cuda"), *drawn.of("cuda_memcpy")):
            launch = work.args["launchEventId"]
            drawn_arrow = (launch, work.args["eventId"]) in arrows
            self.assertEqual(drawn_arrow, launch is not None and "launchSkewNs" not in work.args, work.args)

    @each_capture
    def test_counts_of_the_summary(self, capture):
        got = trace(capture)
        self.assertEqual(got.count("json_events"), got.drawn.events)
        flows = Counter(target.category for _, target in got.drawn.flows)
        self.assertEqual(flows["cuda_kernel_usage"], flows["cuda"])
        self.assertEqual(got.summary["report"], perfetto_runs.REPORT)
        self.assertEqual(got.outcome.text.splitlines()[-1], str(got.json))


def told_of_json(name: str) -> str:
    """A name as far as the importer tells it: it names what has no name, and does not read JSON's \\u00xx."""
    if name == "[No name]":
        return ""
    return "(with controls)" if "\\u00" in name or any(c < " " for c in name) else name


def told_of_proto(name: str) -> str:
    """The importer's answer ends at NUL."""
    return name.partition("\0")[0]


class Importer(TraceCase):
    """Perfetto loads all of it, without a complaint."""

    def check(self, file: pathlib.Path, drawn, tracks: str, told) -> None:
        loaded = perfetto_runs.importer().load(file, perfetto_runs.SLICES, perfetto_runs.ARROWS, tracks)
        self.assertIsNone(loaded.error)
        self.assertEqual(loaded.complaints, [])
        self.assertEqual(loaded.counts["unfinished"], 0)
        self.assertEqual(loaded.counts["flows"], len(drawn.flows))
        self.assertEqual(loaded.counts["samples"], len(drawn.samples))
        slices, arrows, by_track = loaded.rows
        first = min((s.start for s in (*drawn.slices, *drawn.instants)), default=0)
        wanted = Counter((s.start - first, s.duration, told(s.name), s.category) for s in (*drawn.slices, *drawn.instants))
        self.same_counts(Counter((t, d, told(n), c) for t, d, n, c in slices), wanted, "slices")
        self.same_counts(Counter((told(a), t, told(b), u) for a, t, b, u in arrows),
                         Counter((told(a.name), a.start - first, told(b.name), b.start - first) for a, b in drawn.flows), "arrows")
        self.assertEqual(perfetto_runs.by_track(by_track), drawn.totals())

    @each_capture
    def test_json(self, capture):
        self.check(trace(capture).json, trace(capture).drawn, perfetto_runs.JSON_TRACKS, told_of_json)

    @each_capture
    def test_protobuf(self, capture):
        self.check(trace(capture).pftrace, trace(capture).drawn_proto, perfetto_runs.PROTO_TRACKS, told_of_proto)


class Choices(TraceCase):
    """Options change what they say, and every format alike."""

    def drawn(self, capture: pathlib.Path, *options: object):
        got = converted(capture, *options)
        self.assertEqual(got.drawn.slice_counts(), got.drawn_proto.slice_counts(), options)
        self.assertEqual(got.drawn.flow_counts(), got.drawn_proto.flow_counts(), options)
        self.assertEqual(got.drawn.totals(), got.drawn_proto.totals(), options)
        self.assertEqual(Counter(v for _, _, v in got.drawn.samples), Counter(v for _, _, v in got.drawn_proto.samples))
        for file in (got.json, got.pftrace):
            loaded = perfetto_runs.importer().load(file)
            self.assertEqual((loaded.error, loaded.complaints), (None, []), options)
            self.assertEqual(loaded.counts["slices"], len(got.drawn.slices) + len(got.drawn.instants), options)
            self.assertEqual(loaded.counts["flows"], len(got.drawn.flows), options)
        return got.drawn

    def test_every_choice_on_larger_captures(self):
        for capture in (synthetic(0, 2, "node")[0], synthetic(7, 2, "graph")[0], *corpus()[:1]):
            for options in (("--with", "all"), ("--host-tracks",), ("--api", "all"), ("--api", "sync-wide"),
                            ("--nvtx-scope", "thread"), ("--kernel-name", "demangled"), ("--graph-flows", "first"),
                            ("--max-regions", 2)):
                with self.subTest(capture=capture.name, options=options):
                    self.drawn(capture, *options)

    def test_model_of_choices(self):
        for capture in (synthetic(0, 2, "node")[0], *corpus()[:1]):
            for options, more in ((("--api", "all"), {"api": "all"}), (("--nvtx-scope", "thread"), {"scope": "thread"})):
                with self.subTest(capture=capture.name, options=options):
                    got, wanted = self.drawn(capture, *options), Expected(capture, **more)
                    self.assertEqual(got.slice_counts(), wanted.slices)
                    self.assertEqual(got.flow_counts(), wanted.flows)

    def test_trim(self):
        capture, truth = synthetic(0, 2, "node")
        whole = trace(capture).drawn
        kernels = sorted(whole.of("cuda"), key=lambda s: s.start)
        middle = kernels[len(kernels) // 2]
        begin, end = middle.args["gpuStartNs"], middle.args["gpuEndNs"] + 10_000_000
        part = self.drawn(capture, "--trim", f"{begin / 1e9:.9f}", f"{end / 1e9:.9f}")
        wanted = {k.args["gpuStartNs"] for k in kernels if k.args["gpuStartNs"] < end and k.args["gpuEndNs"] > begin}
        self.assertEqual({k.args["gpuStartNs"] for k in part.of("cuda")}, wanted)
        launches = {k.args["launchEventId"] for k in part.of("cuda")} - {None}
        self.assertEqual(launches - {c.args["eventId"] for c in part.of("cuda_api")}, set())
        self.assertLess(len(part.slices), len(whole.slices))

    def test_picture_is_real(self):
        got = trace(synthetic(0, 2, "node")[0])
        picture = harness.ROOT / "docs" / "images" / "perfetto_tracks.svg"
        drawn = subprocess.run([sys.executable, harness.TOOLS / "trace_to_svg.py", got.pftrace,
                                "CUDA Device 0 / Source PID 4000", "22.5", "32.5"], capture_output=True, text=True, check=True)
        self.assertEqual(drawn.stdout, picture.read_text(encoding="utf-8"))

    def test_forms_of_the_files(self):
        capture = small("plain")
        got = trace(capture)
        with harness.scratch() as folder:
            plain, packed = folder / "t.json", folder / "t.pftrace.gz"
            done = harness.run("convert", capture, "--report", perfetto_runs.REPORT, "--output-json", plain, "--output-pftrace", packed)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(plain.read_bytes(), gzip.decompress(got.json.read_bytes()))
            self.assertEqual(gzip.decompress(packed.read_bytes()), got.pftrace.read_bytes())
            self.assertEqual(sorted(p.name for p in folder.iterdir()), ["t.json", "t.pftrace.gz"])
            loaded = perfetto_runs.importer().load(packed)
            self.assertEqual(loaded.counts["slices"], len(got.drawn.slices))

    def test_formats(self):
        capture = small("plain")
        everything = trace(capture).published
        self.assertEqual(everything, sorted(everything))
        for form, endings in (("json", (".json.gz",)), ("pftrace", (".pftrace",)), ("parquet", (".parquet",))):
            got = converted(capture, "--format", form)
            self.assertTrue(got.published and all(name.endswith(endings) for name in got.published), got.published)
            for name in got.published:
                self.assertEqual(got.files[name], trace(capture).files[name])


class EventTable(TraceCase):
    """The table says what the trace says."""

    def rows(self, capture: pathlib.Path) -> list[dict]:
        harness.require_pyarrow()
        import pyarrow.parquet as pq
        return pq.read_table(trace(capture).events).to_pylist()

    @each_capture
    def test_rows_are_the_slices(self, capture):
        projections = ("cuda_kernel_usage", "cuda_copy_usage")
        drawn, rows = trace(capture).drawn, self.rows(capture)
        self.assertEqual(len(rows), trace(capture).count("parquet_rows"))
        told = Counter((r["cat"], r["name"], round(r["ts_us"] * 1000), round(r["dur_us"] * 1000), r["pid"]) for r in rows
                       if r["event_type"] not in ("nvtx_mark",))
        shown = Counter((s.category, s.name, s.start, s.duration, s.track.process) for s in drawn.slices
                        if s.category not in projections)
        self.assertFalse(shown - told, list(shown - told)[:3])
        self.assertLessEqual(sum((told - shown).values()), len(drawn.instants))

    @each_capture
    def test_args_and_links_are_those_of_the_trace(self, capture):
        drawn, rows = trace(capture).drawn, self.rows(capture)
        slices = {(s.category, s.args["eventId"], s.args["deviceId"]): s.args for s in drawn.slices
                  if s.category in ("cuda", "cuda_api", "cuda_memcpy")}
        for row in rows:
            args = json.loads(row["args_json"], parse_float=float)
            if row["event_id"] is not None:
                self.assertEqual(args, slices[row["cat"], row["event_id"], args["deviceId"]])
                self.assertEqual(row["launch_event_id"], args.get("launchEventId"))

    def test_duckdb_reads_it_and_joins_work_to_calls(self):
        capture = synthetic(0, 2, "node")[0]
        tables = parquetdir(capture, "--types", "native", "--empty", "keep")
        with harness.scratch() as folder:
            for name in ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"):  # so that it passes for a capture
                shutil.copyfile(tables / f"{name}.parquet", folder / f"{name}.parquet")
            shutil.copyfile(trace(capture).events, folder / "EVENTS.parquet")
            statement = ("SELECT e.event_type, count(*) AS rows, count(e.launch_event_id) AS linked, count(c.event_id) AS joined "
                         "FROM EVENTS e LEFT JOIN EVENTS c ON c.event_id = e.launch_event_id AND c.event_type = 'cuda_api' "
                         "AND c.device_id = e.device_id GROUP BY 1")
            got = harness.run("sql", folder, statement, "--engine", "duckdb", "--format", "json")
        self.assertEqual(got.code, 0, got.err)
        rows = {r["event_type"]: r for r in got.json()}
        self.assertEqual(rows["cuda_kernel"]["rows"], trace(capture).count("kernels"))
        self.assertEqual(rows["cuda_kernel"]["linked"], trace(capture).count("launch_dependencies"))
        for row in rows.values():
            self.assertEqual(row["joined"], row["linked"], row)

    def test_schema(self):
        harness.require_pyarrow()
        import pyarrow.parquet as pq
        events = pq.read_schema(trace(small("plain")).events)
        text, number = "string", "double"
        wanted = {"report": text, "event_type": text, "cat": text, "name": text, "ph": text, "ts_us": number, "dur_us": number,
                  "aligned_ts_us": number, "pid": text, "tid": text, "args_json": text, "event_id": text, "launch_event_id": text,
                  "stream_id": "uint64", "correlation_id": "uint32", "stream_sequence": "uint64", "depends_on_event_id": text,
                  "dependency_type": text}
        self.assertEqual({f.name: str(f.type) for f in events if f.name in wanted}, wanted)
        self.assertEqual([f.name for f in events][:len(wanted)], list(wanted))
        optional = set(list(wanted)[11:]) | {"dur_us"}
        self.assertEqual({f.name for f in events if f.nullable and f.name in wanted}, optional)
        dependencies = pq.read_table(trace(small("plain")).dependencies)
        self.assertEqual(dependencies.num_rows, 0)
        names = ("report stream_id stream_sequence predecessor_event_id predecessor_kernel predecessor_ts_us predecessor_dur_us "
                 "successor_event_id successor_kernel successor_ts_us successor_dur_us gap_us dependency_type").split()
        self.assertEqual(dependencies.column_names, names)
        self.assertFalse(any(f.nullable for f in dependencies.schema))


if __name__ == "__main__":
    harness.main()
