#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small odd captures, each the smallest input that shows one way to get a figure wrong.

    edge_captures.py NAME OUT.sqlite      write one
    edge_captures.py --list               name them all

A function of EDGES writes one capture; its docstring says what is odd.  Times are chosen so that right and
wrong answers differ.  Only the Python standard library is used, and the bytes are always the same.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable

US, MS, SEC = 1_000, 1_000_000, 1_000_000_000
VM = 1 << 48
KERNEL, RUNTIME = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
MEMCPY, MEMSET, SYNC = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
GRAPH, NVTX, STRINGS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "NVTX_EVENTS", "StringIds"
GPU_EVENT = "start end deviceId contextId greenContextId streamId correlationId globalPid"
COLUMNS = {
    KERNEL: GPU_EVENT + " demangledName shortName mangledName launchType gridX blockX graphNodeId gridId",
    RUNTIME: "start end eventClass globalTid correlationId nameId returnValue callchainId",
    MEMCPY: GPU_EVENT + " bytes copyKind srcKind dstKind graphNodeId",
    MEMSET: GPU_EVENT + " value bytes memKind",
    SYNC: GPU_EVENT + " syncType eventId eventSyncId",
    GRAPH: GPU_EVENT + " graphId graphExecId",
    NVTX: "start end eventType rangeId text:TEXT globalTid endGlobalTid textId domainId jsonText:TEXT binaryData:TEXT",
    STRINGS: "id value:TEXT",
    "TARGET_INFO_CUDA_DEVICE": "gpuId cudaId pid uuid:TEXT",
    "TARGET_INFO_CUDA_STREAM": "streamId processId contextId priority flag",
    "DIAGNOSTIC_EVENT": "timestamp timestampType source severity text:TEXT globalPid",
    "ENUM_NSYS_EVENT_TYPE": "id name:TEXT label:TEXT",
    "META_DATA_EXPORT": "name:TEXT value:TEXT",
}


def global_pid(pid: int) -> int:
    return VM | (pid << 24)


def global_tid(pid: int, tid: int | None = None) -> int:
    return VM | (pid << 24) | (pid if tid is None else tid)


class Capture:
    """Rows in memory, written by save(); a table exists once it has a row or is asked for."""

    def __init__(self, columns: dict[str, str] | None = None, rename: dict[str, str] | None = None):
        self.columns = COLUMNS | (columns or {})
        self.rename = rename or {}
        self.rows: dict[str, list[dict]] = {STRINGS: []}
        self.ids: dict[str, int] = {}
        self.next_correlation = 0

    def string(self, text: str) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            self.rows[STRINGS].append({"id": self.ids[text], "value": text})
        return self.ids[text]

    def table(self, name: str) -> list[dict]:
        return self.rows.setdefault(name, [])

    def add(self, table: str, **row) -> None:
        self.table(table).append(row)

    def gpu(self, table: str, start: int, end: int | None, device: int = 0, stream: int = 7, pid: int = 100,
            correlation: int | None = None, **more) -> int:
        if correlation is None:
            self.next_correlation += 1
            correlation = self.next_correlation
        self.add(table, **{"start": start, "end": end, "deviceId": device, "contextId": 1, "greenContextId": 0, "streamId": stream,
                           "correlationId": correlation, "globalPid": global_pid(pid)} | more)
        return correlation

    def kernel(self, start: int, end: int | None, name: str = "add", demangled: str | None = None, **more) -> int:
        long = f"void {name}(int)" if demangled is None else demangled
        names = {"shortName": self.string(name), "demangledName": self.string(long)}
        return self.gpu(KERNEL, start, end, **(names | more))

    def copy(self, start: int, end: int, size: int, kind: int = 1, **more) -> int:
        return self.gpu(MEMCPY, start, end, bytes=size, copyKind=kind, **more)

    def call(self, start: int, end: int, correlation: int, name: str = "cudaLaunchKernel_v7000", pid: int = 100,
             tid: int | None = None, **more) -> None:
        self.add(RUNTIME, **{"start": start, "end": end, "eventClass": 0, "globalTid": global_tid(pid, tid),
                             "correlationId": correlation, "nameId": self.string(name), "returnValue": 0} | more)

    def range(self, start: int, end: int | None, text: str | None, kind: int = 59, pid: int = 100, tid: int | None = None,
              **more) -> None:
        self.add(NVTX, **{"start": start, "end": end, "eventType": kind, "text": text, "globalTid": global_tid(pid, tid),
                          "domainId": 0} | more)

    def launched(self, call_at: int, start: int, end: int, name: str = "add", pid: int = 100, tid: int | None = None,
                 **more) -> int:
        """A kernel and the call of 5 us that launched it."""
        correlation = self.kernel(start, end, name, pid=pid, **more)
        self.call(call_at, call_at + 5 * US, correlation, pid=pid, tid=tid)
        return correlation

    def save(self, path: str) -> None:
        if os.path.exists(path):
            os.remove(path)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode=OFF")
        db.execute("BEGIN")
        for table, rows in self.rows.items():
            words = [w.partition(":") for w in self.columns[table].split()]
            names = [w[0] for w in words]
            key = " PRIMARY KEY" if table == STRINGS else ""
            declared = ", ".join(f'"{n}" {kind or "INTEGER"}{key if n == "id" else ""}' for n, _, kind in words)
            actual = self.rename.get(table, table)
            db.execute(f'CREATE TABLE "{actual}" ({declared})')
            slots = ",".join("?" * len(names))
            db.executemany(f'INSERT INTO "{actual}" VALUES ({slots})', ([r.get(n) for n in names] for r in rows))
        db.execute("COMMIT")
        db.close()


