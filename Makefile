# Everything runs in .venv, which the first target that needs it sets up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run test lint docs tables paper-quick model results-transfer clean data-given
.PHONY: results-crossdomain results-fewnerd results-baselines results-choices results-adaptation
.PHONY: doubts partly-labelled
help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

run: $(VENV)/ready  ## learn from a few bundled examples and annotate a page of text
	$(BIN)/spanproto demo

test: $(VENV)/ready  ## run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/ready  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/ready-docs  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

tables: $(VENV)/ready  ## write the pages of results/ from the measured files
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/spanproto_tables.py
	$(BIN)/python benchmarks/systems.py
	$(BIN)/python benchmarks/choices.py
	$(BIN)/spanproto paper all --draw-only --report > /dev/null

paper-quick: $(VENV)/ready  ## every table and figure of the paper on a bundled sample, to see that it runs
	$(BIN)/spanproto paper all --quick --workers 2

model: data-given $(VENV)/ready  ## train and measure the built-in model again: make model DATA=... ENCODER=...
	for run in default default-held-out; do \
	  $(BIN)/spanproto train configs/$$run.yaml data.root=$(DATA) model.encoder.name=$(ENCODER) \
	    || exit 1; \
	done
	$(MAKE) results-transfer
	$(BIN)/python benchmarks/default_model.py runs/default results/transfer.json

results-transfer: data-given $(VENV)/ready  ## measure it on domains left out of its training; as above
	for domain in ai music bc5cdr; do \
	  $(BIN)/python benchmarks/transfer.py run runs/default-held-out $(DATA) --domain $$domain \
	    -o runs/transfer/$$domain.json.gz && \
	  $(BIN)/python benchmarks/transfer.py baseline $(ENCODER) $(DATA) --domain $$domain \
	    -o runs/transfer/$$domain-baseline.json.gz || exit 1; \
	done
	rm -f results/transfer/*.json.gz && mv runs/transfer/*.json.gz results/transfer/
	$(BIN)/python benchmarks/transfer.py report results/transfer/*.json.gz -o results/transfer.json

# On a GPU, cells that run side by side (WORKERS=4, best under CUDA MPS) fill it.
WORKERS ?= 1
RESULTS ?= results
FILL = $(BIN)/python benchmarks/results.py
GIVEN = --data $(DATA) --encoder $(ENCODER) --workers $(WORKERS)

results-crossdomain: data-given $(VENV)/ready  ## SpanProto on the cross-domain data: DATA=... ENCODER=... [WORKERS=4]
	$(FILL) crossdomain $(GIVEN) -o $(RESULTS)/crossdomain
	$(BIN)/python benchmarks/spanproto_tables.py $(RESULTS)

# INTER's training sentences leave entities of other types unlabelled.
COMPLETE = $(DATA)/fewnerd/all66/all.txt
PARTLY = $(DATA)/fewnerd/inter/partly-labelled.json
partly-labelled: data-given $(VENV)/ready  ## which of INTER's training sentences leave entities unlabelled; as above
	test -f $(PARTLY) || $(BIN)/python benchmarks/partly_labelled.py \
	  $(DATA)/fewnerd/inter/train-reduced.txt $(COMPLETE) -o $(PARTLY)

DOUBTS = $(DATA)/fewnerd/inter/doubts.json
doubts: data-given $(VENV)/ready  ## what a model takes for unlabelled in them; as above
	test -f $(DOUBTS) || $(BIN)/spanproto data doubts configs/fewnerd.yaml data.root=$(DATA) \
	  model.encoder.name=$(ENCODER) model.encoder.case=true model.extractor.neighbours=true \
	  model.objective.word_weight=1 model.objective.joint_weight=0 training.output=runs/doubts \
	  -o $(DOUBTS)
	$(BIN)/python benchmarks/doubts.py $(DATA)/fewnerd/inter/train-reduced.txt $(DOUBTS) \
	  $(COMPLETE) -o $(RESULTS)/doubts.json

results-fewnerd: partly-labelled  ## SpanProto on Few-NERD; as above
	$(FILL) fewnerd $(GIVEN) -o $(RESULTS)/fewnerd
	$(BIN)/python benchmarks/spanproto_tables.py $(RESULTS)

# Schedules and choices are tried on domains of no table, too: crossner-liu and genia-nested.
results-baselines: partly-labelled  ## every system of results/systems.md; as above, also with crossner-liu/*/test.txt and genia-nested/genia.dev.json
	$(FILL) baselines $(GIVEN) -o $(RESULTS)/baselines
	$(FILL) crossdomain $(GIVEN) -o $(RESULTS)/crossdomain --only .12,-1.21,-1.42
	$(FILL) fewnerd $(GIVEN) -o $(RESULTS)/fewnerd --only inter-5w1.12,inter-5w5.12
	$(FILL) schedules $(GIVEN) -o $(RESULTS)/schedules
	$(BIN)/python benchmarks/systems.py $(RESULTS)

results-adaptation: data-given $(VENV)/ready  ## support sets side by side against one by one, and what the radius r rejects; as above
	$(BIN)/spanproto train configs/fewnerd.yaml data.root=$(DATA) model.encoder.name=$(ENCODER)
	$(BIN)/python benchmarks/adaptation_throughput.py runs/fewnerd/model \
	  $(DATA)/crossdomain/1-shot/ner_valid_1.json -o $(RESULTS)/adaptation-throughput.json \
	  --limit 32 --set episodes_at_once=32 --set tokens_at_once=60000
	for adapt in "" --adapt; do \
	  $(BIN)/python benchmarks/rejection.py run runs/fewnerd/model $(DATA)/fewnerd/inter/test.txt \
	    --types inter/test --fit-on $(DATA)/fewnerd/all66/all.txt --fit-types inter/dev $$adapt \
	    -o $(RESULTS)/rejection$${adapt#-}.json || exit 1; \
	done
	$(BIN)/python benchmarks/rejection.py draw $(RESULTS)/rejection*.json
	$(BIN)/python benchmarks/tables.py $(RESULTS)

results-choices: partly-labelled doubts  ## what each setting of SpanProto is worth; as above, also with crossner-liu/*/test.txt and genia-nested/genia.dev.json
	$(FILL) choices $(GIVEN) -o $(RESULTS)/choices
	$(FILL) trainings $(GIVEN) -o $(RESULTS)/trainings
	$(FILL) maps $(GIVEN) -o $(RESULTS)/maps
	$(BIN)/python benchmarks/choices.py $(RESULTS)

clean:  ## remove what the other targets have made
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

data-given:
	@test -n "$(DATA)" && test -n "$(ENCODER)" || \
	  { echo "say where corpora and encoder are: DATA=FOLDER ENCODER=DIRECTORY-OR-HUB-NAME"; exit 1; }

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
