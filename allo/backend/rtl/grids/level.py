"""Modules that contain grids, in one list of signals, assignments, registers and instances: what a design has once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....ir.names import unique_name
from ..netlist.design import ConstantTable, Direction, HardwareModule, ModuleInstance, Signal
from .alike import Likeness
from .expressions import Chain, Expression, alone, chain_of, expression

LEAST = 8  # instances of one module that are a grid


class LevelRegister(NamedTuple):
    """A register, as in a module."""

    name: str
    next: Expression
    enable: Expression | None
    reset: int | None


class LevelInstance(NamedTuple):
    """An instance, with what its ports are connected to."""

    name: str
    instance: ModuleInstance
    sockets: Mapping[str, Expression]


@dataclass(slots=True)
class Inside:
    """An instance whose parts are in the level: their names there, and the instances in it."""

    names: dict[str, str]
    children: dict[str, Inside | LevelInstance] = field(default_factory=dict)


class Level:
    """The module on top, with all that contains grids in its place; `likeness` is that of all modules."""

    def __init__(self, modules: Sequence[HardwareModule], likeness: Mapping[str, Likeness]) -> None:
        self.modules = {module.name: module for module in modules}
        self.likeness = likeness
        self.top = modules[-1]
        self.ports = {port.signal.name: port.signal for port in self.top.ports}
        self.signals: dict[str, Signal] = dict(self.ports)
        self.tables: list[ConstantTable] = []
        self.assigns: list[tuple[str, Expression | Chain]] = []
        self.registers: list[LevelRegister] = []
        self.instances: list[LevelInstance] = []
        self.taken = set(self.ports)
        self._grids: dict[str, bool] = {}
        self.root = self._add(self.top, "", {name: name for name in self.ports})

    def has_grid(self, name: str) -> bool:
        """Whether there is a grid in a module, or in one of those in it."""
        if name not in self.modules:
            return False
        if name not in self._grids:
            counts = self._counts(self.modules[name])
            self._grids[name] = any(count >= LEAST or self.has_grid(one) for one, count in counts.items())
        return self._grids[name]

    def _counts(self, module: HardwareModule) -> Counter[str]:
        """How many instances of each module there are directly in one."""
        found = (self.likeness[one.module].module.name for one in module.instances if one.module in self.modules)
        return Counter(found)

    def _add(self, module: HardwareModule, prefix: str, names: dict[str, str]) -> Inside:
        """Add a module, whose ports have names already."""

        inside = Inside(names)
        sources: dict[str, Expression] = {}  # by their texts, of which most are names
        taken, signals = self.taken, self.signals
        for signal in module.signals:
            name = own = signal.name
            if name in taken:
                name = unique_name(f"{prefix}{name}", taken)
                signals[name] = signal._replace(name=name)
            else:
                taken.add(name)
                signals[name] = signal
            names[own] = name
            sources[own] = alone(name)
        for table in module.tables:
            made = names[table.name] = unique_name(f"{prefix}{table.name}", self.taken)
            self.tables.append(replace(table, name=made))

        def source(text: str) -> Expression:
            found = sources.get(text)
            if found is None:
                found = sources[text] = expression(text).renamed(names)
            return found

        for assign in module.assigns:
            text = assign.expression
            joined = chain_of(text, LEAST)
            self.assigns.append((names[assign.signal.name], source(text) if joined is None else joined.renamed(names)))
        for one in module.registers:
            enable = None if one.enable is None else source(one.enable)
            self.registers.append(LevelRegister(names[one.signal.name], source(one.next), enable, one.reset))
        counts, find = self._counts(module), sources.get
        for instance in module.instances:
            sockets = {port: find(text) or source(text) for port, text in instance.ports.items()}
            own = unique_name(f"{prefix}{instance.name}", self.taken)
            is_single = instance.module in self.modules and (
                counts[self.likeness[instance.module].module.name] < LEAST
            )
            if is_single and self.has_grid(instance.module):
                inside.children[instance.name] = self._inline(instance, f"{own}__", sockets)
            else:
                made_instance = LevelInstance(own, instance, sockets)
                inside.children[instance.name] = made_instance
                self.instances.append(made_instance)
        return inside

    def _inline(self, instance: ModuleInstance, prefix: str, sockets: Mapping[str, Expression]) -> Inside:
        module = self.modules[instance.module]
        names: dict[str, str] = {}
        for port in module.ports:
            own, socket = port.signal, sockets[port.signal.name]
            outer = self.signals.get(socket.name or "")
            if outer is not None and (outer.width, outer.signed) == (own.width, own.signed):
                names[own.name] = outer.name
                continue
            made = names[own.name] = unique_name(f"{prefix}{own.name}", self.taken)
            self.signals[made] = own._replace(name=made)
            if port.direction is Direction.INPUT:
                self.assigns.append((made, socket))
            elif socket.name is not None:
                self.assigns.append((socket.name, expression(made)))
        return self._add(module, prefix, names)
