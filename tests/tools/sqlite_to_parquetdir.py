#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn an Nsight Systems .sqlite export into a directory of Parquet tables.

The result has the shape `nsys export --type=parquetdir` gives: one file per
table, named exactly <TABLE>.parquet, no sub-directories, same column names as
the SQLite export, one Parquet column per SQLite column, NULLs kept as NULLs.
Needs only pyarrow and the standard library.

  sqlite_to_parquetdir.py IN.sqlite OUTDIR [options]

Options (all repeatable ones may be given several times):
  --types native|int64     integer widths: `native` narrows the columns whose
                           width is known or plausible in Nsight's own export
                           (32-bit ids, unsigned globalTid/globalPid); `int64`
                           writes every INTEGER as int64.   default: native
  --strings utf8|large|dict  Arrow type of TEXT columns.     default: utf8
  --empty skip|keep        tables without rows (nsys --lazy=true drops them)
                                                             default: skip
  --only TABLE             write only this table            (repeatable)
  --drop TABLE             leave this table out             (repeatable)
  --drop-column T.C        leave this column out            (repeatable)
  --rename-column T.C=NEW  rename a column                  (repeatable)
  --fill-column T.C=VALUE  add an INTEGER column if absent  (repeatable)
  --ts-normalize           shift start/end/timestamp columns to UTC epoch ns, as
                           `nsys export --ts-normalize=true` does
  --compression snappy|zstd|gzip|none                       default: snappy
  --row-group N            rows per row group               default: 1048576
