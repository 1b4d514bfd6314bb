"""Nests of processing elements: their unfolded loops, and obstacles to unfolding."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mlir import ir

from ..errors import Location
from .walk import (
    LoopView,
    constant_bounds,
    induction_variable,
    location_of,
    loops_of,
    operations,
    statements,
    trip_count,
)

SPATIAL = "allo.spatial"  # of loops whose iterations are processing elements
EACH = "allo.x_each"  # of an operation between unfolded loops that each element does for itself
_FREE = ("arith.", "affine.apply", "affine.yield")  # operations that may be done once an element


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the iterations of an unfolded loop are no elements, and where."""

    reason: str
    at: Location | None


@dataclass(frozen=True, slots=True)
class ElementNest:
    """The outermost loop of an unfolded nest, and its spatial loops."""

    outermost: LoopView
    spatial: tuple[LoopView, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements there are along each spatial loop."""
        return tuple(trip_count(view.op) or 0 for view in self.spatial)

    def obstacle(self) -> Obstacle | None:
        """A position that is not known, or something between the loops that each element would do again."""
        for view in self.spatial:
            if constant_bounds(view.op) is None:
                reason = f"the bounds of loop '{view.name}' are not constants, and so are the places of its elements"
                return Obstacle(reason, location_of(view.op))
        inner = max(self.spatial, key=lambda view: len(view.chain)).chain
        for outer, next_one in pairwise(inner):
            if self.outermost not in outer.chain:
                continue
            for op in statements(outer.body):
                if op != next_one.op and not op.name.startswith(_FREE) and EACH not in op.attributes:
                    reason = f"each element of loop '{next_one.name}' would do what stands beside it in '{outer.name}'"
                    return Obstacle(reason, location_of(op))
        return None


def in_turn(nest: ElementNest) -> bool:
    """Whether no region is around the nest, whose elements would be processes of it."""
    return "allo.dataflow" not in nest.outermost.op.parent.attributes


def calls_in_elements(nest: ElementNest) -> list[ir.Operation]:
    """The calls whose functions become part of the elements: those that take the position, and the only one."""
    only = only_call(nest)
    block = nest.outermost.op.regions[0].blocks[0]
    found = calls_with_any(block, [induction_variable(view.op) for view in nest.spatial])
    return found if only is None else [only]


def only_call(nest: ElementNest) -> ir.Operation | None:
    """The call that a nest consists of, if it does."""
    innermost = nest.spatial[-1]
    found = statements(innermost.body)[:-1]
    calls = [op for op in found if op.name == "func.call"]
    others = [op for op in found if op not in calls and not op.name.startswith(("arith.", "affine.apply"))]
    only = len(calls) == 1 and not others and len(innermost.chain) == len(nest.spatial)
    return calls[0] if only else None


def calls_with_any(block: ir.Block, values: list[ir.Value]) -> list[ir.Operation]:
    """The calls that take one of `values`, or what is computed from them."""
    derived = set(values)
    found = []
    for op in operations(block):
        if any(value in derived for value in op.operands):
            if op.name == "func.call":
                found.append(op)
            elif op.name.startswith(("arith.", "affine.apply")):
                derived.update(op.results)
    return found


def element_nests(function: ir.OpView) -> list[ElementNest]:
    """The unfolded nests of a function, in the order of the text."""
    views = [view for view in loops_of(function) if SPATIAL in view.op.attributes]
    return [
        ElementNest(first, tuple(view for view in views if first in view.chain))
        for first in dict.fromkeys(_start(view) for view in views)
    ]


def _start(view: LoopView) -> LoopView:
    """The outermost loop of the nest that was unfolded: the innermost one around `view` with a nest's name."""
    return next((v for v in reversed(view.chain) if "allo.nest" in v.op.attributes), view.chain[0])
