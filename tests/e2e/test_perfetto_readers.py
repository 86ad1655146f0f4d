#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The readers that judge our traces notice what is wrong with one: a good trace passes, each fault is found."""

from __future__ import annotations

import copy
import json
import pathlib

import harness
import json_trace_reader
import perfetto_runs
import pftrace_reader
from drawn_trace import Fault


class Micros(float):
    """A number that is written with its fraction as given."""

    def __repr__(self) -> str:
        return f"{float(self):.3f}".rstrip("0") + ("0" if float(self) == int(self) else "")


def event(name: str, phase: str, category: str, time: float, tid: int, args: dict, **more) -> dict:
    made = {"name": name, "ph": phase, "cat": category, "ts": Micros(time)}
    if "dur" in more:
        made["dur"] = Micros(more.pop("dur"))
    return made | {"tid": tid, "pid": 5, "args": args} | more


def good() -> list[dict]:
    """A call, the kernel that it launched, and a range with one inside."""
    made = [event("process_name", "M", "__metadata", 0, 0, {"name": "GPU"}),
            event("process_sort_index", "M", "__metadata", 0, 0, {"sort_index": 0})]
    for tid, name in ((1, "Stream"), (2, "API"), (3, "NVTX")):
        made += [event("thread_name", "M", "__metadata", 0, tid, {"name": name}),
                 event("thread_sort_index", "M", "__metadata", 0, tid, {"sort_index": tid})]
    ends = {"from": "call", "to": "kernel"}
    made += [event("launch", "X", "cuda_api", 1, 2, {"eventId": "call"}, dur=2),
             event("arrow", "s", "dependency", 2.999, 2, ends, id=7),
             event("gemm", "X", "cuda", 4, 1, {"eventId": "kernel"}, dur=5),
             event("arrow", "f", "dependency", 4.001, 1, ends, id=7, bp="e"),
             event("step", "B", "nvtx", 0.5, 3, {}), event("part", "B", "nvtx", 0.75, 3, {}),
             event("part", "E", "nvtx", 2, 3, {}), event("step", "E", "nvtx", 2, 3, {})]
    return made


CALL, OUT, KERNEL, IN, STEP, PART, PART_END, STEP_END = range(8, 16)


def text(events: list[dict]) -> bytes:
    return json.dumps(events, separators=(",", ":")).encode() + b"\n"


class JsonReader(harness.Case):
    def read(self, data: bytes):
        with harness.scratch() as folder:
            path = folder / "t.json"
            path.write_bytes(data)
            return json_trace_reader.read(path)

    def test_a_good_trace(self):
        drawn = self.read(text(good()))
        self.assertEqual(sorted((s.name, s.start, s.duration, s.track.name) for s in drawn.slices),
                         [("gemm", 3500, 5000, "Stream"), ("launch", 500, 2000, "API"), ("part", 250, 1250, "NVTX"),
                          ("step", 0, 1500, "NVTX")])
        self.assertEqual([(a.name, b.name) for a, b in drawn.flows], [("launch", "gemm")])
        self.assertEqual(drawn.track_order(), [("GPU", "Stream"), ("GPU", "API"), ("GPU", "NVTX")])

    def test_each_fault_is_found(self):
        def swap(events, a, b):
            events[a], events[b] = events[b], events[a]

        faults = {
            "a track is not declared": lambda e: e.pop(3),
            "a process has no order": lambda e: e.pop(1),
            "a track is declared late": lambda e: e.append(e.pop(3)),
            "two tracks have one name": lambda e: e[4]["args"].update(name="Stream"),
            "two tracks have one place": lambda e: e[5]["args"].update(sort_index=1),
            "a slice goes back in time": lambda e: e.insert(KERNEL, event("k", "X", "cuda", 9.5, 1, {"eventId": "x"}, dur=1)),
            "a duration is negative": lambda e: e[KERNEL].update(dur=Micros(-1)),
            "slices cross": lambda e: e.insert(IN + 1, event("k", "X", "cuda", 6, 1, {"eventId": "x"}, dur=9)),
            "kernels nest": lambda e: e.insert(IN + 1, event("k", "X", "cuda", 6, 1, {"eventId": "x"}, dur=1)),
            "a range does not end": lambda e: e.pop(),
            "a range ends twice": lambda e: e.append(event("step", "E", "nvtx", 3, 3, {})),
            "a range of no length is a begin and an end": lambda e: [
                e.insert(PART, event("none", phase, "nvtx", 0.6, 3, {})) for phase in "EB"],
            "two slices begin at once": lambda e: e.insert(KERNEL, event("none", "X", "cuda", 4, 1, {"eventId": "x"}, dur=0)),
            "ranges cross": lambda e: swap(e, PART_END, STEP_END),
            "an arrow has no start": lambda e: e.pop(OUT),
            "an arrow has no end": lambda e: e.pop(IN),
            "an arrow starts beside its call": lambda e: e[OUT].update(ts=Micros(3)),
            "an arrow ends beside its kernel": lambda e: e[IN].update(ts=Micros(9)),
            "an arrow goes back": lambda e: e[OUT].update(ts=Micros(4.5)),
            "an arrow names another slice": lambda e: [x["args"].update(to="other") for x in (e[OUT], e[IN])],
            "an arrow's id is not exact": lambda e: [x.update(id=1 << 53) for x in (e[OUT], e[IN])],
            "an arrow is there twice": lambda e: e.insert(OUT, copy.deepcopy(e[OUT])),
            "a field is null": lambda e: e[KERNEL].update(dur=None),
            "a field is missing": lambda e: e[KERNEL].pop("cat"),
            "a time is an integer": lambda e: e[KERNEL].update(ts=4),
            "a time is finer than a nanosecond": lambda e: e[KERNEL].update(ts=4.00025),
            "args are not in order": lambda e: e[KERNEL].update(args={"eventId": "kernel", "a": 1}),
            "a phase is unknown": lambda e: e[KERNEL].update(ph="Z"),
        }
        for name, spoil in faults.items():
            with self.subTest(fault=name):
                events = good()
                spoil(events)
                with self.assertRaises(Fault):
                    self.read(text(events))

    def test_text_that_is_no_trace(self):
        whole = text(good())
        for name, data in {"cut": whole[:-20], "two lines": whole.replace(b",", b",\n", 1), "no end of line": whole[:-1],
                           "an object": b"{}\n", "NaN": whole.replace(b"4.0", b"NaN", 1),
                           "a key twice": whole.replace(b'"pid":5', b'"pid":5,"pid":5', 1),
                           "not UTF-8": whole.replace(b"gemm", b"ge\xff\xff")}.items():
            with self.subTest(text=name), self.assertRaises(ValueError):
                self.read(data)


