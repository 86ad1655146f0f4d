#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded outputs of every skill, reviewed when they change.

    test_golden.py            compare with tests/golden/skills
    test_golden.py --update   rewrite the recordings; review the diff as you review code
"""

from __future__ import annotations

import difflib
import pathlib
import sys

import harness
from harness import edge, run, synthetic

GOLDEN = harness.ROOT / "tests" / "golden" / "skills"
WINDOW = ("--trim", "1001.03", "1001.06")
ITERATION = ("--iteration", "2", "--marker", "iteration_")
# Cases beyond the plain call: skill -> label -> arguments.
CASES: dict[str, dict[str, tuple[str, ...]]] = {
    "top_kernels": {"limit3": ("-p", "limit=3"), "trim": WINDOW, "iteration": ITERATION},
    "kernel_instances": {"device1": ("-p", "device=1"), "name": ("-p", "name=nccl"), "device9": ("-p", "device=9"),
                         "trim": WINDOW},
    "gpu_idle_gaps": {"device1": ("-p", "device=1"), "short": ("-p", "min_gap_ns=100000"),
                      "none": ("-p", "min_gap_ns=1000000000"), "max_rows2": ("--max-rows", "2"), "trim": WINDOW},
    "stream_concurrency": {"limit1": ("-p", "limit=1"), "iteration": ITERATION},
    "memory_transfers": {"trim": WINDOW},
    "memory_bandwidth": {"device1": ("-p", "device=1"), "limit1": ("-p", "limit=1")},
    "nccl_breakdown": {"device1": ("-p", "device=1"), "trim": WINDOW},
    "nccl_communicator_analysis": {"device1": ("-p", "device=1"), "trim": WINDOW},
    "nccl_payload_breakdown": {"trim": WINDOW},
    "overlap_breakdown": {"device1": ("-p", "device=1"), "trim": WINDOW, "iteration": ITERATION},
    "nvtx_kernel_map": {"limit5": ("-p", "limit=5"), "iteration": ITERATION, "name": ("-p", "name=ATTN", "-p", "limit=3")},
    "nvtx_layer_breakdown": {"compact": ("-p", "report=compact", "-p", "limit=3"), "iteration": ITERATION,
                             "every_path": ("-p", "auto_depth=false"), "depth2": ("-p", "depth=2", "-p", "limit=4"),
                             "bad_report": ("-p", "report=x")},
    "iteration_detail": {"marker": ("-p", "iteration=2", "-p", "marker=iteration_"), "pauses": ("-p", "iteration=0"),
                         "beyond": ("-p", "iteration=99", "-p", "marker=iteration_")},
    "code_attribution_candidates": {"10ms": ("-p", "start_ns=1001030000000", "-p", "end_ns=1001040000000"),
                                    "device1": ("-p", "start_ns=1001030000000", "-p", "end_ns=1001030100000", "-p",
                                                "device=1", "-p", "limit=2"),
                                    "nowhere": ("-p", "start_ns=1", "-p", "end_ns=2")},
    "host_sync_parent_ranges": {"patterns": ("-p", "patterns=loss,optimizer")},
    "nccl_compile_context_breakdown": {"trim": WINDOW},
    "iteration_timing": {"marker": ("-p", "marker=iteration_"), "device1": ("--device", "1")},
    "root_cause_matcher": {"device1": ("-p", "device=1"), "trim": WINDOW, "iteration": ITERATION},
    "profile_health_manifest": {"device1": ("-p", "device=1"), "trim": WINDOW, "iteration": ITERATION},
    "region_mfu": {"kernel": ("-p", "source=kernel", "-p", "name=gemm", "-p", "theoretical_flops=1e12"),
                   "device1": ("-p", "name=iteration_2", "-p", "theoretical_flops=1e11", "-p", "device_id=1"),
                   "range": ("-p", "name=forward", "-p", "theoretical_flops=1e11", "-p", "occurrence_index=3"),
                   "fp8": ("-p", "name=forward", "-p", "theoretical_flops=1e11", "-p", "precision=fp8"),
                   "above": ("-p", "name=forward", "-p", "theoretical_flops=1e18"),
                   "no_range": ("-p", "name=backward_", "-p", "theoretical_flops=1e11", "-p", "match_mode=exact")},
    "theoretical_flops": {"model": ("-p", "operation=full_model", "-p", "hidden_dim=16384", "-p", "seq_len=1048576",
                                    "-p", "num_layers=126", "-p", "batch_size=2048", "-p", "multiplier=4"),
                          "linear": ("-p", "operation=linear", "-p", "M=3", "-p", "N=5", "-p", "K=7"),
                          "unknown": ("-p", "operation=softmax")},
    "arithmetic_intensity": {"plain": ("-p", "theoretical_flops=1e12"),
                             "bytes": ("-p", "theoretical_flops=1e12", "-p", "bytes_moved=1e10", *WINDOW),
                             "device1": ("-p", "theoretical_flops=1e12", "-p", "device=1"),
                             "above": ("-p", "theoretical_flops=1e18")},
    "speedup_estimator": {"all": ("-p", "iteration_ms=500", "-p", "nccl_ms=120", "-p", "idle_ms=30", "-p",
                                  "overlap_pct=40", "-p", "tp_degree=8", "-p", "model_params_b=13"),
                          "none": ("-p", "iteration_ms=100"), "bad": ("-p", "iteration_ms=100", "-p", "idle_ms=-1")},
    "pipeline_bubble_metrics": {"trim": WINDOW, "iteration": ITERATION},
    "tensor_core_usage": {"limit2": ("-p", "limit=2"), "trim": WINDOW},
    "kernel_launch_overhead": {"device1": ("-p", "device=1"), "all": ("-p", "min_launches=1"), "trim": WINDOW},
    "kernel_launch_pattern": {"limit2": ("-p", "limit=2"), "iteration": ITERATION},
    "h2d_distribution": {"device1": ("-p", "device=1"), "trim": WINDOW},
    "nccl_anomaly": {"low": ("-p", "threshold=1.01"), "limit2": ("-p", "threshold=0.5", "-p", "limit=2")},
    "kernel_overlap_matrix": {"device1": ("-p", "device=1"), "trim": WINDOW, "max_rows3": ("--max-rows", "3")},
    "cpu_gpu_pipeline": {"limit1": ("-p", "limit=1"), "trim": WINDOW, "iteration": ITERATION},
    "thread_utilization": {"limit1": ("-p", "limit=1")},
    "module_loading": {"trim": WINDOW},
    "gc_impact": {"trim": WINDOW},
    "sync_cost_analysis": {"device1": ("-p", "device=1"), "trim": WINDOW},
    "critical_path": {"device1": ("-p", "device=1"), "trim": WINDOW, "iteration": ITERATION},
}
FORMATS = (("json", "json"), ("text", "txt"))


def profiles() -> dict[str, pathlib.Path]:
    return {"training_2gpu": synthetic(0, 2, "node")[0], "hostile_names": edge("hostile_names")}


def calls() -> dict[str, tuple[str, ...]]:
    """Path of the recording -> arguments, for all skills that there are."""
    out: dict[str, tuple[str, ...]] = {}
    for profile, capture in profiles().items():
        for skill in sorted({*harness.skills(), *CASES}):
            plain = {"": ()} if skill in harness.skills() else {}  # others need a parameter
            cases = plain | (CASES.get(skill, {}) if profile == "training_2gpu" else {})
            for label, args in cases.items():
                for form, suffix in FORMATS:
                    name = f"{profile}/{skill}{'__' + label if label else ''}.{suffix}"
                    out[name] = ("skill", "run", skill, str(capture), "--format", form, *args)
    return out


def record(args: tuple[str, ...]) -> tuple[int, bytes, bytes]:
    """Exit status, stdout and stderr of a call; the capture's path, which some rows repeat, without its folder."""
    got = run(*args)
    folder = str(pathlib.Path(args[3]).parent) + "/"
    return got.code, got.out.replace(folder.encode(), b""), got.err


