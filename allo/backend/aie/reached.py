"""Elements of arguments that accesses of a task reach, and the boxes that they lie in, for positions that differ in
where they begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import islpy as isl
from mlir import ir

from ...ir.access import access_map, is_access
from ...ir.builder import string_attr
from ...poly import Model, ModelBuffer


@dataclass(frozen=True, slots=True)
class ElementBox:
    """The elements of an array from `low` on, by `steps`; all of these are 1 if there are none."""

    low: tuple[int, ...]
    extents: tuple[int, ...]
    steps: tuple[int, ...] = ()

    def inside(self, outer: ElementBox) -> ElementBox:
        """A box of the part `outer` as one of the array."""
        ones = (1,) * len(self.low)
        around, own = outer.steps or ones, self.steps or ones
        low = tuple(b + a * step for a, b, step in zip(self.low, outer.low, around, strict=True))
        steps = tuple(a * b for a, b in zip(own, around, strict=True))
        return ElementBox(low, self.extents, () if steps == ones else steps)

    def behind(self, start: Sequence[int]) -> ElementBox:
        """The box as one of an array that begins at `start`."""
        return ElementBox(tuple(a - b for a, b in zip(self.low, start, strict=True)), self.extents, self.steps)


@dataclass(frozen=True, slots=True)
class Reached:
    """The elements that an access reaches: the first and the last one in each dimension, None where nothing bounds
    it, and the distance of which all distances are multiples, 0 of a single one."""

    first: tuple[int | None, ...]
    last: tuple[int | None, ...]
    strides: tuple[int, ...]

    def shifted(self, by: Sequence[int]) -> Reached:
        """The same elements further on."""
        first, last = (
            tuple(None if end is None else end + step for end, step in zip(ends, by, strict=True))
            for ends in (self.first, self.last)
        )
        return Reached(first, last, self.strides)


type Reach = tuple[Reached, ...]  # of all accesses to an array


def shifted(reach: Reach, start: Sequence[int], *, back: bool = False) -> Reach:
    """What is reached in an array from `start` on; `back`, as from there."""
    by = [-step for step in start] if back else start
    return tuple(own.shifted(by) for own in reach)


def is_unbounded(reach: Reach | None) -> bool:
    """Whether nothing bounds what some access reaches, but the extents of the array."""
    return reach is not None and any(None in own.first or None in own.last for own in reach)


def reach_of(model: Model, array: ir.Value) -> Reach | None:
    """What the accesses to an argument reach; None if not all that is done with it is known."""
    buffer = model.buffer(array)
    if buffer is None or not all(is_access(use.owner.operation) for use in array.uses):
        return None
    return tuple(_reached(model, buffer, ir.MemRefType(array.type).rank))


def box_of(model: Model, array: ir.Value) -> ElementBox:
    """The smallest box that all accesses to an argument of a function lie in, all of it if they are not known."""
    return box_around(reach_of(model, array), tuple(ir.MemRefType(array.type).shape))


def box_around(reach: Reach | None, shape: tuple[int, ...], within: ElementBox | None = None) -> ElementBox:
    """The smallest box around what is reached of an array, at most `within`; all of the array if that is not known, or
    nothing."""
    everything = ElementBox((0,) * len(shape), shape)
    if not reach:
        return everything
    outer = within or everything
    ends = [start + extent for start, extent in zip(outer.low, outer.extents, strict=True)]
    low = [min(max(own.first[d] or 0, start) for own in reach) for d, start in enumerate(outer.low)]
    high = [max(_last(own.last[d], end) for own in reach) for d, end in enumerate(ends)]
    if any(a > b for a, b in zip(low, high, strict=True)):
        return everything
    return ElementBox(tuple(low), tuple(b - a + 1 for a, b in zip(low, high, strict=True)))


def _last(last: int | None, end: int) -> int:
    return end - 1 if last is None else min(last, end - 1)


def steps_in(reach: Reach | None, low: Sequence[int]) -> list[int] | None:
    """The steps by which the elements of a box that begins at `low` are reached; None if they are not known."""
    if reach is None:
        return None
    steps = [0] * len(low)
    for own in reach:
        for d, (start, first) in enumerate(zip(own.first, low, strict=True)):
            if start is None:
                return None
            steps[d] = gcd(steps[d], own.strides[d], start - first)
    return [max(step, 1) for step in steps]


def _reached(model: Model, buffer: ModelBuffer, rank: int) -> Iterator[Reached]:
    """The elements of an array that each access to it reaches; none for one that is never made."""
    for access in model.accesses:
        if access.buffer.label != buffer.label:
            continue
        reached = access.map.intersect_domain(access.domain).range()
        reached = reached.project_out(isl.dim_type.param, 0, reached.dim(isl.dim_type.param))
        if not reached.is_empty():
            ends = [(_number(reached.dim_min_val(d)), _number(reached.dim_max_val(d))) for d in range(rank)]
            strides = tuple(_stride(reached, d) for d in range(rank))
            yield Reached(tuple(first for first, _ in ends), tuple(last for _, last in ends), strides)


def _stride(reached: isl.Set, dimension: int) -> int:
    """Of the elements in one dimension, wherever they are in others: those of `A[i, i % 3]` are 3 apart in a column."""
    alone = reached.project_out(isl.dim_type.set, dimension + 1, reached.dim(isl.dim_type.set) - dimension - 1)
    alone = alone.project_out(isl.dim_type.set, 0, dimension)
    return int(alone.get_stride(0).to_python())


def _number(value: isl.Val) -> int | None:
    return int(value.to_python()) if value.is_int() else None


def without_starts(function: ir.OpView, arguments: Sequence[int]) -> tuple[str, dict[int, tuple[int, ...]]]:
    """The text of a function whose accesses to each argument begin at 0, and where they begin.

    Of positions of a task that do the same on other parts of an array it is the same text. An argument that is used
    otherwise than by accesses at affine places begins at 0.
    """
    operation = function.operation
    block = operation.regions[0].blocks[0]
    before: list[tuple[ir.Operation, str, ir.Attribute]] = [(operation, "sym_name", operation.attributes["sym_name"])]
    operation.attributes["sym_name"] = string_attr("same")
    starts = {}
    for number in arguments:
        users = list(dict.fromkeys(use.owner.operation for use in block.arguments[number].uses))
        maps = [access_map(op) for op in users if is_access(op)]
        places = [own for own in maps if own is not None]
        if len(places) < len(users) or not users:
            starts[number] = (0,) * ir.MemRefType(block.arguments[number].type).rank
            continue
        by_dimension = zip(*(place.results for place in places), strict=True)
        starts[number] = start = tuple(min(map(_constant, exprs)) for exprs in by_dimension)
        for op, place in zip(users, places, strict=True):
            before.append((op, "map", op.attributes["map"]))
            results = [expr - by for expr, by in zip(place.results, start, strict=True)]
            moved = ir.AffineMap.get(place.n_dims, place.n_symbols, results, op.context)
            op.attributes["map"] = ir.AffineMapAttr.get(moved)
    text = operation.get_asm(use_local_scope=True, assume_verified=True)
    for op, name, attribute in before:
        op.attributes[name] = attribute
    return text, starts


def _constant(expr: ir.AffineExpr) -> int:
    """The number that is added in a place."""
    if isinstance(expr, ir.AffineAddExpr):
        return _constant(expr.rhs)
    return int(expr.value) if isinstance(expr, ir.AffineConstantExpr) else 0
