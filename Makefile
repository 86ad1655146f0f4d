# SPDX-License-Identifier: MIT
# Front door of the project; `make` alone lists the targets.
JOBS ?= $(shell n=$$(nproc); [ $$n -gt 16 ] && n=16; echo $$n)
PREFIX ?= /usr/local
PROFILE ?=

.DEFAULT_GOAL := help
.PHONY: help demo build test torture format lint bench install clean

help:  ## list the targets
	@echo "make demo [PROFILE=capture.sqlite]  build, then show the main skills on a capture"
	@echo "make build                          optimised program: build/release/nsys-ai"
	@echo "make test                           build debug (sanitizers) and release, run all tests"
	@echo "make torture [MINUTES=30]           fuzzers, corrupted captures, races, kills; hours"
	@echo "make format                         rewrite the sources with clang-format 19"
	@echo "make lint                           clang-format and clang-tidy 19; a warning is an error"
	@echo "make bench                          benchmarks of the release build"
	@echo "make install [PREFIX=/usr/local]    install the release build"
	@echo "make clean                          remove the builds; fetched dependencies stay"

build:
	@scripts/install_dependencies.sh
	@mkdir -p build
	@cmake --preset release > build/release-configure.log || { cat build/release-configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target nsys-ai

demo: build
	@scripts/demo.sh $(if $(PROFILE),"$(PROFILE)")

# One ctest run over both builds, so there is one summary and one verdict.
test:
	@scripts/install_dependencies.sh --tests
	cmake --preset debug
	cmake --preset release
	cmake --build --preset debug -j $(JOBS)
	cmake --build --preset release -j $(JOBS)
	@printf 'subdirs(debug)\nsubdirs(release)\n' > build/CTestTestfile.cmake
	ctest --test-dir build --output-on-failure --no-label-summary --no-tests=error --parallel $(JOBS)

# Tests that take hours: MINUTES for each fuzz target, the rest in proportion.
MINUTES ?= 30
torture:
	@scripts/install_dependencies.sh --tests --fuzz
	cmake --preset debug
	cmake --preset release
	cmake --preset fuzz
	cmake --build --preset debug -j $(JOBS) --target nsys-ai
	cmake --build --preset release -j $(JOBS) --target nsys-ai
	cmake --build --preset fuzz -j $(JOBS)
	build/venv/bin/python3 tests/torture/run.py --minutes $(MINUTES)

SOURCES = find $(wildcard src tests bench) -name '*.cc' -o -name '*.h'
LINTED = find src -name '*.cc' ! -name '*_test.cc'

format:
	@scripts/install_dependencies.sh --lint
	$(SOURCES) | xargs -r clang-format-19 -i

# Test sources are formatted but not analysed: the macros of GoogleTest drown the checks.
lint:
	@scripts/install_dependencies.sh --lint
	$(SOURCES) | xargs -r clang-format-19 --dry-run -Werror
	cmake --preset lint
	$(LINTED) | xargs -r -P $(JOBS) -n 2 clang-tidy-19 -p build/lint --quiet

bench: build
	@cmake --build --preset release -j $(JOBS) --target benchmarks
	@if [ -e bench/run.py ]; then python3 bench/run.py; else \
	  for program in build/release/bench-*; do [ ! -x "$$program" ] || "$$program"; done; fi

install: build
	cmake --install build/release --prefix "$(PREFIX)"

clean:
	rm -rf build/release build/debug build/tsan build/fuzz build/lint build/demo
