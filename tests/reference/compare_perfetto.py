#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare Perfetto traces with recorded ones of the reference, nsys2perfetto-datafusion 0.2.3.

    compare_perfetto.py [--binary PATH] [--corpus DIR] [--verbose]

Compared by meaning: numbers of tracks and arrows, lanes and the order of events do not count.  A difference is
*explained* when a row of docs/differences.md covers its part of the output and our trace is the one that
perfetto_expect.py computes from the capture on its own.  More args and more columns than the reference's are no
difference.  Exits 1 when one is unexplained, 77 when the reference corpus is not there.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "reference"), str(ROOT / "tests" / "tools")]
import compare  # noqa: E402
import json_trace_reader  # noqa: E402
import perfetto_expect  # noqa: E402

IDENTITY = ("event_type", "cat", "name", "ph", "ts_us", "dur_us", "pid", "tid", "event_id")


@dataclass(frozen=True)
class Difference:
    """One thing that the two outputs do not say alike; `part` is what a row of the table names."""

    part: str
    theirs: object
    ours: object


def load_tool(corpus: pathlib.Path):
    spec = importlib.util.spec_from_file_location("compare_traces", corpus / "tools" / "compare_traces.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differing_args(theirs: list[dict], ours: list[dict]) -> Iterator[tuple[str, object, object]]:
    """Of slices that are equal but for their args: the args that have no partner."""
    left = list(ours)
    for args in theirs:
        fitting = [other for other in left if all(key in other and other[key] == value for key, value in args.items())]
        if fitting:
            left.remove(fitting[0])
        elif left:
            other = left.pop(0)
            yield from ((k, v, other.get(k)) for k, v in args.items() if other.get(k) != v)


def compare_traces(tool, theirs: str, ours: str) -> Iterator[Difference]:
    (slices, flows, _, order), (our_slices, our_flows, _, our_order) = (tool.load(p, False, "superset") for p in (theirs, ours))
    for key in slices.keys() | our_slices.keys():
        count, our_count = len(slices.get(key, ())), len(our_slices.get(key, ()))
        if count != our_count:
            yield Difference(f"slices {key[0]}", (key, count), (key, our_count))
        for arg, value, our_value in differing_args(slices.get(key, []), our_slices.get(key, [])):
            yield Difference(f"args {key[0]}.{arg}", (key, value), our_value)
    for key in flows.keys() | our_flows.keys():
        if flows[key] != our_flows[key]:
            yield Difference(f"flows {key[0]}", (key, flows[key]), our_flows[key])
    if set(order) != set(our_order):
        yield Difference("tracks", sorted(set(order) - set(our_order)), sorted(set(our_order) - set(order)))
    both = set(order) & set(our_order)
    if [t for t in order if t in both] != [t for t in our_order if t in both]:
        yield Difference("track order", order, our_order)


def read_events(path: pathlib.Path) -> list[dict]:
    import pyarrow.parquet as pq
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        row["args_json"] = json.loads(row["args_json"])
    return rows


def compare_tables(theirs: pathlib.Path, ours: pathlib.Path) -> Iterator[Difference]:
    rows, our_rows = read_events(theirs), read_events(ours)
    by_identity = collections.defaultdict(list)
    for row in our_rows:
        by_identity[tuple(row[c] for c in IDENTITY)].append(row)
    for row in rows:
        identity = tuple(row[c] for c in IDENTITY)
        found = by_identity[identity]
        if not found:
            yield Difference(f"rows {row['event_type']}", identity, None)
            continue
        near = min(found, key=lambda other: sum(other.get(c) != row[c] for c in row))
        found.remove(near)
        for column, value in row.items():
            if column == "args_json":
                for key, part in value.items():
                    if near[column].get(key) != part:
                        yield Difference(f"args {row['cat']}.{key}", (identity, part), near[column].get(key))
            elif near.get(column) != value:
                yield Difference(f"column {column}", (identity, value), near.get(column))
    for identity, left in by_identity.items():
        for _ in left:
            yield Difference(f"rows {identity[0]}", None, identity)
    order, our_order = ([tuple(r[c] for c in IDENTITY) for r in table] for table in (rows, our_rows))
    if order != our_order and sorted(map(repr, order)) == sorted(map(repr, our_order)):
        at = next(i for i, pair in enumerate(zip(order, our_order)) if pair[0] != pair[1])
        yield Difference("order of rows", (at, order[at]), our_order[at])


def summary_of(text: str) -> dict[str, str]:
    line = next(line for line in text.splitlines() if line.startswith("report="))
    return dict(pair.split("=", 1) for pair in line.split(" "))


def compare_summaries(theirs: dict[str, str], ours: dict[str, str]) -> Iterator[Difference]:
    for key, value in theirs.items():
        if ours.get(key) != value:
            yield Difference(f"summary {key}", value, ours.get(key))


def is_what_the_capture_says(capture: pathlib.Path, trace: pathlib.Path) -> bool:
    wanted, got = perfetto_expect.Expected(capture), json_trace_reader.read(trace)
    return (wanted.slices == got.slice_counts() and wanted.flows == got.flow_counts()
            and wanted.instants == got.instant_counts())


class Comparison:
    def __init__(self, binary: str, corpus: pathlib.Path, verbose: bool):
        self.binary, self.corpus, self.verbose = binary, corpus, verbose
        self.tool = load_tool(corpus)
        self.rules = [r for r in compare.read_rules(compare.DIFFERENCES) if "convert" in r.skills]
        self.counts: collections.Counter[str] = collections.Counter()

    def rule_for(self, difference: Difference) -> str | None:
        fitting = [r.name for r in self.rules if any(fnmatch.fnmatchcase(difference.part, key) for key in r.keys)]
        return fitting[0] if fitting else None

    def run(self, golden: pathlib.Path, folder: pathlib.Path) -> None:
        name = golden.name
        capture = self.corpus / "fixtures" / f"{name}.sqlite"
        done = subprocess.run([self.binary, "convert", capture, "-o", folder, "--report", name, "--format", "json,parquet"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.counts["UNEXPLAINED"] += 1
            print(f"UNEXPLAINED {name}: exit {done.returncode}, {done.stderr.strip()}")
            return
        trace, events = folder / f"{name}.perfetto.json.gz", folder / f"{name}.perfetto.parquet"
        parts = {"trace": list(compare_traces(self.tool, str(golden / "trace.json.gz"), str(trace))),
                 "table of events": list(compare_tables(golden / "events.parquet", events)),
                 "summary": list(compare_summaries(summary_of((golden / "summary.txt").read_text()), summary_of(done.stdout)))}
        agrees = is_what_the_capture_says(capture, trace)
        print(f"{name}: our trace is {'' if agrees else 'NOT '}what the capture says")
        self.counts["UNEXPLAINED"] += not agrees
        for what, differences in parts.items():
            self.report(f"{name} {what}", differences, agrees)

    def report(self, label: str, differences: list[Difference], agrees: bool) -> None:
        if not differences:
            self.counts["equal"] += 1
            print(f"equal: {label}")
            return
        by_kind = collections.defaultdict(list)
        for d in differences:
            by_kind[d.part, self.rule_for(d) if agrees else None].append(d)
        self.counts["UNEXPLAINED" if any(rule is None for _, rule in by_kind) else "explained"] += 1
        for (part, rule), found in sorted(by_kind.items(), key=str):
            print(f"{f'explained by {rule}' if rule else 'UNEXPLAINED'}: {label}, {part}, {len(found)} times")
            for d in found[:3] if self.verbose or rule is None else []:
                print(f"    reference {str(d.theirs)[:300]}\n    ours      {str(d.ours)[:300]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("NSYS_AI", str(ROOT / "build" / "release" / "nsys-ai")))
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--verbose", action="store_true", help="show explained differences too")
    args = parser.parse_args()
    recorded = sorted(p.parent for p in (args.corpus / "golden" / "perfetto").glob("*/trace.json.gz"))
    if not recorded:
        print("skipped: the reference corpus is not here")
        return 77
    if not os.access(args.binary, os.X_OK) or importlib.util.find_spec("pyarrow") is None:
        print("skipped: the program is not built, or pyarrow is not installed")
        return 77
    comparison = Comparison(args.binary, args.corpus, args.verbose)
    for golden in recorded:
        with tempfile.TemporaryDirectory() as folder:
            comparison.run(golden, pathlib.Path(folder))
    counts = comparison.counts
    print(f"{counts['equal']} equal, {counts['explained']} explained, {counts['UNEXPLAINED']} unexplained")
    return 1 if counts["UNEXPLAINED"] else 0


if __name__ == "__main__":
    sys.exit(main())
