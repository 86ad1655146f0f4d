#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict reader of our .pftrace files: what Perfetto would show, or the rule that the file breaks.

    pftrace_reader.py TRACE.pftrace[.gz]

A trace is a sequence of TracePacket messages (protos/perfetto/trace/trace_packet.proto of Perfetto).  Only the fields
that a track event trace needs are known here; any other is a fault.
"""

from __future__ import annotations

import gzip
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator

from drawn_trace import Drawn, Fault, Slice, Track, check

CLEARED, NEEDED = 1, 2  # of sequence_flags
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
PACKET = {6: "clocks", 8: "timestamp", 10: "sequence", 11: "event", 12: "interned", 13: "flags", 41: "previous_dropped",
          58: "clock", 59: "defaults", 60: "descriptor", 87: "first"}
EVENT = {3: "categories", 4: "args", 9: "type", 10: "name", 11: "track", 30: "value", 44: "real", 47: "out", 48: "in"}
DESCRIPTOR = {1: "uuid", 2: "name", 3: "process", 5: "parent", 8: "counter", 11: "ordering", 12: "rank", 14: "description",
              15: "merge", 16: "merge_key"}
INTERNED = {1: "categories", 2: "names", 3: "keys", 29: "texts"}


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        check(at < len(data) and shift < 70, "a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << 64) - 1, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, object]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire, 0)
            if wire == 2:
                size, at = varint(data, at)
            check(wire in (1, 2, 5) and at + size <= len(data), "a message is cut off")
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def message(data: bytes, known: dict[int, str]) -> dict[str, list]:
    found: dict[str, list] = defaultdict(list)
    for number, value in fields(data):
        check(number in known, "unknown field", number, "among", sorted(known.values()))
        found[known[number]].append(value)
    return found


def one(values: list, default: object = None) -> object:
    check(len(values) <= 1, "a field occurs twice")
    return values[0] if values else default


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def packed(values: list, fixed: bool) -> list[int]:
    """A repeated number: each on its own, or many in one block."""
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
        elif fixed:
            found += [v[0] for v in struct.iter_unpack("<Q", value)]
        else:
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                found.append(number)
    return found


class _Sequence:
    """What packets of one sequence share."""

    def __init__(self):
        self.texts: dict[str, dict[int, str]] = {name: {} for name in INTERNED.values()}
        self.clock = self.track = None
        self.now: dict[int, int] = {}
        self.unit: dict[int, int] = {}
        self.incremental: set[int] = set()

    def intern(self, data: bytes) -> None:
        for table, entries in message(data, INTERNED).items():
            for entry in entries:
                pair = dict(fields(entry))
                check(set(pair) == {1, 2} and pair[1] not in self.texts[table], "an interned text:", pair)
                self.texts[table][pair[1]] = pair[2].decode("utf-8")

    def text(self, table: str, number: int) -> str:
        check(number in self.texts[table], "a text that is not interned:", table, number)
        return self.texts[table][number]

    def set_clocks(self, data: bytes) -> None:
        for number, value in fields(data):
            if number == 1:
                clock = dict(fields(value))
                self.now[clock[1]] = clock.get(2, 0)
                self.unit[clock[1]] = clock.get(4) or 1
                if clock.get(3):
                    self.incremental.add(clock[1])

    def time(self, packet: dict[str, list]) -> int:
        clock, time = one(packet["clock"], self.clock), one(packet["timestamp"])
        check(time is not None, "an event without a time")
        if clock not in self.incremental:
            return time
        self.now[clock] += time * self.unit[clock]
        return self.now[clock]


class _Reader:
    def __init__(self, data: bytes):
        self.drawn = Drawn()
        self.sequences: dict[int, _Sequence] = {}
        self.parents: dict[int, tuple[int | None, str, int]] = {}  # uuid -> parent, name, rank
        self.counters: set[int] = set()
        self.tracks: dict[int, Track] = {}
        events = []
        for number, packet in fields(data):
            check(number == 1, "no packet:", number)
            self.drawn.events += 1
            self.packet(message(packet, PACKET), events)
        self.out: dict[int, Slice] = {}
        self.into: list[tuple[int, Slice]] = []
        self.open: dict[int, list[Slice]] = defaultdict(list)
        for time, event, sequence in sorted(events, key=lambda e: e[0]):
            self.draw(time, event, sequence)
        check(not any(self.open.values()), "a slice without an end")
        self.bind()

    def packet(self, packet: dict[str, list], events: list) -> None:
        number = one(packet["sequence"])
        check(number, "a packet of no sequence")
        if one(packet["flags"], 0) & CLEARED:
            self.sequences[number] = _Sequence()
        for data in packet["descriptor"]:  # needs nothing of its sequence
            self.describe(data)
        if set(packet) <= {"sequence", "flags", "descriptor", "first"}:
            return
        check(number in self.sequences, "a sequence that was not begun:", number)
        sequence = self.sequences[number]
        for data in packet["clocks"]:
            sequence.set_clocks(data)
        for data in packet["defaults"]:
            defaults = dict(fields(data))
            sequence.clock = defaults.get(58, sequence.clock)
            sequence.track = dict(fields(defaults.get(11, b""))).get(11, sequence.track)
        for data in packet["interned"]:
            sequence.intern(data)
        for data in packet["event"]:
            check(one(packet["flags"], 0) & (CLEARED | NEEDED), "an event that does not say it needs what was interned")
            events.append((sequence.time(packet), message(data, EVENT), sequence))

    def describe(self, data: bytes) -> None:
        descriptor = message(data, DESCRIPTOR)
        uuid, parent = one(descriptor["uuid"]), one(descriptor["parent"])
        check(uuid and uuid not in self.parents, "a track described twice, or without a number:", uuid)
        check(parent is None or parent in self.parents, "a parent that comes later:", uuid)
        name = one(descriptor["name"])
        if name is None:  # a process
            name = dict(fields(one(descriptor["process"], b""))).get(6)
        check(name, "a track without a name:", uuid)
        rank = one(descriptor["rank"], 0)
        self.parents[uuid] = (parent, name.decode("utf-8"), signed(rank))
        if descriptor["counter"]:
            self.counters.add(uuid)

    def track(self, uuid: int) -> Track:
        if uuid not in self.tracks:
            check(uuid in self.parents, "a track that is not described:", uuid)
            path, at, seen = [], uuid, self.parents
            while at is not None:
                path.append(at)
                at = seen[at][0]
            path.reverse()
            order = tuple((seen[u][2], u) for u in path)
            self.tracks[uuid] = Track(seen[path[0]][1], seen[uuid][1], order)
            self.drawn.tracks.append(self.tracks[uuid])
        return self.tracks[uuid]

    def draw(self, time: int, event: dict[str, list], sequence: _Sequence) -> None:
        uuid, kind = one(event["track"], sequence.track), one(event["type"])
        track = self.track(uuid)
        check((kind == COUNTER) == (uuid in self.counters), "a counter's value elsewhere, or a slice on its track")
        if kind == COUNTER:
            real = one(event["real"])
            value = signed(one(event["value"])) if real is None else struct.unpack("<d", real)[0]
            self.drawn.samples.append((track, time, float(value)))
        elif kind == END:
            check(self.open[uuid], "an end without a begin on", track.name)
            begun = self.open[uuid].pop()
            begun.duration = time - begun.start
        else:
            check(kind in (BEGIN, INSTANT), "unknown type of event:", kind)
            self.begin(time, track, uuid, event, sequence)

    def begin(self, time: int, track: Track, uuid: int, event: dict[str, list], sequence: _Sequence) -> None:
        name = one(event["name"])
        check(name is not None, "a slice without a name")
        categories = [sequence.text("categories", c) for c in packed(event["categories"], False)]
        check(len(categories) == 1, "categories:", categories)
        args = {}
        for data in event["args"]:
            key, value = self.annotation(data, sequence)
            check(key and key not in args, "args:", key)
            args[key] = value
        made = Slice(track, categories[0], sequence.text("names", name), time, 0, args)
        if one(event["type"]) == INSTANT:
            self.drawn.instants.append(made)
            return
        self.drawn.slices.append(made)
        self.open[uuid].append(made)
        for flow in packed(event["out"], True):
            check(flow not in self.out, "two arrows begin with one id:", flow)
            self.out[flow] = made
        self.into += [(flow, made) for flow in packed(event["in"], True)]

    def annotation(self, data: bytes, sequence: _Sequence) -> tuple[str | None, object]:
        key = value = None
        for number, field in fields(data):
            if number == 1:
                key = sequence.text("keys", field)
            elif number == 2:
                value = bool(field)
            elif number == 3:
                value = field
            elif number == 4:
                value = signed(field)
            elif number == 5:
                value = struct.unpack("<d", field)[0]
            elif number == 6:
                value = field.decode("utf-8")
            elif number == 17:
                value = sequence.text("texts", field)
            elif number == 11:
                value = dict([*(value or {}).items(), self.annotation(field, sequence)])
            elif number == 12:
                value = [*(value or []), self.annotation(field, sequence)[1]]
            else:
                raise Fault(f"unknown kind of argument {number}")
        return key, value

    def bind(self) -> None:
        for flow, target in self.into:
            check(flow in self.out, "an arrow without a start:", flow)
            check(self.out[flow].start <= target.start, "an arrow that goes back:", self.out[flow].key(), target.key())
            self.drawn.flows.append((self.out[flow], target))
        check(len({f for f, _ in self.into}) == len(self.out), "an arrow without an end")


def read(path: object) -> Drawn:
    """What the file shows, times from the first event on; Fault when it breaks a rule."""
    with open(path, "rb") as file:
        data = file.read()
    drawn = _Reader(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).drawn
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
    print(f"{drawn.events} packets: {len(drawn.slices)} slices, {len(drawn.flows)} arrows, {len(drawn.instants)} instants, "
          f"{len(drawn.samples)} samples on {len(drawn.tracks)} tracks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
