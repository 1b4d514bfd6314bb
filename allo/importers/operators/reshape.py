"""Arrays in other shapes: the same elements in row-major order."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...frontend.library.structured import loops
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Expr, Stmt, Store, Symbol
from ...frontend.typing.view import View
from .layer_call import LayerCall, arithmetic

type Indices = tuple[Expr, ...]


def _position(indices: Indices, extents: tuple[int, ...], zero: Expr) -> Expr:
    """The number of an element in row-major order."""
    result: Expr | None = None
    for index, extent in zip(indices, extents, strict=True):
        result = index if result is None else arithmetic("+", arithmetic("*", result, extent), index)
    return zero if result is None else result


def refinement(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    """The least shape of which both are products of neighbouring extents; None if there is none.

    (4, 6) and (8, 3) are those of (4, 2, 3).
    """
    found: list[int] = []
    left, right = [e for e in first if e != 1], [e for e in second if e != 1]
    while left and right:
        small, large = (left, right) if left[0] <= right[0] else (right, left)
        extent = small.pop(0)
        if large[0] % extent:
            return None
        found.append(extent)
        large[0] //= extent
        if large[0] == 1:
            large.pop(0)
    return tuple(found)


def _grouped(indices: Indices, fine: tuple[int, ...], shape: tuple[int, ...], zero: Expr) -> Indices:
    """The indices in an array of `shape` of an element of the refined shape."""
    result: list[Expr] = []
    at = 0
    for extent in shape:
        end = at
        while math.prod(fine[at:end]) != extent:
            end += 1
        result.append(_position(indices[at:end], fine[at:end], zero))
        at = end
    return tuple(result)


def _unchanged(value: Expr, place: Indices) -> Expr:
    return value


def reshaped(call: LayerCall, base: View, change: Callable[[Expr, Indices], Expr] = _unchanged) -> View:
    """The elements of `base` in row-major order, in the shape of the result of the layer.

    A copy of it goes through the dimensions of both shapes, so that all of its subscripts are affine. `change` makes
    an element of the result of one of `base`, and its place.
    """
    shape, own, zero = call.type.shape, base.type.shape, call.index(0)

    def read(indices: Indices) -> Expr:
        return change(base.read(_split_again(indices, shape, own, zero)), indices)

    fine = refinement(own, shape)

    def compute(target: Symbol) -> Stmt:
        assert fine is not None
        nest = call.nest(fine)
        place = _grouped(nest.variables, fine, shape, zero)
        value = change(base.read(_grouped(nest.variables, fine, own, zero)), place)
        return loops(nest, Store(call.at, target, place, convert(value, call.element)))

    merges = fine is not None and len(fine) > len([extent for extent in shape if extent != 1])
    sources = tuple((symbol, False) for symbol, _ in base.sources)
    return View(call.type, call.at, read, None, sources, (), compute if merges else None)


def _split_again(indices: Indices, shape: tuple[int, ...], own: tuple[int, ...], zero: Expr) -> Indices:
    """The indices in an array of shape `own` of the element at `indices` of `shape`: groups of equal size."""
    result: list[Expr] = []
    given = [(index, extent) for index, extent in zip(indices, shape, strict=True) if extent != 1]
    wanted = [extent for extent in own if extent != 1]
    while given:
        many, few = [given.pop(0)], [wanted.pop(0)]
        while (first := math.prod(extent for _, extent in many)) != (second := math.prod(few)):
            if first < second:
                many.append(given.pop(0))
            else:
                few.append(wanted.pop(0))
        number = _position(tuple(i for i, _ in many), tuple(e for _, e in many), zero)
        for place, extent in enumerate(few):
            stride = math.prod(few[place + 1 :])
            index = number if stride == 1 else arithmetic("//", number, stride)
            result.append(index if place == 0 else arithmetic("%", index, extent))
    remaining = iter(result)
    return tuple(next(remaining) if extent != 1 else zero for extent in own)
