"""Iterations of a loop by their numbers: how many there are, the value of the loop variable, and whether it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import ScheduleError
from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context
from ...ir.walk import LoopView, bound_operands, induction_variable, trip_count
from ...poly import trips_of, values_of
from ..step.resolve import loop_note
from .bounds import Bound, joined
from .rewrite import constant_for, move_body


@dataclass(frozen=True, slots=True)
class Numbered:
    """An `affine.for` whose iterations have numbers: from its first one on, or, if it starts at the greatest of
    several values or at a quotient, which would be in all subscripts, the values of its variable (`absolute`).

    `lower` and `upper` are its bounds over the dimensions and symbols of `operands`, dimensions first.
    """

    lower: tuple[ir.AffineExpr, ...]
    upper: tuple[ir.AffineExpr, ...]
    dims: int
    symbols: int
    operands: tuple[ir.Value, ...]
    step: int
    trips: int | None
    absolute: bool

    @classmethod
    def of(cls, view: LoopView) -> Numbered:
        """Raises ScheduleError for a loop that starts at the greatest of several values with a step above 1."""
        maps = [ir.AffineMapAttr(view.op.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap")]
        lower, upper = bound_operands(view.op)
        (first, _), (both, operands) = (maps[0], lower), joined((maps[0], lower), (maps[1], upper))
        results, starts = list(both.results), len(first.results)
        step = ir.IntegerAttr(view.op.attributes["step"]).value
        if starts > 1 and step > 1:
            raise ScheduleError(
                f"loop '{view.name}' starts at the greatest of {starts} values and makes steps of {step}: "
                "where it starts is not affine",
                hint="split the loop before the steps that gave it such bounds",
                notes=[loop_note(view)],
            )
        return cls(
            tuple(results[:starts]),
            tuple(results[starts:]),
            both.n_dims,
            both.n_symbols,
            tuple(operands),
            step,
            trip_count(view.op),
            step == 1 and (starts > 1 or _has_quotient(results[0])),
        )

    def tiles(self, size: int) -> tuple[Bound, Bound]:
        """The bounds of a loop over the tiles of `size` numbers in which iterations may run."""
        if self.trips is not None:
            return self._bound([affine_constant(0)]), self._bound([affine_constant(-(-self.trips // size))])
        if self.absolute:
            low = [ir.AffineExpr.get_floor_div(bound, affine_constant(size)) for bound in self.lower]
            high = [ir.AffineExpr.get_ceil_div(bound, affine_constant(size)) for bound in self.upper]
            return self._bound(low), self._bound(high)
        unit = affine_constant(size * self.step)
        high = [ir.AffineExpr.get_ceil_div(bound - self.lower[0], unit) for bound in self.upper]
        return self._bound([affine_constant(0)]), self._bound(high)

    def guard(self, builder: Builder, number: ir.AffineExpr, variables: Sequence[ir.Value]) -> None:
        """Let `builder` go on where iteration `number`, an expression over `variables`, is one of the loop."""
        if self.trips is not None:
            inside = [affine_constant(self.trips - 1) - number]
        elif self.absolute:
            inside = [number - bound for bound in self._moved(self.lower, variables)]
            inside += [bound - 1 - number for bound in self._moved(self.upper, variables)]
        else:
            (start,) = self._moved(self.lower, variables)
            inside = [bound - start - 1 - number * self.step for bound in self._moved(self.upper, variables)]
        dims, operands = (len(variables), []) if self.trips is not None else (len(variables) + self.dims, self.operands)
        symbols = 0 if self.trips is not None else self.symbols
        condition = ir.IntegerSet.get(dims, symbols, inside, [False] * len(inside), context())
        made = builder.affine_if(condition, [*variables, *operands], has_else=False)
        builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])

    def value(self, builder: Builder, number: ir.AffineExpr, variables: Sequence[ir.Value]) -> ir.Value:
        """The value of the loop variable in iteration `number`, an expression over `variables`."""
        result = number
        if not self.absolute:
            (start,) = self._moved(self.lower, variables)
            result = number * self.step + start
        formula = ir.AffineMap.get(len(variables) + self.dims, self.symbols, [result], context())
        attributes = {"map": ir.AffineMapAttr.get(formula)}
        return builder.value("affine.apply", index_type(), [*variables, *self.operands], attributes)

    def _bound(self, results: Sequence[ir.AffineExpr]) -> Bound:
        if self.trips is not None or all(isinstance(result, ir.AffineConstantExpr) for result in results):
            return ir.AffineMap.get(0, 0, list(results), context()), []
        return ir.AffineMap.get(self.dims, self.symbols, list(results), context()), list(self.operands)

    def _moved(self, exprs: Sequence[ir.AffineExpr], variables: Sequence[ir.Value]) -> list[ir.AffineExpr]:
        """Expressions where `variables` are the first dimensions."""
        return [expr.shift_dims(self.dims, len(variables)) for expr in exprs]


def _has_quotient(expr: ir.AffineExpr) -> bool:
    if isinstance(expr, ir.AffineFloorDivExpr | ir.AffineCeilDivExpr | ir.AffineModExpr):
        return True
    return isinstance(expr, ir.AffineBinaryExpr) and (_has_quotient(expr.lhs) or _has_quotient(expr.rhs))


def count_to(view: LoopView, most: int) -> ir.Operation:
    """Let a loop of at most `most` iterations count from 0 to a constant; a condition says which numbers run.

    Returns the loop in its place.
    """
    loop, builder, first, count = Numbered.of(view), Builder.before(view.op), 0, most
    if loop.absolute and loop.trips is None and (ends := values_of(view.op)) is not None:
        first, count = ends[0], ends[1] + 1 - ends[0]
    guarded = trips_of(view.op).constant != count or (loop.absolute and loop.trips is None)
    attributes = {name: value for name, value in view.op.attributes.items() if name.startswith("allo.")}
    made = constant_for(builder, count, attributes)
    builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    number, variables = affine_dim(0) + first, [induction_variable(made)]
    if guarded:
        loop.guard(builder, number, variables)
    move_body(view.op, builder.point.block, loop.value(builder, number, variables))
    return made
