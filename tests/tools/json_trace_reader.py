#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict reader of our JSON traces: what Perfetto would show, or the rule that the file breaks.

    json_trace_reader.py TRACE.json[.gz]

Stricter than Perfetto, which repairs or drops silently: every event has the fields of its kind and no others; tracks
are declared before anything is drawn; on a track starts do not go back; every B has its E, of the same name; both
ends of an arrow lie in the slice that they name.  What Perfetto does is done here too: at equal times it takes E before
all else, then the longest slices, then the rest as the file has it; and it binds an end of an arrow to the slice that
began last on its track.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict

from drawn_trace import Drawn, Fault, Slice, Track, check

FIELDS = {"M": "name ph cat ts tid pid args", "X": "name ph cat ts dur tid pid args", "B": "name ph cat ts tid pid args",
          "E": "name ph cat ts tid pid args", "i": "name ph cat ts tid pid args s", "C": "name ph cat ts tid pid args",
          "s": "name ph cat ts tid pid args id", "f": "name ph cat ts tid pid args id bp"}
FIELDS = {phase: tuple(names.split()) for phase, names in FIELDS.items()}
MICROSECONDS = re.compile(r"(-?)(\d+)\.(\d{1,3})")
EXACT = 1 << 53  # integers up to here are the same in every reader of JSON


class Real(float):
    """A number with a fraction, and the text that it was."""

    def __new__(cls, text: str):
        made = super().__new__(cls, text)
        made.text = text
        return made


def nanoseconds(value: object) -> int:
    match = MICROSECONDS.fullmatch(value.text) if isinstance(value, Real) else None
    check(match, "not a time in microseconds:", value)
    sign, whole, fraction = match.groups()
    check(len(fraction) == 1 or not fraction.endswith("0"), "not the shortest form:", value.text)
    ns = int(whole) * 1000 + int(fraction.ljust(3, "0"))
    return -ns if sign else ns


def _object(pairs: list[tuple[str, object]]) -> dict:
    made = dict(pairs)
    check(len(made) == len(pairs), "a key occurs twice:", pairs)
    return made


def _no_constant(word: str) -> None:
    raise Fault(f"{word} is no JSON")


def read_text(path: object) -> bytes:
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def parse(data: bytes) -> list[dict]:
    check(data.startswith(b"[") and data.endswith(b"]\n") and data.count(b"\n") == 1, "not one array on one line")
    events = json.loads(data.decode("utf-8"), parse_float=Real, parse_constant=_no_constant, object_pairs_hook=_object)
    for event in events:
        phase = event.get("ph")
        check(phase in FIELDS, "unknown phase:", event)
        check(tuple(event) == FIELDS[phase], "fields:", event)
        check(list(event["args"]) == sorted(event["args"], key=str.encode), "order of args:", event)
        check(all(isinstance(event[k], str) for k in ("name", "cat")), "text:", event)
        check(all(isinstance(event[k], int) and 0 <= event[k] < 1 << 32 for k in ("pid", "tid")), "ids:", event)
    return events


def turn(event: dict) -> tuple[int, float]:
    """Sorts as Perfetto does (TraceSorter); what is equal stays in the order of the file."""
    phase = event["ph"]
    return nanoseconds(event["ts"]), float("-inf") if phase == "E" else -nanoseconds(event["dur"]) if phase == "X" else 0


