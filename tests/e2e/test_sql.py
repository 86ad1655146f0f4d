#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsys-ai sql`: what it answers in both formats, what it refuses, and where it stops."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import time

import harness
from harness import edge, parquetdir, run, scratch, synthetic

harness.require_pyarrow()

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"

# Statements of the kinds that skills are made of. {k}: the kernel table.
STATEMENTS = (
    "SELECT start, [end], [end] - start AS ns FROM {k} ORDER BY start, rowid LIMIT 20",
    "SELECT rowid, start FROM {k} ORDER BY rowid DESC LIMIT 5",
    "WITH k AS (SELECT start, [end], streamId FROM {k}) SELECT streamId, COUNT(*) FROM k GROUP BY 1 ORDER BY 1",
    "SELECT COUNT(*) AS n, SUM(MIN(k1.[end], k2.[end]) - MAX(k1.start, k2.start)) AS ns FROM {k} k1 JOIN {k} k2 "
    "ON k1.rowid < k2.rowid AND k1.start < k2.[end] AND k2.start < k1.[end] AND k1.deviceId = k2.deviceId "
    "WHERE k1.rowid < 400 AND k2.rowid < 400",
    "SELECT MIN(3, 1, 2) AS least, MAX(start, [end], 0) AS most FROM {k} ORDER BY 2 LIMIT 3",
    "SELECT ROUND(SUM([end] - start) / 1e6, 2) AS ms, ROUND(AVG([end] - start) / 1e3, 1) AS us FROM {k}",
    "SELECT value FROM StringIds WHERE value LIKE '%GEMM%' OR value LIKE 'CUDA%' ORDER BY id LIMIT 20",
    "SELECT s.value AS name, COUNT(*) AS n FROM {k} k JOIN StringIds s ON k.shortName = s.id GROUP BY name "
    "HAVING n > 1 ORDER BY n DESC, name LIMIT 10",
    "SELECT d.value, k.start FROM {k} k JOIN StringIds d ON k.demangledName = d.id ORDER BY k.start, k.rowid LIMIT 5",
    "SELECT COUNT(*) FROM {r} r JOIN {k} k ON r.correlationId = k.correlationId "
    "AND (r.globalTid & -16777216) = k.globalPid",
    "SELECT DISTINCT globalTid & -16777216 AS process, globalTid >> 24 AS high, (globalTid >> 24) & 16777215 AS pid "
    "FROM {r} ORDER BY 1, 2, 3",
    "SELECT NULLIF(deviceId, 0) AS d, COALESCE(greenContextId, -1) AS g, CASE WHEN streamId > 7 THEN 'aux' ELSE 'main' "
    "END AS lane, COUNT(DISTINCT shortName) AS names FROM {k} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "SELECT start - LAG([end]) OVER (PARTITION BY deviceId, streamId ORDER BY start, rowid) AS gap, "
    "LEAD(start) OVER (PARTITION BY deviceId, streamId ORDER BY start, rowid) AS next, "
    "ROW_NUMBER() OVER (PARTITION BY deviceId, streamId ORDER BY start, rowid) AS n FROM {k} ORDER BY start, rowid LIMIT 50",
    "SELECT 'kernel' AS what, COUNT(*) AS n FROM {k} UNION ALL SELECT 'call', COUNT(*) FROM {r}",
    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    "SELECT cid, name, type, pk FROM pragma_table_info('{k}')",
    "SHOW TABLES",
    "DESCRIBE StringIds",
    "SELECT name, demangled, is_tc_eligible, uses_tc, COUNT(*) AS n FROM kernels GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1",
    "SELECT name, COUNT(*) AS n FROM runtime GROUP BY name ORDER BY n DESC, name",
    "SELECT direction, SUM(bytes) AS bytes FROM memcpy GROUP BY 1 ORDER BY 1",
    "SELECT name, COUNT(*) FROM sync GROUP BY 1 ORDER BY 1",
    "SELECT text, eventType, [end] - start AS ns FROM nvtx ORDER BY start, rowid LIMIT 40",
    "SELECT text, COUNT(*) FROM nvtx GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 40",
    "SELECT * FROM {k} LIMIT 100",
    "SELECT * FROM {r} LIMIT 100",
    "SELECT * FROM NVTX_EVENTS LIMIT 100",
    "SELECT typeof(start), typeof(globalPid), typeof(greenContextId), typeof(deviceId) FROM {k} LIMIT 3",
    "SELECT a.start FROM {k} a JOIN {k} b USING (start, streamId) ORDER BY a.start LIMIT 5",
    "SELECT COUNT(*) FROM StringIds NATURAL JOIN (SELECT 1 AS id)",
    "SELECT EXISTS (SELECT 1 FROM {r}), (SELECT COUNT(*) FROM {k} WHERE start IN (SELECT start FROM kernels))",
    "SELECT 1 AS a, 2 AS a, NULL, 1.5, 'x', x'00ff'",
)