EDGES: dict[str, Callable[[str], None]] = {}


def edge(make: Callable[[], Capture]) -> Callable[[], Capture]:
    """Register `make` under its name."""
    EDGES[make.__name__] = lambda path: make().save(path)
    return make


# ---- lanes, unions, gaps


@edge
def equal_stream_numbers() -> Capture:
    """Three devices run stream 17 at 86 % of one second, device 0 stream 7 too: four lanes."""
    c = Capture()
    for device, stream in ((0, 17), (1, 17), (2, 17), (0, 7)):
        for i in range(10):
            c.kernel(i * 100 * MS, i * 100 * MS + (86 * MS if i < 9 else 100 * MS - 14 * MS), "busy", device=device, stream=stream,
                     pid=100 + device)
        c.kernel(SEC, SEC, "end_mark", device=device, stream=stream, pid=100 + device)
    return c


@edge
def processes_share_a_device() -> Capture:
    """Two processes use device 0, stream 7, in turns: each pauses 4 ms, and neither lane overlaps itself."""
    c = Capture()
    for pid, shift in ((100, 0), (200, 3 * MS)):
        c.kernel(shift, shift + 2 * MS, "step", pid=pid)
        c.kernel(shift + 6 * MS, shift + 8 * MS, "step", pid=pid)
    return c


@edge
def compute_beside_nccl() -> Capture:
    """Compute 0-1000 ms, NCCL 500-1500 ms: busy 1500 ms of 2000, though the durations sum to 2000."""
    c = Capture()
    c.kernel(0, SEC, "compute", stream=7)
    c.kernel(500 * MS, 1500 * MS, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream=20)
    return c


@edge
def overlap_within_a_stream() -> Capture:
    """Kernels of one stream overlap: 0-100 us, 88-150 us."""
    c = Capture()
    c.kernel(0, 100 * US, "a")
    c.kernel(88 * US, 150 * US, "b")
    return c


@edge
def long_kernel_hides_a_gap() -> Capture:
    """A short kernel ends inside a long one of its stream; measured from the previous end there is a gap of 2.7 ms."""
    c = Capture()
    c.kernel(0, 3 * MS, "long")
    c.kernel(100 * US, 200 * US, "short")
    c.kernel(2900 * US, 3100 * US, "next")
    return c


@edge
def gaps_of_every_size() -> Capture:
    """One stream with gaps of 0.5, 1.5, 7 and 80 ms, and calls of two processes around the longest."""
    c = Capture()
    at = 0
    for i, gap in enumerate((500 * US, 1500 * US, 7 * MS, 80 * MS, 0)):
        c.launched(at - 20 * US, at, at + MS, f"k{i}")
        at += MS + gap
    # In the gap of 80 ms (13 ms to 93 ms): 10 ms of waiting, a copy call that began long before, another process's launch.
    c.call(20 * MS, 30 * MS, 900, "cudaStreamSynchronize_v3020")
    c.call(-500 * MS, 14 * MS, 901, "cudaMemcpyAsync_v3020", tid=101)
    c.call(14 * MS, 92 * MS, 1, "cudaLaunchKernel_v7000", pid=200)
    return c


