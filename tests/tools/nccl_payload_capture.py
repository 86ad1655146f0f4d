#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a capture of two ranks in two processes whose NCCL ranges carry binary payloads, and what is true of it.

    nccl_payload_capture.py OUT.sqlite [--hex] [--no-blobs]

World communicator (both ranks): all-reduces and all-gathers, run by kernels named SendRecv.  Pair communicator
(rank 0's side of a larger job): grouped sends and receives.  Correlation ids repeat in both processes; schemas are
listed once per process, and the schema numbers also exist in another domain, where they mean something else.
OUT.truth.json lies beside OUT.sqlite.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sqlite3
import struct

WORLD, PAIR = 0xF00DFACE00000001, 0x00000000000000AB
VM = 1 << 48
DOMAIN = 1
ID, SIZE, PEER = ("NCCL communicator ID", 18, None), ("Message size [bytes]", 22, 8), ("Peer rank", 5, 16)
SCHEMAS = {  # number -> (bytes, fields)
    101: (24, [ID, ("No. of ranks", 5, 8), ("Rank", 5, 12), ("CUDA device", 5, 16)]),
    102: (16, [ID, SIZE]),
    103: (24, [ID, SIZE, ("Reduction operation", 16777232, 16)]),
    104: (24, [ID, SIZE, PEER]),
}
KERNEL = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)"
TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, chipName TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
  nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
  globalTid INTEGER, textId INTEGER, domainId INTEGER, binaryData TEXT);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, type INTEGER, flags INTEGER,
  numEntries INTEGER, payloadSize INTEGER, alignTo INTEGER);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER NOT NULL, schemaId INTEGER NOT NULL, idx INTEGER NOT NULL,
  flags INTEGER, type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