# The same question in both dialects.
BOTH_ENGINES = (
    'SELECT name, COUNT(*) AS n, SUM("end" - start) AS ns, MAX(uses_tc) AS tc FROM kernels GROUP BY name ORDER BY ns DESC, name',
    "SELECT direction, COUNT(*) AS n, MAX(bytes) AS most FROM memcpy GROUP BY direction ORDER BY direction",
    "SELECT DISTINCT globalPid FROM kernels ORDER BY globalPid",
    "SELECT name, COUNT(*) AS n FROM runtime GROUP BY name ORDER BY n DESC, name",
    "SELECT text, COUNT(*) AS n FROM nvtx GROUP BY text ORDER BY n DESC, text LIMIT 50",
)

ATTACKS_ON_SQLITE = (
    "DROP TABLE StringIds", "DELETE FROM StringIds", "UPDATE StringIds SET value = 'x'", "INSERT INTO StringIds VALUES (-1, 'x')",
    "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "CREATE TABLE x AS SELECT 1", "CREATE INDEX x ON StringIds (value)",
    "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN SELECT 1; END", "ALTER TABLE StringIds RENAME TO x",
    "ATTACH 'x.db' AS x", "ATTACH ':memory:' AS x", "DETACH main", "VACUUM", "VACUUM INTO 'x.db'", "REINDEX", "ANALYZE",
    "BEGIN", "COMMIT", "SAVEPOINT a", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "PRAGMA database_list",
    "PRAGMA temp_store_directory = '/tmp'", "SELECT load_extension('x')", "SELECT readfile('/etc/hostname')",
    "SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT fts3_tokenizer('x')", "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat", "SELECT sqlite_log(1, 'x')", "SELECT 1; DROP TABLE StringIds", "SELECT 1; SELECT 2",
    "WITH x AS (SELECT 1) DELETE FROM StringIds", "EXPLAIN DROP TABLE StringIds", "COPY (SELECT 1) TO 'x.csv'",
    "SELECT * FROM read_text('/etc/hostname')", "SELECT * INTO x FROM StringIds", "REPLACE INTO StringIds VALUES (1, 'x')",
)
ATTACKS_ON_DUCKDB = (
    "COPY (SELECT 1) TO 'x.csv'", "COPY StringIds TO 'x.parquet' (FORMAT parquet)", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.csv'",
    "EXPORT DATABASE 'x'", "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM read_blob('/etc/hostname')",
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_json('/etc/hostname')", "SELECT * FROM '/etc/passwd.csv'",
    "FROM glob('/*')", "SELECT * FROM read_parquet('x.parquet')", "SELECT * FROM parquet_metadata('x.parquet')",
    "ATTACH 'x.db'", "ATTACH ':memory:' AS x", "USE x", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "PRAGMA version",
    "PRAGMA enable_profiling", "SET memory_limit = '1TB'", "RESET memory_limit", "SET enable_external_access = true",
    "CREATE TABLE x (a INT)", "CREATE VIEW x AS SELECT 1", "CREATE MACRO x() AS 1", "CREATE SECRET x (TYPE s3)", "DROP VIEW kernels",
    "INSERT INTO StringIds VALUES (1, 'x')", "DELETE FROM StringIds", "BEGIN", "CHECKPOINT", "VACUUM", "ANALYZE",
    "CALL enable_logging()", "FROM enable_logging(storage = 'file', storage_path = 'x')", "FROM duckdb_logs()",
    "SELECT * FROM duckdb_settings()", "SELECT * FROM pg_catalog.pg_settings", "SELECT current_setting('temp_directory')",
    "FROM duckdb_secrets()", "SELECT getenv('HOME')", "FROM query('SELECT 1')", "FROM query_table('StringIds')",
    "SELECT 1; SELECT 2", "SELECT 1; DROP VIEW kernels", "PREPARE p AS SELECT 1", "EXECUTE p",
    "SELECT write_log('x')", "FROM json_execute_serialized_sql('x')", "UPDATE EXTENSIONS", "WITH x AS (SELECT 1) DELETE FROM StringIds",
)

