"""Trip counts of loops whose bounds depend on the position of a task: those of the position where they run longest."""

from __future__ import annotations

from itertools import product
from math import prod

from mlir import ir

from ..ir.access import callee_name
from ..ir.elements import SPATIAL
from ..ir.module import Module
from ..ir.walk import constant_bounds, entry_block, induction_variable, operations

_MOST_POSITIONS = 65_536


def longest_trip(module: Module, function: str, loop: ir.Operation) -> int | None:
    """How often an `affine.for` of a task runs at the position of the grid where it runs longest.

    None unless its bounds depend on scalar arguments only, which are positions or constants wherever it is called.
    """
    entry = entry_block(module.function(function))
    if loop.name != "affine.for" or entry is None:
        return None
    maps = [ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap")]
    numbers = list(ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"]))
    operands = list(loop.operands)
    bounds = [operands[: numbers[0]], operands[numbers[0] : numbers[0] + numbers[1]]]
    used = list(dict.fromkeys(value for values in bounds for value in values))
    if not used or any(value.owner != entry for value in used):
        return None
    step = ir.IntegerAttr(loop.attributes["step"]).value
    longest = None
    for places in _places(module, function, [ir.BlockArgument(value).arg_number for value in used]):
        if places is None or prod(map(len, places)) > _MOST_POSITIONS:
            return None
        for position in product(*places):
            known = dict(zip(used, position, strict=True))
            lower, upper = (
                [_value(result, [known[v] for v in values], bound.n_dims) for result in bound.results]
                for bound, values in zip(maps, bounds, strict=True)
            )
            trip = len(range(max(lower), min(upper), step))
            longest = trip if longest is None else max(longest, trip)
    return longest


def _places(module: Module, function: str, numbers: list[int]) -> list[list[range] | None]:
    """What these arguments may be in each call; None where one is neither a position nor a constant."""
    found: list[list[range] | None] = []
    for caller in module.functions():
        entry = entry_block(caller)
        for call in operations(entry, "func.call") if entry is not None else ():
            if callee_name(call) == function:
                ranges = [_range(call.operands[number]) for number in numbers]
                found.append([r for r in ranges if r is not None] if None not in ranges else None)
    return found


def _range(value: ir.Value) -> range | None:
    if not isinstance(value.owner, ir.Block):
        made = value.owner.operation
        if made.name != "arith.constant":
            return None
        number = ir.IntegerAttr(made.attributes["value"]).value
        return range(number, number + 1)
    loop = value.owner.owner.operation
    if SPATIAL not in loop.attributes or induction_variable(loop) != value:
        return None
    known = constant_bounds(loop)
    return None if known is None else range(*known)


def _value(form: ir.AffineExpr, operands: list[int], dims: int) -> int:
    """An affine expression of numbers."""
    if isinstance(form, ir.AffineConstantExpr):
        return int(form.value)
    if isinstance(form, ir.AffineDimExpr):
        return operands[int(form.position)]
    if isinstance(form, ir.AffineSymbolExpr):
        return operands[dims + int(form.position)]
    assert isinstance(form, ir.AffineBinaryExpr)
    left: int = _value(form.lhs, operands, dims)
    right: int = _value(form.rhs, operands, dims)
    if isinstance(form, ir.AffineAddExpr):
        return left + right
    if isinstance(form, ir.AffineMulExpr):
        return left * right
    if isinstance(form, ir.AffineModExpr):
        return int(left % right)
    rounded = left if isinstance(form, ir.AffineFloorDivExpr) else left + right - 1
    return int(rounded // right)
