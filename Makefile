# Everything runs in .venv, which the first target that needs it sets up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run test lint docs tables results-rules clean
help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(VENV)/ready  ## train a small model on the bundled sample and annotate text with it
	$(BIN)/spanproto demo

test: $(VENV)/ready  ## run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/ready  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/ready-docs  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

tables: $(VENV)/ready  ## write results/README.md from the measured files
	$(BIN)/python benchmarks/tables.py

results-rules: $(VENV)/ready  ## measure both candidate rules: make results-rules DATA=... ENCODER=...
	SPANPROTO=$(BIN)/spanproto benchmarks/crossdomain_rules.sh $(DATA) $(ENCODER) results/crossdomain-1shot-rules

clean:  ## remove what the other targets have made
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "spanproto needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/ready-docs: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@
