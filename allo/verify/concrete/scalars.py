"""Equality of expressions on scalars, whatever their inputs are: integers bit by bit, by z3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .operators import OpKind, ScalarOperator, ScalarType


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """An expression: an input (`name`), a constant (`bits`), or an operator on operands; shared where it is one.

    Floats are known by their operators only: equal operators on equal operands give equal values.
    """

    type: ScalarType
    operator: ScalarOperator | None = None
    operands: tuple[Scalar, ...] = ()
    name: str = ""
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """The expressions are equal for all inputs."""


@dataclass(frozen=True, slots=True)
class Differ:
    """Values of integer inputs (by name, without a sign) for which the expressions differ.

    `is_sure`: whatever the other inputs are, and whatever operators on floats compute.
    """

    inputs: dict[str, int]
    is_sure: bool


@dataclass(frozen=True, slots=True)
class SolverUndecided:
    """The solver has not found an answer in its time, or the expressions are too large."""

    reason: str


_MOST_BIT_PRODUCTS = 100_000  # twenty-five products of 64 bits
_PRODUCTS = frozenset(
    {OpKind.MUL, OpKind.DIVS, OpKind.DIVU, OpKind.FLOORDIVS, OpKind.CEILDIVS, OpKind.CEILDIVU, OpKind.REMS, OpKind.REMU}
)

type Answer = Same | Differ | SolverUndecided


def equal(left: Scalar, right: Scalar, *, seconds: float = 2.0, most: int = 20_000) -> Answer:
    """Whether two expressions always have the same value; where an operation is not defined, any value will do.

    That is so for a division by zero and a shift by the width or more, which the kernel language does not produce
    (it selects a defined divisor and amount before), but a module may. An answer Same holds for every value that a
    processor may give there.
    """
    scalars = list(nodes_of(left, right))
    if len(scalars) > most:
        return SolverUndecided(f"an expression of more than {most:,} operations")
    if sum(_bit_products(scalar) for scalar in scalars) > _MOST_BIT_PRODUCTS:
        return SolverUndecided("too many products and quotients for the solver")
    import z3  # type: ignore[import-untyped] # half a second

    context = z3.Context()
    translation = _Translation(z3, context)
    first, second = translation.value(left), translation.value(right)
    solver = z3.Solver(ctx=context)
    solver.set("timeout", max(1, int(seconds * 1000)))
    solver.set("max_memory", 1000)  # MB
    solver.add(first != second)
    found = solver.check()
    if found == z3.unsat:
        return Same()
    if found == z3.unknown:
        return SolverUndecided(f"no answer of the solver within {seconds:g} s")
    model = solver.model()
    values = {
        name: model.eval(variable, model_completion=True).as_long()
        for name, variable in translation.inputs.items()
    }
    return Differ(values, not translation.is_abstract)


def nodes_of(*roots: Scalar) -> Iterator[Scalar]:
    """Each expression below the roots once, operands first."""
    seen: set[int] = set()
    stack = [(root, False) for root in roots]
    while stack:
        scalar, is_done = stack.pop()
        if is_done:
            yield scalar
        elif id(scalar) not in seen:
            seen.add(id(scalar))
            stack.append((scalar, True))
            stack.extend((operand, False) for operand in scalar.operands)


def _bit_products(scalar: Scalar) -> int:
    """How many pairs of bits a product or quotient has; the solver makes gates for each."""
    if scalar.operator is None or scalar.operator.kind not in _PRODUCTS:
        return 0
    return 0 if any(x.bits is not None for x in scalar.operands) else scalar.type.width**2


@dataclass(slots=True)
class _Translation:
    """Expressions as bit vectors of their exact widths. A float is a bit vector that only functions make."""

    z3: Any
    context: Any
    inputs: dict[str, Any] = field(default_factory=dict)
    is_abstract: bool = False  # whether an operator has become a function that nothing is known of
    _values: dict[int, Any] = field(default_factory=dict)
    _functions: dict[ScalarOperator, Any] = field(default_factory=dict)

    def value(self, root: Scalar) -> Any:
        """The bit vector of an expression."""
        for scalar in nodes_of(root):
            if id(scalar) not in self._values:
                self._values[id(scalar)] = self._made(scalar)
        return self._values[id(root)]

    def _made(self, scalar: Scalar) -> Any:
        width = scalar.type.width
        if scalar.bits is not None:
            return self.z3.BitVecVal(scalar.bits, width, self.context)
        operator = scalar.operator
        if operator is None:
            if scalar.name not in self.inputs:
                self.inputs[scalar.name] = self.z3.BitVec(scalar.name, width, self.context)
            return self.inputs[scalar.name]
        operands = [self._values[id(operand)] for operand in scalar.operands]
        if operator.kind in (OpKind.FROM_SIGNED, OpKind.FROM_UNSIGNED):
            return self._from_integer(operator, operands[0])
        rule = _RULES.get(operator.kind)
        if rule is None:
            special = _SPECIAL.get(operator.name)
            return special(self.z3, operands) if special is not None else self._function(operator, operands)
        made = rule(self.z3, operands, operator)
        domain = _DOMAINS.get(operator.kind)
        if domain is None:
            return made
        defined = self.z3.simplify(domain(self.z3, operands))
        if self.z3.is_true(defined):
            return made
        return self.z3.If(defined, made, self._function(operator, operands, "undefined"))

    def _from_integer(self, operator: ScalarOperator, operand: Any) -> Any:
        """A float that is an unknown function of a number, whatever the width of that."""
        wide = (operand.size() // 128 + 1) * 128
        extend = self.z3.SignExt if operator.kind == OpKind.FROM_SIGNED else self.z3.ZeroExt
        number = ScalarOperator("from integer", OpKind.OPAQUE, 1, operator.result, f"i{wide} {operator.result}")
        return self._function(number, [extend(wide - operand.size(), operand)])

    def _function(self, operator: ScalarOperator, operands: list[Any], suffix: str = "") -> Any:
        """An unknown function of the operands; of a commutative one both orders are the same."""
        self.is_abstract = True
        if operator not in self._functions:
            sorts = [self.z3.BitVecSort(operand.size(), self.context) for operand in operands]
            result = self.z3.BitVecSort(operator.result.width, self.context)
            name = f"{operator.name}:{operator.detail}{suffix}"
            self._functions[operator] = self.z3.Function(name, *sorts, result)
        if operator.commutative and len(operands) == 2:
            a, b = operands
            operands = [self.z3.If(self.z3.ULE(a, b), a, b), self.z3.If(self.z3.ULE(a, b), b, a)]
        return self._functions[operator](*operands)


type _Rule = Callable[[Any, list[Any], ScalarOperator], Any]


def _bit(z3: Any, condition: Any) -> Any:
    one, zero = z3.BitVecVal(1, 1, condition.ctx), z3.BitVecVal(0, 1, condition.ctx)
    return z3.If(condition, one, zero)


def _compared(z3: Any, x: list[Any], operator: ScalarOperator) -> Any:
    a, b = x
    predicates: tuple[Callable[[], Any], ...] = (
        lambda: a == b,
        lambda: a != b,
        lambda: a < b,
        lambda: a <= b,
        lambda: a > b,
        lambda: a >= b,
        lambda: z3.ULT(a, b),
        lambda: z3.ULE(a, b),
        lambda: z3.UGT(a, b),
        lambda: z3.UGE(a, b),
    )
    return _bit(z3, predicates[operator.extra]())


def _floor_quotient(z3: Any, x: list[Any], step: int) -> Any:
    """The quotient rounded down (`step` -1) or up (1); z3's `/` drops what is behind the point."""
    a, b = x
    quotient, rest = a / b, z3.SRem(a, b)
    wrong = z3.And(rest != 0, ((rest < 0) != (b < 0)) if step < 0 else ((rest < 0) == (b < 0)))
    return z3.If(wrong, quotient + step, quotient)


