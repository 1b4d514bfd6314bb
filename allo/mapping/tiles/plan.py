"""Steps of plans of tile programs: decisions that are printed, parsed, made by hand, and checked one by one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ...errors import TargetError, nearest
from ...target.mesh_routes import MeshRoutes
from .choices import (
    Delivery,
    LoadChoice,
    PlacedLoad,
    Realisation,
    TileMapping,
    footprint,
    loads_of,
    nest_of,
    realisations,
    reuse_axes,
    stores_of,
    used_bytes,
)
from .program import TileProgram
from .space import SpaceTime

# What steps are made of: least and most arguments, names (None: any), names that must be given, and an example.
_STEPS: dict[str, tuple[int, float, tuple[str, ...] | None, tuple[str, ...], str]] = {
    "spread": (0, 0, None, (), 'spread(m="x", n=("y", "z"))'),
    "waves": (1, inf, (), (), 'waves("n", "m")'),
    "load": (1, inf, ("inside", "buffers"), ("inside",), 'load("A", "per core", inside="k", buffers=2)'),
    "store": (1, 1, ("buffers",), ("buffers",), 'store("C", buffers=2)'),
}


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One decision: `spread(m="x", n="y")`, `load("A", "broadcast", "noc_h", inside="k", buffers=2)`."""

    name: str
    arguments: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        values = [repr(value) for value in self.arguments] + [f"{key}={value!r}" for key, value in self.named]
        return f"{self.name}({', '.join(values)})".replace("'", '"')


