"""Cycles in which loops begin for the first time and end for the last one, as the control tree says before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir import ir

from ...ir.access import callee_name
from ...ir.walk import induction_variable
from . import tree
from .counted import Counter, DataDecide, Numbers, iterations

type Callee = Callable[[str], tree.FunctionTree | None]
type Place = tuple[tuple[ir.Operation, ...], ir.Operation]  # the calls that lead to a loop, and the loop


@dataclass(frozen=True, slots=True)
class LoopSpan:
    """From the cycle in which a loop begins for the first time to the one in which it ends for the last time."""

    first: int
    last: int


def loop_spans(function: tree.FunctionTree, callee: Callee) -> dict[Place, LoopSpan]:
    """The spans of all loops of a call of a function, counted from its start; without those on which data decide."""
    spans = _Spans(callee)
    first = spans.of(function.root, 0, {}, (), last=False)
    last = spans.of(function.root, 0, {}, (), last=True)
    begins, ends = ({place: cycle for place, cycle in found if cycle is not None} for found in (first, last))
    return {place: LoopSpan(begins[place], ends[place]) for place in begins if place in ends}


class _Spans:
    """Loops on the way through the first iteration of all loops, or through the last one."""

    def __init__(self, callee: Callee) -> None:
        self.callee = callee
        self.count = Counter(callee)

    def of(
        self, node: tree.Node, at: int | None, numbers: Numbers, calls: tuple[ir.Operation, ...], *, last: bool
    ) -> Iterator[tuple[Place, int | None]]:
        """The begins, or the ends, of the loops in a node that begins in a cycle (None: nobody knows which)."""
        match node:
            case tree.Sequence():
                for part in node.parts:
                    yield from self.of(part, at, numbers, calls, last=last)
                    at = self._after(part, at, numbers)
            case tree.Pipeline():
                yield (calls, node.view.op), self._after(node, at, numbers) if last else at
            case tree.Repeat():
                yield (calls, node.view.op), self._after(node, at, numbers) if last else at
                yield from self._inside(node, at, numbers, calls, last)
            case tree.Branch():  # whether it is taken in this iteration does not say that it ever is
                for branch in node.branches:
                    yield from self.of(branch, None, numbers, calls, last=last)
            case tree.Invocation() if (called := self.callee(callee_name(node.op))) is not None:
                begins = None if at is None else at + node.control
                yield from self.of(called.root, begins, {}, (*calls, node.op), last=last)

    def _inside(
        self, node: tree.Repeat, at: int | None, numbers: Numbers, calls: tuple[ir.Operation, ...], last: bool
    ) -> Iterator[tuple[Place, int | None]]:
        begins, inner = at, numbers
        try:
            turns = iterations(node.view, numbers)
        except DataDecide:
            turns, begins = range(0), None
        if begins is not None and turns:
            inner = {**numbers, induction_variable(node.view.op): turns[-1] if last else turns[0]}
            after = self._after(node, begins, numbers) if last else None
            size = self._after(node.body, 0, inner) if last else 0
            begins = begins + node.enter + node.each
            if last:
                begins = None if after is None or size is None else after - node.leave - size
        else:
            begins = None
        yield from self.of(node.body, begins, inner, calls, last=last)

    def _after(self, node: tree.Node, at: int | None, numbers: Numbers) -> int | None:
        try:
            return None if at is None else at + self.count.of(node, numbers)
        except DataDecide:
            return None
