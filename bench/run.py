#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benchmarks of the release build, on its own or beside the Python program nsys-ai 0.3.0.

    bench/run.py                                        ours only, on a capture that is made for it
    bench/run.py --peer-home DIR                        beside the Python program, installed in DIR when needed
    bench/run.py --capture FILE --skills top_kernels,nvtx_kernel_map --rounds 5 --peer-home DIR

Both programs are run in turns (ours, theirs, ours, theirs), and medians are shown: CPU seconds, user and system, and
the peak of resident memory. Ours has no cache and does the whole work every time. The Python program is measured three
ways: "direct" (--no-cache: it answers from the capture, the like-for-like case), "cold" (its default, the first time:
it converts the whole capture into a cache, then answers) and "warm" (the cache is there). The operating system has the
capture in memory in every case.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import captures
import peer as peer_program

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WAYS = ("direct", "cold", "warm")
# What skills with required parameters are asked.
ARGUMENTS = {
    "region_mfu": ["-p", "name=forward", "-p", "theoretical_flops=1e9", "-p", "peak_tflops=989"],
    "theoretical_flops": ["-p", "operation=full_model", "-p", "hidden_dim=4096", "-p", "seq_len=4096"],
    "arithmetic_intensity": ["-p", "theoretical_flops=1e12", "-p", "peak_tflops=989", "-p", "hbm_bw_gbps=3350"],
    "speedup_estimator": ["-p", "iteration_ms=100", "-p", "idle_ms=25"],
    "iteration_detail": ["-p", "iteration=1"],
}
WINDOW_NS = 10_000_000  # of the skill that asks for the code in a window: from the middle of the kernels
LEAST_CPU_S = 0.01  # below this, the start of two programs would be compared, not their work


class Sample:
    """Runs of one command."""

    def __init__(self):
        self.cpu, self.rss = [], []

    def run(self, command, env=None):
        """Runs `command` once, to the end; its output is thrown away."""
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                     env=env)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                errors.seek(0)
                tail = errors.read().decode(errors="replace").strip().splitlines()[-3:]
                raise SystemExit(f"exit {child.returncode}: {' '.join(command)}\n" + "\n".join(tail))
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.rss.append(usage.ru_maxrss * 1024 / 1e6)

    def median_cpu(self):
        return statistics.median(self.cpu) if self.cpu else None

    def median_rss(self):
        return statistics.median(self.rss) if self.rss else None

    def values(self):
        return {"cpu_s": self.cpu, "rss_mb": self.rss}


def table(header, rows):
    """Prints `rows` of texts: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(theirs, ours, least):
    """How many times ours the other's figure is; none when ours is too small to mean anything."""
    if theirs is None or ours < least:
        return "-"
    return f"{theirs / ours:.0f}x" if theirs >= 10 * ours else f"{theirs / ours:.2g}x"


def read_through(path):
    """Brings the file into the operating system's memory."""
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


def arguments_of(name, options):
    if name == "code_attribution_candidates":
        start = captures.middle_of_kernels(options.capture)
        return ["-p", f"start_ns={start}", "-p", f"end_ns={start + WINDOW_NS}"]
    return ARGUMENTS.get(name, [])


def bench_skill(name, options, peer, peer_capture):
    """Runs of one skill, ours and each way of theirs in turns."""
    samples = {way: Sample() for way in ("ours", *WAYS)}
    words = arguments_of(name, options)
    ours = [options.binary, "skill", "run", name, options.capture, "--format", "json", *words]
    wants_cold = "cold" in options.ways and (not options.cold_skills or name in options.cold_skills)
    cold = options.cold_rounds if wants_cold else 0
    for turn in range(options.rounds):
        samples["ours"].run(ours)
        if peer is None:
            continue
        theirs = [*peer.skill(name, peer_capture), *words]
        if "direct" in options.ways:
            samples["direct"].run([*theirs, "--no-cache"], peer.env)
            samples["ours"].run(ours)
        if turn < cold:
            peer_program.drop_caches(os.path.dirname(peer_capture))
            samples["cold"].run(theirs, peer.env)
            samples["ours"].run(ours)
        elif turn == 0:
            Sample().run(theirs, peer.env)  # completes the cache
        if "warm" in options.ways:
            samples["warm"].run(theirs, peer.env)
    return samples


def print_skills(results, shown_ways):
    """One table of CPU seconds, one of memory."""
    launcher = Sample()
    launcher.run(["true"])
    least_rss = launcher.median_rss() * 1.1
    ways = shown_ways
    header = ["ours", *ways, *(f"{way}/ours" for way in ways)]
    for title, digits, least, median in (("CPU s", 2, LEAST_CPU_S, Sample.median_cpu),
                                         ("peak RSS MB", 0, least_rss, Sample.median_rss)):
        rows = []
        for name, samples in results.items():
            ours = median(samples["ours"])
            rows.append([name, number(ours, digits), *(number(median(samples[way]), digits) for way in ways),
                         *(ratio(median(samples[way]), ours, least) for way in ways)])
        table([title, *header], rows)
        print()
    print(f"No ratio is given below {LEAST_CPU_S * 1000:.0f} ms and {least_rss:.0f} MB: the system counts the memory of "
          "the launcher as the least of any program.")