class PlanSpace:
    """A program on a mesh, whose steps become mappings, and mappings steps. `names` are those of loads and stores."""

    def __init__(self, program: TileProgram, routes: MeshRoutes) -> None:
        self.program, self.routes = program, routes
        self.dims = routes.mesh.cores.dims
        self.grid = program.names[: len(program.grid)]
        self.loads = _named([(load.box.array.name, load) for load in loads_of(program)])
        self.stores = _named([(store[0].array.name, store) for store in stores_of(program)])
        self.capacity = routes.mesh.memory(routes.ports.local).size

    def first(self) -> TileMapping:
        """The conservative mapping (TL, section 2.3): every core loads its tiles itself, where it uses them.

        The last dimensions of the grid are spread over those of the cores, as far as there are any.
        """
        count = len(self.grid)
        tilings: list[list[int]] = [[] for _ in range(count)]
        for axis in range(len(self.dims)):
            tilings[max(0, min(count - 1, count - len(self.dims) + axis))].append(axis)
        spread = tuple(tuple(axes) for axes in tilings)
        space_time = self.timed(spread)
        return self.with_space(None, space_time)

    def timed(self, tilings: tuple[tuple[int, ...], ...], waves: Sequence[int] = ()) -> SpaceTime:
        """A space-time mapping; dimensions with several waves that `waves` leaves out stand inside, in their order."""
        bare = SpaceTime(self.program.grid, self.routes.mesh.shape, tilings, ())
        several = [dim for dim in range(len(self.grid)) if bare.wave_count(dim) > 1]
        order = [dim for dim in waves if dim in several] + [dim for dim in several if dim not in waves]
        return SpaceTime(self.program.grid, self.routes.mesh.shape, tilings, tuple(order))

    def with_space(self, mapping: TileMapping | None, space_time: SpaceTime) -> TileMapping:
        """A mapping of a space-time mapping with loads where they are used."""
        loads = []
        for load in self.loads.values():
            nest = nest_of(space_time, load.loops)
            loads.append(LoadChoice(Realisation(Delivery.PER_CORE), len(nest), 1))
        stores = (1,) * len(self.stores) if mapping is None else mapping.stores
        return TileMapping(space_time, tuple(loads), stores)

    def apply(self, mapping: TileMapping, step: PlanStep) -> TileMapping:
        """The mapping with one more decision. Raises TargetError for one that is not legal, with the reason."""
        named = dict(step.named)
        _demand_form(step)
        match step.name:
            case "spread":
                made = self.with_space(mapping, self._spread(step, named))
            case "waves":
                made = self._waves(mapping, step)
            case "load":
                made = self._load(mapping, step, named)
            case _:
                made = self._store(mapping, step, named)
        self.demand_room(made, step)
        return made

    def demand_room(self, mapping: TileMapping, step: PlanStep | None = None) -> None:
        """Raises TargetError if buffers do not fit the memory of a core."""
        used = used_bytes(self.program, mapping)
        if used > self.capacity:
            after = "" if step is None else f" with {step}"
            sizes = [f"    {self.program.local} bytes of arrays of the program"]
            for (name, load), choice in zip(self.loads.items(), mapping.loads, strict=True):
                size = footprint(load.box, nest_of(mapping.space_time, load.loops), choice.level)
                sizes.append(f"    {choice.buffers} x {size} bytes of '{name}'")
            raise TargetError(
                f"a core needs {used} bytes{after}, and has {self.capacity}:\n" + "\n".join(sizes),
                hint="issue loads inside of more loops, with one buffer, or make blocks smaller",
            )

    def _dim(self, step: PlanStep, name: str) -> int:
        if name not in self.grid:
            hint = nearest(name, self.grid) or f"it has {', '.join(self.grid)}"
            raise TargetError(f"{step}: the grid has no dimension '{name}'", hint=hint)
        return self.grid.index(name)

    def _spread(self, step: PlanStep, named: Mapping[str, Any]) -> SpaceTime:
        tilings: list[tuple[int, ...]] = [()] * len(self.grid)
        taken: dict[int, str] = {}
        for name, given in named.items():
            axes = []
            if not isinstance(given, str | tuple | list):
                raise TargetError(f"{step}: '{name}' is spread over dimensions of the cores, got {given!r}")
            for dim in (given,) if isinstance(given, str) else tuple(given):
                if dim not in self.dims:
                    hint = nearest(str(dim), self.dims) or f"they have {', '.join(self.dims)}"
                    raise TargetError(f"{step}: the cores have no dimension '{dim}'", hint=hint)
                axis = self.dims.index(dim)
                if axis in taken:
                    raise TargetError(f"{step}: '{dim}' is given to '{taken[axis]}' and to '{name}'")
                taken[axis] = name
                axes.append(axis)
            tilings[self._dim(step, name)] = tuple(axes)
        return self.timed(tuple(tilings))

    def _waves(self, mapping: TileMapping, step: PlanStep) -> TileMapping:
        dims = [self._dim(step, name) for name in step.arguments]
        if len(set(dims)) < len(dims):
            raise TargetError(f"{step}: a dimension is given twice")
        space_time = self.timed(mapping.space_time.tilings, dims)
        for dim in dims:
            if dim not in space_time.waves:
                raise TargetError(f"{step}: all programs of '{self.grid[dim]}' run in one wave", hint="leave it out")
        return self.with_space(mapping, space_time)

    def _load(self, mapping: TileMapping, step: PlanStep, named: Mapping[str, Any]) -> TileMapping:
        load = self._one(step, self.loads, "load")
        way = self._way(mapping, step, load)
        level = self._level(mapping, step, load, named.get("inside"))
        buffers = self._buffers(step, named, level > 0)
        chosen = [*mapping.loads]
        chosen[load.number] = LoadChoice(way, level, buffers)
        return TileMapping(mapping.space_time, tuple(chosen), mapping.stores)

    def _one[T](self, step: PlanStep, known: Mapping[str, T], kind: str) -> T:
        name = str(step.arguments[0]) if step.arguments else ""
        if name not in known:
            hint = nearest(name, list(known)) or f"there are {', '.join(known)}"
            raise TargetError(f"{step}: the program has no {kind} '{name}'", hint=hint)
        return known[name]

    def _way(self, mapping: TileMapping, step: PlanStep, load: PlacedLoad) -> Realisation:
        names = [str(value) for value in step.arguments[1:]]
        kinds = [kind.value for kind in Delivery]
        if not names or names[0] not in kinds:
            hint = nearest(names[0], kinds) if names else None
            raise TargetError(f"{step}: say how the tile comes to cores", hint=hint or f"one of {', '.join(kinds)}")
        way = Realisation(Delivery(names[0]), tuple(names[1:]))
        for name in way.networks:
            if name not in self.routes.network:
                hint = nearest(name, list(self.routes.network)) or f"there are {', '.join(self.routes.network)}"
                raise TargetError(f"{step}: the mesh has no network '{name}'", hint=hint)
        legal = list(realisations(mapping.space_time, load.box, self.routes))
        if way not in legal:
            listed = "; ".join(str(other) for other in legal)
            raise TargetError(
                f"{step}: cores do not share this tile in that way: {load.box.text(self.program.names)} is the same "
                f"{self._shared(mapping, load)}",
                hint=f"it can be delivered: {listed}",
            )
        return way

    def _shared(self, mapping: TileMapping, load: PlacedLoad) -> str:
        axes = [f"'{self.dims[axis]}'" for axis in reuse_axes(mapping.space_time, load.box)]
        return f"along {' and '.join(axes)} only" if axes else "in no two cores of a wave"

    def _level(self, mapping: TileMapping, step: PlanStep, load: PlacedLoad, inside: Any) -> int:
        names = [self.program.names[loop.level] for loop in nest_of(mapping.space_time, load.loops)]
        if inside is None:
            return 0
        if inside not in names:
            hint = f"there are {', '.join(names) or 'none'}; inside=None loads once, before all"
            raise TargetError(f"{step}: no loop '{inside}' around the load runs more than once", hint=hint)
        return names.index(inside) + 1

    def _buffers(self, step: PlanStep, named: Mapping[str, Any], repeats: bool) -> int:
        buffers = named.get("buffers", 1)
        if buffers not in (1, 2) or isinstance(buffers, bool):
            raise TargetError(f"{step}: buffers must be 1 or 2, got {buffers!r}")
        if buffers == 2 and not repeats:
            raise TargetError(f"{step}: what happens once needs one buffer", hint="give buffers=1")
        return int(buffers)

    def _store(self, mapping: TileMapping, step: PlanStep, named: Mapping[str, Any]) -> TileMapping:
        _, _, loops = self._one(step, self.stores, "store")
        number = list(self.stores).index(step.arguments[0])
        chosen = [*mapping.stores]
        chosen[number] = self._buffers(step, named, bool(nest_of(mapping.space_time, loops)))
        return TileMapping(mapping.space_time, mapping.loads, tuple(chosen))

    def steps(self, mapping: TileMapping) -> tuple[PlanStep, ...]:
        """The decisions of a mapping, which make it again from any other one of the same program."""
        space_time = mapping.space_time
        spread = [
            (self.grid[dim], names[0] if len(names) == 1 else names)
            for dim, axes in enumerate(space_time.tilings)
            if (names := tuple(self.dims[axis] for axis in axes))
        ]
        steps = [PlanStep("spread", (), tuple(spread))]
        if len(space_time.waves) > 1:
            steps.append(PlanStep("waves", tuple(self.grid[dim] for dim in space_time.waves), ()))
        for (name, load), choice in zip(self.loads.items(), mapping.loads, strict=True):
            nest = nest_of(space_time, load.loops)
            inside = self.program.names[nest[choice.level - 1].level] if choice.level else None
            way = choice.realisation
            arguments = (name, way.delivery.value, *way.networks)
            steps.append(PlanStep("load", arguments, (("inside", inside), ("buffers", choice.buffers))))
        steps += [
            PlanStep("store", (name,), (("buffers", buffers),))
            for name, buffers in zip(self.stores, mapping.stores, strict=True)
        ]
        return tuple(steps)