def _resized(z3: Any, x: list[Any], operator: ScalarOperator) -> Any:
    (a,) = x
    more = operator.result.width - a.size()
    if operator.kind == OpKind.TRUNC:
        return z3.Extract(operator.result.width - 1, 0, a)
    return z3.SignExt(more, a) if operator.kind == OpKind.EXTS else z3.ZeroExt(more, a)


def _ceil_unsigned(z3: Any, x: list[Any], operator: ScalarOperator) -> Any:
    quotient = z3.UDiv(*x)
    return z3.If(z3.URem(*x) != 0, quotient + 1, quotient)


_RULES: dict[OpKind, _Rule] = {
    OpKind.SELECT: lambda z3, x, o: z3.If(x[0] == 1, x[1], x[2]),
    OpKind.BITCAST: lambda z3, x, o: x[0],
    OpKind.ADD: lambda z3, x, o: x[0] + x[1],
    OpKind.SUB: lambda z3, x, o: x[0] - x[1],
    OpKind.MUL: lambda z3, x, o: x[0] * x[1],
    OpKind.DIVS: lambda z3, x, o: x[0] / x[1],
    OpKind.DIVU: lambda z3, x, o: z3.UDiv(*x),
    OpKind.FLOORDIVS: lambda z3, x, o: _floor_quotient(z3, x, -1),
    OpKind.CEILDIVS: lambda z3, x, o: _floor_quotient(z3, x, 1),
    OpKind.CEILDIVU: _ceil_unsigned,
    OpKind.REMS: lambda z3, x, o: z3.SRem(*x),
    OpKind.REMU: lambda z3, x, o: z3.URem(*x),
    OpKind.AND: lambda z3, x, o: x[0] & x[1],
    OpKind.OR: lambda z3, x, o: x[0] | x[1],
    OpKind.XOR: lambda z3, x, o: x[0] ^ x[1],
    OpKind.SHL: lambda z3, x, o: x[0] << x[1],
    OpKind.SHRS: lambda z3, x, o: x[0] >> x[1],
    OpKind.SHRU: lambda z3, x, o: z3.LShR(*x),
    OpKind.MINS: lambda z3, x, o: z3.If(x[0] < x[1], x[0], x[1]),
    OpKind.MAXS: lambda z3, x, o: z3.If(x[0] > x[1], x[0], x[1]),
    OpKind.MINU: lambda z3, x, o: z3.If(z3.ULT(*x), x[0], x[1]),
    OpKind.MAXU: lambda z3, x, o: z3.If(z3.UGT(*x), x[0], x[1]),
    OpKind.EXTS: _resized,
    OpKind.EXTU: _resized,
    OpKind.TRUNC: _resized,
    OpKind.COMPARE: _compared,
}


