"""Modules that are equal but for the names in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..netlist.design import HardwareModule, Register
from .expressions import expression


@dataclass(frozen=True, slots=True)
class Likeness:
    """The first module that one is equal to, and by its own names those there."""

    module: HardwareModule
    names: Mapping[str, str]


def alike(modules: Iterable[HardwareModule]) -> dict[str, Likeness]:
    """By name, for each module the first one that is equal to it; callees come before their callers."""
    found: dict[str, Likeness] = {}
    first: dict[tuple[object, ...], tuple[HardwareModule, list[str]]] = {}
    every = list(modules)
    sizes = Counter(map(_size, every))
    for module in every:
        if sizes[_size(module)] == 1:
            found[module.name] = Likeness(module, {name: name for name in _names(module)})
            continue
        shape, names = _shape(module, found)
        other, others = first.setdefault(shape, (module, names))
        found[module.name] = Likeness(other, dict(zip(names, others, strict=True)))
    return found


def _size(module: HardwareModule) -> tuple[int, ...]:
    """What modules that are equal have in common at least."""
    parts = (len(module.ports), len(module.signals), len(module.tables))
    return *parts, len(module.assigns), len(module.registers), len(module.instances)


def _names(module: HardwareModule) -> Iterator[str]:
    """The names in a module that others may ask for."""
    yield from (port.signal.name for port in module.ports)
    yield from (one.name for one in module.signals)
    yield from (one.name for one in module.tables)
    yield from (one.name for one in module.instances)


def _shape(module: HardwareModule, known: Mapping[str, Likeness]) -> tuple[tuple[object, ...], list[str]]:
    """All of a module with numbers in the place of names, and the names by number."""
    numbers: dict[str, int] = {}

    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    def numbered(text: str | None) -> object:
        if text is None:
            return None
        made = expression(text)
        return made.gaps, tuple(numbers.get(name, name) for name in made.names)

    def register(one: Register) -> object:
        return number(one.signal.name), numbered(one.next), numbered(one.enable), one.reset

    shape: list[object] = [
        (number(port.signal.name), port.signal.width, port.signal.signed, port.direction) for port in module.ports
    ]
    shape += [(number(signal.name), signal.width, signal.signed) for signal in module.signals]
    shape += [(number(table.name), table.width, table.words) for table in module.tables]
    shape += [(number(assign.signal.name), numbered(assign.expression)) for assign in module.assigns]
    shape += [register(one) for one in module.registers]
    for one in module.instances:
        like = known.get(one.module)
        name, names = (one.module, {}) if like is None else (like.module.name, like.names)
        ports = tuple((names.get(port, port), numbered(text)) for port, text in one.ports.items())
        shape.append((name, number(one.name), tuple(one.parameters.items()), ports, one.observes))
    return tuple(shape), list(numbers)
