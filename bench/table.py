#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of docs/performance.md from what `bench/run.py --json FILE` wrote.

    bench/table.py FILE
"""

import json
import statistics
import sys

import run


def median(sample, key):
    return statistics.median(sample[key]) if sample[key] else None


def cells(samples, key, digits, least):
    ours = median(samples["ours"], key)
    shown = [f"{ours:.{digits}f}" if ours >= least else f"< {least:.{digits}f}"]
    ratios = []
    for way in ("cold", "warm"):
        theirs = median(samples[way], key)
        shown.append("" if theirs is None else f"{theirs:.{digits}f}")
        ratio = "" if theirs is None or ours < least else run.ratio(theirs, ours, least).rstrip("x")
        ratios.append(f"**{ratio}**" if ratio and float(ratio) < 1 else ratio)
    return shown + ratios


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        skills = json.load(file)["skills"]
    for title, key, digits, least in (("CPU s", "cpu_s", 2, run.LEAST_CPU_S), ("peak RSS MB", "rss_mb", 0, 22)):
        print(f"| {title} | ours | cold | warm | cold / ours | warm / ours |\n|---|---|---|---|---|---|")
        for name, samples in skills.items():
            print(f"| `{name}` | " + " | ".join(cells(samples, key, digits, least)) + " |")
        print()


if __name__ == "__main__":
    main()
