# make setup: the environment; demo, test, lint, bench use it; clean removes it.
PYTHON_ENV := .venv/bin/python
STAMP := .venv/.installed
SOURCES := $(shell find mlir/allo-dialect -name '*.cpp' -o -name '*.h' -o -name '*.td' -o -name '*.txt')

.PHONY: setup demo test lint bench clean

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

bench: setup
	@$(PYTHON_ENV) -m benchmarks

clean:
	rm -rf .venv build dist *.egg-info allo/_mlir/*.so allo/_mlir/dialects/_allo_*_gen.py
