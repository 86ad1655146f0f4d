# SPDX-License-Identifier: MIT
"""Conversions that are killed: the outputs of an earlier one stay as a set, and nothing half-written is left.

The old set is a conversion of one capture, the new one of another under the same name.
"""

from __future__ import annotations

import hashlib
import pathlib
import random
import shutil
import signal
import subprocess
import time
from collections import Counter

import harness

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
TRACE = "model.perfetto.json.gz"


def files_in(folder: pathlib.Path) -> dict[str, str]:
    """Every visible file below `folder` with a digest of it."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*"))
            if p.is_file() and not any(part.startswith(".") for part in p.relative_to(folder).parts)}


def hidden_in(folder: pathlib.Path) -> list[str]:
    """Hidden names, except the manifest of a set."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob(".*") if not p.name.endswith(".nsys-ai-set"))


class Kills:
    def __init__(self, captures: tuple[pathlib.Path, pathlib.Path], folder: pathlib.Path, seed: int):
        folder.mkdir(exist_ok=True)
        self.folder, self.root, self.dice = folder, folder / "workspace", random.Random(seed)
        self.home = self.root / "model"
        self.capture = folder / "model.sqlite"
        self.environment = {"NSYS_WORKSPACE_ROOT": str(self.root), "NSYS": ""}
        self.seen: Counter[str] = Counter()
        sets = []
        self.seconds = float("inf")
        for number, capture in enumerate(captures):
            self.capture.unlink(missing_ok=True)
            self.capture.symlink_to(capture)
            for _ in range(3):  # the first one reads from the disk
                begun = time.monotonic()
                self.convert("-o", folder / f"set{number}")
                self.seconds = min(self.seconds, time.monotonic() - begun)
            sets.append(files_in(folder / f"set{number}"))
        self.old, self.new = sets
        assert all(self.old[name] != self.new[name] for name in self.old if "dependencies" not in name)

    def convert(self, *args: object) -> None:
        got = harness.run("convert", self.capture, *args, env=self.environment)
        assert got.code == 0, got

    def restore(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.folder / "set0", self.home)

    def kill(self, number: signal.Signals) -> None:
        """One conversion, killed; raises when it breaks a promise."""
        self.restore()
        with subprocess.Popen([harness.BINARY, "convert", str(self.capture)],
                              env=harness.RUN_ENVIRONMENT | self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(self.dice.uniform(0, 1.1 * self.seconds))
            process.send_signal(number)
        files = files_in(self.home)
        where = f"{number.name}: exit {process.returncode}, {files}, {hidden_in(self.home)}"
        assert process.returncode in (0, -number, 128 + number), where
        if number == signal.SIGKILL:
            # Between two renames, files of one set are there, without the JSON trace.
            part = files.items() <= self.old.items() or files.items() <= self.new.items()
            assert files in (self.old, self.new) or (part and TRACE not in files), where
        else:
            assert files in (self.old, self.new) and not hidden_in(self.home), where
        self.seen["new" if files == self.new else "old" if files == self.old else "part"] += 1
        self.convert()  # tidies up
        assert files_in(self.home) == self.new and not hidden_in(self.home), where

    def run(self, count: int) -> Counter:
        for turn in range(count):
            self.kill(SIGNALS[turn % len(SIGNALS)])
        return self.seen
