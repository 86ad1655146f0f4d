#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same capture as SQLite file and as folder of Parquet tables gives the same bytes."""

from __future__ import annotations

import harness
from harness import edge, parquetdir, run, synthetic

harness.require_pyarrow()

VARIANTS = (("--types", "native"), ("--types", "int64", "--strings", "large"),
            ("--types", "native", "--strings", "dict", "--compression", "zstd"))
EDGES = ("hostile_names", "names_only_by_id", "negative_times", "unsigned_patterns", "bad_rows", "all_event_types",
         "minimal_export",
         "versioned_tables", "permuted_columns", "host_waits", "dangling_string_ids", "ten_equal_totals",
         "empty_kernel_table", "strings_only", "whole_graphs_only", "big_and_zero_copies", "equal_correlation_ids")


class CrossFormat(harness.Case):
    def compare(self, capture, variants, formats=("json", "text")):
        for variant in variants:
            folder = parquetdir(capture, *variant, "--empty", "keep")
            for skill in harness.skills():
                for form in formats:
                    with self.subTest(capture=capture.name, skill=skill, variant=variant, form=form):
                        arguments = ("--format", form,
                                     *(("-p", "marker=iteration_") if skill == "iteration_timing" else ()))
                        of_file = run("skill", "run", skill, capture, *arguments)
                        of_folder = run("skill", "run", skill, folder, *arguments)
                        self.assertEqual(of_file.code, 0, of_file.err)
                        self.assertEqual((of_folder.code, of_folder.err), (0, of_file.err))
                        self.assertEqual(of_file.out.decode(), of_folder.out.decode())

    def test_generated_captures(self):
        self.compare(synthetic(0, 2, "node")[0], VARIANTS)
        self.compare(synthetic(1, 2, "graph")[0], VARIANTS[:1])

    def test_odd_captures(self):
        for name in EDGES:
            self.compare(edge(name), VARIANTS[:1], ("json",))

    def test_small_row_groups(self):
        self.compare(synthetic(0, 2, "node")[0], (("--row-group", "100"),), ("json",))

    def test_real_captures(self):
        captures = harness.corpus_captures()
        if not captures:
            self.skipTest("the reference corpus is not here")
        for capture in captures:
            self.compare(capture, VARIANTS[:1], ("json",))

    def test_windows(self):
        capture, truth = synthetic(0, 2, "node")
        folder = parquetdir(capture, *VARIANTS[0], "--empty", "keep")
        first = truth["devices"]["0"]["first_kernel_ns"] / 1e9
        for skill in harness.skills():
            for window in (("--trim", first + 0.01, first + 0.05), ("--iteration", 2, "--marker", "iteration_")):
                with self.subTest(skill=skill, window=window):
                    a, b = (harness.run_skill(skill, p, *window) for p in (capture, folder))
                    self.assertEqual((a.code, b.code), (0, 0), (a.err, b.err))
                    self.assertEqual(a.out.decode(), b.out.decode())


if __name__ == "__main__":
    harness.main()
