#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a small Nsight Systems .sqlite export whose answers are known beforehand.

    make_synthetic_profile.py OUT.sqlite [--devices D] [--iterations N] [--layers L] [--seed S]
                              [--straggler K] [--graph-mode node|graph] [--check]
    make_synthetic_profile.py OUT_DIR --ranks R [--devices D] ...

One file holds D processes, each driving one device (as a torchrun node does).  With
--ranks R, R such files rank_0.sqlite ... are written, and the R*D processes take part in
the same collectives; every file has its own clock, tied to UTC by
TARGET_INFO_SESSION_START_TIME (UTC ns of t = utcEpochNs + t - systemClockNs).
Next to every file lies FILE.truth.json; with --ranks also ranks.truth.json.

The program played out is a training loop: data loading, host-to-device copy, a forward
pass with nested NVTX ranges, a second compute stream, a CUDA graph, a pageable
device-to-host copy with a blocking sync, a backward pass launched from another thread
with one AllReduce per layer on a third stream, one exposed AllGather, an optimizer of
tiny kernels, and a pause.  Planted: module loading in iteration 0, a garbage collection
with cudaFree/cudaMalloc in one iteration, a slow data loader in another, and (with two
or more processes) a straggler whose compute takes 35 % longer.

Where the answers come from: they are sums over the events as they were laid out, before
anything is written.  --check reads the file back, computes them again by other
(naive) means, and compares.  With --seed 0 (the default) durations are exact
constants; any other seed varies every kernel by up to +-2 %.

Only the Python standard library is used; the same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import struct
import sys

US, MS, SEC = 1_000, 1_000_000, 1_000_000_000
VM = 1 << 48
UTC0 = 1_760_000_000_000_000_000
NULL_STREAM, NCCL_STREAM, COPY_STREAM, SIDE_STREAM = 7, 20, 21, 22
H2D, D2H, D2D, P2P = 1, 2, 8, 10
PAGEABLE, PINNED, DEVICE = 0, 1, 2
COMM_ID = 0x5EED00000000C0DE
SLOWDOWN = (135, 100)

# kernel: (demangled, short, duration ns, grid, block, registers, dynamic shared memory)
KERNELS = {
    "qkv": ("void cutlass::gemm_bf16_qkv<128, 128, 64>(Params)", "gemm_bf16_qkv", 200 * US, (264, 2, 1), (256, 1, 1), 168, 65536),
    "flash": ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Params)", "flash_fwd_kernel", 300 * US, (64, 8, 16), (128, 1, 1), 255, 98304),
    "mlp": ("void cutlass::gemm_bf16_mlp<256, 128, 64>(Params)", "gemm_bf16_mlp", 400 * US, (512, 1, 1), (384, 1, 1), 168, 131072),
    "gelu": ("void at::native::vectorized_elementwise_kernel<4, GeluFunctor>(int, Functor)", "vectorized_elementwise_kernel", 50 * US, (4096, 1, 1), (128, 1, 1), 32, 0),
    "side": ("side_stream_dropout_mask(unsigned char*, long)", "side_stream_dropout_mask", 100 * US, (128, 1, 1), (256, 1, 1), 24, 0),
    "node": ("void graph_block_norm<5>(float*, int)", "graph_block_norm", 30 * US, (32, 1, 1), (128, 1, 1), 40, 1024),
    "loss": ("void softmax_xent_fwd<float>(float*, long*)", "softmax_xent_fwd", 40 * US, (256, 1, 1), (512, 1, 1), 48, 4096),
    "dgrad": ("void cutlass::gemm_bf16_dgrad<128, 256, 64>(Params)", "gemm_bf16_dgrad", 500 * US, (528, 1, 1), (384, 1, 1), 168, 131072),
    "wgrad": ("void cutlass::gemm_bf16_wgrad<256, 128, 32>(Params)", "gemm_bf16_wgrad", 400 * US, (528, 1, 1), (384, 1, 1), 168, 131072),
    "adam": ("void multi_tensor_adam_tiny(float*, float*, int)", "multi_tensor_adam_tiny", 3 * US, (8, 1, 1), (512, 1, 1), 40, 0),
    "allreduce": ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 450 * US, (24, 1, 1), (544, 1, 1), 96, 82320),
    "allgather": ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllGather_RING_LL", 200 * US, (24, 1, 1), (544, 1, 1), 96, 82320),
}
NCCL_BYTES = {"allreduce": 33_554_432, "allgather": 8_388_608}
NCCL_API = {"allreduce": "ncclAllReduce", "allgather": "ncclAllGather"}
LAUNCH, MEMCPY, MEMSET, STREAM_SYNC, DEVICE_SYNC = (
    "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020",
    "cudaStreamSynchronize_v3020", "cudaDeviceSynchronize_v3020")
LAUNCH_EX, RECORD, WAIT, GRAPH_LAUNCH = (
    "cudaLaunchKernelExC_v11060", "cudaEventRecordWithFlags_v11010", "cudaStreamWaitEvent_v3020", "cudaGraphLaunch_v10000")
MALLOC, FREE, MODULE = "cudaMalloc_v3020", "cudaFree_v3020", "cuModuleLoadData"
API_NS = {LAUNCH: 5 * US, LAUNCH_EX: 7 * US, MEMCPY: 6 * US, MEMSET: 4 * US, RECORD: 1 * US, WAIT: 1 * US, GRAPH_LAUNCH: 10 * US}
LATENCY = 3 * US      # from the start of a launching call to the earliest start on the device
HOST_STEP = 2 * US    # host work between two calls
SMALL_KERNELS = 20
GRAPH_ID, GRAPH_EXEC, GRAPH_NODES = 3, 4, 5


