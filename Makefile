# The house's commands. Each is safe as the first one on a fresh machine: `setup` runs by itself when needed.

VENV := .venv
BIN := $(VENV)/bin
# Empty: the first that tools/find-python finds. Another: `make setup PYTHON=/usr/bin/python3.12`.
PYTHON ?=
# More for pytest: `make test ARGS='-k cycle -x'`.
ARGS ?=
# `no` leaves native/, the rules in Rust, unbuilt even where cargo is.
NATIVE ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test check test-all bench docs fix lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.setup $(VENV)/.assets $(if $(filter no,$(NATIVE)),,$(VENV)/.native) ## .venv with every extra and tool, as locked

$(VENV)/.setup: requirements/dev.txt pyproject.toml tools/make-venv
	@tools/make-venv $(VENV) "$(PYTHON)"
	@touch $@

$(VENV)/.native: tools/install-native $(VENV)/.setup $(shell find native -name target -prune -o \( -name '*.rs' -o -name '*.toml' \) -print)
	@tools/install-native $(BIN) $@

$(VENV)/.assets: tools/console/package-lock.json tools/console-assets $(VENV)/.setup
	@tools/console-assets && touch $@ || true

$(VENV)/.demo: requirements/demo.txt $(VENV)/.setup
	@tools/install-model $(BIN)/python && touch $@ || true

$(VENV)/.servers: tools/install-servers $(VENV)/.setup
	@tools/install-servers && touch $@ || true

demo: setup $(VENV)/.demo ## the product at work: a real loop is seen, cut, counted, alerted
	@if [ -t 1 ]; then $(BIN)/loopwatch demo; else $(BIN)/loopwatch demo --probe; fi

test: setup $(VENV)/.demo $(VENV)/.servers ## the tests and their coverage
	@tools/test $(BIN) $(ARGS)

check: setup ## what must pass before a commit: lint, types, layers, docs, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/deptry src --no-ansi
	$(BIN)/python tools/check_sizes.py
	@tools/check-native
	@$(MAKE) --no-print-directory docs test

test-all: setup $(VENV)/.servers ## the tests on Python 3.11, 3.12 and 3.13, and the slow ones
	@tools/test-all 3.11 3.12 3.13

bench: setup $(VENV)/.servers ## the ratios of tests/bench
	$(BIN)/pytest tests/bench --benchmark-enable -s $(ARGS)

docs: setup ## the documentation, into site/; a warning is an error
	$(BIN)/zensical build --clean --strict

fix: setup ## what ruff can repair and format by itself
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: setup ## requirements/ anew from pyproject.toml; `make lock ARGS=--upgrade` for newer versions
	@tools/lock $(BIN)/uv $(ARGS)

clean: ## everything made, but for the environments (.venv*)
	rm -rf build dist site native/target .cache .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find src tests tools examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