def bench_start(options, peer):
    """CPU of commands that open no capture, in milliseconds; ten runs to a round, as each is short."""
    rows, values = [], {}
    for words in (["--help"], ["skill", "list"]):
        ours, theirs = Sample(), Sample()
        for _ in range(options.rounds):
            for _ in range(10):
                ours.run([options.binary, *words])
            if peer is not None:
                theirs.run(peer.command(*words), peer.env)
        mine, other = statistics.mean(ours.cpu) * 1000, theirs.median_cpu()
        row = [" ".join(words), number(mine, 1)]
        if peer is not None:
            row += [number(other * 1000, 0), ratio(other * 1000, mine, 0)]
        rows.append(row)
        values[" ".join(words)] = {"ours": ours.values(), "peer": theirs.values()}
    print()
    table(["start-up", "CPU ms"] + (["peer CPU ms", "peer/ours"] if peer is not None else []), rows)
    return values


def run_native(options):
    """The programs of bench/*.cc that lie beside the binary."""
    folder = os.path.dirname(os.path.abspath(options.binary))
    for name, arguments in (("bench-load", [options.capture]), ("bench-sweep", [])):
        program = os.path.join(folder, name)
        if os.path.exists(program):
            print(f"\n{name}", flush=True)
            subprocess.run([program, *arguments], check=True)


def our_skills(binary):
    output = subprocess.run([binary, "skill", "list", "--format", "json"], check=True, stdout=subprocess.PIPE).stdout
    skills = json.loads(output)
    if isinstance(skills, dict):
        skills = skills.get("skills", [])
    return [skill["name"] for skill in skills]


def open_peer(options):
    if options.peer_home is None:
        print("ours only; --peer-home DIR compares with the Python program nsys-ai 0.3.0")
        return None
    try:
        peer = peer_program.Peer(options.peer_home)
    except peer_program.PeerError as error:
        print(f"ours only: the Python program {error}")
        return None
    print(f"beside nsys-ai 0.3.0 in Python, engine: {peer.engine}")
    return peer


def names(text):
    return [name for name in text.split(",") if name]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "nsys-ai"))
    parser.add_argument("--capture", help="an SQLite capture; only read (default: one is made)")
    parser.add_argument("--seed-capture", help="small capture to scale when --capture is not given")
    parser.add_argument("--target-mb", type=float, default=200, help="size of the capture made (default: 200)")
    parser.add_argument("--peer-home", help="folder with, or for, the Python program")
    parser.add_argument("--ways", type=names, default=list(WAYS), help="of the Python program (default: all three)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--skills", type=names, default=[], help="comma-separated (default: all)")
    parser.add_argument("--cold-rounds", type=int, default=1, help="of these rounds, with a cold run (default: 1)")
    parser.add_argument("--cold-skills", type=names, default=[], help="skills with cold runs (default: all)")
    parser.add_argument("--no-native", action="store_true", help="leave out the programs of bench/*.cc")
    parser.add_argument("--json", help="also write every single run to this file")
    return parser.parse_args()


def run(options, folder):
    if options.capture is None:
        # In a process of its own: what this one has used counts as the least memory of those it starts.
        options.capture = os.path.join(folder, "capture.sqlite")
        seed = [options.seed_capture] if options.seed_capture else []
        subprocess.run([sys.executable, captures.__file__, options.capture, str(options.target_mb), *seed], check=True)
    options.capture = os.path.abspath(options.capture)
    print(f"capture: {captures.describe(options.capture)}; load average {os.getloadavg()[0]:.1f}, "
          f"{os.cpu_count()} cores")
    peer, peer_capture = open_peer(options), None
    if peer is not None:
        # A copy of its own: it writes beside the capture, and its fallback would write into it.
        os.mkdir(os.path.join(folder, "peer"))
        peer_capture = os.path.join(folder, "peer", "capture.sqlite")
        shutil.copyfile(options.capture, peer_capture)
        read_through(peer_capture)
    read_through(options.capture)
    print(flush=True)

    results = {}
    for name in options.skills or our_skills(options.binary):
        results[name] = bench_skill(name, options, peer, peer_capture)
        print(f"{name} done", file=sys.stderr)
        if peer is not None and os.path.getsize(peer_capture) != os.path.getsize(options.capture):
            raise SystemExit("the Python program wrote into its capture: it used its slow fallback, no fair comparison")
    print_skills(results, options.ways if peer is not None else ())
    start = bench_start(options, peer)
    print(f"\nload average at the end {os.getloadavg()[0]:.1f}")
    if options.json:
        skills = {name: {which: s.values() for which, s in samples.items()} for name, samples in results.items()}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"skills": skills, "start": start}, file, indent=1)
    if not options.no_native:
        run_native(options)


def main():
    options = parse_arguments()
    if not os.access(options.binary, os.X_OK):
        raise SystemExit(f"no program at {options.binary}; make build")
    with tempfile.TemporaryDirectory(prefix="nsys-ai-bench-") as folder:
        run(options, folder)


if __name__ == "__main__":
    main()
