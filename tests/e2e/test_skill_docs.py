#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/skills.md is what the registry says, with an output of the program for each skill.

    test_skill_docs.py            compare
    test_skill_docs.py --update   rewrite docs/skills.md; review the diff as you review code
"""

from __future__ import annotations

import difflib
import shlex
import sys

import harness
from harness import run, synthetic

PAGE = harness.ROOT / "docs" / "skills.md"
LONGEST_EXAMPLE = 18  # lines
HEAD = """# Skills

<!-- Written by `python3 tests/e2e/test_skill_docs.py --update` from the skills themselves; do not edit. -->

Every skill answers one question about a capture: `nsys-ai skill run NAME PROFILE`. The examples below are from a synthetic
capture of a training loop on two GPUs. What `--trim` and `--iteration` do to events depends on the skill and is said with each:
*contain* counts events that lie wholly inside the window, *touch* counts events that touch it in full, *clip* cuts events to it.

JSON (`--format json`) is a list of rows with the keys below, in that order. Rows whose first key begins with `_` are about the data.
A row `_abstained` says why this capture cannot answer, a row with `error` why the arguments fit no part of it.

"""


def catalogue() -> list[dict]:
    return run("skill", "list", "--format", "json").json()


def anchor(skill: dict) -> str:
    return f"[`{skill['name']}`](#{skill['name']})"


def overview(skills: list[dict]) -> str:
    lines = ["| category | skill | question |", "|---|---|---|"]
    for skill in sorted(skills, key=lambda s: (s["category"], s["name"])):
        lines.append(f"| {skill['category']} | {anchor(skill)} | {skill['description']} |")
    return "\n".join(lines) + "\n\n"


def plain(text: object) -> str:
    return str(text).replace("|", "\\|")


def parameters(info: dict) -> str:
    if not info["parameters"]:
        return "No parameters.\n\n"
    lines = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    for name, p in info["parameters"].items():
        default = "**required**" if p["required"] else "none" if p["default"] is None else f"`{p['default']}`"
        lines.append(f"| `{name}` | {p['type']} | {default} | {plain(p['description'])} |")
    return "\n".join(lines) + "\n\n"


def columns(info: dict) -> str:
    head = ["| key | unit | meaning |", "|---|---|---|"]

    def table(keys: dict) -> str:
        lines = [f"| `{key}` | {info['units'].get(key, '')} | {plain(meaning)} |" for key, meaning in keys.items()]
        return "\n".join(head + lines) + "\n\n"

    about = "Keys of rows about the data:\n\n" + table(info["about"]) if info["about"] else ""
    return table(info["columns"]) + about


def example(name: str, info: dict) -> str:
    arguments = shlex.split(info["example"].partition(" PROFILE")[2])
    got = run("skill", "run", name, str(synthetic(0, 2, "node")[0]), *arguments)
    if got.code:
        sys.exit(f"{name}: exit {got.code}: {got.err.decode()}")
    lines = got.text.rstrip("\n").split("\n")
    shown = lines if len(lines) <= LONGEST_EXAMPLE else [*lines[:LONGEST_EXAMPLE], "…"]
    return "```\n$ " + info["example"].replace("PROFILE", "training_2gpu.sqlite") + "\n" + "\n".join(shown) + "\n```\n\n"


def section(skill: dict) -> str:
    info = run("skill", "info", skill["name"], "--format", "json").json()
    needs = ", ".join(f"`{t}`" for t in info["required_tables"])
    one_of = " or ".join(f"`{t}`" for t in info["required_one_of"])
    text = f"## {skill['name']}\n\n**{info['title']}** ({info['category']}). {info['description']}\n\n"
    text += f"Needs {needs or one_of or 'no table'}. Window: {info['window']}.\n\n"
    return text + parameters(info) + columns(info) + example(skill["name"], info)


def page() -> str:
    skills = catalogue()
    return HEAD + overview(skills) + "".join(section(s) for s in skills).rstrip("\n") + "\n"


class SkillDocs(harness.Case):
    def test_page_is_in_step(self):
        lines = list(difflib.unified_diff(PAGE.read_text(encoding="utf-8").splitlines(), page().splitlines(),
                                          "docs/skills.md", "now", lineterm=""))
        self.assertEqual(lines[:40], [], "run with --update and review the diff")

    def test_examples_answer_with_defined_keys_in_order(self):
        capture = str(synthetic(0, 2, "node")[0])
        for skill in catalogue():
            info = run("skill", "info", skill["name"], "--format", "json").json()
            arguments = shlex.split(info["example"].partition(" PROFILE")[2])
            rows = run("skill", "run", skill["name"], capture, "--format", "json", *arguments).json()
            self.assertTrue(rows, skill["name"])
            for row in rows:
                kind = "about" if any(k.startswith("_") for k in row) else "columns"
                with self.subTest(skill=skill["name"], kind=kind):
                    self.assertFalse({"error", "_abstained"} & set(row), "an example has to show an answer")
                    self.assertEqual(list(row), [key for key in info[kind] if key in row])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        harness.main()
