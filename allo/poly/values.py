"""Which SSA values are affine in loops and parameters, and as what linear form."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from .formula import Formula, compile_map, compile_set, instantiate
from .linear import Linear, Quotient, Row, variable
from .model import Parameter


@dataclass(slots=True)
class Terms:
    """Linear forms (None: not affine) with the quotients that they use."""

    forms: list[Linear | None]
    quotients: tuple[Quotient, ...] = ()

    def rows(self) -> tuple[Row, ...]:
        return tuple(row for quotient in self.quotients for row in quotient.rows())


@dataclass(slots=True)
class Values:
    """The numbering of variables during the extraction of one function."""

    entry: ir.Block | None
    parameters: list[Parameter] = field(default_factory=list)
    argument_names: dict[ir.Value, str] = field(default_factory=dict)
    _known: dict[ir.Value, Linear | None] = field(default_factory=dict)
    _maps: dict[ir.Attribute, Formula] = field(default_factory=dict)
    _sets: dict[ir.Attribute, tuple[Formula, tuple[bool, ...]]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _last: int = 0

    def fresh(self) -> int:
        self._last += 1
        return self._last

    def bind(self, value: ir.Value) -> int:
        number = self.fresh()
        self._known[value] = variable(number)
        return number

    def map(self, attribute: ir.Attribute, operands: list[ir.Value]) -> Terms:
        """The results of an `affine_map` attribute applied to `operands`."""
        formula = self._maps.get(attribute)
        if formula is None:
            assert isinstance(attribute, ir.AffineMapAttr)
            formula = self._maps[attribute] = compile_map(attribute.value)
        return self._apply(formula, operands)

    def condition(self, attribute: ir.Attribute, operands: list[ir.Value]) -> tuple[Terms, tuple[bool, ...]]:
        """The constraints of an `affine_set` attribute, and which are equalities."""
        compiled = self._sets.get(attribute)
        if compiled is None:
            compiled = self._sets[attribute] = compile_set(attribute)
        return self._apply(compiled[0], operands), compiled[1]

    def _apply(self, formula: Formula, operands: list[ir.Value]) -> Terms:
        if not operands:
            inputs: list[Linear | None] = []
        else:
            arguments = [self.index(operand) for operand in operands]
            inputs = [argument.forms[0] for argument in arguments]
            inherited = tuple(q for argument in arguments for q in argument.quotients)
            if inherited:
                terms = self._instantiate(formula, inputs)
                return Terms(terms.forms, inherited + terms.quotients)
        return self._instantiate(formula, inputs)

    def _instantiate(self, formula: Formula, inputs: list[Linear | None]) -> Terms:
        if not formula.quotients:
            return Terms(instantiate(formula, inputs, []))
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
        return Terms(instantiate(formula, inputs, fresh), quotients)

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
                    return Terms([Linear(attribute.value)])
            case "affine.apply":
                return self.map(op.attributes["map"], list(op.operands))
            case "arith.index_cast" if _keeps_loop_values(value.type):
                return self.index(op.operands[0])
            case "arith.addi" | "arith.subi" | "arith.muli" if isinstance(value.type, ir.IndexType):
                return self._arithmetic(op)
        return Terms([None])

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
        return Terms([result], left.quotients + right.quotients)

    def _is_invariant(self, value: ir.Value) -> bool:
        """Computed once in a call of the function: an argument, or at its top level."""
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        return self.entry is not None and block == self.entry

    def _parameter(self, value: ir.Value) -> Linear:
        name = self.argument_names.get(value, "")
        if not name:
            owner = value.owner
            if not isinstance(owner, ir.Block) and "allo.name" in owner.operation.attributes:
                name = ir.StringAttr(owner.operation.attributes["allo.name"]).value
        base = name or f"p{len(self.parameters)}"
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        parameter = Parameter(self.fresh(), name, value)
        self.parameters.append(parameter)
        return variable(parameter.variable)


def _keeps_loop_values(target: ir.Type) -> bool:
    """Loop and size values are taken to fit in 32 bits; a cast to fewer may wrap."""
    return not isinstance(target, ir.IntegerType) or target.width >= 32
