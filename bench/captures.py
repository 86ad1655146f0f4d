# SPDX-License-Identifier: MIT
"""Large captures for benchmarks: the events of a small one, repeated one after the other.

    bench/captures.py OUT.sqlite TARGET_MB [SEED.sqlite]
"""

import os
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATOR = os.path.join(ROOT, "tests", "tools", "make_synthetic_profile.py")

TIMES = ("start", "end", "timestamp", "rawTimestamp")
EVENT_TABLES = ("CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS", "OSRT_API", "CUDA_G", "COMPOSITE_EVENTS", "SCHED_EVENTS",
                "GPU_METRICS", "PROFILER_OVERHEAD")
PAUSE_NS = 1_000_000


def make_seed(path):
    """A capture of two processes with two GPUs, some MB, from the project's own generator."""
    subprocess.run([sys.executable, GENERATOR, path, "--devices", "2", "--iterations", "100", "--layers", "12",
                    "--seed", "1"], check=True, stdout=subprocess.DEVNULL)


def _columns(db, table):
    """Columns of `table` without a lone integer key, which SQLite numbers by itself."""
    info = db.execute(f'PRAGMA table_info("{table}")').fetchall()
    keys = [row[1] for row in info if row[5]]
    return [row[1] for row in info if len(keys) != 1 or row[1] not in keys]


def _event_tables(db):
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        columns = _columns(db, name)
        if name.startswith(EVENT_TABLES) and any(column in TIMES for column in columns):
            yield name, columns


def _extent(db, tables, wanted):
    """The largest and smallest value of the columns `wanted` over all tables."""
    found = []
    for name, columns in tables:
        for column in columns:
            if column in wanted:
                found.extend(db.execute(f'SELECT min("{column}"), max("{column}") FROM "{name}"').fetchone())
    found = [value for value in found if value is not None]
    return (min(found), max(found)) if found else (0, 0)


def scale(seed, path, target_mb):
    """Copies `seed` to `path` and repeats its events until the file has about `target_mb` MB.

    Each repeat is shifted in time and has correlation ids of its own, so calls keep launching their own kernels.
    """
    repeats = max(1, round(target_mb * 1e6 / os.path.getsize(seed)))
    source = sqlite3.connect(f"file:{os.path.abspath(seed)}?mode=ro", uri=True)
    db = sqlite3.connect(path)
    source.backup(db)
    source.close()
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;")
    tables = list(_event_tables(db))
    first, last = _extent(db, tables, ("start", "end"))
    step = last - first + PAUSE_NS
    ids = _extent(db, tables, ("correlationId",))[1] + 1
    for name, columns in tables:
        shifted = [f'"{c}" + :k * {step}' if c in TIMES else f'"{c}" + :k * {ids}' if c == "correlationId"
                   else f'"{c}"' for c in columns]
        listed = ", ".join(f'"{column}"' for column in columns)
        count = db.execute(f'SELECT coalesce(max(rowid), 0) FROM "{name}"').fetchone()[0]
        for k in range(1, repeats):
            db.execute(f'INSERT INTO "{name}" ({listed}) SELECT {", ".join(shifted)} FROM "{name}" '
                       f'WHERE rowid <= {count} ORDER BY rowid', {"k": k})
    db.commit()
    db.close()


def middle_of_kernels(path):
    """A time in ns in the middle of the kernels."""
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro&immutable=1", uri=True)
    first, last = db.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
    db.close()
    return (first + last) // 2


def describe(path):
    """Size and number of events, in words."""
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro&immutable=1", uri=True)
    words = [f"{os.path.getsize(path) / 1e6:.0f} MB"]
    for table, noun in (("CUPTI_ACTIVITY_KIND_KERNEL", "kernels"), ("CUPTI_ACTIVITY_KIND_RUNTIME", "API calls"),
                        ("NVTX_EVENTS", "NVTX rows")):
        try:
            words.append(f'{db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:,} {noun}')
        except sqlite3.OperationalError:
            pass
    db.close()
    return ", ".join(words)


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    path, target_mb = sys.argv[1], float(sys.argv[2])
    if len(sys.argv) == 4:
        scale(sys.argv[3], path, target_mb)
        return
    with tempfile.TemporaryDirectory(prefix="nsys-ai-bench-") as folder:
        seed = os.path.join(folder, "seed.sqlite")
        make_seed(seed)
        scale(seed, path, target_mb)


if __name__ == "__main__":
    main()
