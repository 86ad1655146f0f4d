# SPDX-License-Identifier: MIT
"""A capture that another program truncates, writes or replaces while it is read.

Whatever the moment: exit 0 with the whole answer of one state of the file, or exit 1 with an error that names the
change or the damage. Never a signal, a sanitizer's report or a run of more than ten seconds.
"""

from __future__ import annotations

import io
import os
import pathlib
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable

import harness

CHUNK = 1 << 16
NAMES_IT = ("changed while it was read", "malformed", "damaged or truncated", "unfinished transaction", "is an empty file",
            "cannot open", "no such file", "nothing at", "holds no .parquet tables", "is damaged")
Commands = dict[str, tuple[str, ...]]


def truncate(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size))


def truncate_and_restore(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    content = path.read_bytes()
    keep = dice.randrange(len(content))
    os.truncate(path, keep)
    time.sleep(dice.uniform(0, 0.01))
    with open(path, "r+b") as file:
        file.seek(keep)
        file.write(content[keep:])


def drip(file: io.RawIOBase, content: bytes, dice: random.Random, pauses: float) -> None:
    """Writes `content` in pieces, with pauses after that share of them."""
    for start in range(0, len(content), CHUNK):
        file.write(content[start:start + CHUNK])
        if dice.random() < pauses:
            time.sleep(dice.uniform(0, 0.003))


def append(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    with open(path, "ab", buffering=0) as file:
        drip(file, other[:4 * CHUNK], dice, 1)


def overwrite(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    with open(path, "r+b", buffering=0) as file:
        drip(file, other, dice, 0.2)
        file.truncate(len(other))


def replace(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    new = path.with_name(path.name + ".new")
    new.write_bytes(other)
    new.rename(path)


def write_anew(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    path.unlink()
    with open(path, "wb", buffering=0) as file:
        drip(file, other, dice, 0)


def grow(path: pathlib.Path, other: bytes, dice: random.Random) -> None:
    """`path` was cut before the program started; the rest, `other`, comes now."""
    with open(path, "ab", buffering=0) as file:
        drip(file, other, dice, 0.3)


ATTACKS: tuple[Callable[[pathlib.Path, bytes, random.Random], None], ...] = (
    truncate, truncate_and_restore, append, overwrite, replace, write_anew, grow)


def commands(out: pathlib.Path) -> Commands:
    return {"skill": ("skill", "run", "nvtx_kernel_map", "{}", "--format", "json"),
            "sqlite": ("skill", "run", "top_kernels", "{}", "--format", "json", "--reader", "sqlite"),
            "sql": ("sql", "{}", "SELECT count(*), sum(k.end - k.start), max(s.value) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                    "JOIN StringIds s ON s.id = k.demangledName", "--format", "json"),
            "convert": ("convert", "{}", "--output-json", f"{out}/trace.json")}


class Races:
    """Runs of the program on one capture, a file or a folder, that becomes another meanwhile."""

    def __init__(self, old: pathlib.Path, new: pathlib.Path, folder: pathlib.Path, seed: int):
        self.old, self.new, self.folder = old, new, folder
        self.path = folder / f"raced{old.suffix}"
        self.out = folder / "out"
        self.out.mkdir(exist_ok=True)
        self.dice = random.Random(seed)
        self.commands = commands(self.out)
        self.right: dict[str, list[bytes]] = {}
        self.seconds: dict[str, float] = {}
        self.seen: Counter[str] = Counter()
        for name in self.commands:
            self.right[name] = []
            self.seconds[name] = float("inf")
            for capture in (old, new):
                self.place(capture)
                begun = time.monotonic()
                code, out, err = self.finish(self.start(name))
                self.seconds[name] = min(self.seconds[name], time.monotonic() - begun)
                assert code == 0, err
                self.right[name].append(self.answer(name, out))

    def place(self, capture: pathlib.Path) -> None:
        if self.path.is_dir():
            shutil.rmtree(self.path)
        if capture.is_dir():
            shutil.copytree(capture, self.path)
        else:
            shutil.copyfile(capture, self.path)

    def start(self, name: str) -> subprocess.Popen:
        shutil.rmtree(self.out)
        self.out.mkdir()
        command = [harness.BINARY, *(word.replace("{}", str(self.path)) for word in self.commands[name])]
        return subprocess.Popen(command, env=harness.RUN_ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @staticmethod
    def finish(process: subprocess.Popen) -> tuple[int, bytes, bytes]:
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out, err

    def answer(self, name: str, out: bytes) -> bytes:
        return (self.out / "trace.json").read_bytes() if name == "convert" else out

    def victim(self) -> tuple[pathlib.Path, bytes]:
        """A file of the capture, and what it may become."""
        if not self.path.is_dir():
            return self.path, self.new.read_bytes()
        tables = sorted(p for p in self.path.iterdir() if (self.new / p.name).exists())
        table = self.dice.choice(tables)
        return table, (self.new / table.name).read_bytes()

    def race(self, name: str, attack: Callable) -> None:
        """One run; raises when it breaks a promise."""
        self.place(self.old)
        path, other = self.victim()
        if attack is grow:
            other = path.read_bytes()[(cut := self.dice.randrange(path.stat().st_size)):]
            os.truncate(path, cut)
        process = self.start(name)
        time.sleep(self.dice.uniform(0, self.seconds[name]))
        attack(path, other, self.dice)
        code, out, err = self.finish(process)
        told = (out + err).decode(errors="replace")
        where = f"{attack.__name__} during {name}: exit {code}\n{told}"
        if any(text in err for text in harness.SANITIZER_TEXTS):
            raise AssertionError(where)
        if code == 0:
            # A table that is replaced leaves a folder of tables of both captures: one state, and a third answer.
            whole = self.answer(name, out) in self.right[name] or (path != self.path and self.settled(name, out))
            if not whole:
                raise AssertionError(f"{where}\nwhich is no answer of the capture before or after")
            self.seen["answer"] += 1
            return
        if code != 1 or not any(text in told for text in NAMES_IT):
            raise AssertionError(where)
        self.seen["change" if NAMES_IT[0] in told else "damage"] += 1

    def settled(self, name: str, out: bytes) -> bool:
        got = self.answer(name, out)
        code, again, _ = self.finish(self.start(name))
        return code == 0 and self.answer(name, again) == got

    def run(self, count: int) -> Counter:
        names = list(self.commands)
        for turn in range(count):
            self.race(names[turn % len(names)], ATTACKS[turn // len(names) % len(ATTACKS)])
        return self.seen