"""
import argparse
import os
import sqlite3
import sys

import pyarrow as pa
import pyarrow.parquet as pq

# Columns whose natural width is narrower than 64 bits (or unsigned). A column
# falls back to int64 when any of its values does not fit.
U64 = {"globalTid", "globalPid", "endGlobalTid", "globalVid", "virtualAddress",
       "bytes", "graphNodeId", "originalGraphNodeId", "address", "uint64Value"}
U32 = {"contextId", "greenContextId", "correlationId", "eventId", "uint32Value",
       "srcContextId", "dstContextId", "copyCount", "rangeId", "category", "color"}
I32 = {"nameId", "shortName", "demangledName", "mangledName", "textId",
       "jsonTextId", "deviceId", "srcDeviceId", "dstDeviceId", "eventType",
       "eventClass", "copyKind", "srcKind", "dstKind", "memKind", "syncType",
       "deprecatedSyncType", "launchType", "cacheConfig", "registersPerThread",
       "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "clusterX",
       "clusterY", "clusterZ", "returnValue", "callchainId", "int32Value",
       "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread",
       "localMemoryTotal", "sharedMemoryExecuted", "migrationCause", "priority",
       "overheadType", "value"}
TIME_COLUMNS = {"start", "end", "timestamp", "rawTimestamp", "originalTimestamp"}
RANGES = {"u64": (0, 2**64 - 1, pa.uint64()), "u32": (0, 2**32 - 1, pa.uint32()),
          "i32": (-2**31, 2**31 - 1, pa.int32())}


def int_type(table, column, values, mode):
    if mode == "native":
        for names, key in ((U64, "u64"), (U32, "u32"), (I32, "i32")):
            if column in names:
                low, high, typ = RANGES[key]
                if all(v is None or low <= v <= high for v in values):
                    return typ
        if table == "StringIds" and column == "id":
            if all(0 <= v < 2**31 for v in values):
                return pa.int32()
    return pa.int64()


def string_array(raw, kind):
    """raw: list of bytes/None. Nsight labels payload blobs as strings too, so
    bytes that are not UTF-8 must survive: build the array from its buffers."""
    binary = pa.array(raw, type=pa.large_binary())
    valid, offsets, data = binary.buffers()
    large = pa.LargeStringArray.from_buffers(len(binary), offsets, data, valid,
                                             binary.null_count)
    if kind == "large":
        return large
    try:
        small = pa.array([None if r is None else r.decode("utf-8") for r in raw],
                         type=pa.string())
    except UnicodeDecodeError:
        return large
    return small.dictionary_encode() if kind == "dict" else small


def as_bytes(value):
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode("utf-8")


def column_array(table, name, decl, values, opts, shift):
    decl = (decl or "").upper()
    if name in TIME_COLUMNS and shift:
        values = [None if v is None else v + shift for v in values]
    if "TEXT" in decl or "CHAR" in decl or "BLOB" in decl:
        return string_array([as_bytes(v) for v in values], opts.strings)
    if "REAL" in decl or "FLOA" in decl or "DOUB" in decl:
        typ = pa.float32() if name == "floatValue" and opts.types == "native" else pa.float64()
        return pa.array([None if v is None else float(v) for v in values], type=typ)
    if any(isinstance(v, (bytes, str)) for v in values):
        return string_array([as_bytes(v) for v in values], opts.strings)
    if any(isinstance(v, float) for v in values):
        return pa.array(values, type=pa.float64())
    return pa.array(values, type=int_type(table, name, values, opts.types))


def convert(opts):
    if not os.path.isfile(opts.input):
        sys.exit(f"no such file: {opts.input}")
    con = sqlite3.connect(f"file:{opts.input}?mode=ro", uri=True)
    con.text_factory = bytes
    os.makedirs(opts.output, exist_ok=True)
    shift = 0
    if opts.ts_normalize:
        try:
            shift = con.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()[0]
        except (sqlite3.Error, TypeError):
            sys.exit("--ts-normalize: TARGET_INFO_SESSION_START_TIME.utcEpochNs is not in this export")
    drop_cols = set(opts.drop_column)
    renames = dict(r.split("=", 1) for r in opts.rename_column)
    fills = {}
    for f in opts.fill_column:
        key, val = f.split("=", 1)
        tab, col = key.split(".", 1)
        fills.setdefault(tab, []).append((col, int(val)))
    tables = [r[0].decode() for r in con.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table','view') ORDER BY name")]
    written = []
    for table in tables:
        if table.startswith("sqlite_") or table in opts.drop or (opts.only and table not in opts.only):
            continue
        info = [(r[1].decode(), r[2].decode()) for r in con.execute(f'PRAGMA table_info("{table}")')]
        rows = con.execute(f'SELECT * FROM "{table}"').fetchall()
        if not rows and opts.empty == "skip":
            continue
        arrays, names = [], []
        for i, (col, decl) in enumerate(info):
            if f"{table}.{col}" in drop_cols:
                continue
            arrays.append(column_array(table, col, decl, [r[i] for r in rows], opts, shift))
            names.append(renames.get(f"{table}.{col}", col))
        for col, val in fills.get(table, []):
            if col not in names:
                arrays.append(pa.array([val] * len(rows), type=pa.int64()))
                names.append(col)
        out = os.path.join(opts.output, f"{table}.parquet")
        pq.write_table(pa.table(arrays, names=names), out, row_group_size=opts.row_group,
                       compression=None if opts.compression == "none" else opts.compression)
        written.append((table, len(rows)))
    con.close()
    return written


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("input")
    p.add_argument("output")
    p.add_argument("--types", choices=["native", "int64"], default="native")
    p.add_argument("--strings", choices=["utf8", "large", "dict"], default="utf8")
    p.add_argument("--empty", choices=["skip", "keep"], default="skip")
    for name in ("--only", "--drop", "--drop-column", "--rename-column", "--fill-column"):
        p.add_argument(name, action="append", default=[])
    p.add_argument("--ts-normalize", action="store_true")
    p.add_argument("--compression", default="snappy", choices=["snappy", "zstd", "gzip", "none"])
    p.add_argument("--row-group", type=int, default=1 << 20)
    opts = p.parse_args()
    for table, rows in convert(opts):
        print(f"{table}\t{rows}")


if __name__ == "__main__":
    main()
