# One command each; everything is set up in .venv on first use and again when pyproject.toml changes.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
FUZZ_SECONDS ?= 60

# pip says nothing unless it fails; the package index is whatever pip is configured for.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test coverage bench truth fuzz docs lint format lowest clean

help:                    ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.installed  ## Predict the Laplace solver on 8 nodes of an iPSC/860
	$(BIN)/esp run laplace.hpf --procs 8

test: lint               ## Check everything: ruff, mypy, the import contracts, pytest
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

coverage: $(VENV)/.checked ## Measure by branch what the tests reach; fails below the floor in pyproject.toml
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: $(VENV)/.checked  ## Measure time and memory, nothing else running
	$(BIN)/python -m benchmarks
	$(BIN)/python -m pytest -m bench

truth: $(VENV)/.checked  ## Compare with gfortran, SimGrid and cachegrind (many minutes)
	$(BIN)/python -m pytest -m truth -n $(JOBS) --dist worksteal

fuzz: $(VENV)/.checked   ## Search for inputs that esp fails on, guided by coverage (FUZZ_SECONDS=60)
	$(PIP) install -e ".[fuzz]"
	$(BIN)/python -m tests.end_to_end.guided run .fuzz $(FUZZ_SECONDS)

docs: $(VENV)/.checked   ## Build the documentation site in build/site, without network; links are checked
	$(BIN)/mkdocs build --quiet

lint: $(VENV)/.checked   ## The static half of `make test`
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.checked ## Format, and repair what ruff can repair by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lowest:                  ## Run the tests with the oldest libraries that are promised to work
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip --quiet install -e ".[test]" -c requirements/lowest.txt
	$(VENV)-lowest/bin/python -m pytest -n $(JOBS) --dist worksteal

clean:                   ## Remove the environments and all caches
	rm -rf $(VENV) $(VENV)-lowest dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .fuzz .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "esp needs Python 3.11 or newer; try make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(PIP) install -e .
	@touch $@

$(VENV)/.checked: $(VENV)/.created pyproject.toml
	$(PIP) install -e ".[dev]"
	@touch $@ $(VENV)/.installed
