"""Random calls of every primitive, with loops and buffers that exist; a call may still be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from allo import Partition, Schedule
from allo.customize.step.handles import Buffer, Loop
from allo.memory import Memory

type Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class Chooser:
    """Draws the arguments of primitives from what a schedule has."""

    def __init__(self, draw: st.DrawFn, schedule: Schedule) -> None:
        self.draw = draw
        self.schedule = schedule
        self.functions = list(dict.fromkeys(name.split(":")[0] for name in schedule.buffers if ":" in name))
        self.function = draw(st.sampled_from(self.functions))
        self.nests = [list(nest) for nest in schedule.get_loops(self.function)]

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def nest(self) -> list[Loop]:
        return self.draw(st.sampled_from(self.nests))

    def loop(self) -> Loop:
        return self.draw(st.sampled_from(self.nest()))

    def buffers(self) -> list[Buffer]:
        return sorted({b for b in self.schedule.buffers.values() if b.function == self.function}, key=str)

    def buffer(self) -> Buffer:
        return self.draw(st.sampled_from(self.buffers()))

    def local(self) -> Buffer:
        return Buffer(self.schedule.top_func_name, "L")

    def stage(self) -> Buffer:
        found = [b for b in self.schedule.buffers.values() if b.name.endswith("P")]
        return found[0] if found else self.local()

    def neighbours(self) -> list[Loop]:
        nest = self.nest()
        start = self.number(0, max(0, len(nest) - 2))
        return nest[start : start + self.number(2, 3)]


def split(c: Chooser) -> Call:
    return "split", (c.loop(), c.number(1, 4)), {}


def reorder(c: Chooser) -> Call:
    return "reorder", tuple(c.draw(st.permutations(c.neighbours()))), {}


def fission(c: Chooser) -> Call:
    return "fission", (c.loop(),), {}


def fuse(c: Chooser) -> Call:
    return "fuse", tuple(c.neighbours()), {}


def fuse_row(c: Chooser) -> Call:
    """Loops in a row: the outermost ones of nests that follow each other, or two of one nest."""
    first = c.number(0, len(c.nests) - 1)
    if first + 1 < len(c.nests) and c.number(0, 2):
        return "fuse", (c.nests[first][0], c.nests[first + 1][0]), {}
    return "fuse", (c.loop(), c.loop()), {}


def compute_at(c: Chooser) -> Call:
    stages = [k for k, nest in enumerate(c.nests) if nest[0].name.startswith("x")]
    first = stages[0] if stages and c.number(0, 3) else c.number(0, len(c.nests) - 1)
    later = c.nests[first + 1] if first + 1 < len(c.nests) else c.nests[first]
    return "compute_at", (c.nests[first][0], c.draw(st.sampled_from(later))), {}


def skew(c: Chooser) -> Call:
    pair = c.neighbours()
    return "skew", (pair[0], pair[-1], c.draw(st.sampled_from([-2, -1, 1, 2]))), {}


def peel(c: Chooser) -> Call:
    return "peel", (c.loop(),), {c.draw(st.sampled_from(["front", "back"])): c.number(1, 2)}


def unroll(c: Chooser) -> Call:
    return "unroll", (c.loop(), c.number(0, 4)), {}


def unfold(c: Chooser) -> Call:
    loop = c.loop()
    return "unfold", (f"{loop.function}:{loop.nest}",), {"axes": [c.number(0, 1)]}


def pipeline(c: Chooser) -> Call:
    return "pipeline", (c.loop(), c.number(1, 3)), {}


def parallel(c: Chooser) -> Call:
    return "parallel", (c.loop(),), {}


def dataflow(c: Chooser) -> Call:
    return "dataflow", (c.function,), {}


def inline(c: Chooser) -> Call:
    return "inline", (c.function,), {}


def partition(c: Chooser) -> Call:
    kind = c.draw(st.sampled_from(list(Partition)))
    factor = 0 if kind is Partition.Complete else 2
    return "partition", (c.buffer(), kind), {"dim": c.number(0, 2), "factor": factor}


def buffer_at(c: Chooser) -> Call:
    return "buffer_at", (c.buffer(), c.loop()), {}


def reuse_at(c: Chooser) -> Call:
    return "reuse_at", (c.draw(st.sampled_from([c.buffer(), c.stage()])), c.loop()), {"strict": True}


def reshape(c: Chooser) -> Call:
    shape = c.draw(st.sampled_from([[144], [6, 24], [2, 6, 12], [12, 3, 4], [24, 6], [12, 12]]))
    return "reshape", (c.local(), shape), {}


def pack(c: Chooser) -> Call:
    return "pack", (c.local(),), {"dim": c.number(1, 2), "factor": c.draw(st.sampled_from([2, 3, 4]))}


def bind(c: Chooser) -> Call:
    return "bind", (c.buffer(), Memory(resource="BRAM")), {}


def relay(c: Chooser) -> Call:
    loop = c.draw(st.sampled_from(c.nests))[0]
    return "relay", (c.draw(st.sampled_from([c.local(), c.stage()])), f"{loop.function}:{loop.nest}"), {}


# What changes the order or the place of statements comes more often.
STEPS: tuple[Callable[[Chooser], Call], ...] = (
    *(split, split, reorder, reorder, reorder, reorder, fuse, fuse, fission, fuse_row, fuse_row),
    *(compute_at, compute_at, compute_at, compute_at),
    *(skew, skew, peel, peel, buffer_at, buffer_at, reuse_at, reuse_at, inline, reshape, pack, parallel),
    *(unroll, unfold, pipeline, dataflow, partition, bind, relay),
)


def random_step(draw: st.DrawFn, schedule: Schedule) -> Call:
    """A call of a primitive."""
    return draw(st.sampled_from(STEPS))(Chooser(draw, schedule))
