#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the documents name paths that exist, and that sources keep to the length limits.

    tests/check_docs.py [ROOT]

Limits: a file of src/ has at most 400 lines, a function at most 60. tests/length_exceptions.txt lists
the exceptions, one a line, `path: reason` for a file and `path Function: reason` for a function; an
exception that is no longer needed is a violation too. A self-test on made-up sources runs first.
"""

import pathlib
import re
import sys

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"^(?:src|tests|docs|cmake|scripts|bench|examples|web|\.ci)(?:/[\w.+*-]+)+/?$")

# Comments, raw strings, strings, and characters (a quote after a digit is a digit separator).
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'',
    re.S)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
TYPE_HEAD = re.compile(r"^(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum)\b", re.S)


def doc_files(root):
    named = [root / n for n in ("README.md", "AGENTS.md", "CONTRIBUTING.md")]
    return [p for p in named if p.exists()] + sorted((root / "docs").rglob("*.md"))


def check_paths(root):
    found = []
    for path in doc_files(root):
        text = path.read_text(encoding="utf-8")
        prose = FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
        for number, line in enumerate(prose.splitlines(), 1):
            named = [s for s in CODE_SPAN.findall(line) if PATH.match(s)]
            missing = [s for s in named if not any(root.glob(s.rstrip("/")))]
            targets = [t for t in LINK.findall(line) if "://" not in t and not t.startswith("mailto:")]
            missing += [t for t in targets if not (path.parent / t).exists()]
            found += [f"{path.relative_to(root)}:{number}: {m} does not exist" for m in missing]
    return found


def blank(match):
    """Same number of lines, nothing that looks like code."""
    return " " + "\n" * match.group(0).count("\n")


def function_name(head):
    """The name when the text before a `{` is a function's head, else None."""
    if TYPE_HEAD.match(head) or head.startswith("namespace") or "(" not in head:
        return None
    before = head.split("(")[0]
    if "=" in before and "operator" not in before:
        return None
    match = re.search(r"(~?\w+|operator\s*\S+)\s*$", before)
    return match.group(1) if match else None


def functions(text):
    """(name, first line, number of lines) of each function body outside other functions."""
    text = PREPROCESSOR.sub(blank, NOISE.sub(blank, text))
    found, inside, depth_of_function, depth = [], None, 0, 0
    head_start, containers = 0, [True]
    for match in re.finditer(r"[{};]", text):
        position, char = match.start(), match.group(0)
        if char == "{":
            depth += 1
            raw = text[head_start:position]
            head = re.sub(r"^\s*(?:public|private|protected)\s*:", "", raw).strip()
            name = function_name(head) if inside is None and containers[-1] else None
            if name:
                first = text.count("\n", 0, head_start + len(raw) - len(raw.lstrip())) + 1
                inside, depth_of_function = (name, first), depth
            is_container = head.startswith(("namespace", "extern")) or bool(TYPE_HEAD.match(head))
            containers.append(is_container)
        elif char == "}":
            if inside and depth == depth_of_function:
                last = text.count("\n", 0, position) + 1
                found.append((inside[0], inside[1], last - inside[1] + 1))
                inside = None
            depth -= 1
            if len(containers) > 1:
                containers.pop()
        head_start = match.end()
    return found


def read_exceptions(root):
    """({(path, function or ""): line number}, [violations])."""
    exceptions, found = {}, []
    path = root / "tests/length_exceptions.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.match(r"^(\S+?)(?: (\S+))?: \S", line)
        if match:
            exceptions[(match.group(1), match.group(2) or "")] = number
        else:
            found.append(f"tests/length_exceptions.txt:{number}: not `path [Function]: reason`")
    return exceptions, found


def check_lengths(root):
    exceptions, found = read_exceptions(root)
    used = set()

    def report(key, where, message):
        if key in exceptions:
            used.add(key)
        else:
            found.append(f"{where}: {message}")

    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            report((name, ""), name, f"{lines} lines, at most {MAX_FILE_LINES}")
        for function, first, length in functions(text):
            if length > MAX_FUNCTION_LINES:
                report((name, function), f"{name}:{first}",
                       f"{function} has {length} lines, at most {MAX_FUNCTION_LINES}")
    for key in sorted(set(exceptions) - used):
        found.append(f"tests/length_exceptions.txt:{exceptions[key]}: exception is not needed")
    return found


SAMPLE = '''// a { comment
#define OPEN {
namespace nsys {
namespace {
constexpr int kTable[] = {1, 2,
                          3'000};
struct Point {
  int x = 0;
  int Twice() const { return 2 * x; }
};
enum class Color : int { kRed };
}  // namespace
Result<std::vector<int>> Long(const char* text = "{{",
                              char c = '{') {
  auto f = [&](int i) {
    if (i) { return R"x(}})x"; }
    return "";
  };
  return {};
}
Point::Point(int a) : x{a}, y(2) {
}
bool operator==(const Point& a, const Point& b) { return a.x == b.x; }
TEST(Suite, Case) {
}
}  // namespace nsys
'''


def self_test():
    found = functions(SAMPLE)
    by_name = {name: (first, length) for name, first, length in found}
    assert by_name.get("Long") == (13, 8), found
    assert by_name.get("Twice") == (9, 1), found
    assert "TEST" in by_name and "kTable" not in by_name and "f" not in by_name, found
    assert PATH.match("src/base/x.h") and PATH.match("src/skills/*.cc") and PATH.match(".ci/run")
    assert not PATH.match("src/skills/<name>.cc") and not PATH.match("build/release")


def main():
    self_test()
    default = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    found = check_paths(root) + check_lengths(root)
    for line in found:
        print(line)
    print(f"docs and lengths: {len(found)} violation(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
