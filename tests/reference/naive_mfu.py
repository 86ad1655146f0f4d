# SPDX-License-Identifier: MIT
"""The right answers of the skills about FLOPs, peaks and speedups, by slow plain means."""

from __future__ import annotations

import re
from fractions import Fraction

import naive
from naive import Span

# TFLOP/s of dense FP16 with FP32 accumulation and GB/s, from the data sheets of the GPUs in the corpus.
SHEETS = {"NVIDIA GeForce RTX 3080": (59.5, 760.0)}
DECIMALS = {"wall_time_s": 6, "gpu_kernel_sum_s": 6, "gpu_kernel_union_s": 6, "kernel_union_ms": 2,
            "region_mfu.mfu_pct_wall": 2, "region_mfu.mfu_pct_kernel_sum": 2, "region_mfu.mfu_pct_kernel_union": 2,
            "achieved_tflops": 1, "peak_fp16_tflops": 1, "hbm_bw_gbps": 1, "ridge_point_flop_per_byte": 1,
            "saved_ms": 1, "new_iteration_ms": 1, "speedup": 3, "nccl_savings_ms": 1, "current_exposed_nccl_ms": 1}
SENTENCES = {"message", "speedup_estimator.method", "speedup_estimator.feasibility", "speedup_estimator.error",
             "arithmetic_intensity.recommendation"}


def refusal(code: str, **more: object) -> list[dict]:
    return [{"error": {"code": code, "message": ""}, **more}]


def gpu(f: naive.File, device: int) -> tuple[str, str] | None:
    """Product and chip of the GPU that the capture maps the ordinal to."""
    if not {"TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"} <= f.tables:
        return None
    found = f.db.execute("SELECT DISTINCT g.name, g.chipName FROM TARGET_INFO_GPU g JOIN TARGET_INFO_CUDA_DEVICE d "
                         "ON d.gpuId = g.id WHERE d.cudaId = ?", (device,)).fetchall()
    return found[0] if len(found) == 1 else None


# ---- region_mfu


def fits(mode: str, name: str, text: str | None) -> bool:
    return text is not None and {"contains": name in text, "exact": name == text,
                                 "startswith": text.startswith(name)}[mode]


def plain(text: str) -> str:
    """Without the running numbers that libraries append."""
    return re.sub(r",\s*(op_id|seq)\s*=\s*\d+", "", text)


def region_kernels(f: naive.File, params: dict, source: str, mode: str) -> tuple | list[dict]:
    """(text, wall, kernels), or a refusal."""
    name, device = str(params["name"]), params.get("device_id")
    mine = [k for k in f.kernels if k.ns > 0 and device in (None, k.device)]
    if source == "kernel":
        for of in (lambda k: k.short or k.name, lambda k: k.demangled):
            found = [k for k in mine if fits(mode, name, of(k))]
            if found:
                first = min(found, key=lambda k: (k.start, k.end, k.correlation))
                return of(first), max(k.end for k in found) - min(k.start for k in found), found
        return refusal("KERNEL_NOT_FOUND")
    ranges = [r for r in f.ranges if fits(mode, name, r.text)]
    if not ranges and mode == "exact":
        ranges = [r for r in f.ranges if plain(r.text) == name]
    if not ranges:
        return refusal("NVTX_NOT_FOUND")
    number = params.get("occurrence_index", 1)
    if number < 1:
        return refusal("INVALID_ARGUMENT")
    if number > len(ranges):
        return refusal("NVTX_OCCURRENCE_OUT_OF_RANGE")
    r = sorted(ranges, key=lambda x: (x.start, -x.end, x.text, x.tid))[number - 1]
    calls = [(k, f.launch(k)) for k in mine]
    found = [k for k, c in calls if c and c.tid == r.tid and c.start >= r.start and c.end <= r.end]
    return (r.text, r.end - r.start, found) if found else refusal("NO_KERNELS_IN_REGION")


