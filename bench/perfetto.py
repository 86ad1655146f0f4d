#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benchmark of the conversion to Perfetto traces, on its own or beside nsys2perfetto-datafusion 0.2.3.

    bench/perfetto.py                                   ours only, on captures of 50 and 500 MB that are made for it
    bench/perfetto.py --peer-home DIR                   beside the other program, built in DIR when needed (needs cargo)
    bench/perfetto.py --peer-home DIR --parquet-dir A --parquet-dir B --rounds 5

Both read the same folder of Parquet tables and write a gzipped JSON trace, the table of events and the table of
dependencies; they run in turns (ours, theirs, ours, theirs) and medians are shown.  Ours is measured once more writing
a .pftrace alone, which the other program has no equal of.  That both drew the same is checked by their own counts.
The tables are Markdown, as in docs/performance.md.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import captures
from run import ROOT, read_through

CRATE, VERSION = "nsys2perfetto-datafusion", "0.2.3"
TO_PARQUET = os.path.join(ROOT, "tests", "tools", "sqlite_to_parquetdir.py")
# Columns that the other program insists on; -1 and 0 are what it takes for unknown.
FILLED = [f"CUPTI_ACTIVITY_KIND_MEMCPY.{column}" for column in
          ("srcDeviceId=-1", "srcContextId=-1", "dstDeviceId=-1", "dstContextId=-1", "graphNodeId=-1", "virtualAddress=0",
           "copyCount=1")]
