"""Evaluates computation graphs on NumPy inputs, by Python's integers and NumPy's floats: what the graphs mean."""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from allo.ir.forms import array_words
from allo.ir.types import Float, Index, TensorType
from allo.ir.words import ints_of_words, is_plain, pack
from allo.verify.concrete.engine import UNDEFINED, Constant, ExpressionGraph, OpNode
from allo.verify.concrete.expression import position_of
from allo.verify.concrete.operators import OpKind, ScalarType

_LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
_FLOATS = {1: np.float16, 2: ml_dtypes.bfloat16, 3: np.float32, 4: np.float64}
_COMPARISONS = {1: "eq", 2: "gt", 3: "ge", 4: "lt", 5: "le", 6: "ne"}
_COMPARISONS |= {8: "eq", 9: "gt", 10: "ge", 11: "lt", 12: "le", 13: "ne"}


class Undefined(Exception):
    """The value depends on an element that nothing has written."""


class Evaluator:
    """The values of expressions for given arguments: integers as bits without a sign, floats as NumPy has them."""

    def __init__(self, graph: ExpressionGraph, leaves: Sequence[Any]) -> None:
        self.graph = graph
        self.leaves = leaves  # for each argument the flat list of its elements
        self.known: dict[int, Any] = {}

    def value(self, root: int) -> Any:
        """The value of an expression; raises Undefined."""
        stack = [root]
        while stack:
            number = stack[-1]
            if number in self.known:
                stack.pop()
                continue
            if number == UNDEFINED:
                self.known[number] = None
                continue
            node = self.graph.read(number)
            if isinstance(node, OpNode) and node.operator.kind != OpKind.LEAF:
                missing = [x for x in node.operands if x not in self.known]
                if missing:
                    stack.extend(missing)
                    continue
            self.known[number] = self._evaluated(node)
            stack.pop()
        if self.known[root] is None:
            raise Undefined
        return self.known[root]

    def _evaluated(self, node: OpNode | Constant) -> Any:
        if isinstance(node, Constant):
            return from_bits(node.bits, node.type)
        operator = node.operator
        if operator.kind == OpKind.LEAF:
            return self.leaves[operator.extra][position_of(node)]
        values = [self.known[x] for x in node.operands]
        if operator.kind == OpKind.SELECT:
            return None if values[0] is None else values[1] if values[0] else values[2]
        if any(value is None for value in values):
            return None
        types = [self._type(x) for x in node.operands]
        if operator.result.code == 0 and all(t.code == 0 for t in types):
            return _integer(operator.kind, operator, values, types)
        with np.errstate(all="ignore"):
            return _float(operator, values, types)

    def _type(self, number: int) -> ScalarType:
        node = self.graph.read(number)
        return node.type if isinstance(node, Constant) else node.operator.result


def from_bits(bits: int, scalar: ScalarType) -> Any:
    """A value of a type by its bits."""
    if scalar.code == 0:
        return bits
    whole = {16: np.uint16, 32: np.uint32, 64: np.uint64}[scalar.width]
    return whole(bits).view(_FLOATS[scalar.code])


