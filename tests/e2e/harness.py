# SPDX-License-Identifier: MIT
"""What every end-to-end test needs: the program, captures made once, and a way to skip with a reason.

NSYS_AI names the binary and NSYS_AI_TEST_DATA a folder for captures; both have defaults, so a test can be
started by hand.  A script that lacks something exits 77, which the test runner counts as skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools"
for folder in (TOOLS, ROOT / "tests" / "e2e", ROOT / "tests" / "torture"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import edge_captures  # noqa: E402

BINARY = os.environ.get("NSYS_AI") or str(ROOT / "build" / "release" / "nsys-ai")
CORPUS = ROOT.parent / "shared"  # the reference corpus: real captures, when it is at hand
SANITIZER_TEXTS = (b"AddressSanitizer", b"runtime error:", b"LeakSanitizer", b"ThreadSanitizer", b"terminate called")
RUN_ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("NSYS_AI_")}
RUN_ENVIRONMENT["SOURCE_DATE_EPOCH"] = "1000000000"  # profile_health_manifest tells when it was made


def skip_script(reason: str) -> None:
    """End the whole script as skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)


@dataclass(frozen=True)
class Outcome:
    """What one run of the program gave."""

    code: int
    out: bytes
    err: bytes

    def json(self) -> object:
        """stdout as exactly one JSON document, without NaN or Infinity."""
        return json.loads(self.out, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(f"{word} in JSON")))

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def error_lines(self) -> list[str]:
        return self.err.decode(errors="replace").splitlines()


