# Flakeboard: `make run` starts it, `make test` tests it. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes that run tests at the same time; each has a PostgreSQL of its own. Some tests mostly wait, so three suit two cores.
JOBS ?= 3

.PHONY: run provision test whole kills proof science fuzz mutants lint format bench load scale screenshots clean help
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 13

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Flakeboard needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 run")'
	@$(PYTHON) -m venv $(VENV)

# Installed sets are marked by files, so that a second start installs nothing.
$(VENV)/.run: requirements.txt | $(BIN)/python
	@echo "Installing packages (the first time takes a minute) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt requirements-otel.txt requirements-parquet.txt requirements-fuzz.txt | $(BIN)/python
	@echo "Installing packages for development …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/.run

$(VENV)/.bench: bench/requirements.txt $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	@touch $@

run: $(VENV)/.run  ## start Flakeboard; Ctrl-C stops it
	@exec $(BIN)/python manage.py serve

provision: $(VENV)/.dev  ## fetch what the tests need besides: a browser, Redis, runners of other languages
	@$(BIN)/python -m tests.browser.provision
	@$(BIN)/python -m tests.server.provision
	@$(BIN)/python -m tests.client.provision

test: provision  ## run the tests on a real PostgreSQL and in a real browser
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

whole: export WHOLE = 1
whole: test  ## the same with all of the heaviest acceptance, of which `make test` runs a slice

kills: $(VENV)/.dev  ## kill web and workers fifty times at random, under load
	@KILLS=50 $(BIN)/python -m pytest tests/faults/test_processes.py -k killed_at_random $(ARGS)

proof: $(VENV)/.dev  ## the whole suite nine times: random orders, under load, elsewhere, on the system's PostgreSQL
	@$(BIN)/python tools/suite_proof.py --jobs $(JOBS) $(ARGS)

science: $(VENV)/.dev  ## reproduce published figures from their data
	@$(BIN)/python -m pytest tests/science $(ARGS)

fuzz: $(VENV)/.dev  ## look for bytes and requests that break us; SECONDS=600
	@$(BIN)/python -m tests.fuzz.reader $(or $(SECONDS),600)
	@SCHEMA_EXAMPLES=100 $(BIN)/python -m pytest tests/hostile/test_schema.py $(ARGS)

mutants: $(VENV)/.dev  ## break the modules that decide, one place at a time, and see whether tests notice
	@$(BIN)/python tools/mutants.py $(ARGS)

# The client runs on Python 3.8; what newer ones have is used where it is there.
lint: $(VENV)/.dev  ## check format, style, templates, types and the client's oldest Python
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/djlint --lint --quiet templates
	@$(BIN)/vermin --quiet --no-tips -t=3.8- --exclude sys.monitoring --exclude int.bit_count client/flakeboard
	@$(BIN)/mypy

format: $(VENV)/.dev  ## put the code into our format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.bench  ## measure speed and size, beside peers
	@$(BIN)/python -m bench $(ARGS)

load: $(VENV)/.dev  ## put server mode under load, here and for minutes
	@$(BIN)/python -m tests.server.provision
	@$(BIN)/python -m bench load $(ARGS)

scale: $(VENV)/.dev  ## measure 816 million results in one project; needs 10 GB of disk
	@$(BIN)/python -m bench scale $(ARGS)

screenshots: $(VENV)/.dev  ## photograph the demo for README.md
	@$(BIN)/python tools/screenshots.py $(ARGS)

clean:  ## remove what was installed; data under var/ stays
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
