#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the program with recorded outputs of the reference, nsys-ai 0.3.0 for Python.

    compare.py [--binary PATH] [--corpus DIR] [--skill NAME] [--verbose]

Every recorded case is *equal*, *explained* or *unexplained*.  Explained means: each differing cell is covered
by a row of docs/differences.md, and, unless it is a mere sentence, its value is the one that naive.py computes
from the capture on its own.  Exits 1 when a case is unexplained, 77 when the reference corpus is not there.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import commands  # noqa: E402
import naive  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIFFERENCES = ROOT / "docs" / "differences.md"
# To how many decimals a key is printed; other *_ms, *_mb and *_gbps to two, *_pct and *_us to one.
DECIMALS = {"sync_ms": 3, "max_kernel_ms": 3, "bubble_pct": 2, "gpu_start_s": 4, "gpu_end_s": 4, "start_ms": 3,
            "end_ms": 3,
            "avg_kb": 1, "nccl_breakdown.avg_ms": 3, "nccl_breakdown.min_ms": 3, "nccl_breakdown.max_ms": 3,
            "kernel_instances.duration_ms": 3}
SENTENCES = {"hint", "reason", "note", "description"}  # wording is ours; never compared byte by byte
ANSWERS = dict(naive.ANSWERS)  # skill -> what its rows should be
for _file in sorted(pathlib.Path(__file__).resolve().parent.glob("naive_*.py")):  # one per group of skills
    _module = importlib.import_module(_file.stem)
    ANSWERS.update(_module.ANSWERS)
    DECIMALS.update(getattr(_module, "DECIMALS", {}))
    SENTENCES |= getattr(_module, "SENTENCES", set())
ROWS = "rows"  # the key of a difference in which rows there are
EXIT = "exit code"


@dataclass(frozen=True)
class Rule:
    """One row of docs/differences.md."""

    name: str
    skills: frozenset[str]
    keys: tuple[str, ...]
    cases: tuple[str, ...]

    def covers(self, case: Case, key: str) -> bool:
        if "*" not in self.skills and case.skill not in self.skills:
            return False
        if self.cases and not any(fnmatch.fnmatchcase(case.variant, p) for p in self.cases):
            return False
        return not self.keys or key in self.keys or key.split(".")[-1] in self.keys


def read_rules(path: pathlib.Path) -> list[Rule]:
    """Rows `| D01 | skills | keys or case | … |`; keys in backticks, cases as `case:PATTERN`."""
    rules = []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) < 7 or not re.fullmatch(r"D\d{2,3}", cells[0]):
            continue
        skills = frozenset(re.findall(r"`([^`]+)`", cells[1])) or frozenset("*")
        words = re.findall(r"`([^`]+)`", cells[2])
        cases = tuple(w[5:] for w in words if w.startswith("case:"))
        rules.append(Rule(cells[0], skills, tuple(w for w in words if not w.startswith("case:")), cases))
    return rules


@dataclass(frozen=True)
class Case:
    """One recorded call of the reference."""

    fixture: str
    skill: str
    variant: str
    args: tuple[str, ...]
    exit_code: int
    file: str | None
    names_file: str | None = None  # a recording of the same call in which kernel names are in full

    @property
    def label(self) -> str:
        return f"{self.fixture}/{self.skill}" + (f"__{self.variant}" if self.variant else "")


@dataclass
class Difference:
    key: str
    row: int
    theirs: object
    ours: object
    rule: str = ""


@dataclass
class Verdict:
    case: Case
    differences: list[Difference] = field(default_factory=list)
    note: str = ""

    @property
    def kind(self) -> str:
        if not self.differences:
            return "equal"
        return "explained" if all(d.rule for d in self.differences) else "UNEXPLAINED"


# ---- the recorded cases


def choose(entries: list[dict]) -> dict:
    """Of several recordings of one call, the one that is right most often.

    The schema is that of the file itself; elsewhere the recording in which correlation ids were made unique
    beforehand wins, since the reference joins launches on that id alone.
    """
    by_engine = {e.get("engine", "sqlite"): e for e in entries}
    wanted = ("sqlite",) if entries[0]["skill"] == "schema_inspect" else ("sqlite-pidfix", "sqlite", "duckdb")
    return next(by_engine[e] for e in wanted if e in by_engine)


