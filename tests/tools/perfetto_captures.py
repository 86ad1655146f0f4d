#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small captures, each the smallest input with which a Perfetto trace can go wrong.

    perfetto_captures.py NAME OUT         write one: OUT.sqlite, or a folder for one of FOLDERS
    perfetto_captures.py --list           name them all

A function of CAPTURES gives one capture, one of FOLDERS writes a folder of Parquet tables (these need pyarrow); its
docstring says what is odd.  Times are a few hundred nanoseconds, so that they can be checked by hand.
"""

from __future__ import annotations

import os
import pathlib
import sqlite3
import sys
from collections.abc import Callable

from edge_captures import GPU_EVENT, KERNEL, MEMCPY, MEMSET, NVTX, RUNTIME, STRINGS, SYNC, Capture, global_pid, global_tid

OSRT, OVERHEAD, PROCESSES, THREADS = "OSRT_API", "PROFILER_OVERHEAD", "PROCESSES", "ThreadNames"
SESSION, SETTINGS = "TARGET_INFO_SESSION_START_TIME", "META_DATA_EXPORT"
COLUMNS = {
    KERNEL: GPU_EVENT + " demangledName shortName mangledName gridX gridY gridZ blockX blockY blockZ graphNodeId graphId",
    MEMCPY: GPU_EVENT + " bytes copyKind srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId graphNodeId "
                        "virtualAddress copyCount",
    NVTX: "start end eventType rangeId category color text:TEXT globalTid endGlobalTid textId domainId uint64Value int64Value "
          "doubleValue:REAL uint32Value int32Value floatValue:REAL jsonTextId jsonText:TEXT binaryData:TEXT",
    OSRT: "start end eventClass globalTid correlationId nameId returnValue nestingLevel callchainId",
    OVERHEAD: "start end globalTid correlationId nameId returnValue overheadType",
    PROCESSES: "globalPid pid name:TEXT",
    THREADS: "nameId priority globalTid",
    SESSION: "utcEpochNs utcTime:TEXT localTime:TEXT systemClockNs",
}
LAUNCH, COPY_CALL = "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020"


class Drawn(Capture):
    """A capture with the columns that a drawing uses."""

    def __init__(self, **more):
        super().__init__(columns=COLUMNS | more)

    def gpu(self, table: str, start: int, end: int | None, **more) -> int:
        shape = {"gridX": 2, "gridY": 1, "gridZ": 1, "blockX": 32, "blockY": 1, "blockZ": 1} if table == KERNEL else {}
        return super().gpu(table, start, end, **(shape | more))

    def copied(self, call_at: int, start: int, end: int, kind: int = 1, size: int = 1000, pid: int = 100, **more) -> int:
        """A copy and the call of 5 ns that started it."""
        correlation = self.copy(start, end, size, kind, pid=pid, srcKind=1, dstKind=2, **more)
        self.call(call_at, call_at + 5, correlation, COPY_CALL, pid=pid)
        return correlation

    def ran(self, call_at: int, start: int, end: int, name: str = "k", pid: int = 100, tid: int | None = None,
            call_end: int | None = None, **more) -> int:
        """A kernel and the call of 5 ns that launched it."""
        correlation = self.kernel(start, end, name, pid=pid, **more)
        self.call(call_at, call_at + 5 if call_end is None else call_end, correlation, pid=pid, tid=tid)
        return correlation


CAPTURES: dict[str, Callable[[str], None]] = {}
FOLDERS: dict[str, Callable[[str], None]] = {}


def capture(make: Callable[[], Capture]) -> Callable[[], Capture]:
    CAPTURES[make.__name__] = lambda path: make().save(path)
    return make


def rewritten(change: Callable[[sqlite3.Connection], None]) -> Callable[[sqlite3.Connection], None]:
    """A plain capture whose tables were changed by hand."""
    def make(path: str) -> None:
        plain().save(path)
        db = sqlite3.connect(path)
        change(db)
        db.commit()
        db.close()

    CAPTURES[change.__name__] = make
    return change


# ---- what a picture is made of


@capture
def plain() -> Capture:
    """A range around the launch of a kernel, a copy to the device, and a wait: nothing odd."""
    c = Drawn()
    c.ran(500, 1000, 2000, "gemm")
    c.copied(520, 2100, 2300)
    c.call(540, 2400, 77, "cudaDeviceSynchronize_v3020")
    c.range(400, 2500, "step")
    return c


@capture
def two_processes() -> Capture:
    """Two processes with a GPU each and one without any, which counts as using both; correlation ids repeat."""
    c = Drawn()
    for pid, device in ((100, 0), (200, 1)):
        c.ran(500, 1000, 1100, f"k{pid}", pid=pid, device=device, correlation=1)
        c.range(490, 530, f"p{pid}", pid=pid)
    c.call(650, 900, 7, "cudaDeviceSynchronize", pid=300)
    c.range(100, 5000, "loader", pid=300)
    return c


@capture
def nested_calls() -> Capture:
    """A launch from within another call, and calls that touch: API calls never nest on a track."""
    c = Drawn()
    c.ran(510, 1000, 1100, call_end=550)
    c.call(500, 600, 50, "cudaDeviceSynchronize")
    c.call(600, 700, 51, "cudaStreamSynchronize_ptsz_v7000")
    return c


@capture
def waits_of_every_kind() -> Capture:
    """Waits that are always drawn, others that wait as well, and calls that neither wait nor launch."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    names = ("cudaStreamSynchronize_v3020", "cudaDeviceSynchronize", "cudaEventSynchronize_v3020", "cuCtxSynchronize",
             "cuStreamSynchronize", "cudaEventRecord_v3020", "cudaMalloc_v3020", "cudaStreamSynchronizeX", "xcudaDeviceSynchronize")
    for i, name in enumerate(names):
        c.call(600 + 20 * i, 610 + 20 * i, 50 + i, name)
    return c


