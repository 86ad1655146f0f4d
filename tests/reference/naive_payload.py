# SPDX-License-Identifier: MIT
"""What NCCL's payloads say, by slow plain means: `struct` and a search through all ranges for each kernel."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict

import naive

NEEDED = {"nccl_communicator_analysis": ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
                                         "NVTX_PAYLOAD_SCHEMAS", "NVTX_PAYLOAD_SCHEMA_ENTRIES", "StringIds"),
          "nccl_payload_breakdown": ("NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMAS", "NVTX_PAYLOAD_SCHEMA_ENTRIES", "StringIds")}
FORMATS = {5: "<i", 18: "<Q", 22: "<Q"}
DECIMALS = {"nccl_communicator_analysis." + k: 3 for k in
            ("total_ms", "avg_ms", "min_ms", "max_ms", "bandwidth_gbps")} | {"peer_rank_uniformity": 3}
OPERATIONS = {"ncclAllReduce": "allreduce", "ncclAllGather": "allgather", "ncclReduceScatter": "reducescatter",
              "ncclBroadcast": "broadcast", "ncclReduce": "reduce", "ncclSend": "sendrecv", "ncclRecv": "sendrecv"}


def schemas(f: naive.File) -> dict[tuple[int, int], list[tuple[str, int, int]]]:
    """(domain, schema) -> fields (name, type, offset); the rows repeat once per process."""
    out: dict[tuple[int, int], dict[int, tuple[str, int, int]]] = defaultdict(dict)
    for domain, number in f.db.execute("SELECT domainId, schemaId FROM NVTX_PAYLOAD_SCHEMAS"):
        out[domain, number] = {}
    for domain, number, i, name, kind, offset in f.db.execute(
            "SELECT domainId, schemaId, idx, name, type, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES"):
        if (domain, number) in out:
            out[domain, number].setdefault(i, (name, kind, offset or 0))
    return {key: [fields[i] for i in sorted(fields)] for key, fields in out.items()}


def decode(known: dict, blob: bytes | str) -> tuple[tuple[int, int], dict[str, int]] | None:
    raw = bytes.fromhex(blob) if isinstance(blob, str) else blob
    if len(raw) < 32:
        return None
    domain, number, size, at = struct.unpack_from("<QQQQ", raw)
    body = raw[at:at + size]
    if (domain, number) not in known or at < 32 or len(body) != size:
        return None
    fields = {}
    for name, kind, offset in known[domain, number]:
        form = FORMATS.get(kind, "<I")
        if offset + struct.calcsize(form) <= size:
            fields[name] = struct.unpack_from(form, body, offset)[0]
    return (domain, number), fields


def events(f: naive.File) -> list[tuple[int, int, int, str, object]]:
    """(start, end, thread, text, payload) of push-pop ranges of NCCL."""
    text = "COALESCE(n.text, s.value)"
    return f.db.execute(f"SELECT n.start, n.end, n.globalTid, {text}, n.binaryData FROM NVTX_EVENTS n "
                        f"LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType = 59 AND {text} GLOB 'nccl*'"
                        ).fetchall()


def abstains(f: naive.File, skill: str) -> list[dict] | None:
    missing = [t for t in NEEDED[skill] if t not in f.tables]
    if missing:
        return [{"_abstained": True, "missing_tables": missing}]
    if not any(e[4] for e in events(f)):
        return [{"_abstained": True, "schemas_present": len(schemas(f)), "binary_data_rows": 0}]
    return None


def percentile(values: list[int], share: float) -> int:
    at = share * (len(values) - 1)
    low = int(at)
    return values[-1] if low + 1 >= len(values) else int(values[low] + (at - low) * (values[low + 1] - values[low]))


def nccl_payload_breakdown(f: naive.File, params: dict, window: naive.Span | None) -> list[dict]:
    if refusal := abstains(f, "nccl_payload_breakdown"):
        return refusal
    known, skipped = schemas(f), 0
    found: dict[tuple[int, int], list[dict]] = defaultdict(list)
    for start, end, _, _, blob in events(f):
        if blob is None or (window and not (end >= window[0] and start <= window[1])):
            continue
        one = decode(known, blob)
        if one is None:
            skipped += 1
        else:
            found[one[0]].append(one[1])
    rows, every = [], [fields for group in found.values() for fields in group]
    for domain, number in sorted(found, key=lambda k: (k[1], k[0])):
        group, names = found[domain, number], [n for n, _, _ in known[domain, number]]
        sizes = sorted(x["Message size [bytes]"] for x in group if "Message size [bytes]" in x)
        peers = Counter(x["Peer rank"] for x in group if "Peer rank" in x)
        kind = "init" if "No. of ranks" in names else "group_marker" if "Message size [bytes]" not in names else \
            "p2p" if "Peer rank" in names else "collective"
        row = {"schema_id": number, "category": kind, "field_set": names, "count": len(group),
               "distinct_communicators": len({x["NCCL communicator ID"] for x in group})}
        if peers:
            mean = sum(peers.values()) / len(peers)
            deviation = (sum((n - mean) ** 2 for n in peers.values()) / len(peers)) ** 0.5
            row |= {"distinct_peer_ranks": len(peers), "peer_rank_uniformity": max(0.0, 1 - deviation / mean),
                    "peer_rank_distribution": {str(k): n for k, n in sorted(peers.items())}}
        if sizes:
            row |= {"msg_size_bytes_total": sum(sizes), "msg_size_bytes_min": sizes[0],
                    "msg_size_bytes_p50": percentile(sizes, 0.5), "msg_size_bytes_p99": percentile(sizes, 0.99),
                    "msg_size_bytes_max": sizes[-1]}
        rows.append(row)
    total = [x["Message size [bytes]"] for x in every if "Message size [bytes]" in x]
    return [{"_summary": True, "total_payload_events": len(every), "message_carrying_events": len(total),
             "skipped_events": skipped, "total_bytes_all": sum(total), "total_gib_all": sum(total) / 2**30,
             "distinct_schemas": len(found),
             "total_distinct_communicators": len({x["NCCL communicator ID"] for x in every})}, *rows]


def operations(f: naive.File, known: dict) -> dict[int, list[tuple[int, int, list]]]:
    """By thread: (start, end, [(operation, payload), …]) of calls outside of groups and of the ends of groups."""
    out: dict[int, list[tuple[int, int, list]]] = defaultdict(list)
    group: dict[int, list | None] = defaultdict(lambda: None)
    for start, end, tid, text, blob in sorted(events(f), key=lambda e: e[:2]):
        payload = decode(known, blob) if blob else None
        if text == "ncclGroupStart":
            group[tid] = []
        elif text == "ncclGroupEnd":
            out[tid].append((start, end, group[tid] or []))
            group[tid] = None
        elif text in OPERATIONS:
            one = (OPERATIONS[text], payload[1] if payload else {})
            if group[tid] is not None:
                group[tid].append(one)
            out[tid].append((start, end, [one]))
    return out


def nccl_communicator_analysis(f: naive.File, params: dict, window: naive.Span | None) -> list[dict]:
    """The figures that are sums; without the diagnostic row."""
    if refusal := abstains(f, "nccl_communicator_analysis"):
        return refusal
    by_thread = operations(f, schemas(f))
    groups: dict[tuple[int, str], dict] = defaultdict(lambda: {"ns": [], "calls": {}, "devices": set()})
    for k in f.kernels:
        call = f.launch(k)
        if not naive.is_nccl(k) or call is None or not naive.touches(k, window) or \
                params.get("device", k.device) != k.device:
            continue
        around = [o for o in by_thread[call.tid] if o[0] <= call.start and o[1] >= call.end and o[2]]
        if not around:
            continue
        start, end, ops = min(around, key=lambda o: (o[1] - o[0], -o[0]))
        keys = {(fields.get("NCCL communicator ID"), operation) for operation, fields in ops}
        if len(keys) == 1 and None not in next(iter(keys)):
            one = groups[keys.pop()]
            one["ns"].append(k.ns)
            one["devices"].add(k.device)
            one["calls"][call.tid, start, end] = [fields.get("Message size [bytes]") for _, fields in ops]
    rows = []
    for (communicator, operation), one in groups.items():
        sizes = [s for call in one["calls"].values() for s in call]
        total, ns = None if None in sizes else sum(sizes), sum(one["ns"])
        rows.append({"communicator_id": communicator, "communicator_hex": f"{communicator:#018x}",
                     "collective_type": operation, "count": len(one["ns"]), "total_ms": ns / naive.MS,
                     "avg_ms": ns / len(one["ns"]) / naive.MS, "min_ms": min(one["ns"]) / naive.MS,
                     "max_ms": max(one["ns"]) / naive.MS, "total_bytes": total,
                     "bandwidth_gbps": total / ns if total else None,
                     "devices": ",".join(map(str, sorted(one["devices"]))), "total_ns": ns})
    return sorted(rows, key=lambda r: (-r["total_ns"], r["communicator_hex"], r["collective_type"]))


ANSWERS = {"nccl_communicator_analysis": nccl_communicator_analysis, "nccl_payload_breakdown": nccl_payload_breakdown}
