#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw text as a terminal picture: text on stdin, SVG on stdout.

    nsys-ai skill run overlap_breakdown FILE | text_to_svg.py --command 'nsys-ai …' > docs/images/x.svg

Pictures of the documentation are made with it, so that they show what the program really prints.
"""
import argparse
import html
import sys

CHAR_WIDTH, LINE_HEIGHT, PADDING = 8.4, 20, 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="", help="the command line to show above the text")
    args = parser.parse_args()
    lines = sys.stdin.read().rstrip("\n").split("\n")
    if args.command:
        lines = [f"$ {args.command}", ""] + lines
    width = max(len(line) for line in lines) * CHAR_WIDTH + 2 * PADDING
    height = len(lines) * LINE_HEIGHT + 2 * PADDING
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">',
           '<rect width="100%" height="100%" rx="8" fill="#10151c"/>',
           '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d7dee8" xml:space="preserve">']
    for i, line in enumerate(lines):
        bold = ' font-weight="bold" fill="#8bd49c"' if line.startswith("$ ") else ""
        y = PADDING + LINE_HEIGHT * i + 14
        out.append(f'<text x="{PADDING}" y="{y}"{bold} textLength="{len(line) * CHAR_WIDTH:.1f}">{html.escape(line)}</text>' if line else "")
    print("\n".join(line for line in out if line))
    print("</g></svg>")


if __name__ == "__main__":
    main()
