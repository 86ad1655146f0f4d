# SPDX-License-Identifier: MIT
"""What a Perfetto trace of a capture has to show, worked out slowly and on its own: the oracle of test_perfetto.py.

Reads the SQLite capture row by row and knows nothing of the program.  Left open is what the rules leave open: numbers
of tracks, lanes, and the order of events.  Everything else has to come out the same, every slice and every arrow.
"""

from __future__ import annotations

import bisect
import pathlib
import re
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field

PID_BITS = 24
MASK = (1 << PID_BITS) - 1
MARKS, PUSH_POP, START_END = (34, 65), (59, 70), (60, 71)  # the second of each comes from a text log
SYNC = re.compile(r"cuda(Device|Stream)Synchronize(_.*)?", re.S)
DIRECTIONS = {0: "Unknown", 1: "H2D", 2: "D2H", 3: "H2A", 4: "A2H", 5: "A2A", 6: "A2D", 7: "D2A", 8: "D2D", 9: "H2H", 10: "P2P",
              11: "Unified H2D", 12: "Unified D2H", 13: "Unified D2D"}
COUNTED = {1: "h2d", 3: "h2d", 11: "h2d", 2: "d2h", 4: "d2h", 12: "d2h", 5: "d2d", 6: "d2d", 7: "d2d", 8: "d2d", 13: "d2d"}
PCIE, PEER, WITHIN = "PCIe Usage", "NVLink/P2P", "GPU Copy D2D"
ON_PCIE = (1, 2, 3, 4, 11, 12)


@dataclass
class Row:
    """One thing that happened."""

    start: int
    end: int
    pid: int = 0
    tid: int = 0
    device: int = -1
    context: int = 0
    stream: int = 0
    correlation: int | None = None
    name: str = ""
    kind: int = 0
    open: bool = False
    devices: tuple[int, ...] = ()  # of a copy: where it is drawn
    routed: tuple[int, int] = (-1, -1)
    call: Row | None = None  # that launched it
    work: list[Row] = field(default_factory=list)  # of a call: what it launched

    @property
    def duration(self) -> int:
        return self.end - self.start


def _tables(path: pathlib.Path) -> dict[str, list[dict]]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    wanted = {"StringIds": "strings", "NVTX_EVENTS": "nvtx"}
    wanted |= {f"CUPTI_ACTIVITY_KIND_{n}": n.lower() for n in ("KERNEL", "MEMCPY", "RUNTIME")}
    found: dict[str, list[dict]] = {name: [] for name in wanted.values()}
    versions: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name in names:
        base, _, version = name.partition("_V")
        versions[base].append((int(version or 0) if (version or "0").isdigit() else -1, name))
    for base, key in wanted.items():
        if versions[base]:  # the highest counts
            found[key] = [dict(r) for r in db.execute(f'SELECT * FROM "{max(versions[base])[1]}"')]
    db.close()
    return found


UNKNOWN = -1  # process of work in a capture that does not tell


def _words(row: dict, column: str) -> tuple[int, int]:
    if row.get(column) is None:
        return UNKNOWN, 0
    word = (row.get(column) or 0) & (1 << 64) - 1
    return word >> PID_BITS & MASK, word & MASK