def _is_divisor(z3: Any, x: list[Any]) -> Any:
    return x[1] != 0


def _is_signed_divisor(z3: Any, x: list[Any]) -> Any:
    least = z3.BitVecVal(1 << (x[0].size() - 1), x[0].size(), x[0].ctx)
    return z3.And(x[1] != 0, z3.Not(z3.And(x[0] == least, x[1] == -1)))


def _is_amount(z3: Any, x: list[Any]) -> Any:
    """Less than the width, as long as the width fits into the type."""
    width = x[0].size()
    return (
        z3.ULT(x[1], z3.BitVecVal(width, width, x[1].ctx))
        if width >> width == 0
        else z3.BoolVal(True, x[1].ctx)
    )


_DOMAINS: dict[OpKind, Callable[[Any, list[Any]], Any]] = {
    OpKind.DIVS: _is_signed_divisor,
    OpKind.FLOORDIVS: _is_signed_divisor,
    OpKind.CEILDIVS: _is_signed_divisor,
    OpKind.REMS: _is_signed_divisor,
    OpKind.DIVU: _is_divisor,
    OpKind.CEILDIVU: _is_divisor,
    OpKind.REMU: _is_divisor,
    OpKind.SHL: _is_amount,
    OpKind.SHRS: _is_amount,
    OpKind.SHRU: _is_amount,
}


def _population(z3: Any, x: list[Any]) -> Any:
    width = x[0].size()
    bits = [z3.ZeroExt(width - 1, z3.Extract(k, k, x[0])) if width > 1 else x[0] for k in range(width)]
    total = bits[0]
    for bit in bits[1:]:
        total = total + bit
    return total


_SPECIAL: dict[str, Callable[[Any, list[Any]], Any]] = {
    "math.absi": lambda z3, x: z3.If(x[0] < 0, -x[0], x[0]),
    "math.ctpop": _population,
    # floats: the sign is a bit
    "arith.negf": lambda z3, x: x[0] ^ z3.BitVecVal(1 << (x[0].size() - 1), x[0].size(), x[0].ctx),
    "math.absf": lambda z3, x: x[0] & z3.BitVecVal((1 << (x[0].size() - 1)) - 1, x[0].size(), x[0].ctx),
}
