#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small valid inputs of every fuzz target, for the fuzzer to begin with.

    tests/fuzz/seeds.py FOLDER     writes FOLDER/<target>/<seed>
"""

from __future__ import annotations

import pathlib
import random
import sqlite3
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import edge_captures  # noqa: E402

MOST_BYTES = 65_536  # of a file; the fuzzers' own limit

KERNELS = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'void gemm<float>()'),(3,'cudaLaunchKernel_v7000');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER, demangledName INTEGER);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100, i * 100 + 50, i % 2, 1, 7, i, 16777216, 1, 2 FROM n;
CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
  globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (10,500,59,'step',NULL,16777217,0),(20,30,59,NULL,1,16777217,0);
"""
# Cells of every kind, long rows, a column that was added, keys that are no rowid.
ODD = """
CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB);
INSERT INTO t VALUES (1,2.5,'x',x'00ff'),(NULL,NULL,NULL,NULL),('text',7,8,9),(9223372036854775807,-1e300,'',x'');
INSERT INTO t VALUES (256,3,printf('%.*c',3000,'y'),zeroblob(2000)),(-1,0,printf('%.*c',700,'z'),NULL);
ALTER TABLE t ADD COLUMN e;
INSERT INTO t VALUES (65536,1,'n',NULL,5);
CREATE TABLE k (id INTEGER PRIMARY KEY, v REAL);
INSERT INTO k VALUES (-5,1),(0,2),(1000000,3);
CREATE TABLE w (a TEXT PRIMARY KEY, b) WITHOUT ROWID;
INSERT INTO w VALUES ('a',1),('b',2);
CREATE TABLE empty (a);
"""

STATEMENTS = """SELECT * FROM kernels
SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL
SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName GROUP BY 1 ORDER BY 2
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
VALUES (1, 'a'), (2, NULL)
EXPLAIN SELECT * FROM nvtx
EXPLAIN QUERY PLAN SELECT * FROM runtime
PRAGMA table_info(StringIds)
SHOW TABLES
DESCRIBE kernels
SELECT row_number() OVER (ORDER BY start), lag("end") OVER (ORDER BY start) FROM kernels
SELECT json_object('a', 1), printf('%08.3f', 1.5), hex(x'00ff'), substr('abc', -2), 'a' || 1, 5 / 2, 5 % 0
SELECT name FROM sqlite_master
SELECT * FROM 'other.csv'
SELECT * FROM read_csv('other.csv')
SELECT * FROM read_text('other.csv')
SELECT * FROM glob('*')
SELECT * FROM secrets
ATTACH 'other.sqlite' AS o
SELECT readfile('other.csv')
SELECT load_extension('x')
SELECT writefile('new', 'x')
COPY (SELECT 1) TO 'new'
CREATE TABLE new AS SELECT 1
INSERT INTO StringIds VALUES (9, 'x')
DELETE FROM StringIds
UPDATE StringIds SET value = ''
PRAGMA journal_mode = WAL
PRAGMA writable_schema = 1
VACUUM INTO 'new'
SELECT zeroblob(1000000000)
SELECT printf('%.*c', 1000000000, 'x')
SELECT 1; SELECT 2
SELECT count(*) FROM kernels a, kernels b, kernels c, kernels d
SELECT * FROM range(1000000000)
SELECT getenv('HOME')
INSTALL httpfs
SET memory_limit = '100GB'""".splitlines()

ARGUMENTS = """--help
--version
skill list --format json
skill info top_kernels
skill run top_kernels x.sqlite -p limit=5 --trim 1.5 2.5 --format csv --output o
skill run mfu x.sqlite --iteration 3 --marker step --threads 2 --reader pages
skill run-all x.sqlite --format jsonl --skills-dir d
skill add a.md --force
skill remove a
skill save name --sql SELECT -o x.md
sql x.sqlite SELECT --engine duckdb --param a=1 --max-rows 5 --timeout 3 --max-memory 1GB --format parquet
convert x.sqlite y.sqlite -o out --format json,pftrace --trim 1 2 --with memset --keep-going --summary json
convert x --output-json a --output-parquet b --report r --threads 3 --nvtx-scope process --max-regions 7
skill run top_kernel
skil run""".splitlines()


