"""Operations of loops as C++: on numbers, and on vectors of the AIE vector API."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .contract import NAMES_OF_ELEMENTS

_COMPARED_INTEGERS = {0: "eq", 2: "lt", 3: "le", 4: "gt", 5: "ge"}  # signed predicates of arith.cmpi
_COMPARED_FLOATS = {1: "eq", 2: "gt", 3: "ge", 4: "lt", 5: "le"}  # ordered predicates of arith.cmpf
_SIGNS = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_FUNCTIONS = {
    "arith.addi": "aie::add", "arith.addf": "aie::add", "arith.subi": "aie::sub", "arith.subf": "aie::sub",
    "arith.muli": "allo_kernels::times", "arith.mulf": "allo_kernels::times", "arith.divf": "allo_kernels::quotient",
    "arith.maxsi": "aie::max", "arith.minsi": "aie::min", "arith.maximumf": "aie::max", "arith.minimumf": "aie::min",
    "arith.maxnumf": "aie::max", "arith.minnumf": "aie::min", "arith.negf": "aie::neg",
    "math.exp": "allo_kernels::exp_of", "math.sqrt": "allo_kernels::sqrt_of", "math.rsqrt": "allo_kernels::rsqrt_of",
    "math.tanh": "allo_kernels::tanh_of",
}  # fmt: skip
_CASTS = ("arith.extsi", "arith.extf", "arith.trunci", "arith.truncf", "arith.sitofp")
_INFIX = {
    "arith.addi": "+", "arith.addf": "+", "arith.subi": "-", "arith.subf": "-", "arith.muli": "*", "arith.mulf": "*",
    "arith.divf": "/",
}  # fmt: skip
_JOINS = {
    "arith.addi": "add", "arith.addf": "add", "arith.maxsi": "max", "arith.minsi": "min", "arith.maximumf": "max",
    "arith.minimumf": "min", "arith.maxnumf": "max", "arith.minnumf": "min",
}  # fmt: skip


class NoLanes(Exception):
    """Why a nest of loops is no kernel for the vector unit."""


def cpp_type(kind: ir.Type) -> str:
    """The type of a number."""
    if isinstance(kind, ir.IntegerType) and kind.width == 1:
        return "bool"
    if isinstance(kind, ir.IndexType):
        raise NoLanes("subscripts are computed from one another, as by halves of bytes, and lanes have numbers only")
    if str(kind) not in NAMES_OF_ELEMENTS:
        raise NoLanes(f"the vector unit has no numbers of type {kind}")
    return NAMES_OF_ELEMENTS[str(kind)]


def vector_text(op: ir.Operation, operands: Sequence[str], count: int) -> str:
    """The value of an operation on vectors."""
    kind = op.results[0].type
    if op.name in _FUNCTIONS:
        cpp_type(kind)
        return f"{_FUNCTIONS[op.name]}({', '.join(operands)})"
    if op.name in _CASTS:
        return f"allo_kernels::lanes_as<{cpp_type(kind)}>({operands[0]})"
    if op.name in ("arith.cmpi", "arith.cmpf"):
        a, b = operands
        match _predicate(op):
            case "gt":
                return f"aie::lt({b}, {a})"
            case "le":
                return f"aie::ge({b}, {a})"
            case name:
                return f"aie::{name}({a}, {b})"
    if op.name == "arith.select":
        chosen, yes, no = operands
        if chosen.startswith("aie::broadcast"):
            raise NoLanes("a choice for all lanes at once is made in a loop")
        return f"aie::select({no}, {yes}, {chosen})"
    raise NoLanes(f"there is no '{op.name}' for lanes")


def scalar_text(op: ir.Operation, operands: Sequence[str]) -> str:
    """The value of an operation on numbers."""
    kind = op.results[0].type
    if op.name == "arith.constant":
        return _number(op)
    if any(not operand for operand in operands):
        operands = [own or _given(value) for own, value in zip(operands, op.operands, strict=True)]
    name = cpp_type(kind)
    if op.name in _INFIX:
        wide = "int64_t" if isinstance(kind, ir.IntegerType) else "float"
        a, b = (f"{wide}({operand})" for operand in operands)
        return f"{name}({a} {_INFIX[op.name]} {b})"
    if op.name in _CASTS:
        return f"{name}({operands[0]})"
    if op.name in ("arith.cmpi", "arith.cmpf"):
        return f"({operands[0]} {_SIGNS[_predicate(op)]} {operands[1]})"
    if op.name == "arith.select":
        return f"({operands[0]} ? {operands[1]} : {operands[2]})"
    if op.name in ("math.sqrt", "math.rsqrt"):
        function = "sqrt" if op.name == "math.sqrt" else "invsqrt"
        return f"{name}(aie::{function}(float({operands[0]})))"
    if op.name in ("math.exp", "math.tanh"):
        lanes = f"aie::broadcast<float, 16>(float({operands[0]}))"
        return f"{name}({_FUNCTIONS[op.name]}({lanes}).get(0))"
    if op.name in _JOINS and _JOINS[op.name] != "add":
        a, b = operands
        return f"({a} {'>' if _JOINS[op.name] == 'max' else '<'} {b} ? {a} : {b})"
    raise NoLanes(f"there is no '{op.name}' for single numbers")


def reduced_by(result: ir.Value, before: ir.Value) -> tuple[ir.Value, str] | None:
    """What is joined to `before` in `result`, and by which function; None if that is no sum, maximum or minimum."""
    owner = result.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name in _JOINS and before in op.operands:
        others = [value for value in op.operands if value != before]
        return (others[0], _JOINS[op.name]) if len(others) == 1 else None
    if op.name != "arith.select":
        return None
    chosen, yes, no = op.operands
    test = chosen.owner
    if isinstance(test, ir.Block) or test.operation.name not in ("arith.cmpi", "arith.cmpf") or before not in (yes, no):
        return None
    value = yes if no == before else no
    if set(test.operation.operands) != {value, before}:
        return None
    sign = _predicate(test.operation)
    if sign not in ("gt", "ge", "lt", "le"):
        return None
    keeps_larger = (sign in ("gt", "ge")) == (test.operation.operands[0] == yes)
    return value, "max" if keeps_larger else "min"


def _predicate(op: ir.Operation) -> str:
    known = _COMPARED_INTEGERS if op.name == "arith.cmpi" else _COMPARED_FLOATS
    number = ir.IntegerAttr(op.attributes["predicate"]).value
    if number not in known:
        raise NoLanes("numbers are compared in a way that lanes are not: unsigned, unordered or for inequality")
    return known[number]


def _given(value: ir.Value) -> str:
    """A number from outside of the loops: a constant."""
    if isinstance(value.owner, ir.Block):
        raise NoLanes("a loop uses a number that is handed to it")
    return _number(value.owner.operation)


def _number(op: ir.Operation) -> str:
    if op.name != "arith.constant":
        raise NoLanes("a number from outside of the nest is used")
    value = op.attributes["value"]
    if isinstance(value, ir.FloatAttr):
        number = value.value
        if number in (float("inf"), float("-inf")):
            return f"{cpp_type(op.results[0].type)}({'-' if number < 0 else ''}__builtin_huge_valf())"
        if number != number:
            raise NoLanes("there is a constant that is no number")
        return f"{cpp_type(op.results[0].type)}({number!r}f)"
    if isinstance(op.results[0].type, ir.IndexType):
        return str(ir.IntegerAttr(value).value)
    return f"{cpp_type(op.results[0].type)}({ir.IntegerAttr(value).value})"
