"""Random calls of every primitive, and of `compose`, on what a schedule has."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

import allo
from allo import Partition, Schedule
from allo.customize.step.handles import Buffer, Loop
from allo.errors import AlloError, InternalError
from allo.ir.walk import buffers_of, string_of
from allo.memory import Memory

from .kernels import Kernel
from .recipes import RECIPES


@dataclass
class Attempt:
    """A random schedule: what was accepted, and what was wrong about refusals.

    If nobody looks (`seen`) at the module between two steps, the second may go on with that of the first.
    """

    schedule: Schedule
    seen: bool
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def attempted(kernel: Kernel, seed: int, steps: int = 6, seen: bool | None = None) -> Attempt:
    """The schedule of a kernel after random steps, of which some are refused. What is not an AlloError is raised."""
    draw = random.Random(f"steps {seed}")
    made = Attempt(allo.customize(kernel.function), seed % 2 == 0 if seen is None else seen)
    if draw.random() < 0.2 and kernel.functions:
        _step(made, lambda: _compose(draw, kernel, made.schedule))
    if kernel.family in RECIPES and draw.random() < 0.6:
        for call in RECIPES[kernel.family](draw, made.schedule):
            _step(made, call)
    for _ in range(draw.randrange(1, steps + 1)):
        _step(made, lambda: _primitive(draw, made.schedule))
    return made


def _step(made: Attempt, call: Callable[[], object]) -> None:
    before = str(made.schedule.module) if made.seen else ""
    try:
        call()
    except AlloError as error:
        made.refused += 1
        if made.seen and str(made.schedule.module) != before:
            made.wrong.append(f"changed by a step that was refused: {error}")
        if isinstance(error, InternalError) or not any(d.at for d in error.diagnostics):
            made.wrong.append(f"no line, or our own fault: {type(error).__name__}: {error}")


def _compose(draw: random.Random, kernel: Kernel, schedule: Schedule) -> None:
    part = allo.customize(kernel.functions[draw.choice(list(kernel.functions))])
    for _ in range(draw.randrange(1, 4)):
        _step(Attempt(part, False), lambda: _primitive(draw, part))
    schedule.compose(part)


def _primitive(draw: random.Random, schedule: Schedule) -> object:
    name, arguments, named = draw.choice(STEPS)(Chooser(draw, schedule))
    return getattr(schedule, name)(*arguments, **named)


type Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class Chooser:
    """Draws the arguments of primitives from what a schedule has."""

    def __init__(self, draw: random.Random, schedule: Schedule) -> None:
        self.draw, self.schedule = draw, schedule
        self.function = draw.choice(schedule.ir.names())
        self.nests = [list(nest) for nest in schedule.get_loops(self.function)]
        if not self.nests:
            self.function = schedule.top_func_name
            self.nests = [list(nest) for nest in schedule.get_loops()]

    def nest(self) -> list[Loop]:
        return self.draw.choice(self.nests) if self.nests else [Loop(self.function, "S_i_0", "i")]

    def loop(self) -> Loop:
        return self.draw.choice(self.nest())

    def neighbours(self) -> list[Loop]:
        nest = self.nest()
        start = self.draw.randrange(max(1, len(nest) - 1))
        return nest[start : start + self.draw.choice([2, 2, 3])]

    def buffer(self, local: bool = False) -> Buffer:
        names = sorted(self.schedule.ir.buffers(self.function))
        if local:
            entry = {str(a) for a in _locals(self.schedule, self.function)}
            names = [name for name in names if name in entry] or names
        return Buffer(self.function, self.draw.choice(names)) if names else Buffer(self.function, "A")

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        value = buffers_of(self.schedule.ir.function(buffer.function)).get(buffer.name)
        kind = None if value is None else value.type
        return tuple(kind.shape) if isinstance(kind, ir.MemRefType) else ()

    def target(self) -> str:
        """A nest or a function, as the destination of a FIFO."""
        others = [name for name in self.schedule.ir.names() if name != self.function]
        if others and self.draw.random() < 0.4:
            return self.draw.choice(others)
        loop = self.nest()[0]
        return f"{loop.function}:{loop.nest}"


def _locals(schedule: Schedule, function: str) -> list[str]:
    found = buffers_of(schedule.ir.function(function)).items()
    made = [(name, value.owner) for name, value in found if not isinstance(value.owner, ir.Block)]
    return [name for name, owner in made if string_of(owner, "allo.name")]


def split(c: Chooser) -> Call:
    return "split", (c.loop(), c.draw.choice([1, 2, 2, 3, 4, 5])), {}


def reorder(c: Chooser) -> Call:
    loops = c.neighbours()
    return "reorder", tuple(c.draw.sample(loops, len(loops))), {}


def fuse(c: Chooser) -> Call:
    return "fuse", tuple(c.neighbours()), {}


def fuse_row(c: Chooser) -> Call:
    first = c.draw.randrange(max(1, len(c.nests)))
    if first + 1 < len(c.nests) and c.draw.random() < 0.7:
        return "fuse", (c.nests[first][0], c.nests[first + 1][0]), {}
    return "fuse", (c.loop(), c.loop()), {}


def compute_at(c: Chooser) -> Call:
    first = c.draw.randrange(max(1, len(c.nests)))
    later = c.nests[min(first + c.draw.choice([1, 1, 2]), len(c.nests) - 1)] if c.nests else c.nest()
    return "compute_at", ((c.nests[first] if c.nests else c.nest())[0], c.draw.choice(later)), {}


def skew(c: Chooser) -> Call:
    pair = c.neighbours()
    return "skew", (pair[0], pair[-1], c.draw.choice([-2, -1, 1, 2])), {}


def peel(c: Chooser) -> Call:
    return "peel", (c.loop(),), {c.draw.choice(["front", "back"]): c.draw.choice([1, 2])}


def unroll(c: Chooser) -> Call:
    return "unroll", (c.loop(), c.draw.choice([0, 1, 2, 3, 4])), {}


def unfold(c: Chooser) -> Call:
    loop = c.loop()
    return "unfold", (f"{loop.function}:{loop.nest}",), {"axes": c.draw.choice([[0], [1], [0, 1]])}


def pipeline(c: Chooser) -> Call:
    return "pipeline", (c.loop(), c.draw.choice([1, 2])), {}


def parallel(c: Chooser) -> Call:
    return "parallel", (c.loop(),), {}


def dataflow(c: Chooser) -> Call:
    return "dataflow", (c.draw.choice([c.function, c.schedule.top_func_name, c.loop()]),), {}


def inline(c: Chooser) -> Call:
    return "inline", (c.function,), {}


def specialize(c: Chooser) -> Call:
    return (
        "specialize",
        (c.function, [c.draw.choice(c.schedule.ir.names())], f"copy{c.draw.randrange(9)}"),
        {},
    )


def unify(c: Chooser) -> Call:
    return "unify", (c.function, c.draw.choice(c.schedule.ir.names())), {"loop_num": c.draw.choice([0, 0, 1, 2])}


def partition(c: Chooser) -> Call:
    kind = c.draw.choice(list(Partition))
    factor = 0 if kind is Partition.Complete else c.draw.choice([2, 3, 4])
    return "partition", (c.buffer(), kind), {"dim": c.draw.randrange(3), "factor": factor}


def buffer_at(c: Chooser) -> Call:
    return "buffer_at", (c.buffer(), c.loop()), {}


def reuse_at(c: Chooser) -> Call:
    return "reuse_at", (c.buffer(), c.loop()), {"strict": True}


def reshape(c: Chooser) -> Call:
    buffer = c.buffer()
    total = math.prod(c.shape(buffer)) or 1
    divisors = [d for d in range(1, min(abs(total), 65)) if total % d == 0] or [1]
    one = c.draw.choice(divisors)
    rest = total // one
    two = c.draw.choice([d for d in divisors if rest % d == 0] or [1])
    return (
        "reshape",
        (buffer, c.draw.choice([[total], [one, rest], [rest, one], [one, two, rest // two]])),
        {},
    )


def pack(c: Chooser) -> Call:
    buffer = c.buffer()
    dim = c.draw.randrange(1, max(2, len(c.shape(buffer)) + 1))
    return "pack", (buffer,), {"dim": dim, "factor": c.draw.choice([2, 2, 4, 8])}


def bind(c: Chooser) -> Call:
    return "bind", (c.buffer(), Memory(resource=c.draw.choice(["BRAM", "URAM", "LUTRAM"]))), {}


def relay(c: Chooser) -> Call:
    depth = c.draw.choice([-1, -1, 1, 2, 4])
    return "relay", (c.buffer(local=c.draw.random() < 0.8), c.target()), {"depth": depth}


def relay_along(c: Chooser) -> Call:
    loop = c.nest()[0]
    depth = c.draw.choice([-1, 1, 2])
    return (
        "relay",
        (c.buffer(), f"{loop.function}:{loop.nest}"),
        {"axis": c.draw.choice([0, 1]), "depth": depth},
    )


STEPS: tuple[Callable[[Chooser], Call], ...] = (
    *(
        split,
        split,
        reorder,
        reorder,
        reorder,
        fuse,
        fuse_row,
        fuse_row,
        compute_at,
        compute_at,
        skew,
        peel,
        unroll,
        unfold,
        unfold,
    ),
    *(
        pipeline,
        parallel,
        dataflow,
        inline,
        specialize,
        unify,
        partition,
        partition,
        buffer_at,
        buffer_at,
        reuse_at,
        reuse_at,
    ),
    *(reshape, reshape, pack, pack, bind, relay, relay, relay, relay_along, relay_along, relay_along),
)
