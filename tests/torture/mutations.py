# SPDX-License-Identifier: MIT
"""Captures with bytes that were changed, or cut off.

Every skill on such a file: the answer that SQLite's own reading of the file gives, or an error that names the damage.
Never a crash, a sanitizer's report, a hang, or memory out of proportion.
"""

from __future__ import annotations

import json
import pathlib
import random
import shutil
from collections import Counter

import harness
from measure import Measured, measured

PAGE = 4096
MOST_BYTES = 512 << 20  # for a file of 2 MB
CPU_SECONDS = 10  # of an optimised build
DAMAGE = {"PROFILE_ERROR", "SCHEMA_ERROR"}


def flip(content: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(content))
    content[at] ^= 1 << dice.randrange(8)
    return f"a bit of byte {at}"


def set_byte(content: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(content))
    content[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
    return f"byte {at}"


def noise(content: bytearray, dice: random.Random) -> str:
    length = dice.choice((2, 4, 8, 64, 512, PAGE))
    at = dice.randrange(max(1, len(content) - length))
    content[at:at + length] = dice.randbytes(min(length, len(content) - at))
    return f"{length} bytes at {at}"


def head_of_page(content: bytearray, dice: random.Random) -> str:
    """The header of a page and the list of its cells, where a byte says most."""
    at = dice.randrange(max(1, len(content) // PAGE)) * PAGE + dice.randrange(32)
    at = min(at, len(content) - 1)
    content[at] = dice.randrange(256)
    return f"byte {at}, in the head of a page"


def ends(content: bytearray, dice: random.Random) -> str:
    """The header of the file or its end: where SQLite and Parquet say what the rest is."""
    at = dice.randrange(min(100, len(content)))
    at = at if dice.random() < 0.5 else max(0, len(content) - 1 - dice.randrange(2000))
    content[at] = dice.randrange(256)
    return f"byte {at}, at an end"


def copy_page(content: bytearray, dice: random.Random) -> str:
    pages = max(1, len(content) // PAGE)
    source, target = dice.randrange(pages), dice.randrange(pages)
    content[target * PAGE:(target + 1) * PAGE] = content[source * PAGE:(source + 1) * PAGE]
    return f"page {target} becomes page {source}"


def wipe(content: bytearray, dice: random.Random) -> str:
    page = dice.randrange(max(1, len(content) // PAGE))
    length = len(content[page * PAGE:(page + 1) * PAGE])
    content[page * PAGE:page * PAGE + length] = bytes(length)
    return f"page {page} wiped"


def truncate(content: bytearray, dice: random.Random) -> str:
    length = dice.choice((dice.randrange(len(content)), dice.randrange(len(content)) // PAGE * PAGE, len(content) - 1))
    del content[length:]
    return f"cut to {length}"


MUTATIONS = (flip, set_byte, noise, head_of_page, ends, copy_page, wipe, truncate)


class Mutations:
    """Mutations of some captures, files and folders in turn."""

    def __init__(self, captures: list[pathlib.Path], folder: pathlib.Path, seed: int, memory_binary: str = ""):
        self.captures, self.folder = captures, folder
        self.dice = random.Random(seed)
        self.memory_binary = memory_binary  # an optimised build, when the one under test has sanitizers
        self.seen: Counter[str] = Counter()
        self.most_bytes = 0
        self.most_seconds = 0.0

    def mutate(self, capture: pathlib.Path) -> tuple[pathlib.Path, str]:
        path = self.folder / f"mutated{capture.suffix}"
        victim = path
        if capture.is_dir():
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(capture, path)
            victim = self.dice.choice(sorted(path.iterdir()))
        else:
            shutil.copyfile(capture, path)
        content = bytearray(victim.read_bytes())
        did = []
        for _ in range(self.dice.choice((1, 1, 1, 3))):
            if content:
                did.append(self.dice.choice(MUTATIONS)(content, self.dice))
        victim.write_bytes(content)
        return path, f"{capture.name}/{victim.name}: {', '.join(did)}"

    def ask(self, path: pathlib.Path, *args: object, binary: str = "") -> Measured:
        slow = harness.SANITIZED and not binary
        got = measured("skill", "run-all", path, "--format", "json", *args, binary=binary,
                       cpu_seconds=CPU_SECONDS * (10 if slow else 1))
        if not slow:
            self.most_bytes = max(self.most_bytes, got.peak_bytes)
            self.most_seconds = max(self.most_seconds, got.cpu_seconds)
            if got.peak_bytes > MOST_BYTES:
                raise AssertionError(f"{got.peak_bytes >> 20} MiB of memory")
        return got

    @staticmethod
    def check(got: Measured) -> None:
        document = json.loads(got.out)
        if got.code == 0:
            return
        if got.code != 1 or document["error"]["code"] not in DAMAGE:
            raise AssertionError(f"exit {got.code}: {got.out!r} {got.err!r}")

    def one(self, capture: pathlib.Path) -> None:
        path, what = self.mutate(capture)
        try:
            got = self.ask(path)
            self.check(got)
            if not path.is_dir():
                other = self.ask(path, "--reader", "sqlite")
                if (got.code, got.out) != (other.code, other.out):
                    raise AssertionError(f"SQLite reads it otherwise:\n{got.out[:500]!r}\n{other.out[:500]!r}")
            if self.memory_binary:
                again = self.ask(path, binary=self.memory_binary)
                if (got.code, got.out) != (again.code, again.out):
                    raise AssertionError("another build says otherwise")
        except Exception as error:
            kept = harness.DATA / "mutated" / f"{sum(self.seen.values())}{path.suffix}"
            kept.parent.mkdir(exist_ok=True)
            shutil.rmtree(kept, ignore_errors=True)
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, kept)
            raise AssertionError(f"{what} (kept as {kept}): {error}") from error
        self.seen["answer" if got.code == 0 else "error"] += 1

    def run(self, count: int) -> Counter:
        for turn in range(count):
            self.one(self.captures[turn % len(self.captures)])
        return self.seen


def captures() -> list[pathlib.Path]:
    """Real captures where they are at hand, made ones otherwise; each third one as a folder of tables."""
    files = harness.corpus_captures() or [harness.synthetic(seed, 2, "node")[0] for seed in (0, 1)]
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return files
    folders = [harness.parquetdir(path) for path in sorted(files, key=lambda p: p.stat().st_size)[:2]]
    return [capture for i, file in enumerate(files) for capture in ((file, folders[i // 2 % 2]) if i % 2 else (file,))]