@capture
def crossing_projections() -> Capture:
    """Ranges nest on the CPU while the spans of their kernels cross."""
    c = Drawn()
    c.ran(500, 1000, 5000, "a")
    c.ran(520, 1200, 1300, "b")
    c.ran(540, 5100, 5200, "c")
    c.ran(560, 1400, 6000, "d", stream=8)
    c.range(490, 535, "A")
    c.range(515, 600, "B")
    c.range(516, 546, "C")
    return c


@capture
def launches_at_borders() -> Capture:
    """Launches that start exactly when a range starts or ends belong to none; the end of a call does not matter."""
    c = Drawn()
    c.ran(500, 1000, 1100, "a", call_end=520)
    c.ran(530, 1200, 1300, "b", call_end=600)
    c.range(500, 531, "starts with a")
    c.range(450, 530, "ends with b")
    c.range(460, 505, "around the start of a", tid=101)
    c.range(505, 610, "around b", tid=102)
    return c


@capture
def ids_used_again() -> Capture:
    """One process uses a correlation id twice, and a third kernel is older than both calls."""
    c = Drawn()
    for at in (100_000, 200_000):
        c.kernel(at + 500, at + 600, f"after {at}", correlation=1)
        c.call(at, at + 20, 1)
        c.range(at - 10, at + 30, f"range {at}")
    c.kernel(1000, 1050, "before", correlation=1)
    return c


# ---- times


@capture
def overlapping_copies() -> Capture:
    """Copies in both directions at once, and two within the device: the usage tracks need lanes."""
    c = Drawn()
    c.copied(10, 1000, 2000, 1, stream=7)
    c.copied(20, 1500, 2500, 2, stream=8)
    c.copied(30, 1600, 1700, 1, stream=9)
    c.copied(40, 3000, 4000, 8, stream=7)
    c.copied(50, 3500, 4500, 8, stream=8)
    return c


