#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Converts reports of Nsight Systems to Perfetto traces. The last line printed is the path of the
# (last) JSON trace, to be opened at https://ui.perfetto.dev.
#
#   scripts/convert_nsys.sh REPORT.nsys-rep...
set -euo pipefail

words="usage: convert_nsys.sh REPORT.nsys-rep... (or .qdrep)"
usage() {
  echo "$words" >&2
  exit 2
}

[[ $# -gt 0 ]] || usage
reports=()
for report in "$@"; do
  case "$report" in
    -h | --help)
      echo "$words"
      exit 0
      ;;
    -*) usage ;;
    *.nsys-rep | *.qdrep) reports+=("$report") ;;
    *)
      echo "convert_nsys.sh: $report is no report (.nsys-rep, .qdrep)" >&2
      usage
      ;;
  esac
done

# The program of this source tree, the one installed beside this script, or the one in PATH.
here="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"
program=""
for candidate in "$here/../build/release/nsys-ai" "$here/nsys-ai" "$here/../bin/nsys-ai" \
  "$here/../../../bin/nsys-ai"; do
  if [[ -x "$candidate" && -f "$candidate" ]]; then
    program="$candidate"
    break
  fi
done
if [[ -z "$program" ]]; then
  program="$(command -v nsys-ai)" || {
    echo "convert_nsys.sh: there is no nsys-ai: neither beside this script nor in PATH;" \
      "build it with: make build" >&2
    exit 1
  }
fi

exec "$program" convert -- "${reports[@]}"