class Expected:
    """The picture: `slices`, `instants` and `flows` in the form of drawn_trace.Drawn's counts."""

    def __init__(self, path: pathlib.Path, scope: str = "process", api: str = "linked"):
        tables = _tables(pathlib.Path(path))
        self.scope, self.api = scope, api
        self.strings: dict[int, str] = {}
        for row in tables["strings"]:
            self.strings.setdefault(row["id"], row["value"] or "")
        self.kernels = self.read_kernels(tables["kernel"])
        self.copies = self.read_copies(tables["memcpy"])
        self.calls = self.read_calls(tables["runtime"])
        self.read_nvtx(tables["nvtx"])
        self.link()
        self.choose_calls()
        self.place()
        self.slices: Counter = Counter()
        self.instants: Counter = Counter()
        self.flows: Counter = Counter()
        self.tracks: set[tuple[str, str]] = set()
        self.usage_flows = 0
        self.project()
        self.draw()

    # ---- what the capture holds

    def text(self, number: int | None, prefix: str) -> str:
        return self.strings.get(number, f"{prefix}{number}") if number is not None else prefix

    def gpu(self, row: dict, **more) -> Row:
        start = row["start"]
        return Row(start, max(start, row["end"]), _words(row, "globalPid")[0], device=row.get("deviceId", -1),
                   context=row.get("contextId") or 0, stream=row.get("streamId") or 0,
                   correlation=row.get("correlationId"), **more)

    def timed(self, rows: list[dict]) -> list[dict]:
        kept = [r for r in rows if isinstance(r.get("start"), int) and isinstance(r.get("end"), int)]
        return sorted(kept, key=lambda r: (r["start"], r["end"]))

    def read_kernels(self, rows: list[dict]) -> list[Row]:
        return [self.gpu(r, name=self.kernel_name(r)) for r in self.timed(rows)]

    def kernel_name(self, row: dict) -> str:
        for column in ("shortName", "demangledName"):
            if row.get(column) in self.strings:
                return self.strings[row[column]]
        return self.text(row.get("shortName"), "kernel_")

    def read_copies(self, rows: list[dict]) -> list[Row]:
        found = []
        for r in self.timed(rows):
            kind = r.get("copyKind") or 0
            name = "CUDA Memcpy " + DIRECTIONS.get(kind, "Unknown")
            routed = tuple(-1 if r.get(c) is None else r[c] for c in ("srcDeviceId", "dstDeviceId"))
            found.append(self.gpu(r, name=name, kind=kind, routed=routed))
        return found

    def read_calls(self, rows: list[dict]) -> list[Row]:
        found = []
        for r in self.timed(rows):
            pid, tid = _words(r, "globalTid")
            found.append(Row(r["start"], max(r["start"], r["end"]), pid, tid, correlation=r.get("correlationId"),
                             name=self.text(r.get("nameId"), "cuda_api_")))
        return found

    def read_nvtx(self, rows: list[dict]) -> None:
        self.ranges: list[Row] = []
        self.marks: list[Row] = []
        for r in rows:
            kind, start, end = r.get("eventType", PUSH_POP[0]), r["start"], r["end"]
            if kind not in MARKS + PUSH_POP + START_END or start is None:
                continue
            pid, tid = _words(r, "globalTid")
            name = r.get("text")
            if name is None:
                name = self.strings.get(r.get("textId"), "NVTX")
            made = Row(start, start if end is None else max(start, end), pid, tid, name=name, kind=kind,
                       open=end is None and kind not in MARKS)
            (self.marks if kind in MARKS else self.ranges).append(made)

    # ---- which call launched what

    def link(self) -> None:
        by_key = defaultdict(list)
        for call in self.calls:
            by_key[call.pid, call.correlation].append(call)
        for work in (*self.kernels, *self.copies):
            if work.correlation is None:
                work.pid = 0 if work.pid == UNKNOWN else work.pid
                continue
            if work.pid == UNKNOWN:
                having = {c.pid for c in self.calls if c.correlation == work.correlation}
                work.pid = having.pop() if len(having) == 1 else 0
            if found := by_key[work.pid, work.correlation]:
                work.call = min(found, key=lambda c: (c.start > work.start, abs(c.start - work.start)))
                work.call.work.append(work)

    def choose_calls(self) -> None:
        nothing = not self.kernels and not self.copies
        self.sync = [c for c in self.calls if SYNC.fullmatch(c.name)]
        drawn = [c for c in self.calls if nothing or self.api == "all" or c.work or SYNC.fullmatch(c.name)]
        self.visible = drawn

    # ---- where it is drawn

    def candidates(self, copy: Row) -> set[int]:
        source, target = copy.routed
        found = {copy.device}
        if copy.kind in (1, 11):
            found.add(target)
        elif copy.kind in (2, 12):
            found.add(source)
        elif copy.kind in (3, 4, 5, 6, 7, 8, 10, 13):
            found |= {source, target}
        return {d for d in found if d is not None and d >= 0}

    def place(self) -> None:
        of_process = defaultdict(set)
        for kernel in self.kernels:
            of_process[kernel.pid] |= {kernel.device} if kernel.device >= 0 else set()
        for copy in self.copies:
            of_process[copy.pid] |= self.candidates(copy)
        every = set().union(*of_process.values()) if of_process else set()
        for copy in self.copies:
            copy.devices = tuple(sorted(self.candidates(copy) or of_process[copy.pid] or every or {-1}))
        for row in (*self.visible, *self.ranges, *self.marks):
            if not of_process[row.pid]:
                of_process[row.pid] = set(every or {-1})
        self.of_process = of_process

    def primary(self, copy: Row) -> int:
        return copy.device if copy.device in copy.devices else min(copy.devices)

    def devices_of_call(self, call: Row) -> set[int]:
        found = set()
        for work in call.work:
            found |= set(work.devices) if work.devices else {work.device}
        return found or self.of_process[call.pid]

    # ---- NVTX over the kernels

    def project(self) -> None:
        """The first start and the last end of the kernels launched inside each range, by device."""
        self.last = max((r.end for r in (*self.kernels, *self.copies, *self.visible, *self.ranges, *self.marks)), default=0)
        for r in self.ranges:
            if r.open:
                r.end = max(self.last, r.start)
        kernels = defaultdict(list)
        for kernel in self.kernels:
            if kernel.correlation is not None:
                kernels[kernel.pid, kernel.correlation].append(kernel)
        launches = defaultdict(list)  # process -> (start of the call, its thread, its kernels), by start
        for call in self.calls:
            if found := kernels.get((call.pid, call.correlation)):
                launches[call.pid].append((call.start, call.tid, found))
        self.projected: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)  # number of a range -> device -> span
        self.regions: dict[int, set[str]] = defaultdict(set)  # id of a kernel -> names around its launch
        for number, r in enumerate(self.ranges):
            of_process = launches[r.pid]
            first = bisect.bisect_right(of_process, r.start, key=lambda launch: launch[0])
            last = bisect.bisect_left(of_process, r.end, key=lambda launch: launch[0])
            for _, tid, found in of_process[first:last]:
                if self.scope == "thread" and tid != r.tid:
                    continue
                for kernel in found:
                    self.regions[id(kernel)].add(r.name)
                    begin, end = self.projected[number].get(kernel.device, (kernel.start, kernel.end))
                    self.projected[number][kernel.device] = min(begin, kernel.start), max(end, kernel.end)

    # ---- slices and arrows

    def key(self, category: str, row: Row, pid: int, device: int, track: str, span: tuple[int, int] | None = None) -> tuple:
        start, end = span or (row.start, row.end)
        process = f"CUDA Device {device} / Source PID {pid}"
        self.tracks.add((process, track))
        return category, row.name, start - self.origin, end - start, process, track

    def slice(self, *args, **more) -> tuple:
        made = self.key(*args, **more)
        self.slices[made] += 1
        return made

    def call_key(self, call: Row, device: int) -> tuple:
        return self.key("cuda_api", call, call.pid, device, f"CUDA API {call.tid}")

    def draw(self) -> None:
        everything = (*self.kernels, *self.copies, *self.visible, *self.ranges, *self.marks)
        self.origin = min((r.start for r in everything), default=0)
        for call in self.visible:
            for device in self.devices_of_call(call):
                self.slices[self.call_key(call, device)] += 1
        for kernel in self.kernels:
            self.draw_kernel(kernel)
        for copy in self.copies:
            self.draw_copy(copy)
        for number, r in enumerate(self.ranges):
            self.draw_range(number, r)
        for mark in self.marks:
            for device in self.of_process[mark.pid]:
                self.instants[self.key("nvtx", mark, mark.pid, device, f"NVTX Thread {mark.tid}")] += 1

    def arrow(self, work: Row, device: int, target: tuple) -> bool:
        """From the call under that device, unless the call starts later: an arrow back in time would lie."""
        if work.call is None or work.call.start > work.start:
            return False
        self.flows[self.call_key(work.call, device), target] += 1
        return True

    def draw_kernel(self, kernel: Row) -> None:
        where = (kernel.pid, kernel.device)
        stream = f"CUDA HW Context {kernel.context} / Stream {kernel.stream}"
        self.arrow(kernel, kernel.device, self.slice("cuda", kernel, *where, stream))
        self.arrow(kernel, kernel.device, self.slice("cuda_kernel_usage", kernel, *where, "CUDA Core Timeline"))

    def draw_copy(self, copy: Row) -> None:
        primary = self.primary(copy)
        stream = f"CUDA HW Context {copy.context} / Stream {copy.stream}"
        self.arrow(copy, primary, self.slice("cuda_memcpy", copy, copy.pid, primary, stream))
        if copy.kind in ON_PCIE:
            usage = PCIE
        elif copy.kind == 10:
            usage = PEER
        elif copy.kind in (5, 6, 7, 8, 13):
            usage = WITHIN
        else:
            return
        for device in copy.devices:
            target = self.slice("cuda_copy_usage", copy, copy.pid, device, usage)
            if usage == PCIE:
                self.usage_flows += self.arrow(copy, device, target)

    def draw_range(self, number: int, r: Row) -> None:
        projected = self.projected.get(number, {})
        track, over_kernels = ("NVTX Thread", "NVTX Kernel") if r.kind in PUSH_POP else ("NVTX Range", "NVTX Range Kernel")
        for device in projected or self.of_process[r.pid]:
            self.slice("nvtx", r, r.pid, device, f"{track} {r.tid}")
        for device, span in projected.items():
            self.slice("nvtx-kernel", r, r.pid, device, f"{over_kernels} {r.tid}", span=span)

    # ---- the summary

    def summary(self) -> dict[str, int]:
        """The counts of the summary line that do not depend on how the trace is written."""
        by_count = Counter(COUNTED.get(c.kind, "other") for c in self.copies)
        push_pop = [n for n, r in enumerate(self.ranges) if r.kind == PUSH_POP[0] and not r.open]
        linked = sum(k.call is not None for k in self.kernels)
        return {"kernels": len(self.kernels), "cuda_api": len(self.visible), "cuda_sync_api": len(self.sync),
                "launch_dependencies": linked, "core_launch_dependencies": linked, "memcpy": len(self.copies),
                "h2d": by_count["h2d"], "d2h": by_count["d2h"], "d2d": by_count["d2d"],
                "memcpy_launch_dependencies": sum(c.call is not None for c in self.copies),
                "pcie_usage_launch_dependencies": self.usage_flows, "nvtx": len(push_pop),
                "nvtx_kernel": sum(len(self.projected.get(n, {})) for n in push_pop)}
