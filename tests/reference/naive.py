# SPDX-License-Identifier: MIT
"""The right answers, computed from the SQLite file by slow plain means.

The comparison with the reference uses them where the two programs differ on purpose: a difference counts as
explained only when ours equals what this module finds.  Nothing here shares code with the program.  Figures
are exact; the comparison knows to how many decimals each is printed.
"""

from __future__ import annotations

import functools
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

Span = tuple[int, int]
KIND = "CUPTI_ACTIVITY_KIND_"
STREAM_WAIT = 2
PAUSE_NS = 2_000_000
MS = 1_000_000


class Kernel(NamedTuple):
    start: int
    end: int
    device: int
    context: int
    stream: int
    correlation: int
    pid: int
    short: str | None
    demangled: str | None

    @property
    def name(self) -> str:
        return self.demangled or self.short or "?"

    @property
    def ns(self) -> int:
        return self.end - self.start


class Call(NamedTuple):
    start: int
    end: int
    tid: int
    correlation: int
    name: str


class Range(NamedTuple):
    start: int
    end: int
    tid: int
    kind: int
    text: str


def union(spans: Iterable[Span]) -> list[Span]:
    out: list[list[int]] = []
    for s, e in sorted(x for x in spans if x[1] > x[0]):
        if out and s <= out[-1][1]:
            out[-1][1] = max(out[-1][1], e)
        else:
            out.append([s, e])
    return [(s, e) for s, e in out]


def length(spans: Iterable[Span]) -> int:
    return sum(e - s for s, e in spans)


def common(a: list[Span], b: list[Span]) -> int:
    return length(a) + length(b) - length(union(a + b))


def is_nccl(k: Kernel) -> bool:
    return "nccl" in (k.short or k.demangled or "").lower()


def tensor_core(name: str) -> tuple[bool, bool]:
    """(eligible, active), from the name alone."""
    n = name.lower()
    marker = re.search(r"xmma|mma_sync|ampere_bf16|sm80_tensor_op|tensorop|wgmma|gmma|tcgen05|nvjet|hmma|"
                       r"(?<!\d)(16816|1688|884|161616|16832|168128)(?!\d)", n)
    flash = "flash" in n and not re.search("combine|rotary", n)
    scalar = re.search(r"ffma|simt|f32f32_f32f32", n) or (re.search("[sd]gemm", n) and not marker)
    active = bool((marker or flash) and not scalar)
    words = re.search(r"gemm|conv(?!ert)|(?<!non)(?<!bi)linear|attention|matmul|flash", n)
    return bool(active or marker or words), active