# ---- a protobuf writer of a few lines


def number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value & (1 << 64) - 1)


def block(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def packet(*parts: bytes) -> bytes:
    return block(1, number(10, 1) + b"".join(parts))


def track(uuid: int, name: str, parent: int | None = None, rank: int = 0) -> bytes:
    own = number(1, uuid) + block(2, name) + (number(5, parent) if parent else b"") + number(12, rank)
    return packet(block(60, own))


def begin(time: int, uuid: int, name: int, *more: bytes) -> bytes:
    return packet(number(8, time), number(13, 2), block(11, number(9, 1) + number(11, uuid) + number(10, name) + number(3, 1) + b"".join(more)))


def end(time: int, uuid: int) -> bytes:
    return packet(number(8, time), number(13, 2), block(11, number(9, 2) + number(11, uuid)))


def interned(table: int, iid: int, value: str) -> bytes:
    return block(table, number(1, iid) + block(2, value))


def proto(**change: bytes) -> bytes:
    """A call and the kernel that it launched; parts can be replaced."""
    clock = block(6, block(1, number(1, 6) + number(2, 0)) + block(1, number(1, 64) + number(2, 0) + number(3, 1)))
    parts = {
        "head": packet(number(13, 3), number(87, 1), clock, block(59, number(58, 64)),
                       block(12, interned(1, 1, "cuda") + interned(2, 1, "launch") + interned(2, 2, "gemm") + interned(3, 1, "bytes"))),
        "tracks": track(10, "GPU") + track(11, "Stream", 10, 1) + track(12, "API", 10, 2),
        "call": begin(100, 12, 1, fixed(47, 7)) + end(50, 12),
        "kernel": begin(30, 11, 2, fixed(48, 7), block(4, number(1, 1) + number(4, -5))) + end(20, 11),
    }
    return b"".join((parts | change).values())


class ProtoReader(harness.Case):
    def read(self, data: bytes):
        with harness.scratch() as folder:
            path = folder / "t.pftrace"
            path.write_bytes(data)
            return pftrace_reader.read(path)

    def test_a_good_trace(self):
        drawn = self.read(proto())
        self.assertEqual([s.key() for s in drawn.slices],
                         [("cuda", "launch", 0, 50, "GPU", "API"), ("cuda", "gemm", 80, 20, "GPU", "Stream")])
        self.assertEqual(drawn.slices[1].args, {"bytes": -5})
        self.assertEqual([(a.name, b.name) for a, b in drawn.flows], [("launch", "gemm")])
        self.assertEqual(drawn.track_order(), [("GPU", "Stream"), ("GPU", "API")])

    def test_each_fault_is_found(self):
        faults = {
            "a slice does not end": {"kernel": begin(30, 11, 2, fixed(48, 7))},
            "a slice ends twice": {"kernel": begin(30, 11, 2, fixed(48, 7)) + end(20, 11) + end(1, 11)},
            "an arrow has no start": {"call": begin(100, 12, 1) + end(50, 12)},
            "an arrow has no end": {"kernel": begin(30, 11, 2) + end(20, 11)},
            "an arrow starts twice": {"call": begin(100, 12, 1, fixed(47, 7), fixed(47, 7)) + end(50, 12)},
            "an arrow goes back": {"call": begin(100, 12, 1, fixed(48, 7)) + end(50, 12), "kernel": begin(30, 11, 2, fixed(47, 7)) + end(20, 11)},
            "a name is not interned": {"call": begin(100, 12, 9, fixed(47, 7)) + end(50, 12)},
            "a track is not described": {"tracks": track(10, "GPU") + track(12, "API", 10)},
            "a track is described twice": {"tracks": track(10, "GPU") + track(11, "Stream", 10) + track(12, "API", 10) * 2},
            "a parent comes later": {"tracks": track(11, "Stream", 10) + track(10, "GPU") + track(12, "API", 10)},
            "a sequence was not begun": {"head": b""},
            "a field is unknown": {"kernel": proto()[len(proto(kernel=b"")):] + packet(number(99, 1))},
            "a value on a slice's track": {"kernel": proto()[len(proto(kernel=b"")):] +
                                           packet(number(8, 1), number(13, 2), block(11, number(9, 4) + number(11, 11) + number(30, 1)))},
        }
        for name, change in faults.items():
            with self.subTest(fault=name), self.assertRaises(Fault):
                self.read(proto(**change))

    def test_a_file_that_is_cut(self):
        """Wherever: between the packets of the last slice too, as it then has no end."""
        whole = proto()
        start = len(proto(call=b"", kernel=b""))
        for size in (*range(1, start // 2, 7), *range(start + 1, len(whole))):
            with self.subTest(size=size), self.assertRaises(Fault):
                self.read(whole[:size])


class Importer(harness.Case):
    def load(self, name: str, data: bytes, *sql: str):
        with harness.scratch() as folder:
            path = pathlib.Path(folder) / name
            path.write_bytes(data)
            return perfetto_runs.importer().load(path, *sql)

    def test_it_reads_the_good_traces_alike(self):
        for name, data, tracks in (("t.json", text(good()), perfetto_runs.JSON_TRACKS), ("t.pftrace", proto(), perfetto_runs.PROTO_TRACKS)):
            loaded = self.load(name, data, perfetto_runs.SLICES, perfetto_runs.ARROWS, tracks)
            self.assertEqual((loaded.error, loaded.complaints), (None, []))
            self.assertEqual(loaded.counts["flows"], 1)
            self.assertEqual([r[0] for r in loaded.rows[1]], ["launch"])
            expected = {"t.json": {("GPU", "Stream"): (1, 5000), ("GPU", "API"): (1, 2000), ("GPU", "NVTX"): (2, 2750)},
                        "t.pftrace": {("GPU", "Stream"): (1, 20), ("GPU", "API"): (1, 50)}}[name]
            self.assertEqual(perfetto_runs.by_track(loaded.rows[2]), expected)

    def test_it_complains(self):
        events = good()
        events[KERNEL]["dur"] = None
        self.assertTrue(self.load("t.json", text(events)).complaints)
        backwards = proto(call=begin(100, 12, 1, fixed(47, 7)), kernel=begin(30, 11, 9, fixed(48, 7)) + end(20, 11))
        self.assertEqual(self.load("t.pftrace", backwards).counts["unfinished"], 1)
        self.assertTrue(self.load("t.txt", b"this is no trace at all\n" * 10).error)

    def test_values_of_all_kinds(self):
        loaded = self.load("t.json", text(good()), "SELECT 1.5, NULL, -1, 9007199254740993, x'00ff', '', 'a'")
        self.assertEqual(loaded.rows, [[[1.5, None, -1, 9007199254740993, "00ff", "", "a"]]])

    def test_a_wrong_statement(self):
        with self.assertRaisesRegex(ValueError, "syntax error"):
            self.load("t.json", text(good()), "SELECT FROM slice WHERE")


if __name__ == "__main__":
    harness.unittest.main(verbosity=1)
