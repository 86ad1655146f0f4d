#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Communicators and message sizes from NCCL's payloads: exact, the same in every form of export, refused when absent."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import harness
from harness import data, made_once, parquetdir, rows, run_skill, shows, summary

SKILLS = ("nccl_communicator_analysis", "nccl_payload_breakdown", "nccl_breakdown")
LARGEST = 900  # NVLink of an H100, GB/s


def capture(*options: str) -> tuple[pathlib.Path, dict]:
    def make(path: str) -> None:
        subprocess.run([sys.executable, str(harness.TOOLS / "nccl_payload_capture.py"), path, *options], check=True)

    path = made_once(f"nccl_payload{''.join(options).replace('--', '_')}.sqlite", make)
    return path, json.loads(path.with_suffix(".truth.json").read_text())


class Payloads(harness.Case):
    def test_communicators(self):
        path, truth = capture()
        answer = rows("nccl_communicator_analysis", path)
        got = {f"{r['communicator_hex']} {r['collective_type']}": r for r in answer}
        self.assertEqual(set(got), set(truth["groups"]))
        self.assertEqual([r["total_ns"] for r in answer], sorted((r["total_ns"] for r in answer), reverse=True))
        for key, wanted in truth["groups"].items():
            row = got[key]
            self.assertEqual(row["communicator_id"], int(key.split()[0], 16))
            self.assertEqual((row["count"], row["total_ns"], row["total_bytes"]),
                             (wanted["count"], wanted["total_ns"], wanted["bytes"]), key)
            self.assert_ms(row["total_ms"], wanted["total_ns"], 3)
            rate = wanted["bytes"] / wanted["total_ns"]
            self.assertTrue(shows(row["bandwidth_gbps"], rate, 3))
            self.assertTrue(shows(row["efficiency_pct"], 100 * rate / LARGEST, 1))
        pair = next(r for r in answer if r["collective_type"] == "sendrecv")
        # 16 ranks, of which the capture holds one; the world of two is not all there is.
        self.assertEqual((pair["num_ranks"], pair["inferred_dimension"], pair["devices"]), (16, "unknown", "0"))
        world = next(r for r in answer if r["collective_type"] == "allreduce")
        self.assertEqual((world["num_ranks"], world["inferred_dimension"], world["devices"], world["stream_count"]),
                         (2, "subgroup_parallelism(2)", "0,1", 2))

    def test_one_device(self):
        path, truth = capture()
        halves = [rows("nccl_communicator_analysis", path, "-p", f"device={d}") for d in (0, 1)]
        for key, wanted in truth["groups"].items():
            found = [r for half in halves for r in half if f"{r['communicator_hex']} {r['collective_type']}" == key]
            self.assertEqual(sum(r["total_ns"] for r in found), wanted["total_ns"])
            self.assertEqual(sum(r["total_bytes"] for r in found), wanted["bytes"])

    def test_payloads_by_schema(self):
        path, truth = capture()
        answer = rows("nccl_payload_breakdown", path)
        total = summary(answer)
        self.assertEqual((total["total_payload_events"], total["message_carrying_events"], total["skipped_events"],
                          total["total_bytes_all"], total["total_distinct_communicators"]),
                         (truth["payload_events"], truth["message_events"], 0, truth["bytes"], 2))
        got = {str(r["schema_id"]): r for r in data(answer)}
        self.assertEqual(list(got), sorted(truth["schemas"]))
        for schema, wanted in truth["schemas"].items():
            self.assertEqual(got[schema]["count"], wanted["count"])
            self.assertEqual(got[schema].get("msg_size_bytes_total", 0), wanted["bytes"])
        self.assertEqual(got["104"]["peer_rank_distribution"], {"3": 5, "4": 5})
        self.assertEqual(got["104"]["peer_rank_uniformity"], 1.0)

    def test_operations_of_kernels_named_after_another(self):
        path, truth = capture()
        for device in (0, 1):
            got = {r["type"]: r for r in rows("nccl_breakdown", path, "-p", f"device={device}")}
            self.assertEqual(got["allreduce"]["count"], 9)
            self.assertEqual(got["allgather"]["count"], 3)
            self.assertEqual({r["type_source"] for r in got.values()}, {"nvtx"})
        self.assertNotIn("sendrecv", got)  # of device 1

    def test_every_form_of_export_gives_the_same(self):
        plain, _ = capture()
        forms = [capture("--hex")[0]]
        try:
            import pyarrow  # noqa: F401
            forms += [parquetdir(plain), parquetdir(plain, "--row-group", "10"), parquetdir(forms[0]), parquetdir(plain, "--strings", "large")]
        except ImportError:
            pass
        for skill in SKILLS:
            wanted = run_skill(skill, plain).out
            for form in forms:
                got = run_skill(skill, form)
                self.assertEqual((got.code, got.out), (0, wanted), (skill, form))

    def test_without_blobs_it_says_how_to_export_them(self):
        path, _ = capture("--no-blobs")
        for skill in SKILLS[:2]:
            row = self.assert_abstains(rows(skill, path), skill)
            self.assertIn("--include-blobs=true", row["reason"])
            self.assertEqual(row["binary_data_rows"], 0)
        self.assertEqual({r["type"] for r in rows("nccl_breakdown", path)}, {"allreduce", "allgather", "sendrecv"})


if __name__ == "__main__":
    harness.main()