class Proc:
    """One process: a host thread clock for each thread, a device clock for each stream."""

    def __init__(self, world: int, device: int, seed: int, slow: bool):
        self.world, self.device, self.slow = world, device, slow
        self.pid = 4000 + 100 * world
        self.context = 1
        self.rng = random.Random(seed * 1_000_003 + world) if seed else None
        self.main, self.worker, self.autograd = self.pid, self.pid + 1, self.pid + 2
        self.cpu = {self.main: 10 * MS + 15 * US * world, self.worker: 0, self.autograd: 0}
        self.ready = {s: 0 for s in (NULL_STREAM, NCCL_STREAM, COPY_STREAM, SIDE_STREAM)}
        self.corr = 1000  # per process on purpose: ids repeat across processes
        self.event_sync, self.grid, self.address = 0, 0, 0x7F0000000000
        self.stack: dict[int, list[dict]] = {self.main: [], self.worker: [], self.autograd: []}
        for name in ("kernels", "apis", "copies", "sets", "syncs", "records", "ranges", "osrt", "overheads",
                     "mem", "graph_traces", "graph_launches"):
            setattr(self, name, [])
        self.iteration = -1

    # host side
    def api(self, tid: int, name: str, ns: int | None = None) -> dict:
        ns = API_NS[name] if ns is None else ns
        start = self.cpu[tid]
        self.corr += 1
        call = {"start": start, "end": start + ns, "tid": tid, "name": name, "corr": self.corr,
                "path": [r for r in self.stack[tid]], "iteration": self.iteration}
        self.apis.append(call)
        self.cpu[tid] = call["end"] + HOST_STEP
        return call

    def push(self, tid: int, text: str, domain: int = 0, **more) -> None:
        r = {"start": self.cpu[tid], "tid": tid, "text": text, "domain": domain, "type": 59, "end": None, **more}
        self.stack[tid].append(r)
        self.ranges.append(r)
        self.cpu[tid] += 500

    def pop(self, tid: int) -> dict:
        r = self.stack[tid].pop()
        r["end"] = self.cpu[tid]
        self.cpu[tid] += 500
        return r

    def os_call(self, tid: int, name: str, ns: int) -> None:
        start = self.cpu[tid]
        self.osrt.append({"start": start, "end": start + ns, "tid": tid, "name": name})
        self.cpu[tid] = start + ns

    # device side
    def duration(self, key: str) -> int:
        ns = KERNELS[key][2]
        if self.slow and not key.startswith("all"):
            ns = ns * SLOWDOWN[0] // SLOWDOWN[1]
        if self.rng:
            ns = ns * (980 + self.rng.randrange(41)) // 1000
        return ns

    def add_kernel(self, key: str, stream: int, start: int, end: int, call: dict, node: int | None = None) -> dict:
        self.grid += 1
        k = {"key": key, "name": KERNELS[key][1], "start": start, "end": end, "stream": stream, "corr": call["corr"],
             "call": call, "grid_id": self.grid, "node": node, "iteration": self.iteration, "nccl": key.startswith("all")}
        self.kernels.append(k)
        self.ready[stream] = end
        return k

    def launch(self, tid: int, key: str, stream: int = NULL_STREAM, after: int = 0) -> dict:
        call = self.api(tid, LAUNCH)
        start = max(self.ready[stream], call["start"] + LATENCY, after)
        return self.add_kernel(key, stream, start, start + self.duration(key), call)

    def copy(self, tid: int, kind: int, size: int, ns: int, stream: int, src: int, dst: int, after: int = 0) -> dict:
        call = self.api(tid, MEMCPY)
        start = max(self.ready[stream], call["start"] + LATENCY, after)
        c = {"start": start, "end": start + ns, "kind": kind, "bytes": size, "stream": stream, "corr": call["corr"],
             "src": src, "dst": dst, "call": call}
        self.copies.append(c)
        self.ready[stream] = c["end"]
        return c

    def order(self, tid: int, first: int, then: int) -> None:
        """An event recorded on one stream, waited for by another."""
        rec = self.api(tid, RECORD)
        self.event_sync += 1
        self.records.append({"stream": first, "corr": rec["corr"], "event": 1 + self.event_sync % 8, "sync": self.event_sync,
                             "timestamp": max(self.ready[first], rec["start"] + LATENCY)})
        wait = self.api(tid, WAIT)
        self.syncs.append({"start": wait["start"] + 200, "end": wait["end"] - 200, "type": 2, "stream": then,
                           "corr": wait["corr"], "event": 1 + self.event_sync % 8, "sync": self.event_sync})
        self.ready[then] = max(self.ready[then], self.ready[first])

    def block(self, tid: int, name: str, until: int, stream: int | None) -> None:
        start = self.cpu[tid]
        call = self.api(tid, name, max(until + 2 * US, start + 3 * US) - start)
        self.syncs.append({"start": call["start"] + 200, "end": call["end"] - 200, "type": 3 if stream is not None else 4,
                           "stream": stream if stream is not None else 4294967295, "corr": call["corr"], "event": 0, "sync": 0})


def collective(procs: list[Proc], key: str, tids: list[int], arrivals: list[int] | None = None) -> list[dict]:
    """All processes call it; no kernel ends before the last one has arrived plus the transfer."""
    out, duration = [], procs[0].duration(key)
    calls = []
    for p, tid in zip(procs, tids):
        p.push(tid, NCCL_API[key], 1, payload=(key, NCCL_BYTES[key]))
        calls.append(p.api(tid, LAUNCH_EX))
        p.pop(tid)
    starts = [max(p.ready[NCCL_STREAM], c["start"] + LATENCY, arrivals[i] if arrivals else 0)
              for i, (p, c) in enumerate(zip(procs, calls))]
    end = max(starts) + duration
    for p, c, s in zip(procs, calls, starts):
        k = p.add_kernel(key, NCCL_STREAM, s, end, c)
        k["wait"], k["bytes"] = max(starts) - s, NCCL_BYTES[key]
        out.append(k)
    return out


