"""Steps that together make a design of FIFOs: what random steps alone hardly ever find."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from allo import Schedule

from .reductions import recipe as reductions

DEPTHS = (-1, -1, 1, 2, 3, 4)


def stages(draw: random.Random, s: Schedule) -> Iterator[Callable[[], object]]:
    """A FIFO for some of the arrays between stages."""
    functions = [name for name in s.ir.names() if name != "top"]
    nests = [f"top:{next(iter(nest)).nest}" for nest in s.get_loops() if len(list(nest))]
    arrays = [name for name in s.ir.buffers("top") if name.startswith("T")]
    if draw.random() < 0.2:
        yield lambda: s.dataflow("top")
    for array in draw.sample(arrays, len(arrays)):
        if draw.random() < 0.2:
            dim = draw.choice([1, 2])
            yield lambda array=array, dim=dim: s.partition(f"top:{array}", dim=dim)
        for target in draw.sample([*functions, *nests], min(3, len(functions + nests))):
            depth = draw.choice(DEPTHS)
            yield lambda array=array, target=target, depth=depth: s.relay(f"top:{array}", target, depth=depth)


def systolic(draw: random.Random, s: Schedule) -> Iterator[Callable[[], object]]:
    """Processing elements that pass on what they read, in one direction or two."""
    axes = draw.choice([[0], [1], [0, 1], [0, 1]])
    buffers = s.ir.buffers("top")
    if "X" in buffers:
        yield lambda: s.unfold("PE", axes=[0])
        depth = draw.choice(DEPTHS)
        yield lambda: s.relay("X", "PE", axis=0, depth=depth)
        return
    if draw.random() < 0.3:
        yield lambda: s.reorder("j", "i")
    loops = ["j", "j"] if draw.random() < 0.7 else ["i", "j"]
    for array, loop in zip(("A", "B"), loops, strict=True):
        if draw.random() < 0.9:
            yield lambda array=array, loop=loop: s.buffer_at(array, axis=loop)
    yield lambda: s.unfold("PE", axes=axes)
    for array in draw.sample(["A", "B"], 2):
        axis, depth = draw.choice([0, 1]), draw.choice(DEPTHS)
        for along in (axis, 1 - axis):
            yield lambda array=array, along=along, depth=depth: s.relay(
                f"buf_{array}", "PE", axis=along, depth=depth
            )


RECIPES = {"stages": stages, "systolic": systolic, "reductions": reductions}
