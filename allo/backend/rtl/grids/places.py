"""Places of what a simulation shows: paths through instances as variables, and elements of arrays of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....errors import InternalError
from ..netlist.design import HardwareModule, ModuleInstance
from .alike import Likeness


@dataclass(frozen=True, slots=True)
class GridPlace:
    """A variable of a simulation, and which element of its array of `count`; None: it is no array."""

    path: str
    index: int | None = None
    count: int = 1


@dataclass(slots=True)
class PartPlaces:
    """Instances of one module, or one of them: the places of its variables, and what is in it, by the names there.

    Elements without an index have that of what they are in.
    """

    variables: Mapping[str, GridPlace] = field(default_factory=dict)
    parts: Mapping[str, tuple[PartPlaces | Unit, int | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """An instance that the text has: of one module, or of the `count` of a grid (an `{}` in the path: one of many)."""

    path: str
    count: int | None = None


class GridPlaces:
    """The places of a design that was built of some modules; `root` is the one on top."""

    def __init__(
        self, modules: Mapping[str, HardwareModule], likeness: Mapping[str, Likeness], top: str, root: PartPlaces
    ) -> None:
        self._modules, self._likeness, self._top, self._root = modules, likeness, top, root
        self._instances: dict[str, dict[str, ModuleInstance]] = {}
        self._known: dict[str, tuple[PartPlaces | Unit, int | None, str, str]] = {}

    def place(self, path: str) -> GridPlace:
        """Where a variable is: `kernel.element_call_3.k_moves`, from the module on top."""
        parent, _, variable = path.rpartition(".")
        if parent not in self._known:
            self._known[parent] = self._found(parent)
        inside, index, own, rest = self._known[parent]
        if isinstance(inside, Unit):
            return _of_unit(inside, index, rest + variable)
        name = self._name(own, variable)
        if name not in inside.variables:
            raise InternalError(f"a grid shows no '{path}'")
        made = inside.variables[name]
        return made if made.index is not None or made.count == 1 else GridPlace(made.path, index, made.count)

    def _found(self, path: str) -> tuple[PartPlaces | Unit, int | None, str, str]:
        """Where an instance is, and which of a grid; its module, and what of its path leads on in a unit."""
        inside: PartPlaces | Unit = self._root
        index: int | None = None
        own = self._top
        parts = path.split(".") if path else []
        for number, part in enumerate(parts):
            if isinstance(inside, Unit):
                return inside, index, own, "".join(f"{one}." for one in parts[number:])
            inside, found = inside.parts[self._name(own, part)]
            index = index if found is None else found
            own = self._instance(own, part).module
        return inside, index, own, ""

    def _name(self, own: str, name: str) -> str:
        """What is called so in a module, by the names of an element of one that is equal."""
        return self._likeness[own].names.get(name, name)

    def _instance(self, module: str, name: str) -> ModuleInstance:
        if module not in self._instances:
            self._instances[module] = {one.name: one for one in self._modules[module].instances}
        return self._instances[module][name]


def _of_unit(unit: Unit, index: int | None, variable: str) -> GridPlace:
    if unit.count is None or index is None:
        return GridPlace(f"{unit.path}.{variable}")
    if "{}" in unit.path:
        return GridPlace(f"{unit.path.format(index)}.{variable}")
    return GridPlace(f"{unit.path}.{variable}", index, unit.count)
