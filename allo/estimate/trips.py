"""Decides how often loops run on average: exactly by sums of polynomials, at a cost that extents do not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from mlir import ir

from ..ir.walk import LoopView, bound_operands, constant_bounds, induction_variable
from ..poly import max_trip_count

_MOST_POINTS = 2_000_000  # iterations that are looked at one by one where bounds are no polynomials

type Monomial = tuple[tuple[int, int], ...]  # (variable, power), sorted
type Polynomial = dict[Monomial, Fraction]
type Linear = dict[int, int]  # variable -> coefficient; -1: the constant


@dataclass(frozen=True, slots=True)
class Trips:
    """The mean number of iterations a run of a loop has; `most` bounds it where only that is known.

    `value` is None for a loop whose extent is known at run time only.
    """

    value: Fraction | None
    constant: bool = True
    most: int | None = None
    assumed: bool = False

    def __str__(self) -> str:
        if self.value is None:
            return "?" if self.most is None else f"<= {self.most}"
        text = f"{self.value.numerator}" if self.value.denominator == 1 else f"{float(self.value):.1f}"
        return text + (" (assumed)" if self.assumed else "" if self.constant else " (mean)")


class TripCounts:
    """The trip counts of the loops of one function; `given` are those that the user states, by name."""

    def __init__(self, function: str, given: Mapping[str, int]) -> None:
        self.function = function
        self.given = given
        self.used: set[str] = set()
        self._known: dict[ir.Operation, Trips] = {}

    def of(self, view: LoopView) -> Trips:
        """The trip count of a loop."""
        if view.op not in self._known:
            self._known[view.op] = self._compute(view)
        return self._known[view.op]

    def _compute(self, view: LoopView) -> Trips:
        for name in (f"{self.function}:{view.name}", view.name):
            if name in self.given:
                self.used.add(name)
                return Trips(Fraction(self.given[name]), assumed=True)
        if (bounds := constant_bounds(view.op)) is not None:
            lower, upper, step = bounds
            return Trips(Fraction(max(0, -(-(upper - lower) // step))))
        if view.op.name == "affine.for":
            mean = _mean(view.chain)
            if mean is not None:
                return Trips(mean, constant=False)
        return Trips(None, False, None if view.op.name == "scf.while" else max_trip_count(view.op))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A loop as sums see it: the number of its variable, its bounds as maps, and the loops behind their operands."""

    variable: int
    lower: ir.AffineMap
    upper: ir.AffineMap
    inputs: tuple[tuple[int, ...], tuple[int, ...]]
    step: int


def _mean(chain: tuple[LoopView, ...]) -> Fraction | None:
    """Iterations of the last loop of `chain` divided by those of the loop around it; None if they are not known."""
    bounds: list[_Bounds] = []
    for view in chain:
        found = _bounds(view, chain)
        if found is None:
            return None
        bounds.append(found)
    linear = [_linear(b) for b in bounds]
    exact = [form for form in linear if form is not None]
    if len(exact) == len(linear) and all(_least(exact, n) >= 0 for n in range(len(exact))):
        inner, outer = _total(exact), _total(exact[:-1])
        return inner / outer if outer else Fraction(0)
    return _enumerated(bounds)


def _bounds(view: LoopView, chain: tuple[LoopView, ...]) -> _Bounds | None:
    """None if a bound depends on more than the loops around."""
    if view.op.name != "affine.for":
        return None
    positions = []
    for operands in bound_operands(view.op):
        found = []
        for operand in operands:
            number = next((n for n, v in enumerate(chain) if _is_variable(operand, v)), None)
            if number is None:
                return None
            found.append(number)
        positions.append(tuple(found))
    attributes = view.op.attributes
    return _Bounds(
        chain.index(view),
        ir.AffineMapAttr(attributes["lowerBoundMap"]).value,
        ir.AffineMapAttr(attributes["upperBoundMap"]).value,
        (positions[0], positions[1]),
        ir.IntegerAttr(attributes["step"]).value,
    )