@capture
def ranges_without_length() -> Capture:
    """Ranges of zero length: within one of the same name, before launches, and two at one moment."""
    c = Drawn()
    c.ran(500, 1000, 1100, "a")
    c.ran(530, 1200, 1300, "b")
    c.range(440, 600, "A")
    c.range(450, 450, "A")
    c.range(460, 460, "B")
    c.range(460, 460, "C")
    c.range(528, 540, "D")
    return c


@capture
def ranges_that_end_before_they_start() -> Capture:
    """A range whose end is before its start, and before everything else."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.range(450, 340, "backwards")
    c.range(460, 525, "around")
    return c


@capture
def crossing_ranges() -> Capture:
    """Ranges of two domains of one thread cross; two of them have the same name."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    for start, end, text, domain in ((460, 540, "A", 1), (490, 610, "B", 2), (700, 800, "S", 1), (750, 850, "S", 2), (900, 950, "tail", 0)):
        c.range(start, end, text, domainId=domain)
    return c


@capture
def call_without_length() -> Capture:
    """A launch of zero length, and at the same nanosecond the next launch of the thread."""
    c = Drawn()
    c.ran(500, 1000, 1100, "a", call_end=500)
    c.ran(500, 1200, 1300, "b", call_end=600)
    return c


@capture
def late_call() -> Capture:
    """Clocks are not quite equal: the launch starts 50 ns after its kernel."""
    c = Drawn()
    c.ran(1050, 1000, 1100, "early", call_end=1200)
    c.ran(1300, 1400, 1500, "fine")
    return c


@capture
def work_that_ends_before_it_starts() -> Capture:
    """A kernel, a copy and a call whose ends are before their starts."""
    c = Drawn()
    c.ran(500, 1000, 900, "backwards")
    c.copied(530, 1200, 1150)
    c.ran(560, 1300, 1400, "fine", call_end=550)
    return c


@capture
def copy_right_before_a_kernel() -> Capture:
    """A copy of 1 ns and, on the same stream at once, a kernel; and kernels of 0 and 1 ns that touch."""
    c = Drawn()
    c.copied(400, 1000, 1001)
    c.ran(410, 1001, 1100, "a")
    for i, (start, end) in enumerate(((1100, 1100), (1100, 1101), (1101, 1101), (1101, 1101), (1101, 1500))):
        c.ran(420 + 10 * i, start, end, f"tiny {i}")
    return c


@capture
def slices_without_length() -> Capture:
    """Kernels of zero length: alone, twice at a moment, in the midst of another one of the stream."""
    c = Drawn()
    for i, (start, end) in enumerate(((1000, 1000), (1000, 1500), (1200, 1200), (1500, 1500), (1500, 1500))):
        c.ran(500 + 10 * i, start, end, f"k{i}")
    return c


@capture
def whole_nanoseconds() -> Capture:
    """Times of the present in nanoseconds since 1970, and a span of a month: no nanosecond may get lost."""
    c = Drawn()
    epoch, month = 1_764_470_000_123_456_789, 30 * 86_400 * 10**9
    c.range(epoch - 1000, epoch + 2, "odd")
    c.ran(epoch, epoch + 7, epoch + 11)
    c.ran(epoch + month, epoch + month + 1, epoch + month + 8)
    return c


@capture
def ranges_on_another_clock() -> Capture:
    """A range in the target's system clock beside a normalised trace, which can be told and put right."""
    return _clocks([("off", 1)])


@capture
def ranges_half_on_another_clock() -> Capture:
    """A range with one end in each clock: nobody can tell what it was."""
    return _clocks([("half", 0.5)])


