# SPDX-License-Identifier: MIT
"""Conversions to Perfetto traces for the tests: run once, kept for the whole script, read on demand."""

from __future__ import annotations

import atexit
import functools
import pathlib
import tempfile
import unittest

import harness
import json_trace_reader
import pftrace_reader
import trace_processor
from drawn_trace import LANE, Drawn

REPORT = "report"
_FOLDER = tempfile.TemporaryDirectory(dir=harness.DATA, prefix="perfetto_")
atexit.register(_FOLDER.cleanup)
_COUNT = iter(range(1 << 30))


class Converted:
    """The outputs of one run."""

    def __init__(self, outcome: harness.Outcome, folder: pathlib.Path, report: str):
        self.outcome, self.folder = outcome, folder
        self.json = folder / f"{report}.perfetto.json.gz"
        self.pftrace = folder / f"{report}.pftrace"
        self.events = folder / f"{report}.perfetto.parquet"
        self.dependencies = folder / f"{report}.kernel_dependencies.parquet"

    @property
    def code(self) -> int:
        return self.outcome.code

    @property
    def err(self) -> str:
        return self.outcome.err.decode(errors="replace")

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """All that a user sees of the folder."""
        seen = sorted(p for p in self.folder.rglob("*") if p.is_file()) if self.folder.exists() else []
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in seen if not p.name.startswith(".")}

    @property
    def published(self) -> list[str]:
        return list(self.files)

    @functools.cached_property
    def summary(self) -> dict[str, str]:
        line = next(line for line in self.outcome.text.splitlines() if line.startswith("report="))
        return dict(pair.split("=", 1) for pair in line.split(" "))

    def count(self, key: str) -> int:
        return int(self.summary[key])

    @functools.cached_property
    def drawn(self) -> Drawn:
        return json_trace_reader.read(self.json)

    @functools.cached_property
    def drawn_proto(self) -> Drawn:
        return pftrace_reader.read(self.pftrace)


def convert(capture: object, *options: object, report: str = REPORT, prefix: tuple[str, ...] = ()) -> Converted:
    folder = pathlib.Path(_FOLDER.name) / str(next(_COUNT))
    outcome = harness.run("convert", capture, "-o", folder, "--report", report, *options, prefix=prefix, timeout=300)
    return Converted(outcome, folder, report)


def converted(capture: object, *options: object) -> Converted:
    """A run that has to succeed."""
    made = convert(capture, *options)
    if made.code != 0:
        raise AssertionError(f"convert {capture} {options}: exit {made.code}, {made.err}")
    return made


@functools.cache
def importer() -> trace_processor.TraceProcessor:
    """Perfetto's importer; skips the test when there is none."""
    if reason := trace_processor.why_missing():
        raise unittest.SkipTest(reason)
    started = trace_processor.TraceProcessor()
    atexit.register(started.close)
    return started


SLICES = "SELECT ts - (SELECT min(ts) FROM slice), dur, name, category FROM slice"
ARROWS = """SELECT a.name, a.ts - (SELECT min(ts) FROM slice), b.name, b.ts - (SELECT min(ts) FROM slice)
  FROM flow JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in"""
JSON_TRACKS = """SELECT process.name, thread.name, count(*), sum(dur) FROM slice
  JOIN thread_track ON thread_track.id = slice.track_id JOIN thread USING (utid) JOIN process USING (upid) GROUP BY 1, 2"""
PROTO_TRACKS = """WITH RECURSIVE up(leaf, next, name) AS (SELECT id, parent_id, name FROM track
    UNION ALL SELECT up.leaf, track.parent_id, track.name FROM up JOIN track ON track.id = up.next)
  SELECT up.name, track.name, count(*), sum(dur) FROM slice JOIN up ON up.leaf = slice.track_id AND up.next IS NULL
  JOIN track ON track.id = slice.track_id GROUP BY 1, 2"""


def by_track(rows: list[list]) -> dict[tuple[str, str], tuple[int, int]]:
    """Rows (process, track, number, sum) with the lanes of a track taken together."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for process, name, number, total in rows:
        key = process, LANE.sub("", name)
        before = found.get(key, (0, 0))
        found[key] = before[0] + number, before[1] + total
    return found
