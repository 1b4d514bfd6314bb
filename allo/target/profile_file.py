"""Files of profiles, which the files of targets name."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ..errors import TargetError
from .component_tables import read_control, read_floating, read_integer, read_memory
from .places import PLACES
from .profile import AutomaticPipelines, Profile, ShortRecurrences, ToolRule, ToolRules
from .table import Table, each

_PLAIN = (
    "flattened_nests", "overlapped_nests", "shared_operators", "automatic_partitions", "unsafe_math",
    "plain_operations", "own_hardware",
)  # fmt: skip


def read_profiles(root: Table) -> dict[str, Profile]:
    """The profiles that the file of a target names: in the folder `profiles` beside it, or of those that come along."""
    names = root.get("profiles", (list,), "a list of names", [])
    if not all(isinstance(name, str) for name in names):
        raise root.error("profiles", f"must be a list of names, got {names!r}")
    return {name: _read(_file(root, name)) for name in names}


def _file(root: Table, name: str) -> Path:
    folders = [root.file.parent, *PLACES]
    for folder in folders:
        if (file := folder / "profiles" / f"{name}.toml").is_file():
            return file
    known = sorted({file.stem for folder in folders for file in (folder / "profiles").glob("*.toml")})
    raise root.error("profiles", f"names '{name}', of which there is no file; there are {', '.join(known)}")


@cache
def _read(file: Path) -> Profile:
    try:
        data = tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"the profile '{file}' is not valid TOML: {error}") from None
    root = Table(file, "", data)
    profile = Profile(
        root.text("name"), root.text("title"), root.texts("sources"), read_control(root.table("control")),
        _rules(root.table("rule")) if "rule" in data else ToolRules(),
        each(root.table("memory"), read_memory, ()) if "memory" in data else {},
        each(root.table("integer"), read_integer, ()) if "integer" in data else {},
        tuple(read_floating(row) for row in root.tables("operator")) if "operator" in data else (),
    )  # fmt: skip
    root.done()
    if profile.name != file.stem:
        raise root.error("name", f"must be the name of the file, '{file.stem}', got '{profile.name}'")
    return profile


def _rules(table: Table) -> ToolRules:
    pipelines, recurrences = "automatic_pipelines", "short_recurrences"
    rules = ToolRules(
        _pipelines(table.table(pipelines)) if pipelines in table.data else None,
        short_recurrences=_recurrences(table.table(recurrences)) if recurrences in table.data else None,
        **{name: _rule(table.table(name)) for name in _PLAIN if name in table.data},
    )
    table.used.update((*_PLAIN, pipelines, recurrences))
    table.done()
    return rules


def _rule(table: Table) -> ToolRule:
    found = ToolRule(table.text("source"))
    table.done()
    return found


def _pipelines(table: Table) -> AutomaticPipelines:
    found = AutomaticPipelines(table.text("source"), table.count("threshold"))
    table.done()
    return found


def _recurrences(table: Table) -> ShortRecurrences:
    operators = tuple(read_floating(row) for row in table.tables("operator"))
    found = ShortRecurrences(table.text("source"), table.count("below"), operators)
    table.done()
    return found
