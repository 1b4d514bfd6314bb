"""Scalar operators of computation graphs: with exact types, folded or opaque."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from mlir import ir


class OpKind(IntEnum):
    """What folding, normal forms and the solver know of an operator; the numbers of `ComputationGraph.h`."""

    OPAQUE = 0
    LEAF = 1
    SELECT = 2
    BITCAST = 3
    ADDF = 4
    SUBF = 5
    MULF = 6
    NEGF = 7
    ADD = 8
    SUB = 9
    MUL = 10
    DIVS = 11
    DIVU = 12
    FLOORDIVS = 13
    CEILDIVS = 14
    CEILDIVU = 15
    REMS = 16
    REMU = 17
    AND = 18
    OR = 19
    XOR = 20
    SHL = 21
    SHRS = 22
    SHRU = 23
    MINS = 24
    MAXS = 25
    MINU = 26
    MAXU = 27
    EXTS = 28
    EXTU = 29
    TRUNC = 30
    COMPARE = 31
    FROM_SIGNED = 32
    FROM_UNSIGNED = 33


_KINDS = {
    "arith.select": OpKind.SELECT,
    "arith.bitcast": OpKind.BITCAST,
    "arith.addf": OpKind.ADDF,
    "arith.subf": OpKind.SUBF,
    "arith.mulf": OpKind.MULF,
    "arith.negf": OpKind.NEGF,
    "arith.addi": OpKind.ADD,
    "arith.subi": OpKind.SUB,
    "arith.muli": OpKind.MUL,
    "arith.divsi": OpKind.DIVS,
    "arith.divui": OpKind.DIVU,
    "arith.floordivsi": OpKind.FLOORDIVS,
    "arith.ceildivsi": OpKind.CEILDIVS,
    "arith.ceildivui": OpKind.CEILDIVU,
    "arith.remsi": OpKind.REMS,
    "arith.remui": OpKind.REMU,
    "arith.andi": OpKind.AND,
    "arith.ori": OpKind.OR,
    "arith.xori": OpKind.XOR,
    "arith.shli": OpKind.SHL,
    "arith.shrsi": OpKind.SHRS,
    "arith.shrui": OpKind.SHRU,
    "arith.minsi": OpKind.MINS,
    "arith.maxsi": OpKind.MAXS,
    "arith.minui": OpKind.MINU,
    "arith.maxui": OpKind.MAXU,
    "arith.extsi": OpKind.EXTS,
    "arith.extui": OpKind.EXTU,
    "arith.trunci": OpKind.TRUNC,
    "arith.cmpi": OpKind.COMPARE,
    "arith.sitofp": OpKind.FROM_SIGNED,
    "arith.uitofp": OpKind.FROM_UNSIGNED,
}
_COMMUTATIVE = frozenset({"arith.addf", "arith.mulf"})
_UNORDERED = frozenset({1, 6, 7, 8, 13, 14})  # predicates of arith.cmpf that are commutative
_MIRRORED = {2: 4, 3: 5, 9: 11, 10: 12}  # a > b is b < a
# what does not change the value of an operation that is defined
_WITHOUT_MEANING = frozenset({"fastmath", "overflowFlags", "isExact", "nonNeg", "predicate"})


@dataclass(frozen=True, slots=True)
class ScalarType:
    """`code` is 0 for integers and a number for each type of floats; `width` in bits."""

    code: int
    width: int

    def __str__(self) -> str:
        return f"{('i', 'f', 'bf', 'f', 'f')[self.code]}{self.width}"


INDEX = ScalarType(0, 64)
BIT = ScalarType(0, 1)
UNWRITTEN = -1  # in place of the argument of a leaf
F16, BF16, F32, F64 = ScalarType(1, 16), ScalarType(2, 16), ScalarType(3, 32), ScalarType(4, 64)


@dataclass(frozen=True, slots=True)
class ScalarOperator:
    """`name` is the operation; `detail` what else distinguishes it: types, attributes, which of several results."""

    name: str
    kind: OpKind
    arity: int
    result: ScalarType
    detail: str = ""
    commutative: bool = False
    extra: int = 0  # the predicate of a comparison, the argument of a leaf


def scalar_type(kind: ir.Type) -> ScalarType | None:
    """The type of a scalar after `allo-lower-types`; None for anything else."""
    if isinstance(kind, ir.IntegerType):
        return ScalarType(0, kind.width)
    for mlir_type, scalar in ((ir.F32Type, F32), (ir.F64Type, F64), (ir.F16Type, F16), (ir.BF16Type, BF16)):
        if isinstance(kind, mlir_type):
            return scalar
    return INDEX if isinstance(kind, ir.IndexType) else None


def select_of(scalar: ScalarType) -> ScalarOperator:
    """The choice between two values of a type."""
    return ScalarOperator("arith.select", OpKind.SELECT, 3, scalar, str(scalar))


def unwritten_of(array: str, scalar: ScalarType) -> ScalarOperator:
    """The elements of an array that nothing has written: a value for each, which may be any."""
    return ScalarOperator("undefined", OpKind.LEAF, 0, scalar, f"{array} {scalar}", extra=UNWRITTEN)


def extension(source: ScalarType, result: ScalarType, signed: bool) -> ScalarOperator:
    """An integer with more bits (or fewer)."""
    if source.width > result.width:
        return ScalarOperator("arith.trunci", OpKind.TRUNC, 1, result, f"{source} {result}")
    kind, name = (OpKind.EXTS, "arith.extsi") if signed else (OpKind.EXTU, "arith.extui")
    return ScalarOperator(name, kind, 1, result, f"{source} {result}")


def integer_operator(name: str, width: int = 64) -> ScalarOperator:
    """A binary operation on integers by its name in `arith`."""
    kind = _KINDS[name]
    scalar = ScalarType(0, width)
    return ScalarOperator(name, kind, 2, scalar, str(scalar), kind in _ORDERLESS)


def comparison(predicate: int, width: int = 64) -> ScalarOperator:
    """A comparison of integers by the number of its predicate in `arith.cmpi`."""
    return ScalarOperator("arith.cmpi", OpKind.COMPARE, 2, BIT, f"{predicate} i{width}", predicate < 2, predicate)


_ORDERLESS = frozenset(
    {OpKind.ADD, OpKind.MUL, OpKind.AND, OpKind.OR, OpKind.XOR, OpKind.MINS, OpKind.MAXS, OpKind.MINU, OpKind.MAXU}
)


def operator_of(op: ir.Operation, result: int = 0) -> tuple[ScalarOperator, bool] | None:
    """The operator of an operation on scalars, and whether its operands change places; None if there is none."""
    types = [scalar_type(value.type) for value in op.operands]
    made = scalar_type(op.results[result].type)
    if made is None or any(kind is None for kind in types) or not 1 <= len(types) <= 3:
        return None
    name = op.name
    kind = _KINDS.get(name, OpKind.OPAQUE)
    if kind == OpKind.COMPARE:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        swapped = predicate in (4, 5, 8, 9)
        assert types[0] is not None
        return comparison(predicate - 2 if swapped else predicate, types[0].width), swapped
    swapped, commutative = False, kind in _ORDERLESS or name in _COMMUTATIVE
    words = [str(t) for t in types] + [str(made)]
    if name == "arith.cmpf":
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        swapped = predicate in _MIRRORED
        predicate = _MIRRORED.get(predicate, predicate)
        commutative = predicate in _UNORDERED
        words.append(f"predicate {predicate}")
        return ScalarOperator(name, kind, 2, made, " ".join(words), commutative, predicate), swapped
    for attribute, value in sorted(dict(op.attributes.items()).items()):
        if attribute not in _WITHOUT_MEANING and not attribute.startswith("allo."):
            words.append(f"{attribute}={value}")
    if len(op.results) > 1:
        words.append(f"#{result}")
    return ScalarOperator(name, kind, len(types), made, " ".join(words), commutative), swapped
