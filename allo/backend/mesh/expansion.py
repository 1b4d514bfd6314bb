"""Programs of single cores under a mapping: what they compute and store in which order, and the issues of loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...mapping.tiles.choices import NestLoop, PlacedLoad, TileMapping, loads_of, nest_of, reuse_axes
from ...mapping.tiles.program import TileBox, TileLoop, TileNode, TileProgram
from ...target.mesh_routes import MeshRoutes

_BEFORE, _NOWHERE = -1, -2  # levels of what is loaded before all waves, and of loops that run once

type Core = tuple[int, ...]
type Place = tuple[int, ...]  # where a tile begins


@dataclass(eq=False)
class Issue:
    """One issue of a load: the tiles that cores of a group get together, each with the cores that need it."""

    load: int
    tiles: dict[Place, list[Core]] = field(default_factory=dict)
    members: list[Core] = field(default_factory=list)
    ready: int = 0  # members that have a free buffer
    missing: dict[Core, int] = field(default_factory=dict)  # tiles that have not arrived


@dataclass(frozen=True, slots=True)
class Compute:
    """A segment, the indices of all levels, and the issues whose tiles it reads."""

    segment: int
    indices: tuple[int, ...]
    needs: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """The buffer of an issue is free."""

    issue: Issue


@dataclass(frozen=True, slots=True)
class StoreTile:
    """A tile goes to the memory beside the chip."""

    store: int
    box: TileBox
    place: Place


type Instruction = Compute | Release | StoreTile
type Body = Callable[[], Iterator[Instruction]]


class CorePrograms:
    """The instructions of all cores, and for each core and load its issues in order."""

    def __init__(self, program: TileProgram, mapping: TileMapping, routes: MeshRoutes) -> None:
        self.program, self.mapping = program, mapping
        self.space_time = mapping.space_time
        self.loads = loads_of(program)
        self._levels = range(len(program.names))
        self._known = [_known_load(load, mapping, routes) for load in self.loads]
        self._loads_in = {
            segment.number: [load.number for load in self.loads if load.segment.number == segment.number]
            for segment, _ in program.segments
        }
        self.stores = {}
        number = 0
        for segment, _ in program.segments:
            for box in segment.stores:
                self.stores[segment.number, box] = number
                number += 1
        self.at_level: dict[int, list[PlacedLoad]] = {}
        for load, choice in zip(self.loads, mapping.loads, strict=True):
            nest = nest_of(self.space_time, load.loops)
            self.at_level.setdefault(nest[choice.level - 1].level if choice.level else _BEFORE, []).append(load)
        self._made: dict[tuple[object, ...], Issue] = {}
        self._ran: dict[tuple[Core, Core], Core | None] = {}
        self._needed: dict[tuple[object, ...], tuple[Place, ...]] = {}
        self._axes = [self._deciding(known) for known in self._known]
        self.issues: dict[tuple[Core, int], list[Issue]] = {}
        self._open: dict[int, Issue] = {}
        self.instructions = {core: list(self._core(core)) for core in routes.cores}

    def _program(self, core: Core, wave: Sequence[int]) -> Core | None:
        """The program that a core runs in a wave."""
        key = core, tuple(wave)
        if key not in self._ran:
            self._ran[key] = self.space_time.program(core, wave)
        return self._ran[key]

    def _deciding(self, known: _KnownLoad) -> tuple[int, ...]:
        """The dimensions of cores that decide which tiles of a load a core needs: all, unless waves are full."""
        space_time = self.space_time
        dims = [space_time.dim_of(axis) for axis in range(len(space_time.shape))]
        if any(count % space_time.across(dim) for dim, count in enumerate(space_time.grid)):
            return tuple(range(len(dims)))
        return tuple(axis for axis, dim in enumerate(dims) if dim is not None and dim in known.used)

    def _core(self, core: Core) -> Iterator[Instruction]:
        wave = [0] * len(self.program.grid)
        if self._program(core, wave) is not None:
            self._open = {}
            yield from self._with_loads(_BEFORE, core, wave, {}, partial(self._waves, core, wave, 0))

    def _with_loads(
        self, level: int, core: Core, wave: Sequence[int], loops: dict[int, int], body: Body
    ) -> Iterator[Instruction]:
        issued = [self._issue(load, core, wave, loops) for load in self.at_level.get(level, ())]
        yield from body()
        yield from (Release(issue) for issue in issued)

    def _waves(self, core: Core, wave: list[int], depth: int) -> Iterator[Instruction]:
        if depth == len(self.space_time.waves):
            if (program := self._program(core, wave)) is not None:
                yield from self._body(self.program.body, core, wave, dict(enumerate(program)))
            return
        dim = self.space_time.waves[depth]
        for index in range(self.space_time.wave_count(dim)):
            wave[dim] = index
            if self._reaches(core, wave, depth + 1):
                yield from self._with_loads(dim, core, wave, {}, partial(self._waves, core, wave, depth + 1))
        wave[dim] = 0

    def _reaches(self, core: Core, wave: Sequence[int], depth: int) -> bool:
        """Whether the core has a program in one of the waves behind `depth` loops: if it has one, then in the first."""
        first = list(wave)
        for dim in self.space_time.waves[depth:]:
            first[dim] = 0
        return self._program(core, first) is not None

    def _body(
        self, nodes: Sequence[TileNode], core: Core, wave: list[int], indices: dict[int, int]
    ) -> Iterator[Instruction]:
        for node in nodes:
            if isinstance(node, TileLoop):
                yield from self._loop(node, core, wave, indices)
                continue
            needs = tuple(self._open[number] for number in self._loads_in[node.number])
            full = tuple(indices.get(level, 0) for level in self._levels)
            yield Compute(node.number, full, needs)
            for box in node.stores:
                if box.bytes_at(place := box.at(full)):
                    yield StoreTile(self.stores[node.number, box], box, place)

    def _loop(self, loop: TileLoop, core: Core, wave: list[int], indices: dict[int, int]) -> Iterator[Instruction]:
        around = [indices.get(level, 0) for level in self._levels]
        for value in loop.values(around):
            inner = indices | {loop.level: value}
            loops = {level: k for level, k in inner.items() if level >= len(self.program.grid)}
            level = loop.level if loop.most > 1 else _NOWHERE
            yield from self._with_loads(level, core, wave, loops, partial(self._body, loop.body, core, wave, inner))

    def _issue(self, load: PlacedLoad, core: Core, wave: Sequence[int], loops: dict[int, int]) -> Issue:
        """The issue of a load that a core takes part in here, with the tiles that it needs."""
        known = self._known[load.number]
        outer = tuple(wave[loop.level] if loop.is_wave else loops[loop.level] for loop in known.outer)
        group = tuple(-1 if axis in known.shared else place for axis, place in enumerate(core))
        issue = self._made.setdefault((load.number, group, outer), Issue(load.number))
        issue.members.append(core)
        key = load.number, tuple(wave), tuple(loops.items()), *(core[axis] for axis in self._axes[load.number])
        if (places := self._needed.get(key)) is None:
            places = self._needed[key] = tuple(dict.fromkeys(self._places(load, known, core, list(wave), loops)))
        issue.missing[core] = len(places)
        for place in places:
            issue.tiles.setdefault(place, []).append(core)
        self.issues.setdefault((core, load.number), []).append(issue)
        self._open[load.number] = issue
        return issue

    def _places(
        self, load: PlacedLoad, known: _KnownLoad, core: Core, wave: list[int], loops: dict[int, int]
    ) -> Iterator[Place]:
        """Where the tiles begin that a core needs of a load until its issue ends."""

        def waves(depth: int) -> Iterator[Place]:
            if depth < len(known.dims):
                for index in range(self.space_time.wave_count(known.dims[depth])):
                    wave[known.dims[depth]] = index
                    yield from waves(depth + 1)
                wave[known.dims[depth]] = 0
            elif (program := self._program(core, wave)) is not None:
                yield from inside(0, dict(enumerate(program)) | loops)

        def inside(depth: int, indices: dict[int, int]) -> Iterator[Place]:
            while depth < len(load.loops) and load.loops[depth].level in indices:
                depth += 1
            full = [indices.get(k, 0) for k in self._levels]
            if depth == len(load.loops):
                if load.box.bytes_at(place := load.box.at(full)):
                    yield place
                return
            loop = load.loops[depth]
            values = loop.values(full)
            for value in values if loop.level in known.used else values[:1]:
                yield from inside(depth + 1, indices | {loop.level: value})

        yield from waves(0)


@dataclass(frozen=True, slots=True)
class _KnownLoad:
    """What all issues of a load have in common.

    `outer` are the loops around an issue, `shared` the dimensions of cores along which it is broadcast, `dims` those of
    the grid whose waves it gathers, `used` the levels on which the places of its tiles depend.
    """

    outer: tuple[NestLoop, ...]
    shared: frozenset[int]
    dims: tuple[int, ...]
    used: frozenset[int]


def _known_load(load: PlacedLoad, mapping: TileMapping, routes: MeshRoutes) -> _KnownLoad:
    space_time, choice = mapping.space_time, mapping.loads[load.number]
    nest = nest_of(space_time, load.loops)
    used = set(load.box.levels)
    for loop in reversed(load.loops):  # bounds of loops that matter may depend on others
        if loop.level in used:
            used |= loop.lower.levels | loop.upper.levels
    crossed = {loop.level for loop in nest[choice.level :]}
    dims = tuple(dim for dim in space_time.waves if dim in crossed and dim in used)
    axes = {network.axis for network in routes.networks if network.name in choice.realisation.networks}
    shared = frozenset(axis for axis in reuse_axes(space_time, load.box) if axis in axes)
    return _KnownLoad(nest[: choice.level], shared, dims, frozenset(used))