def _demand_form(step: PlanStep) -> None:
    """Raises TargetError for a step that is unknown, or has other arguments than it takes."""
    if step.name not in _STEPS:
        hint = nearest(step.name, list(_STEPS)) or f"steps are {', '.join(_STEPS)}"
        raise TargetError(f"there is no step '{step.name}'", hint=hint)
    least, most, names, needed, example = _STEPS[step.name]
    given = [name for name, _ in step.named]
    wrong = [name for name in given if (names is not None and name not in names) or given.count(name) > 1]
    missing = [name for name in needed if name not in given]
    if wrong or missing or not least <= len(step.arguments) <= most:
        what = f"takes no '{wrong[0]}'" if wrong else f"needs '{missing[0]}'" if missing else "has other arguments"
        raise TargetError(f"{step}: {step.name} {what}", hint=f"write `{example}`")


def _named[T](items: Sequence[tuple[str, T]]) -> dict[str, T]:
    """Things by name; those of an array that has several are numbered, `A`, `A.1`, ..."""
    found: dict[str, T] = {}
    for name, item in items:
        number = sum(known.partition(".")[0] == name for known in found)
        found[f"{name}.{number}" if number else name] = item
    return found


def parse_steps(text: str) -> tuple[PlanStep, ...]:
    """The steps of a text, one a line. Raises TargetError for a line that is none."""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line:
            steps.append(_parsed(number, line))
    return tuple(steps)


def _parsed(number: int, line: str) -> PlanStep:
    try:
        call = ast.parse(line, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and all(k.arg for k in call.keywords):
            arguments = tuple(ast.literal_eval(value) for value in call.args)
            named = tuple((str(keyword.arg), ast.literal_eval(keyword.value)) for keyword in call.keywords)
            return PlanStep(call.func.id, arguments, named)
    except (SyntaxError, ValueError):
        pass
    raise TargetError(f"line {number}: `{line}` is no step of a plan", hint='write `load("A", "per core", inside="k")`')