def region_mfu(f: naive.File, params: dict, _window: Span | None) -> list[dict]:
    source, mode, device = params.get("source", "nvtx"), params.get("match_mode", "contains"), params.get("device_id")
    if device is not None and str(device) not in f.device_counts():
        return naive.no_kernels(f, device, None)
    if source not in ("nvtx", "kernel"):
        return refusal("INVALID_ARGUMENT")
    if source == "nvtx" and "NVTX_EVENTS" not in f.tables:
        return [{"_abstained": True, "reason": "", "missing_tables": ["NVTX_EVENTS"]}]
    flops = float(params["theoretical_flops"])
    if params["name"] == "" or flops <= 0 or mode not in ("contains", "exact", "startswith"):
        return refusal("INVALID_ARGUMENT")
    found = region_kernels(f, params, source, mode)
    if isinstance(found, list):
        return found
    text, wall, kernels = found
    if "peak_tflops" in params:
        peak = float(params["peak_tflops"])
        if peak <= 0:
            return refusal("INVALID_ARGUMENT")
    else:
        products = {SHEETS.get((gpu(f, k.device) or ("",))[0], (None, None))[0] for k in kernels}
        peak = products.pop() if len(products) == 1 else None
        if peak is None:
            return refusal("GPU_PEAK_UNKNOWN")
    gpus = max(params.get("num_gpus", 1), 1)
    times = {"wall": wall, "kernel_sum": sum(k.ns for k in kernels),
             "kernel_union": naive.length(naive.union((k.start, k.end) for k in kernels))}
    achieved = {basis: float(Fraction(flops) * 10**9 / ns / 10**12) for basis, ns in times.items()}
    mfu = {basis: 100 * rate / (peak * gpus) for basis, rate in achieved.items()}
    if max(mfu.values()) > 100:
        return refusal("MFU_OUT_OF_RANGE", **{f"implied_mfu_pct_{b}": m for b, m in mfu.items()})
    row = {"source": source, "name": str(params["name"]), "matched_text": text, "match_mode": mode,
           "occurrence_index": params.get("occurrence_index", 1) if source == "nvtx" else None, "device_id": device,
           "profile_path": f.db.execute("PRAGMA database_list").fetchone()[2], "num_gpus": gpus,
           "peak_tflops_per_gpu": peak, "effective_peak_tflops": peak * gpus,
           "wall_time_s": wall / 1e9, "gpu_kernel_sum_s": times["kernel_sum"] / 1e9,
           "gpu_kernel_union_s": times["kernel_union"] / 1e9, "time_basis_used": "wall", "kernel_count": len(kernels),
           "device_ids": sorted({k.device for k in kernels}), "stream_ids": sorted({k.stream for k in kernels}),
           "theoretical_flops": flops, "peak_tflops": peak * gpus}
    row |= {f"achieved_tflops_{b}": rate for b, rate in achieved.items()}
    return [row | {f"mfu_pct_{b}": m for b, m in mfu.items()}]


# ---- arithmetic_intensity


def arithmetic_intensity(f: naive.File, params: dict, window: Span | None) -> list[dict]:
    device, flops = params.get("device", 0), float(params["theoretical_flops"])
    bandwidth = float(params["hbm_bw_gbps"]) if "hbm_bw_gbps" in params else None
    if bandwidth is not None and bandwidth <= 0:
        return refusal("INVALID_ARGUMENT")
    name, chip = gpu(f, device) or ("Unknown GPU", "")
    sheet_peak, sheet_bandwidth = SHEETS.get(name, (None, 0.0))
    peak = float(params["peak_tflops"]) if "peak_tflops" in params else sheet_peak
    bandwidth = sheet_bandwidth if bandwidth is None else bandwidth
    spans = []
    for k in f.kernels:
        s, e = (max(k.start, window[0]), min(k.end, window[1])) if window else (k.start, k.end)
        if k.device == device and e > s:
            spans.append((s, e))
    busy = naive.length(naive.union(spans))
    refused: dict = {"_abstained": True, "reason": "", "gpu_name": name}
    if peak is None:
        return [refused | {"chip_name": chip}]
    if peak <= 0:
        return [refused | {"peak_fp16_tflops": peak}]
    if not busy:
        return [refused | {"device": device}]
    if flops <= 0:
        return [refused | {"theoretical_flops": flops}]
    achieved = flops / busy / 1e3
    mfu = 100 * achieved / peak
    if achieved > peak:
        return [refused | {"implied_achieved_tflops": achieved, "peak_fp16_tflops": peak, "implied_mfu_pct": mfu,
                           "theoretical_flops": flops, "kernel_union_ms": busy / 1e6, "kernel_count": len(spans)}]
    ridge = 1000 * peak / bandwidth if bandwidth else 0.0
    moved = float(params.get("bytes_moved", 0))
    if moved >= 1 and ridge:
        below = flops / moved < ridge
        words = f"(AI={flops / moved:.1f} {'<' if below else '>='} Ridge={ridge:.1f})"
        kind, severity = (f"Memory-bound {words}", "warning") if below else (f"Compute-bound {words}", "info")
    else:
        kind, severity = next(v for least, v in (
            (50, ("High kernel throughput (likely compute-bound)", "info")),
            (15, ("Moderate kernel throughput (mixed bound)", "warning")),
            (5, ("Low kernel throughput (likely memory-bound)", "warning")),
            (0, ("Severely low kernel throughput", "critical"))) if mfu >= least)
    return [{"gpu_name": name, "chip_name": chip, "peak_fp16_tflops": peak, "hbm_bw_gbps": bandwidth,
             "ridge_point_flop_per_byte": ridge, "kernel_union_ms": busy / 1e6, "kernel_count": len(spans),
             "theoretical_flops": flops, "achieved_tflops": achieved, "mfu_pct": mfu, "classification": kind,
             "severity": severity, "arithmetic_intensity": flops / moved if moved >= 1 else None}]