def database(sql: str, page_size: int = 4096, more: str = "") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.sqlite"
        db = sqlite3.connect(path)
        db.executescript(f"PRAGMA page_size = {page_size}; {more}; {sql}")
        db.commit()
        db.execute("VACUUM")
        db.close()
        return path.read_bytes()


def edges() -> dict[str, bytes]:
    """The odd captures of the tests, as far as they are small."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in sorted(edge_captures.EDGES.items()):
            path = pathlib.Path(folder) / name
            make(str(path))
            db = sqlite3.connect(path)
            db.executescript("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
            db.close()
            if path.stat().st_size <= MOST_BYTES:
                found[name] = path.read_bytes()
    return found


def databases() -> dict[str, bytes]:
    found = edges()
    for size in (512, 1024, 4096):
        found[f"kernels_{size}"] = database(KERNELS, size)
        found[f"odd_{size}"] = database(ODD, size)
    found["vacuums_itself"] = database(ODD, 512, "PRAGMA auto_vacuum = FULL")
    found["utf16"] = database(KERNELS, 512, "PRAGMA encoding = 'UTF-16le'")
    return found


def tables() -> dict[str, bytes]:
    """Small tables of Parquet in several encodings; none without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return {}
    rows = 40
    table = pyarrow.table({"start": list(range(0, rows * 100, 100)), "end": list(range(50, rows * 100, 100)),
                           "deviceId": pyarrow.array([i % 2 for i in range(rows)], pyarrow.int32()),
                           "contextId": pyarrow.array([1] * rows, pyarrow.uint32()),
                           "streamId": pyarrow.array([7 if i % 3 else None for i in range(rows)], pyarrow.int32()),
                           "correlationId": list(range(rows)), "globalPid": [16777216] * rows,
                           "shortName": [i % 5 for i in range(rows)], "note": [f"text {i % 4}" for i in range(rows)]})
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.parquet"
        for name, options in (("plain", {"compression": "none", "use_dictionary": False}),
                              ("dictionary", {"compression": "none"}), ("zstd", {"compression": "zstd"}),
                              ("snappy", {"compression": "snappy"}), ("groups", {"row_group_size": 10}),
                              ("version_2", {"data_page_version": "2.0"})):
            pyarrow.parquet.write_table(table, path, **options)
            found[name] = path.read_bytes()
    return found


def footer_of(file: bytes) -> bytes:
    length = struct.unpack("<I", file[-8:-4])[0]
    return file[-8 - length:-8]


def payloads() -> dict[str, bytes]:
    dice = random.Random(1)
    field = struct.pack("<HHBBq", 0, 4, 0, 1, 0)
    schema = struct.pack("<BBBqB", 1, 2, 1, 16, 2) + field + struct.pack("<HHBB", 0, 14, 0, 0)
    raw = struct.pack("<QQQQ", 1, 2, 16, 32) + dice.randbytes(16)
    return {"bytes": schema + raw, "digits": schema + raw.hex().encode(), "short": schema + raw[:40]}


def seeds() -> dict[str, dict[str, bytes]]:
    files, parquet = databases(), tables()
    texts = [*(ROOT / "examples" / "skills").glob("*.md"), ROOT / "docs" / "skill-template.md"]
    statements = {f"{i}": text.encode() for i, text in enumerate(STATEMENTS)}
    return {"capture": files, "sqlite_pages": files,
            "skill_markdown": {path.name: path.read_bytes() for path in sorted(texts)},
            "parquet_folder": parquet,
            "parquet_footer": {**{f"{n}_footer": footer_of(f) for n, f in parquet.items()}, **parquet},
            "sql_sqlite": statements, "sql_duckdb": statements,
            "command_line": {f"{i}": line.replace(" ", "\n").encode() for i, line in enumerate(ARGUMENTS)},
            "nvtx_payload": payloads()}


def write(folder: pathlib.Path) -> None:
    for target, contents in seeds().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / target / name).write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
