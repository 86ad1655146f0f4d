# SPDX-License-Identifier: MIT
"""The right answers of the skills about launches, host-to-device copies and communication kernels.

Like naive.py: slow, plain, exact, and nothing here shares code with the program.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import NamedTuple

import naive
from naive import KIND, MS, File, Kernel, Span, common, inside, length, tensor_core, union

SECOND = 1_000_000_000
SENTENCES = {"detail"}
EXACT = ("total_gpu_ms", "tc_active_ms", "tc_achieved_pct", "tc_calls_pct")
DECIMALS = {f"tensor_core_usage.{k}": 9 for k in EXACT} | {
    "kernel_launch_overhead.total_api_ms": 3, "kernel_launch_overhead.total_queue_ms": 3,
    "kernel_launch_overhead.total_kernel_ms": 3, "kernel_launch_overhead.avg_kernel_us": 3,
    "kernel_launch_pattern.max_gap_ms": 3, "kernel_launch_pattern.dispatch_rate_per_ms": 1,
    "h2d_distribution.total_mb": 9, "h2d_distribution.avg_gbps": 9,
    "nccl_anomaly.dur_ms": 3, "nccl_anomaly.avg_ms": 3, "nccl_anomaly.ratio_to_avg": 1,
    "kernel_overlap_matrix.pct_of_a": 1, "kernel_overlap_matrix.pct_of_b": 1}
OPERATIONS = ("allgather", "reducescatter", "allreduce", "broadcast", "sendrecv", "reduce")
COPY_CATEGORIES = {1: "memcpy_h2d", 2: "memcpy_d2h", 8: "memcpy_d2d", 10: "memcpy_p2p"}


class Copy(NamedTuple):
    start: int
    end: int
    device: int
    kind: int
    bytes: int


def copies(f: File) -> list[Copy]:
    if not f.has("MEMCPY"):
        return []
    return sorted(Copy(*r) for r in f.db.execute(f"SELECT start, end, deviceId, copyKind, bytes FROM {KIND}MEMCPY"))


def within(s: int, e: int, window: Span | None) -> bool:
    return not window or (s >= window[0] and e <= window[1])


def short(k: Kernel) -> str:
    return k.short or k.demangled or "?"


def operation(k: Kernel) -> str | None:
    """The operation of a communication kernel; no fixture has any outside NCCL."""
    name = short(k).lower()
    return next((o for o in OPERATIONS if o in name), "other") if "nccl" in name else None


def tensor_core_usage(f: File, params: dict, window: Span | None) -> list[dict]:
    groups: dict[str, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        if inside(k, window) and tensor_core(k.name)[0]:
            groups[k.name].append(k)
    order = sorted(groups.items(), key=lambda g: (-sum(k.ns for k in g[1]), g[0].encode()))
    out = []
    for name, ks in order[:params.get("limit", 20)]:
        active = [k for k in ks if tensor_core(k.name)[1]]
        total, busy = sum(k.ns for k in ks), sum(k.ns for k in active)
        pct = 100 * busy / total if total else 0.0
        out.append({"kernel_name": name, "total_gpu_ms": total / MS, "call_count": len(ks), "tc_active_ms": busy / MS,
                    "tc_active_calls": len(active), "tc_achieved_pct": pct,
                    "tc_calls_pct": 100 * len(active) / len(ks), "is_outlier": pct < 50})
    return out


def kernel_launch_overhead(f: File, params: dict, window: Span | None) -> list[dict]:
    device = params.get("device", 0)
    groups: dict[str, list[tuple[Kernel, naive.Call]]] = defaultdict(list)
    for k in f.kernels:
        if k.device != device or not inside(k, window):
            continue
        found = [c for c in f.calls_by_id.get((k.pid >> 24, k.correlation), [])
                 if c.name.startswith(("cudaLaunch", "cuLaunch")) and c.start <= k.start]
        if found:
            groups[short(k)].append((k, max(found, key=lambda c: (c.start, c.end, -c.tid))))
    rows = []
    for name, pairs in groups.items():
        kernel_ns = sum(k.ns for k, _ in pairs)
        if len(pairs) < max(1, params.get("min_launches", 100)) or kernel_ns >= 10_000 * len(pairs):
            continue
        calls = {(c.tid, c.correlation, c.start): c.end - c.start for _, c in pairs}
        waits = [k.start - c.end for k, c in pairs if k.start > c.end]
        rows.append((-sum(calls.values()), -len(pairs), name.encode(), {
            "kernel_name": name, "device_id": device, "launch_count": len(pairs),
            "total_api_ms": sum(calls.values()) / MS, "avg_api_us": sum(calls.values()) / len(calls) / 1e3,
            "max_api_us": max(calls.values()) / 1e3, "queue_count": len(waits), "total_queue_ms": sum(waits) / MS,
            "avg_queue_us": sum(waits) / len(waits) / 1e3 if waits else 0.0, "total_kernel_ms": kernel_ns / MS,
            "avg_kernel_us": kernel_ns / len(pairs) / 1e3, "span_start_ns": min(k.start for k, _ in pairs),
            "span_end_ns": max(k.end for k, _ in pairs)}))
    return [r[3] for r in sorted(rows, key=lambda r: r[:3])][:max(1, params.get("limit", 20))]


def kernel_launch_pattern(f: File, params: dict, window: Span | None) -> list[dict]:
    lanes: dict[tuple, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        if inside(k, window):
            lanes[k.stream, k.device, k.pid, k.context].append(k)
    out = []
    for (stream, device, *_), ks in sorted(lanes.items(), key=lambda x: (-len(x[1]), x[0])):
        ends = list(itertools.accumulate((k.end for k in ks), max))
        gaps = [g for k, e in zip(ks[1:], ends) if (g := k.start - e) > 0]
        span, total = ends[-1] - ks[0].start, sum(k.ns for k in ks)
        out.append({"streamId": stream, "kernel_count": len(ks), "span_ms": span / MS, "total_kernel_ms": total / MS,
                    "dispatch_rate_per_ms": len(ks) / (span / MS) if span else None,
                    "occupancy_pct": 100 * length(union((k.start, k.end) for k in ks)) / span if span else None,
                    "avg_kernel_us": total / len(ks) / 1e3, "max_gap_ms": max(gaps, default=0) / MS,
                    "avg_gap_us": sum(gaps) / len(gaps) / 1e3 if gaps else None,
                    "sync_stalls": sum(g > MS for g in gaps), "deviceId": device})
    return out[:params.get("limit", 10)]


def h2d_distribution(f: File, params: dict, window: Span | None) -> list[dict]:
    device = params.get("device", 0)
    mine = [c for c in copies(f) if c.kind == 1 and c.device == device and within(c.start, c.end, window)]
    if not mine:
        return []
    by_second: dict[int, list[Copy]] = defaultdict(list)
    for c in mine:
        by_second[(c.start - mine[0].start) // SECOND].append(c)
    rows = []
    for second, cs in sorted(by_second.items()):
        ns = sum(c.end - c.start for c in cs)
        rows.append({"second": second, "ops": len(cs), "total_mb": sum(c.bytes for c in cs) / 1e6,
                     "avg_gbps": sum(c.bytes for c in cs) / ns if ns else 0.0, "window_start": cs[0].start,
                     "window_end": max(c.end for c in cs)})
    end = max([c.end for c in copies(f)] + [k.end for k in f.kernels])
    seen = min(end, window[1] if window else end) - mine[0].start
    size = {s: sum(c.bytes for c in cs) for s, cs in by_second.items()}
    median = sorted(size.values())[len(size) // 2]
    spikes = [s for s in sorted(size) if 0 < 3 * median < size[s]]
    pattern = {"_pattern": True, "detail": ""}
    if not sum(size.values()):
        pattern["type"] = "none"
    elif seen < 3 * SECOND:
        pattern["type"] = "too_short"
    elif (size.get(0, 0) + size.get(1, 0)) * 10 > 8 * sum(size.values()):
        pattern["type"] = "init_heavy"
    elif spikes:
        pattern |= {"type": "spike", "spike_seconds": spikes, "gpu_id": device}
    else:
        pattern["type"] = "spread_out" if len(rows) >= 3 else "unknown"
    return [*rows, pattern]


def nccl_anomaly(f: File, params: dict, window: Span | None) -> list[dict]:
    threshold = float(params.get("threshold", 3.0))
    kinds: dict[tuple, list[Kernel]] = defaultdict(list)
    for k in f.kernels:
        if operation(k) and inside(k, window):
            kinds[k.device, operation(k)].append(k)
    rows = []
    for (device, name), ks in kinds.items():
        mean = sum(k.ns for k in ks) / len(ks)
        for k in ks:
            if mean > 0 and k.ns > mean * threshold:
                rows.append((-k.ns, k.start, k.stream, short(k), {
                    "op_type": name, "name": short(k), "dur_ns": k.ns, "dur_ms": k.ns / MS, "avg_ms": mean / MS,
                    "ratio_to_avg": k.ns / mean, "start": k.start, "streamId": k.stream, "total_count": len(ks),
                    "deviceId": device}))
    return [r[4] for r in sorted(rows, key=lambda r: r[:4])][:params.get("limit", 20)]


def kernel_overlap_matrix(f: File, params: dict, window: Span | None) -> list[dict]:
    device = params.get("device", 0)
    spans: dict[str, list[Span]] = defaultdict(list)
    for k in f.kernels:
        if k.device == device and inside(k, window):
            spans["nccl_" + o if (o := operation(k)) else "compute"].append((k.start, k.end))
    for c in copies(f):
        if c.device == device and within(c.start, c.end, window):
            spans[COPY_CATEGORIES.get(c.kind, f"memcpy_{c.kind}")].append((c.start, c.end))
    if not spans:
        return [{"error": "no kernels found", "device": device}]
    times = {name: union(s) for name, s in spans.items()}
    out = []
    for a, b in itertools.combinations_with_replacement(sorted(times), 2):
        ns = length(times[a]) if a == b else common(times[a], times[b])
        shares = [None if a == b else 100 * ns / length(times[x]) if times[x] else 0 for x in (a, b)]
        out.append({"category_a": a, "category_b": b, "overlap_ns": ns, "overlap_ms": ns / MS, "is_diagonal": a == b,
                    "pct_of_a": shares[0], "pct_of_b": shares[1]})
    return out


ANSWERS = {g.__name__: g for g in (tensor_core_usage, kernel_launch_overhead, kernel_launch_pattern, h2d_distribution,
                                   nccl_anomaly, kernel_overlap_matrix)}