@edge
def four_devices() -> Capture:
    """Four devices that hide 0, 25, 50 and 100 % of their communication."""
    c = Capture()
    for device, hidden in enumerate((0, 25, 50, 100)):
        c.kernel(0, 100 * MS, "compute", device=device, stream=7, pid=100 + device)
        start = (100 - hidden) * MS
        c.kernel(start, start + 100 * MS, "ncclDevKernel_AllReduce", device=device, stream=20, pid=100 + device)
        if hidden:
            c.kernel(100 * MS, 100 * MS, "end_mark", device=device, stream=7, pid=100 + device)
    return c


# ---- NVTX and launches


@edge
def library_ranges_only() -> Capture:
    """Four ranges of a library and one pass of kernels with pauses: no iterations, at most marked stretches."""
    c = Capture()
    for i in range(8):
        at = i * 5 * MS
        c.launched(at, at + 10 * US, at + MS, "scan")
        if i < 4:
            c.range(at - US, at + 20 * US, "cub::DeviceScan::InclusiveSum")
    return c


@edge
def start_end_ranges_only() -> Capture:
    """Three start-end ranges around the launches of five kernels, no push-pop range."""
    c = Capture()
    for i in range(5):
        c.launched(i * MS, i * MS + 10 * US, i * MS + 500 * US)
    for i in range(3):
        c.range(i * MS - US, i * MS + 20 * US, f"part {i}", kind=60, rangeId=i, endGlobalTid=global_tid(100))
    c.add("ENUM_NSYS_EVENT_TYPE", id=60, name="NvtxStartEndRange", label="NvtxStartEndRange")
    return c


@edge
def marks_only() -> Capture:
    """Marks and domains, nothing that has a length."""
    c = Capture()
    c.launched(0, 10 * US, 20 * US)
    c.range(0, None, "mark", kind=34)
    c.range(0, None, "domain", kind=75)
    return c


@edge
def all_event_types() -> Capture:
    """A push-pop range among rows of all other types, which look as if they enclosed the launch too."""
    c = Capture()
    c.launched(100 * US, 200 * US, 300 * US)
    c.range(90 * US, 120 * US, "inner")
    for kind in (60, 34, 33, 70, 75):
        end = None if kind in (34, 33, 75) else 110 * US
        c.range(95 * US, end, f"type {kind}", kind=kind, rangeId=kind)
    c.range(80 * US, 400 * US, "outer")
    return c


@edge
def names_only_by_id() -> Capture:
    """NVTX rows of an old layout: no text, no domain, names by textId."""
    c = Capture(columns={NVTX: "start end eventType rangeId globalTid endGlobalTid textId"})
    c.launched(100 * US, 200 * US, 300 * US)
    c.range(0, 200 * US, None, textId=c.string("old outer"))
    c.range(90 * US, 120 * US, None, textId=c.string("old inner"))
    return c


@edge
def ranges_without_name() -> Capture:
    """A nameless range between two named ones; one process drives two devices."""
    c = Capture()
    for device in (0, 1):
        at = (1 + device) * MS
        c.launched(at, at + 100 * US, at + 200 * US, f"on_{device}", device=device)
        c.range(at - 20 * US, at + 50 * US, "named")
        c.range(at - 10 * US, at + 40 * US, None)
    return c


@edge
def equal_correlation_ids() -> Capture:
    """Two processes launch with correlation id 1: each kernel has one call, its own."""
    c = Capture()
    for pid, device in ((100, 0), (200, 1)):
        at = MS if pid == 100 else 2 * MS
        c.kernel(at + 100 * US, at + 200 * US, f"of_{pid}", device=device, pid=pid, correlation=1)
        c.call(at, at + 5 * US, 1, pid=pid)
        c.range(at - 10 * US, at + 10 * US, f"range of {pid}", pid=pid)
    return c


