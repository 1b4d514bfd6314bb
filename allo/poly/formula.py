"""Affine maps and integer sets of MLIR, turned once each into linear forms with explicit quotients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np
from mlir import ir

from ..ir.affine_sets import constraints_of
from .linear import Linear, Quotient, combine, variable

type Numbers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class _NotAffine(Exception):
    """A product or quotient of two variables, which MLIR allows for symbols."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Results over inputs 1..n and quotients n+1.. in order of definition; None where not affine."""

    inputs: int
    quotients: tuple[Quotient, ...]
    results: tuple[Linear | None, ...]


class _Compiler:
    def __init__(self, dims: int, symbols: int) -> None:
        self.dims = dims
        self.next = dims + symbols + 1
        self.quotients: list[Quotient] = []
        self.known: dict[tuple[Linear, int], int] = {}

    def quotient(self, numerator: Linear, divisor: int) -> Linear:
        if divisor <= 0:
            raise _NotAffine
        if all(c % divisor == 0 for _, c in numerator.terms):
            exact = tuple((v, c // divisor) for v, c in numerator.terms)
            return Linear(numerator.constant // divisor, exact)
        number = self.known.get((numerator, divisor))
        if number is None:
            number = self.known[(numerator, divisor)] = self.next
            self.quotients.append(Quotient(number, numerator, divisor))
            self.next += 1
        return variable(number)

    def constant(self, expr: ir.AffineExpr) -> int:
        value = self.linear(expr)
        if not value.is_constant:
            raise _NotAffine
        return value.constant

    def linear(self, expr: ir.AffineExpr) -> Linear:
        if isinstance(expr, ir.AffineDimExpr):
            return variable(expr.position + 1)
        if isinstance(expr, ir.AffineConstantExpr):
            return Linear(expr.value)
        if isinstance(expr, ir.AffineSymbolExpr):
            return variable(self.dims + expr.position + 1)
        if isinstance(expr, ir.AffineAddExpr):
            return self.linear(expr.lhs) + self.linear(expr.rhs)
        if isinstance(expr, ir.AffineMulExpr):
            left, right = self.linear(expr.lhs), self.linear(expr.rhs)
            if left.is_constant:
                left, right = right, left
            if not right.is_constant:
                raise _NotAffine
            return left.scaled(right.constant)
        if isinstance(expr, ir.AffineFloorDivExpr):
            return self.quotient(self.linear(expr.lhs), self.constant(expr.rhs))
        if isinstance(expr, ir.AffineCeilDivExpr):
            return self.quotient(self.linear(expr.lhs).scaled(-1), self.constant(expr.rhs)).scaled(-1)
        if isinstance(expr, ir.AffineModExpr):
            left, divisor = self.linear(expr.lhs), self.constant(expr.rhs)
            return left - self.quotient(left, divisor).scaled(divisor)
        raise _NotAffine


@lru_cache(maxsize=4096)  # MLIR has each map once
def compile_map(affine_map: ir.AffineMap) -> Formula:
    dims, symbols = affine_map.n_dims, affine_map.n_symbols
    compiler = _Compiler(dims, symbols)
    results: list[Linear | None] = []
    for expr in affine_map.results:
        try:
            results.append(compiler.linear(expr))
        except _NotAffine:
            results.append(None)
    return Formula(dims + symbols, tuple(compiler.quotients), tuple(results))


@lru_cache(maxsize=4096)
def compile_set(attribute: ir.Attribute) -> tuple[Formula, tuple[bool, ...]]:
    """The constraints of an `affine_set<...>` as a formula, and which of them are equalities."""
    affine_map, equalities = constraints_of(attribute)
    return compile_map(affine_map), equalities


def instantiate(formula: Formula, inputs: list[Linear | None], fresh: list[int]) -> list[Linear | None]:
    """The results for `inputs`; quotient variables become the numbers in `fresh`; None where an input is."""
    values: dict[int, Linear | None] = {k + 1: value for k, value in enumerate(inputs)}
    for quotient, number in zip(formula.quotients, fresh, strict=True):
        known = _evaluate(quotient.numerator, values)
        values[quotient.variable] = None if known is None else variable(number)
    return [None if result is None else _evaluate(result, values) for result in formula.results]


@overload
def evaluate(formula: Formula, inputs: Sequence[int]) -> tuple[int, ...]: ...
@overload
def evaluate(formula: Formula, inputs: Sequence[Numbers]) -> tuple[Numbers | int, ...]: ...
def evaluate(formula: Formula, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The results for numbers, or for tables of them, place by place; all of them are affine."""
    values = dict(enumerate(inputs, 1))
    for quotient in formula.quotients:
        values[quotient.variable] = _number(quotient.numerator, values) // quotient.divisor
    return tuple(_number(form, values) for form in formula.results if form is not None)


def satisfies(values: Sequence[int], equalities: Sequence[bool]) -> bool:
    """Whether the constraints of a set hold where they evaluate to these numbers."""
    return all(value == 0 if equality else value >= 0 for value, equality in zip(values, equalities, strict=True))


def _number(form: Linear, values: dict[int, Any]) -> Any:
    total: Any = form.constant
    for number, coefficient in form.terms:
        total = total + coefficient * values[number]
    return total


def _evaluate(form: Linear, values: dict[int, Linear | None]) -> Linear | None:
    if len(form.terms) <= 1:
        return _evaluate_term(form, values)
    constant = form.constant
    terms: list[tuple[int, int]] = []
    for number, coefficient in form.terms:
        value = values[number]
        if value is None:
            return None
        constant += coefficient * value.constant
        terms.extend((v, c * coefficient) for v, c in value.terms)
    return combine(constant, terms)


def _evaluate_term(form: Linear, values: dict[int, Linear | None]) -> Linear | None:
    """The same of a form of one variable or none, as most are."""
    if not form.terms:
        return form
    ((number, coefficient),) = form.terms
    value = values[number]
    if value is None:
        return None
    scaled = value if coefficient == 1 else value.scaled(coefficient)
    return scaled.plus(form.constant) if form.constant else scaled
