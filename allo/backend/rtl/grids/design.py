"""Design with its grids as arrays: one module for simulation, with the bits and cycles of the modules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain

from ..library import MODULES
from ..netlist.design import HardwareModule
from ..netlist.printer import printed, printed_table
from .alike import Likeness, alike
from .connections import GridConnections, InstanceGrid
from .element import ElementWriter, Held, sockets_of
from .level import Inside, Level, LevelInstance
from .places import GridPlace, GridPlaces, PartPlaces, Unit
from .text import GridText, instance


@dataclass(frozen=True, slots=True)
class GridDesign:
    """A design whose grids are arrays, for simulation.

    `text` is all of it but the library, `library` the modules of it that are used, and `grids` those with arrays.
    `places` says where variables are that the modules of the design have, by path.
    """

    text: str
    library: tuple[str, ...]
    grids: tuple[str, ...]
    places: GridPlaces
    top: str
    _likeness: Mapping[str, Likeness]
    _arrays: Mapping[tuple[str, str], Sequence[str]]

    def shown(self, module: str, variable: str) -> Iterator[tuple[str, str]]:
        """What a variable of a module has become: pairs of a module and a variable."""
        if module in self.library or module not in MODULES:
            yield module, variable
        if module in self.grids:
            yield f"{module}_grid", variable
        like = self._likeness.get(module)
        if like is not None:
            for name in self._arrays.get((like.module.name, like.names.get(variable, variable)), ()):
                yield self.top, name


def grid_design(modules: Sequence[HardwareModule], visible: Iterable[tuple[str, str]] = ()) -> GridDesign | None:
    """The design of some modules, callees first, with arrays in the place of grids; None if there is no grid.

    `visible` are pairs of a module and a name in it that a simulation shows.
    """
    level = Level(modules, alike(modules))
    if not level.has_grid(level.top.name):
        return None
    like = level.likeness
    wanted = frozenset(
        (like[module].module.name, like[module].names[name]) for module, name in visible
        if module in like and name in like[module].names
    )  # fmt: skip
    apart, split = set[str](), set[str]()
    connections = _connected(level, apart)
    while True:
        writer = _DesignWriter(level, wanted, connections, split)
        writer.write()
        circles = writer.circles()
        if not circles:
            return writer.made()
        bodies = {family for family in circles if family.startswith("module ")} - split
        split |= bodies
        if not bodies:
            apart |= circles
            connections = _connected(level, apart)


def _connected(level: Level, apart: set[str]) -> GridConnections:
    """The connections of all grids, without what is in the elements."""
    connections = GridConnections(level, GridText(set(level.taken)), apart)
    connections.place()
    connections.bind()
    for name, source in level.assigns:
        connections.follow(name, source)
    connections.registers(level.registers)
    connections.finish()
    return connections


def _left(graph: Mapping[str, Collection[str]]) -> set[str]:
    """The names that are in circles of a graph, or come after one."""
    sorter = TopologicalSorter(graph)
    left = {*graph, *chain.from_iterable(graph.values())}
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():
        left.difference_update(ready)
        sorter.done(*ready)
    return left


def _turned(graph: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, others in graph.items():
        for one in others:
            found.setdefault(one, []).append(name)
    return found


def _comes_back(name: str, graph: Mapping[str, Collection[str]], within: set[str]) -> bool:
    """Whether ways through a graph lead from a name to itself."""
    seen, waiting = set[str](), [name]
    while waiting:
        for one in within.intersection(graph.get(waiting.pop(), ())) - seen:
            seen.add(one)
            waiting.append(one)
    return name in seen


class _DesignWriter:
    """One attempt to write what is between connections: the elements of families that are `split` have a loop for each
    signal."""

    def __init__(
        self, level: Level, wanted: frozenset[tuple[str, str]], connections: GridConnections, split: set[str]
    ) -> None:
        self.level, self.split, self.connections = level, split, connections
        self.text = connections.text.copy()
        self.elements = ElementWriter(self.text, level.modules, level.likeness, wanted)
        self.families = dict(connections.families)  # of arrays
        self.kept: set[str] = set()  # modules that stay modules
        self.parts: dict[str, PartPlaces | Unit] = {}  # by the names of grids
        self.single: list[tuple[LevelInstance, Unit]] = []

    def write(self) -> None:
        """Write all elements."""
        for grid in self.connections.grids:
            self.parts[grid.name] = self._grid(grid, self.connections.bound[grid.name])
            for name in self.text.sizes:
                self.families.setdefault(name, grid.family)
        self.single = [(one, self._single(one)) for one in self.connections.single]

    def made(self) -> GridDesign:
        """The text, and where all is in it."""
        level, text = self.level, self.text
        units: dict[str, tuple[PartPlaces | Unit, int | None]] = {}
        for grid in self.connections.grids:
            part = self.parts[grid.name]
            units |= {one.name: (part, number) for number, one in enumerate(grid.instances)}
        units |= {one.name: (part, None) for one, part in self.single}
        root = self._element(level.root, level.top.name, units)
        lines = [*self._head(), *text.declared, *text.tables()]
        lines += [line for table in level.tables for line in printed_table(table)]
        lines += [*text.lines, "endmodule", ""]
        kept = [module for name, module in level.modules.items() if name in self.kept]
        used = dict.fromkeys(one.module for module in kept for one in module.instances if one.module in MODULES)
        used |= dict.fromkeys(name for name, is_grid in self.elements.library if not is_grid)
        grids = dict.fromkeys(name for name, is_grid in self.elements.library if is_grid)
        places = GridPlaces(level.modules, level.likeness, level.top.name, root)
        return GridDesign(
            "\n".join([printed(kept), *lines]), tuple(used), tuple(grids), places, level.top.name, level.likeness,
            self.elements.shown,
        )  # fmt: skip

    def circles(self) -> set[str]:
        """The families and grids whose arrays follow from themselves in the same cycle."""
        inputs = self.text.inputs
        left = _left(inputs) & _left(_turned(inputs))
        return {self.families[name] for name in left if name in self.families and _comes_back(name, inputs, left)}

    # -- parts ------------------------------------------------------------------------------------------

    def _grid(self, grid: InstanceGrid, bound: dict[str, Held]) -> PartPlaces | Unit:
        first, count = grid.instances[0].instance, len(grid.instances)
        if grid.is_library:
            return self.elements.unit(first, grid.name, bound, count)
        module = self.level.likeness[first.module].module
        return self.elements.write(module, f"{grid.name}__", bound, count, grid.family in self.split)

    def _single(self, one: LevelInstance) -> Unit:
        """An instance that stays what it is."""
        ports = [f".{port}({self.connections.socket(source)})" for port, source in one.sockets.items()]
        parameters = list(one.instance.parameters.items())
        self.text.lines.append(instance(one.instance.module, parameters, one.name, ports))
        module = self.level.modules.get(one.instance.module)
        if module is None:
            self.elements.library[one.instance.module, False] = None
            self.elements.note(one.instance, {port: self.connections.inputs(s) for port, s in one.sockets.items()})
            return Unit(one.name)
        self._keep(module)
        inputs = [name for port in sockets_of(module) if port.is_input
                  for name in self.connections.inputs(one.sockets[port.name])]  # fmt: skip
        for port in sockets_of(module):
            for name in () if port.is_input else self.connections.inputs(one.sockets[port.name]):
                self.text.depends(name, inputs)
        return Unit(one.name)

    def _keep(self, module: HardwareModule) -> None:
        self.kept.add(module.name)
        for one in module.instances:
            if one.module in self.level.modules:
                self._keep(self.level.modules[one.module])

    def _element(
        self, inside: Inside, module: str, units: Mapping[str, tuple[PartPlaces | Unit, int | None]]
    ) -> PartPlaces:
        """Where the parts of a module are that is there once."""
        like, sizes = self.level.likeness[module], self.text.sizes
        variables = {}
        wanted = {name for of, name in self.elements.wanted if of == like.module.name}
        for own, name in inside.names.items() if wanted else ():
            if like.names[own] in wanted:
                array, index = self.connections.at[name]
                variables[like.names[own]] = GridPlace(array, index, sizes.get(array, 1))
                self.elements.shown.setdefault((like.module.name, like.names[own]), []).append(array)
        instances = {one.name: one.module for one in self.level.modules[module].instances}
        parts = {
            like.names[own]: (self._element(child, instances[own], units), None)
            if isinstance(child, Inside)
            else units[child.name]
            for own, child in inside.children.items()
        }
        return PartPlaces(variables, parts)

    def _head(self) -> Iterator[str]:
        ports = [
            f"  {'input' if port.is_input else 'output'} logic {f'[{port.width - 1}:0] ' if port.width > 1 else ''}"
            f"{port.name}"
            for port in sockets_of(self.level.top)
        ]
        yield f"module {self.level.top.name} ("
        yield ",\n".join(ports) + ");"