def _clocks(odd: list[tuple[str, float]]) -> Capture:
    shift, system = 1_786_331_166_672_603_878, 1_635_943_131_813_181
    at = shift + 10**9
    c = Drawn()
    c.ran(at - 900, at, at + 500, call_end=at - 500)
    c.range(at - 2000, at + 2000, "good")
    for name, share in odd:
        c.range(at - 1000 + (system if share == 1 else 0), at + 1000 + system, name)
    c.add(SETTINGS, name="EXPORT_CONFIG_TIME_SHIFT", value=str(shift))
    c.add(SESSION, utcEpochNs=shift, systemClockNs=system)
    return c


# ---- links


@capture
def no_correlation() -> Capture:
    """A kernel without a correlation id beside a call of id 0, and a kernel whose id no call has."""
    c = Drawn()
    c.ran(500, 1000, 1100, "linked")
    c.kernel(1200, 1300, "null")
    c.rows[KERNEL][-1]["correlationId"] = None
    c.kernel(1400, 1500, "unknown", correlation=88)
    c.call(610, 620, 0)
    return c


@capture
def graph_replay() -> Capture:
    """One call launches a graph of four kernels and a copy."""
    c = Drawn()
    for i in range(4):
        c.kernel(1000 + 100 * i, 1090 + 100 * i, f"node {i}", correlation=5, graphNodeId=(1 << 32) + i, graphId=3)
    c.copy(1500, 1600, 1000, 1, correlation=5, graphNodeId=(1 << 32) + 4)
    c.call(500, 520, 5, "cudaGraphLaunch_v10000")
    c.range(490, 530, "replay")
    return c


@capture
def equal_pids() -> Capture:
    """Two machines with the same process id: they differ in the upper bits alone."""
    c = Drawn()
    other = 2 << 48 | 100 << 24
    c.ran(500, 1000, 1100, "here")
    c.kernel(2000, 2100, "there", correlation=1, globalPid=other)
    c.call(1900, 1905, 1, globalTid=other | 100)
    return c


@capture
def range_of_another_thread() -> Capture:
    """A data loader's range is open while the main thread launches."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.range(400, 900, "loader", tid=101)
    c.range(490, 510, "forward")
    return c


# ---- facts


@capture
def every_copy_kind() -> Capture:
    """One copy of every kind there is, and of one there is not."""
    c = Drawn()
    for kind in range(15):
        c.copied(10 + 10 * kind, 1000 + 100 * kind, 1090 + 100 * kind, kind, stream=20 + kind)
    return c


@capture
def between_devices() -> Capture:
    """A copy from device 0 to device 1 concerns both."""
    c = Drawn()
    c.ran(10, 500, 600, "a", device=0)
    c.ran(20, 500, 600, "b", device=1)
    c.copied(30, 1000, 2000, 10, srcDeviceId=0, dstDeviceId=1)
    c.copied(40, 2100, 2200, 8, srcDeviceId=0, dstDeviceId=1)
    return c


@capture
def kernel_names() -> Capture:
    """Two kernels of one short name; their demangled and mangled names differ."""
    c = Drawn()
    for i, kind in enumerate(("float", "half")):
        c.ran(500 + 10 * i, 1000 + 200 * i, 1100 + 200 * i, "elementwise_kernel", demangled=f"void elementwise_kernel<{kind}>(int)",
              mangledName=c.string(f"_Z18elementwise_kernelI{kind[0]}E"))
    return c


@capture
def every_nvtx_type() -> Capture:
    """Push-pop and start-end ranges, also open ones, a mark, and rows that are no events."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.range(450, 600, "push-pop")
    c.range(460, 900, "start-end", kind=60, rangeId=1, endGlobalTid=global_tid(100))
    c.range(470, 700, "start-end", kind=60, rangeId=2, endGlobalTid=global_tid(100))
    c.range(480, None, "mark", kind=34)
    c.range(490, None, "open")
    c.range(495, None, "open start-end", kind=60, rangeId=3)
    c.range(0, None, "domain", kind=75)
    c.range(0, None, "category", kind=33, category=4)
    return c


@capture
def start_end_ranges_and_marks_only() -> Capture:
    """A capture of nothing but a start-end range and a mark."""
    c = Drawn()
    c.range(100, 200, "range", kind=60, rangeId=1)
    c.range(150, None, "mark", kind=34)
    return c


