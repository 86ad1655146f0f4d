# SPDX-License-Identifier: MIT
"""The right answers of the skills about NVTX ranges, by slow plain means; see naive.py."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

import naive
from naive import MS, PAUSE_NS, Call, File, Kernel, Range, Span, inside, is_nccl, tensor_core, touches

PUSH_POP = 59
SENTENCES = {"limitations"}
DECIMALS = {"avg_kernel_ms": 3, "nvtx_layer_breakdown.total_ms": 3, "code_attribution_candidates.total_ms": 3,
            "total_kernel_ms": 3, "nccl_compile_context_breakdown.ms": 3, "total_nccl_ms": 3}
ABSTAINED = [{"_abstained": True, "reason": ""}]


def normal(text: str) -> str:
    return re.sub(r", *(?:op_id|seq) *= *\d+|(?<![0-9A-Fa-f])0x[0-9A-Fa-f]+",
                  lambda m: "0x#" if m[0].startswith("0x") else "", text)


def enclosing(f: File, call: Call) -> list[Range]:
    """Push-pop ranges around a call, outermost first."""
    found = [r for r in threads(f).get(call.tid, []) if r.start <= call.start and r.end >= call.end]
    return sorted(found, key=lambda r: (r.start - r.end, r.start, r.text.encode()))


def threads(f: File) -> dict[int, list[Range]]:
    if not hasattr(f, "push_pop_by_thread"):
        f.push_pop_by_thread = defaultdict(list)
        for r in f.ranges:
            if r.kind == PUSH_POP:
                f.push_pop_by_thread[r.tid].append(r)
    return f.push_pop_by_thread


def launched(f: File) -> list[tuple[Kernel, Call | None, list[Range]]]:
    """Every kernel with its call and the ranges around that."""
    if not hasattr(f, "launched_kernels"):
        around: dict[Call, list[Range]] = {}
        f.launched_kernels = []
        for k in f.kernels:
            c = f.launch(k)
            if c is not None and c not in around:
                around[c] = enclosing(f, c)
            f.launched_kernels.append((k, c, around[c] if c is not None else []))
    return f.launched_kernels


# ---- nvtx_layer_breakdown


def numbered(label: str) -> bool:
    for m in re.finditer(r"(?=(\[\d+\]|\.\d+(?=\.|$)|[_-]\d+(?=_|$)))", label):
        word = re.search(r"[A-Za-z]*$", label[:m.start()])[0].lower()
        if word not in ("iteration", "iter", "step", "epoch", "batch", "microbatch", "sample"):
            return True
    return False


def quantile(values: list[int], share: Fraction) -> Fraction:
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def outliers(totals: list[int]) -> list[bool]:
    if len(totals) < 2:
        return [False] * len(totals)
    v = sorted(totals)
    q1, median, q3 = (quantile(v, Fraction(i, 4)) for i in (1, 2, 3))
    fence = q3 + Fraction(3, 2) * (q3 - q1) if len(v) >= 4 and q3 > q1 else 2 * median
    return [t > fence and 2 * t > 3 * median for t in totals]


class Tree:
    """Displayed texts of paths of labels."""

    def __init__(self, paths: list[tuple[tuple[str, ...], tuple[str, ...]]]):
        self.raw: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for labels, raws in paths:
            for i, text in enumerate(raws):
                self.raw[labels[:i + 1]].add(text)

    def text(self, prefix: tuple[str, ...]) -> str:
        raws = self.raw[prefix]
        return next(iter(raws)) if len(raws) == 1 else prefix[-1]

    def path(self, prefix: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.text(prefix[:i + 1]) for i in range(len(prefix)))


def detect(paths: set[tuple[str, ...]], tree: Tree) -> tuple[dict, int | None, set[str]]:
    """The meta row, the depth and the labels found there."""
    by_depth: dict[int, Counter[str]] = defaultdict(Counter)
    for p in paths:
        for i, label in enumerate(p):
            by_depth[i][label] += 1
    for method, grouping, wanted in (
            ("numbered_pattern", "layer", lambda label, n: numbered(label)),
            ("repeated_siblings", "operation", lambda label, n: n >= 2)):
        found = {d: {x for x, n in labels.items() if wanted(x, n)} for d, labels in by_depth.items()}
        best = min(found, key=lambda d: (-len(found[d]), d))
        if len(found[best]) >= 2:
            texts: dict[str, set[str]] = defaultdict(set)
            for prefix in tree.raw:
                if len(prefix) == best + 1 and prefix[-1] in found[best]:
                    texts[prefix[-1]].add(tree.text(prefix))
            names = sorted((next(iter(t)) if len(t) == 1 else x for x, t in texts.items()), key=str.encode)
            sure = min(1.0, len(names) / 3) if grouping == "layer" else 0.6
            return ({"_detection_meta": True, "layer_depth": best, "layer_names": names, "detection_method": method,
                     "grouping_type": grouping, "confidence": sure}, best, found[best])
    depths = sorted({len(p) - 1 for p in paths})
    samples = {str(d): sorted({tree.text(p) for p in paths if len(p) == d + 1}, key=str.encode)[:3] for d in depths[:5]}
    return ({"_detection_meta": True, "layer_depth": None, "layer_names": [], "detection_method": "fallback_top_level",
             "grouping_type": "flat", "confidence": 0.2, "available_depths": depths, "depth_samples": samples},
            None, set())


def compact_meta(meta: dict) -> dict:
    names = meta["layer_names"]
    rest = {k: v for k, v in meta.items() if k != "layer_names"}
    return rest | {"layer_names_sample": names[:5], "layer_names_total": len(names), "layer_names_omitted": True}


def region_row(tree: Tree, group: tuple[str, ...], ks: list[Kernel], whole_name: bool) -> dict:
    total, nccl = sum(k.ns for k in ks), sum(k.ns for k in ks if is_nccl(k))
    eligible = sum(k.ns for k in ks if tensor_core(k.name)[0])
    active = sum(k.ns for k in ks if tensor_core(k.name)[1])
    path = " > ".join(tree.path(group))
    by_name: Counter[str] = Counter()
    for k in ks:
        by_name[k.name] += k.ns
    top = sorted(by_name.items(), key=lambda x: (-x[1], x[0].encode()))[:3]
    return {"nvtx_region": path if whole_name else tree.text(group), "nvtx_depth": len(group) - 1, "nvtx_path": path,
            "kernel_count": len(ks), "total_gpu_ms": total / MS, "compute_ms": (total - nccl) / MS,
            "nccl_ms": nccl / MS, "nccl_pct": 100 * nccl / total if total else 0.0,
            "tc_achieved_pct": 100 * active / eligible if eligible else 0.0, "avg_kernel_ms": total / len(ks) / MS,
            "max_kernel_ms": max(k.ns for k in ks) / MS,
            "top_kernels": [{"kernel_name": n, "total_ms": ns / MS} for n, ns in top]}


def nvtx_layer_breakdown(f: File, params: dict, window: Span | None) -> list[dict]:
    if not f.ranges:
        return ABSTAINED
    report = str(params.get("report", "full")).lower()
    if report not in ("", "full", "default", "compact", "slim", "minimal"):
        return [{"error": f"report '{params['report']}' is neither full nor compact"}]
    compact = report in ("compact", "slim", "minimal")
    depth = params.get("depth")
    if depth is not None and depth < 0:
        return [{"error": f"depth {depth} is below 0, the outermost"}]
    auto = str(params.get("auto_depth", "true")).lower() in ("1", "true", "t", "yes", "y", "on")
    mine = [(k, tuple(r.text for r in around)) for k, _, around in launched(f) if around and inside(k, window)]
    if not mine:
        return []
    whole = [(k, tuple(normal(t) for t in raws), raws) for k, raws in mine]
    tree = Tree([(labels, raws) for _, labels, raws in whole])
    meta, cut, found = None, None, set()
    if auto and depth is None:
        meta, cut, found = detect({labels for _, labels, _ in whole}, tree)
    if str(params.get("raw", "false")) == "true":
        whole = [(k, raws, raws) for k, _, raws in whole]
        tree = Tree([(raws, raws) for _, _, raws in whole])
    groups: dict[tuple[str, ...], list[Kernel]] = defaultdict(list)
    for k, labels, _ in whole:
        if depth is None or len(labels) == depth + 1:
            groups[labels if cut is None else labels[:cut + 1]].append(k)
    order = sorted(groups, key=lambda g: (-sum(k.ns for k in groups[g]), [t.encode() for t in tree.path(g)]))
    layer = {g: cut is not None and meta["grouping_type"] == "layer" and len(g) == cut + 1 and normal(g[-1]) in found
             for g in order}
    odd = {}
    for kind in (True, False):
        same = [g for g in order if layer[g] is kind]
        odd |= dict(zip(same, outliers([sum(k.ns for k in groups[g]) for g in same])))
    rows = []
    for g in order[:params.get("limit", 20)]:
        row = region_row(tree, g, groups[g], cut is not None and len(g) == cut + 1)
        row |= {"is_outlier": odd[g], "is_layer": layer[g]}
        if compact:
            del row["top_kernels"]
            row["kernels_included"] = False
        rows.append(row)
    if meta is None:
        return rows
    return [compact_meta(meta) if compact else meta, *rows]


# ---- iteration_detail


def iteration_kernels(f: File, device: int, marker: str, window: Span | None) -> list[tuple[bool, list[Kernel]]]:
    """Whether pauses bound it, and its kernels, of each iteration."""
    launches = [(c, k) for k in f.kernels if k.device == device and (c := f.launch(k))]
    counts = Counter(c.tid for c, _ in launches)
    if not counts:
        return []
    primary = min(counts, key=lambda t: (-counts[t], t))
    bounds: list[Span] = []
    for r in f.ranges:
        if r.tid == primary and marker.lower() in r.text.lower() and (
                not window or (r.end >= window[0] and r.start <= window[1])) and (
                not bounds or r.start >= bounds[-1][1]):
            bounds.append((r.start, r.end))
    heuristic = not bounds
    if heuristic:
        own = sorted(((k.start, k.end, c) for c, k in launches if c.tid == primary and touches(k, window)),
                     key=lambda x: x[0])
        cuts = {min(c.start for _, _, c in own)} if own else set()
        for i, (start, _, c) in enumerate(own):
            if i and start - max(end for _, end, _ in own[:i]) > PAUSE_NS:
                cuts.add(c.start)
        points = sorted(cuts | ({max(c.end for _, _, c in own)} if own else set()))
        bounds = list(zip(points, points[1:]))
    parts = [[k for c, k in launches if c.tid >> 24 == primary >> 24 and s <= c.start and c.end <= e]
             for s, e in bounds]
    return [(heuristic, ks) for ks in parts if ks]


def iteration_detail(f: File, params: dict, window: Span | None) -> list[dict]:
    if not f.ranges:
        return ABSTAINED
    device, marker, number = params.get("device", 0), params.get("marker", "sample_0"), params["iteration"]
    found = iteration_kernels(f, device, marker, window)
    if not found:
        return [{"error": f"no iterations on device {device}: no launch of its kernels is in a range "
                          f"'{marker}' or between pauses"}]
    if not 0 <= number < len(found):
        return [{"error": f"iteration {number} does not exist: device {device} has iterations 0 to {len(found) - 1}"}]
    spans = [max(k.end for k in ks) - min(k.start for k in ks) for _, ks in found]
    sums = [sum(k.ns for k in ks) for _, ks in found]
    real = [d for d, s in zip(spans, sums) if 10 * s >= max(sums)]
    median = statistics.median(real)
    heuristic, ks = found[number]
    names: dict[tuple[str, str], list[int]] = defaultdict(list)
    for k in ks:
        names[k.short or "", k.name].append(k.ns)
    top = sorted(names.items(), key=lambda x: (-sum(x[1]), x[0][0].encode(), x[0][1].encode()))[:5]
    change = round(100 * (spans[number] - median) / median, 1) + 0.0 if median else 0
    return [{"iteration": number, "total_iterations": len(found), "duration_ms": spans[number] / MS,
             "gpu_start_ns": min(k.start for k in ks), "gpu_end_ns": max(k.end for k in ks),
             "top_kernels": [{"name": n, "total_ms": sum(v) / MS, "count": len(v),
                              "pct": 100 * sum(v) / sums[number]} for (_, n), v in top],
             "kernel_count": len(ks), "nccl_count": sum(map(is_nccl, ks)), "compute_ms": sums[number] / MS,
             "vs_median": f"{change:+}%", "median_ms": median / MS, "heuristic": heuristic}]


# ---- host_sync_parent_ranges


def is_wait(text: str, patterns: list[str]) -> bool:
    word = r"[0-9A-Za-z_]"
    return any(re.search((f"(?<!{word})" if re.match(word, p[0]) else "") + re.escape(p) +
                         (f"(?:_ptds|_ptsz)?(?:_v\\d+)?(?!{word})" if re.match(word, p[-1]) else ""),
                         text, re.IGNORECASE | re.ASCII) for p in patterns)


def host_sync_parent_ranges(f: File, params: dict, window: Span | None) -> list[dict]:
    if not f.ranges:
        return ABSTAINED
    patterns = [p.strip() for p in
                params.get("patterns", "item,_local_scalar_dense,cudaStreamSynchronize").split(",") if p.strip()]
    usable = [r for r in f.ranges if r.kind in (59, 60)
              and (not window or (r.start >= window[0] and r.end <= window[1]))]
    waits: dict[int, list[Range]] = defaultdict(list)
    for r in usable:
        if is_wait(r.text, patterns):
            waits[r.tid].append(r)
    parents: dict[str, list[tuple[Range, list[Range]]]] = defaultdict(list)
    for p in usable:
        held = [c for c in waits[p.tid] if p.start <= c.start and c.end <= p.end and (c.start, c.end) != (p.start, p.end)]
        outer = [c for i, c in enumerate(held)
                 if not any(o.start <= c.start and c.end <= o.end and
                            ((o.start, o.end) != (c.start, c.end) or j < i) for j, o in enumerate(held))]
        if outer:
            parents[normal(p.text)].append((p, outer))

    def shown(texts: list[str]) -> str:
        return texts[0] if len(set(texts)) == 1 else normal(texts[0])

    rows = []
    for instances in parents.values():
        children: dict[str, list[Range]] = defaultdict(list)
        for _, outer in instances:
            for c in outer:
                children[normal(c.text)].append(c)
        top = min((-sum(c.end - c.start for c in cs), -len(cs), shown([c.text for c in cs])) for cs in children.values())
        ns = sum(naive.length(naive.union((c.start, c.end) for c in outer)) for _, outer in instances)
        rows.append({"parent_range": shown([p.text for p, _ in instances]),
                     "n_syncs": sum(len(outer) for _, outer in instances), "sync_ns": ns, "sync_ms": ns / MS,
                     "top_child_label": top[2]})
    rows.sort(key=lambda r: (-r["sync_ns"], r["parent_range"].encode()))
    return rows[:params.get("limit", 5)]


# ---- code_attribution_candidates


def code_attribution_candidates(f: File, params: dict, _window: Span | None) -> list[dict]:
    if not f.ranges:
        return ABSTAINED
    start, end = params["start_ns"], params["end_ns"]
    if end <= start:
        return [{"error": "end_ns does not lie after start_ns"}]
    device = params.get("device", "all")
    work = [(k, c) for k, c, _ in launched(f)
            if c and k.start < end and k.end > start and device in ("all", k.device)]
    calling = {c.tid for _, c in work}
    found = []
    for tid, ranges in threads(f).items():
        near = [r for r in ranges if r.start < end and r.end > start]
        own = [(k, c) for k, c in work if c.tid == tid]
        for i, r in enumerate(near):
            around = [o for j, o in enumerate(near) if o.start <= r.start and o.end >= r.end
                      and ((o.start, o.end) != (r.start, r.end) or j < i)]
            around.sort(key=lambda o: (o.start - o.end, o.start, o.text.encode()))
            held = [k for k, c in own if r.start <= c.start and c.end <= r.end]
            part = min(end, r.end) - max(start, r.start)
            covers = part == end - start
            pct = round(100 * part / (end - start), 1)
            sure = round(min(0.95, 0.55 * (part / (end - start)) + 0.15 * covers + 0.2 * bool(held)
                             + 0.025 * min(len(around), 4)), 2)
            path = " > ".join(o.text for o in [*around, r])
            found.append(((tid not in calling, -sure, -pct, -len(held), -len(around), path.encode(), r.start, tid),
                          r, path, len(around), sure, pct, part, covers, held))
    found = [x for x in found if x[5] >= float(params.get("min_overlap_pct", 0))]
    if not found:
        return [{"error": "no push-pop range overlaps the window"}]
    rows = []
    for _, r, path, depth, sure, pct, part, covers, held in sorted(found, key=lambda x: x[0])[:params.get("limit", 5)]:
        names: dict[str, list[int]] = defaultdict(list)
        for k in held:
            names[k.name].append(k.ns)
        top = sorted(names.items(), key=lambda x: (-sum(x[1]), x[0].encode()))[:3]
        n = sum(map(is_nccl, held))
        rows.append({"candidate": path, "candidate_type": "nvtx_path", "nvtx_text": r.text, "nvtx_depth": depth,
                     "confidence": sure, "reason": "", "evidence": {
                         "global_tid": r.tid, "selection_start_ns": start, "selection_end_ns": end,
                         "selection_device_id": None if device == "all" else device, "nvtx_start_ns": r.start,
                         "nvtx_end_ns": r.end, "overlap_ns": part, "overlap_pct": pct, "contains_selection": covers,
                         "kernel_count": len(held), "total_kernel_ms": sum(k.ns for k in held) / MS,
                         "compute_kernel_count": len(held) - n, "nccl_kernel_count": n,
                         "top_kernels": [{"kernel_name": x, "count": len(v), "total_ms": sum(v) / MS}
                                         for x, v in top]}})
    return rows


# ---- nccl_compile_context_breakdown


def nccl_compile_context_breakdown(f: File, _params: dict, window: Span | None) -> list[dict]:
    if not f.ranges:
        return ABSTAINED
    buckets: dict[str, list[Kernel]] = {"eager": [], "inductor_captured": [], "temporal_only": []}
    for k, _, around in launched(f):
        if is_nccl(k) and around and inside(k, window):
            leaf = min(around, key=lambda r: (r.end - r.start, r.start, r.text.encode())).text
            kind = "eager" if re.match("c10d::|nccl", leaf) else \
                "inductor_captured" if "## Call CompiledFxGraph" in leaf else "temporal_only"
            buckets[kind].append(k)
    ks = [k for b in buckets.values() for k in b]
    if not ks:
        return [{"error": "no communication kernel was launched inside a push-pop range"}]
    total = sum(k.ns for k in ks)
    return [{"_summary": True, "total_nccl_kernels": len(ks), "total_nccl_ns": total, "total_nccl_ms": total / MS,
             "span_start_ns": min(k.start for k in ks), "span_end_ns": max(k.end for k in ks),
             "device_scope": "all_captured_devices"},
            *({"bucket": name, "count": len(b), "ns": sum(k.ns for k in b), "ms": sum(k.ns for k in b) / MS,
               "pct": 100 * len(b) / len(ks), "ms_pct": 100 * sum(k.ns for k in b) / total if total else 0.0}
              for name, b in buckets.items())]


ANSWERS = {g.__name__: g for g in (nvtx_layer_breakdown, iteration_detail, host_sync_parent_ranges,
                                   code_attribution_candidates, nccl_compile_context_breakdown)}
