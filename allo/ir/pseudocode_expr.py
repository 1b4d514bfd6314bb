"""Operations and affine expressions as Python-like text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from .access import is_at_stream
from .affine_sets import constraints_of
from .mlir_types import integer_of, mantissa_of, scalar_from_mlir
from .types import Fixed, UFixed

_INFIX: dict[str, str] = {
    "addi": "+", "addf": "+", "subi": "-", "subf": "-", "muli": "*", "mulf": "*", "divf": "/",
    "divsi": "/", "divui": "/", "floordivsi": "//", "remsi": "%", "remui": "%", "remf": "%",
    "andi": "&", "ori": "|", "xori": "^", "shli": "<<", "shrsi": ">>", "shrui": ">>",
    "fixed_add": "+", "fixed_sub": "-", "fixed_mul": "*", "fixed_div": "/",
}  # fmt: skip
_FUNCTIONS = {
    "maxsi": "max", "maxui": "max", "maximumf": "max", "maxnumf": "max",
    "minsi": "min", "minui": "min", "minimumf": "min", "minnumf": "min",
}  # fmt: skip
# Conversions that keep the value, or wrap it as the declared type says; the types show them.
_CONVERSIONS = frozenset(
    {"extsi", "extui", "extf", "trunci", "truncf", "sitofp", "uitofp", "fptosi", "fptoui"}
    | {"index_cast", "index_castui", "sign_cast", "fixed_cast", "element_cast"}
)
_PRECEDENCE = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6}
_COMPARISON = 0
TERNARY = -1
_ATOM = 9


@dataclass(frozen=True, slots=True)
class Text:
    """An expression: how tightly its top operator binds, and whether it reads memory or has an effect."""

    text: str
    binds: int = _ATOM
    reads: bool = False
    effect: bool = False
    operator: str = ""
    lhs: str = ""
    rhs: str = ""

    @property
    def compound(self) -> bool:
        """Whether it is more than a name or a number."""
        return self.binds < _ATOM or self.reads


def atom(text: Text, at_least: int = _ATOM) -> str:
    """The text, in parentheses if it binds less tightly than its place needs."""
    return text.text if text.binds >= at_least else f"({text.text})"


def joined(texts: Sequence[Text]) -> str:
    """The texts of arguments."""
    return ", ".join(text.text for text in texts)


def infix(operator: str, lhs: Text, rhs: Text) -> Text:
    """`lhs operator rhs` with the parentheses that it needs."""
    binds = _PRECEDENCE.get(operator, _COMPARISON)
    left, right = atom(lhs, binds), atom(rhs, binds + 1)
    reads = lhs.reads or rhs.reads
    return Text(f"{left} {operator} {right}", binds, reads, False, operator, left, rhs.text)


def operation_text(op: ir.Operation, operands: list[Text]) -> Text:
    """The value of an operation with one result."""
    _, _, name = op.name.partition(".")
    reads = any(operand.reads for operand in operands)
    if name == "constant":
        return _constant(op)
    if name == "fixed_constant":
        return _fixed_constant(op)
    if name in ("extui", "uitofp", "index_castui", "sign_cast"):
        return _unsigned(op, operands[0])
    if name in _CONVERSIONS:
        return operands[0]
    if name in _INFIX:
        return infix(_INFIX[name], *operands)
    if name in _FUNCTIONS:
        return Text(f"{_FUNCTIONS[name]}({joined(operands)})", _ATOM, reads)
    if name in ("cmpi", "cmpf", "fixed_cmp"):
        return infix(_predicate(op), *operands)
    if name in ("negf", "fixed_neg"):
        return Text(f"-{atom(operands[0])}", _PRECEDENCE["*"], reads)
    if name == "select":
        condition, first, second = (atom(operand, _COMPARISON) for operand in operands)
        return Text(f"{first} if {condition} else {second}", TERNARY, reads)
    if is_at_stream(op):
        given = joined(operands[1:])
        return Text(f"{operands[0].text}.{name.removeprefix('stream_')}({given})", _ATOM, True, True)
    if name == "struct_get":
        return Text(f"{atom(operands[0])}.{ir.StringAttr(op.attributes['field']).value}", _ATOM, reads)
    if name == "get_bit":
        return Text(f"{atom(operands[0])}[{operands[1].text}]", _ATOM, reads)
    if name == "get_slice":  # the operands are the word, its high end, its low end
        return Text(f"{atom(operands[0])}[{operands[2].text}:{operands[1].text}]", _ATOM, reads)
    return Text(f"{name}({joined(operands)})", _ATOM, reads)


def _constant(op: ir.Operation) -> Text:
    value = op.attributes["value"]
    if isinstance(value, ir.BoolAttr):
        return Text(str(value.value))
    if isinstance(value, ir.IntegerAttr):
        return Text(str(integer_of(value)))
    if isinstance(value, ir.FloatAttr):
        return Text(repr(float(value.value)))
    return Text(str(value).split(" :")[0])


def _unsigned(op: ir.Operation, text: Text) -> Text:
    """A constant that is read as unsigned: MLIR prints the bits of `uint5` 16 as -16."""
    source, kind = op.operands[0].owner, op.results[0].type
    if op.name == "allo.sign_cast" and not (isinstance(kind, ir.IntegerType) and kind.is_unsigned):
        return text
    negative = not isinstance(source, ir.Block) and source.operation.name == "arith.constant" and text.text[0] == "-"
    return Text(str(int(text.text) + 2 ** op.operands[0].type.width)) if negative else text


def _fixed_constant(op: ir.Operation) -> Text:
    """The number of a fixed-point constant, from the integer that its bits are."""
    return Text(repr(fixed_number(op.attributes["mantissa"], op.results[0].type)))


def fixed_number(bits: ir.Attribute, of: ir.Type) -> float | int:
    """The number that an integer attribute is as the bits of a fixed-point type."""
    kind = scalar_from_mlir(of)
    assert isinstance(kind, Fixed | UFixed)
    mantissa = mantissa_of(integer_of(bits), kind)
    return mantissa / 2**kind.fracs if kind.fracs else mantissa


def _predicate(op: ir.Operation) -> str:
    """The operator of a comparison, from the name of its predicate in the text of the operation."""
    if "predicate" in op.attributes and isinstance(op.attributes["predicate"], ir.IntegerAttr):
        number = ir.IntegerAttr(op.attributes["predicate"]).value
        if op.name == "arith.cmpi":
            return ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")[number]
        if op.name == "allo.fixed_cmp":
            return ("==", "!=", "<", "<=", ">", ">=")[number]
        if op.name == "arith.cmpf":
            ordered = ("False", "==", ">", ">=", "<", "<=", "!=", "ordered")
            return (*ordered, "unordered", *ordered[1:7], "True")[number]
    text = str(op.attributes["predicate"]) if "predicate" in op.attributes else "eq"
    return next((p for p in ("==", "!=", "<=", ">=", "<", ">") if _NAMES[p] in text), "==")


_NAMES = {"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt"}


def affine_text(affine_map: ir.AffineMap, operands: Sequence[Text]) -> list[Text]:
    """The results of an affine map."""
    dims, symbols = operands[: affine_map.n_dims], operands[affine_map.n_dims :]
    return [_affine(expr, dims, symbols) for expr in affine_map.results]


def set_text(condition: ir.Attribute, operands: Sequence[Text]) -> str:
    """The conjunction that the condition of an `affine.if` is."""
    affine_map, equalities = constraints_of(condition)
    dims, symbols = operands[: affine_map.n_dims], operands[affine_map.n_dims :]
    pairs = zip(affine_map.results, equalities, strict=True)
    return " and ".join(_constraint(expr, equal, dims, symbols) for expr, equal in pairs)


def _constraint(expr: ir.AffineExpr, equal: bool, dims: Sequence[Text], symbols: Sequence[Text]) -> str:
    """`expr >= 0` with what is subtracted on the other side, and a lone number on the right."""
    positive: list[Text] = []
    negative: list[Text] = []
    variables = False
    for term in _terms(expr):
        coefficient, text = _signed(term, dims, symbols)
        (positive if coefficient > 0 else negative).append(text)
        variables |= coefficient > 0 and not isinstance(term, ir.AffineConstantExpr)
    left, right = _sum(positive), _sum(negative)
    if equal:
        return f"{left} == {right}" if variables or not negative else f"{right} == {left}"
    return f"{left} >= {right}" if variables or not negative else f"{right} <= {left}"


def _sum(texts: list[Text]) -> str:
    return " + ".join(atom(text, _PRECEDENCE["+"]) for text in texts) or "0"


def _terms(expr: ir.AffineExpr) -> list[ir.AffineExpr]:
    return [*_terms(expr.lhs), *_terms(expr.rhs)] if isinstance(expr, ir.AffineAddExpr) else [expr]


def _signed(term: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> tuple[int, Text]:
    """The sign of a term, and the term without it."""
    if isinstance(term, ir.AffineConstantExpr):
        return (1 if term.value >= 0 else -1), Text(str(abs(term.value)))
    if isinstance(term, ir.AffineMulExpr) and isinstance(term.rhs, ir.AffineConstantExpr):
        factor, text = term.rhs.value, _affine(term.lhs, dims, symbols)
        return (1 if factor >= 0 else -1), text if abs(factor) == 1 else infix("*", Text(str(abs(factor))), text)
    return 1, _affine(term, dims, symbols)


def _affine(expr: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> Text:
    if isinstance(expr, ir.AffineConstantExpr):
        return Text(str(expr.value), _ATOM if expr.value >= 0 else _PRECEDENCE["*"])
    if isinstance(expr, ir.AffineDimExpr):
        return dims[int(expr.position)]
    if isinstance(expr, ir.AffineSymbolExpr):
        return symbols[int(expr.position)]
    if isinstance(expr, ir.AffineAddExpr):
        return _affine_sum(expr, dims, symbols)
    lhs, rhs = _affine(expr.lhs, dims, symbols), _affine(expr.rhs, dims, symbols)
    if isinstance(expr, ir.AffineMulExpr):
        sign, text = _signed(expr, dims, symbols)
        return text if sign > 0 else Text(f"-{atom(text, _PRECEDENCE['*'])}", _PRECEDENCE["+"])
    if isinstance(expr, ir.AffineModExpr):
        return infix("%", lhs, rhs)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return infix("//", lhs, rhs)
    return Text(f"ceildiv({lhs.text}, {rhs.text})")


def _affine_sum(expr: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> Text:
    """Terms with their signs: `i - 1`, not `i + -1`."""
    result: Text | None = None
    for term in _terms(expr):
        sign, text = _signed(term, dims, symbols)
        if result is None:
            result = text if sign > 0 else Text(f"-{atom(text, _PRECEDENCE['*'])}", _PRECEDENCE["+"])
        else:
            result = infix("+" if sign > 0 else "-", result, text)
    assert result is not None
    return result
