# Bare `make` prints this menu. Every target makes what it needs: only python3 >= 3.11 with pip and venv is assumed.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
TESTS   ?= tests
REPS    ?= 3
MINUTES ?= 2

# Tests start hundreds of processes: none of them shall compile its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := menu
.PHONY: menu setup up test check verify removal lock audit sbom bench chaos screenshots

menu:
	@echo "make setup        the development environment in $(VENV)"
	@echo "make up           PostgreSQL, schema and a worker, until Ctrl-C"
	@echo "make test         the tests, on a real PostgreSQL of their own; the long ones are left to make verify"
	@echo "                  TESTS=tests/http for a part, with LONG=1 for all of it"
	@echo "make check        format, lint, types, import contracts, the types of the TypeScript SDK, the shape"
	@echo "make verify       the long tests, those of SQL again on every other PostgreSQL found, those of the worker on a newer"
	@echo "                  Python, two minutes of chaos, the wheel, and the TypeScript SDK (needs Node 20)"
	@echo "make removal      each feature and pack that is not required, taken out of a copy: the rest holds  NAMES='demo secrets'"
	@echo "make lock         pin all dependencies again, with hashes, in requirements/"
	@echo "make audit        known vulnerabilities in what is pinned, by the advisory database of the index; fails where"
	@echo "                  that does not answer"
	@echo "make sbom         what the image holds, as CycloneDX, in dist/"
	@echo "make bench        how fast is it here?  SCENARIOS=A,C REPS=1 OPTIONS=--quick"
	@echo "make chaos        real processes under faults, then a check of all that happened  MINUTES=10 SEED=7"
	@echo "make screenshots  pictures for the documentation, into docs/screenshots (needs chromium)"

setup: $(VENV)/.dev

up: $(VENV)/.runtime
	@$(BIN)/leasehold up

test: $(VENV)/.dev
	@$(BIN)/python -m tests.run $(if $(LONG),--long) $(if $(filter tests,$(TESTS)),,$(TESTS))

check: $(VENV)/.dev
	$(BIN)/ruff format --check src packs tests tools examples benchmarks
	$(BIN)/ruff check src packs tests tools examples benchmarks
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m tools.generate --check
	$(BIN)/python -m tools.typescript --check
	$(BIN)/python -m tools.reference --check
	$(BIN)/python -m tools.check_shape

removal: $(VENV)/.dev
	$(BIN)/python -m tests.removal $(NAMES)

verify: $(VENV)/.dev
	$(BIN)/python -m tests.verify

lock: $(VENV)/.dev
	$(BIN)/python -m tools.lock

audit: $(VENV)/.dev
	$(BIN)/python -m tools.audit

sbom: $(VENV)/.dev
	@mkdir -p dist
	$(BIN)/uv tool run --from cyclonedx-bom cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/sbom.cdx.json requirements/image.txt

bench: $(VENV)/.runtime
	@$(BIN)/leasehold bench --reps $(REPS) $(if $(SCENARIOS),--scenarios $(SCENARIOS)) $(OPTIONS)

screenshots: $(VENV)/.dev
	@$(BIN)/python -m tests.dashboard.screenshots

chaos: $(VENV)/.dev
	@$(BIN)/python -m tests.chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(OPTIONS)

$(VENV)/.runtime: pyproject.toml
	@test -x $(BIN)/python || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "leasehold needs Python 3.11 or newer; this is $$($(PYTHON) --version)"; exit 2; }; $(PYTHON) -m venv $(VENV); }
	@echo "installing Leasehold into $(VENV) (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[embedded]'
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime packs/pyproject.toml
	@echo "installing the tools for tests into $(VENV) (once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]' --editable './packs[all]'
	@touch $@