def read_cases(corpus: pathlib.Path) -> list[Case]:
    calls: dict[tuple, list[dict]] = defaultdict(list)
    for manifest in sorted((corpus / "golden" / "skills").glob("manifest-part*.json")):
        for entry in json.loads(manifest.read_text()):
            calls[entry["fixture"], entry["skill"], entry["variant"]].append(entry)
    cases = []
    for (fixture, skill, variant), entries in calls.items():
        best = choose(entries)
        in_full = [e["file"] for e in entries if e.get("engine") == "duckdb"]
        full = in_full[0] if in_full and skill == "nvtx_kernel_map" else None
        cases.append(Case(fixture, skill, variant, tuple(best["args"]), best["exit_code"], best["file"], full))
    return cases


# ---- running and comparing


class Comparison:
    def __init__(self, binary: str, corpus: pathlib.Path, rules: list[Rule]):
        self.binary, self.corpus, self.rules = binary, corpus, rules
        self.golden = corpus / "golden" / "skills"

    def capture(self, fixture: str) -> pathlib.Path:
        here = self.corpus / "fixtures" / f"{fixture}.sqlite"
        return here if here.exists() else self.golden / "fixtures" / f"{fixture}.sqlite"

    def skills(self) -> set[str]:
        done = subprocess.run([self.binary, "skill", "list", "--format", "json"], capture_output=True, check=True)
        return {s["name"] for s in json.loads(done.stdout)}

    def compare(self, case: Case) -> Verdict:
        command = [self.binary, "skill", "run", case.skill, str(self.capture(case.fixture)), "--format", "json",
                   *case.args]
        done = subprocess.run(command, capture_output=True, check=False)
        verdict = Verdict(case)
        try:
            ours = json.loads(done.stdout)
        except ValueError:
            verdict.differences.append(Difference("stdout", 0, "", done.stdout[:200].decode(errors="replace")))
            verdict.note = done.stderr.decode(errors="replace")[:300]
            return verdict
        recorded = (self.golden / case.file).read_text() if case.file else ""
        theirs = json.loads(recorded) if recorded.strip() else None
        if not isinstance(theirs, list) or not isinstance(ours, list):
            if done.returncode != case.exit_code or not same_error(theirs, ours):
                verdict.differences = self.faults(case, ours, done.returncode)
            return verdict
        if done.returncode != case.exit_code:
            verdict.differences.append(Difference(EXIT, 0, case.exit_code, done.returncode))
        verdict.differences += self.row_differences(case, theirs, ours)
        right = self.right_answer(case) if verdict.differences else None
        if right is not None and case.skill == "top_kernels":
            right = align_ties(theirs, [{k: round(v, 2) if isinstance(v, float) else v for k, v in r.items()}
                                        for r in right])
        for d in verdict.differences:
            d.rule = self.explain(case, d, ours, right)
        return verdict

    def faults(self, case: Case, ours: object, code: int) -> list[Difference]:
        """The reference refused the arguments, or ours does: exit 2 and an error object on stdout."""
        error = ours.get("error", {}) if isinstance(ours, dict) else {}
        d = Difference(EXIT, 0, case.exit_code, f"{code} {error.get('code')}")
        wanted = "TRIM_OUT_OF_RANGE" if case.variant in ("trim-out", "trim_outside") else "USAGE_ERROR"
        sound = code == 2 and error.get("code") == wanted and error.get("message")
        if sound and (case.exit_code != 0 or has_impossible_number(case.args)):
            d.rule = self.rule_for(case, EXIT)
        return [d]

    def row_differences(self, case: Case, theirs: list[dict], ours: list[dict]) -> list[Difference]:
        if case.skill == "top_kernels":
            ours = align_ties(theirs, ours)
        found = []
        if len(theirs) != len(ours) or any(next(iter(t), "") != next(iter(o), "") for t, o in zip(theirs, ours)):
            return [Difference(ROWS, 0, len(theirs), len(ours))]
        full_names = self.full_names(case)
        for i, (t, o) in enumerate(zip(theirs, ours)):
            if case.skill == "nvtx_kernel_map" and "kernel_name" in t:
                if full_names is not None:  # this recording shortens names; the other says them in full
                    known = full_names.get((t["nvtx_path"], t["start_ms"], t["end_ms"]))
                    t = {**t, "kernel_name": known or o.get("kernel_name")}
                    if known is None and not self.names_kernel(case, o):
                        t["kernel_name"] = "?"
            found += cell_differences(case.skill, i, t, o)
        return found

    def full_names(self, case: Case) -> dict | None:
        if not case.names_file:
            return None
        recorded = json.loads((self.golden / case.names_file).read_text())
        return {(r["nvtx_path"], r["start_ms"], r["end_ms"]): r["kernel_name"] for r in recorded if "kernel_name" in r}

    def names_kernel(self, case: Case, row: dict) -> bool:
        """Whether a kernel of that full name ran at that time."""
        return any(k.start == row.get("start_ns") and k.end == row.get("end_ns") and k.name == row.get("kernel_name")
                   for k in self.file(case.fixture).kernels)

    @functools.lru_cache(maxsize=8)  # noqa: B019
    def file(self, fixture: str) -> naive.File:
        return naive.File(str(self.capture(fixture)))

    def right_answer(self, case: Case) -> list[dict] | None:
        """What the skill's rows should be, or nothing when naive.py does not know the skill."""
        answer = ANSWERS.get(case.skill)
        if answer is None:
            return None
        f = self.file(case.fixture)
        params, window, max_rows = read_args(f, case.args)
        if "device" in params and str(params["device"]) not in f.device_counts():
            return naive.no_kernels(f, params["device"], None)
        rows = answer(f, params, window)
        refused = bool(rows) and ("error" in rows[0] or "_abstained" in rows[0])
        rows = rows if refused else rows + heuristic_note(f, case.args, params)
        if max_rows is not None and len(rows) > max_rows and "error" not in rows[0]:
            plain = [r for r in rows if not is_about(r)]
            first = rows.index(plain[0]) if plain else len(rows)
            before, about = rows[:first], [r for r in rows[first:] if is_about(r)]
            if len(plain) > max_rows:
                about.append({"_truncated": True, "_total_rows": len(plain), "_shown_rows": max_rows})
            rows = before + plain[:max_rows] + about
        return rows

    def rule_for(self, case: Case, key: str) -> str:
        return next((r.name for r in self.rules if r.covers(case, key)), "")

    def explain(self, case: Case, d: Difference, ours: list[dict], right: list[dict] | None) -> str:
        """The rule that covers the difference, provided that ours is right."""
        rule = self.rule_for(case, d.key)
        if not rule:
            return ""
        wanted = dig(right[d.row], d.key) if right and d.row < len(right) else MISSING
        if d.key.endswith("order of keys"):
            wanted = dig(right[d.row], d.key.rpartition(".")[0]) if right and d.row < len(right) else MISSING
            return rule if isinstance(wanted, dict) and [k for k in d.ours if k in wanted] == list(wanted) else ""
        if d.ours is MISSING:
            return rule if right is not None and wanted is MISSING else ""
        if is_sentence(case.skill, d.key):
            return rule if isinstance(d.ours, (str, list)) and d.ours else ""
        if right is None:
            return ""
        if d.key == ROWS:
            same = len(right) == len(ours) and all(holds(case.skill, r, o) for r, o in zip(right, ours))
            return rule if same else ""
        return rule if wanted is not MISSING and equal(case.skill, d.key, wanted, d.ours) else ""