"""


def payload(schema: int, body: bytes) -> bytes:
    return struct.pack("<QQQQ", DOMAIN, schema, len(body), 32) + body


class Capture:
    def __init__(self, path: pathlib.Path, blobs: str):
        path.unlink(missing_ok=True)
        self.db = sqlite3.connect(path)
        self.db.executescript(TABLES)
        self.blobs = blobs
        self.ids: dict[str, int] = {}
        self.truth: dict = {"groups": {}, "payload_events": 0, "message_events": 0, "bytes": 0, "schemas": {}}

    def text(self, value: str) -> int:
        if value not in self.ids:
            self.ids[value] = len(self.ids) + 1
            self.db.execute("INSERT INTO StringIds VALUES (?,?)", (self.ids[value], value))
        return self.ids[value]

    def range(self, pid: int, name: str, start: int, end: int, schema: int | None = None, body: bytes = b"",
              size: int | None = None) -> None:
        data: bytes | str | None = None
        if schema is not None and self.blobs != "none":
            raw = payload(schema, body)
            data = raw.hex().upper() if self.blobs == "hex" else raw
        registered = name.startswith("nccl")
        self.db.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,?,?,?,?)",
                        (start, end, None if registered else name, VM | pid << 24 | pid,
                         self.text(name) if registered else None, DOMAIN if registered else 0, data))
        if schema is not None:
            self.truth["payload_events"] += 1
            one = self.truth["schemas"].setdefault(str(schema), {"count": 0, "bytes": 0})
            one["count"] += 1
            one["bytes"] += size or 0
            self.truth["message_events"] += size is not None
            self.truth["bytes"] += size or 0

    def launch(self, pid: int, device: int, correlation: int, call: int, start: int, end: int) -> None:
        self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,0)",
                        (call, call + 4_000, VM | pid << 24 | pid, correlation, self.text("cudaLaunchKernelExC_v11060")))
        self.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,1,20,?,?,?,?)",
                        (start, end, device, correlation, VM | pid << 24, self.text(KERNEL),
                         self.text("ncclDevKernel_SendRecv")))

    def add(self, communicator: int, operation: str, kernel_ns: int, size: int) -> None:
        group = self.truth["groups"].setdefault(f"{communicator:#018x} {operation}",
                                                {"count": 0, "total_ns": 0, "bytes": 0})
        group["count"] += 1
        group["total_ns"] += kernel_ns
        group["bytes"] += size

    def collective(self, rank: int, step: int, at: int, name: str, size: int, kernel_ns: int) -> None:
        pid = 100 + rank
        reduces = name == "ncclAllReduce"
        body = struct.pack("<QQII", WORLD, size, 0, 0) if reduces else struct.pack("<QQ", WORLD, size)
        self.range(pid, "layer", at - 1_000, at + 60_000)
        self.range(pid, name, at, at + 20_000, 103 if reduces else 102, body, size)
        self.launch(pid, rank, step, at + 5_000, at + 100_000, at + 100_000 + kernel_ns)
        self.add(WORLD, name.removeprefix("nccl").lower(), kernel_ns, size)

    def group(self, step: int, at: int, size: int, kernel_ns: int) -> None:
        self.range(100, "ncclGroupStart", at, at + 500)
        for i, name in enumerate(("ncclSend", "ncclRecv")):
            self.range(100, name, at + 1_000 * (i + 1), at + 1_000 * (i + 1) + 500, 104,
                       struct.pack("<QQII", PAIR, size, 3 + i, 0), size)
        self.range(100, "ncclGroupEnd", at + 4_000, at + 30_000)
        self.launch(100, 0, step, at + 10_000, at + 100_000, at + 100_000 + kernel_ns)
        self.add(PAIR, "sendrecv", kernel_ns, 2 * size)


def write(path: pathlib.Path, blobs: str) -> None:
    c = Capture(path, blobs)
    for rank in (0, 1):  # schemas come again with every process
        for number, (size, fields) in SCHEMAS.items():
            c.db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (?,?,NULL,1,NULL,?,?,NULL)",
                         (DOMAIN, number, len(fields), size))
            for i, (name, kind, offset) in enumerate(fields):
                c.db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?,?,?,NULL,?,?,NULL,NULL,?)",
                             (DOMAIN, number, i, kind, name, offset))
        c.db.execute("INSERT INTO TARGET_INFO_GPU VALUES (?,?,?)", (rank, "NVIDIA H100 80GB HBM3", "GH100"))
        c.db.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?,?,?)", (rank, rank, 100 + rank))
        c.range(100 + rank, "ncclCommInitRank", 1_000, 50_000, 101, struct.pack("<QIIII", WORLD, 2, rank, rank, 0))
        for step in range(12):
            name = "ncclAllGather" if step % 4 == 3 else "ncclAllReduce"
            c.collective(rank, step + 1, 1_000_000 * (step + 1), name, (step + 1) << 20, 300_000 + 1_000 * step)
    c.db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (9,103,NULL,1,NULL,1,8,NULL)")
    c.db.execute("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (9,103,0,NULL,18,'Message size [bytes]',NULL,NULL,NULL)")
    c.range(100, "ncclCommInitRank", 60_000, 90_000, 101, struct.pack("<QIIII", PAIR, 16, 3, 0, 0))
    for step in range(5):
        c.group(50 + step, 20_000_000 + 1_000_000 * step, 4096 * (step + 1), 80_000)
    c.db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?,?)",
                     [("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_SCHEMA_VERSION", "3.25.0")])
    c.db.execute("INSERT INTO ANALYSIS_DETAILS VALUES (?,?,0,?)", (VM, 30_000_000, 30_000_000))
    c.db.commit()
    c.db.close()
    path.with_suffix(".truth.json").write_text(json.dumps(c.truth, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--hex", action="store_true", help="payloads as hexadecimal text")
    parser.add_argument("--no-blobs", action="store_true", help="the column is there and empty, as in a plain export")
    args = parser.parse_args()
    write(args.out, "none" if args.no_blobs else "hex" if args.hex else "raw")


if __name__ == "__main__":
    main()