def _is_variable(value: ir.Value, view: LoopView) -> bool:
    return view.op.name == "affine.for" and bool(value == induction_variable(view.op))


# -- exact sums --------------------------------------------------------------------------------------


def _linear(bounds: _Bounds) -> tuple[Linear, Linear] | None:
    """Lower bound and number of iterations; None unless both are one linear form each, and the step divides."""
    lower, upper = bounds.lower.results, bounds.upper.results
    if len(lower) != 1 or len(upper) != 1:
        return None
    low = _form(lower[0], bounds.lower.n_dims, bounds.inputs[0])
    high = _form(upper[0], bounds.upper.n_dims, bounds.inputs[1])
    if low is None or high is None:
        return None
    span = {v: high.get(v, 0) - low.get(v, 0) for v in {*low, *high}}
    if bounds.step == 1:
        return low, span
    if any(c for v, c in span.items() if v >= 0) or any(c for v, c in low.items() if v >= 0):
        return None
    return None if low else (low, {-1: -(-span.get(-1, 0) // bounds.step)})


def _form(expr: ir.AffineExpr, dims: int, inputs: tuple[int, ...]) -> Linear | None:
    """The linear form that an expression is, of the loops behind its inputs."""
    if isinstance(expr, ir.AffineConstantExpr):
        return {-1: expr.value} if expr.value else {}
    if isinstance(expr, ir.AffineDimExpr):
        return {inputs[expr.position]: 1}
    if isinstance(expr, ir.AffineSymbolExpr):
        return {inputs[dims + expr.position]: 1}
    if not isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr):
        return None
    left, right = _form(expr.lhs, dims, inputs), _form(expr.rhs, dims, inputs)
    if left is None or right is None:
        return None
    if isinstance(expr, ir.AffineAddExpr):
        return {v: c for v in {*left, *right} if (c := left.get(v, 0) + right.get(v, 0))}
    for one, other in ((left, right), (right, left)):
        if set(other) <= {-1}:
            return {v: c * other.get(-1, 0) for v, c in one.items()}
    return None


def _least(loops: list[tuple[Linear, Linear]], number: int) -> int:
    """The least number of iterations of a loop that the bounds of those around allow."""
    form = dict(loops[number][1])
    for outer in range(number - 1, -1, -1):
        factor = form.pop(outer, 0)
        if factor:
            low, span = loops[outer]
            for v, c in low.items():
                form[v] = form.get(v, 0) + factor * c
            if factor < 0:  # the last iteration
                for v, c in span.items():
                    form[v] = form.get(v, 0) + factor * c
                form[-1] = form.get(-1, 0) - factor
    return form.get(-1, 0)


def _total(loops: list[tuple[Linear, Linear]]) -> Fraction:
    """The iterations of all loops together."""
    total: Polynomial = {(): Fraction(1)}
    for number in range(len(loops) - 1, -1, -1):
        low, span = loops[number]
        total = _summed(_substituted(total, number, low), number, _polynomial(span))
    return total.get((), Fraction(0))


def _polynomial(form: Linear) -> Polynomial:
    return {(() if v < 0 else ((v, 1),)): Fraction(c) for v, c in form.items() if c}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            powers: dict[int, int] = dict(a)
            for v, p in b:
                powers[v] = powers.get(v, 0) + p
            key = tuple(sorted(powers.items()))
            found[key] = found.get(key, Fraction(0)) + x * y
    return found


def _power(base: Polynomial, exponent: int) -> Polynomial:
    result: Polynomial = {(): Fraction(1)}
    for _ in range(exponent):
        result = _product(result, base)
    return result


def _substituted(polynomial: Polynomial, variable: int, low: Linear) -> Polynomial:
    """With the variable of a loop as its lower bound plus the number of the iteration."""
    if not low:
        return polynomial
    value = _polynomial(low)
    value[((variable, 1),)] = value.get(((variable, 1),), Fraction(0)) + 1
    found: Polynomial = {}
    for monomial, c in polynomial.items():
        power = dict(monomial).get(variable, 0)
        rest = tuple(item for item in monomial if item[0] != variable)
        for key, x in _product({rest: c}, _power(value, power)).items():
            found[key] = found.get(key, Fraction(0)) + x
    return found


def _summed(polynomial: Polynomial, variable: int, trips: Polynomial) -> Polynomial:
    """The sum over `variable` from 0 to `trips` - 1, by the formula of Faulhaber."""
    found: Polynomial = {}
    for monomial, c in polynomial.items():
        power = dict(monomial).get(variable, 0)
        rest = tuple(item for item in monomial if item[0] != variable)
        for exponent, x in _faulhaber(power):
            for key, y in _product({rest: c * x}, _power(trips, exponent)).items():
                found[key] = found.get(key, Fraction(0)) + y
    return found


def _faulhaber(power: int) -> list[tuple[int, Fraction]]:
    """0**p + 1**p + ... + (n - 1)**p as a polynomial in n: (exponent, coefficient)."""
    bernoulli: list[Fraction] = []
    for m in range(power + 1):
        value = Fraction(int(m == 0))
        value -= sum((comb(m, k) * bernoulli[k] / (m - k + 1) for k in range(m)), Fraction(0))
        bernoulli.append(value)
    return [(power + 1 - k, comb(power + 1, k) * bernoulli[k] / (power + 1)) for k in range(power + 1)]


# -- bounds that are minima, maxima or quotients ----------------------------------------------------------


def _enumerated(bounds: list[_Bounds]) -> Fraction | None:
    """The mean over the iterations of the loops that the bounds depend on; None if these are too many."""
    needed = {bounds[-1].variable}
    for b in reversed(bounds):
        if b.variable in needed:
            needed.update(b.inputs[0] + b.inputs[1])
    values: dict[int, _Array] = {}
    count = 1
    for b in bounds:
        if b.variable not in needed:
            continue
        low = np.broadcast_to(_extreme(b.lower, b.inputs[0], values, np.maximum), (count,))
        high = np.broadcast_to(_extreme(b.upper, b.inputs[1], values, np.minimum), (count,))
        trips = np.maximum(0, -(-(high - low) // b.step))
        total = int(trips.sum())
        if b is bounds[-1]:
            return Fraction(total, count) if count else Fraction(0)
        if total > _MOST_POINTS:
            return None
        place = np.repeat(np.arange(count), trips)
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        values = {v: array[place] for v, array in values.items()}
        values[b.variable] = low[place] + b.step * (np.arange(total) - starts)
        count = total
    return None


type _Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def _extreme(mapping: ir.AffineMap, inputs: tuple[int, ...], values: Mapping[int, _Array], of: np.ufunc) -> _Array:
    """The greatest lower or the least upper bound for all points."""
    results = [_value(expr, mapping.n_dims, inputs, values) for expr in mapping.results]
    found = results[0]
    for other in results[1:]:
        found = of(found, other)
    return found


def _value(expr: ir.AffineExpr, dims: int, inputs: tuple[int, ...], values: Mapping[int, _Array]) -> _Array:
    if isinstance(expr, ir.AffineConstantExpr):
        return np.array(expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        return values[inputs[expr.position]]
    if isinstance(expr, ir.AffineSymbolExpr):
        return values[inputs[dims + expr.position]]
    left = _value(expr.lhs, dims, inputs, values)
    right = _value(expr.rhs, dims, inputs, values)
    found: _Array
    if isinstance(expr, ir.AffineAddExpr):
        found = left + right
    elif isinstance(expr, ir.AffineMulExpr):
        found = left * right
    elif isinstance(expr, ir.AffineModExpr):
        found = left % right
    else:
        found = left // right if isinstance(expr, ir.AffineFloorDivExpr) else -(-left // right)
    return found
