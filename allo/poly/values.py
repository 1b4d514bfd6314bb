"""SSA values that are affine in loops and parameters, as linear forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mlir import ir

from ..ir.access import is_affine_access, subscripts
from ..ir.mlir_types import integer_of
from ..ir.walk import argument_name, string_of
from .formula import Formula, compile_map, compile_set, instantiate
from .linear import Linear, Quotient, Row, variable
from .model import ModelParameter


@dataclass(slots=True)
class Terms:
    """Linear forms (None: not affine) with the quotients that they use."""

    forms: list[Linear | None]
    quotients: tuple[Quotient, ...] = ()

    def rows(self) -> tuple[Row, ...]:
        return tuple(row for quotient in self.quotients for row in quotient.rows())


class ValueRange(NamedTuple):
    """The least and the greatest value of a number; None: not known."""

    low: int | None = None
    high: int | None = None

    def scaled(self, factor: int) -> ValueRange:
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        return ValueRange(low, high) if factor >= 0 else ValueRange(high, low)

    def plus(self, other: ValueRange) -> ValueRange:
        low = None if self.low is None or other.low is None else self.low + other.low
        return ValueRange(low, None if self.high is None or other.high is None else self.high + other.high)

    def fits(self, bits: int) -> bool:
        """Whether every value is a signed number of `bits` bits."""
        half = 1 << (bits - 1)
        return self.low is not None and self.high is not None and self.low >= -half and self.high < half


@dataclass(slots=True)
class Values:
    """The numbering of variables during the extraction of one function."""

    entry: ir.Block | None
    parameters: list[ModelParameter] = field(default_factory=list)
    _known: dict[ir.Value, Linear | None] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _ranges: dict[int, ValueRange] = field(default_factory=dict)
    _last: int = 0

    def fresh(self) -> int:
        self._last += 1
        return self._last

    def bind(self, value: ir.Value) -> int:
        number = self.fresh()
        self._known[value] = variable(number)
        return number

    def limit(self, number: int, lower: Terms, upper: Terms) -> None:
        """Note between which values a loop stays."""
        lows = [low for form in lower.forms if form is not None and (low := self.range_of(form).low) is not None]
        highs = [high for form in upper.forms if form is not None and (high := self.range_of(form).high) is not None]
        self._ranges[number] = ValueRange(max(lows, default=None), min(highs) - 1 if highs else None)

    def span(self, number: int) -> int | None:
        """How far apart two values of a loop are at most."""
        found = self._ranges.get(number, ValueRange())
        return None if found.low is None or found.high is None else max(0, found.high - found.low)

    def range_of(self, form: Linear) -> ValueRange:
        """Between which values a linear form stays, whatever holds between its variables."""
        found = ValueRange(form.constant, form.constant)
        for number, coefficient in form.terms:
            found = found.plus(self._ranges.get(number, ValueRange()).scaled(coefficient))
        return found

    def map(self, attribute: ir.Attribute, operands: list[ir.Value]) -> Terms:
        """The results of an `affine_map` attribute applied to `operands`."""
        assert isinstance(attribute, ir.AffineMapAttr)
        return self._apply(compile_map(attribute.value), operands)

    def subscripts(self, access: ir.Operation) -> Terms:
        """The subscripts of a load or store."""
        operands = subscripts(access)
        if is_affine_access(access):
            return self.map(access.attributes["map"], operands)
        found = [self.index(operand) for operand in operands]
        return Terms([terms.forms[0] for terms in found], tuple(q for terms in found for q in terms.quotients))

    def condition(self, attribute: ir.Attribute, operands: list[ir.Value]) -> tuple[Terms, tuple[bool, ...]]:
        """The constraints of an `affine_set` attribute, and which are equalities."""
        formula, equalities = compile_set(attribute)
        return self._apply(formula, operands), equalities

    def _apply(self, formula: Formula, operands: list[ir.Value]) -> Terms:
        inputs: list[Linear | None] = []
        inherited: tuple[Quotient, ...] = ()
        for operand in operands:
            if operand in self._known:
                inputs.append(self._known[operand])
            else:
                argument = self.index(operand)
                inputs.append(argument.forms[0])
                inherited += argument.quotients
        terms = self._instantiate(formula, inputs)
        return Terms(terms.forms, inherited + terms.quotients) if inherited else terms

    def _instantiate(self, formula: Formula, inputs: list[Linear | None]) -> Terms:
        if not formula.quotients:
            return Terms([self._kept(form) for form in instantiate(formula, inputs, [])])
        fresh = [self.fresh() for _ in formula.quotients]
        numerators = Formula(
            formula.inputs, formula.quotients, tuple(q.numerator for q in formula.quotients)
        )
        quotients = tuple(
            Quotient(number, numerator, quotient.divisor)
            for number, quotient, numerator in zip(
                fresh, formula.quotients, instantiate(numerators, inputs, fresh), strict=True
            )
            if numerator is not None
        )
        for quotient in quotients:
            ends = self.range_of(quotient.numerator)
            low = None if ends.low is None else ends.low // quotient.divisor
            self._ranges[quotient.variable] = ValueRange(
                low, None if ends.high is None else ends.high // quotient.divisor
            )
        return Terms([self._kept(form) for form in instantiate(formula, inputs, fresh)], quotients)

    def index(self, value: ir.Value) -> Terms:
        """The value as a linear form of loops and parameters."""
        if value in self._known:
            return Terms([self._known[value]])
        terms = self._defined(value)
        if terms.forms[0] is None and self._is_invariant(value):
            terms = Terms([self._parameter(value)])
        if not terms.quotients:
            self._known[value] = terms.forms[0]
        return terms

    def _defined(self, value: ir.Value) -> Terms:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return Terms([None])
        op = owner.operation
        match op.name:
            case "arith.constant":
                attribute = op.attributes["value"]
                if isinstance(attribute, ir.IntegerAttr):
                    return Terms([Linear(integer_of(attribute))])
            case "affine.apply":
                return self.map(op.attributes["map"], list(op.operands))
            case "arith.index_cast":
                terms = self.index(op.operands[0])
                return terms if self._fits(terms, value.type) else Terms([None])
            case "arith.addi" | "arith.subi" | "arith.muli" if isinstance(value.type, ir.IndexType):
                return self._arithmetic(op)
        return Terms([None])

    def _fits(self, terms: Terms, target: ir.Type) -> bool:
        """Whether a cast to `target` is sure not to wrap; indices have 64 bits."""
        if not isinstance(target, ir.IntegerType) or target.width >= 64:
            return True
        return terms.forms[0] is not None and self.range_of(terms.forms[0]).fits(target.width)

    def _arithmetic(self, op: ir.Operation) -> Terms:
        left, right = self.index(op.operands[0]), self.index(op.operands[1])
        a, b = left.forms[0], right.forms[0]
        result: Linear | None = None
        if a is not None and b is not None:
            if op.name == "arith.addi":
                result = a + b
            elif op.name == "arith.subi":
                result = a - b
            elif b.is_constant:
                result = a.scaled(b.constant)
            elif a.is_constant:
                result = b.scaled(a.constant)
        return Terms([self._kept(result)], left.quotients + right.quotients)

    def _kept(self, form: Linear | None) -> Linear | None:
        """The form, if the 64 bits of an index are sure to hold it; loops and sizes are below 2**31 where not known."""
        if form is None or max((abs(c) for _, c in form.terms), default=abs(form.constant)) < 1 << 31:
            return form
        return form if self.range_of(form).fits(64) else None

    def _is_invariant(self, value: ir.Value) -> bool:
        """Computed once in a call of the function: an argument, or at its top level."""
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        return self.entry is not None and block == self.entry

    def _parameter(self, value: ir.Value) -> Linear:
        owner = value.owner
        name = argument_name(value) if isinstance(owner, ir.Block) else string_of(owner.operation, "allo.name")
        base = name or f"p{len(self.parameters)}"
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        parameter = ModelParameter(self.fresh(), name, value)
        if isinstance(value.type, ir.IntegerType):
            half = 1 << (value.type.width - 1)
            self._ranges[parameter.variable] = ValueRange(-half, half - 1)
        self.parameters.append(parameter)
        return variable(parameter.variable)