def same_error(theirs: object, ours: object) -> bool:
    """Whether both are error objects with one code; wording is ours."""
    codes = [x.get("error", {}).get("code") if isinstance(x, dict) else None for x in (theirs, ours)]
    return codes[0] is not None and codes[0] == codes[1]


def is_sentence(skill: str, key: str) -> bool:
    """Whether a key holds wording; SENTENCES names it, alone or as `skill.key`."""
    last = key.split(".")[-1]
    return last in SENTENCES or f"{skill}.{last}" in SENTENCES


def is_about(row: dict) -> bool:
    """Whether a row is about the data: `_summary`, `_metadata` and the like, which --max-rows never cuts."""
    return any(k.startswith("_") for k in row)


def same_error(theirs: object, ours: object) -> bool:
    """Whether both are error objects with one code; wording is ours."""
    codes = [x.get("error", {}).get("code") if isinstance(x, dict) else None for x in (theirs, ours)]
    return codes[0] is not None and codes[0] == codes[1]


def has_impossible_number(args: tuple[str, ...]) -> bool:
    """Whether a count is negative, or a threshold not above 0."""
    return any(re.search(r"(limit|min_gap_ns)=-\d|threshold=(-\d|0$)", a) for a in args)


def read_args(f: naive.File, args: tuple[str, ...]) -> tuple[dict, naive.Span | None, int | None]:
    """Parameters, window and --max-rows of a recorded call."""
    params: dict = {}
    window, max_rows, iteration, marker = None, None, None, "sample_0"
    words = iter(args)
    for word in words:
        if word == "-p":
            key, _, value = next(words).partition("=")
            params[key] = int(value) if re.fullmatch(r"-?\d+", value) else value
        elif word == "--trim":
            window = (int(float(next(words)) * 1e9), int(float(next(words)) * 1e9))
        elif word == "--max-rows":
            max_rows = int(next(words))
        elif word == "--iteration":
            iteration = int(next(words))
        elif word == "--marker":
            marker = next(words)
        else:
            raise ValueError(f"unknown word in a recorded call: {word}")
    if iteration is not None:
        found = naive.iterations(f, params.get("device", 0), marker, None)
        window = (found[iteration]["gpu_start_ns"], found[iteration]["gpu_end_ns"]) if iteration < len(found) else None
    return params, window, max_rows