@edge
def equal_correlation_ids_of_contexts() -> Capture:
    """Two contexts of one process count their correlation ids each on its own: ids 10 to 12 are launched by either of
    two threads.  What the first thread launches waits until the second has launched under the same id, so the call
    nearest to it is the wrong one.  Ids 1 and 2 occur once and tell which thread launches into which context."""
    c = Capture()
    c.launched(0, 20 * US, 25 * US, "warm_up_1", tid=101, correlation=1, contextId=1)
    c.launched(30 * US, 50 * US, 55 * US, "warm_up_2", tid=102, correlation=2, contextId=2)
    for number in range(3):
        at, correlation = (number + 1) * MS, 10 + number
        c.launched(at, at + 700 * US, at + 705 * US, "of_context_1", tid=101, correlation=correlation, contextId=1)
        c.launched(at + 500 * US, at + 600 * US, at + 605 * US, "of_context_2", tid=102, correlation=correlation, contextId=2)
        c.range(at - 10 * US, at + 10 * US, "range of 101", tid=101)
        c.range(at + 490 * US, at + 510 * US, "range of 102", tid=102)
    return c


@edge
def equal_thread_ids() -> Capture:
    """Two processes whose threads have one number: ranges of one must not enclose calls of the other."""
    c = Capture()
    for pid in (100, 200):
        c.launched(MS, 2 * MS, 3 * MS, f"of_{pid}", pid=pid, tid=7, device=pid // 200)
    c.range(0, 4 * MS, "only of 100", pid=100, tid=7)
    return c


@edge
def crossing_domains() -> Capture:
    """Ranges of two domains on one thread cross; the launch lies in both, and later only in the second."""
    c = Capture()
    c.launched(30 * US, 100 * US, 110 * US, "first")
    c.launched(60 * US, 120 * US, 130 * US, "second")
    c.range(0, 50 * US, "domain 0", domainId=0)
    c.range(20 * US, 90 * US, "domain 5", domainId=5)
    return c


@edge
def one_graph_launch() -> Capture:
    """One cudaGraphLaunch of 20 us and 50 kernels that share its correlation id."""
    c = Capture()
    c.range(0, 30 * US, "sample_0 graph step")
    c.call(5 * US, 25 * US, 1, "cudaGraphLaunch_v10000")
    for i in range(50):
        c.kernel((100 + 10 * i) * US, (105 + 10 * i) * US, "node", correlation=1, graphNodeId=(4 << 32) | (i + 1))
    return c


@edge
def whole_graphs_only() -> Capture:
    """Graphs traced as a whole, no kernel table at all."""
    c = Capture()
    for i in range(3):
        c.gpu(GRAPH, i * 10 * MS, i * 10 * MS + 4 * MS, graphId=1, graphExecId=2)
    return c


def _graph_columns(node: int | None) -> Capture:
    c = Capture()
    for i in range(4):
        c.launched(i * MS, i * MS + 10 * US, i * MS + 500 * US, graphNodeId=node)
    return c


@edge
def graph_node_null() -> Capture:
    """graphNodeId is there and NULL: no graph was traced."""
    return _graph_columns(None)


@edge
def graph_node_zero() -> Capture:
    """graphNodeId is there and 0: no graph was traced."""
    return _graph_columns(0)


@edge
def iterations_with_a_worker_thread() -> Capture:
    """Three iterations on the main thread; a second thread of the process launches within them, another process as well."""
    c = Capture()
    for i in range(3):
        at = i * 10 * MS
        c.range(at, at + 8 * MS, f"SAMPLE_0 step {i}")
        c.launched(at + 10 * US, at + MS, at + 2 * MS, "forward")
        c.launched(at + 30 * US, at + 2 * MS, at + 3 * MS, "forward")
        c.launched(at + 4 * MS, at + 5 * MS, at + 6 * MS, "backward", tid=150)
        c.launched(at + 4 * MS, at + 7 * MS, at + 8 * MS, "foreign", pid=200)
    c.range(31 * MS, 32 * MS, "sampleX0 looks like the marker to a wildcard")
    c.launched(31 * MS + US, 33 * MS, 34 * MS, "late")
    return c


@edge
def empty_step_between_steps() -> Capture:
    """A marker range that launches nothing lies between two that do: numbers are positions in the list."""
    c = Capture()
    for i in range(3):
        at = i * 10 * MS
        c.range(at, at + 8 * MS, f"sample_0 step {i}")
        if i != 1:
            c.launched(at + 10 * US, at + MS, at + 2 * MS)
            c.launched(at + 30 * US, at + 2 * MS, at + 3 * MS)
    return c


# ---- names


@edge
def communication_names() -> Capture:
    """Communication under many names, and a decoy that only reduces."""
    c = Capture()
    for i, name in enumerate(("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_AllGather_RING_LL_Sum_int8_t", "nccldevkernel_x",
                              "vllm::cross_device_reduce_1stage<float, 8>", "deep_ep::internode::dispatch<true>",
                              "reduce_kernel<512, 1>")):
        c.kernel(i * MS, i * MS + 500 * US, name, stream=20 if i < 5 else 7)
    return c


@edge
def hostile_names() -> Capture:
    """Names with quotes, control characters, markup, an invalid byte, a NUL and an escape sequence."""
    c = Capture()
    names = ['k<"a\\b",\n\'</script>\'>', "tab\tand\x01control", "\x1b[31mred\x1b[0m", "Grüße 漢字 😀"]
    for i, name in enumerate(names):
        c.launched(i * MS, i * MS + 10 * US, i * MS + 100 * US, name, demangled=name)
    c.launched(9 * MS, 9 * MS + 10 * US, 9 * MS + 100 * US, "bad_utf8")
    c.launched(10 * MS, 10 * MS + 10 * US, 10 * MS + 100 * US, "nul")
    broken = {c.ids["bad_utf8"]: "CAST(x'6261FF6421' AS TEXT)", c.ids["nul"]: "CAST(x'6E00756C' AS TEXT)",
              c.ids["void bad_utf8(int)"]: "CAST(x'6261FF642829' AS TEXT)", c.ids["void nul(int)"]: "CAST(x'6E00756C2829' AS TEXT)"}
    c.range(-US, 11 * MS, "all <of> \"them\"")
    save = c.save

    def save_and_break(path: str) -> None:
        save(path)
        with sqlite3.connect(path) as db:
            for number, value in broken.items():
                db.execute(f"UPDATE StringIds SET value = {value} WHERE id = {number}")
        db.close()

    c.save = save_and_break  # type: ignore[method-assign]
    return c


@edge
def dangling_string_ids() -> Capture:
    """Kernels whose name ids have no row: none may be dropped, all lie on the timeline."""
    c = Capture()
    c.kernel(0, MS, "known")
    c.kernel(3 * MS, 4 * MS, shortName=999_001, demangledName=999_002)
    c.kernel(8 * MS, 9 * MS, "only_short", demangledName=999_003)
    c.kernel(20 * MS, 21 * MS, shortName=999_004, demangledName=c.string("ncclDevKernel_only_demangled_AllReduce()"))
    return c


@edge
def equal_strings() -> Capture:
    """Two ids with one text: one group, not two."""
    c = Capture()
    c.kernel(0, MS, "same")
    c.add(STRINGS, id=500, value="same")
    c.add(STRINGS, id=501, value="void same(int)")
    c.kernel(2 * MS, 4 * MS, shortName=500, demangledName=501)
    return c


@edge
def ten_equal_totals() -> Capture:
    """Ten kernel names with equal totals, stored in an order of their own."""
    c = Capture()
    for i, name in enumerate("dbjagcfhei"):
        c.kernel(i * MS, i * MS + 100 * US, f"tie_{name}")
    return c


@edge
def wildcards_in_names() -> Capture:
    """Names that differ only where `_` or `%` would match anything, and in the case of letters."""
    c = Capture()
    for i, name in enumerate(("gemm_f32", "gemmXf32", "GEMM_F32", "half%done")):
        c.kernel(i * MS, i * MS + (i + 1) * US, name, demangled=name)
    return c


# ---- numbers


@edge
def big_and_zero_copies() -> Capture:
    """A copy of 8 GiB in 1.5 s, one without duration, and one of every other kind."""
    c = Capture()
    c.kernel(0, 3 * SEC)
    c.copy(0, 1500 * MS, 8 << 30, kind=1)
    c.copy(2 * SEC, 2 * SEC, 4096, kind=2)
    for kind in range(3, 12):
        c.copy(2 * SEC + kind * MS, 2 * SEC + kind * MS + 10 * US, 1_000_000 * kind, kind=kind)
    return c


@edge
def negative_times() -> Capture:
    """A capture around time zero."""
    c = Capture()
    c.launched(-5 * MS, -4 * MS, -3 * MS, "before")
    c.launched(-2 * MS, -1 * MS, 1 * MS, "across")
    c.launched(2 * MS, 4 * MS, 6 * MS, "after")
    c.range(-6 * MS, 3 * MS, "sample_0")
    c.copy(-10 * MS, -9 * MS, 1000)
    return c


@edge
def unsigned_patterns() -> Capture:
    """Ids with the top bit set, as signed 64-bit numbers; unset 32-bit ids stored as 4294967295; a priority of -5 as 4294967291."""
    c = Capture()
    top = -(1 << 63)
    for i in range(3):
        at = i * 10 * MS
        correlation = c.kernel(at + MS, at + 2 * MS, globalPid=top | global_pid(100), greenContextId=4294967295)
        c.call(at, at + 5 * US, correlation, globalTid=top | global_tid(100))
        c.range(at - US, at + 20 * US, f"sample_0 step {i}", globalTid=top | global_tid(100))
    c.gpu(SYNC, 0, 3 * MS, stream=4294967295, syncType=4, eventId=4294967295, eventSyncId=4294967295, globalPid=top | global_pid(100))
    c.add("TARGET_INFO_CUDA_STREAM", streamId=7, processId=100, contextId=1, priority=4294967291, flag=2)
    c.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=1, source=2, severity=2, text="note", globalPid=-144115188075855872)
    return c


