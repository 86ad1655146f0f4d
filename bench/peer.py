# SPDX-License-Identifier: MIT
"""The Python program nsys-ai 0.3.0, installed to run at its full speed.

At its best it reads captures through DuckDB's extension for SQLite files. Without that extension it falls back to
Python's sqlite3, which is slower and adds indexes to the capture; that is no fair opponent, so it is refused here.
"""

import glob
import os
import shutil
import subprocess
import sys

PACKAGES = ("nsys-ai==0.3.0", "duckdb==1.5.5", "pyarrow", "duckdb-extension-sqlite-scanner==1.5.5")
PLATFORM = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}

PROBE = """
import duckdb
db = duckdb.connect()
db.execute("LOAD sqlite_scanner")
print("duckdb", duckdb.__version__, "with sqlite_scanner")
"""


class PeerError(Exception):
    """The other program cannot be compared with; the text says why."""


class Peer:
    """An installation in `home`, made when it is not there."""

    def __init__(self, home):
        self.home = os.path.abspath(home)
        self.bin = os.path.join(self.home, "venv", "bin")
        self.env = dict(os.environ, HOME=os.path.join(self.home, "home"))
        if not os.path.exists(os.path.join(self.bin, "nsys-ai")):
            self._install()
        self._place_extension()
        probe = subprocess.run([os.path.join(self.bin, "python3"), "-c", PROBE], env=self.env, capture_output=True,
                               text=True, check=False)
        if probe.returncode != 0:
            reason = (probe.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise PeerError(f"its fast engine does not work ({reason}); its slow fallback is no fair comparison")
        self.engine = probe.stdout.strip()

    def _install(self):
        print(f"installing {', '.join(PACKAGES)}", file=sys.stderr)
        try:
            os.makedirs(self.home, exist_ok=True)
            subprocess.run([sys.executable, "-m", "venv", os.path.join(self.home, "venv")], check=True)
            subprocess.run([os.path.join(self.bin, "python3"), "-m", "pip", "install", "--quiet",
                            "--disable-pip-version-check", *PACKAGES], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise PeerError(f"could not be installed ({error})") from error

    def _place_extension(self):
        """Puts the extension where DuckDB looks for it, so that it need not be downloaded."""
        pattern = os.path.join(self.home, "venv", "lib", "python3*", "site-packages",
                               "duckdb_extension_sqlite_scanner", "extensions", "*", "sqlite_scanner.duckdb_extension")
        for found in glob.glob(pattern):
            version = os.path.basename(os.path.dirname(found))
            target = os.path.join(self.env["HOME"], ".duckdb", "extensions", version,
                                  PLATFORM.get(os.uname().machine, "unknown"))
            os.makedirs(target, exist_ok=True)
            if not os.path.exists(os.path.join(target, os.path.basename(found))):
                shutil.copy(found, target)

    def skill(self, name, capture):
        return [os.path.join(self.bin, "nsys-ai"), "skill", "run", name, capture, "--format", "json"]

    def command(self, *words):
        return [os.path.join(self.bin, "nsys-ai"), *words]


def drop_caches(folder):
    """Removes what the program left beside the capture in `folder`."""
    for path in glob.glob(os.path.join(folder, "*.nsys-cache*")):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
