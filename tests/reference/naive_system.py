# SPDX-License-Identifier: MIT
"""The right answers of the skills about the CPU, its calls and its waiting, by slow plain means."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict

from naive import KIND, MS, STREAM_WAIT, File, Kernel, Span, inside, is_nccl, length, union

DECIMALS = {"pct_of_dispatches": 1, "cpu_pct": 2, "total_sync_wall_ms": 3, "profile_span_ms": 3, "sync_density_pct": 2,
            "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE": 3,
            "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT": 3,
            "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE": 3,
            "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE": 3, "Unknown": 3,
            "confidence": 3, "margin": 4, "critical_path_ms": 3, "gpu_compute_ms": 3, "comm_ms": 3, "cpu_ms": 3,
            "gpu_compute_share": 4, "comm_share": 4, "cpu_share": 4, "sync_wall_ms": 3, "critical_path.total_ms": 3}
WORK = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")
NVTX_TYPES = (59, 60)


@functools.lru_cache(maxsize=64)
def work(f: File, device: int) -> list[Span]:
    return [s for kind in WORK for s in f.spans(kind).get(device, [])]


def cut(spans: list[Span], window: Span) -> list[Span]:
    return [(max(s, window[0]), min(e, window[1])) for s, e in spans]


# ---- cpu_gpu_pipeline


def starved(f: File, k: Kernel) -> bool:
    """Its device had nothing to do for more than 1 ms before it, and its launch began within that time."""
    earlier = [e for s, e in work(f, k.device) if s < k.start and e > s]
    if not earlier:
        return False
    idle_from = max(earlier)
    return k.start - idle_from > MS and f.launch(k).start >= idle_from


def dispatches(f: File, device: int | None, window: Span | None) -> dict[int, list[Kernel]]:
    threads: dict[int, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        call = f.launch(k)
        if call and device in (None, k.device) and inside(k, window):
            threads[call.tid].append(k)
    return threads


def cpu_gpu_pipeline(f: File, params: dict, window: Span | None) -> list[dict]:
    threads = dispatches(f, None, window)
    total = sum(map(len, threads.values()))
    rows = []
    for tid, ks in sorted(threads.items(), key=lambda x: (-len(x[1]), x[0])):
        queue = [max(0, k.start - f.launch(k).end) for k in ks]
        waited = sum(starved(f, k) for k in ks)
        rows.append({"cpu_tid": tid, "dispatches": len(ks), "avg_queue_delay_us": sum(queue) / len(ks) / 1e3,
                     "min_queue_delay_us": min(queue) / 1e3, "max_queue_delay_us": max(queue) / 1e3,
                     "starvation_events": waited, "avg_kernel_us": sum(k.ns for k in ks) / len(ks) / 1e3,
                     "pct_of_dispatches": 100 * len(ks) / total, "long_queue_events": sum(q > MS for q in queue),
                     "gpu_idle_before_launch_events": waited})
    return rows[:params.get("limit", 10)]


# ---- thread_utilization


def thread_utilization(f: File, params: dict, window: Span | None) -> list[dict]:
    if "COMPOSITE_EVENTS" not in f.tables:
        return [{"_abstained": True}]
    cycles: Counter[int] = Counter()
    for tid, start, n in f.db.execute("SELECT globalTid, start, cpuCycles FROM COMPOSITE_EVENTS"):
        if not window or window[0] <= start <= window[1]:
            cycles[tid] += n
    names = defaultdict(list)
    if "ThreadNames" in f.tables:
        for tid, priority, name in f.db.execute("SELECT globalTid, priority, nameId FROM ThreadNames"):
            names[tid].append((-priority, f.strings[name]))
    rows = [{"tid": tid & 0xFFFFFF, "thread_name": min(names[tid])[1] if names[tid] else None,
             "cpu_pct": 100 * n / max(1, sum(cycles.values()))}
            for tid, n in sorted(cycles.items(), key=lambda x: (-x[1], x[0]))]
    return rows[:params.get("limit", 10)]


# ---- module_loading, gc_impact


def table(key: str, events: list[tuple[str, int]]) -> list[dict]:
    by_name: dict[str, list[int]] = defaultdict(list)
    for name, ns in events:
        by_name[name].append(ns)
    return [{key: name, "occurrences": len(ns), "total_ms": sum(ns) / MS, "max_ms": max(ns) / MS,
             "avg_ms": sum(ns) / len(ns) / MS}
            for name, ns in sorted(by_name.items(), key=lambda x: (-sum(x[1]), x[0]))]


def calls_like(f: File, pattern: str, window: Span | None) -> list[tuple[str, int]]:
    return [(c.name, c.end - c.start) for c in f.calls if re.search(pattern, c.name, re.I)
            and (not window or (c.start >= window[0] and c.end <= window[1]))]


def module_loading(f: File, _params: dict, window: Span | None) -> list[dict]:
    return table("api_name", calls_like(
        f, "CompilePTX|nvrtcCompileProgram|cuLink|cu(da)?ModuleLoad|cuModuleGetLoadingMode|cu(da)?LibraryLoad|"
           "cu(da)?LibraryGetKernel|cuLibraryGetModule|cuKernelGetFunction", window))


def gc_impact(f: File, _params: dict, window: Span | None) -> list[dict]:
    ranges = [(r.text, r.end - r.start) for r in f.ranges if r.kind in NVTX_TYPES
              and re.search("(?<![a-z])gc(?![a-z])|garbage", r.text, re.I)
              and (not window or (r.start >= window[0] and r.end <= window[1]))]
    named = [(re.sub(r",\s*(op_id|seq)\s*=\s*\d+", "", text), ns) for text, ns in ranges]
    return table("event_name", calls_like(f, "cudaFree|cuMemFree|cudaMalloc|cuMemAlloc", window) + named)


# ---- sync_cost_analysis


def recorded(f: File) -> Span:
    spans = [(c.start, c.end) for c in f.calls]
    for kind in (*WORK, "SYNCHRONIZATION"):
        if f.has(kind):
            spans += f.db.execute(f"SELECT start, end FROM {KIND}{kind}").fetchall()
    return min(s for s, _ in spans), max(e for _, e in spans)


def known_part(f: File, window: Span) -> Span:
    first, last = recorded(f)
    return max(window[0], first), min(window[1], last)


def waits(f: File, device: int | None, window: Span) -> tuple[int, dict[str, float], dict[int, dict]]:
    """Blocked ns, ms by type in order of first start, and the same by device."""
    names = dict(f.db.execute("SELECT id, name FROM ENUM_CUPTI_SYNC_TYPE"))
    owner = {(k.pid, k.context): k.device for k in f.kernels}
    spans: dict[int, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    both: dict[str, list[Span]] = defaultdict(list)
    for s, e, kind, corr, pid, context, dev in f.db.execute(
            "SELECT start, end, syncType, correlationId, globalPid, contextId, deviceId "
            f"FROM {KIND}SYNCHRONIZATION ORDER BY start, syncType"):
        made_by = "".join(c.name for c in f.calls_by_id.get((pid >> 24, corr), []))
        if kind == STREAM_WAIT and "Synchronize" in made_by:
            kind = 3 if "Stream" in made_by else 1 if "Event" in made_by else 4
        on = owner.get((pid, context), dev)
        s, e = max(s, window[0]), min(e, window[1])
        if e > s and device in (None, on):
            both[names.get(kind, "Unknown")].append((s, e))
            spans[on][names.get(kind, "Unknown")].append((s, e))

    def blocked(types: dict[str, list[Span]]) -> int:
        return length(union(s for name, one in types.items() if "STREAM_WAIT" not in name for s in one))

    def by_type(types: dict[str, list[Span]]) -> dict[str, float]:
        return {name: length(union(one)) / MS for name, one in types.items()}

    devices = {d: {"device": d, "total_sync_wall_ms": blocked(types) / MS,
                   "sync_density_pct": 100 * blocked(types) / (window[1] - window[0]),
                   "sync_by_type_ms": by_type(types)} for d, types in sorted(spans.items())}
    return blocked(both), by_type(both), devices


def sync_cost_analysis(f: File, params: dict, window: Span | None) -> list[dict]:
    span = known_part(f, window) if window else f.kernel_span()
    total, by_type, devices = waits(f, params.get("device"), span)
    return [{"total_sync_wall_ms": total / MS, "sync_by_type_ms": by_type, "sync_by_device": list(devices.values()),
             "profile_span_ms": (span[1] - span[0]) / MS, "sync_density_pct": 100 * total / (span[1] - span[0])}]


# ---- critical_path


def top(ks: list[Kernel], window: Span) -> list[dict]:
    groups: dict[str, list[Kernel]] = defaultdict(list)
    for k in ks:
        groups[k.short].append(k)

    def ns(group: list[Kernel]) -> int:
        return length(cut([(k.start, k.end) for k in group], window))

    order = sorted(groups.items(), key=lambda g: (-ns(g[1]), g[0]))[:5]
    return [{"name": name, "instances": len(g), "total_ms": ns(g) / MS, "start_ns": min(k.start for k in g),
             "end_ns": max(k.end for k in g)} for name, g in order]


def critical_path(f: File, params: dict, window: Span | None) -> list[dict]:
    def time(d: int) -> int:
        return sum(max(0, min(k.end, window[1]) - max(k.start, window[0])) if window else k.ns
                   for k in f.kernels if k.device == d)

    device = params.get("device")
    if device is None:
        device = min({k.device for k in f.kernels}, key=lambda d: (-time(d), d))
    span = known_part(f, window) if window else f.kernel_span(device)
    ks = [k for k in f.kernels if k.device == device and k.start < span[1] and k.end > span[0]]
    compute = length(union(cut([(k.start, k.end) for k in ks if not is_nccl(k)], span)))
    kernels = length(union(cut([(k.start, k.end) for k in ks], span)))
    active = length(union(cut(work(f, device), span)))
    total = span[1] - span[0]
    parts = {"gpu-compute-bound": compute, "comm-bound": kernels - compute, "cpu-bound": total - active,
             "copy-bound": active - kernels}
    first, second = sorted(parts.values(), reverse=True)[:2]
    margin = (first - second) / total
    clear = margin >= 0.15 and first / total >= 0.5 and total >= MS
    breakdown = {"gpu_compute_ms": compute / MS, "comm_ms": (kernels - compute) / MS, "cpu_ms": (total - active) / MS,
                 "gpu_compute_share": compute / total, "comm_share": (kernels - compute) / total,
                 "cpu_share": (total - active) / total}
    late = sum(starved(f, k) for one in dispatches(f, device, window).values() for k in one)
    return [{"bound_class": max(parts, key=parts.get) if clear else "mixed", "confidence": margin, "margin": margin,
             "critical_path_ms": total / MS, "device": device, "breakdown": breakdown,
             "top_compute_kernels": top([k for k in ks if not is_nccl(k)], span),
             "top_collectives": top([k for k in ks if is_nccl(k)], span),
             "cpu_attribution": {"sync_wall_ms": waits(f, device, span)[0] / MS, "dispatch_starvation_events": late},
             "note": ""}]


ANSWERS = {g.__name__: g for g in (cpu_gpu_pipeline, thread_utilization, module_loading, gc_impact, sync_cost_analysis,
                                   critical_path)}
