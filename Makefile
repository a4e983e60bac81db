# Targets install what they need in .venv on first use and again when pyproject.toml changes.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
FUZZ_SECONDS ?= 60

# pip prints only errors and uses its configured package index.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help run test coverage bench truth fuzz docs lint format lowest clean

help:                    ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.installed  ## Predict the Laplace solver on 8 nodes of an iPSC/860
	$(BIN)/esp run laplace.hpf --procs 8

test: lint               ## Run all checks: ruff, mypy, the import contracts, pytest
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

coverage: $(VENV)/.checked ## Measure the branch coverage of the tests; fails below the limit in pyproject.toml
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: $(VENV)/.checked  ## Measure time and memory; run nothing else meanwhile
	$(BIN)/python -m benchmarks
	$(BIN)/python -m pytest -m bench

truth: $(VENV)/.checked  ## Compare with gfortran, SimGrid and cachegrind (two to three hours)
	$(BIN)/python -m pytest -m truth -n $(JOBS) --dist worksteal

fuzz: $(VENV)/.checked   ## Search for inputs that make esp fail, guided by coverage (FUZZ_SECONDS=60)
	$(PIP) install -e ".[fuzz]"
	$(BIN)/python -m tests.end_to_end.guided run .fuzz $(FUZZ_SECONDS)

docs: $(VENV)/.checked   ## Build the documentation site in build/site without network; check its links
	$(BIN)/mkdocs build --quiet

lint: $(VENV)/.checked   ## Run only the static checks of `make test`
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.checked ## Format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lowest:                  ## Run the tests with the oldest supported libraries
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