@capture
def range_attributes() -> Capture:
    """Ranges with a domain, a category, a colour and payloads."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.range(0, None, "loader", kind=75, domainId=3)
    c.range(0, None, "io", kind=33, category=4, domainId=3)
    c.range(400, 900, "read", domainId=3, category=4, color=0xFF00FF00 - (1 << 32), int64Value=-5)
    c.range(410, 800, "real", doubleValue=0.25)
    return c


@capture
def names_to_escape() -> Capture:
    """Names with quotes, controls, other scripts, nothing at all, and 100,000 letters."""
    c = Drawn()
    c.ran(500, 1000, 1100, 'q"b\\s/\n\t\r\x01\x1f\x7f\u2028 é 漢 😀 </script>')
    c.ran(510, 1200, 1300, "")
    c.ran(520, 1400, 1500, "k" * 100_000)
    c.range(400, 900, 'a"\\\n\tb')
    c.range(401, 800, "")
    c.range(402, 790, None)
    c.range(403, 780, None, textId=777)
    c.range(404, 770, None, textId=c.string("by id"))
    return c


@capture
def dangling_names() -> Capture:
    """Names whose numbers StringIds does not have, or that are NULL."""
    c = Drawn()
    c.ran(500, 1000, 1100, shortName=99, demangledName=99)
    c.rows[RUNTIME][-1]["nameId"] = 98
    c.ran(520, 1200, 1300, shortName=None, demangledName=None)
    c.rows[RUNTIME][-1]["nameId"] = None
    return c


@capture
def extra_tables() -> Capture:
    """A memset, waits as the GPU sees them, calls of the operating system, the profiler's own cost."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.gpu(MEMSET, 1200, 1300, correlation=40, bytes=4096, value=0, memKind=2)
    c.gpu(SYNC, 600, 1400, correlation=41, syncType=3)
    c.call(590, 1410, 41, "cudaDeviceSynchronize")
    c.add(OSRT, start=550, end=700, eventClass=27, globalTid=global_tid(100), correlationId=3, nameId=c.string("poll"), returnValue=0)
    c.add(OVERHEAD, start=100, end=300, globalTid=global_tid(100), correlationId=0, nameId=c.string("Driver overhead"), overheadType=0)
    return c


@capture
def named_threads() -> Capture:
    """Names of a process and a thread."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    c.range(400, 900, "r")
    c.add(PROCESSES, globalPid=global_pid(100), pid=100, name="/usr/bin/python3")
    c.add(THREADS, nameId=c.string("pt_main_thread"), priority=10, globalTid=global_tid(100))
    return c


@capture
def measured_batch() -> Capture:
    """A range that marks a measured batch is the zero of the event table's aligned times."""
    c = Drawn()
    c.ran(500, 1000, 1100)
    for start, text in ((100, "x/batch_0"), (300, "/batch_0"), (50, "x/batch_1")):
        c.range(start, start + 100, f"CriticalPath/MeasuredBatch/{text}")
    return c


# ---- sizes


@capture
def many_lanes() -> Capture:
    """130 kernels at once on as many streams, and 130 nested calls."""
    c = Drawn()
    for i in range(130):
        c.ran(500 + i, 10_000, 20_000 + i, f"k{i}", stream=i, call_end=9000 - i)
    c.copied(8000, 9_500, 9_900)
    c.range(400, 30_000, "all")
    return c


@capture
def deep_ranges() -> Capture:
    """600 ranges deep, deeper than Perfetto's stack of 512, and 20 launches at the bottom."""
    c = Drawn()
    for i in range(20):
        c.ran(5000 + 10 * i, 100_000 + 10 * i, 100_005 + 10 * i)
    for i in range(600):
        c.range(i, 90_000 - i, f"level {i}")
    return c


# ---- tables that are there, or are not


