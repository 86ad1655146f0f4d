# SPDX-License-Identifier: MIT
"""The right answers of root_cause_matcher and profile_health_manifest, by slow plain means.

Every stretch of time is a set of spans; a cause is a pattern, a severity and the spans that it claims.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import naive
import naive_kernels
import naive_nvtx
import naive_system
from naive import KIND, MS, File, Kernel, Span, inside, is_nccl, length, tensor_core, union

SENTENCES = {"evidence", "recommendation", "framework_evidence", "precision_notes", "suspected_bottleneck",
             "analysis_time_utc", "where"}
DECIMALS = {"root_cause_matcher.recoverable_ms": 3, "root_cause_matcher.magnitude_ms": 3,
            **{f"root_cause_matcher.{key}": 3 for key in ("idle_ms", "exposed_communication_ms", "edge_idle_ms")}} | {
    f"profile_health_manifest.{key}": decimals for key, decimals in (
        ("recoverable_ms", 3), ("profile_span_ms", 1), ("total_kernel_ms", 1), ("total_nccl_ms", 1),
        ("median_iter_ms", 1), ("slowest_iter_ms", 1), ("profiler_overhead_ms", 1), ("overhead_pct", 1),
        ("overhead_pct_raw", 9))}
FRAMEWORKS = (("vLLM", "paged_attention|vllm|sampleroutput|modelrunner"),
              ("SGLang", "sglang|radixattention|tokenattention"),
              ("Megatron-LM", "megatron|p2p_comm|flushgroups"),
              ("DeepSpeed", "deepspeed|zero_optimization|zero_stage"),
              ("PyTorch", "at::|aten::|c10::|torch"))
SEVERITIES = ("critical", "warning", "info")


def minus(a: list[Span], b: list[Span]) -> list[Span]:
    """The points of `a` that are not in `b`."""
    out = []
    for s, e in union(a):
        for bs, be in union(b):
            if be <= s or bs >= e:
                continue
            if bs > s:
                out.append((s, bs))
            s = max(s, be)
        if e > s:
            out.append((s, e))
    return out


def both(a: list[Span], b: list[Span]) -> list[Span]:
    return minus(a, minus(a, b))


def cut(s: int, e: int, window: Span | None) -> Span:
    return (max(s, window[0]), min(e, window[1])) if window else (s, e)


class Look:
    """One device, its kernels inside the window, and what else ran there."""

    def __init__(self, f: File, device: int, window: Span | None):
        self.f, self.device, self.window = f, device, window
        self.kernels = [k for k in f.kernels if k.device == device and inside(k, window)]
        self.span = (min(k.start for k in self.kernels), max(k.end for k in self.kernels))
        self.compute = union((k.start, k.end) for k in self.kernels if not is_nccl(k))
        self.nccl = union((k.start, k.end) for k in self.kernels if is_nccl(k))
        near = [k for k in f.kernels if k.device == device and k.start < self.span[1] and k.end > self.span[0]]
        self.computing = [cut(k.start, k.end, self.span) for k in near if not is_nccl(k)]
        self.busy_kernels = union(cut(k.start, k.end, self.span) for k in near)
        work = [cut(s, e, self.span) for s, e in naive_system.work(f, device)]
        self.idle = minus([self.span], work)
        self.causes: list[dict] = []

    def add(self, pattern: str, severity: str, magnitude: int, claim: list[Span] | None) -> None:
        """A cause; without a claim its magnitude says whether it matters."""
        matters = (magnitude if claim is None else length(union(claim))) * 100 >= self.span[1] - self.span[0]
        claim = claim or []
        self.causes.append({"pattern": pattern, "severity": severity if matters else "info", "claim": union(claim),
                            "magnitude_ms": magnitude / MS, "order": len(self.causes)})

    def operations(self, table: str, wanted) -> tuple[int, list[Span]]:
        """Summed time and spans of the rows of a table on the device for which `wanted(row)` holds."""
        if not self.f.has(table):
            return 0, []
        extra = ", copyKind, srcKind, dstKind" if table == "MEMCPY" else ", NULL, NULL, NULL"
        spans = []
        for s, e, pid, corr, kind, source, target in self.f.db.execute(
                f"SELECT start, end, globalPid, correlationId{extra} FROM {KIND}{table} WHERE deviceId = ?",
                (self.device,)):
            s, e = cut(s, e, self.window)
            calls = [c for c in self.f.calls_by_id.get((pid >> 24, corr), [])]
            if e > s and wanted(calls[-1].name if calls else "", kind, source, target):
                spans.append((s, e))
        return length(spans), spans

    def exposed(self, spans: list[Span]) -> list[Span]:
        return minus(both(spans, [self.span]), self.busy_kernels)


def idle_periods(x: Look) -> None:
    long = [s for s in x.idle if s[1] - s[0] > MS]
    if len(long) >= 3:
        x.add("GPU Bubbles (Pipeline Stalls)", "warning", length(long), long)


def communication(x: Look) -> None:
    exposed = minus(x.nccl, x.computing)
    hidden = 100 * (length(x.nccl) - length(exposed)) / length(x.nccl) if x.nccl else 0
    if exposed and round(hidden, 1) < 30:
        x.add("NCCL Serialization", "critical", length(exposed), exposed)


def host_to_device(x: Look) -> None:
    total, spans = x.operations("MEMCPY", lambda api, kind, *_: kind == 1)
    if total > 50 * MS:
        x.add("Excessive H2D Transfers", "warning", total, x.exposed(spans))
    rows = naive_kernels.h2d_distribution(x.f, {"device": x.device}, x.window)
    if rows and rows[-1]["type"] == "spread_out":
        x.add("Continuous H2D Transfers", "warning", total, x.exposed(spans))
    if rows and rows[-1]["type"] == "spike":
        x.add("H2D Transfer Spike", "info", total, x.exposed(spans))


def small_kernels(x: Look) -> None:
    rows = naive_kernels.kernel_launch_overhead(x.f, {"device": x.device, "limit": 10 ** 9}, x.window)
    if not rows:
        return
    api = round(sum(r["total_api_ms"] for r in rows) * MS)
    names = {r["kernel_name"] for r in rows}
    starts = {k.start for k in x.f.kernels if k.device == x.device and (k.short or k.name) in names}
    waits = [s for s in x.idle if s[1] in starts and s[1] - s[0] <= MS]
    x.add("Small Kernel Overhead", "warning", api, waits)


def hotspot(x: Look) -> None:
    times: Counter[str] = Counter()
    for k in x.kernels:
        times[k.name] += k.ns
    if len(times) >= 2 and 2 * max(times.values()) > sum(times.values()):
        x.add("Kernel Hotspot", "info", max(times.values()), None)


def balance(x: Look) -> None:
    if x.compute and x.nccl and 2 * length(x.compute) < length(x.nccl):
        x.add("Compute-Communication Imbalance", "critical", length(x.nccl), minus(x.nccl, x.computing))


def layers(x: Look) -> None:
    if not x.f.ranges or not x.f.has("RUNTIME"):
        return
    rows = naive_nvtx.nvtx_layer_breakdown(x.f, {"limit": 10 ** 9}, x.window)
    if not rows or rows[0].get("grouping_type") != "layer":
        return
    found = [r for r in rows if r.get("is_layer") and r["total_gpu_ms"] > 0]
    ns = {id(r): {k: round(r[k] * MS) for k in ("total_gpu_ms", "compute_ms", "nccl_ms")} for r in found}
    nccl = sum(ns[id(r)]["nccl_ms"] for r in found)
    for r in found:
        if len(found) >= 2 and ns[id(r)]["nccl_ms"] * 100 > nccl * 40:
            x.add("Layer NCCL Hotspot", "warning", ns[id(r)]["nccl_ms"], None)
    heavy = sorted(ns[id(r)]["compute_ms"] for r in found if ns[id(r)]["compute_ms"] > 10_000)
    if heavy and heavy[0] != heavy[-1] and heavy[-1] >= 3 * heavy[0]:
        x.add("Pipeline Imbalance", "warning", heavy[-1] - heavy[0], None)
    odd = [ns[id(r)]["total_gpu_ms"] for r in found if r["is_outlier"]] if len(found) >= 3 else []
    for total in odd[:5]:
        x.add("Layer Outlier", "warning", total, None)
    if odd[5:]:
        x.add("Layer Outlier", "info", sum(odd[5:]), None)


def host_waits(x: Look) -> None:
    pids = {k.pid >> 24 for k in x.f.kernels if k.device == x.device}
    spans = [cut(c.start, c.end, x.span) for c in x.f.calls if c.tid >> 24 in pids and "Synchronize" in c.name]
    waits = union(spans)
    if length(waits) >= MS and 50 * length(waits) >= length(x.busy_kernels):
        x.add("Excessive Synchronization", "warning", length(waits), both(x.idle, waits))


def copies(x: Look) -> None:
    def sync_copy(api, *_):
        return api.startswith(("cudaMemcpy", "cuMemcpy")) and "Async" not in api

    def pageable(api, _kind, source, target):
        return "Async" in api and 0 in (source, target)

    def sync_set(api, *_):
        return api.startswith(("cudaMemset", "cuMemset")) and "Async" not in api

    for pattern, severity, table, wanted in (("Synchronous Memcpy", "warning", "MEMCPY", sync_copy),
                                             ("Pageable Memory in Async Memcpy", "warning", "MEMCPY", pageable),
                                             ("Synchronous Memset", "info", "MEMSET", sync_set)):
        total, spans = x.operations(table, wanted)
        if spans:
            x.add(pattern, severity, total, x.exposed(spans))


def settle(causes: list[dict]) -> list[dict]:
    """Every stretch to the cause that claims most; then by time, severity and order of the checks."""
    left = list(causes)
    while left:
        first = max(left, key=lambda c: (length(c["claim"]), -c["order"]))
        left.remove(first)
        for other in left:
            other["claim"] = minus(other["claim"], first["claim"])
    return sorted(causes, key=lambda c: (-length(c["claim"]), SEVERITIES.index(c["severity"]), c["order"]))


def find_causes(f: File, device: int, window: Span | None) -> Look | None:
    counts = Counter(k.device for k in f.kernels if inside(k, window))
    if not counts:
        return None
    if device not in counts:
        device = min(counts, key=lambda d: (-counts[d], d))
    look = Look(f, device, window)
    for check in (idle_periods, communication, host_to_device, small_kernels, hotspot, balance, layers, host_waits,
                  copies):
        check(look)
    look.causes = settle(look.causes)
    return look


def root_cause_matcher(f: File, params: dict, window: Span | None) -> list[dict]:
    look = find_causes(f, params.get("device", 0), window)
    if look is None:
        return [{"_abstained": True, "reason": "", "trim_start_ns": window[0], "trim_end_ns": window[1]}]
    rows = [{"pattern": c["pattern"], "severity": c["severity"], "evidence": "", "recommendation": "",
             "analysed_device": look.device, "recoverable_ms": length(c["claim"]) / MS,
             "magnitude_ms": c["magnitude_ms"]} for c in look.causes]
    claimed = union(s for c in look.causes for s in c["claim"])
    part = naive_system.known_part(f, window) if window else look.span
    beside = minus(minus([part], [look.span]), [cut(s, e, part) for s, e in naive_system.work(f, look.device)])
    rest = {"_unclaimed": True, "idle_ms": length(minus(look.idle, claimed)) / MS,
            "exposed_communication_ms": length(minus(minus(look.nccl, look.computing), claimed)) / MS,
            "edge_idle_ms": length(beside) / MS}
    return [*rows, rest] if rows else [{"pattern": "No Known Anti-Patterns Detected", "severity": "info", "evidence": "",
                     "recommendation": "", "analysed_device": look.device}, rest]


# ---- profile_health_manifest


def shortened(text: str, width: int) -> str:
    """The text in `width` characters, its middle replaced by one."""
    if len(text) <= width:
        return text
    head = width // 2
    return text[:head] + "\u2026" + text[len(text) - (width - 1 - head):]


def framework(f: File) -> str:
    kernels = {n for k in f.kernels for n in (k.short, k.demangled) if n}
    labels = {naive_nvtx.normal(r.text) for r in f.ranges}
    for name, words in FRAMEWORKS:
        for texts in (kernels, labels):
            if any(re.search(f"(?<![a-z])(?:{words})", t.lower()) for t in texts):
                return name
    return "Generic CUDA"


def gpu_name(f: File, device: int) -> str:
    if "TARGET_INFO_GPU" not in f.tables:
        return "unknown"
    names = dict(f.db.execute("SELECT id, name FROM TARGET_INFO_GPU"))
    owner = dict(f.db.execute("SELECT cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE"))
    return names.get(owner.get(device, device), names[min(names)])


def nccl_section(ks: list[Kernel]) -> dict:
    mine = [k for k in ks if is_nccl(k)]
    row: dict = {"streams": len({(k.pid, k.context, k.stream) for k in mine}), "collectives": len(mine)}
    if mine:
        times: Counter[str] = Counter()
        for k in mine:
            times[naive_kernels.operation(k)] += k.ns
        first = min(times, key=lambda o: (-times[o], o))
        row |= {"dominant_type": first, "dominant_pct": 100 * times[first] / sum(times.values()),
                "total_nccl_ms": sum(times.values()) / MS}
    return row


def idle_section(f: File, device: int, window: Span | None) -> dict:
    gaps = naive.gpu_idle_gaps(f, {"device": device}, window)
    if "error" in gaps[0]:
        return {}
    busy = [r for r in naive.pipeline_bubble_metrics(f, {}, window) if r["deviceId"] == device]
    return {"gap_count": gaps[-1]["gap_count"], "idle_pct": gaps[-1]["pct_of_profile"],
            "total_idle_ms": gaps[-1]["total_idle_ms"], "device_idle_ms": busy[0]["bubble_ms"],
            "device_idle_pct": busy[0]["bubble_pct"]}


def nvtx_section(f: File, device: int, window: Span | None) -> dict:
    if "NVTX_EVENTS" not in f.tables or not f.db.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone()[0]:
        return {"has_nvtx": False}
    times: dict[str, list[int]] = defaultdict(list)
    for r in f.ranges:
        if not window or (r.start >= window[0] and r.end <= window[1]):
            times[naive_nvtx.normal(r.text)].append(r.end - r.start)
    top = sorted(times.items(), key=lambda x: (-sum(x[1]), x[0].encode()))[:5]
    row: dict = {"has_nvtx": True, "top_regions": [{"name": shortened(n, 50), "total_ms": round(sum(v) / MS, 1), "count": len(v)} for n, v in top]}
    real = [r for r in naive.iterations(f, device, "sample_0", window) if r["is_real_iteration"] and not r["heuristic"]]
    if real:
        lengths = sorted(r["duration_ms"] for r in (real[1:] if len(real) > 1 else real))
        row |= {"iteration_count": len(real), "median_iter_ms": lengths[len(lengths) // 2],
                "slowest_iter_ms": lengths[-1]}
    return row


def suspect(look: Look | None, ks: list[Kernel], nvtx: dict) -> bool:
    if look and look.causes:
        first = length(look.causes[0]["claim"])
        if first and first * 20 >= look.span[1] - look.span[0]:
            return True
    times: Counter[str] = Counter()
    for k in ks:
        times[k.name] += k.ns
    if len(times) > 1 and max(times.values()) * 100 > sum(times.values()) * 60:
        return True
    return "iteration_count" in nvtx and nvtx["slowest_iter_ms"] > 1.5 * nvtx["median_iter_ms"]


def profile_health_manifest(f: File, params: dict, window: Span | None) -> list[dict]:
    device = params.get("device", 0)
    look = find_causes(f, device, window)
    ks = [k for k in f.kernels if k.device == device and inside(k, window)]
    span = cut(*f.kernel_span(), window)
    times: dict[str, list[int]] = defaultdict(list)
    for k in ks:
        times[k.name].append(k.ns)
    top = sorted(times.items(), key=lambda x: (-sum(x[1]), x[0].encode()))[:5]
    lone = naive.overlap_breakdown(f, {"device": device}, window)[0]
    overlap = lone if "error" in lone else {k: lone[k] for k in ("compute_only_ms", "nccl_only_ms", "overlap_pct",
                                                                 "idle_ms")}
    overhead = []
    if "PROFILER_OVERHEAD" in f.tables:
        overhead = union(cut(s, e, span) for s, e in f.db.execute("SELECT start, end FROM PROFILER_OVERHEAD"))
    nvtx = nvtx_section(f, device, window)
    communicates = any(is_nccl(k) for k in f.kernels)
    row = {"analysis_time_utc": "", "gpu": gpu_name(f, device),
           "fingerprint": {"framework": framework(f),
                           "distributed": len({k.device for k in f.kernels}) > 1 or communicates or
                           "NVTX_PAYLOAD_SCHEMAS" in f.tables,
                           "multi_node": False, "nic_summary": "", "precision_notes": [], "framework_evidence": ""},
           "profile_span_ms": (span[1] - span[0]) / MS,
           "top_kernels": [{"name": shortened(n, 60), "total_ms": sum(v) / MS, "count": len(v), "kernel_name": n,
                            "invocations": len(v)} for n, v in top],
           "total_kernel_ms": sum(k.ns for k in ks) / MS, "overlap": overlap, "nccl": nccl_section(ks),
           "communicators": {"communicators": 0, "collective_rows": 0},
           "sync": {}, "idle": idle_section(f, device, window),
           "root_cause_count": len(look.causes) if look else 0,
           "root_causes": [{"pattern": c["pattern"], "severity": c["severity"],
                            "recoverable_ms": length(c["claim"]) / MS} for c in (look.causes if look else [])[:5]],
           "nvtx": nvtx,
           "data_quality": {"profiler_overhead_ms": length(overhead) / MS,
                            "overhead_pct": 100 * length(overhead) / (span[1] - span[0]),
                            "overhead_pct_raw": 100 * length(overhead) / (span[1] - span[0])}}
    if f.has("SYNCHRONIZATION"):
        row["sync"] = naive_system.sync_cost_analysis(f, {"device": device}, window)[0]
    if suspect(look, ks, nvtx):
        row["suspected_bottleneck"] = ""
    return [row]


ANSWERS = {"root_cause_matcher": root_cause_matcher, "profile_health_manifest": profile_health_manifest}
