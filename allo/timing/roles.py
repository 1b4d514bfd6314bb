"""Roles of loops: which make one pipeline, which are unrolled into one datapath, which run one iteration at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir import ir

from ..ir.access import is_copy, is_load, is_view
from ..ir.streams import is_stream_type
from ..ir.walk import LOOP_OPERATIONS, LoopView, constant_bounds, statements
from .problem.region import unbounded_loop

_PURE = (
    "arith.constant", "affine.apply", "arith.index_cast", "affine.yield", "scf.yield", "func.return",
    "memref.get_global", "memref.alloc", "allo.stream_create", "allo.element_cast",
)  # fmt: skip
_NOT_FLATTENED = ("dataflow", "spatial", "unroll")  # marks of loops that make no pipeline with the loop inside


def is_pure(op: ir.Operation) -> bool:
    """Whether an operation takes no time of its own."""
    return op.name in _PURE


def only_names(op: ir.Operation) -> bool:
    """Whether an operation only says which array or which stream is meant."""
    return is_view(op) or (is_load(op) and is_stream_type(op.results[0].type))


def is_straight(op: ir.Operation) -> bool:
    """Whether an operation can be scheduled together with its neighbours, in one piece of datapath."""
    if op.name in LOOP_OPERATIONS:
        return is_unrolled(op)
    if op.name == "func.call" or is_copy(op):
        return False
    return all(is_straight(inner) for region in op.regions for b in region.blocks for inner in statements(b))


def is_unrolled(op: ir.Operation) -> bool:
    """Whether a loop is unrolled, with all in it, although it is in no pipeline."""
    return has_copies(op) and all(map(is_straight, statements(op.regions[0].blocks[0])))


def has_copies(op: ir.Operation) -> bool:
    """Whether the schedule makes a copy of the body of each iteration of a loop, and it has as many always."""
    full = "allo.unroll" in op.attributes and ir.IntegerAttr(op.attributes["allo.unroll"]).value == 0
    return full and constant_bounds(op) is not None


def is_nested(view: LoopView) -> bool:
    """Whether a loop has loops or calls in it that run one after the other."""
    return not all(map(is_straight, statements(view.body)))


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of the loops of a function, whose views are `views`.

    `auto_pipeline`: innermost loops without marks are pipelined unasked; `asked` are further loops that are.
    """

    views: dict[ir.Operation, LoopView]
    auto_pipeline: bool
    asked: Callable[[ir.Operation], bool] = lambda op: False

    def chain(self, view: LoopView) -> list[LoopView]:
        """The loops from `view` to a pipelined one that make one pipeline; empty if there is none."""
        chain = [view]
        while not self._is_pipelined(chain[-1]):
            inner = self._only_loop(chain[-1])
            if inner is None or any(f"allo.{mark}" in chain[-1].op.attributes for mark in _NOT_FLATTENED):
                return []
            if constant_bounds(inner.op) is None:
                return []
            chain.append(inner)
        return chain

    def _is_pipelined(self, view: LoopView) -> bool:
        if "allo.pipeline" in view.op.attributes or self.asked(view.op):
            return True
        if not self.auto_pipeline or view.op.name == "scf.while":
            return False
        return not is_nested(view) and not any(f"allo.{mark}" in view.op.attributes for mark in _NOT_FLATTENED)

    def _only_loop(self, view: LoopView) -> LoopView | None:
        """The loop inside of a loop that has nothing else in it."""
        inner = [op for op in statements(view.body) if not is_pure(op)]
        return self.views.get(inner[0]) if len(inner) == 1 else None

    def datapaths(self, block: ir.Block) -> Iterator[Datapath]:
        """What is scheduled as one region each, in the order of the text."""
        straight: list[ir.Operation] = []
        for op in statements(block):
            if is_straight(op):
                straight.append(op)
                continue
            yield from _together(straight)
            straight = []
            view = self.views.get(op)
            if view is not None and op.name != "scf.while" and (loops := self._iterated(view)):
                yield Datapath(tuple(loops), tuple(statements(loops[-1].body)))
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        yield from self.datapaths(inner)
        yield from _together(straight)

    def _iterated(self, view: LoopView) -> list[LoopView]:
        """The loops over the time of a region that begins with a loop; empty if none does."""
        if "allo.spatial" in view.op.attributes:
            return []
        chain = self.chain(view)
        if chain and unbounded_loop(statements(chain[-1].body)) is None:
            return chain
        return [] if "allo.dataflow" in view.op.attributes or is_nested(view) else [view]


@dataclass(frozen=True, slots=True)
class Datapath:
    """The operations of one region, with the loops over its time, outermost first; the loops inside are unrolled."""

    time: tuple[LoopView, ...]
    body: tuple[ir.Operation, ...]


def _together(straight: list[ir.Operation]) -> Iterator[Datapath]:
    """The region of neighbours, if they take time."""
    if not all(map(is_pure, straight)):
        yield Datapath((), tuple(straight))
