#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The long tests: every fuzz target, corrupted captures, races of files, killed conversions. Prints a table.

    tests/torture/run.py [--minutes N] [--only NAME ...]

--minutes (default 30) is the time of each fuzz target; the other parts shrink in proportion. Fuzzers begin with
tests/fuzz/seeds.py and keep what they find in build/torture/corpus; an input that fails stays in build/torture/failed.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
OUT = BUILD / "torture"
FULL_MINUTES = 30
# Longest inputs; what takes longer than the seconds, or more memory, fails.
LENGTHS = {"capture": 65_536, "sqlite_pages": 65_536, "parquet_folder": 16_384, "parquet_footer": 8_192}
LENGTH, SECONDS, MEMORY_MB = 4_096, 60, 4_096  # seconds by the clock: a busy machine takes long


@dataclass
class Result:
    name: str
    runs: int
    seconds: float  # of CPU
    failure: str = ""  # its first line
    note: str = ""


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fuzz(target: str, minutes: float) -> Result:
    corpus, failed = OUT / "corpus" / target, OUT / "failed" / target
    for folder in (corpus, failed):
        folder.mkdir(parents=True, exist_ok=True)
    command = ["nice", "-n", "19", str(BUILD / "fuzz" / f"fuzz-{target}"), f"-max_total_time={int(minutes * 60)}",
               f"-max_len={LENGTHS.get(target, LENGTH)}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEMORY_MB}",
               "-print_final_stats=1", f"-artifact_prefix={failed}/", str(corpus), str(OUT / "seeds" / target)]
    before = cpu_of_children()
    log = OUT / f"{target}.log"
    with open(log, "wb") as file:
        code = subprocess.run(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, check=False).returncode
    text = log.read_text(errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    failure = re.search(r"(?:ERROR|SUMMARY): .*", text)
    covered = re.findall(r"cov: (\d+)", text)
    return Result(f"fuzz {target}", int(runs.group(1)) if runs else 0, cpu_of_children() - before,
                  "" if code == 0 else f"{failure.group(0) if failure else f'exit {code}'}, see {log}",
                  f"{covered[-1]} edges" if covered else "")


def part(name: str, count: int) -> dict:
    """One of the other tests, in this process, with the program that NSYS_AI names."""
    sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("torture", "e2e", "tools")]
    import harness
    import kills
    import mutations
    import races

    one, two = (harness.synthetic(seed, 2, "node")[0] for seed in (1, 2))
    with harness.scratch() as folder:
        if name == "mutations":
            work = mutations.Mutations(mutations.captures(), folder, 7, os.environ.get("NSYS_AI_OPTIMISED", ""))
            seen = work.run(count)
            return {"seen": seen, "note": f"at most {work.most_bytes >> 20} MiB, {work.most_seconds:.1f} s of CPU"}
        if name == "races":
            return {"seen": races.Races(one, two, folder, 8).run(count)}
        if name == "races of folders":
            return {"seen": races.Races(harness.parquetdir(one), harness.parquetdir(two), folder, 9).run(count)}
        return {"seen": kills.Kills((one, two), folder, 10).run(count)}


def start_part(name: str, count: int, build: str) -> Result:
    environment = os.environ | {"NSYS_AI": str(BUILD / build / "nsys-ai"), "NSYS_AI_BUILD_TYPE": build,
                                "NSYS_AI_TEST_DATA": str(OUT / "captures"),
                                "NSYS_AI_OPTIMISED": str(BUILD / "release" / "nsys-ai")}
    before = cpu_of_children()
    done = subprocess.run([sys.executable, __file__, "--part", name, "--count", str(count)], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    title = f"{name}, {build}"
    seconds = cpu_of_children() - before
    if done.returncode != 0:
        (OUT / f"{title}.log").write_text(done.stderr)
        return Result(title, count, seconds, f"{done.stderr.strip().splitlines()[-1][:200]}, see {OUT / title}.log")
    got = json.loads(done.stdout.splitlines()[-1])
    seen = ", ".join(f"{n} × {what}" for what, n in sorted(got["seen"].items()))
    return Result(title, count, seconds, note=f"{seen}; {got['note']}" if "note" in got else seen)


def run_all(minutes: float, only: list[str]) -> list[Result]:
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "captures").mkdir(exist_ok=True)
    subprocess.run([sys.executable, str(ROOT / "tests" / "fuzz" / "seeds.py"), str(OUT / "seeds")], check=True)
    scale = minutes / FULL_MINUTES
    work = [(f"fuzz {path.stem}", lambda t=path.stem: fuzz(t, minutes))
            for path in sorted((ROOT / "tests" / "fuzz").glob("*.cc"))]
    for name, count, build in (("mutations", 2000, "debug"), ("races", 2800, "release"), ("races", 560, "debug"),
                               ("races of folders", 560, "release"), ("kills", 200, "release")):
        work.append((name, lambda n=name, c=count, b=build: start_part(n, max(28, round(c * scale)), b)))
    results = []
    for name, start in work:
        if only and not any(word in name for word in only):
            continue
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        results.append(start())
    return results


def print_table(results: list[Result]) -> None:
    print(f"\n{'test':<28} {'runs':>10} {'CPU s':>8}  result")
    for result in results:
        print(f"{result.name:<28} {result.runs:>10,} {result.seconds:>8.0f}  "
              f"{result.failure or 'passed'}{f' ({result.note})' if result.note else ''}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=FULL_MINUTES)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(part(options.part, options.count)))
        return 0
    results = run_all(options.minutes, options.only)
    print_table(results)
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