@edge
def bad_rows() -> Capture:
    """Kernels that end before they start, or have no end, beside good ones."""
    c = Capture()
    c.kernel(0, MS, "good")
    c.kernel(5 * MS, 4 * MS, "backwards")
    c.kernel(6 * MS, None, "endless")
    c.kernel(10 * MS, 12 * MS, "good")
    return c


@edge
def equal_times() -> Capture:
    """Kernels that are equal in start and end: two events, one stretch of time."""
    c = Capture()
    for device in (0, 0, 1):
        c.launched(0, MS, 2 * MS, "twin", device=device)
    c.range(-US, 20 * US, "both")
    return c


@edge
def host_waits() -> Capture:
    """Waits that block the host and one that does not; every sync row says device 0, whoever waited."""
    c = Capture()
    for pid, device in ((100, 0), (200, 1)):
        c.launched(0, MS, 20 * MS, "work", pid=pid, device=device)
        c.kernel(99 * MS, 100 * MS, "last", pid=pid, device=device)
    # 100: 10 ms of cudaStreamSynchronize whose row says "stream wait event"; 5 ms that a stream waits for another.
    c.call(2 * MS, 12 * MS, 901, "cudaStreamSynchronize_v3020")
    c.gpu(SYNC, 2 * MS, 12 * MS, syncType=2, correlation=901)
    c.call(30 * MS, 30 * MS + US, 902, "cudaStreamWaitEvent_v3020")
    c.gpu(SYNC, 30 * MS, 35 * MS, syncType=2, correlation=902)
    # 200: 7 ms of device synchronization, of which 5 at the same time as the other process.
    c.call(7 * MS, 14 * MS, 901, "cudaDeviceSynchronize_v3020", pid=200)
    c.gpu(SYNC, 7 * MS, 14 * MS, syncType=4, correlation=901, pid=200)
    return c