def heuristic_note(f: naive.File, args: tuple[str, ...], params: dict) -> list[dict]:
    """The row that announces an iteration bounded by pauses instead of marker ranges."""
    given = dict(zip(args, args[1:]))
    if "--iteration" not in given:
        return []
    number, marker = int(given["--iteration"]), given.get("--marker", "sample_0")
    found = naive.iterations(f, params.get("device", 0), marker, None)
    if number >= len(found) or not found[number]["heuristic"]:
        return []
    return [{"_iteration": number, "heuristic": True, "marker": marker, "start_ns": found[number]["gpu_start_ns"],
             "end_ns": found[number]["gpu_end_ns"]}]


MISSING = object()


def dig(row: dict, key: str) -> object:
    at: object = row
    for part in key.split("."):
        if not isinstance(at, dict) or part not in at:
            return MISSING
        at = at[part]
    return at


def decimals(skill: str, key: str) -> int:
    last = key.split(".")[-1]
    known = DECIMALS.get(f"{skill}.{last}", DECIMALS.get(last))
    if known is not None:
        return known
    return 1 if last.endswith(("_pct", "_us", "pct_of_profile")) or last == "pct" else 2


def equal(skill: str, key: str, a: object, b: object) -> bool:
    """Same type and value; reals to half a unit of their last printed decimal."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 0.5 * 10 ** -decimals(skill, key) + 1e-9 * max(1.0, abs(a))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(skill, key, x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b)[:len(a)] and all(equal(skill, k, a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def holds(skill: str, right: dict, ours: dict) -> bool:
    """Whether every cell of `right` is in `ours`; sentences are not among them."""
    for key, value in right.items():
        if is_sentence(skill, key):
            continue
        mine = ours.get(key, MISSING)
        if isinstance(value, dict) and isinstance(mine, dict):
            if not holds(skill, value, mine):
                return False
        elif not equal(skill, key, value, mine):
            return False
    return True


def cell_differences(skill: str, row: int, theirs: dict, ours: dict, prefix: str = "") -> list[Difference]:
    """Cells that differ; ours may have more keys, behind all of theirs."""
    found = []
    for key, value in theirs.items():
        mine = ours.get(key, MISSING)
        path = prefix + key
        if isinstance(value, dict) and isinstance(mine, dict) and key != "available_devices":
            found += cell_differences(skill, row, value, mine, path + ".")
        elif mine is MISSING:
            found.append(Difference(path, row, value, MISSING))
        elif not equal(skill, path, value, mine):
            found.append(Difference(path, row, value, mine))
    shared = [k for k in theirs if k in ours]
    if list(ours)[:len(shared)] != shared:
        between = [k for k in list(ours)[:len(shared)] if k not in theirs]
        found += [Difference(prefix + k, row, MISSING, ours[k]) for k in between] or \
                 [Difference(f"{prefix}order of keys", row, list(theirs), list(ours))]
    return found


def align_ties(theirs: list[dict], ours: list[dict]) -> list[dict]:
    """Put rows whose printed totals are equal into the reference's order: it sorts by those, ours by the exact ones."""
    place = {r.get("kernel_name"): i for i, r in enumerate(theirs)}
    out: list[dict] = []
    at = 0
    while at < len(ours):
        upto = at
        while upto < len(ours) and "total_ms" in ours[upto] and ours[upto]["total_ms"] == ours[at].get("total_ms"):
            upto += 1
        upto = max(upto, at + 1)
        tied = ours[at:upto]
        slots: list[dict | None] = [None] * len(tied)
        left = []
        for r in tied:
            i = place.get(r.get("kernel_name"), -1) - at
            if 0 <= i < len(tied) and slots[i] is None:
                slots[i] = r
            else:
                left.append(r)
        out += [s if s is not None else left.pop(0) for s in slots]
        at = upto
    return out


