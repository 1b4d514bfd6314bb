"""Mapping of operations of the IR to the operators of a target."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import frexp

from mlir import ir

from ...errors import TargetError
from ...ir.access import callee_name
from ...ir.walk import location_of
from ...ir.widths import INDEX_BITS, Widths
from ...target import Fpga, Operator

_FLOAT = {
    "arith.addf": "add",
    "arith.subf": "add",
    "arith.mulf": "mul",
    "arith.divf": "div",
    "arith.cmpf": "compare",
    "arith.maximumf": "compare",
    "arith.minimumf": "compare",
    "arith.maxnumf": "compare",
    "arith.minnumf": "compare",
    "arith.remf": "div",
    "arith.extf": "convert",
    "arith.truncf": "convert",
    "arith.sitofp": "convert",
    "arith.uitofp": "convert",
    "arith.fptosi": "convert",
    "arith.fptoui": "convert",
    "math.sqrt": "sqrt",
    "math.rsqrt": "sqrt",
    "math.exp": "exp",
    "math.exp2": "exp",
    "math.log": "log",
    "math.log2": "log",
    "math.log10": "log",
    "math.powf": "pow",
    "math.fpowi": "pow",
    "math.sin": "trig",
    "math.cos": "trig",
    "math.tan": "trig",
    "math.tanh": "tanh",
    "math.erf": "tanh",
    "math.floor": "convert",
    "math.ceil": "convert",
    "allo.fixed_cast": "convert",  # between fixed point and floats
}
_INTEGER = {
    "addi": "add", "subi": "add", "muli": "mul", "divsi": "div", "divui": "div", "remsi": "div", "remui": "div",
    "floordivsi": "div", "ceildivsi": "div", "cmpi": "compare", "minsi": "compare", "maxsi": "compare",
    "minui": "compare", "maxui": "compare", "andi": "logic", "ori": "logic", "xori": "logic", "select": "select",
    "shli": "shift", "shrsi": "shift", "shrui": "shift", "fixed_add": "add", "fixed_sub": "add", "fixed_mul": "mul",
    "fixed_div": "div", "fixed_cmp": "compare", "fixed_cast": "add", "fixed_neg": "add", "absi": "add",
    "get_bit": "select", "set_bit": "select", "get_slice": "shift", "set_slice": "shift",
}  # fmt: skip
# What the words of a reason call an operator.
_WORDS = {"compare": "comparison", "convert": "conversion", "select": "selection", "sqrt": "square root"}
_SHARED = ("add", "mul", "div", "sqrt")  # kinds whose units are larger than a choice of their operands
_BY_POWER = 0.71  # the part of the LUTs of a product that one by a power of two has, as Yosys counts
_NOT_BUILT = ("arith.remf",)  # floats of which hardware of our own has no unit
_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
_FIXED = re.compile(r"!allo\.u?fixed<(\d+)")
_FREE = Operator("wire")


@dataclass(frozen=True, slots=True)
class SharedUnit:
    """A unit of hardware of our own that operations share: what it costs, what it computes on, the bits of that."""

    operator: Operator
    kind: str
    bits: int


def operator_of(op: ir.Operation, target: Fpga, widths: Widths) -> Operator:
    """The operator that computes `op`; wires for what needs none. Raises TargetError for one the target has not."""
    if op.name in _NOT_BUILT and target.rules.own_hardware is not None:
        raise no_hardware(op, f"'{op.name.partition('.')[2]}' of {op.results[0].type}")
    floating = float_operator(op)
    if floating is not None:
        found = target.floating(*floating)
        if target.rules.own_hardware is None or not moves_exponent(op):
            return found
        return replace(found, dsp=0, lut=round(_BY_POWER * found.lut))
    short = op.name.partition(".")[2]
    if short == "negf" or short == "absf" or short == "bitcast":
        return _FREE
    kind = _INTEGER.get(short)
    if kind is None:
        return _FREE
    if not all(map(is_integer, (*op.results, *op.operands))):
        return _of_fixed(op, kind, target)
    result = widths.bits(op.results[0])
    kind = _with_constant(op, kind, widths)
    if kind is None or not result:
        return _FREE
    if kind == "mul":
        left, right = map(widths.signed_bits, op.operands)
        return target.product(left, right, result)
    if kind in ("compare", "div"):
        return target.integer(kind, max(map(widths.bits, op.operands)))
    return target.integer(kind, result)


def float_operator(op: ir.Operation) -> tuple[str, str] | None:
    """The kind and the type of the operator on floats that computes `op`; None if it is none."""
    kind, type_ = _FLOAT.get(op.name), _float_type(op)
    return None if kind is None or type_ is None else (kind, type_)


def shared_unit(op: ir.Operation, operator: Operator, target: Fpga, widths: Widths) -> SharedUnit | None:
    """The unit for which such an operation and others may take turns in hardware of our own; None: it has its own.

    It is one of floats, or a multiplier of integers that takes DSPs, if what one more costs is a larger part of the
    device than to choose between one more set of operands.
    """
    if target.rules.own_hardware is None or not operator.latency:
        return None
    floating = float_operator(op)
    if floating is not None and floating[0] in _SHARED and not moves_exponent(op):
        kind, bits = str(op.operands[0].type), sum(bits_of(operand.type) for operand in op.operands)
    elif op.name == "arith.muli" and operator.dsp:
        factors = [max(1, widths.signed_bits(operand)) for operand in op.operands]
        kind, bits = f"{' x '.join(map(str, factors))} -> {widths.needed(op.results[0])}", sum(factors)
    else:
        return None
    saved = operator.lut + operator.dsp * target.device.lut / max(1, target.device.dsp)
    return SharedUnit(operator, kind, bits) if saved > target.control.size.choice_lut_per_bit * bits else None


def moves_exponent(op: ir.Operation) -> bool:
    """Whether an operation is a product of a float and a power of two, whose digits stay as they are."""
    known = (value.owner for value in op.operands if op.name == "arith.mulf" and isinstance(value.owner, ir.OpView))
    constants = (one.attributes["value"] for one in known if one.name == "arith.constant")
    return any(frexp(ir.FloatAttr(constant).value)[0] in (0.5, -0.5) for constant in constants)


def no_hardware(op: ir.Operation, what: str | None = None) -> TargetError:
    """The refusal of an operation that hardware of our own does not have: no estimate of it, and no build."""
    return TargetError(
        f"target 'rtl' has no hardware for {what or f'operation {op.name}'} yet",
        at=location_of(op),
        hint="build the kernel for 'vitis_hls', or leave the operation to the host",
    )


def word_of(op: ir.Operation) -> str:
    """How a reason names an operation: add, mul, div ..."""
    if op.name == "func.call":
        return f"call of {callee_name(op)}"
    short: str = op.name.partition(".")[2]
    kind = _FLOAT.get(op.name) if _float_type(op) else None
    kind = kind or _INTEGER.get(short)
    if kind is None:
        return short.replace("_", " ")
    return _WORDS.get(kind, kind)


def _float_type(op: ir.Operation) -> str | None:
    """The widest type of floats that takes part: a conversion costs as much as that."""
    kinds = [str(value.type) for value in (*op.results, *op.operands)]
    found = [kind for kind in ("f64", "f32", "f16", "bf16") if kind in kinds]
    return None if not found else "f16" if found[0] == "bf16" else found[0]


def is_integer(value: ir.Value) -> bool:
    """Whether the bits of a value are known to `Widths`."""
    return isinstance(value.type, ir.IntegerType | ir.IndexType)


def _of_fixed(op: ir.Operation, kind: str, target: Fpga) -> Operator:
    """An operator on numbers with a binary point, or a choice between values of any type: in their whole widths."""
    if kind == "mul":
        return target.product(*(_bits(value.type) for value in (*op.operands, op.results[0])))
    return target.integer(kind, max(_bits(value.type) for value in (*op.results, *op.operands)))


def _bits(kind: ir.Type) -> int:
    if isinstance(kind, ir.IntegerType):
        return int(kind.width)
    if isinstance(kind, ir.IndexType):
        return INDEX_BITS
    match = _FIXED.match(str(kind))
    return int(match[1]) if match else 64 if str(kind) == "f64" else 32


def bits_of(kind: ir.Type) -> int:
    """The width of a scalar value."""
    text = str(kind)
    return int(text[1:]) if re.fullmatch(r"f\d+", text) else 16 if text == "bf16" else _bits(kind)


def _with_constant(op: ir.Operation, kind: str, widths: Widths) -> str | None:
    """The kind of operator that a constant operand leaves; None: wires.

    Shifts by a constant are wires, and so are products with 0, 1 and powers of two, and quotients of numbers that are
    not negative by powers of two; with a negative power a product is a difference.
    """
    if kind == "shift":
        return None if op.name in _SHIFTS and widths.range(op.operands[1]).constant is not None else kind
    if kind == "mul":
        held = [widths.range(value).constant for value in op.operands]
        factors = [abs(number) for number in held if number is not None and not abs(number) & (abs(number) - 1)]
        if not factors:
            return kind
        return "add" if any(number is not None and number < 0 for number in held) and 0 not in factors else None
    if kind == "div":
        divisor = widths.range(op.operands[1]).constant
        if divisor is None or divisor <= 0 or divisor & (divisor - 1):
            return kind
        rounds = op.name in ("arith.divsi", "arith.remsi", "arith.ceildivsi") and widths.range(op.operands[0]).low < 0
        return "add" if rounds else None
    return kind
