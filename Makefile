# The commands of the project. The build itself is CMakeLists.txt and CMakePresets.json.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
# SETUP=no: install nothing.
SETUP ?= yes
SETUP_FOR = $(if $(filter yes,$(SETUP)),scripts/setup.sh,: without setup:)

# build,PRESET[,OPTIONS]: configure and build. tests,PRESET: run the tests.
build = cmake --preset $(1) $(2) && cmake --build --preset $(1) -j$(JOBS)
# Some tests wait (for a server, a lock), so one more test than cores runs at a time.
tests = ctest --preset $(1) -j$(shell expr $(JOBS) + 1) $(2)

MAKEFLAGS += --no-print-directory
.PHONY: all help setup demo test test-more test-python wheel debug asan clang lint format fuzz cross portable install
.PHONY: clean
all: ; $(call build,release)

help:
	@echo 'make            build/sfumato and the library, optimised'
	@echo 'make demo       install missing packages, build, run the demonstration'
	@echo 'make test       install missing packages, build, run the tests: optimised, then with sanitizers'
	@echo 'make lint       install missing packages, check sources and documents: format, spelling, clang-tidy, cppcheck'
	@echo 'make test-more  tests that need long or large packages: Optuna, a browser, LaTeX, Slurm, clang, the other architecture'
	@echo 'make install    into PREFIX ($(PREFIX)), under DESTDIR'
	@echo 'make portable   build-portable/sfumato, which needs the C library only'
	@echo 'make wheel      build-python/dist/*.whl, the Python package; make test-python: its tests alone'
	@echo 'make debug, make asan, make clang    other builds, in build-debug, build-asan, build-clang'
	@echo 'make format     format the sources'
	@echo 'make fuzz       each fuzz target for FUZZ_SECONDS ($(FUZZ_SECONDS)), two at once'
	@echo 'make cross      build for the other architecture, run the tests in an emulator'
	@echo 'make setup, make clean               install missing packages; remove all builds'
	@echo 'SETUP=no installs nothing; JOBS=$(JOBS) commands run at once.'

setup: ; scripts/setup.sh test && scripts/setup.sh lint

demo:
	$(SETUP_FOR) build
	$(call build,release)
	scripts/demo.sh

test:
	$(SETUP_FOR) test
	$(call build,release,-DSFUMATO_TESTS=ON)
	$(call tests,release,-LE more)
	$(call build,asan)
	$(call tests,asan,-LE more)
	scripts/python_tests.sh

test-python:
	$(SETUP_FOR) test
	scripts/python_tests.sh

wheel:
	$(SETUP_FOR) wheel
	scripts/wheel.sh

lint:
	$(SETUP_FOR) lint
	scripts/lint.sh

test-more:
	$(SETUP_FOR) more
	$(call build,release,-DSFUMATO_TESTS=ON)
	$(call tests,release,-L more)
	$(call build,clang)
	$(call tests,clang)
	scripts/python_tests.sh --torch
	scripts/lint.sh --deep
	scripts/cross.sh

debug asan clang: ; $(call build,$@)
format: ; scripts/lint.sh --format

fuzz:
	$(SETUP_FOR) fuzz
	$(call build,fuzz)
	scripts/fuzz.sh $(FUZZ_SECONDS)

cross:
	$(SETUP_FOR) cross
	scripts/cross.sh

portable:
	$(call build,portable)
	@scripts/check_portable.sh build-portable/sfumato

install: all ; cmake --install build --prefix $(PREFIX)

clean: ; rm -rf build build-* demo
