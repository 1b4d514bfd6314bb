"""Domains of iterations: bounds, steps and conditions that narrow a union of constraint systems."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..errors import InternalError
from .linear import Linear, Piece, Pieces, Row, negated, variable
from .values import Terms, Values

_MOST_PIECES = 64  # above this many alternatives a condition is left out, which over-approximates


@dataclass(frozen=True, slots=True)
class Domain:
    """A disjunction; `exact` is false where it also holds iterations that may not run, `reason` says why."""

    pieces: Pieces
    exact: bool
    reason: str

    def uncertain(self, reason: str) -> Domain:
        return Domain(self.pieces, False, self.reason or reason)

    def with_rows(self, rows: Piece) -> Domain:
        if not rows:
            return self
        return Domain(tuple(piece + rows for piece in self.pieces), self.exact, self.reason)

    def with_one_of(self, alternatives: Pieces) -> Domain:
        if len(alternatives) == 1:
            return self.with_rows(alternatives[0])
        if len(self.pieces) * len(alternatives) > _MOST_PIECES:
            return self.uncertain("under conditions with too many cases")
        pieces = tuple(piece + rows for piece in self.pieces for rows in alternatives)
        return Domain(pieces, self.exact, self.reason)


def bounded(outer: Domain, number: int, lower: Terms, upper: Terms) -> Domain:
    """The iterations of a loop whose lower bounds are a maximum and whose upper bounds are a minimum."""
    iterator = variable(number)
    rows = [*lower.rows(), *upper.rows()]
    rows.extend(Row(iterator - form) for form in lower.forms if form is not None)
    rows.extend(Row((form - iterator).plus(-1)) for form in upper.forms if form is not None)
    domain = outer.with_rows(tuple(rows))
    if None in lower.forms or None in upper.forms:
        return domain.uncertain("inside a loop whose bounds are not affine")
    return domain


def strided(domain: Domain, number: int, lower: Terms, step: int, values: Values) -> Domain:
    """Every `step`-th iteration from the greatest of the lower bounds."""
    forms = [form for form in lower.forms if form is not None]
    if len(forms) != len(lower.forms):
        return domain.uncertain("inside a loop whose bounds are not affine")
    alternatives: list[Piece] = []
    for k, start in enumerate(forms):
        steps = variable(values.fresh())
        stride = Row(variable(number) - start - steps.scaled(step), True)
        greatest = (Row((start - other).plus(-1 if j < k else 0)) for j, other in enumerate(forms) if j != k)
        alternatives.append((stride, *greatest))
    return domain.with_one_of(tuple(alternatives))


def under(domain: Domain, terms: Terms, equalities: tuple[bool, ...]) -> tuple[Domain, Domain]:
    """The iterations in which a conjunction holds, and those in which it does not."""
    quotients = terms.rows()
    unknown = "under a condition that is not affine"
    rows = tuple(
        Row(form, equality)
        for form, equality in zip(terms.forms, equalities, strict=True)
        if form is not None
    )
    holds = domain.with_rows(quotients + rows)
    if len(rows) < len(equalities):
        return holds.uncertain(unknown), domain.uncertain(unknown)
    alternatives: list[Piece] = []
    before: Piece = quotients
    for row in rows:
        alternatives.extend((*before, opposite) for opposite in negated(row))
        before = (*before, row)
    if not alternatives:  # an empty conjunction holds everywhere
        alternatives.append((Row(Linear(-1)),))
    return holds, domain.with_one_of(tuple(alternatives))


@dataclass(frozen=True, slots=True)
class LoopDomain:
    """One loop: its variable, the iterations, its bounds, and its step if that is a positive constant."""

    number: int
    domain: Domain
    lower: Terms
    upper: Terms
    step: int | None


def affine_for(op: ir.Operation, outer: Domain, values: Values) -> LoopDomain:
    attributes = op.attributes
    segments = ir.DenseI32ArrayAttr(attributes["operandSegmentSizes"])
    operands = list(op.operands)
    split, end = segments[0], segments[0] + segments[1]
    lower = values.map(attributes["lowerBoundMap"], operands[:split])
    upper = values.map(attributes["upperBoundMap"], operands[split:end])
    step = ir.IntegerAttr(attributes["step"]).value
    number = values.bind(op.regions[0].blocks[0].arguments[0])
    values.limit(number, lower, upper)
    domain = bounded(outer, number, lower, upper)
    if step > 1:
        domain = strided(domain, number, lower, step, values)
    return LoopDomain(number, domain, lower, upper, step)


def scf_for(op: ir.Operation, outer: Domain, values: Values) -> LoopDomain:
    if "unsignedCmp" in op.attributes:  # allo/customize/module/adopt.py turns these into signed loops
        raise InternalError("a loop that compares without a sign was not made a signed one")
    lower, upper, stride = (values.index(op.operands[k]) for k in range(3))
    number = values.bind(op.regions[0].blocks[0].arguments[0])
    values.limit(number, lower, upper)
    domain = bounded(outer, number, lower, upper)
    form = stride.forms[0]
    if form is None or not form.is_constant or form.constant < 1:
        return LoopDomain(
            number, domain.uncertain("inside a loop whose step is not constant"), lower, upper, None
        )
    if form.constant > 1:
        domain = strided(domain, number, lower, form.constant, values)
    return LoopDomain(number, domain, lower, upper, form.constant)


def affine_if(op: ir.Operation, outer: Domain, values: Values) -> tuple[Domain, Domain]:
    terms, equalities = values.condition(op.attributes["condition"], list(op.operands))
    return under(outer, terms, equalities)
