# Every target sets up what it needs, once, on a machine that has only Python 3.11 or newer, git and make.
# PYTHON=… chooses the interpreter, ARGS=… is handed on, PIP_* variables are honoured; CLIENTS=… is where `test-hosts` keeps
# the coding agents, VERSION=latest takes their newest versions.

.DEFAULT_GOAL := help
export CLIENTS VERSION
.PHONY: help venv demo test test-hosts picture lint type format coverage bench bench-recall serve clean FORCE

BIN := .venv/bin
READY := .venv/.stamp
BENCH_READY := .venv-bench/.stamp
MCP_MEMORY := .bench/node_modules/@modelcontextprotocol/server-memory/package.json

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(READY) ## the development environment in .venv

demo: $(READY) ## the main job on real files: save, verify, tamper, refuse, restore, serve
	@$(BIN)/python demo/demo.py $(ARGS)

test: lint type ## everything that must pass: lint, types, floors and the whole suite
	@tools/need strace
	@tools/need sqlite3
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-hosts: $(READY) ## six real coding agents from npm (about 1.6 GB, once), each driven against a scripted model
	@clients=$$($(BIN)/python -m tests.clients.install) && HOST_CLIENTS="$$clients" \
		$(BIN)/python -m pytest -n 2 -rfE tests/clients $(ARGS)

picture: $(READY) ## the terminal in docs/picture.svg, from what the commands print today
	$(BIN)/python demo/picture.py

lint: $(READY) ## ruff, its formatter, and the floors of the layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

type: $(READY) ## mypy, strict
	$(BIN)/mypy

format: $(READY) ## lay the code out, and mend what ruff can mend by itself
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

coverage: $(READY) ## the suite again, with what it did not reach
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2 $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: $(BENCH_READY) $(MCP_MEMORY) ## Indelible beside other memories, on one workload, as ratios
	@.venv-bench/bin/python bench/run.py $(ARGS)

bench-recall: $(BENCH_READY) ## recall on LoCoMo and KorQuAD, noise, contamination, speed, and beside others
	@.venv-bench/bin/python bench/recall.py $(ARGS)

serve: $(READY) ## the Memory API on this machine's loopback address
	$(BIN)/indelible serve $(ARGS)

clean: ## remove what the other targets made
	rm -rf .venv .venv-bench .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* dist

# An environment that was made in another folder (a clone that moved) is made again.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif
ifneq ($(shell cat $(BENCH_READY) 2>/dev/null),$(CURDIR))
$(BENCH_READY): FORCE
endif

$(READY): pyproject.toml tools/setup
	@tools/setup .venv --editable '.[all]' --group dev

$(BENCH_READY): pyproject.toml tools/setup
	@tools/setup .venv-bench --editable '.[all]' --group bench

# The one product here that is not Python's; where npm cannot bring it, its row is left out.
$(MCP_MEMORY):
	@npm install --loglevel=error --no-audit --no-fund --prefix .bench @modelcontextprotocol/server-memory >&2 || \
		echo "bench: npm could not install MCP server-memory, so its row is left out" >&2
