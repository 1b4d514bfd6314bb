"""Decides where descriptions of targets are found and what a file of one must say."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import TargetError, nearest
from .description import (
    Control,
    Device,
    External,
    FloatOperator,
    IntegerOperator,
    Limits,
    MemoryKind,
    Operator,
    Target,
)

_PACKAGE = Path(__file__).resolve().parents[1]
# `pip install .` copies `targets` into the package (setup.py).
_PLACES = (_PACKAGE / "_targets", _PACKAGE.parent / "targets")


def known_targets() -> tuple[str, ...]:
    """The names of the targets that come with Allo."""
    return tuple(sorted({file.stem for place in _PLACES for file in place.glob("*.toml")}))


def load_target(target: str | Path | Target) -> Target:
    """The target of that name, or that a TOML file describes; a `Target` is itself.

    Raises TargetError if there is none, or for a file that lacks something, with the key.
    """
    if isinstance(target, Target):
        return target
    text = str(target)
    if text.endswith(".toml") or "/" in text:
        return _read(Path(text).resolve())
    for place in _PLACES:
        if (place / f"{text}.toml").is_file():
            return _read(place / f"{text}.toml")
    known = known_targets()
    raise TargetError(
        f"no target '{text}'; there are {', '.join(known)}",
        hint=nearest(text, known) or "give one of them, or the path of a TOML file like those in `targets/`",
    )


@cache
def _read(file: Path) -> Target:
    try:
        data = tomllib.loads(file.read_text())
    except OSError as error:
        raise TargetError(f"cannot read the target '{file}': {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"the target '{file}' is not valid TOML: {error}") from None
    return _target(_Table(file, "", data))


class _Table:
    """A table of a file; asks for keys and names file and key where one is missing or wrong."""

    def __init__(self, file: Path, path: str, data: Mapping[str, Any]) -> None:
        self.file, self.path, self.data = file, path, data
        self.used: set[str] = set()

    def error(self, key: str, problem: str, hint: str | None = None) -> TargetError:
        return TargetError(f"{self.file}: '{self.path}{key}' {problem}", hint=hint)

    def _get[T](self, key: str, kinds: tuple[type, ...], described: str, default: T | None) -> Any:
        self.used.add(key)
        if key not in self.data:
            if default is None:
                raise self.error(key, f"is missing; it must be {described}")
            return default
        value = self.data[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise self.error(key, f"must be {described}, got {value!r}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._get(key, (str,), "a text", default))

    def count(self, key: str, default: int | None = None) -> int:
        """An integer that is not negative."""
        value: int = self._get(key, (int,), "an integer of at least 0", default)
        if value < 0:
            raise self.error(key, f"must be an integer of at least 0, got {value}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number that is not negative."""
        value: float = self._get(key, (int, float), "a number of at least 0", default)
        if value < 0:
            raise self.error(key, f"must be a number of at least 0, got {value}")
        return value

    def table(self, key: str) -> _Table:
        return _Table(self.file, f"{self.path}{key}.", self._get(key, (dict,), "a table", None))

    def tables(self, key: str) -> list[_Table]:
        items = self._get(key, (list,), "an array of tables", None)
        return [_Table(self.file, f"{self.path}{key}[{n}].", item) for n, item in enumerate(items)]

    def pairs(self, key: str) -> tuple[tuple[int, int], ...]:
        """A list of pairs of positive integers; empty if it is missing."""
        items = self._get(key, (list,), "a list of [width, depth]", [])
        for item in items:
            if not isinstance(item, list) or len(item) != 2 or not all(isinstance(n, int) and n > 0 for n in item):
                raise self.error(key, f"must be a list of [width, depth], got {item!r} in it")
        return tuple((a, b) for a, b in items)

    def done(self) -> None:
        """Refuse what nothing has asked for: it is a mistake of spelling."""
        for key in self.data:
            if key not in self.used:
                raise self.error(key, "is not known", nearest(key, sorted(self.used)))


