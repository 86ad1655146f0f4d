# SPDX-License-Identifier: MIT
"""Compare the `skill` command itself with recordings of the reference: the catalogue, `info`, errors, `save`.

Texts are each program's own and are not compared; names, categories, types, defaults, codes, exit statuses and the
shape of files are.  A difference counts as explained only when a row of docs/differences.md covers it: the skill
`skill <subcommand>` and the key.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile

Found = tuple[str, object, object]  # key, the reference's value, ours
LEFT_OUT = {"cutracer_analysis"}  # reads files of a tool that is no part of a capture


class Commands:
    """Each method is one recorded call and yields what differs."""

    def __init__(self, binary: str, corpus: pathlib.Path):
        self.binary, self.corpus, self.golden = binary, corpus, corpus / "golden" / "cli"

    def run(self, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run([self.binary, *map(str, words)], capture_output=True, check=False)

    def json(self, *words: object) -> object:
        return json.loads(self.run(*words).stdout)

    def recorded(self, name: str) -> object:
        return json.loads((self.golden / name).read_text())

    def capture(self, name: str) -> pathlib.Path:
        return self.corpus / "fixtures" / f"{name}.sqlite"

    def skill_list(self) -> list[Found]:
        ours = {s["name"]: s for s in self.json("skill", "list", "--format", "json")}
        found: list[Found] = []
        for theirs in self.recorded("skill_list.json"):
            mine = ours.get(theirs["name"])
            if mine is None:
                found.append(("skills", theirs["name"], None))
                continue
            found += [(k, theirs[k], mine[k]) for k in ("category",) if theirs[k] != mine[k]]
            shared = [p for p in mine["params"] if p["name"] in {q["name"] for q in theirs["params"]}]
            if shared != theirs["params"]:
                found.append(("params", theirs["params"], shared))
            if list(mine)[:5] != list(theirs):
                found.append(("keys", list(theirs), list(mine)))
        return found

    def skill_info(self, skill: str) -> list[Found]:
        theirs, ours = self.recorded(f"skill_info_{skill}.json"), self.json("skill", "info", skill)
        found: list[Found] = [("keys", list(theirs), list(ours))] if list(ours)[:3] != list(theirs) else []
        for name, param in theirs["parameters"].items():
            mine = ours["parameters"].get(name, {})
            found += [(f"parameters.{name}.{k}", v, mine.get(k)) for k, v in param.items()
                      if k != "description" and mine.get(k) != v]
        return found

    def error(self, recording: str, code: int, *words: object) -> list[Found]:
        theirs = self.recorded(recording)["error"]
        got = self.run(*words, "--format", "json")
        ours = json.loads(got.stdout)["error"]
        found: list[Found] = [("exit code", code, got.returncode)] if got.returncode != code else []
        for key, value in theirs.items():
            mine = ours.get(key)
            if key == "available_skills":
                value = [s for s in value if s not in LEFT_OUT]
            if key != "message" and mine != value:
                found.append((key, value, mine))
        return found

    def rows(self, recording: str, *words: object) -> list[Found]:
        theirs, ours = self.recorded(recording), self.json(*words, "--format", "json")
        if len(theirs) != len(ours):
            return [("rows", len(theirs), len(ours))]
        return [(key, value, o.get(key)) for t, o in zip(theirs, ours) for key, value in t.items()
                if key not in ("hint", "reason") and o.get(key) != value]

    def save(self, skill: str) -> list[Found]:
        """A saved skill has the recorded parts, and `add` takes it."""
        headings = [line for line in (self.golden / f"skill_save_{skill}.md").read_text().splitlines()
                    if line.startswith("## ")]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "saved.md"
            got = self.run("skill", "save", skill, "-o", out)
            if got.returncode:
                return [("exit code", 0, got.returncode)]
            lines = out.read_text().splitlines()
            found: list[Found] = [("part", h, None) for h in headings if h not in lines]
            added = self.run("skill", "--skills-dir", pathlib.Path(folder) / "skills", "add", out)
            return found + ([("add", 0, added.returncode)] if added.returncode else [])

    def all(self) -> dict[str, list[Found]]:
        h100 = self.capture("h100_2gpu_1s")
        instances = ("skill", "run", "kernel_instances", h100)
        return {
            "skill list": self.skill_list(),
            "skill info region_mfu": self.skill_info("region_mfu"),
            "skill info top_kernels": self.skill_info("top_kernels"),
            "error missing file": self.error("error_missing_file.json", 1, "skill", "run", "top_kernels", "nope.sqlite"),
            "error missing parameter": self.error("error_missing_param.json", 2, "skill", "run", "region_mfu", h100),
            "error unknown skill": self.error("error_unknown_skill.json", 1, "skill", "run", "nosuch", h100),
            "abstention": self.rows("abstain_iteration_timing_mock.json", "skill", "run", "iteration_timing",
                                    self.capture("mock")),
            "unknown device": self.rows("run_kernel_instances_baddevice.json", *instances, "-p", "device=7"),
            "max rows": self.rows("run_kernel_instances_maxrows2.json", *instances, "-p", "limit=5", "--max-rows", "2"),
            "skill save memory_transfers": self.save("memory_transfers"),
            "skill save top_kernels": self.save("top_kernels"),
            "skill save h2d_distribution": self.save("h2d_distribution"),
        }
