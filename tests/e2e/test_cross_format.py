#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same capture as SQLite file and as folder of Parquet tables gives the same bytes."""

from __future__ import annotations

import harness
from harness import edge, parquetdir, run, run_all, synthetic

harness.require_pyarrow()

VARIANTS = (("--types", "native"), ("--types", "int64", "--strings", "large"),
            ("--types", "native", "--strings", "dict", "--compression", "zstd"))
EDGES = ("hostile_names", "names_only_by_id", "negative_times", "unsigned_patterns", "bad_rows", "all_event_types",
         "minimal_export",
         "versioned_tables", "permuted_columns", "host_waits", "dangling_string_ids", "ten_equal_totals",
         "empty_kernel_table", "strings_only", "whole_graphs_only", "big_and_zero_copies", "equal_correlation_ids")


class CrossFormat(harness.Case):
    def compare(self, capture, variants, forms=("jsonl", "text"), window=()):
        arguments = window or ("-p", "marker=iteration_")
        for variant in variants:
            folder = parquetdir(capture, *variant, "--empty", "keep")
            for form in forms:
                of_file, of_folder = (run_all(p, *arguments, form=form) for p in (capture, folder))
                self.assertEqual(of_file.keys(), of_folder.keys())
                for skill, said in of_file.items():
                    with self.subTest(capture=capture.name, skill=skill, variant=variant, form=form, window=window):
                        self.assertEqual(said.decode(), of_folder[skill].decode())

    def test_warnings_too(self):
        capture = edge("bad_rows")
        folder = parquetdir(capture, *VARIANTS[0], "--empty", "keep")
        of_file, of_folder = (run("skill", "run-all", p) for p in (capture, folder))
        self.assertEqual(of_file.err, of_folder.err)

    def test_generated_captures(self):
        self.compare(synthetic(0, 2, "node")[0], VARIANTS)
        self.compare(synthetic(1, 2, "graph")[0], VARIANTS[:1])

    def test_odd_captures(self):
        for name in EDGES:
            self.compare(edge(name), VARIANTS[:1], ("jsonl",))

    def test_small_row_groups(self):
        self.compare(synthetic(0, 2, "node")[0], (("--row-group", "100"),), ("jsonl",))

    def test_real_captures(self):
        captures = harness.corpus_captures()
        if not captures:
            self.skipTest("the reference corpus is not here")
        for capture in captures:
            self.compare(capture, VARIANTS[:1], ("jsonl",))

    def test_windows(self):
        capture, truth = synthetic(0, 2, "node")
        first = truth["devices"]["0"]["first_kernel_ns"] / 1e9
        for window in (("--trim", first + 0.01, first + 0.05), ("--iteration", 2, "--marker", "iteration_")):
            self.compare(capture, VARIANTS[:1], ("jsonl",), window)


if __name__ == "__main__":
    harness.main()