def update() -> None:
    wanted = calls()
    for old in GOLDEN.rglob("*.*"):
        if str(old.relative_to(GOLDEN)) not in wanted:
            old.unlink()
    for name, args in wanted.items():
        code, out, err = record(args)
        if code:
            sys.exit(f"{name}: exit {code}: {err.decode()}")
        (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / name).write_bytes(out)
    print(f"{len(wanted)} recordings in {GOLDEN.relative_to(harness.ROOT)}")


class Golden(harness.Case):
    def test_recordings(self):
        for name, args in harness.thinned(calls().items(), 3):
            with self.subTest(name=name):
                path = GOLDEN / name
                self.assertTrue(path.exists(), f"no recording {name}; run with --update and review it")
                code, out, err = record(args)
                self.assertEqual(code, 0, err)
                recorded = path.read_bytes()
                if out != recorded:
                    lines = difflib.unified_diff(recorded.decode().splitlines(), out.decode().splitlines(),
                                                 f"recorded/{name}", "now", lineterm="")
                    self.fail("\n".join(list(lines)[:60]))

    def test_no_recording_is_left_over(self):
        left = {str(p.relative_to(GOLDEN)) for p in GOLDEN.rglob("*.*")} - set(calls())
        self.assertEqual(left, set())


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        harness.main()