def run(*args: object, env: dict[str, str] | None = None, cwd: str | pathlib.Path | None = None,
        timeout: float = 120, prefix: tuple[str, ...] = ()) -> Outcome:
    """Run the program; a sanitizer's report is always a failure."""
    command = [*prefix, BINARY, *(str(a) for a in args)]
    done = subprocess.run(command, env=RUN_ENVIRONMENT | (env or {}), cwd=cwd, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    for text in SANITIZER_TEXTS:
        if text in done.stderr:
            raise AssertionError(f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}")
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_skill(name: str, profile: object, *args: object, **more) -> Outcome:
    return run("skill", "run", name, profile, "--format", "json", *args, **more)


def run_all(profile: object, *args: object, form: str = "jsonl", **more) -> dict[str, bytes]:
    """What every skill says of one load of the capture, in bytes: the line of each, or the section of each as text."""
    got = run("skill", "run-all", profile, "--format", form, *args, **more)
    if got.code != 0:
        raise AssertionError(f"run-all {profile} {args}: exit {got.code}, {got.err.decode()} {got.text}")
    if form == "jsonl":
        return {json.loads(line)["skill"]: line for line in got.out.splitlines()}
    sections = (b"\n" + got.out).split(b"\n# ")[1:]
    return {section.split(b"\n", 1)[0].decode(): section for section in sections}


def rows(name: str, profile: object, *args: object) -> list[dict]:
    """The rows of a skill that has to succeed."""
    got = run_skill(name, profile, *args)
    if got.code != 0:
        raise AssertionError(f"{name} {profile} {args}: exit {got.code}, {got.err.decode()} {got.text}")
    answer = got.json()
    assert isinstance(answer, list)
    return answer


def data(answer: list[dict]) -> list[dict]:
    """Without the rows that speak about the rows."""
    return [r for r in answer if not any(k.startswith("_") for k in r)]


def summary(answer: list[dict], key: str = "_summary") -> dict:
    """The one row that carries `key`."""
    found = [r for r in answer if key in r]
    assert len(found) == 1, answer
    return found[0]


def skill_list() -> list[dict]:
    """`skill list` as objects."""
    answer = run("skill", "list", "--format", "json").json()
    assert isinstance(answer, list)
    return answer


def skills() -> list[str]:
    """Names of the skills that run without an argument."""
    return [s["name"] for s in skill_list() if not any(p["required"] and p["default"] is None for p in s["params"])]


# What a skill needs to find anything in a synthetic capture, where nothing is unusual.
TO_FIND_ANY = {"nccl_anomaly": ("-p", "threshold=0.5"), "host_sync_parent_ranges": ("-p", "patterns=loss")}


def device_skills() -> list[str]:
    """Those of them that are about one device."""
    return [s["name"] for s in skill_list() if s["name"] in skills()
            and any(p["name"] == "device" and p["type"] == "int" for p in s["params"])]


# ---- how much

SANITIZED = os.environ.get("NSYS_AI_BUILD_TYPE") == "debug"


def thinned(items: Iterable, nth: int) -> list:
    """All of them; of a build with sanitizers, which is ten times slower, every nth.

    Figures do not depend on the build, so they are checked in full where that is quick, and the paths through the
    code in both.
    """
    return list(items)[::nth if SANITIZED else 1]


# ---- captures


def _data_folder() -> pathlib.Path:
    """Captures of one version of the makers; another version has another folder."""
    base = pathlib.Path(os.environ.get("NSYS_AI_TEST_DATA") or os.path.join(tempfile.gettempdir(), "nsys-ai-testdata"))
    makers = b"".join(p.read_bytes() for p in sorted(TOOLS.glob("*.py")))
    folder = base / hashlib.sha256(makers).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


DATA = _data_folder()


def made_once(name: str, make: Callable[[str], None]) -> pathlib.Path:
    """DATA/name, made by make(path) unless it is there; safe when tests run at the same time."""
    path = DATA / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(DATA / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            part = path.with_name("part." + path.name)
            make(str(part))
            for made in sorted(path.parent.glob(part.stem + ".*"), reverse=True):  # the capture itself comes last
                made.rename(made.with_name(made.name.removeprefix("part.")))
            if part.exists():
                part.rename(path)
    return path


def synthetic(seed: int = 0, devices: int = 2, graph_mode: str = "node") -> tuple[pathlib.Path, dict]:
    """A generated capture and what is true of it."""
    def make(path: str) -> None:
        command = [sys.executable, str(TOOLS / "make_synthetic_profile.py"), path, "--seed", str(seed),
                   "--devices", str(devices), "--graph-mode", graph_mode]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    path = made_once(f"synthetic_{seed}_{devices}_{graph_mode}.sqlite", make)
    return path, json.loads(path.with_suffix(".truth.json").read_text())


def edge(name: str) -> pathlib.Path:
    """The odd capture that edge_captures.NAME writes."""
    return made_once(f"edge_{name}.sqlite", edge_captures.EDGES[name])


def require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        skip_script("pyarrow is not installed")


def parquetdir(capture: pathlib.Path, *options: str) -> pathlib.Path:
    """The capture as a folder of Parquet tables."""
    label = "_".join(o.strip("-") for o in options) or "plain"

    def make(path: str) -> None:
        subprocess.run([sys.executable, str(TOOLS / "sqlite_to_parquetdir.py"), str(capture), path, *options],
                       check=True, stdout=subprocess.DEVNULL)

    return made_once(f"{capture.stem}_{label}_parquetdir", make)


def corpus_captures() -> list[pathlib.Path]:
    """Real captures of the reference corpus; none when it is absent."""
    return sorted((CORPUS / "fixtures").glob("*.sqlite"))


@contextlib.contextmanager
def scratch() -> Iterator[pathlib.Path]:
    """A folder of its own, removed afterwards."""
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        yield pathlib.Path(folder)


# ---- numbers


def shows(printed: float, exact: float, decimals: int) -> bool:
    """Whether `printed` is `exact` at that many decimals; a tie may go either way."""
    near = abs(printed - exact) <= 0.5 * 10 ** -decimals + 1e-9 * max(1.0, abs(exact))
    return near and round(printed, decimals) == printed


class Case(unittest.TestCase):
    """A test case that knows how figures are printed."""

    maxDiff = None

    def assert_ms(self, printed: float, ns: int, decimals: int, what: object = "") -> None:
        self.assertTrue(shows(printed, ns / 1e6, decimals), f"{what}: printed {printed} ms, exactly {ns} ns")

    def assert_abstains(self, answer: list[dict], what: object = "") -> dict:
        self.assertEqual(len(answer), 1, (what, answer))
        self.assertIs(answer[0].get("_abstained"), True, (what, answer))
        self.assertTrue(answer[0].get("reason"), (what, answer))
        return answer[0]


def main() -> None:
    """Run the tests of the calling script, or skip it when there is no program."""
    if not os.access(BINARY, os.X_OK):
        skip_script("the program is not built (set NSYS_AI)")
    unittest.main(verbosity=1)
