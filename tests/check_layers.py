#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every project #include in src/ against the layer table of docs/architecture.md.

    tests/check_layers.py [ROOT]

Exit 0 when the sources keep to the table, 1 with one line per violation. A self-test on a made-up
tree runs first: a check that cannot fail is no check.
"""

import pathlib
import re
import sys
import tempfile

ROW = re.compile(r"^\|\s*`src/(\w+)/?`\s*\|[^|]*\|([^|]*)\|\s*$")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def read_table(document):
    """The table as {folder: set of folders it may include}; "everything" is None."""
    table = {}
    for line in document.splitlines():
        match = ROW.match(line)
        if match:
            folder, allowed = match.groups()
            names = set(re.findall(r"\w+", allowed))
            table[folder] = None if "everything" in names else names
    return table


def check_include(table, folder, target):
    """A sentence when a file of `folder` may not include `target`, else None."""
    if "/" not in target:
        return f'"{target}" must be written with its folder'
    other = target.split("/")[0]
    if other == folder:
        return None
    if other not in table:
        return f'"{target}": no folder `{other}` in the layer table'
    if table[folder] is not None and other not in table[folder]:
        return f'"{target}": `{folder}` may not include `{other}`'
    return None


def violations(root):
    table = read_table((root / "docs/architecture.md").read_text(encoding="utf-8"))
    if not table:
        return ["docs/architecture.md: no layer table found"]
    found = []
    for folder in sorted(p.name for p in (root / "src").iterdir() if p.is_dir()):
        if folder not in table:
            found.append(f"src/{folder}: folder is missing in the layer table")
            continue
        for path in sorted((root / "src" / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".inc"):
                found += check_file(root, table, folder, path)
    for folder in sorted(set(table) - {p.name for p in (root / "src").iterdir()}):
        found.append(f"docs/architecture.md: src/{folder} is in the table but does not exist")
    return found


def check_file(root, table, folder, path):
    found = []
    is_test = path.name.endswith("_test.cc")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        # A test may use the helpers of tests/, which are included by their bare name.
        if not match or (is_test and "/" not in match.group(1)):
            continue
        problem = check_include(table, folder, match.group(1))
        if problem:
            found.append(f"{path.relative_to(root)}:{number}: {problem}")
    return found


def self_test():
    table = (
        "| folder | what | may include |\n|---|---|---|\n"
        "| `src/base` | x | standard library |\n| `src/trace` | x | base |\n"
        "| `src/cli` | x | everything |\n| `src/gone` | x | base |\n"
    )
    files = {
        "docs/architecture.md": table,
        "src/base/a.h": "#include <vector>\n",
        "src/base/bad.h": '#include "base/a.h"\n#include "trace/t.h"\n',
        "src/trace/t.h": '#include "base/a.h"\n',
        "src/trace/bare.cc": '#include "t.h"\n',
        "src/trace/t_test.cc": '#include "trace_builder.h"\n#include "cli/c.h"\n',
        "src/trace/far.cc": '#include "nowhere/x.h"\n',
        "src/cli/c.h": '#include "trace/t.h"\n',
        "src/extra/e.h": "",
    }
    expected = [
        "src/base/bad.h:2:", "src/extra:", "src/trace/bare.cc:1:", "src/trace/far.cc:1:",
        "src/trace/t_test.cc:2:", "docs/architecture.md: src/gone",
    ]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found = violations(root)
    if len(found) != len(expected) or any(not f.startswith(e) for f, e in zip(found, expected)):
        sys.exit("self-test failed; found:\n  " + "\n  ".join(found))


def main():
    self_test()
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    found = violations(root)
    for line in found:
        print(line)
    print(f"layers: {len(found)} violation(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