# ---- schemas


def _plain(**more) -> Capture:
    """Two iterations with launches, a copy, a memset and a wait: enough for every skill."""
    c = Capture(**more)
    for i in range(2):
        at = i * 10 * MS
        c.range(at, at + 9 * MS, f"sample_0 step {i}")
        c.launched(at + 10 * US, at + MS, at + 3 * MS, "gemm", stream=7)
        c.launched(at + 30 * US, at + 4 * MS, at + 6 * MS, "ncclDevKernel_AllReduce", stream=20)
        c.copy(at + 500 * US, at + 600 * US, 1_000_000)
        c.gpu(MEMSET, at + 700 * US, at + 710 * US, bytes=64, value=0)
        c.call(at + 50 * US, at + 6 * MS, 900 + i, "cudaStreamSynchronize_v3020")
        c.gpu(SYNC, at + 50 * US, at + 6 * MS, syncType=3, correlation=900 + i)
    return c


@edge
def plain() -> Capture:
    """Nothing odd: the capture the other schemas are compared with."""
    return _plain()


@edge
def versioned_tables() -> Capture:
    """Tables called _V2, _V3 and _V10; the highest number counts, and the others hold garbage."""
    c = _plain(rename={t: t + "_V10" for t in (KERNEL, RUNTIME, MEMCPY, MEMSET, SYNC, NVTX)},
               columns={f"{KERNEL}_V2": COLUMNS[KERNEL], f"{KERNEL}_V3": COLUMNS[KERNEL], f"{NVTX}_V2": COLUMNS[NVTX]})
    for old in ("_V2", "_V3"):
        c.gpu(KERNEL + old, 0, 900 * SEC, shortName=1, demangledName=1)
    c.add(f"{NVTX}_V2", start=0, end=900 * SEC, eventType=59, text="sample_0 old", globalTid=global_tid(100), domainId=0)
    return c


