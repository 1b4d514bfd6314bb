"""Loops of cores as text: waves, loops of programs, who takes part in a load, where its tiles are in a buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from ...errors import TargetError
from ...mapping.tiles.choices import NestLoop, PlacedLoad, TileMapping, loads_of, nest_of, reuse_axes
from ...mapping.tiles.program import LevelForm, TileLoop, TileNode, TileProgram, TileSegment
from ...target.mesh_routes import MeshRoutes

_BEFORE = -1
_COORDINATES = ("x", "y")
type Lines = list[str]
type OfLoad = Callable[[PlacedLoad, str], Lines]  # what is done for a load under a condition, "" if always


class NestText:
    """The loops that all kernels of a plan go through in the same order, whatever each does inside.

    Cores of a broadcast go through the issues of its load together: one whose own program has fewer iterations, or
    which has no program in a wave, takes the tile and drops it. So no core waits for one that does not come.
    """

    def __init__(self, program: TileProgram, mapping: TileMapping, routes: MeshRoutes) -> None:
        self.program, self.mapping, self.space = program, mapping, mapping.space_time
        self.loads = loads_of(program)
        self.shared: list[frozenset[int]] = []
        self.nests: list[tuple[NestLoop, ...]] = []
        self.at_level: dict[int, list[PlacedLoad]] = {}
        self.ends = {level: (0, extent - 1) for level, extent in enumerate(program.grid)}
        self.loops = {loop.level: loop for _, around in program.segments for loop in around}
        for _, around in program.segments:
            for loop in around:
                self.ends[loop.level] = loop.lower.between(self.ends)[0], loop.upper.between(self.ends)[1] - 1
                if loop.step > 1 and loop.lower.terms:
                    raise TargetError(
                        f"the loop '{loop.name}' begins elsewhere in each program and goes in steps of {loop.step}",
                        hint="count its iterations from 0, and multiply inside",
                    )
        for load, choice in zip(self.loads, mapping.loads, strict=True):
            nest = nest_of(self.space, load.loops)
            axes = {network.axis for network in routes.networks if network.name in choice.realisation.networks}
            self.nests.append(nest)
            self.shared.append(frozenset(a for a in reuse_axes(self.space, load.box) if a in axes))
            level = nest[choice.level - 1].level if choice.level else _BEFORE
            self.at_level.setdefault(level, []).append(load)

    def text(self, enter: OfLoad, leave: OfLoad, segment: Callable[[TileSegment], Lines]) -> Lines:
        """The whole nest; `enter` and `leave` are what is done for a load where it is issued, and where it ends."""
        self._enter, self._leave, self._segment = enter, leave, segment
        return self._with_loads(_BEFORE, lambda: self._waves(0))

    def _with_loads(self, level: int, body: Callable[[], Lines]) -> Lines:
        loads = self.at_level.get(level, [])
        lines = [line for load in loads for line in self._enter(load, self.part(load))]
        lines += body()
        return lines + [line for load in loads for line in self._leave(load, self.part(load))]

    def _waves(self, depth: int) -> Lines:
        if depth == len(self.space.waves):
            return self._body(self.program.body)
        dim = self.space.waves[depth]
        name, count = self.wave(dim), self.space.wave_count(dim)
        inner = self._with_loads(dim, lambda: self._waves(depth + 1))
        return [f"for (int32_t {name} = 0; {name} < {count}; ++{name}) {{", *_in(inner), "}"]

    def _body(self, nodes: Sequence[TileNode]) -> Lines:
        lines: Lines = []
        for node in nodes:
            if isinstance(node, TileLoop):
                lines += self._loop(node)
            elif inner := self._segment(node):
                live = self._conditions(frozenset(), [loop for loop in self.loops_of(node)])
                lines += guarded(live, inner)
        return lines

    def loops_of(self, segment: TileSegment) -> tuple[TileLoop, ...]:
        """The loops around a segment."""
        return next(loops for known, loops in self.program.segments if known == segment)

    def _loop(self, loop: TileLoop) -> Lines:
        name = self.variable(loop.level)
        level = loop.level if loop.most > 1 else None
        inner = self._body(loop.body)
        if level is not None:
            inner = self._with_loads(level, lambda: self._body(loop.body))
        if not inner:
            return []
        lower, upper = self._span(loop)
        return [f"for (int32_t {name} = {lower}; {name} < {upper}; {name} += {loop.step}) {{", *_in(inner), "}"]

    def _span(self, loop: TileLoop) -> tuple[str, str]:
        """From where to where a loop goes for a core itself and all with which it takes part in loads."""
        spans = [self.bounds(loop, frozenset())]
        spans += [self.bounds(loop, self.shared[load.number]) for load in self._inside(loop)]
        lowers, uppers = (list(dict.fromkeys(side)) for side in zip(*spans, strict=True))
        return _nested("least", lowers), _nested("most", uppers)

    def _inside(self, loop: TileLoop) -> list[PlacedLoad]:
        """The loads that are issued in a loop."""
        return [
            load for load in self.loads
            if any(k.level == loop.level for k in self.nests[load.number][: self.mapping.loads[load.number].level])
        ]  # fmt: skip

    def part(self, load: PlacedLoad) -> str:
        """The condition under which a core takes part in an issue of a load; empty if it always does."""
        outer = {k.level for k in self.nests[load.number][: self.mapping.loads[load.number].level]}
        loops = [loop for loop in load.loops if loop.level in outer]
        dims = [dim for dim in self.space.waves if dim in outer]
        return self._conditions(self.shared[load.number], loops, dims)

    def _conditions(
        self, shared: frozenset[int], loops: Sequence[TileLoop], dims: Sequence[int] | None = None
    ) -> str:
        found = [self.valid(dim, shared) for dim in (self.space.waves if dims is None else dims)]
        for loop in loops:
            lower, upper = self.bounds(loop, shared)
            whole, name = self._span(loop), self.variable(loop.level)
            found += [f"{name} >= {lower}"] if lower != whole[0] else []
            found += [f"{name} < {upper}"] if upper != whole[1] else []
        return " && ".join(dict.fromkeys(condition for condition in found if condition))

    def valid(self, dim: int, shared: frozenset[int]) -> str:
        """Whether there is a program in this wave for one of the cores that share; empty if there always is."""
        if self.space.wave_count(dim) == 1 or not self.program.grid[dim] % self.space.across(dim):
            return ""
        return f"{self._program(dim, shared)} < {self.program.grid[dim]}"

    def bounds(self, loop: TileLoop, shared: frozenset[int]) -> tuple[str, str]:
        """The least lower and the greatest upper bound of a loop for cores along these dimensions."""
        return self.form(loop.lower, shared, -1), self.form(loop.upper, shared, 1)

    def form(self, form: LevelForm, shared: frozenset[int] = frozenset(), side: int = 0) -> str:
        """A form as text; with `side`, its least or greatest value for cores along dimensions that are shared."""
        parts = [_times(self.level(level, shared, side * c), c) for level, c in form.terms]
        return _sum(parts, form.constant)

    def level(self, level: int, shared: frozenset[int] = frozenset(), side: int = 0) -> str:
        """The index of a level as text."""
        if level >= len(self.program.grid):
            return self.variable(level)
        text = self._program(level, shared if side else frozenset())
        axes = self.space.tilings[level]
        if side > 0 and any(axis in shared for axis in axes):
            apart = sum(self._scale(level, axis) * (self.space.shape[axis] - 1) for axis in axes if axis in shared)
            return f"least({text} + {apart}, {self.program.grid[level] - 1})"
        return text

    def _scale(self, dim: int, axis: int) -> int:
        axes = self.space.tilings[dim]
        return prod(self.space.shape[other] for other in axes[: axes.index(axis)])

    def _program(self, dim: int, shared: frozenset[int]) -> str:
        axes = self.space.tilings[dim]
        parts = [_times(_COORDINATES[axis], self._scale(dim, axis)) for axis in axes if axis not in shared]
        if self.space.wave_count(dim) > 1:
            parts.append(_times(self.wave(dim), self.space.across(dim)))
        return _sum(parts, 0)

    def wave(self, dim: int) -> str:
        """The variable of a loop over waves."""
        return f"wave_{self.program.names[dim]}"

    def variable(self, level: int) -> str:
        """The variable of a loop of programs."""
        return f"{self.program.names[level]}_{level}"

    def crossed(self, load: PlacedLoad) -> list[NestLoop]:
        """The loops inside of an issue on which the place of the tile depends: their tiles come together."""
        nest = self.nests[load.number][self.mapping.loads[load.number].level :]
        return [loop for loop in nest if loop.level in load.box.levels]

    def slots(self, load: PlacedLoad) -> int:
        """How many tiles of a load come together."""
        return prod(self._trips(loop) for loop in self.crossed(load))

    def _trips(self, loop: NestLoop) -> int:
        if loop.is_wave:
            return loop.most
        low, high = self.ends[loop.level]
        return (high - low) // loop.step + 1

    def slot(self, load: PlacedLoad) -> str:
        """The number of a tile among those that come together, as text."""
        text = ""
        for loop in self.crossed(load):
            if loop.is_wave:
                index = self.wave(loop.level)
            else:
                index = _sum([self.variable(loop.level)], -self.ends[loop.level][0])
                index = f"{_single(index)} / {loop.step}" if loop.step > 1 else index
            text = f"({text}) * {self._trips(loop)} + {index}" if text else index
        return text or "0"

    def gathered(self, load: PlacedLoad, body: Lines) -> Lines:
        """`body` for all tiles of a load that come together."""
        shared, lines = self.shared[load.number], body
        known = {k.level for k in self.nests[load.number][: self.mapping.loads[load.number].level]}
        known |= {*range(len(self.program.grid))} | {k.level for k in self.crossed(load)}
        for loop in reversed(self.crossed(load)):
            if loop.is_wave:
                name = self.wave(loop.level)
                lines = guarded(self.valid(loop.level, shared), lines)
                lines = [f"for (int32_t {name} = 0; {name} < {loop.most}; ++{name}) {{", *_in(lines), "}"]
                continue
            name, source = self.variable(loop.level), self.loops[loop.level]
            lower, upper = (self._static(form, known) for form in (source.lower, source.upper))
            low = str(self.ends[loop.level][0]) if lower is None else self.form(lower, shared, -1)
            high = str(self.ends[loop.level][1] + 1) if upper is None else self.form(upper, shared, 1)
            lines = [f"for (int32_t {name} = {low}; {name} < {high}; {name} += {loop.step}) {{", *_in(lines), "}"]
        return lines

    def _static(self, form: LevelForm, known: set[int]) -> LevelForm | None:
        """A form of levels that have a value where a load is issued; None if it has others."""
        return form if form.levels <= known and all(self._counted(level) for level in form.levels) else None

    def _counted(self, level: int) -> bool:
        """Whether a dimension of the grid has a value outside of the loops over waves, or none is needed."""
        return level >= len(self.program.grid) or self.space.wave_count(level) == 1

    def cores(self) -> list[tuple[int, ...]]:
        """The cores that have a program in the first wave, in order."""
        first = [0] * len(self.program.grid)
        every = ((x, y) for y in range(self.space.shape[1]) for x in range(self.space.shape[0]))
        return [core for core in every if self.space.program(core, first) is not None]


def guarded(condition: str, lines: Lines) -> Lines:
    """Lines under a condition; as they are without one."""
    return [f"if ({condition}) {{", *_in(lines), "}"] if condition else lines


def indented(lines: Sequence[str], depth: int = 1) -> Iterator[str]:
    """Lines moved to the right."""
    return (f"{'    ' * depth}{line}" if line else line for line in lines)


def _in(lines: Sequence[str]) -> Lines:
    return list(indented(lines))


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{_single(text)} * {factor}"


def _single(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _sum(parts: Sequence[str], constant: int) -> str:
    text = " + ".join(parts)
    if not parts:
        return str(constant)
    return text if not constant else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"


def _nested(name: str, texts: Sequence[str]) -> str:
    text = texts[0]
    for other in texts[1:]:
        text = f"{name}({text}, {other})"
    return text
