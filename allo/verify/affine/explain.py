"""Values of a graph in the terms of the user: `A[3, 4] * B[4, 2] + ...`."""

from __future__ import annotations

import islpy as isl
from mlir import ir

from ...ir.context import context
from ...ir.pseudocode_expr import fixed_number
from .flow import Flows
from .nodes import Gap, Kind, ValueNode

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "fixed_add": "+",
    "fixed_sub": "-",
    "fixed_mul": "*",
    "fixed_div": "/",
}
_SILENT = frozenset({
    "extf", "truncf", "extsi", "extui", "trunci", "index_cast", "sitofp", "uitofp", "sign_cast", "fixed_cast",
})  # fmt: skip
_MOST_COPIES = 64


def text(flows: Flows, node: ValueNode, point: isl.Set, depth: int = 4) -> str:
    """The value of a node in one iteration, which is a set of one point, as an expression of some levels."""
    copies = 0
    while node.kind in (Kind.READ, Kind.CHOICE):
        point = _outer(point, node.depth)
        copies += 1
        step = _origin(flows, node, point) if node.kind is Kind.READ else _choice(node, point)
        if step is None or copies > _MOST_COPIES:
            return _element(node.name or "...", point)
        node, point = step
    if node.kind in (Kind.INPUT, Kind.UNDEFINED):
        return _element(node.name, _outer(point, node.depth))
    if node.kind is Kind.INDEX:
        value = point.apply(flows.graph.index_map(node, point.dim(_SET)))
        return _coordinates(value)[0]
    return _operation(flows, node, point, depth)


def _operation(flows: Flows, node: ValueNode, point: isl.Set, depth: int) -> str:
    dialect, _, name = node.signature[0].partition(".")
    if name == "constant":
        return _constant(_attribute(node, "value"))
    if name == "fixed_constant":
        kind, bits = node.signature[node.signature.index("->") + 1], _attribute(node, "mantissa")
        return repr(fixed_number(ir.Attribute.parse(bits, context()), ir.Type.parse(kind, context())))
    if depth == 0:
        return "..."
    silent = name in _SILENT
    operands = [text(flows, operand, point, depth if silent else depth - 1) for operand in node.operands]
    if silent:
        return operands[0]
    stem = name if dialect == "allo" else name.rstrip("fi").removesuffix("s").removesuffix("u")
    symbol = _INFIX.get(stem) or _INFIX.get(name.rstrip("fius"))
    if symbol is not None and len(operands) == 2:
        return f"({operands[0]} {symbol} {operands[1]})"
    return f"{name}({', '.join(operands)})"


def _attribute(node: ValueNode, name: str) -> str:
    return next(part.removeprefix(f"{name}=") for part in node.signature if part.startswith(f"{name}="))


def _constant(value: str) -> str:
    number = value.split(" : ")[0]
    try:
        short = f"{float(number):g}" if "e" in number or "." in number else number
        return short if float(short) == float(number) else number
    except ValueError:
        return number


def _element(name: str, point: isl.Set) -> str:
    coordinates = _coordinates(point)
    return f"{name}[{', '.join(coordinates)}]" if coordinates else name


def coordinates(point: isl.Set) -> tuple[int, ...]:
    """The numbers of a set of one point."""
    sample = point.sample_point()
    return tuple(int(sample.get_coordinate_val(_SET, k).to_python()) for k in range(point.dim(_SET)))


def _coordinates(point: isl.Set) -> list[str]:
    return [str(value) for value in coordinates(point)]


def _outer(point: isl.Set, depth: int) -> isl.Set:
    have = point.dim(_SET)
    return point.project_out(_SET, depth, have - depth) if have > depth else point


def _origin(flows: Flows, node: ValueNode, point: isl.Set) -> tuple[ValueNode, isl.Set] | None:
    try:
        origins = flows.origins(node)
    except Gap:
        return None
    for origin in origins:
        found = point.apply(origin.map)
        if not found.is_empty():
            return origin.node, found
    return None


def _choice(node: ValueNode, point: isl.Set) -> tuple[ValueNode, isl.Set] | None:
    assert node.cases is not None
    for case, operand in zip(node.cases, node.operands, strict=True):
        if not point.intersect(case).is_empty():
            return operand, point
    return None

