# SPDX-License-Identifier: MIT
"""What a Perfetto trace shows, read from a JSON trace or a .pftrace: the same picture from both.

Times are integer nanoseconds since the first event.  A track is named (process, track) as a person reads it, with
the lane apart, so that traces of different formats and numberings can be compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

LANE = re.compile(r" / Lane (\d+)$")


class Fault(ValueError):
    """The trace breaks a rule of its format, or shows something else than it says."""


def check(condition: object, *what: object) -> None:
    if not condition:
        raise Fault(" ".join(map(str, what)))


@dataclass(eq=False)
class Track:
    process: str
    name: str  # with its lane
    order: tuple = ()  # ascending from the top

    @property
    def plain(self) -> str:
        return LANE.sub("", self.name)


@dataclass(eq=False)
class Slice:
    track: Track
    category: str
    name: str
    start: int
    duration: int
    args: dict = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.start + self.duration

    def key(self) -> tuple:
        return self.category, self.name, self.start, self.duration, self.track.process, self.track.plain


@dataclass(eq=False)
class Drawn:
    tracks: list[Track] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    instants: list[Slice] = field(default_factory=list)
    flows: list[tuple[Slice, Slice]] = field(default_factory=list)
    samples: list[tuple[Track, int, float]] = field(default_factory=list)
    events: int = 0  # elements of the array, or packets

    def start_at_zero(self) -> None:
        """Count time from the first event."""
        times = [s.start for s in (*self.slices, *self.instants)] + [t for _, t, _ in self.samples]
        first = min(times, default=0)
        for s in (*self.slices, *self.instants):
            s.start -= first
        self.samples = [(track, time - first, value) for track, time, value in self.samples]

    def of(self, category: str) -> list[Slice]:
        return [s for s in self.slices if s.category == category]

    def slice_counts(self) -> Counter:
        return Counter(s.key() for s in self.slices)

    def instant_counts(self) -> Counter:
        return Counter(s.key() for s in self.instants)

    def flow_counts(self) -> Counter:
        return Counter((a.key(), b.key()) for a, b in self.flows)

    def totals(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Number and summed duration of the slices and instants of every track, lanes together."""
        found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        for s in (*self.slices, *self.instants):
            entry = found[s.track.process, s.track.plain]
            entry[0] += 1
            entry[1] += s.duration
        return {key: tuple(value) for key, value in found.items()}

    def track_order(self) -> list[tuple[str, str]]:
        ordered = sorted(self.tracks, key=lambda t: t.order)
        return list(dict.fromkeys((t.process, t.plain) for t in ordered))

    def check_lanes(self) -> None:
        """On no track do slices cross; only ranges and host calls nest."""
        by_track = defaultdict(list)
        for s in self.slices:
            by_track[s.track].append(s)
        for track, slices in by_track.items():
            stack: list[Slice] = []
            for s in sorted(slices, key=lambda s: (s.start, s.duration > 0, -s.end)):
                while stack and stack[-1].end <= s.start:
                    stack.pop()
                if stack:
                    check(s.end <= stack[-1].end, "slices cross on", track.name, stack[-1].key(), s.key())
                    nests = s.category.startswith("nvtx") or not s.category.startswith("cuda")
                    check(nests, "slices nest on", track.name, stack[-1].key(), s.key())
                stack.append(s)
