#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A picture of a stretch of a .pftrace: one row per track and depth, as Perfetto lays them out, with the arrows.

    trace_to_svg.py TRACE.pftrace PROCESS BEGIN_MS END_MS > picture.svg

PROCESS is the name of one process of the trace; times count from the first event.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from xml.sax.saxutils import escape

import pftrace_reader
from drawn_trace import Drawn, Slice, Track

WIDTH, LEFT, TOP, ROW, GAP, LETTER = 1200, 260, 64, 18, 8, 6.3
COLOURS = ("#7ea6e0", "#8bd49c", "#e0b07e", "#c49be0", "#e08b9b", "#7ed0d0", "#cfd07e", "#a0b3c8")


@dataclass
class Placed:
    slice: Slice
    row: int


def colour(name: str) -> str:
    return COLOURS[hashlib.sha256(name.encode()).digest()[0] % len(COLOURS)]


def place(drawn: Drawn, process: str, begin: int, end: int) -> tuple[list[tuple[Track, int, int]], list[Placed]]:
    """Tracks with their first row and depth, and what lies in the window."""
    tracks, placed, row = [], [], 0
    inside = [s for s in drawn.slices if s.track.process == process and s.start < end and s.end > begin]
    for track in sorted({s.track for s in inside}, key=lambda t: t.order):
        open_slices: list[Slice] = []
        depth = 0
        for one in sorted((s for s in inside if s.track is track), key=lambda s: (s.start, -s.duration)):
            while open_slices and open_slices[-1].end <= one.start:
                open_slices.pop()
            placed.append(Placed(one, row + len(open_slices)))
            open_slices.append(one)
            depth = max(depth, len(open_slices))
        tracks.append((track, row, depth))
        row += depth
    return tracks, placed


class Picture:
    def __init__(self, drawn: Drawn, process: str, begin: int, end: int):
        self.begin, self.end = begin, end
        self.tracks, self.placed = place(drawn, process, begin, end)
        self.top_of_row: dict[int, int] = {}
        y = TOP
        for _, first, depth in self.tracks:
            for row in range(first, first + depth):
                self.top_of_row[row] = y
                y += ROW
            y += GAP
        self.height = y + 8
        row_of = {id(p.slice): p.row for p in self.placed}
        self.flows = [(a, row_of[id(a)], b, row_of[id(b)]) for a, b in drawn.flows if id(a) in row_of and id(b) in row_of]

    def x(self, time: int) -> float:
        part = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + part * (WIDTH - LEFT - 16)

    def lines(self, title: str):
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
               f'viewBox="0 0 {WIDTH} {self.height}" font-family="ui-sans-serif, Helvetica, Arial, sans-serif" font-size="11">')
        yield '<rect width="100%" height="100%" rx="8" fill="#10151c"/>'
        yield f'<text x="16" y="26" font-size="14" font-weight="bold" fill="#d7dee8">{escape(title)}</text>'
        step = 1_000_000
        for time in range(-(-self.begin // step) * step, self.end + 1, step):
            x = self.x(time)
            yield f'<path d="M{x:.1f} 48V{self.height - 8}" stroke="#27313d"/>'
            yield f'<text x="{x + 3:.1f}" y="54" fill="#8593a3">{time // step} ms</text>'
        for track, first, _ in self.tracks:
            yield f'<text x="16" y="{self.top_of_row[first] + 13}" fill="#d7dee8">{escape(track.name)}</text>'
        for one in self.placed:
            yield from self.box(one)
        for a, row, b, other in self.flows:
            x, y = self.x(a.start), self.top_of_row[row] + ROW / 2
            to_x, to_y = self.x(b.start), self.top_of_row[other] + ROW / 2
            yield (f'<path d="M{x:.1f} {y}C{x + 24:.1f} {y} {to_x - 24:.1f} {to_y} {to_x:.1f} {to_y}" fill="none" '
                   'stroke="#f2f5f8" stroke-opacity="0.14"/>')
        yield "</svg>"

    def box(self, one: Placed):
        x, y = self.x(one.slice.start), self.top_of_row[one.row]
        width = max(self.x(one.slice.end) - x, 0.8)
        yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" rx="1.5" fill="{colour(one.slice.name)}"/>'
        letters = int((width - 6) / LETTER)
        if letters >= 3:
            name = one.slice.name if len(one.slice.name) <= letters else one.slice.name[:letters - 1] + "…"
            yield f'<text x="{x + 3:.1f}" y="{y + 12}" fill="#10151c">{escape(name)}</text>'


def main() -> int:
    trace, process, begin, end = sys.argv[1:]
    picture = Picture(pftrace_reader.read(trace), process, round(float(begin) * 1e6), round(float(end) * 1e6))
    print("\n".join(picture.lines(process)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