def signed(bits: int, width: int) -> int:
    """Bits as a number with a sign."""
    return bits - (1 << width) if bits >> (width - 1) else bits


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _integer(kind: OpKind, operator: Any, x: list[int], types: list[ScalarType]) -> int | None:
    width = types[0].width
    s = [signed(v, t.width) for v, t in zip(x, types, strict=True)]
    mask = (1 << operator.result.width) - 1
    name = operator.name.split(".")[1]
    if kind == OpKind.OPAQUE:
        special = {"absi": lambda: abs(s[0]), "ctpop": lambda: x[0].bit_count()}
        return special[name]() & mask
    if kind in (OpKind.EXTS, OpKind.EXTU, OpKind.TRUNC):
        return (s[0] if kind == OpKind.EXTS else x[0]) & mask
    if kind == OpKind.COMPARE:
        a, b = s if operator.extra < 6 else x
        p = operator.extra if operator.extra < 6 else operator.extra - 4
        return int([a == b, a != b, a < b, a <= b, a > b, a >= b][p])
    if name.startswith(("div", "rem", "floordiv", "ceildiv")) and x[1] == 0:
        return None
    if name.startswith("sh") and x[1] >= width:
        return None
    rules = {
        OpKind.ADD: lambda: x[0] + x[1],
        OpKind.SUB: lambda: x[0] - x[1],
        OpKind.MUL: lambda: x[0] * x[1],
        OpKind.DIVS: lambda: _truncated(s[0], s[1]),
        OpKind.DIVU: lambda: x[0] // x[1],
        OpKind.FLOORDIVS: lambda: s[0] // s[1],
        OpKind.CEILDIVS: lambda: -(-s[0] // s[1]),
        OpKind.CEILDIVU: lambda: -(-x[0] // x[1]),
        OpKind.REMS: lambda: s[0] - s[1] * _truncated(s[0], s[1]),
        OpKind.REMU: lambda: x[0] % x[1],
        OpKind.AND: lambda: x[0] & x[1],
        OpKind.OR: lambda: x[0] | x[1],
        OpKind.XOR: lambda: x[0] ^ x[1],
        OpKind.SHL: lambda: x[0] << x[1],
        OpKind.SHRS: lambda: s[0] >> x[1],
        OpKind.SHRU: lambda: x[0] >> x[1],
        OpKind.MINS: lambda: min(s),
        OpKind.MAXS: lambda: max(s),
        OpKind.MINU: lambda: min(x),
        OpKind.MAXU: lambda: max(x),
    }
    return rules[kind]() & mask


def _bits(value: Any, scalar: ScalarType) -> int:
    if scalar.code == 0:
        return int(value)
    return int(np.array(value).view({16: np.uint16, 32: np.uint32, 64: np.uint64}[scalar.width]))


def _float(operator: Any, x: list[Any], types: list[ScalarType]) -> Any:
    name = operator.name.split(".")[1]
    result = operator.result
    make = _FLOATS.get(result.code)
    if name == "bitcast":
        return from_bits(_bits(x[0], types[0]), result)
    if name in ("sitofp", "uitofp"):
        return make(signed(x[0], types[0].width) if name == "sitofp" else x[0])
    if name in ("fptosi", "fptoui"):
        return int(np.trunc(np.float64(x[0]))) & ((1 << result.width) - 1) if np.isfinite(x[0]) else 0
    if name in ("extf", "truncf"):
        return make(x[0])
    if name == "cmpf":
        unordered = bool(np.isnan(x[0]) or np.isnan(x[1]))
        p = operator.extra
        if p in (7, 14):
            return int(unordered == (p == 14))
        if unordered:
            return int(p >= 8)
        return int(getattr(np.float64(x[0]), f"__{_COMPARISONS[p]}__")(np.float64(x[1])))
    if operator.name.startswith("arith."):
        rules = {
            "addf": lambda: x[0] + x[1],
            "subf": lambda: x[0] - x[1],
            "mulf": lambda: x[0] * x[1],
            "divf": lambda: x[0] / x[1],
            "negf": lambda: -x[0],
            "remf": lambda: np.fmod(x[0], x[1]),
            "maximumf": lambda: np.maximum(x[0], x[1]),
            "minimumf": lambda: np.minimum(x[0], x[1]),
        }
        return make(rules[name]())
    return _libm(name, x, result, make)


def _libm(name: str, x: list[Any], result: ScalarType, make: Any) -> Any:
    name = {"absf": "fabs", "powf": "pow", "atan2": "atan2", "roundeven": "roundeven"}.get(name, name)
    double = result.width == 64
    function = getattr(_LIBM, name if double else f"{name}f")
    kind = ctypes.c_double if double else ctypes.c_float
    function.restype, function.argtypes = kind, [kind] * len(x)
    return make(function(*(float(v) for v in x)))


def leaves_of(kind: Any, value: Any) -> list[Any]:
    """The elements of an argument as the graph has them: the bits of what is no float."""
    element = kind.element if isinstance(kind, TensorType) else kind
    flat = np.asarray(value).reshape(-1)
    if isinstance(element, Float):
        dtype = (
            ml_dtypes.bfloat16
            if element.brain
            else {16: np.float16, 32: np.float32, 64: np.float64}[element.width]
        )
        return list(flat.astype(dtype))
    if is_plain(element):
        bits = 64 if isinstance(element, Index) else element.bits
        return [int(v) & ((1 << bits) - 1) for v in flat.tolist()]
    if isinstance(kind, TensorType):
        return [
            word & ((1 << element.bits) - 1)
            for word in ints_of_words(array_words(element, flat, "an argument"))
        ]
    return [pack(element, value, "an argument") & ((1 << element.bits) - 1)]


def bits_of(value: Any) -> Any:
    """Something by which two values are compared exactly; all NaN are one."""
    if isinstance(value, int):
        return value
    if np.isnan(value):
        return "nan"
    return struct.pack("<d", float(value))
