"""Shift registers: buffers that follow a moving window by a shift and a load of the new elements in each iteration."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context, unknown_location
from ...ir.names import unique_name
from ...ir.walk import LoopView, bound_operands, induction_variable
from ...poly import Model, escapes
from ..nest.rewrite import constant_for
from .box import Box


@dataclass(frozen=True, slots=True)
class ShiftRegister:
    """The copy of `box`, which moves by `shift` elements along `dimension` in each iteration of the loop."""

    box: Box
    dimension: int
    shift: int
    view: LoopView

    @property
    def kept(self) -> int:
        """How many elements along the dimension an iteration takes over from the one before."""
        return self.box.sizes[self.dimension] - abs(self.shift)

    @property
    def iterations_to_fill(self) -> int:
        """How many iterations must have loaded before the first one that finds all its elements."""
        return -(-self.kept // abs(self.shift))

    def allocate(self, name: str, element: ir.Type) -> ir.Value:
        """The buffer, in front of the loop."""
        shape = [self.box.sizes[dimension] for dimension in self.box.kept]
        memref = ir.MemRefType.get(shape, element, loc=unknown_location())
        return Builder.before(self.view.op).alloc(memref, name)

    def advance(
        self, source: ir.Value, local: ir.Value, labels: dict[int, str], taken: set[str]
    ) -> ir.Operation:
        """At the start of the body: shift the buffer, load the new elements. Returns the load from the array."""
        builder = Builder(ir.InsertionPoint.at_block_begin(self.view.body), self.view.op.location)
        variables: dict[int, ir.Value] = {}
        for other in self.box.kept:
            if other != self.dimension:
                name = unique_name(f"{labels[other]}_fill", taken)
                variables[other] = self._loop(builder, self.box.sizes[other], name)
        outer = builder.point
        self._move(builder, local, variables, unique_name(f"{self.view.name}_shift", taken))
        builder.point = outer
        return self._load(builder, source, local, variables, unique_name(f"{self.view.name}_load", taken))

    def _move(self, builder: Builder, local: ir.Value, variables: dict[int, ir.Value], name: str) -> None:
        """Every element that is kept goes to its new place; the order never overwrites one that is to move."""
        position, operands = self._counter(builder, self.kept, name, list(variables.values()))
        size = self.box.sizes[self.dimension]
        target = position if self.shift > 0 else affine_constant(size - 1) - position
        moved = builder.affine_load(local, self._inside(variables, target + self.shift, operands), operands)
        builder.affine_store(moved, local, self._inside(variables, target, operands), operands)

    def _load(
        self, builder: Builder, source: ir.Value, local: ir.Value, variables: dict[int, ir.Value], name: str
    ) -> ir.Operation:
        position, operands = self._counter(builder, abs(self.shift), name, list(variables.values()))
        target = position + self.kept if self.shift > 0 else affine_constant(-self.shift - 1) - position
        inside = self._inside(variables, target, operands)
        inner = list(operands)
        results = []
        for dimension in range(len(self.box.sizes)):
            lower = self.box.lower(dimension, operands)
            if dimension == self.dimension:
                lower = lower + target
            elif dimension in variables:
                lower = lower + affine_dim(operands.index(variables[dimension]))
            results.append(lower)
        outside = ir.AffineMap.get(len(operands), 0, results, context())
        loaded = builder.affine_load(source, outside, operands)
        builder.affine_store(loaded, local, inside, inner)
        assert isinstance(loaded.owner, ir.Operation | ir.OpView)
        return loaded.owner.operation

    def _counter(
        self, builder: Builder, extent: int, name: str, operands: list[ir.Value]
    ) -> tuple[ir.AffineExpr, list[ir.Value]]:
        """The position in a loop of `extent` iterations (no loop for one), with the operands that it is over."""
        if extent == 1:
            return affine_constant(0), operands
        return affine_dim(len(operands)), [*operands, self._loop(builder, extent, name)]

    def _inside(
        self, variables: dict[int, ir.Value], along: ir.AffineExpr, operands: list[ir.Value]
    ) -> ir.AffineMap:
        """An element of the buffer: `along` the dimension, and the fill loops in the others."""
        order = list(variables)
        results = [along if d == self.dimension else affine_dim(order.index(d)) for d in self.box.kept]
        return ir.AffineMap.get(len(operands), 0, results, context())

    def _loop(self, builder: Builder, extent: int, name: str) -> ir.Value:
        loop = constant_for(builder, extent, {"allo.name": string_attr(name)})
        builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
        return induction_variable(loop)


def run_earlier(view: LoopView, iterations: int) -> None:
    """Let the loop start `iterations` earlier; what its body is now runs only from its old start on."""
    loop = view.op
    step = ir.IntegerAttr(loop.attributes["step"]).value
    bound = ir.AffineMapAttr(loop.attributes["lowerBoundMap"]).value
    operands, _ = bound_operands(loop)
    dims, symbols = operands[: bound.n_dims], operands[bound.n_dims :]
    started = [affine_dim(len(dims)) - result for result in bound.results]
    condition = ir.IntegerSet.get(len(dims) + 1, len(symbols), started, [False] * len(started), context())
    builder = Builder(ir.InsertionPoint.at_block_begin(view.body), loop.location)
    guard = builder.affine_if(condition, [*dims, induction_variable(loop), *symbols], has_else=False)
    end = guard.regions[0].blocks[0].operations[0]
    for op in list(view.body.operations)[1:-1]:
        op.operation.move_before(end)
    earlier = [result - iterations * step for result in bound.results]
    made = ir.AffineMap.get(bound.n_dims, bound.n_symbols, earlier, context())
    loop.attributes["lowerBoundMap"] = ir.AffineMapAttr.get(made)


def clip(model: Model, load: ir.Operation) -> None:
    """Skip a load (and the store of what it loads) where it would leave its array; `model` has the load in it."""
    access = ir.AffineMapAttr(load.attributes["map"]).value
    inside: list[ir.AffineExpr] = []
    extents = ir.MemRefType(load.operands[0].type).shape
    for (below, above), result, extent in zip(escapes(model, load), access.results, extents, strict=True):
        inside += [result] * below + [affine_constant(extent - 1) - result] * above
    if not inside:
        return
    (store,) = (use.owner.operation for use in load.results[0].uses)
    condition = ir.IntegerSet.get(access.n_dims, access.n_symbols, inside, [False] * len(inside), context())
    guard = Builder.before(load).affine_if(condition, list(load.operands)[1:], has_else=False)
    end = guard.regions[0].blocks[0].operations[0]
    load.move_before(end)
    store.move_before(end)