def _target(root: _Table) -> Target:
    sources = root._get("sources", (list,), "a list of texts", None)
    if not sources or not all(isinstance(source, str) for source in sources):
        raise root.error("sources", "must be a list of texts that say where the numbers are from")
    frequency = root.number("frequency")
    if not frequency:
        raise root.error("frequency", "must be more than 0")
    control = root.table("control")
    rules = root.table("rules")
    dsp = root.table("dsp")
    tile = dsp._get("tile", (list,), "[width, width]", None)
    if len(tile) != 2 or not all(isinstance(n, int) and n > 0 for n in tile):
        raise dsp.error("tile", f"must be [width, width], got {tile!r}")
    result = Target(
        root.text("name"), root.text("title"), root.text("part"), frequency, tuple(sources),
        _device(root.table("resources")),
        Control(control.count("pipelined_loop"), control.count("loop"), control.count("iteration"),
                control.count("call"), control.number("uncertainty")),
        _each(root.table("memory"), _memory, ("BRAM", "LUTRAM", "FIFO", "REGISTER")),
        rules.count("registers_up_to"), rules.count("lutram_up_to"), (max(tile), min(tile)),
        _each(root.table("integer"), _integer, ("add", "compare", "logic", "select", "shift", "mul", "div")),
        tuple(_floating(row) for row in root.tables("operator")),
        _each(root.table("external"), _external, ()) if "external" in root.data else {},
        limits=_limits(root.table("limits")) if "limits" in root.data else Limits(),
    )  # fmt: skip
    for table in (control, rules, dsp, root):
        table.done()
    if not result.control.uncertainty < 1:
        raise control.error("uncertainty", "must be less than 1, the part of the period that is kept free")
    if 0 < result.limits.frequency < frequency:
        raise root.error("frequency", f"must be at most {result.limits.frequency:g}, the limit of the device")
    return result


def _limits(table: _Table) -> Limits:
    limits = Limits(table.number("frequency", 0.0), table.count("banks", 0), table.count("platform_dsp", 0))
    table.done()
    return limits


def _device(table: _Table) -> Device:
    device = Device(*(table.count(key) for key in ("dsp", "bram18", "uram", "lut", "ff")))
    table.done()
    return device


def _each[T](table: _Table, read: Callable[[str, _Table], T], needed: tuple[str, ...]) -> dict[str, T]:
    """What `read` makes of each table in a table, which must hold those of the names `needed`."""
    return {key: read(key, table.table(key)) for key in dict.fromkeys((*needed, *table.data))}


def _memory(name: str, table: _Table) -> MemoryKind:
    ports, read, write = (table.count(key) for key in ("ports", "read", "write"))
    kind = MemoryKind(name, ports, read, write, table.pairs("shapes"))
    table.done()
    return kind


def _external(name: str, table: _Table) -> External:
    external = External(name, table.count("latency"), table.number("gigabytes"))
    table.done()
    if not external.gigabytes:
        raise table.error("gigabytes", "must be more than 0")
    return external


def _integer(name: str, table: _Table) -> IntegerOperator:
    operator = IntegerOperator(
        table.count("delay", 0),
        table.number("delay_per_bit", 0.0),
        table.count("latency", 0),
        table.number("latency_per_bit", 0.0),
        table.number("lut_per_bit", 0.0),
        table.number("ff_per_bit", 0.0),
    )
    table.done()
    return operator


def _floating(table: _Table) -> FloatOperator:
    kind, type_ = table.text("kind"), table.text("type")
    operator = Operator(
        f"{kind}_{type_}",
        table.count("latency"),
        dsp=table.count("dsp"),
        lut=table.count("lut"),
        ff=table.count("ff"),
    )
    row = FloatOperator(kind, type_, table.number("up_to"), operator, table.text("implementation", ""))
    table.done()
    return row