ENDLESS = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n",
    "duckdb": "SELECT MAX(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b",
}


def fingerprint(path: pathlib.Path) -> object:
    """Names and contents of everything at and beside `path`."""
    files = sorted(p for p in path.parent.rglob("*") if p.is_file())
    return [(str(p.relative_to(path.parent)), p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in files]


def sql(path: object, statement: str, *args: object, **more) -> harness.Outcome:
    return run("sql", path, statement, *args, **more)


def statements_for(capture: pathlib.Path) -> list[str]:
    """The statements whose tables the capture has."""
    names = {r["name"] for r in sql(capture, "SHOW TABLES", "--format", "json").json()}
    found = []
    for text in STATEMENTS:
        needed = {"{k}": KERNELS, "{r}": RUNTIME, "NVTX_EVENTS": "NVTX_EVENTS", "FROM nvtx": "nvtx", "FROM memcpy": "memcpy",
                  "FROM sync ": "sync", "FROM runtime": "runtime", "FROM kernels": "kernels"}
        if all(table in names for word, table in needed.items() if word in text):
            found.append(text.replace("{k}", KERNELS).replace("{r}", RUNTIME))
    return found


class Sql(harness.Case):
    def captures(self):
        return [synthetic(0, 2, "node")[0], *harness.corpus_captures()]

    def test_both_formats_answer_the_same(self):
        for capture in self.captures():
            folder = parquetdir(capture, "--types", "native", "--empty", "keep")
            for statement in harness.thinned(statements_for(capture), 4):
                if "rowid" in statement and "nvtx" in statement:
                    statement = statement.replace(", rowid", ", globalTid, text")
                if "greenContextId" in statement and not self.has_column(capture, "greenContextId"):
                    continue
                with self.subTest(capture=capture.name, statement=statement):
                    a, b = (sql(p, statement, "--format", "json") for p in (capture, folder))
                    self.assertEqual(a.code, 0, a.text)
                    self.assertEqual((b.code, b.text), (0, a.text))

    def has_column(self, capture, column):
        return column in sql(capture, f"DESCRIBE {KERNELS}").text

    def test_statements_are_answered_as_by_sqlite_itself(self):
        import sqlite3
        capture = synthetic(0, 2, "node")[0]
        database = sqlite3.connect(f"file:{capture}?immutable=1", uri=True)
        for statement in harness.thinned(statements_for(capture), 3):
            if any(word in statement for word in ("kernels", "nvtx", "memcpy", "sync", "runtime ", "SHOW", "DESCRIBE", "x'00ff'")):
                continue
            with self.subTest(statement=statement):
                got = sql(capture, statement, "--format", "json").json()
                want = [tuple(v.hex() if isinstance(v, bytes) else v for v in row) for row in database.execute(statement)]
                self.assertEqual([tuple(r.values()) for r in got], want)

    def test_both_engines_answer_the_same(self):
        for capture in self.captures():
            folder = parquetdir(capture, "--types", "native", "--empty", "keep")
            names = {r["name"] for r in sql(capture, "SHOW TABLES", "--format", "json").json()}
            for statement in harness.thinned(BOTH_ENGINES, 4):
                if statement.split(" FROM ")[1].split()[0] not in names:
                    continue
                with self.subTest(capture=capture.name, statement=statement):
                    want = sql(capture, statement, "--format", "csv")
                    self.assertEqual(want.code, 0, want.err)
                    for path in (capture, folder):
                        got = sql(path, statement, "--format", "csv", "--engine", "duckdb")
                        self.assertEqual((got.code, got.text), (0, want.text))

    def test_odd_captures(self):
        for name in ("hostile_names", "versioned_tables", "permuted_columns", "unsigned_patterns", "minimal_export",
                     "empty_kernel_table", "dangling_string_ids", "all_event_types"):
            capture = edge(name)
            folder = parquetdir(capture, "--types", "native", "--empty", "keep")
            for statement in ("SELECT * FROM kernels", f"SELECT * FROM {KERNELS}", "SELECT * FROM StringIds", "SHOW TABLES"):
                with self.subTest(capture=name, statement=statement):
                    a, b = (sql(p, statement, "--format", "json") for p in (capture, folder))
                    self.assertEqual((b.code, b.text), (a.code, a.text))
                    c, d = (sql(p, statement, "--format", "json", "--engine", "duckdb") for p in (capture, folder))
                    self.assertEqual((c.code, d.code), (a.code, a.code), c.text + d.text)
                    if a.code == 0:
                        self.assertCountEqual(d.json(), c.json())

    def test_attacks(self):
        capture = synthetic(0, 2, "node")[0]
        folder = parquetdir(capture, "--types", "native", "--empty", "keep")
        with scratch() as work:
            own = work / "a.sqlite"
            own.write_bytes(capture.read_bytes())
            tables = work / "tables"
            tables.mkdir()
            for name in ("StringIds", KERNELS):
                (tables / f"{name}.parquet").write_bytes((folder / f"{name}.parquet").read_bytes())
            (tables / "META_DATA_EXPORT.parquet").write_bytes((folder / "META_DATA_EXPORT.parquet").read_bytes())
            before = fingerprint(own)
            for engine, attacks in (("sqlite", ATTACKS_ON_SQLITE), ("duckdb", ATTACKS_ON_DUCKDB)):
                for path in (own, tables):
                    for attack in (*attacks, f"COPY (SELECT 1) TO '{tables}/StringIds.parquet'",
                                   f"SELECT * FROM read_text('{own}')", f"ATTACH '{own}' AS x"):
                        with self.subTest(engine=engine, path=path.name, attack=attack):
                            got = sql(path, attack, "--engine", engine, "--format", "json", cwd=work)
                            self.assertEqual(got.code, 1, got.text)
                            self.assertEqual(got.json()["error"]["code"], "SQL_ERROR")
            self.assertEqual(fingerprint(own), before)

    def test_nothing_is_written(self):
        capture = synthetic(0, 2, "node")[0]
        with scratch() as work:
            (work / "own").mkdir()
            own = work / "own" / "a.sqlite"
            own.write_bytes(capture.read_bytes())
            before = fingerprint(own)
            os.chmod(work / "own", 0o555)
            try:
                for engine in ("sqlite", "duckdb"):
                    got = sql(own, "SELECT COUNT(*) FROM kernels ORDER BY 1", "--engine", engine, cwd=work)
                    self.assertEqual(got.code, 0, got.err)
            finally:
                os.chmod(work / "own", 0o755)
            self.assertEqual(fingerprint(own), before)
            self.assertEqual([p.name for p in work.iterdir()], ["own"])

    def test_limits(self):
        capture = synthetic(0, 2, "node")[0]
        folder = parquetdir(capture, "--types", "native", "--empty", "keep")
        for engine in ("sqlite", "duckdb"):
            for path in (capture, folder):
                with self.subTest(engine=engine, path=path.name):
                    started = time.monotonic()
                    got = sql(path, ENDLESS[engine], "--engine", engine, "--timeout", "0.2")
                    self.assertEqual(got.code, 1)
                    self.assertIn(b"time limit of 200.00 ms", got.err)
                    self.assertLess(time.monotonic() - started, 10)
                    got = sql(path, "SELECT start FROM kernels", "--engine", engine, "--max-rows", 3, "--format", "json")
                    total = int(sql(path, "SELECT COUNT(*) FROM kernels", "--format", "csv").text.split()[1])
                    self.assertEqual(len(got.json()), 4)
                    self.assertEqual(got.json()[-1], {"_truncated": True, "_total_rows": total, "_shown_rows": 3})
                    self.assertIn(f"showing 3 of {total:,} rows".encode(), got.err)
        got = sql(capture, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) "
                  "SELECT length(group_concat(i)) FROM n", "--memory", "8")
        self.assertIn(b"memory than the limit of 8 MB", got.err)
        got = sql(folder, "SELECT * FROM NVTX_EVENTS, kernels ORDER BY 1 DESC", "--memory", "1")
        self.assertEqual(got.code, 1)
        self.assertIn(b"memory", got.err)

    def test_interrupts(self):
        capture = synthetic(0, 2, "node")[0]
        folder = parquetdir(capture, "--types", "native", "--empty", "keep")
        for engine, statement in ENDLESS.items():
            for path in (capture, folder):
                with self.subTest(engine=engine, path=path.name):
                    process = subprocess.Popen([harness.BINARY, "sql", str(path), statement, "--engine", engine],
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=harness.RUN_ENVIRONMENT)
                    time.sleep(1)
                    self.assertIsNone(process.poll())
                    sent = time.monotonic()
                    process.send_signal(signal.SIGINT)
                    process.communicate(timeout=10)
                    took = time.monotonic() - sent
                    self.assertEqual(process.returncode, 130)
                    if not harness.SANITIZED:
                        self.assertLess(took, 0.1)

    def test_forms(self):
        capture = synthetic(0, 2, "node")[0]
        got = sql(capture, "SELECT 1 AS a, 2 AS a, NULL AS b", "--format", "json", "--compact")
        self.assertEqual(got.text, '[{"a": 1, "a_2": 2, "b": null}]\n')
        self.assertEqual(sql(capture, "SELECT 1 AS a WHERE 0", "--format", "json").text, "[]\n")
        self.assertEqual(sql(capture, "SELECT 1 AS a WHERE 0").text, "a\n-\n(no rows)\n")
        self.assertEqual(sql(capture, "SELECT 1 AS a, 'x,y' AS b", "--format", "csv").text, 'a,b\n1,"x,y"\n')
        self.assertEqual(sql(capture, "VALUES (1), (2)", "--format", "jsonl").text, '{"column1": 1}\n{"column1": 2}\n')
        self.assertEqual(sql(capture, "SELECT 1 AS a", "--format", "text").text, sql(capture, "SELECT 1 AS a").text)
        got = sql(capture, "SELECT :n + 1 AS n, :r * 2 AS r, :t AS t", "-p", "n=4", "-p", "r=1e-1", "-p", "t=it's", "--format", "json")
        self.assertEqual(got.json(), [{"n": 5, "r": 0.2, "t": "it's"}])
        got = sql(capture, "SELECT :n + 1 AS n, :t AS t", "-p", "n=4", "-p", "t=it's", "--format", "json", "--engine", "duckdb")
        self.assertEqual(got.json(), [{"n": 5, "t": "it's"}])

    def test_files(self):
        import pyarrow.parquet as parquet
        capture = synthetic(0, 2, "node")[0]
        with scratch() as work:
            (work / "q.sql").write_text("-- one\nSELECT 7 AS seven;\n")
            self.assertEqual(run("sql", capture, "--file", work / "q.sql", "--format", "csv").text, "seven\n7\n")
            for engine in ("sqlite", "duckdb"):
                out = work / f"o'{engine}*.parquet"
                got = sql(capture, 'SELECT start, name, 0.5 AS x, NULL AS void, start AS "start" FROM kernels',
                          "--engine", engine, "--format", "parquet", "-o", out)
                self.assertEqual((got.code, got.out), (0, b""), got.err)
                table = parquet.ParquetFile(out).read()
                self.assertEqual(table.column_names, ["start", "name", "x", "void", "start_2"])
                types = [str(t) for t in table.schema.types]
                self.assertEqual(types[:3] + types[4:], ["int64", "string", "double", "int64"])
                self.assertGreater(table.num_rows, 0)
            got = sql(capture, "SELECT 1", "-o", capture)
            self.assertEqual(got.code, 2)

    def test_usage(self):
        capture = synthetic(0, 2, "node")[0]
        for arguments, words in (
                (("--format", "jsn"), "did you mean 'json'"), (("--engine", "mysql"), "sqlite, duckdb"),
                (("--max-rows", "-1"), "at least 0"), (("--timeout", "0"), "above 0"), (("--timeout", "nan"), "above 0"),
                (("--memory", "x"), "whole number"), (("-p", "x"), "NAME=VALUE"), (("-p", "x=1"), "no parameter :x"),
                (("--format", "parquet"), "needs a file"), (("--fil", "x"), "--file"), (("--file", "x"), "given twice")):
            with self.subTest(arguments=arguments):
                got = sql(capture, "SELECT 1", *arguments)
                self.assertEqual(got.code, 2, got.err)
                self.assertIn(words, got.err.decode())
                self.assertEqual(len(got.error_lines), 1)
        self.assertEqual(run("sql", capture).code, 2)
        self.assertEqual(run("sql").code, 2)
        for statement, words in (("SELECT * FROM kernel", "did you mean kernels"), ("SELECT nme FROM kernels", "no such column"),
                                 ("SELECT :a", ":a has no value"), ("SELECT rowid FROM kernels", "rowid"), ("", "no statement"),
                                 ("selec", "syntax error")):
            for engine in ("sqlite", "duckdb"):
                if (engine, words) in (("duckdb", "no such column"), ("duckdb", "rowid")):
                    continue
                with self.subTest(statement=statement, engine=engine):
                    got = sql(capture, statement, "--format", "json", "--engine", engine)
                    self.assertEqual(got.code, 1)
                    error = json.loads(got.out)["error"]
                    self.assertEqual(error["code"], "SQL_ERROR")
                    self.assertIn(words, error["message"] + error.get("hint", ""))
        got = sql("/nowhere/x.sqlite", "SELECT 1", "--format", "json")
        self.assertEqual((got.code, got.json()["error"]["code"]), (1, "PROFILE_NOT_FOUND"))

    def test_damaged_file(self):
        capture = synthetic(0, 2, "node")[0]
        with scratch() as work:
            cut = work / "cut.sqlite"
            cut.write_bytes(capture.read_bytes()[:200_000])
            for engine in ("sqlite", "duckdb"):
                got = sql(cut, "SELECT COUNT(*) FROM kernels", "--format", "json", "--engine", engine)
                self.assertEqual((got.code, got.json()["error"]["code"]), (1, "PROFILE_ERROR"))


if __name__ == "__main__":
    harness.main()
