#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows the main skills on a capture: a made-up one with known faults, or your own.
#
#   scripts/demo.sh [PROFILE]
set -euo pipefail

root_dir="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
program="$root_dir/build/release/nsys-ai"
profile="${1:-}"

bold="" plain=""
if [[ -t 1 && -z "${NO_COLOR:-}" && "${TERM:-dumb}" != dumb ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
fi

heading() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# ask QUESTION ARGUMENT...: the question, the command that answers it, its answer.
ask() {
  heading "$1"
  shift
  printf '$ nsys-ai %s\n\n' "$*"
  "$program" "$@"
}

if [[ ! -x "$program" ]]; then
  echo "build/release/nsys-ai does not exist; run: make build" >&2
  exit 1
fi

if [[ -z "$profile" ]]; then
  cd "$root_dir"
  profile="build/demo/training_2gpu.sqlite"
  mkdir -p build/demo
  python3 tests/tools/make_synthetic_profile.py "$profile" \
    --devices 2 --iterations 6 --straggler 1 > build/demo/make_profile.log
  heading "A training loop on two GPUs, six iterations, with planted faults"
  cat << 'END'
  - GPU 1 is a straggler: its compute takes 35 % longer, so GPU 0 waits in every collective
  - CUDA modules are loaded lazily in the first iteration
  - one iteration stops for a garbage collection that calls cudaFree and cudaMalloc
  - one iteration waits for a slow data loader
  - every iteration has a blocking device-to-host copy and an AllGather that hides behind nothing
END
elif [[ ! -e "$profile" ]]; then
  echo "no such file: $profile" >&2
  exit 1
fi

ask "How is this run doing, all in all?" skill run profile_health_manifest "$profile"
ask "What costs time, and what to do about it?" skill run root_cause_matcher "$profile"
ask "Where does GPU time go?" skill run top_kernels "$profile" -p limit=6
if [[ -z "${1:-}" ]]; then
  ask "How long does an iteration take? (3 begins late for the collection, 5 for the loader)" \
    skill run iteration_timing "$profile" -p marker=iteration_
  ask "What ran in the longest gaps?" skill run gpu_idle_gaps "$profile" --trim 1001.046 1001.105 -p limit=5
  ask "Is communication hidden behind compute on the fast GPU?" skill run overlap_breakdown "$profile"
  ask "And on the straggler? (it waits for nobody, so little is exposed)" \
    skill run overlap_breakdown "$profile" -p device=1
else
  ask "When is the GPU idle, and what happened meanwhile?" skill run gpu_idle_gaps "$profile" -p limit=6
  ask "Is communication hidden behind compute?" skill run overlap_breakdown "$profile"
fi
ask "How idle is each GPU in all?" skill run pipeline_bubble_metrics "$profile"

heading "Next"
cat << 'END'
  make demo PROFILE=your.sqlite              the same on your own capture
                                             (nsys export --type sqlite your.nsys-rep)
  build/release/nsys-ai skill list           all questions it can answer
  build/release/nsys-ai skill run NAME FILE --format json
END
