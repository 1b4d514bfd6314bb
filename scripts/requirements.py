"""Prints what the package needs to run, and to be built, tested and checked: one requirement a line."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
print("\n".join([*project["dependencies"], *project["optional-dependencies"]["dev"]]))