# ---- the report


def shown(value: object) -> str:
    return "absent" if value is MISSING else json.dumps(value)[:150]


def report(verdicts: list[Verdict], verbose: bool) -> int:
    counts = Counter(v.kind for v in verdicts)
    by_rule: dict[str, list[str]] = defaultdict(list)
    for v in verdicts:
        if v.kind == "explained":
            by_rule[" ".join(sorted({d.rule for d in v.differences}))].append(v.case.label)
    for rules, labels in sorted(by_rule.items()):
        for label in labels if verbose else [f"{len(labels)} cases, e.g. {labels[0]}"]:
            print(f"explained by {rules}: {label}")
    for v in verdicts:
        if v.kind == "UNEXPLAINED":
            print(f"UNEXPLAINED {v.case.label} {' '.join(v.case.args)} {v.note}")
            for d in [d for d in v.differences if not d.rule][:8]:
                print(f"    row {d.row} {d.key}: reference {shown(d.theirs)}, ours {shown(d.ours)}")
    print(f"{counts['equal']} equal, {counts['explained']} explained, {counts['UNEXPLAINED']} unexplained")
    return 1 if counts["UNEXPLAINED"] else 0


def compare_commands(comparison: Comparison) -> int:
    """The command itself beside its recordings; the number of unexplained ones."""
    counts: Counter[str] = Counter()
    for name, found in commands.Commands(comparison.binary, comparison.corpus).all().items():
        open_ones = [f for f in found if not any(name in r.skills and f[0] in r.keys for r in comparison.rules)]
        kind = "unexplained" if open_ones else "explained" if found else "equal"
        counts[kind] += 1
        for key, theirs, ours in open_ones:
            print(f"UNEXPLAINED {name} {key}: reference {shown(theirs)}, ours {shown(ours)}")
    print(f"the command: {counts['equal']} equal, {counts['explained']} explained, {counts['unexplained']} unexplained")
    return counts["unexplained"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare with recorded outputs of the reference.")
    parser.add_argument("--binary", default=os.environ.get("NSYS_AI", str(ROOT / "build" / "release" / "nsys-ai")))
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--skill", help="only this one")
    parser.add_argument("--verbose", action="store_true", help="name every explained case")
    args = parser.parse_args()
    if not (args.corpus / "golden" / "skills").is_dir():
        print("skipped: the reference corpus is not here")
        return 77
    if not os.access(args.binary, os.X_OK):
        print("skipped: the program is not built")
        return 77
    comparison = Comparison(args.binary, args.corpus, read_rules(DIFFERENCES))
    have = comparison.skills() if args.skill is None else {args.skill}
    cases = [c for c in read_cases(args.corpus) if c.skill in have]
    if not cases:
        print("the reference corpus holds no recorded case")
        return 1
    verdicts = [comparison.compare(c) for c in cases]
    used = {d.rule for v in verdicts for d in v.differences}
    unused = [r.name for r in comparison.rules if r.name not in used]
    print(f"rows of the table that no case needed: {' '.join(unused) or 'none'}")
    if args.skill is None and compare_commands(comparison):
        report(verdicts, args.verbose)
        return 1
    return report(verdicts, args.verbose)


if __name__ == "__main__":
    sys.exit(main())
