# make setup: the environment; demo, test, lint, bench, site use it; clean removes it.
PYTHON_ENV := .venv/bin/python
STAMP := .venv/.installed
SOURCES := $(shell find mlir/allo-dialect -name '*.cpp' -o -name '*.h' -o -name '*.td' -o -name '*.txt')

.PHONY: setup demo test lint bench site clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py scripts/setup.sh $(SOURCES)
	@scripts/setup.sh
	@touch $@

demo: setup
	@$(PYTHON_ENV) examples/demo.py

test: setup
	@$(PYTHON_ENV) -m pytest -q -n 2 $(PYTEST_OPTIONS) tests

lint: setup
	@$(PYTHON_ENV) -m ruff check .
	@$(PYTHON_ENV) -m mypy --strict allo

site: setup
	@$(PYTHON_ENV) docs/build_site.py
	@NO_MKDOCS_2_WARNING=1 $(PYTHON_ENV) -m mkdocs build --strict --quiet
	@echo "the site is build/site/html/index.html"

bench: setup
	@$(PYTHON_ENV) -m benchmarks

clean:
	rm -rf .venv build dist *.egg-info allo/_mlir/*.so allo/_mlir/dialects/_allo_*_gen.py