class File:
    """One capture, read whole."""

    def __init__(self, path: str):
        self.db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.tables = {r[0] for r in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.strings = dict(self.db.execute("SELECT id, value FROM StringIds")) if "StringIds" in self.tables else {}

    def columns(self, table: str) -> set[str]:
        return {r[1] for r in self.db.execute(f'PRAGMA table_info("{table}")')}

    def has(self, name: str) -> bool:
        return KIND + name in self.tables

    @functools.cached_property
    def kernels(self) -> list[Kernel]:
        if not self.has("KERNEL"):
            return []
        found = self.db.execute("SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, "
                                f"shortName, demangledName FROM {KIND}KERNEL")
        return sorted(Kernel(*r[:7], self.strings.get(r[7]), self.strings.get(r[8])) for r in found)

    @functools.cached_property
    def calls(self) -> list[Call]:
        if not self.has("RUNTIME"):
            return []
        found = self.db.execute(f"SELECT start, end, globalTid, correlationId, nameId FROM {KIND}RUNTIME "
                                "ORDER BY start, end, globalTid")
        return [Call(*r[:4], self.strings.get(r[4], "")) for r in found]

    @functools.cached_property
    def calls_by_id(self) -> dict[tuple[int, int], list[Call]]:
        out: dict[tuple[int, int], list[Call]] = defaultdict(list)
        for c in self.calls:
            out[c.tid >> 24, c.correlation].append(c)
        return out

    @functools.cached_property
    def ranges(self) -> list[Range]:
        if "NVTX_EVENTS" not in self.tables:
            return []
        text = "textId" if "textId" in self.columns("NVTX_EVENTS") else "NULL"
        found = self.db.execute(f"SELECT start, end, globalTid, eventType, text, {text} FROM NVTX_EVENTS "
                                "WHERE end > start AND globalTid IS NOT NULL")
        named = ((r[:4], r[4] if r[4] is not None else self.strings.get(r[5])) for r in found)
        return sorted((Range(*r, t) for r, t in named if t is not None), key=lambda r: (r.start, -r.end, r.text))

    def spans(self, name: str, window: Span | None = None) -> dict[int, list[Span]]:
        """Intervals of an activity by device, cut to the window."""
        out: dict[int, list[Span]] = defaultdict(list)
        if self.has(name):
            for d, s, e in self.db.execute(f"SELECT deviceId, start, end FROM {KIND}{name}"):
                if window:
                    s, e = max(s, window[0]), min(e, window[1])
                if e > s:
                    out[d].append((s, e))
        return out

    def launch(self, k: Kernel) -> Call | None:
        """The call of the kernel's own process with its correlation id."""
        found = self.calls_by_id.get((k.pid >> 24, k.correlation), [])
        before = [c for c in found if c.start <= k.start]
        return (before or found or [None])[-1]

    def device_counts(self) -> dict[str, int]:
        counts = Counter(k.device for k in self.kernels)
        if "TARGET_INFO_CUDA_DEVICE" in self.tables:
            for (d,) in self.db.execute("SELECT DISTINCT cudaId FROM TARGET_INFO_CUDA_DEVICE"):
                counts.setdefault(d, 0)
        return {str(d): n for d, n in sorted(counts.items())}

    def kernel_span(self, device: int | None = None) -> Span:
        mine = [k for k in self.kernels if device in (None, k.device)]
        return min(k.start for k in mine), max(k.end for k in mine)

    def host_waits(self, device: int | None, window: Span) -> list[Span] | None:
        """Union of what blocks the host: by the name of the call, not by the type of the row alone."""
        if not self.has("SYNCHRONIZATION"):
            return None
        owner = {(k.pid, k.context): k.device for k in self.kernels}
        spans = []
        for s, e, kind, corr, pid, context, dev in self.db.execute(
                "SELECT start, end, syncType, correlationId, globalPid, contextId, deviceId "
                f"FROM {KIND}SYNCHRONIZATION"):
            names = [c.name for c in self.calls_by_id.get((pid >> 24, corr), [])]
            if kind == STREAM_WAIT and not any("Synchronize" in n for n in names):
                continue
            if device is None or owner.get((pid, context), dev) == device:
                spans.append((max(s, window[0]), min(e, window[1])))
        return union(spans)


def inside(k: Kernel, window: Span | None) -> bool:
    return not window or (k.start >= window[0] and k.end <= window[1])


def touches(k: Kernel, window: Span | None) -> bool:
    return not window or (k.end >= window[0] and k.start <= window[1])


def no_kernels(f: File, device: int, window: Span | None) -> list[dict]:
    row: dict = {"error": "no kernels found", "requested_device": device}
    if window:
        row["requested_trim_ns"] = list(window)
    return [row | {"available_devices": f.device_counts()}]


# ---- one function per skill: rows, exact


def top_kernels(f: File, params: dict, window: Span | None) -> list[dict]:
    groups: dict[str, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        if inside(k, window):
            groups[k.name].append(k)
    order = sorted(groups.items(), key=lambda g: (-sum(k.ns for k in g[1]), g[0].encode()))
    return [{"kernel_name": name, "invocations": len(ks), "total_ms": sum(k.ns for k in ks) / MS,
             "avg_ms": sum(k.ns for k in ks) / len(ks) / MS,
             "min_ms": min(k.ns for k in ks) / MS, "max_ms": max(k.ns for k in ks) / MS,
             "tc_eligible": tensor_core(name)[0],
             "tc_active": tensor_core(name)[1], "span_start_ns": min(k.start for k in ks),
             "span_end_ns": max(k.end for k in ks)}
            for name, ks in order[:params.get("limit", 15)]]


def kernel_instances(f: File, params: dict, window: Span | None) -> list[dict]:
    found = [k for k in f.kernels if k.device == params.get("device", 0) and touches(k, window)
             and params.get("name", "") in k.name]
    found.sort(key=lambda k: (-k.ns, k.start, k.correlation))
    return [{"kernel_name": k.demangled, "short_name": k.short, "start_ns": k.start, "end_ns": k.end,
             "duration_ms": k.ns / MS,
             "stream_id": k.stream, "device_id": k.device} for k in found[:params.get("limit", 10)]]


def stream_concurrency(f: File, params: dict, window: Span | None) -> list[dict]:
    lanes: dict[tuple, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        if inside(k, window):
            lanes[k.device, k.stream, k.pid, k.context].append(k)
    if not lanes:
        return []
    everything = [k for ks in lanes.values() for k in ks]
    span = max(k.end for k in everything) - min(k.start for k in everything)
    out = []
    for (device, stream, *_), ks in sorted(lanes.items(), key=lambda x: (-sum(k.ns for k in x[1]), x[0])):
        own = max(k.end for k in ks) - min(k.start for k in ks)
        out.append({"deviceId": device, "streamId": stream, "kernel_count": len(ks),
                    "total_gpu_ms": sum(k.ns for k in ks) / MS,
                    "avg_kernel_us": sum(k.ns for k in ks) / len(ks) / 1e3, "max_kernel_ms": max(k.ns for k in ks) / MS,
                    "stream_span_ms": own / MS,
                    "stream_util_pct": 100 * length(union((k.start, k.end) for k in ks)) / own if own else None,
                    "active_streams": len(lanes), "total_kernels": len(everything), "global_span_ms": span / MS,
                    "sum_util_pct": 100 * sum(k.ns for k in everything) / span if span else None})
    return out[:params.get("limit", 10)]


def activity(api: str) -> str:
    if "Synchronize" in api:
        return "synchronization"
    if "Memcpy" in api or "Memset" in api:
        return "memory_transfer"
    return "kernel_launch" if "LaunchKernel" in api or "GraphLaunch" in api or api.startswith("cuLaunch") else "unknown"


def attribution(f: File, pid: int, gap: Span) -> dict:
    by_name: Counter[str] = Counter()
    for c in f.calls:
        part = min(c.end, gap[1]) - max(c.start, gap[0])
        if part > 0 and c.tid >> 24 == pid >> 24:
            by_name[c.name] += part
    kinds: Counter[str] = Counter()
    for name, ns in by_name.items():
        kinds[activity(name)] += ns
    order = ["synchronization", "memory_transfer", "kernel_launch", "unknown"]
    category = max(kinds, key=lambda x: (kinds[x], -order.index(x))) if kinds else "cpu_stall"
    top = sorted(by_name.items(), key=lambda x: (-x[1], x[0]))[:3]
    return {"category": category, "top_apis": [{"name": n, "total_ms": ns / MS} for n, ns in top]}


def gpu_idle_gaps(f: File, params: dict, window: Span | None) -> list[dict]:
    device, least = params.get("device", 0), params.get("min_gap_ns", 1_000_000)
    lanes: dict[tuple, list] = defaultdict(list)
    for k in f.kernels:
        if k.device == device and inside(k, window):
            lanes[k.stream, k.pid, k.context].append((k.start, k.correlation, k.end, k.short))
    if f.has("GRAPH_TRACE"):
        for s, e, stream, pid, context, corr in f.db.execute(
                "SELECT start, end, streamId, globalPid, contextId, correlationId "
                f"FROM {KIND}GRAPH_TRACE WHERE deviceId = ?", (device,)):
            if not window or (s >= window[0] and e <= window[1]):
                lanes[stream, pid, context].append((s, corr, e, "CUDA graph"))
    if not lanes:
        return no_kernels(f, device, window)
    gaps = []
    for (stream, pid, _), works in lanes.items():
        works.sort()
        last = works[0]
        for w in works:
            if w[0] - last[2] > least:
                gaps.append((last[2] - w[0], last[2], stream, w[1], w[0], last[3], w[3], pid))
            last = max(last, w, key=lambda x: x[2])
    gaps.sort(key=lambda g: g[:4])
    out: list[dict] = []
    for i, (minus, start, stream, _, end, before, after, pid) in enumerate(gaps[:params.get("limit", 20)]):
        row = {"streamId": stream, "deviceId": device, "start_ns": start, "end_ns": end, "gap_ns": -minus,
               "before_kernel": before, "after_kernel": after}
        out.append(row | ({"attribution": attribution(f, pid, (start, end))} if i < 5 and f.has("RUNTIME") else {}))
    works = [w for ws in lanes.values() for w in ws]
    first, final = min(w[0] for w in works), max(w[2] for w in works)
    total = -sum(g[0] for g in gaps)
    lone = overlap_breakdown(f, {"device": device}, window)[0]

    def count(low: int, high: float) -> int:
        return sum(low <= -g[0] <= high for g in gaps)

    pct = 100 * total / ((final - first) * len(lanes)) if final > first else 0.0
    summary = {"_summary": True, "gap_count": len(gaps), "total_idle_ms": total / MS,
               "device_idle_ms": lone.get("idle_ms"), "pct_of_profile": pct,
               "gaps_1_5ms": count(MS, 5 * MS), "gaps_5_50ms": count(5 * MS + 1, 50 * MS),
               "gaps_gt50ms": count(50 * MS + 1, float("inf")),
               "profile_start_ns": first, "profile_end_ns": final, "gpu_id": device}
    if not gaps:
        summary |= {"min_gap_threshold_ns": least, "note": ""}
    return out + [summary]


def overlap_breakdown(f: File, params: dict, window: Span | None) -> list[dict]:
    device = params.get("device", 0)
    ks = [k for k in f.kernels if k.device == device and inside(k, window)]
    if not ks:
        return no_kernels(f, device, window)
    compute = union((k.start, k.end) for k in ks if not is_nccl(k))
    nccl = union((k.start, k.end) for k in ks if is_nccl(k))
    both = common(compute, nccl)
    first, last = min(k.start for k in ks), max(k.end for k in ks)
    n = sum(map(is_nccl, ks))
    row = {"compute_only_ms": (length(compute) - both) / MS, "nccl_only_ms": (length(nccl) - both) / MS,
           "overlap_ms": both / MS,
           "idle_ms": (last - first - length(union(compute + nccl))) / MS, "total_ms": (last - first) / MS,
           "overlap_pct": 100 * both / length(nccl) if nccl else 0, "compute_kernels": len(ks) - n, "nccl_kernels": n,
           "span_start_ns": first, "span_end_ns": last}
    kinds: dict[tuple, set[bool]] = defaultdict(set)
    for k in ks:
        kinds[k.stream, k.pid, k.context].add(is_nccl(k))
    shared = {lane for lane, kind in kinds.items() if len(kind) == 2}
    mine = [is_nccl(k) for k in ks if (k.stream, k.pid, k.context) in shared]
    if mine:
        shares = 100 * mine.count(False) / (len(ks) - n), 100 * mine.count(True) / n
        if min(shares) >= 5:
            row |= {"same_stream_diagnosis": [str(s) for s in sorted({lane[0] for lane in shared})],
                    "same_stream_compute_pct": shares[0], "same_stream_nccl_pct": shares[1]}
    row["present_devices"] = sorted({k.device for k in f.kernels})
    waits = f.host_waits(device, window or (first, last))
    if waits is not None:
        row["sync_ms"] = length(waits) / MS
    return [row | {"device_id": device}]


def pipeline_bubble_metrics(f: File, _params: dict, window: Span | None) -> list[dict]:
    kinds = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
    if not window:
        work = [s for kind in ("KERNEL", "GRAPH_TRACE") for spans in f.spans(kind).values() for s in spans]
        work = work or [s for kind in kinds for spans in f.spans(kind).values() for s in spans]
        window = (min(s for s, _ in work), max(e for _, e in work))
    by_device: dict[int, list[Span]] = defaultdict(list)
    for kind in kinds:
        for device, spans in f.spans(kind, window).items():
            by_device[device] += spans
    out = []
    for device, spans in sorted(by_device.items()):
        active = union(spans)
        span = active[-1][1] - active[0][0]
        out.append({"deviceId": device, "total_span_ms": span / MS, "active_ms": length(active) / MS,
                    "bubble_ms": (span - length(active)) / MS,
                    "bubble_pct": 100 * (span - length(active)) / span if span else 0.0})
    waits = f.host_waits(None, window)
    if out and waits is not None:
        out[0]["sync_ms"] = length(waits) / MS
    return out


def iterations(f: File, device: int, marker: str, window: Span | None) -> list[dict]:
    launches = [(c, k) for k in f.kernels if k.device == device and (c := f.launch(k))]
    threads = Counter(c.tid for c, _ in launches)
    if not threads:
        return []
    primary = min(threads, key=lambda t: (-threads[t], t))
    bounds: list[tuple[int, int, str]] = []
    for r in f.ranges:
        fits = not window or (r.end >= window[0] and r.start <= window[1])
        if r.tid == primary and marker.lower() in r.text.lower() and fits and (not bounds or r.start >= bounds[-1][1]):
            bounds.append((r.start, r.end, r.text))
    heuristic = not bounds
    if heuristic:
        own = sorted(((c, k) for c, k in launches if c.tid == primary and touches(k, window)), key=lambda x: x[1].start)
        if not own:
            return []
        cuts, busy = {min(c.start for c, _ in own)}, own[0][1].end
        for c, k in own:
            if k.start - busy > PAUSE_NS:
                cuts.add(c.start)
            busy = max(busy, k.end)
        points = sorted(cuts)
        last = max(c.end for c, _ in own)
        points += [last] if last > points[-1] else []
        bounds = [(a, b, f"heuristic_step_{i}") for i, (a, b) in enumerate(zip(points, points[1:]))]
    out = []
    for start, end, text in bounds:
        ks = [k for c, k in launches if c.tid >> 24 == primary >> 24 and c.start >= start and c.end <= end]
        if ks:
            first, last = min(k.start for k in ks), max(k.end for k in ks)
            out.append({"iteration": len(out), "text": text, "heuristic": heuristic, "gpu_start_ns": first,
                        "gpu_end_ns": last,
                        "gpu_start_s": first / 1e9, "gpu_end_s": last / 1e9, "duration_ms": (last - first) / MS,
                        "compute_ms": sum(k.ns for k in ks) / MS, "kernel_count": len(ks),
                        "nccl_count": sum(map(is_nccl, ks)), "device_id": device})
    most = max((r["compute_ms"] for r in out), default=0)
    for r in out:
        r["is_real_iteration"] = r["compute_ms"] * 10 >= most
    return out


def iteration_timing(f: File, params: dict, window: Span | None) -> list[dict]:
    return iterations(f, params.get("device", 0), params.get("marker", "sample_0"), window)


def nvtx_kernel_map(f: File, params: dict, window: Span | None) -> list[dict]:
    limit = params.get("limit", 50)
    by_thread: dict[int, list[Range]] = defaultdict(list)
    for r in f.ranges:
        if r.kind == 59:
            by_thread[r.tid].append(r)
    found: list[tuple] = []
    for k in f.kernels:  # by start
        if len(found) >= limit and (not found or k.start > found[-1][0]):
            break
        call = f.launch(k) if inside(k, window) else None
        around = [r for r in by_thread.get(call.tid, []) if r.start <= call.start and r.end >= call.end] if call else []
        if around:
            path = " > ".join(r.text for r in sorted(around, key=lambda r: (r.start - r.end, r.start, r.text)))
            leaf = min(around, key=lambda r: (r.end - r.start, r.start, r.text)).text
            found.append((k.start, k.end, k.name, path, leaf))
    return [{"nvtx_text": leaf, "nvtx_path": path, "kernel_name": name, "start_ms": s / MS, "end_ms": e / MS,
             "start_ns": s, "end_ns": e}
            for s, e, name, path, leaf in sorted(found)[:limit]]


ANSWERS = {g.__name__: g for g in (top_kernels, kernel_instances, stream_concurrency, gpu_idle_gaps, overlap_breakdown,
                                   pipeline_bubble_metrics, iteration_timing, nvtx_kernel_map)}