@edge
def peer_copies_only() -> Capture:
    """MEMCPY2 is another activity (peer copies) and never stands in for MEMCPY."""
    return _renamed_copies("CUPTI_ACTIVITY_KIND_MEMCPY2")


@edge
def peer_copies_only_v2() -> Capture:
    """MEMCPY2_V2 neither."""
    return _renamed_copies("CUPTI_ACTIVITY_KIND_MEMCPY2_V2")


def _renamed_copies(name: str) -> Capture:
    return _plain(rename={MEMCPY: name})


@edge
def permuted_columns() -> Capture:
    """Columns in another order, and some that nobody knows."""
    def turned(table: str) -> str:
        return "unknownFirst " + " ".join(reversed(COLUMNS[table].split())) + " unknownLast:TEXT"

    return _plain(columns={t: turned(t) for t in (KERNEL, RUNTIME, MEMCPY, MEMSET, SYNC, NVTX)})


@edge
def minimal_export() -> Capture:
    """Kernels with seven columns and calls without a thread: no NVTX, no process anywhere."""
    c = Capture(columns={KERNEL: "start end deviceId streamId correlationId shortName demangledName",
                         RUNTIME: "start end correlationId nameId"})
    for i in range(4):
        at = i * 10 * MS
        c.launched(at, at + MS, at + 3 * MS, "gemm" if i % 2 else "ncclDevKernel_AllReduce", stream=7 + i % 2)
    return c


@edge
def reduced_schema() -> Capture:
    """Kernels, calls, copies and strings: no NVTX, no enumerations."""
    c = Capture()
    c.launched(0, MS, 3 * MS)
    c.launched(8 * MS, 9 * MS, 10 * MS)
    c.copy(4 * MS, 5 * MS, 1000)
    return c


@edge
def strings_only() -> Capture:
    """Nothing but StringIds."""
    c = Capture()
    c.string("lonely")
    return c


@edge
def empty_kernel_table() -> Capture:
    """The kernel table is there and empty, as are all other tables."""
    c = Capture()
    c.string("lonely")
    for table in (KERNEL, RUNTIME, MEMCPY, MEMSET, SYNC, NVTX):
        c.table(table)
    return c


@edge
def no_kernel_table() -> Capture:
    """Calls, ranges and two warnings, but no kernel table: the capture missed the GPU."""
    c = Capture()
    c.call(0, 5 * US, 1)
    c.range(0, MS, "sample_0")
    for text in ("CUDA injection failed.", "No CUDA events were collected."):
        c.add("DIAGNOSTIC_EVENT", timestamp=0, timestampType=1, source=2, severity=2, text=text)
    return c


@edge
def kernels_without_end() -> Capture:
    """The kernel table lacks its `end` column; the other tables are fine."""
    return _plain(columns={KERNEL: COLUMNS[KERNEL].replace(" end ", " ")})


@edge
def only_device_three() -> Capture:
    """The one GPU of the capture has number 3; the default device 0 has nothing."""
    c = Capture()
    c.kernel(0, MS, device=3)
    c.kernel(5 * MS, 6 * MS, device=3)
    c.copy(2 * MS, 3 * MS, 1000, device=3)
    return c


@edge
def idle_device_in_the_inventory() -> Capture:
    """Device 1 was captured and ran nothing."""
    c = Capture()
    c.kernel(0, MS)
    for device in (0, 1):
        c.add("TARGET_INFO_CUDA_DEVICE", gpuId=device, cudaId=device, pid=100, uuid=f"GPU-{device}")
    return c


@edge
def unknown_gpu_tables() -> Capture:
    """GPU work under names that nobody knows yet."""
    return _plain(rename={t: t.replace("CUPTI_ACTIVITY_KIND_", "CUPTI_ACTIVITY_NEXT_") for t in (MEMCPY, MEMSET, SYNC)} | {KERNEL: "CUPTI_ACTIVITY_NEXT_WORK"})


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print("\n".join(EDGES))
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in EDGES:
        print(__doc__, file=sys.stderr)
        return 2
    EDGES[sys.argv[1]](sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
