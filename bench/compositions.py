#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a composition of skills costs, beside the dearest of the skills that it contains.

    bench/compositions.py [--binary FILE] [--capture FILE | --target-mb MB] [--rounds N] [--most RATIO]

All answers of a composition come from one load and one sweep each, so it should cost at most twice its dearest part:
CPU seconds, user and system, the best of the rounds. Exit code 1 when it costs more. Nothing is judged where the
dearest part takes less than 0.2 s: the start of the program would be compared, not its work.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import captures
import run

CAUSES = ["gpu_idle_gaps", "pipeline_bubble_metrics", "overlap_breakdown", "h2d_distribution", "kernel_launch_overhead",
          "nccl_communicator_analysis", "nvtx_layer_breakdown", "memory_bandwidth"]
PARTS = {
    "root_cause_matcher": CAUSES,
    "profile_health_manifest": [*CAUSES, "nccl_breakdown", "sync_cost_analysis", "iteration_timing", "top_kernels"],
}
LEAST_CPU_S = 0.2


def best_cpu(binary, capture, skills, rounds):
    """The least CPU seconds of each skill; skills in turns, so that a busy moment hits all of them."""
    samples = {name: run.Sample() for name in skills}
    for _ in range(rounds):
        for name, sample in samples.items():
            sample.run([binary, "skill", "run", name, capture, "--format", "json"])
    return {name: min(sample.cpu) for name, sample in samples.items()}


def judge(cpu, most):
    """One line per composition; whether all of them are cheap enough."""
    fine = True
    for name, parts in PARTS.items():
        dearest = max(parts, key=cpu.get)
        words = f"{name}: {cpu[name]:.2f} s, {cpu[name] / cpu[dearest]:.2f} times {dearest} ({cpu[dearest]:.2f} s)"
        if cpu[dearest] < LEAST_CPU_S:
            words += f"; not judged below {LEAST_CPU_S} s"
        elif cpu[name] > most * cpu[dearest]:
            words += f"; more than {most} times"
            fine = False
        print(words)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(run.ROOT, "build", "release", "nsys-ai"))
    parser.add_argument("--capture", help="an SQLite capture; only read (default: one is made)")
    parser.add_argument("--target-mb", type=float, default=60, help="size of the capture made (default: 60)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--most", type=float, default=2.0, help="largest ratio (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nsys-ai-bench-") as folder:
        if options.capture is None:
            options.capture = os.path.join(folder, "capture.sqlite")
            subprocess.run([sys.executable, captures.__file__, options.capture, str(options.target_mb)], check=True)
        run.read_through(options.capture)
        print(f"capture: {captures.describe(options.capture)}; load average {os.getloadavg()[0]:.1f}")
        skills = sorted({*PARTS, *(part for parts in PARTS.values() for part in parts)})
        cpu = best_cpu(options.binary, options.capture, skills, options.rounds)
        for name in sorted(cpu, key=cpu.get, reverse=True):
            print(f"  {name:<28}{cpu[name]:8.2f} s")
        if not judge(cpu, options.most):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
