#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of the README runs, and the output it shows is what the program prints.

Commands that build or need other tools (make, nsys export) are not run here: `make demo` and
`make test` are the front doors, and `nsys` is NVIDIA's.
"""
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import harness

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """All `nsys-ai …` command lines: of shell blocks without their comments, and of the tables."""
    found = []
    for block in re.findall(r"```sh\n(.*?)```", README, re.S):
        found += [re.split(r"\s{2,}#", line)[0].strip() for line in block.splitlines() if line.startswith("nsys-ai ")]
    found += re.findall(r"`(nsys-ai [^`…]+)`", README)
    return found


def demo_capture() -> Path:
    """The capture of `make demo`."""
    maker = harness.TOOLS / "make_synthetic_profile.py"
    options = ("--devices", "2", "--iterations", "6", "--straggler", "1")

    def make(path: str) -> None:
        subprocess.run([sys.executable, maker, path, *options], check=True, stdout=subprocess.DEVNULL)

    return harness.made_once("demo.sqlite", make)


class Readme(unittest.TestCase):
    def setUp(self):
        scratch = harness.scratch()
        self.folder = scratch.__enter__()
        self.addCleanup(scratch.__exit__, None, None, None)
        for name in ("your.sqlite", "training_2gpu.sqlite"):
            shutil.copy(demo_capture(), self.folder / name)
        (self.folder / "examples").symlink_to(harness.ROOT / "examples")

    def call(self, command: str) -> subprocess.CompletedProcess:
        words = shlex.split(command)
        self.assertEqual(words[0], "nsys-ai")
        return subprocess.run([harness.BINARY, *words[1:]], cwd=self.folder, capture_output=True, text=True,
                              timeout=120)

    def test_every_command_runs(self):
        self.assertGreater(len(commands()), 15)
        for command in commands():
            with self.subTest(command):
                got = self.call(command)
                self.assertEqual((got.returncode, got.stderr), (0, ""))
                self.assertTrue(got.stdout or "-o " in command)

    def test_shown_output_is_real(self):
        shown = re.search(r"```\n\$ (nsys-ai [^\n]+)\n(.*?)```", README, re.S)
        self.assertEqual(self.call(shown.group(1)).stdout, shown.group(2))

    def test_picture_is_real(self):
        picture = (Path(__file__).resolve().parents[2] / "docs/images/top_kernels.svg").read_text(encoding="utf-8")
        command = re.search(r">\$ (nsys-ai [^<]+)<", picture).group(1)
        drawn = subprocess.run([sys.executable, Path(__file__).resolve().parents[1] / "tools/text_to_svg.py",
                                "--command", command],
                               input=self.call(command).stdout, capture_output=True, text=True, check=True)
        self.assertEqual(drawn.stdout, picture)


if __name__ == "__main__":
    harness.main()