def play(world: int, per_file: int, args) -> tuple[list[Proc], list[dict]]:
    procs = [Proc(w, w % per_file, args.seed, w == args.straggler) for w in range(world)]
    log: list[dict] = []
    gc_at, slow_at = (args.iterations // 2, args.iterations - 1) if args.iterations > 2 else (-1, -1)
    for p in procs:  # set-up, outside any iteration
        p.push(p.main, "ncclCommInitRank", 1, payload=("init", (world, p.world, p.device)))
        p.cpu[p.main] += 300 * US
        p.pop(p.main)
        p.epoch = {"start": p.cpu[p.main], "tid": p.main, "text": "epoch_0", "domain": 0, "type": 60, "range": 77}
        p.ranges.append(p.epoch)
    for it in range(args.iterations):
        for p in procs:
            m = p.main
            p.iteration = it
            p.iter_start = p.cpu[m]
            p.push(m, f"iteration_{it}")
            p.push(m, "dataloader")
            p.cpu[p.worker] = p.cpu[m]
            p.os_call(p.worker, "read", 300 * US)
            p.os_call(m, "pthread_cond_wait", 6 * MS if it == slow_at else 400 * US)
            p.pop(m)
            if it == 0:
                for _ in range(3):
                    call = p.api(m, MODULE, 4 * MS)
                    p.overheads.append({"start": call["start"] + US, "end": call["end"] - US, "tid": m, "corr": call["corr"], "type": 6})
            if it == gc_at:
                p.push(m, "gc.collect generation 2")
                p.cpu[m] += 5 * MS
                p.pop(m)
                for name, op in ((FREE, 1), (MALLOC, 0)):
                    call = p.api(m, name, 1 * MS)
                    p.mem.append({"start": call["end"], "op": op, "bytes": 1 << 28, "corr": call["corr"], "address": p.address})
            p.copy(m, H2D, 16 << 20, 320 * US, COPY_STREAM, PINNED, DEVICE)
            if per_file > 1:
                p.copy(m, P2P, 4 << 20, 30 * US, COPY_STREAM, DEVICE, DEVICE)
            p.order(m, COPY_STREAM, NULL_STREAM)
            call = p.api(m, MEMSET)
            s = max(p.ready[NULL_STREAM], call["start"] + LATENCY)
            p.sets.append({"start": s, "end": s + 2 * US, "bytes": 4096, "stream": NULL_STREAM, "corr": call["corr"]})
            p.ready[NULL_STREAM] = s + 2 * US
            p.push(m, "forward")
            for layer in range(args.layers):
                p.push(m, f"layer_{layer}", registered=True)
                p.push(m, "attn")
                p.launch(m, "qkv")
                flash = p.launch(m, "flash")
                if layer == 0:
                    p.launch(m, "side", SIDE_STREAM, after=flash["start"])
                p.pop(m)
                p.push(m, "mlp")
                p.launch(m, "mlp")
                p.launch(m, "gelu")
                p.pop(m)
                p.pop(m)
            p.copy(m, D2D, 1 << 20, 10 * US, NULL_STREAM, DEVICE, DEVICE)
            p.push(m, "graph_block")
            call = p.api(m, GRAPH_LAUNCH)
            start = max(p.ready[NULL_STREAM], call["start"] + LATENCY)
            first = start
            durations = [p.duration("node") for _ in range(GRAPH_NODES)]
            for n, d in enumerate(durations):
                if args.graph_mode == "node":
                    p.add_kernel("node", NULL_STREAM, start, start + d, call, node=(GRAPH_EXEC << 32) | (n + 1))
                start += d + 1 * US
            last = start - 1 * US
            p.ready[NULL_STREAM] = last
            p.graph_launches.append({"start": first, "end": last, "corr": call["corr"], "kernel_ns": sum(durations)})
            if args.graph_mode == "graph":
                p.graph_traces.append({"start": first, "end": last, "corr": call["corr"]})
            p.pop(m)
            p.push(m, "loss")
            p.launch(m, "loss")
            p.copy(m, D2H, 4, 2 * US, NULL_STREAM, DEVICE, PAGEABLE)
            p.block(m, STREAM_SYNC, p.ready[NULL_STREAM], NULL_STREAM)
            p.pop(m)
            p.pop(m)  # forward
            p.push(m, "backward")
            p.cpu[p.autograd] = p.cpu[m]
        for layer in reversed(range(args.layers)):
            grads = []
            for p in procs:
                a = p.autograd
                p.push(a, f"backward_layer_{layer}")
                p.launch(a, "dgrad")
                p.launch(a, "wgrad")
                p.order(a, NULL_STREAM, NCCL_STREAM)
                grads.append(p.ready[NULL_STREAM])
            for k in collective(procs, "allreduce", [p.autograd for p in procs], grads):
                pass
            log.append(dict(op="allreduce", iteration=it, layer=layer, kernels=[p.kernels[-1] for p in procs]))
            for p in procs:
                p.pop(p.autograd)
        for p in procs:  # main slept while the autograd thread worked
            p.os_call(p.main, "pthread_cond_wait", max(p.cpu[p.autograd] - p.cpu[p.main], 0) + 5 * US)
            p.pop(p.main)
            p.push(p.main, "optimizer")
            p.order(p.main, NULL_STREAM, NCCL_STREAM)
        collective(procs, "allgather", [p.main for p in procs], [p.ready[NULL_STREAM] for p in procs])
        log.append(dict(op="allgather", iteration=it, layer=None, kernels=[p.kernels[-1] for p in procs]))
        for p in procs:
            m = p.main
            p.order(m, NCCL_STREAM, NULL_STREAM)
            for _ in range(SMALL_KERNELS):
                p.launch(m, "adam")
            p.block(m, DEVICE_SYNC, max(p.ready.values()), None)
            p.pop(m)
            r = p.pop(m)
            r["iteration_range"] = it
            p.ranges.append({"start": p.cpu[m], "end": None, "tid": m, "text": "step_done", "domain": 0, "type": 34})
            p.iteration = -1
            p.cpu[m] += 1500 * US  # the pause between iterations
    for p in procs:
        p.epoch["end"] = p.cpu[p.main]
    return procs, log


# --- the answers ---------------------------------------------------------------------


def union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[list[int]] = []
    for s, e in sorted(spans):
        if out and s <= out[-1][1]:
            out[-1][1] = max(out[-1][1], e)
        else:
            out.append([s, e])
    return [(s, e) for s, e in out]


def total(spans: list[tuple[int, int]]) -> int:
    return sum(e - s for s, e in spans)


def common(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> int:
    i = j = got = 0
    while i < len(a) and j < len(b):
        got += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return got


def gaps(spans: list[tuple[int, int]], over: int) -> dict:
    g = [b[0] - a[1] for a, b in zip(spans, spans[1:])]
    big = [x for x in g if x > over]
    return {"count": len(big), "total_ns": sum(big), "all_ns": sum(g), "largest_ns": max(g, default=0)}


def depth_ns(spans: list[tuple[int, int]]) -> dict:
    edges = sorted([(s, 1) for s, _ in spans] + [(e, -1) for _, e in spans])
    level, at, out, top = 0, 0, {}, 0
    for t, d in edges:
        if level and t > at:
            out[level] = out.get(level, 0) + t - at
            top = max(top, level)
        level, at = level + d, t
    return {"max": top, "ns_at_2_or_more": sum(v for k, v in out.items() if k >= 2)}


def stat(values: list[int]) -> dict:
    return {"count": len(values), "total_ns": sum(values), "min_ns": min(values), "max_ns": max(values)} if values else \
        {"count": 0, "total_ns": 0}


def group(rows, key, value=lambda r: r["end"] - r["start"]) -> dict:
    out: dict = {}
    for r in rows:
        out.setdefault(key(r), []).append(value(r))
    return {str(k): stat(v) for k, v in sorted(out.items(), key=lambda kv: str(kv[0]))}


def answers(procs: list[Proc], shift: int, args) -> dict:
    """Times in the answer are on the file's clock (shift added)."""
    t: dict = {"processes": {}, "devices": {}}
    for p in procs:
        ks = p.kernels
        span = lambda r: (r["start"], r["end"])  # noqa: E731
        comp, comm = union([span(k) for k in ks if not k["nccl"]]), union([span(k) for k in ks if k["nccl"]])
        busy, copies = union([span(k) for k in ks]), union([span(c) for c in p.copies])
        active = union([span(r) for rs in (ks, p.copies, p.sets, p.graph_traces) for r in rs])
        first, last = busy[0][0], busy[-1][1]
        both = common(comp, comm)
        streams = {}
        for sid in sorted({k["stream"] for k in ks}):
            mine = sorted(span(k) for k in ks if k["stream"] == sid)
            streams[str(sid)] = {"count": len(mine), "busy_ns": total(union(mine)), "first_ns": mine[0][0] + shift,
                                 "last_ns": mine[-1][1] + shift, "gaps_over_1ms": gaps(mine, MS)}
        by_kind: dict = {}
        for c in p.copies:
            d = by_kind.setdefault(str(c["kind"]), {"count": 0, "bytes": 0, "total_ns": 0})
            d["count"] += 1
            d["bytes"] += c["bytes"]
            d["total_ns"] += c["end"] - c["start"]
        t["devices"][str(p.device)] = {
            "first_kernel_ns": first + shift, "last_kernel_ns": last + shift, "span_ns": last - first,
            "kernel_count": len(ks), "kernel_sum_ns": total([span(k) for k in ks]), "busy_union_ns": total(busy),
            "idle_ns": last - first - total(busy), "gaps_over_1ms": gaps(busy, MS), "streams": streams,
            "compute_union_ns": total(comp), "nccl_union_ns": total(comm), "overlap_ns": both,
            "compute_only_ns": total(comp) - both, "exposed_nccl_ns": total(comm) - both,
            "memcpy": by_kind, "memset": {"count": len(p.sets), "bytes": sum(s["bytes"] for s in p.sets),
                                          "total_ns": sum(s["end"] - s["start"] for s in p.sets)},
            "copy_union_ns": total(copies), "copy_overlapping_kernels_ns": common(copies, busy),
            "active_union_ns": total(active), "active_first_ns": active[0][0] + shift, "active_last_ns": active[-1][1] + shift,
            "concurrency": depth_ns([span(k) for k in ks]),
            "top_kernels": group(ks, lambda k: k["name"]),
            "nccl": {op: {**stat([k["end"] - k["start"] for k in ks if k["key"] == op]),
                          "bytes": sum(k["bytes"] for k in ks if k["key"] == op),
                          "wait_for_others_ns": sum(k["wait"] for k in ks if k["key"] == op)} for op in NCCL_BYTES},
        }
        iters = []
        for r in [r for r in p.ranges if "iteration_range" in r]:
            i = r["iteration_range"]
            mine = [k for k in ks if k["iteration"] == i]
            c = union([span(k) for k in mine if not k["nccl"]])
            n = union([span(k) for k in mine if k["nccl"]])
            iters.append({"index": i, "nvtx_ns": [r["start"] + shift, r["end"] + shift], "host_ns": r["end"] - r["start"],
                          "gpu_ns": [min(k["start"] for k in mine) + shift, max(k["end"] for k in mine) + shift],
                          "kernels": len(mine), "nccl_kernels": sum(k["nccl"] for k in mine),
                          "compute_union_ns": total(c), "exposed_nccl_ns": total(n) - common(c, n)})
        inner: dict = {}
        leaf: dict = {}
        for k in ks:
            path = [r["text"] for r in k["call"]["path"] if r["domain"] == 0]
            key = " > ".join(path)
            d = inner.setdefault(key, {"kernels": 0, "kernel_ns": 0})
            d["kernels"] += 1
            d["kernel_ns"] += k["end"] - k["start"]
            d = leaf.setdefault(path[-1], {"kernels": 0, "kernel_ns": 0})
            d["kernels"] += 1
            d["kernel_ns"] += k["end"] - k["start"]
        plain = [k for k in ks if k["node"] is None]
        blocked = [a for a in p.apis if a["name"] in (STREAM_SYNC, DEVICE_SYNC)]
        t["processes"][str(p.pid)] = {
            "device": p.device, "world_rank": p.world, "main_thread": p.main, "autograd_thread": p.autograd, "worker_thread": p.worker,
            "iterations": iters,
            "slowest_iteration_by_host": max(iters, key=lambda x: x["host_ns"])["index"],
            "nvtx_ranges_by_type": {"59": sum(r["type"] == 59 for r in p.ranges), "60": 1, "34": args.iterations},
            "kernels_by_innermost_range": dict(sorted(leaf.items())),
            "kernels_by_range_path": dict(sorted(inner.items())),
            "launches": {
                "kernels_with_call": len(ks),
                "start_to_start_ns": stat([k["start"] - k["call"]["start"] for k in plain]),
                "end_to_start_ns_where_positive": stat([k["start"] - k["call"]["end"] for k in plain if k["start"] > k["call"]["end"]]),
                "small_kernels_under_10us": sum(k["end"] - k["start"] < 10 * US for k in ks),
            },
            "api": group(p.apis, lambda a: a["name"]),
            "host_blocked_in_sync_ns": sum(a["end"] - a["start"] for a in blocked),
            "sync_rows_by_type": group(p.syncs, lambda s: s["type"]),
            "event_waits_matched_to_records": len(p.records),
            "gc_ranges": stat([r["end"] - r["start"] for r in p.ranges if r["text"].startswith("gc.collect")]),
            "alloc_calls": stat([a["end"] - a["start"] for a in p.apis if a["name"] in (MALLOC, FREE)]),
            "module_loading": stat([a["end"] - a["start"] for a in p.apis if a["name"] == MODULE]),
            "osrt": group(p.osrt, lambda o: o["name"]),
            "graph": {"mode": args.graph_mode, "launches": len(p.graph_launches), "nodes_per_launch": GRAPH_NODES,
                      "span_ns": sum(g["end"] - g["start"] for g in p.graph_launches),
                      "kernel_ns": sum(g["kernel_ns"] for g in p.graph_launches)},
        }
    t["planted"] = {
        "module_loading_in_iteration": 0,
        "gc_in_iteration": args.iterations // 2 if args.iterations > 2 else None,
        "slow_dataloader_in_iteration": args.iterations - 1 if args.iterations > 2 else None,
        "exposed_collective": "allgather", "tiny_kernels": "multi_tensor_adam_tiny",
        "pageable_copy": "device to host, 4 bytes, once an iteration, followed by a blocking stream sync",
        "straggler_world_rank": args.straggler,
    }
    return t


# --- the file ------------------------------------------------------------------------

I, T, R = "INTEGER", "TEXT", "REAL"


def columns(spec: str) -> str:
    """'a b? c:T' -> column list; ? allows NULL, :T/:R sets the type."""
    out = []
    for word in spec.split():
        name, _, kind = word.partition(":")
        null = name.endswith("?")
        out.append(f'"{name.rstrip("?")}" {({"T": T, "R": R}.get(kind, I))}' + ("" if null else " NOT NULL"))
    return ", ".join(out)


GPU_EVENT = "start end deviceId contextId greenContextId? streamId correlationId? globalPid?"
SCHEMA = {
    "ANALYSIS_DETAILS": "globalVid duration startTime stopTime",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs? utcTime?:T localTime?:T systemClockNs?",
    "TARGET_INFO_SYSTEM_ENV": "globalVid? devStateName:T name:T nameEnum value:T",
    "TARGET_INFO_GPU": "vmId id name?:T busLocation?:T isDiscrete? l2CacheSize? totalMemory? memoryBandwidth? clockRate? smCount? "
                       "pwGpuId? uuid?:T luid? chipName?:T cuDevice? ctxswDevPath?:T ctrlDevPath?:T revision? nodeMask? constantMemory? "
                       "maxIPC? maxRegistersPerBlock? maxShmemPerBlock? maxShmemPerBlockOptin? maxShmemPerSm? maxRegistersPerSm? "
                       "threadsPerWarp? asyncEngines? maxWarpsPerSm? maxBlocksPerSm? maxThreadsPerBlock? maxBlockDimX? maxBlockDimY? "
                       "maxBlockDimZ? maxGridDimX? maxGridDimY? maxGridDimZ? computeMajor? computeMinor? smMajor? smMinor?",
    "TARGET_INFO_CUDA_DEVICE": "gpuId? cudaId pid uuid?:T numMultiprocessors?",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "nullStreamId hwId vmId processId deviceId contextId parentContextId? isGreenContext? numMultiprocessors?",
    "TARGET_INFO_CUDA_STREAM": "streamId hwId vmId processId contextId priority flag",
    "TARGET_INFO_GPU_METRICS": "typeId sourceId typeName:T metricId metricName:T",
    "PROCESSES": "globalPid? pid? name?:T",
    "ThreadNames": "nameId priority? globalTid?",
    "DIAGNOSTIC_EVENT": "timestamp timestampType source severity text:T globalPid?",
    "CUPTI_ACTIVITY_KIND_KERNEL": GPU_EVENT + " demangledName shortName mangledName? launchType? cacheConfig? registersPerThread gridX gridY gridZ "
                                  "blockX blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId "
                                  "sharedMemoryExecuted? graphNodeId? sharedMemoryLimitConfig? qmdBulkReleaseDone? qmdPreexitDone? "
                                  "qmdLastCtaDone? graphId? clusterX? clusterY? clusterZ? clusterSchedulingPolicy? maxPotentialClusterSize? "
                                  "maxActiveClusters? sharedMemoryRequestedPercentage? tensorSizeMinusOneElements:T",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid? correlationId? nameId returnValue callchainId?",
    "CUPTI_ACTIVITY_KIND_MEMCPY": GPU_EVENT + " bytes copyKind deprecatedSrcId? srcKind? dstKind? srcDeviceId? srcContextId? dstDeviceId? "
                                  "dstContextId? migrationCause? graphNodeId? virtualAddress? copyCount?",
    "CUPTI_ACTIVITY_KIND_MEMSET": GPU_EVENT + " value bytes graphNodeId? memKind?",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": GPU_EVENT + " deprecatedSyncType? syncType eventId eventSyncId?",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp? deviceId contextId greenContextId? streamId correlationId? globalPid? eventId eventSyncId?",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": GPU_EVENT + " graphId graphExecId",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "start end eventClass globalTid? correlationId? nameId? overheadType",
    "PROFILER_OVERHEAD": "start end globalTid? nameId overheadType",
    "CUDA_GRAPH_EVENTS": "start end eventClass globalTid? nameId graphId? originalGraphId? graphExecId?",
    "CUDA_GRAPH_NODE_EVENTS": "start end eventClass globalTid? nameId graphNodeId originalGraphNodeId?",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId contextId address pc bytes memKind memoryOperationType name?:T correlationId? "
                                    "localMemoryPoolAddress? localMemoryPoolReleaseThreshold? localMemoryPoolSize? "
                                    "localMemoryPoolUtilizedSize? importedMemoryPoolAddress? importedMemoryPoolProcessId?",
    "NVTX_EVENTS": "start end? eventType rangeId? category? color? text?:T globalTid? endGlobalTid? textId? domainId? uint64Value? int64Value? "
                   "doubleValue?:R uint32Value? int32Value? floatValue?:R jsonTextId? jsonText?:T binaryData?:T",
    "NVTX_PAYLOAD_SCHEMAS": "domainId? schemaId? name?:T type? flags? numEntries? payloadSize? alignTo?",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": "domainId schemaId idx flags? type? name?:T description?:T arrayOrUnionDetail? offset?",
    "OSRT_API": "start end eventClass globalTid? nameId returnValue nestingLevel? callchainId",
    "SCHED_EVENTS": "start cpu isSchedIn globalTid? threadState? threadBlock?",
    "GPU_METRICS": "rawTimestamp? timestamp? typeId metricId value",
    "META_DATA_CAPTURE": "name:T value?:T",
    "META_DATA_EXPORT": "name:T value?:T",
}
KEYED = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "COMPOSITE_EVENTS": "id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER NOT NULL",
    "SAMPLING_CALLCHAINS": "id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER, thumbCode INTEGER, "
                           "unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL, "
                           "PRIMARY KEY (id, stackDepth)",
}
ENUMS = {
    "ENUM_CUDA_MEMCPY_OPER": [(1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"), (2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"),
                              (8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"), (10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer")],
    "ENUM_CUDA_MEM_KIND": [(0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"), (1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"),
                           (2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device")],
    "ENUM_CUPTI_SYNC_TYPE": [(1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"),
                             (2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"),
                             (3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"),
                             (4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync")],
    "ENUM_NSYS_EVENT_TYPE": [(34, "NvtxMark", "NvtxMark"), (59, "NvtxPushPopRange", "NvtxPushPopRange"),
                             (60, "NvtxStartEndRange", "NvtxStartEndRange"), (75, "NvtxDomainCreate", "NvtxDomainCreate")],
    "ENUM_CUPTI_OVERHEAD_TYPE": [(6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)")],
    "ENUM_CUDA_DEV_MEM_EVENT_OPER": [(0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"), (1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation")],
}
# (schema id, payload bytes, [(offset, type, name)])
SCHEMAS = {
    "init": (16777218, 24, [(0, 18, "NCCL communicator ID"), (8, 5, "No. of ranks"), (12, 5, "Rank"), (16, 5, "CUDA device")]),
    "allreduce": (16777223, 24, [(0, 18, "NCCL communicator ID"), (8, 22, "Message size [bytes]"), (16, 16777232, "Reduction operation")]),
    "allgather": (16777220, 16, [(0, 18, "NCCL communicator ID"), (8, 22, "Message size [bytes]")]),
}


def blob(payload: tuple) -> bytes:
    kind, value = payload
    sid, size, _ = SCHEMAS[kind]
    body = {"init": lambda: struct.pack("<QIIII", COMM_ID, *value, 0), "allreduce": lambda: struct.pack("<QQII", COMM_ID, value, 0, 0),
            "allgather": lambda: struct.pack("<QQ", COMM_ID, value)}[kind]()
    return struct.pack("<QQQQ", 1, sid, size, 32) + body


class Writer:
    def __init__(self, path: str):
        if os.path.exists(path):
            os.remove(path)
        self.db = sqlite3.connect(path, isolation_level=None)
        for p in ("page_size=4096", "journal_mode=OFF", "synchronous=OFF"):
            self.db.execute(f"PRAGMA {p}")
        self.db.execute("BEGIN")
        self.ids: dict[str, int] = {}
        self.names = {t: [w.partition(":")[0].rstrip("?") for w in s.split()] for t, s in SCHEMA.items()}
        for t, body in KEYED.items():
            self.db.execute(f"CREATE TABLE {t} ({body})")
        for t, spec in SCHEMA.items():
            self.db.execute(f"CREATE TABLE {t} ({columns(spec)})")
        for t, rows in ENUMS.items():
            self.db.execute(f"CREATE TABLE {t} (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)")
            self.db.executemany(f"INSERT INTO {t} VALUES (?,?,?)", rows)

    def s(self, text: str) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            self.db.execute("INSERT INTO StringIds VALUES (?,?)", (self.ids[text], text))
        return self.ids[text]

    def put(self, table: str, rows: list[dict]) -> None:
        names = self.names[table]
        sql = f"INSERT INTO {table} VALUES ({','.join('?' * len(names))})"
        for r in rows:
            extra = set(r) - set(names)
            if extra:
                raise KeyError(f"{table}: {extra}")
        self.db.executemany(sql, ([r.get(n) for n in names] for r in rows))

    def close(self) -> None:
        self.db.execute("COMMIT")
        self.db.close()


def write_file(path: str, procs: list[Proc], clock: int, session_utc: int, shift: int, host: str, args) -> dict:
    w, extra = Writer(path), {}
    stop = max(max(p.cpu.values()) for p in procs) + 10 * MS + shift
    gp = lambda p: VM | (p.pid << 24)  # noqa: E731
    gt = lambda p, tid: VM | (p.pid << 24) | tid  # noqa: E731
    w.put("META_DATA_EXPORT", [{"name": n, "value": v} for n, v in (
        ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_PRODUCT_VERSION", "2026.2.1.210"), ("EXPORT_SCHEMA_VERSION", "3.25.0"),
        ("EXPORT_SCHEMA_VERSION_MAJOR", "3"), ("EXPORT_SCHEMA_VERSION_MINOR", "25"), ("EXPORT_SCHEMA_VERSION_MICRO", "0"),
        ("EXPORT_PARAM_EXPORT_TYPE", "SQLite"), ("EXPORT_PARAM_TIME_NORMALIZE", "false"), ("SYNTHETIC", "make_synthetic_profile"))])
    w.put("META_DATA_CAPTURE", [{"name": "CUDA_GRAPH_TRACE_OPTIONS:MODE", "value": args.graph_mode.capitalize()},
                                {"name": "COLLECT_GPU_MEMORY_USAGE", "value": "true"}])
    w.put("ANALYSIS_DETAILS", [{"globalVid": VM, "duration": stop - clock, "startTime": clock, "stopTime": stop}])
    w.put("TARGET_INFO_SESSION_START_TIME", [{"utcEpochNs": session_utc, "utcTime": "synthetic", "localTime": "synthetic", "systemClockNs": clock}])
    w.put("TARGET_INFO_SYSTEM_ENV", [{"globalVid": VM, "devStateName": "LinuxSystemEnv", "name": "Hostname", "nameEnum": 300, "value": host}])
    w.put("DIAGNOSTIC_EVENT", [
        {"timestamp": 0, "timestampType": 1, "source": 3, "severity": 1, "text": "Profiling has started.", "globalPid": None},
        {"timestamp": 1_000_000, "timestampType": 1, "source": 2, "severity": 2, "text": "Synthetic warning: not a real capture.", "globalPid": None}])
    for name, (sid, size, entries) in SCHEMAS.items():
        w.put("NVTX_PAYLOAD_SCHEMAS", [{"domainId": 1, "schemaId": sid, "type": 1, "numEntries": len(entries), "payloadSize": size}])
        w.put("NVTX_PAYLOAD_SCHEMA_ENTRIES", [{"domainId": 1, "schemaId": sid, "idx": i, "type": ty, "name": n, "offset": o or None}
                                              for i, (o, ty, n) in enumerate(entries)])
    rows: dict[str, list[dict]] = {t: [] for t in SCHEMA}
    samples: list[tuple] = []
    for p in procs:
        dev = {"deviceId": p.device, "contextId": p.context, "globalPid": gp(p)}
        uuid = f"GPU-{host}-{p.device}"
        rows["TARGET_INFO_GPU"].append({"vmId": VM, "id": p.device, "name": "NVIDIA H100 80GB HBM3", "busLocation": f"0000:{p.device + 1:02x}:00.0",
                                        "isDiscrete": 1, "l2CacheSize": 52428800, "totalMemory": 85_029_158_912, "memoryBandwidth": 3_352_320_000_000,
                                        "clockRate": 1_980_000_000, "smCount": 132, "pwGpuId": p.device, "uuid": uuid, "chipName": "GH100", "cuDevice": p.device,
                                        "maxShmemPerSm": 233472, "maxRegistersPerSm": 65536, "threadsPerWarp": 32, "maxWarpsPerSm": 64,
                                        "maxBlocksPerSm": 32, "maxThreadsPerBlock": 1024, "computeMajor": 9, "computeMinor": 0, "smMajor": 9, "smMinor": 0})
        rows["TARGET_INFO_CUDA_DEVICE"].append({"gpuId": p.device, "cudaId": p.device, "pid": p.pid, "uuid": uuid, "numMultiprocessors": 132})
        rows["TARGET_INFO_CUDA_CONTEXT_INFO"].append({"nullStreamId": NULL_STREAM, "hwId": 0, "vmId": 1, "processId": p.pid, "deviceId": p.device,
                                                      "contextId": p.context, "parentContextId": 0, "isGreenContext": 0, "numMultiprocessors": 0})
        for sid, prio, flag in ((NULL_STREAM, 0, 3), (NCCL_STREAM, -5, 2), (COPY_STREAM, 0, 2), (SIDE_STREAM, 0, 2)):
            rows["TARGET_INFO_CUDA_STREAM"].append({"streamId": sid, "hwId": 0, "vmId": 1, "processId": p.pid, "contextId": p.context, "priority": prio, "flag": flag})
        rows["PROCESSES"].append({"globalPid": gp(p), "pid": p.pid, "name": "python3"})
        for tid, name in ((p.main, "python3"), (p.worker, "pt_data_worker"), (p.autograd, "pt_autograd_0")):
            rows["ThreadNames"].append({"nameId": w.s(name), "priority": 20, "globalTid": gt(p, tid)})
        for k in p.kernels:
            dem, short, _, g, b, regs, smem = KERNELS[k["key"]]
            rows["CUPTI_ACTIVITY_KIND_KERNEL"].append({
                **dev, "start": k["start"] + shift, "end": k["end"] + shift, "streamId": k["stream"], "correlationId": k["corr"],
                "demangledName": w.s(dem), "shortName": w.s(short), "mangledName": w.s("_Z" + short), "launchType": 1, "cacheConfig": 1,
                "registersPerThread": regs, "gridX": g[0], "gridY": g[1], "gridZ": g[2], "blockX": b[0], "blockY": b[1], "blockZ": b[2],
                "staticSharedMemory": 0, "dynamicSharedMemory": smem, "localMemoryPerThread": 0, "localMemoryTotal": 0, "gridId": k["grid_id"],
                "graphNodeId": k["node"], "graphId": GRAPH_EXEC if k["node"] else 0, "tensorSizeMinusOneElements": "[]"})
        for a in p.apis:
            rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append({"start": a["start"] + shift, "end": a["end"] + shift, "eventClass": 1 if a["name"].startswith("cuM") else 0,
                                                        "globalTid": gt(p, a["tid"]), "correlationId": a["corr"], "nameId": w.s(a["name"]), "returnValue": 0})
        for c in p.copies:
            r = {**dev, "start": c["start"] + shift, "end": c["end"] + shift, "streamId": c["stream"], "correlationId": c["corr"], "bytes": c["bytes"],
                 "copyKind": c["kind"], "srcKind": c["src"], "dstKind": c["dst"], "copyCount": 1}
            if c["kind"] == P2P:
                r.update(srcDeviceId=p.device, srcContextId=1, dstDeviceId=(p.device + 1) % len(procs), dstContextId=1)
            rows["CUPTI_ACTIVITY_KIND_MEMCPY"].append(r)
        for m in p.sets:
            rows["CUPTI_ACTIVITY_KIND_MEMSET"].append({**dev, "start": m["start"] + shift, "end": m["end"] + shift, "streamId": m["stream"],
                                                       "correlationId": m["corr"], "value": 0, "bytes": m["bytes"], "memKind": DEVICE})
        for y in p.syncs:
            rows["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"].append({**dev, "start": y["start"] + shift, "end": y["end"] + shift, "streamId": y["stream"],
                                                                "correlationId": y["corr"], "syncType": y["type"], "eventId": y["event"], "eventSyncId": y["sync"]})
        for e in p.records:
            rows["CUPTI_ACTIVITY_KIND_CUDA_EVENT"].append({**dev, "timestamp": e["timestamp"] + shift, "streamId": e["stream"], "correlationId": e["corr"],
                                                           "eventId": e["event"], "eventSyncId": e["sync"]})
        for g in p.graph_traces:
            rows["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"].append({**dev, "start": g["start"] + shift, "end": g["end"] + shift, "streamId": NULL_STREAM,
                                                            "correlationId": g["corr"], "graphId": GRAPH_ID, "graphExecId": GRAPH_EXEC})
        base = 5 * MS + shift
        for i, (gid, orig, ex) in enumerate(((GRAPH_ID, None, None), (GRAPH_EXEC, GRAPH_ID, GRAPH_EXEC))):
            rows["CUDA_GRAPH_EVENTS"].append({"start": base + i * US, "end": base + i * US + 500, "eventClass": 94 + (i == 0), "globalTid": gt(p, p.main),
                                              "nameId": w.s("cudaGraphInstantiate" if i else "cudaStreamEndCapture"), "graphId": gid,
                                              "originalGraphId": orig, "graphExecId": ex})
        for n in range(GRAPH_NODES):
            for gid, orig in ((GRAPH_ID, None), (GRAPH_EXEC, (GRAPH_ID << 32) | (n + 1))):
                rows["CUDA_GRAPH_NODE_EVENTS"].append({"start": base + 10 * US * n, "end": base + 10 * US * n, "eventClass": 77, "globalTid": gt(p, p.main),
                                                       "nameId": w.s("Graph Node Creation"), "graphNodeId": (gid << 32) | (n + 1), "originalGraphNodeId": orig})
        for o in p.overheads:
            rows["CUPTI_ACTIVITY_KIND_OVERHEAD"].append({"start": o["start"] + shift, "end": o["end"] + shift, "eventClass": 103, "globalTid": gt(p, o["tid"]),
                                                         "correlationId": o["corr"], "nameId": w.s("Runtime module loading"), "overheadType": o["type"]})
        rows["PROFILER_OVERHEAD"].append({"start": 2 * MS + shift, "end": 3 * MS + shift, "globalTid": gt(p, p.main), "nameId": w.s("CUPTI buffer flush"), "overheadType": 3})
        for m in p.mem:
            rows["CUDA_GPU_MEMORY_USAGE_EVENTS"].append({"start": m["start"] + shift, "globalPid": gp(p), "deviceId": p.device, "contextId": 1,
                                                         "address": m["address"], "pc": 0, "bytes": m["bytes"], "memKind": DEVICE,
                                                         "memoryOperationType": m["op"], "correlationId": m["corr"]})
        rows["NVTX_EVENTS"].append({"start": shift, "end": None, "eventType": 75, "text": "NCCL", "globalTid": gt(p, p.main), "domainId": 1})
        for r in p.ranges:
            e = {"start": r["start"] + shift, "end": r["end"] + shift if r["end"] is not None else None, "eventType": r["type"],
                 "globalTid": gt(p, r["tid"]), "domainId": r["domain"]}
            if r.get("registered") or r["domain"] == 1:
                e["textId"] = w.s(r["text"])
            else:
                e["text"] = r["text"]
            if r["type"] == 60:
                e["rangeId"], e["endGlobalTid"] = r["range"], gt(p, r["tid"])
            if "payload" in r:
                e["binaryData"] = blob(r["payload"])
            rows["NVTX_EVENTS"].append(e)
        for o in p.osrt:
            rows["OSRT_API"].append({"start": o["start"] + shift, "end": o["end"] + shift, "eventClass": 27, "globalTid": gt(p, o["tid"]),
                                     "nameId": w.s(o["name"]), "returnValue": 0, "nestingLevel": 0, "callchainId": 0})
        # CPU samples every 500 us: main runs outside its waits, the worker inside `read`
        idle = union([(o["start"], o["end"]) for o in p.osrt if o["tid"] == p.main])
        reads = union([(o["start"], o["end"]) for o in p.osrt if o["tid"] == p.worker])
        cycles = {p.main: 0, p.worker: 0}
        for t in range(0, p.cpu[p.main], 500 * US):
            inside = lambda spans: any(s <= t < e for s, e in spans)  # noqa: E731
            for tid, on in ((p.main, not inside(idle)), (p.worker, inside(reads))):
                if on:
                    samples.append((t + shift, p.world % 8, 1, gt(p, tid), 1_000_000))
                    cycles[tid] += 1_000_000
        for s, e in idle:
            rows["SCHED_EVENTS"] += [{"start": s + shift, "cpu": p.world % 8, "isSchedIn": 0, "globalTid": gt(p, p.main), "threadState": 2, "threadBlock": 0},
                                     {"start": e + shift, "cpu": p.world % 8, "isSchedIn": 1, "globalTid": gt(p, p.main), "threadState": 0, "threadBlock": 0}]
        # one device sample a millisecond: share of that millisecond with a kernel running, in whole per cent
        busy = union([(k["start"], k["end"]) for k in p.kernels] + [(g["start"], g["end"]) for g in p.graph_traces])
        type_id = VM | (1 << 32) | p.device  # the low byte is TARGET_INFO_GPU.pwGpuId
        rows["TARGET_INFO_GPU_METRICS"] += [{"typeId": type_id, "sourceId": 1, "typeName": f"GPU Metrics [{p.device}]", "metricId": i, "metricName": n}
                                            for i, n in ((1, "SMs Active [Throughput %]"), (2, "Tensor Active [Throughput %]"))]
        values, at = [], 0
        for t in range(0, p.cpu[p.main] // MS * MS, MS):
            while at < len(busy) and busy[at][1] <= t:
                at += 1
            j, got = at, 0
            while j < len(busy) and busy[j][0] < t + MS:
                got += min(busy[j][1], t + MS) - max(busy[j][0], t)
                j += 1
            values.append(got * 100 // MS)
            for mid, v in ((1, values[-1]), (2, values[-1] // 2)):
                rows["GPU_METRICS"].append({"rawTimestamp": t + MS, "timestamp": t + MS + shift, "typeId": type_id, "metricId": mid, "value": v})
        extra[str(p.pid)] = {"cpu_cycles_by_thread": {str(k): v for k, v in cycles.items()},
                             "gpu_metrics": {"samples": len(values), "sms_active_sum": sum(values), "type_id": type_id}}
    order = {"NVTX_EVENTS": "start", "GPU_METRICS": "timestamp", "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp"}
    for table, rs in rows.items():
        key = order.get(table) or ("start" if rs and "start" in rs[0] else None)
        if key:
            rs.sort(key=lambda r: r[key])
        w.put(table, rs)
    for i, sample in enumerate(sorted(samples), 1):
        w.db.execute("INSERT INTO COMPOSITE_EVENTS VALUES (?,?,?,?,?,?)", (i, *sample))
        for depth, sym in enumerate(("_PyEval_EvalFrameDefault", "main")):
            w.db.execute("INSERT INTO SAMPLING_CALLCHAINS VALUES (?,?,?,0,0,0,0,?,2,?)", (i, w.s(sym), w.s("python3.11"), 4096 + depth, depth))
    if args.graph_mode == "node":
        w.db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE")  # tables are written only when used
    w.close()
    return extra


# --- reading back --------------------------------------------------------------------


def recheck(path: str, truth: dict) -> list[str]:
    """Compute the central answers again from the file alone, by slow plain means."""
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro", uri=True)
    bad: list[str] = []

    def same(what: str, got, want) -> None:
        if got != want:
            bad.append(f"{what}: file says {got}, answer is {want}")

    name = dict(db.execute("SELECT id, value FROM StringIds"))
    for dev, t in truth["devices"].items():
        ks = db.execute("SELECT start, end, streamId, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = ?", (int(dev),)).fetchall()
        cuts = sorted({x for k in ks for x in k[:2]})
        index = {x: i for i, x in enumerate(cuts)}
        comp, comm = [0] * len(cuts), [0] * len(cuts)
        for s, e, _, n in ks:
            cell = comm if name[n].startswith("nccl") else comp
            for i in range(index[s], index[e]):
                cell[i] += 1
        step = [b - a for a, b in zip(cuts, cuts[1:])] + [0]
        same(f"device {dev} kernels", len(ks), t["kernel_count"])
        same(f"device {dev} idle", sum(d for d, a, b in zip(step, comp, comm) if not a and not b), t["idle_ns"])
        same(f"device {dev} overlap", sum(d for d, a, b in zip(step, comp, comm) if a and b), t["overlap_ns"])
        same(f"device {dev} compute only", sum(d for d, a, b in zip(step, comp, comm) if a and not b), t["compute_only_ns"])
        same(f"device {dev} exposed", sum(d for d, a, b in zip(step, comp, comm) if b and not a), t["exposed_nccl_ns"])
        same(f"device {dev} concurrency", max(a + b for a, b in zip(comp, comm)), t["concurrency"]["max"])
        parts = t["compute_only_ns"] + t["exposed_nccl_ns"] + t["overlap_ns"] + t["idle_ns"]
        same(f"device {dev} parts of the span", parts, t["span_ns"])
        for sid, s in t["streams"].items():
            mine = sorted(k[:2] for k in ks if k[2] == int(sid))
            same(f"device {dev} stream {sid} busy", sum(e - s0 for s0, e in mine), s["busy_ns"])
            same(f"device {dev} stream {sid} overlaps itself", any(b[0] < a[1] for a, b in zip(mine, mine[1:])), False)
        active: list[tuple[int, int]] = []
        for table in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"):
            if db.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (f"CUPTI_ACTIVITY_KIND_{table}",)).fetchone()[0]:
                active += db.execute(f"SELECT start, end FROM CUPTI_ACTIVITY_KIND_{table} WHERE deviceId = ?", (int(dev),)).fetchall()
        edges = sorted([(s, 1) for s, _ in active] + [(e, -1) for _, e in active])
        level = covered = 0
        for (at, step_by), (after, _) in zip(edges, edges[1:]):
            level += step_by
            covered += (after - at) if level else 0
        same(f"device {dev} active", (covered, edges[0][0], edges[-1][0]), (t["active_union_ns"], t["active_first_ns"], t["active_last_ns"]))
        for kind, c in t["memcpy"].items():
            same(f"device {dev} memcpy {kind}", db.execute("SELECT count(*), sum(bytes), sum(end-start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE deviceId=? AND copyKind=?",
                 (int(dev), int(kind))).fetchone(), (c["count"], c["bytes"], c["total_ns"]))
    for pid, t in truth["processes"].items():
        pid_n = int(pid)
        calls = db.execute("SELECT r.correlationId, r.start, r.end, r.globalTid & 16777215, r.nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE (r.globalTid >> 24) & 16777215 = ?", (pid_n,)).fetchall()
        by_corr = {c[0]: c for c in calls}
        ranges = db.execute("SELECT n.start, n.end, n.globalTid & 16777215, coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId "
                            "WHERE n.eventType = 59 AND n.domainId = 0 AND (n.globalTid >> 24) & 16777215 = ?", (pid_n,)).fetchall()
        leaf: dict = {}
        joined = 0
        for s, e, corr in db.execute("SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE (globalPid >> 24) & 16777215 = ?", (pid_n,)):
            c = by_corr.get(corr)
            if not c:
                continue
            joined += 1
            inside = [r for r in ranges if r[2] == c[3] and r[0] <= c[1] and r[1] >= c[2]]
            text = max(inside, key=lambda r: r[0])[3]
            d = leaf.setdefault(text, {"kernels": 0, "kernel_ns": 0})
            d["kernels"] += 1
            d["kernel_ns"] += e - s
        same(f"process {pid} joined kernels", joined, t["launches"]["kernels_with_call"])
        same(f"process {pid} innermost ranges", dict(sorted(leaf.items())), t["kernels_by_innermost_range"])
        api: dict = {}
        for c in calls:
            api.setdefault(name[c[4]], []).append(c[2] - c[1])
        same(f"process {pid} api", {k: (len(v), sum(v)) for k, v in sorted(api.items())}, {k: (v["count"], v["total_ns"]) for k, v in sorted(t["api"].items())})
        matched = db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e ON e.eventSyncId = s.eventSyncId "
                             "AND e.globalPid = s.globalPid WHERE s.eventSyncId > 0 AND (s.globalPid >> 24) & 16777215 = ?", (pid_n,)).fetchone()[0]
        same(f"process {pid} event waits", matched, t["event_waits_matched_to_records"])
        for tid in (t["main_thread"], t["autograd_thread"]):
            stack: list[int] = []
            for s, e, rt, _ in sorted((r for r in ranges if r[2] == tid), key=lambda r: (r[0], -r[1])):
                while stack and stack[-1] <= s:
                    stack.pop()
                if stack and e > stack[-1]:
                    bad.append(f"process {pid} thread {tid}: ranges cross at {s}")
                stack.append(e)
    for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "OSRT_API", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
        same(f"{table} backwards", db.execute(f"SELECT count(*) FROM {table} WHERE end < start").fetchone()[0], 0)
    db.close()
    return bad


def closed_form(truth: dict, args, world: int) -> list[str]:
    """Seed 0, no straggler: a few answers from the constants alone."""
    if args.seed or args.straggler is not None:
        return []
    bad = []
    n, layers = args.iterations, args.layers
    fwd = sum(KERNELS[k][2] for k in ("qkv", "flash", "mlp", "gelu")) * layers
    graph = GRAPH_NODES * KERNELS["node"][2] if args.graph_mode == "node" else 0
    bwd = (KERNELS["dgrad"][2] + KERNELS["wgrad"][2]) * layers
    null_stream = n * (fwd + graph + KERNELS["loss"][2] + bwd + SMALL_KERNELS * KERNELS["adam"][2])
    for dev, t in truth["devices"].items():
        for what, got, want in (
            ("stream 7 busy", t["streams"]["7"]["busy_ns"], null_stream),
            ("stream 22 busy", t["streams"]["22"]["busy_ns"], n * KERNELS["side"][2]),
            ("nccl kernels", sum(x["count"] for x in t["nccl"].values()), n * (layers + 1)),
            ("compute union (the side kernel is hidden)", t["compute_union_ns"], null_stream),
        ):
            if got != want:
                bad.append(f"device {dev} {what}: {got}, by hand {want}")
        if world == 1:  # nobody to wait for: layer L-1..1 hidden behind the next layer, the last AllReduce and the AllGather exposed
            exposed = n * (KERNELS["allreduce"][2] + KERNELS["allgather"][2])
            if t["exposed_nccl_ns"] != exposed:
                bad.append(f"device {dev} exposed: {t['exposed_nccl_ns']}, by hand {exposed}")
    return bad


def main() -> int:
    ap = argparse.ArgumentParser(description="Write a synthetic Nsight Systems export with known answers.")
    ap.add_argument("out", help="the .sqlite to write, or a folder with --ranks")
    ap.add_argument("--devices", type=int, default=1, help="devices (and processes) per file")
    ap.add_argument("--ranks", type=int, default=0, help="write this many files into the folder OUT")
    ap.add_argument("--iterations", type=int, default=6)
    ap.add_argument("--layers", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0, help="0: exact constants; else durations vary by +-2 %%")
    ap.add_argument("--straggler", type=int, default=None, help="world rank that is 35 %% slower (default: the last one with --ranks, else none)")
    ap.add_argument("--graph-mode", choices=("node", "graph"), default="node", help="how CUDA graphs were traced")
    ap.add_argument("--check", action="store_true", help="read the files back and compare")
    args = ap.parse_args()
    files = max(1, args.ranks)
    world = files * args.devices
    if args.straggler is None and args.ranks > 1:
        args.straggler = world - 1
    if args.straggler is not None and not 0 <= args.straggler < world:
        args.straggler = None
    procs, log = play(world, args.devices, args)
    if args.ranks:
        os.makedirs(args.out, exist_ok=True)
    problems, names = [], []
    for f in range(files):
        path = os.path.join(args.out, f"rank_{f}.sqlite") if args.ranks else args.out
        mine = procs[f * args.devices:(f + 1) * args.devices]
        clock = 1000 * SEC + f * 7_777_777_777
        session_utc = UTC0 - SEC - f * 250 * MS
        shift = clock + (UTC0 - session_utc)  # simulated time 0 is UTC0
        truth = {"generator": {k: v for k, v in vars(args).items() if k not in ("out", "check")}, "world_size": world, "file_rank": f,
                 "clock": {"systemClockNs": clock, "utcEpochNs": session_utc, "utc_of_simulated_zero": UTC0}}
        truth.update(answers(mine, shift, args))
        for pid, more in write_file(path, mine, clock, session_utc, shift, f"node{f}", args).items():
            truth["processes"][pid].update(more)
        with open(path.removesuffix(".sqlite") + ".truth.json", "w") as fh:
            json.dump(truth, fh, indent=1)
            fh.write("\n")
        names.append(path)
        if args.check:
            problems += [f"{os.path.basename(path)}: {b}" for b in recheck(path, truth) + closed_form(truth, args, world)]
    if args.ranks:
        ops: dict = {}
        for c in log:
            d = ops.setdefault(c["op"], {"count": 0, "wait_ns_by_rank": [0] * world, "last_arrival_by_rank": [0] * world, "ties": 0, "skew_ns_max": 0})
            d["count"] += 1
            starts = [k["start"] for k in c["kernels"]]
            for i, k in enumerate(c["kernels"]):
                d["wait_ns_by_rank"][i] += k["wait"]
            late = max(starts)
            if starts.count(late) == 1:
                d["last_arrival_by_rank"][starts.index(late)] += 1
            else:
                d["ties"] += 1
            d["skew_ns_max"] = max(d["skew_ns_max"], late - min(starts))
        summary = {"world_size": world, "files": [os.path.basename(n) for n in names], "straggler_world_rank": args.straggler,
                   "collectives": ops,
                   "compute_union_ns_by_rank": [total(union([(k["start"], k["end"]) for k in p.kernels if not k["nccl"]])) for p in procs],
                   "nccl_sum_ns_by_rank": [sum(k["end"] - k["start"] for k in p.kernels if k["nccl"]) for p in procs],
                   "utc_of_simulated_zero": UTC0,
                   "note": "all kernels of one collective end at the same UTC instant; starts differ by the arrival skew"}
        with open(os.path.join(args.out, "ranks.truth.json"), "w") as fh:
            json.dump(summary, fh, indent=1)
            fh.write("\n")
    for b in problems:
        print("FAIL", b, file=sys.stderr)
    print(f"{len(names)} file(s), world {world}, {sum(len(p.kernels) for p in procs)} kernels, straggler {args.straggler}"
          + (f", check {'ok' if not problems else str(len(problems)) + ' problem(s)'}" if args.check else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
