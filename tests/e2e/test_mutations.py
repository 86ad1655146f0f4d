#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sample of captures with changed or missing bytes; tests/torture/run.py has many more."""

from __future__ import annotations

import harness
import mutations


class Mutations(harness.Case):
    def test_a_sample(self):
        with harness.scratch() as folder:
            seen = mutations.Mutations(mutations.captures(), folder, seed=1).run(60)
        self.assertGreater(seen["answer"], 0, seen)
        self.assertGreater(seen["error"], 0, seen)


if __name__ == "__main__":
    harness.main()