@capture
def no_kernels() -> Capture:
    """Neither kernels nor copies: every call is drawn."""
    c = Drawn()
    c.call(500, 520, 1, "cudaMalloc_v3020")
    c.call(510, 515, 2, "cudaDeviceSynchronize")
    return c


@capture
def copies_only() -> Capture:
    """One copy, nothing else."""
    c = Drawn()
    c.copy(100, 200, 1000, 1)
    return c


@capture
def ranges_only() -> Capture:
    """Two nested ranges, nothing else: no device is known."""
    c = Drawn()
    c.range(100, 200, "a")
    c.range(120, 150, "b")
    return c


@capture
def empty_tables() -> Capture:
    """All tables, no rows: there is nothing to draw."""
    c = Drawn()
    for table in (KERNEL, RUNTIME, MEMCPY, NVTX):
        c.table(table)
    return c


@capture
def no_device() -> Capture:
    """A kernel without a device beside one with a device, and a process that has nothing else."""
    c = Drawn()
    c.ran(500, 1000, 1100, "nowhere", device=-1)
    c.ran(530, 1200, 1300, "somewhere")
    c.kernel(1400, 1500, "alone", device=-1, pid=200)
    return c


@rewritten
def duplicate_string_ids(db: sqlite3.Connection) -> None:
    """StringIds has the kernel's name twice."""
    rows = db.execute("SELECT id, value FROM StringIds ORDER BY id").fetchall()
    db.execute("DROP TABLE StringIds")
    db.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", rows + [(i, f"second {v}") for i, v in rows])


@rewritten
def no_strings(db: sqlite3.Connection) -> None:
    """No StringIds: kernels and calls have numbers for names."""
    db.execute("DROP TABLE StringIds")


@rewritten
def broken_text(db: sqlite3.Connection) -> None:
    """Names that are not UTF-8."""
    db.execute("UPDATE StringIds SET value = CAST(x'6BFFFE' AS TEXT) WHERE value = 'gemm'")
    db.execute("UPDATE NVTX_EVENTS SET text = CAST(x'72C3' AS TEXT)")


@rewritten
def unsigned_ids(db: sqlite3.Connection) -> None:
    """Process and thread words with the highest bit set."""
    for table, column in ((KERNEL, "globalPid"), (MEMCPY, "globalPid"), (RUNTIME, "globalTid"), (NVTX, "globalTid")):
        db.execute(f"UPDATE {table} SET {column} = {column} - 9223372036854775807 - 1")


OPTIONAL_COLUMNS = {
    KERNEL: ("deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
             "mangledName", "gridX", "blockZ", "graphNodeId", "graphId"),
    MEMCPY: ("deviceId", "contextId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
             "srcContextId", "dstDeviceId", "dstContextId", "graphNodeId", "virtualAddress", "copyCount"),
    RUNTIME: ("globalTid", "correlationId", "nameId", "eventClass"),
    NVTX: ("text", "textId", "eventType", "globalTid", "domainId", "color", "category"),
}


def without(table: str, column: str) -> Callable[[str], None]:
    """The plain capture without one column."""
    def make(path: str) -> None:
        plain().save(path)
        db = sqlite3.connect(path)
        db.execute(f'ALTER TABLE {table} DROP COLUMN "{column}"')
        db.commit()
        db.close()

    return make


WITHOUT_A_COLUMN = {f"no_{t.split('_')[-1].lower()}_{c}": without(t, c) for t, columns in OPTIONAL_COLUMNS.items() for c in columns}
CAPTURES |= WITHOUT_A_COLUMN


# ---- folders of Parquet tables


