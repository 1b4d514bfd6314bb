"""Rewriting of subscripts in loads and stores: as affine maps, or as arithmetic on computed indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...ir.access import access_map, is_affine_access, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context
from ...layout import IndexMap

_ARITHMETIC: tuple[tuple[type[ir.AffineBinaryExpr], str], ...] = (
    (ir.AffineAddExpr, "arith.addi"),
    (ir.AffineMulExpr, "arith.muli"),
    (ir.AffineFloorDivExpr, "arith.divui"),  # of subscripts, which are not negative
    (ir.AffineModExpr, "arith.remui"),
)


@dataclass(frozen=True, slots=True)
class AccessOperation:
    """A load or store (of an affine map or of computed indices) of a memref of any rank."""

    op: ir.Operation

    def place(self, builder: Builder, formulas: Sequence[ir.AffineExpr]) -> AccessPlace:
        """Where `formulas` (over the old subscripts as dimensions) point to."""
        operands, access = subscripts(self.op), access_map(self.op)
        if access is not None:
            made = ir.AffineMap.get(
                access.n_dims, access.n_symbols, [formula.compose(access) for formula in formulas], context()
            )
            return AccessPlace(divide_first(made), operands)
        return AccessPlace(None, computed(builder, formulas, operands))

    def index(self, builder: Builder, formula: ir.AffineExpr) -> ir.Value:
        """The value of a formula over the old subscripts."""
        if not is_affine_access(self.op):
            return computed(builder, [formula], subscripts(self.op))[0]
        place = self.place(builder, [formula])
        assert place.map is not None
        return builder.value(
            "affine.apply", index_type(), place.operands, {"map": ir.AffineMapAttr.get(place.map)}
        )


@dataclass(frozen=True, slots=True)
class AccessPlace:
    """The subscripts of an access: a map over operands, or the operands themselves."""

    map: ir.AffineMap | None
    operands: list[ir.Value]

    def load(self, builder: Builder, memref: ir.Value) -> ir.Value:
        if self.map is not None:
            return builder.affine_load(memref, self.map, self.operands)
        return builder.load(memref, self.operands)

    def store(self, builder: Builder, value: ir.Value, memref: ir.Value) -> None:
        if self.map is not None:
            builder.affine_store(value, memref, self.map, self.operands)
        else:
            builder.store(value, memref, self.operands)


def divide_first(formulas: ir.AffineMap) -> ir.AffineMap:
    """The same map with every `e mod (c * d) floordiv d` written as `(e floordiv d) mod c`.

    MLIR 22 simplifies the first form wrongly where the least value of `e` is known: it takes it for that of
    `e mod (c * d)`, and folds `(i mod 4) floordiv 2` for i from 2 to 5 to 1.
    """
    while True:
        results = [_divided(result) for result in formulas.results]
        made = ir.AffineMap.get(formulas.n_dims, formulas.n_symbols, results, context())
        if made == formulas:
            return made
        formulas = made


def _divided(formula: ir.AffineExpr) -> ir.AffineExpr:
    """One round of `divide_first`, innermost first."""
    if not isinstance(formula, ir.AffineBinaryExpr):
        return formula
    left, right = _divided(formula.lhs), _divided(formula.rhs)
    if isinstance(formula, ir.AffineAddExpr):
        return left + right
    if isinstance(formula, ir.AffineMulExpr):
        return left * right
    if isinstance(formula, ir.AffineModExpr):
        return ir.AffineExpr.get_mod(left, right)
    if isinstance(formula, ir.AffineCeilDivExpr):
        return ir.AffineExpr.get_ceil_div(left, right)
    inner = formula.lhs
    if isinstance(inner, ir.AffineModExpr) and isinstance(inner.rhs, ir.AffineConstantExpr):
        modulus, divisor = inner.rhs.value, formula.rhs.value
        if modulus % divisor == 0:
            quotient = ir.AffineExpr.get_floor_div(_divided(inner.lhs), right)
            return ir.AffineExpr.get_mod(quotient, affine_constant(modulus // divisor))
    return ir.AffineExpr.get_floor_div(left, right)


def expressions(change: IndexMap) -> list[ir.AffineExpr]:
    """The new subscripts over the old ones as dimensions."""
    formulas = [affine_dim(d) for d in range(len(change.old))]
    for stage in change.stages:
        sums: list[ir.AffineExpr] = [affine_constant(0) for _ in stage.new]
        for mode in stage.modes:
            formula = formulas[mode.source]
            if mode.begin > 1:
                formula = ir.AffineExpr.get_floor_div(formula, affine_constant(mode.begin))
            if mode.end < stage.old[mode.source]:
                formula = ir.AffineExpr.get_mod(formula, affine_constant(mode.digit.extent))
            sums[mode.target] = sums[mode.target] + formula * mode.stride
        formulas = sums
    return formulas


def computed(
    builder: Builder, formulas: Sequence[ir.AffineExpr], values: Sequence[ir.Value]
) -> list[ir.Value]:
    """Arithmetic on indices that computes formulas over subscripts."""
    # An expression that MLIR has simplified has the Python class of the operator; that of a result is right.
    results = ir.AffineMap.get(len(values), 0, list(formulas), context()).results
    return [_computed(builder, formula, values) for formula in results]


def _computed(builder: Builder, formula: ir.AffineExpr, values: Sequence[ir.Value]) -> ir.Value:
    if isinstance(formula, ir.AffineConstantExpr):
        return builder.constant(index_type(), formula.value)
    if isinstance(formula, ir.AffineDimExpr):
        return values[formula.position]
    assert isinstance(formula, ir.AffineBinaryExpr)
    operands = [_computed(builder, side, values) for side in (formula.lhs, formula.rhs)]
    name = next(name for kind, name in _ARITHMETIC if isinstance(formula, kind))
    return builder.value(name, index_type(), operands)