# ---- theoretical_flops


def theoretical_flops(_f: naive.File, params: dict, _window: Span | None) -> list[dict]:
    operation = str(params["operation"]).lower().strip()
    layers, batch, multiplier = (max(1, params.get(n, 1)) for n in ("num_layers", "batch_size", "multiplier"))
    if operation == "linear":
        m, n, k = (params.get(x, 0) for x in "MNK")
        if min(m, n, k) <= 0:
            return refusal("INVALID_ARGUMENT")
        each = 2 * m * n * k
        total, breakdown = each * batch * multiplier, {"per_op": each}
        formula = f"2 * {m} * {n} * {k} * batch({batch}) * mul({multiplier})"
    else:
        h, s = params.get("hidden_dim", 0), params.get("seq_len", 0)
        ffn = params.get("ffn_dim", 4 * h)
        parts = {"attention": 4 * s * s * h, "qkv_proj": 6 * s * h * h, "output_proj": 2 * s * h * h,
                 "mlp": 4 * s * h * ffn}
        if operation not in (*parts, "full_layer", "full_model") or h <= 0 or s <= 0 or ffn <= 0:
            return refusal("INVALID_ARGUMENT")
        parts = {n: v for n, v in parts.items() if operation in (n, "full_layer", "full_model")}
        each = sum(parts.values())
        total = each * layers * batch * multiplier
        breakdown = {"per_layer_flops": each, "components": parts, "num_layers": layers, "batch_size": batch,
                     "multiplier": multiplier}
        terms = " + ".join(f"{n}={v:.4e}" for n, v in parts.items())
        formula = f"({terms}) * L({layers}) * batch({batch}) * mul({multiplier})"
    return [{"theoretical_flops": total, "theoretical_flops_str": f"{total:.6e}", "operation": operation,
             "formula": formula, "breakdown": breakdown}]


# ---- speedup_estimator


def speedup_estimator(_f: naive.File, params: dict, _window: Span | None) -> list[dict]:
    p = {n: float(params.get(n, d)) for n, d in (("iteration_ms", 0), ("compute_ms", 0), ("nccl_ms", 0), ("idle_ms", 0),
                                                 ("overlap_pct", 0), ("model_params_b", 0), ("gpu_memory_gb", 80))}
    degree, whole = params.get("tp_degree", 1), p["iteration_ms"]
    if whole <= 0 or min(p.values()) < 0 or p["overlap_pct"] > 100 or p["gpu_memory_gb"] == 0 or degree < 1:
        return [{"error": ""}]
    out: list[dict] = []

    def add(what: str, lost: float, key: str, current: float, confidence: str, **more: str) -> None:
        saved = min(lost, whole)
        rest = whole - saved
        out.append({"optimization": what, "method": "", key: current, "saved_ms": saved, "new_iteration_ms": rest,
                    "speedup": whole / rest if rest > 0 else None, "confidence": confidence, **more})

    if p["idle_ms"]:
        add("Eliminate GPU Idle Gaps", p["idle_ms"], "current_ms", p["idle_ms"], "medium")
    exposed = p["nccl_ms"] * (100 - p["overlap_pct"]) / 100
    if exposed:
        add("Perfect Compute/NCCL Overlap", exposed, "current_exposed_nccl_ms", exposed, "medium")
    room = 0.85 * p["gpu_memory_gb"]
    needed = 10 * p["model_params_b"]
    if degree > 1 and p["nccl_ms"] and needed:
        half = degree // 2
        if needed < room:
            add(f"Reduce TP={degree} → TP=1", 0.9 * p["nccl_ms"], "nccl_savings_ms", 0.9 * p["nccl_ms"], "high",
                feasibility="")
        elif half >= 2 and needed / half < room:
            add(f"Reduce TP={degree} → TP={half}", 0.4 * p["nccl_ms"], "nccl_savings_ms", 0.4 * p["nccl_ms"], "low",
                feasibility="")
    return out or [{"optimization": "No clear optimization path", "method": "", "saved_ms": 0, "speedup": 1.0,
                    "confidence": "n/a"}]


ANSWERS = {g.__name__: g for g in (region_mfu, arithmetic_intensity, theoretical_flops, speedup_estimator)}