class _Reader:
    def __init__(self, events: list[dict]):
        self.drawn = Drawn(events=len(events))
        self.processes: dict[int, dict] = defaultdict(dict)
        self.threads: dict[tuple[int, int], dict] = defaultdict(dict)
        first = next((i for i, e in enumerate(events) if e["ph"] != "M"), len(events))
        check(all(e["ph"] != "M" for e in events[first:]), "a track is declared after events")
        for event in events[:first]:
            self.declare(event)
        self.tracks = self.make_tracks()
        self.open: dict[Track, list[Slice]] = defaultdict(list)
        self.last: dict[Track, Slice] = {}  # the slice that began last
        self.starts: dict[tuple[int, int, int], dict] = {}
        self.file_order(events[first:])
        for event in sorted(events[first:], key=turn):
            self.draw(event)
        check(not any(self.open.values()), "a range without an end")
        check(not self.starts, "an arrow without an end")

    def declare(self, event: dict) -> None:
        check(event["cat"] == "__metadata" and nanoseconds(event["ts"]) == 0, event)
        owner, _, what = event["name"].partition("_")
        check(owner in ("process", "thread") and what in ("name", "sort_index"), event)
        value = event["args"].get("name" if what == "name" else "sort_index")
        check(isinstance(value, str) and value if what == "name" else isinstance(value, int), event)
        table = self.processes[event["pid"]] if owner == "process" else self.threads[event["pid"], event["tid"]]
        check(what not in table, "declared twice:", event)
        table[what] = value

    def make_tracks(self) -> dict[tuple[int, int], Track]:
        tracks = {}
        for (pid, tid), own in self.threads.items():
            process = self.processes.get(pid, {})
            for declared in (own, process):
                check(set(declared) == {"name", "sort_index"}, "half declared:", pid, tid, declared)
            order = (process["sort_index"], pid, own["sort_index"], tid)
            tracks[pid, tid] = Track(process["name"], own["name"], order)
        orders = [t.order[:3] for t in tracks.values()]
        check(len(set(orders)) == len(orders), "two tracks at the same place")
        names = [(pid, t.name) for (pid, _), t in tracks.items()]
        check(len(set(names)) == len(names), "two tracks of one name")
        check(len({tid for _, tid in tracks}) == len(tracks), "two tracks share a tid")  # Perfetto: one thread
        self.drawn.tracks = list(tracks.values())
        return tracks

    def track(self, event: dict) -> Track:
        found = self.tracks.get((event["pid"], event["tid"]))
        check(found, "a track that is not declared:", event)
        return found

    def file_order(self, events: list[dict]) -> None:
        last: dict[Track, int] = {}
        for event in events:
            if event["ph"] in "XBEiC":
                track, time = self.track(event), nanoseconds(event["ts"])
                check(time >= last.get(track, 0), "goes back on its track:", event)
                last[track] = time

    def draw(self, event: dict) -> None:
        track, time, phase = self.track(event), nanoseconds(event["ts"]), event["ph"]
        if phase == "C":
            self.drawn.samples += [(track, time, float(v)) for v in event["args"].values()]
        elif phase in "sf":
            self.arrow(event, track, time)
        elif phase == "E":
            check(self.open[track], "an end without a begin:", event)
            begun = self.open[track].pop()
            check((begun.name, begun.category) == (event["name"], event["cat"]), "crossing ranges:", event)
            begun.duration = time - begun.start
        else:
            self.begin(event, track, time)

    def begin(self, event: dict, track: Track, time: int) -> None:
        made = Slice(track, event["cat"], event["name"], time, 0, event["args"])
        if event["ph"] == "i":
            check(event["s"] == "t", event)
            self.drawn.instants.append(made)
            return
        if event["ph"] == "X":
            made.duration = nanoseconds(event["dur"])
            check(made.duration >= 0, "negative duration:", event)
        else:
            self.open[track].append(made)
        self.last[track] = made
        self.drawn.slices.append(made)

    def arrow(self, event: dict, track: Track, time: int) -> None:
        bound, key, out = self.last.get(track), (event["id"], event["cat"], event["name"]), event["ph"] == "s"
        check(isinstance(event["id"], int) and 0 <= event["id"] < EXACT, "flow id:", event)
        check(bound and bound.start <= time, "an arrow to nothing:", event)
        inside = time < bound.end if bound.duration else time == bound.start
        check(inside, "an arrow beside its slice:", event, bound.key())
        told = event["args"].get("from" if out else "to")
        check(told == bound.args.get("eventId"), "an arrow to another slice:", event, bound.args)
        if out:
            check(key not in self.starts, "two arrows of one id:", event)
            self.starts[key] = {"slice": bound, "time": time, "args": event["args"]}
            return
        start = self.starts.pop(key, None)
        check(start and event["bp"] == "e", "an arrow without a start:", event)
        check(start["args"] == event["args"] and start["time"] <= time, "an arrow that goes back:", event)
        self.drawn.flows.append((start["slice"], bound))


def read(path: object) -> Drawn:
    """What the file shows, times from the first event on; Fault when it breaks a rule."""
    drawn = _Reader(parse(read_text(path))).drawn
    drawn.check_lanes()
    drawn.start_at_zero()
    return drawn


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    try:
        drawn = read(sys.argv[1])
    except Fault as fault:
        print(f"fault: {fault}")
        return 1
    print(f"{drawn.events} events: {len(drawn.slices)} slices, {len(drawn.flows)} arrows, {len(drawn.instants)} instants, "
          f"{len(drawn.samples)} samples on {len(drawn.tracks)} tracks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