FILLED += [f"CUPTI_ACTIVITY_KIND_KERNEL.{column}=1" for column in ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")]
FILLED += ["NVTX_EVENTS.textId=0"]
SAME = ("kernels", "cuda_api", "launch_dependencies", "memcpy", "memcpy_launch_dependencies", "nvtx", "nvtx_kernel", "parquet_rows")


class Runs:
    """One way to convert one capture."""

    def __init__(self, name, command):
        self.name, self.command = name, command  # command(folder) -> words
        self.cpu, self.wall, self.rss, self.sizes, self.summary = [], [], [], {}, {}

    def run(self, scratch):
        folder = os.path.join(scratch, "out")
        os.makedirs(folder)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            child = subprocess.Popen(self.command(folder), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            self.wall.append(time.monotonic() - start)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if child.returncode != 0:
                raise SystemExit(f"{self.name}: exit {child.returncode}\n{err.read().decode(errors='replace')[-2000:]}")
            lines = [line for line in out.read().decode().splitlines() if line.startswith("report=")]
        self.summary = dict(pair.split("=", 1) for pair in lines[0].split(" "))
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.rss.append(usage.ru_maxrss * 1024 / 1e6)
        self.sizes = {p.name: p.stat().st_size for p in pathlib.Path(folder).rglob("*") if p.is_file()}
        shutil.rmtree(folder)

    def size_of(self, *endings):
        return sum(size for name, size in self.sizes.items() if name.endswith(endings)) / 1e6

    def figures(self):
        return [statistics.median(values) for values in (self.cpu, self.wall, self.rss)]


def our_command(options, capture, formats):
    return lambda folder: [options.binary, "convert", capture, "-o", folder, "--report", "bench", "--format", formats,
                           *(["--threads", str(options.threads)] if options.threads else [])]


def peer_command(program, capture):
    return lambda folder: [program, "--parquet-dir", capture, "--report", "bench",
                           "--output-json", f"{folder}/bench.perfetto.json.gz",
                           "--output-parquet", f"{folder}/bench.perfetto.parquet",
                           "--output-dependencies", f"{folder}/bench.kernel_dependencies.parquet"]


def find_peer(home):
    """The other program in `home`, built there when it is not."""
    if home is None:
        return None
    program = os.path.join(os.path.abspath(home), "bin", CRATE)
    if not os.path.exists(program):
        print(f"building {CRATE} {VERSION}, which takes a quarter of an hour", file=sys.stderr)
        # Without --locked: its lock file has a flate2 (1.1.9) that clears a whole buffer at every small write, and so
        # runs five times slower than with a later one.
        subprocess.run(["cargo", "install", "--version", VERSION, "--root", os.path.abspath(home), CRATE], check=True)
    return program


def make_parquet_dir(folder, megabytes, seed):
    """A capture of about that size in SQLite, as Parquet tables."""
    source, target = os.path.join(folder, f"{megabytes}.sqlite"), os.path.join(folder, f"capture_{megabytes}.parquetdir")
    subprocess.run([sys.executable, captures.__file__, source, str(megabytes), *([seed] if seed else [])], check=True)
    filled = [word for column in FILLED for word in ("--fill-column", column)]
    subprocess.run([sys.executable, TO_PARQUET, source, target, *filled], check=True, stdout=subprocess.DEVNULL)
    os.remove(source)
    return target


def read_folder(capture):
    total = 0
    for path in pathlib.Path(capture).rglob("*"):
        if path.is_file():
            read_through(path)
            total += path.stat().st_size
    return total / 1e6


def bench(capture, options, program, scratch):
    ways = [Runs("ours, JSON and Parquet", our_command(options, capture, "json,parquet"))]
    if program:
        ways.append(Runs(f"{CRATE} {VERSION}", peer_command(program, capture)))
    ways.append(Runs("ours, .pftrace alone", our_command(options, capture, "pftrace")))
    for _ in range(options.rounds):
        for way in ways:
            way.run(scratch)
            print(f"  {way.name}: {way.cpu[-1]:.2f} s", file=sys.stderr)
    return ways


def print_tables(capture, megabytes, ways, program):
    counts = ways[0].summary
    print(f"\n### {os.path.basename(capture)}: {megabytes:.0f} MB of Parquet, {int(counts['kernels']):,} kernels, "
          f"{int(counts['memcpy']):,} copies, {int(counts['nvtx']):,} ranges\n")
    print("| | CPU s | wall s | peak RSS MB | JSON MB | Parquet MB | .pftrace MB |\n|---|---|---|---|---|---|---|")
    for way in ways:
        cpu, wall, rss = way.figures()
        sizes = [f"{size:.1f}" if size else "" for size in (way.size_of(".json.gz"), way.size_of(".parquet"), way.size_of(".pftrace"))]
        print(f"| {way.name} | {cpu:.2f} | {wall:.2f} | {rss:.0f} | {' | '.join(sizes)} |")
    if program:
        ours, theirs, proto = (way.figures() for way in ways)
        for name, figures in (("JSON and Parquet", ours), (".pftrace alone", proto)):
            print(f"| ratio, theirs / ours, {name} | {' | '.join(f'{t / o:.1f}x' for t, o in zip(theirs, figures))} | | | |")
        differing = [key for key in SAME if ways[0].summary.get(key) != ways[1].summary.get(key)]
        print("\nBoth drew the same: " + ", ".join(SAME) + " are equal." if not differing else
              "\nNOT the same was drawn: " + ", ".join(f"{key} {ways[1].summary.get(key)} and {ways[0].summary.get(key)}"
                                                        for key in differing))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "nsys-ai"))
    parser.add_argument("--parquet-dir", action="append", default=[], help="a capture; only read (default: two are made)")
    parser.add_argument("--seed-capture", help="small SQLite capture to scale when --parquet-dir is not given")
    parser.add_argument("--target-mb", type=int, action="append", help="sizes to make (default: 50 and 500)")
    parser.add_argument("--peer-home", help="folder with, or for, the other program")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--threads", type=int, help="threads of ours (default: one per core)")
    parser.add_argument("--scratch", help="folder for outputs (default: one of the system's)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not os.access(options.binary, os.X_OK):
        raise SystemExit(f"no program at {options.binary}; make build")
    program = find_peer(options.peer_home)
    with tempfile.TemporaryDirectory(prefix="nsys-ai-bench-", dir=options.scratch) as scratch:
        folders = options.parquet_dir or [make_parquet_dir(scratch, size, options.seed_capture)
                                          for size in options.target_mb or (50, 500)]
        print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
        for capture in folders:
            megabytes = read_folder(capture)
            print_tables(capture, megabytes, bench(os.path.abspath(capture), options, program, scratch), program)
        print(f"\nload average at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
