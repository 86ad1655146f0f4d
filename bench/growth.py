#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How cost grows with the capture, what a second thread gives, and what all skills together cost beside the dearest.

    bench/growth.py SMALL.sqlite MEDIUM.sqlite LARGE.sqlite [--rounds N] [--skills a,b]

Captures of one kind in three sizes, each read through first. Rows:

  growth    CPU seconds per million events, at each size; the last two columns are MEDIUM / SMALL and LARGE / MEDIUM
  thread    MEDIUM with --threads 1 and 2 in turns: wall time 1 / 2, and CPU time 2 / 1
  run-all   LARGE: `skill run-all` beside the dearest skill alone, CPU seconds, and the peak of resident memory

Medians of the rounds. Wall times mean something only while both cores are free: the load average is printed.
"""

import argparse
import os
import sqlite3
import statistics
import time

import captures
import run

EVENTS = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MEMCPY",
          "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")
SKILLS = ["top_kernels", "kernel_launch_overhead", "nccl_breakdown", "nvtx_kernel_map", "iteration_timing",
          "root_cause_matcher", "profile_health_manifest"]


def million_events(path):
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro&immutable=1", uri=True)
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    count = sum(db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in EVENTS if name in names)
    db.close()
    return count / 1e6


def command(options, skill, capture, *more):
    return [options.binary, "skill", "run", skill, capture, "--format", "json", *more]


def growth(options, sizes):
    """Rows of the first table."""
    rows = []
    for skill in options.skills:
        samples = [run.Sample() for _ in options.captures]
        for _ in range(options.rounds):
            for sample, capture in zip(samples, options.captures):
                sample.run(command(options, skill, capture))
        per_million = [sample.median_cpu() / size for sample, size in zip(samples, sizes)]
        rows.append([skill, *(f"{value:.3f}" for value in per_million),
                     f"{per_million[1] / per_million[0]:.2f}x", f"{per_million[2] / per_million[1]:.2f}x"])
    return rows


def threads(options):
    """Rows of the second table."""
    rows = []
    for skill in options.skills:
        cpu, wall = {1: run.Sample(), 2: run.Sample()}, {1: [], 2: []}
        for _ in range(options.rounds):
            for count in (1, 2):
                begin = time.monotonic()
                cpu[count].run(command(options, skill, options.captures[1], "--threads", str(count)))
                wall[count].append(time.monotonic() - begin)
        once, twice = (statistics.median(wall[count]) for count in (1, 2))
        rows.append([skill, f"{once:.2f}", f"{twice:.2f}", f"{once / twice:.2f}x",
                     f"{cpu[2].median_cpu() / cpu[1].median_cpu():.2f}x"])
    return rows


def all_skills(options):
    """Rows of the third table."""
    together, alone = run.Sample(), {skill: run.Sample() for skill in options.skills}
    for _ in range(options.rounds):
        together.run([options.binary, "skill", "run-all", options.captures[2], "--format", "json"])
        for skill, sample in alone.items():
            sample.run(command(options, skill, options.captures[2]))
    dearest = max(alone, key=lambda skill: alone[skill].median_cpu())
    return [["run-all", f"{together.median_cpu():.2f}", f"{together.median_rss():.0f}",
             f"{together.median_cpu() / alone[dearest].median_cpu():.2f}x {dearest}"],
            *([skill, f"{sample.median_cpu():.2f}", f"{sample.median_rss():.0f}", ""]
              for skill, sample in alone.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs=3, metavar="CAPTURE")
    parser.add_argument("--binary", default=os.path.join(run.ROOT, "build", "release", "nsys-ai"))
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--skills", type=lambda text: text.split(","), default=SKILLS)
    options = parser.parse_args()
    for capture in options.captures:
        run.read_through(capture)
        print(f"{capture}: {captures.describe(capture)}")
    sizes = [million_events(capture) for capture in options.captures]
    print(f"load average {os.getloadavg()[0]:.1f}\n")
    run.table(["CPU s per million events", *(f"{size:.1f} M" for size in sizes), "2nd/1st", "3rd/2nd"],
              growth(options, sizes))
    print()
    run.table(["--threads", "wall 1", "wall 2", "faster", "CPU"], threads(options))
    print()
    run.table(["all in one process", "CPU s", "peak RSS MB", "beside"], all_skills(options))


if __name__ == "__main__":
    main()
