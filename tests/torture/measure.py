# SPDX-License-Identifier: MIT
"""One run of the program, with what it cost."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from dataclasses import dataclass

import harness


@dataclass(frozen=True)
class Measured:
    code: int  # negative: ended by that signal
    out: bytes
    err: bytes
    cpu_seconds: float
    peak_bytes: int


def measured(*args: object, cpu_seconds: int, binary: str = "", env: dict[str, str] | None = None) -> Measured:
    """Runs the program; more CPU time than allowed ends it by SIGXCPU. A sanitizer's report raises."""
    command = [binary or harness.BINARY, *(str(a) for a in args)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(command, env=harness.RUN_ENVIRONMENT | (env or {}), stdin=subprocess.DEVNULL,
                              stdout=out, stderr=err) as process:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        done = Measured(process.returncode, out.read(), err.read(), usage.ru_utime + usage.ru_stime,
                        usage.ru_maxrss * 1024)
    for text in harness.SANITIZER_TEXTS:
        if text in done.err:
            raise AssertionError(f"{' '.join(command)}\n{done.err.decode(errors='replace')}")
    return done