def folder(change: Callable[[pathlib.Path], None]) -> Callable[[pathlib.Path], None]:
    """The plain capture as Parquet tables, changed by hand."""
    def make(path: str) -> None:
        import sqlite_to_parquetdir
        source = path + ".sqlite"
        plain().save(source)
        options = sqlite_to_parquetdir.argparse.Namespace(
            input=source, output=path, types="native", strings="utf8", empty="skip", only=[], drop=[], drop_column=[],
            rename_column=[], fill_column=[], ts_normalize=False, compression="snappy", row_group=1 << 20)
        sqlite_to_parquetdir.convert(options)
        os.remove(source)
        change(pathlib.Path(path))

    FOLDERS[change.__name__] = make
    return change


def _recast(path: pathlib.Path, column: str, change: Callable) -> None:
    import pyarrow.parquet as pq
    table = pq.read_table(path)
    at = table.schema.get_field_index(column)
    pq.write_table(table.set_column(at, column, change(table.column(at).combine_chunks())), path)


@folder
def folder_as_it_should_be(_: pathlib.Path) -> None:
    """Nothing odd."""


@folder
def folder_with_dictionaries(path: pathlib.Path) -> None:
    """Texts as dictionaries."""
    _recast(path / "NVTX_EVENTS.parquet", "text", lambda column: column.dictionary_encode())
    _recast(path / "StringIds.parquet", "value", lambda column: column.dictionary_encode())


@folder
def folder_with_bytes(path: pathlib.Path) -> None:
    """Texts as large texts, and as bytes that nothing declares to be text."""
    _recast(path / "NVTX_EVENTS.parquet", "text", lambda column: column.cast("large_string"))
    _recast(path / "StringIds.parquet", "value", lambda column: column.cast("binary"))


@folder
def folder_with_other_widths(path: pathlib.Path) -> None:
    """Numbers of other widths, with and without a sign."""
    for name in ("shortName", "deviceId", "correlationId"):
        _recast(path / f"{KERNEL}.parquet", name, lambda column: column.cast("uint32"))
    _recast(path / f"{RUNTIME}.parquet", "correlationId", lambda column: column.cast("int64"))
    _recast(path / f"{KERNEL}.parquet", "start", lambda column: column.cast("uint64"))
    _recast(path / "StringIds.parquet", "id", lambda column: column.cast("uint64"))


@folder
def folder_with_garbage(path: pathlib.Path) -> None:
    """A table that is no Parquet file."""
    (path / "NVTX_EVENTS.parquet").write_bytes(b"garbage")


@folder
def folder_with_an_empty_file(path: pathlib.Path) -> None:
    """A table of zero bytes."""
    (path / "NVTX_EVENTS.parquet").write_bytes(b"")


@folder
def folder_with_a_cut_file(path: pathlib.Path) -> None:
    """A table whose second half is missing."""
    file = path / "NVTX_EVENTS.parquet"
    data = file.read_bytes()
    file.write_bytes(data[:len(data) // 2])


@folder
def folder_with_parts(path: pathlib.Path) -> None:
    """A table that is a folder of part files."""
    file = path / "NVTX_EVENTS.parquet"
    data = file.read_bytes()
    file.unlink()
    file.mkdir()
    (file / "part-0.parquet").write_bytes(data)


@folder
def folder_with_lower_case_names(path: pathlib.Path) -> None:
    """A table whose name has other letters."""
    (path / "NVTX_EVENTS.parquet").rename(path / "nvtx_events.parquet")


@folder
def folder_without_tables(path: pathlib.Path) -> None:
    """Nothing at all."""
    for file in path.iterdir():
        file.unlink()


@folder
def folder_with_times_beyond_63_bits(path: pathlib.Path) -> None:
    """A time that no signed number holds."""
    import pyarrow as pa
    _recast(path / "NVTX_EVENTS.parquet", "start", lambda column: pa.array([(1 << 63) + 5], pa.uint64()))


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print("\n".join([*CAPTURES, *FOLDERS]))
        return 0
    makers = CAPTURES | FOLDERS
    if len(sys.argv) != 3 or sys.argv[1] not in makers:
        print(__doc__, file=sys.stderr)
        return 2
    makers[sys.argv[1]](sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
