"""Trip counts of loops and blocks: exact means and numbers, the least and the greatest."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from mlir import ir

from ..ir.walk import LOOP_OPERATIONS, constant_bounds
from .domains import Domain, LoopDomain, affine_for, affine_if, scf_for
from .linear import Row, variable
from .sums import Counted, Guard, Level, iterations, mean, variables_of
from .systems import feasible, least
from .values import Values


@dataclass(frozen=True, slots=True)
class Trips:
    """The iterations of one run of a loop: their mean over all runs, and what they are at least and at most.

    `mean` is None where parameters or data decide, `greatest` where there is no bound.
    """

    mean: Fraction | None
    least: int = 0
    greatest: int | None = None

    @property
    def constant(self) -> int | None:
        """The number of iterations if it is the same whenever the loop is reached, for all parameters."""
        return self.least if self.least == self.greatest else None

    def __str__(self) -> str:
        return mean_with_range(self.mean, self.least, self.greatest)


def mean_with_range(mean: Fraction | float | None, least: int, greatest: int | None) -> str:
    """`64`; `~31.5 (0 to 63)`, a mean with its range; `<= 63`, a bound alone; `?`."""
    if mean is None:
        return "?" if greatest is None else f"<= {greatest}"
    if least == greatest:
        return str(least)
    return f"~{mean:.1f}".removesuffix(".0") + ("" if greatest is None else f" ({least} to {greatest})")


@dataclass(frozen=True, slots=True)
class Count:
    """A number that is exact, or a bound from above; `value` is None where not even a bound is known."""

    value: int | None
    exact: bool = True

    def __add__(self, other: Count) -> Count:
        if self.value is None or other.value is None:
            return Count(None, False)
        return Count(self.value + other.value, self.exact and other.exact)

    def __mul__(self, other: Count) -> Count:
        if (self.value == 0 and self.exact) or (other.value == 0 and other.exact):
            return Count(0)
        if self.value is None or other.value is None:
            return Count(None, False)
        return Count(self.value * other.value, self.exact and other.exact)

    def __str__(self) -> str:
        if self.value is None:
            return "?"
        return f"{self.value}" if self.exact else f"<= {self.value}"


def trips_of(loop_op: ir.Operation | ir.OpView) -> Trips:
    """How often the body of a loop runs each time the loop is reached.

    The mean is of those runs that conditions on loops around it allow; conditions on other values, or too costly ones,
    are taken to hold.
    """
    op = loop_op.operation
    if (bounds := constant_bounds(op)) is not None:
        return _constant(len(range(*bounds)))
    nest = _nest(op.block)
    loop = _enter(op, nest)
    lengths = None if loop is None else _lengths(nest, loop)
    if lengths is not None and lengths[0] == lengths[1]:
        return _constant(lengths[0])
    fewest, most = lengths or (0, None)
    level = None if loop is None else _counted(loop)
    if level is None or not nest.loops_known:
        return Trips(None, fewest, most)
    exact = mean([*nest.levels, level])
    return Trips(mean([*nest.loops, level]) if exact is None else exact, fewest, most)


def shares_of(if_op: ir.Operation | ir.OpView) -> tuple[Fraction, Fraction] | None:
    """The parts of all runs of a condition in which it holds, and in which it does not (0 if it is never reached).

    None where more than affine forms of the loops around it decides, and where counting is too much work.
    """
    op = if_op.operation
    if op.name != "affine.if":
        return None
    nest = _nest(op.regions[0].blocks[0])
    if not nest.loops_known or not nest.conditions_known:
        return None
    holds = mean(nest.levels)
    return None if holds is None else (holds, 1 - holds)


def always_whole(loop_op: ir.Operation | ir.OpView, size: int) -> bool:
    """Whether the number of iterations is a multiple of `size` whenever a loop of affine bounds is reached."""
    op = loop_op.operation
    nest = _nest(op.block)
    loop = _enter(op, nest)
    if loop is None or loop.step is None or len(loop.lower.forms) + len(loop.upper.forms) > 2:
        return False
    lower, upper = loop.lower.forms[0], loop.upper.forms[0]
    if lower is None or upper is None:
        return False
    span, tiles, rest = upper - lower, variable(nest.values.fresh()), variable(nest.values.fresh())
    trips = tiles.scaled(size) + rest  # the least number of steps that reach the end, if there are any
    rows = (
        *(*loop.lower.rows(), *loop.upper.rows(), Row(span.plus(-1))),
        *(Row(trips.scaled(loop.step) - span), Row((span - trips.scaled(loop.step)).plus(loop.step - 1))),
        *(Row(rest.plus(-1)), Row(rest.scaled(-1).plus(size - 1))),
    )
    return not any(feasible((*piece, *rows)) for piece in nest.domain.pieces)


def values_of(loop_op: ir.Operation | ir.OpView) -> tuple[int, int] | None:
    """The least and the greatest value that the variable of a loop ever has; None if it has none, or no bounds."""
    op = loop_op.operation
    nest = _nest(op.block)
    loop = _enter(op, nest)
    if loop is None or loop.step is None or None in loop.upper.forms + loop.lower.forms:
        return None
    own = variable(loop.number)
    pieces = [piece for piece in loop.domain.pieces if feasible(piece)]
    lows, highs = ([least(form, piece) for piece in pieces] for form in (own, own.scaled(-1)))
    if not pieces or None in (*lows, *highs):
        return None
    return min(low for low in lows if low is not None), max(-high for high in highs if high is not None)


def runs_of(block: ir.Block, outer: ir.Block | None = None) -> Count:
    """How often a block runs in one call of its function, or in one run of `outer`, which it is, or is in."""
    around = _around(block, outer)
    constant = [constant_bounds(op) for op, _ in around]
    if None not in constant:
        return Count(prod(len(range(*bounds)) for bounds in constant if bounds is not None))
    nest = _nest(block, outer)
    if nest.loops_known and (number := iterations(nest.levels)) is not None:
        return Count(number, nest.conditions_known)
    if nest.loops_known and (number := iterations(nest.loops)) is not None:
        return Count(number, False)
    most = [trips_of(op).greatest for op, _ in around if op.name in LOOP_OPERATIONS]
    return Count(None if None in most else prod(number for number in most if number is not None), False)


def _constant(trips: int) -> Trips:
    return Trips(Fraction(trips), trips, trips)


# -- what is around a block ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Nest:
    """The loops and conditions around a block: as a domain, and as levels of a sum where they are affine."""

    values: Values
    domain: Domain = field(default_factory=lambda: Domain(((),), True, ""))
    levels: list[Level] = field(default_factory=list)
    loops_known: bool = True
    conditions_known: bool = True

    @property
    def loops(self) -> list[Level]:
        return [level for level in self.levels if isinstance(level, Counted)]


def _around(block: ir.Block, outer: ir.Block | None) -> list[tuple[ir.Operation, ir.Block]]:
    """The operations between a block and its function, or `outer`, with their blocks, the outermost first."""
    found: list[tuple[ir.Operation, ir.Block]] = []
    op = block.owner.operation
    while op.name != "func.func" and (outer is None or block != outer):
        found.append((op, block))
        block = op.block
        op = block.owner.operation
    return found[::-1]


def _nest(block: ir.Block, outer: ir.Block | None = None) -> _Nest:
    around = _around(block, outer)
    nest = _Nest(Values(around[0][0].block if around else block))
    for op, inside in around:
        if (loop := _enter(op, nest)) is not None:
            nest.domain = loop.domain
            level = _counted(loop)
            nest.loops_known &= level is not None
            nest.levels += [] if level is None else [level]
        elif op.name == "affine.if":
            _condition(op, inside, nest)
        else:
            nest.loops_known &= op.name not in LOOP_OPERATIONS
            nest.conditions_known = False
            nest.domain = nest.domain.uncertain(f"inside `{op.name}`")
    return nest


def _enter(op: ir.Operation, nest: _Nest) -> LoopDomain | None:
    if op.name == "affine.for":
        return affine_for(op, nest.domain, nest.values)
    return scf_for(op, nest.domain, nest.values) if op.name == "scf.for" else None


def _counted(loop: LoopDomain) -> Counted | None:
    """A loop as a level of a sum; None if a bound or the step is not affine."""
    lower, upper = ([form for form in terms.forms if form is not None] for terms in (loop.lower, loop.upper))
    if loop.step is None or len(lower) < len(loop.lower.forms) or len(upper) < len(loop.upper.forms):
        return None
    quotients = loop.lower.quotients + loop.upper.quotients
    return Counted(loop.number, tuple(lower), tuple(upper), loop.step, quotients)


def _condition(op: ir.Operation, inside: ir.Block, nest: _Nest) -> None:
    negated = inside not in list(op.regions[0])
    terms, equalities = nest.values.condition(op.attributes["condition"], list(op.operands))
    nest.domain = affine_if(op, nest.domain, nest.values)[negated]
    rows = [Row(form, equal) for form, equal in zip(terms.forms, equalities, strict=True) if form is not None]
    guard = Guard(tuple(rows), terms.quotients, negated)
    parameters = {parameter.variable for parameter in nest.values.parameters}
    if len(rows) < len(equalities) or not parameters.isdisjoint(variables_of(guard)):
        nest.conditions_known = False
    else:
        nest.levels.append(guard)


def _lengths(nest: _Nest, loop: LoopDomain) -> tuple[int, int] | None:
    """The least and the greatest number of iterations, or bounds of them; None if there is no greatest."""
    if loop.step is None or None in loop.upper.forms + loop.lower.forms:
        return None
    spans = [
        upper - lower
        for upper in loop.upper.forms
        for lower in loop.lower.forms
        if upper is not None and lower is not None
    ]
    step = loop.step
    if len(spans) == 1 and spans[0].is_constant:
        trips = max(0, -(-spans[0].constant // step))
        return trips, trips
    rows = (*loop.lower.rows(), *loop.upper.rows())
    span = variable(nest.values.fresh())
    # The span is the least of all differences of bounds: the greatest one below all of them.
    limits = tuple(Row(difference - span) for difference in spans)
    greatest = 0
    shortest: list[int | None] = []
    for piece in nest.domain.pieces:
        system = (*piece, *rows)
        if not feasible(system):
            continue
        longest = least(span.scaled(-1), (*system, *limits))
        if longest is None:
            return None
        greatest = max(greatest, -(longest // step))
        shortest += [least(difference, system) for difference in spans]
    fewest = min((length for length in shortest if length is not None), default=0)
    return 0 if None in shortest else max(0, -(-fewest // step)), greatest
