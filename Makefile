# The two commands of the README do all the set-up on a machine with Python 3.11, pip and make.
PYTHON ?= python3
.DEFAULT_GOAL := help
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test check test-slow test-web test-extras docs results benchmarks faults wheel hooks clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/installed ## solve unseen levels with the shipped models
	$(BIN)/pixelplan demo --out demo

test: .venv/installed-dev check ## lint, types and tests: everything that needs no browser, ray or sheeprl
	$(BIN)/python -m pytest -n 2

check: .venv/installed-dev ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-slow: .venv/installed-dev ## the tests that take minutes
	$(BIN)/python -m pytest -m slow

test-web: .venv/installed-web ## the page in a real browser (Debian's chromium)
	$(BIN)/python -m pytest -m browser tests/web

test-extras: .venv-extras/installed ## what needs ray, or sheeprl, which wants an older pillow: in a place of their own
	.venv-extras/bin/python -m pytest -m extras

docs: .venv/installed-dev ## the documentation as a site in site/; fails on a broken link
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

results: .venv/installed-dev ## README's and docs' numbers, from the records in results/
	$(BIN)/python docs/make_pages.py
	$(BIN)/python docs/make_results.py
	$(BIN)/python docs/make_agreement.py
	$(BIN)/python docs/make_pictures.py

benchmarks: .venv/installed-dev ## ratios, each measured side by side in one run
	for file in benchmarks/environments.py benchmarks/collect_memory.py benchmarks/train_memory.py benchmarks/search_scaling.py benchmarks/search_nodes.py benchmarks/planning.py benchmarks/board_size.py; do $(BIN)/python $$file || exit 1; done

faults: .venv/installed-dev ## kills, full disks, damaged inputs, bombs, bad environments: half an hour
	$(BIN)/python benchmarks/faults.py --json results/benchmark-faults.json

wheel: .venv/installed-dev ## the package as a wheel in dist/
	$(BIN)/python -m build --wheel

hooks: .venv/installed-dev ## ruff and mypy before every commit
	$(BIN)/pre-commit install

clean: ## remove everything that make has made
	rm -rf .venv .venv-extras demo dist build site

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) torch --editable '.[procgen]'
	touch $@

.venv/installed-dev: .venv/installed
	$(PIP) --editable '.[procgen,baselines,web,onnx,docs,dev]'
	touch $@

.venv-extras/installed: pyproject.toml constraints.txt
	test -x .venv-extras/bin/python || $(PYTHON) -m venv .venv-extras
	$(PIP:$(BIN)%=.venv-extras/bin%) torch --editable '.[procgen,baselines,web,dev,dreamer,cluster]'
	touch $@

.venv/installed-web: .venv/installed-dev
	$(PIP) --editable '.[browser]'
	command -v chromium || (apt-get update -qq && apt-get install -y -qq chromium)
	touch $@
