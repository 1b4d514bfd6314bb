"""Layers that say where elements stand: other shapes and orders, parts, copies, tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...frontend.library.structured import OperatorNest, loops
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Block, Compare, Expr, Select, Shared, Stmt, Store, Symbol
from ...frontend.typing.view import Slice, View, select, transposed
from ...ir.arrays import form_dtype
from ...ir.types import bool as bool_type
from ...ir.types import index as index_type
from ..graph import Array, Layer
from .layer_call import LayerCall, LayerOperator, arithmetic
from .reshape import Indices, reshaped


def _reshape(call: LayerCall) -> View:
    return reshaped(call, call.view(0))


def _permute(call: LayerCall) -> View:
    return transposed(call.view(0), call.layer.options["order"], call.at)


def _slices(call: LayerCall, base: View) -> list[Expr | Slice]:
    return [Slice(call.index(0), 1, extent) for extent in base.type.shape]


def _slice(call: LayerCall) -> View:
    base, options = call.view(0), call.layer.options
    selectors, dimension = _slices(call, base), options["dimension"]
    selectors[dimension] = Slice(call.index(options["start"]), options["step"], call.type.shape[dimension])
    return select(base, selectors, call.at)


def _select(call: LayerCall) -> View:
    base, options = call.view(0), call.layer.options
    selectors = _slices(call, base)
    selectors[options["dimension"]] = call.index(options["index"])
    return select(base, selectors, call.at)


def _expand(call: LayerCall) -> View:
    base, zero = call.view(0), call.index(0)
    shape = base.type.shape

    def read(indices: Indices) -> Expr:
        own = indices[len(indices) - len(shape) :]
        return base.read(tuple(zero if extent == 1 else i for extent, i in zip(shape, own, strict=True)))

    return View(call.type, call.at, read, None, tuple((symbol, False) for symbol, _ in base.sources))


def _repeat(call: LayerCall) -> View:
    """The array several times, one behind the other, in each dimension."""
    base, zero = call.view(0), call.index(0)
    shape = base.type.shape

    def read(indices: Indices) -> Expr:
        own = indices[len(indices) - len(shape) :]
        extents = call.type.shape[len(indices) - len(shape) :]
        places = [
            zero if extent == 1 else index if extent == whole else arithmetic("%", index, extent)
            for index, extent, whole in zip(own, shape, extents, strict=True)
        ]
        return base.read(tuple(places))

    return View(call.type, call.at, read, None, tuple((symbol, False) for symbol, _ in base.sources))


def _evaluate_repeat(layer: Layer, operands: list[Any]) -> Array:
    own = (1,) * (len(layer.type.shape) - operands[0].ndim) + operands[0].shape
    times = tuple(extent // old for extent, old in zip(layer.type.shape, own, strict=True))
    return np.tile(operands[0], times)


def _concat(call: LayerCall) -> View:
    """One array behind the other in a dimension, in a nest of loops each."""
    views = [call.view(position) for position in range(len(call.layer.inputs))]
    dimension = call.layer.options["dimension"]

    def compute(target: Symbol) -> Stmt:
        parts, offset = [], 0
        for number, view in enumerate(views):
            parts.append(_copied(call, str(number), view, target, dimension, offset))
            offset += view.type.shape[dimension]
        return Block(call.at, tuple(parts))

    return call.operator_call().computed(call.type, views, compute)


def _copied(call: LayerCall, part: str, view: View, target: Symbol, dimension: int, offset: int) -> Stmt:
    nest = call.nest(view.type.shape, part)
    place = list(nest.variables)
    place[dimension] = arithmetic("+", place[dimension], offset) if offset else place[dimension]
    return loops(nest, Store(call.at, target, tuple(place), convert(view.read(nest.variables), call.element)))


def _subscript(call: LayerCall, view: View, indices: Indices) -> Expr:
    """A subscript that an array holds; with the option `wraps` a negative one counts from the end."""
    number = convert(view.read(indices), index_type)
    if not call.layer.options.get("wraps"):
        return number
    number, extent = Shared(index_type, call.at, number), call.view(0).type.shape[call.layer.options["dimension"]]
    is_negative = Compare(bool_type, call.at, "<", number, call.index(0))
    from_end = convert(arithmetic("+", number, extent), index_type)
    return Select(index_type, call.at, is_negative, from_end, number)


def _embedding(call: LayerCall) -> View:
    """The rows of a table that an array of numbers names."""
    table, numbers = call.view(0), call.view(1)

    def read(indices: Indices) -> Expr:
        return table.read((_subscript(call, numbers, indices[:-1]), indices[-1]))

    return View(call.type, call.at, read, None, _sources(table, numbers))


def _index(call: LayerCall) -> View:
    """The parts along a dimension that an array of numbers names."""
    table, numbers, dimension = call.view(0), call.view(1), call.layer.options["dimension"]
    rank = len(numbers.type.shape)

    def read(indices: Indices) -> Expr:
        number = _subscript(call, numbers, indices[dimension : dimension + rank])
        return table.read((*indices[:dimension], number, *indices[dimension + rank :]))

    return View(call.type, call.at, read, None, _sources(table, numbers))


def _index_put(call: LayerCall) -> View:
    """The array in which the parts along a dimension that an array of numbers names are others."""
    base, values, numbers = (call.view(position) for position in range(3))
    dimension = call.layer.options["dimension"]

    def compute(target: Symbol) -> Stmt:
        copy = _copied(call, "copy", base, target, 0, 0)
        return Block(call.at, (copy, put(call, values, numbers, target, dimension)))

    return call.operator_call().computed(call.type, [base, values, numbers], compute)


def put(call: LayerCall, values: View, numbers: View, target: Symbol, dimension: int) -> Stmt:
    """The loops that set parts of `target`."""
    shape = list(call.type.shape)
    count = math.prod(numbers.type.shape)
    shape[dimension] = count
    nest = OperatorNest(call.at, call.layer.name, [(f"i{d}", extent) for d, extent in enumerate(shape)])
    place = list(nest.variables)
    place[dimension] = _subscript(call, numbers, (place[dimension],) if numbers.type.shape else ())
    own = nest.variables[len(shape) - len(values.type.shape) :]
    zero = call.index(0)
    if not numbers.type.shape and len(values.type.shape) < len(shape):  # a number takes its dimension away
        own = (*nest.variables[:dimension], *nest.variables[dimension + 1 :])[-len(values.type.shape) :]
    read = tuple(zero if extent == 1 else i for extent, i in zip(values.type.shape, own, strict=True))
    return loops(nest, Store(call.at, target, tuple(place), convert(values.read(read), call.element)))


def _sources(*views: View) -> tuple[tuple[Symbol, bool], ...]:
    return tuple((symbol, False) for view in views for symbol, _ in view.sources)


def _evaluate_slice(layer: Layer, operands: list[Any]) -> Array:
    options, dimension = layer.options, layer.options["dimension"]
    stop = options["start"] + (layer.type.shape[dimension] - 1) * options["step"] + 1
    result: Array = operands[0][(slice(None),) * dimension + (slice(options["start"], stop, options["step"]),)]
    return result


def _evaluate_index_put(layer: Layer, operands: list[Any]) -> Array:
    result = np.array(operands[0])
    result[(slice(None),) * layer.options["dimension"] + (operands[2],)] = operands[1]
    return result


def gathered(base: Array, indices: list[Array], dimensions: tuple[int, ...]) -> Array:
    """The elements that arrays of subscripts name, together, as NumPy and PyTorch have it."""
    whole: list[Any] = [slice(None)] * base.ndim
    for dimension, index in zip(dimensions, indices, strict=True):
        whole[dimension] = index
    result: Array = base[tuple(whole)]
    return result


def _evaluate_arange(layer: Layer, operands: list[Any]) -> Array:
    options = layer.options
    numbers = options["start"] + options["step"] * np.arange(layer.type.shape[0])
    return np.asarray(numbers, form_dtype(layer.type.element))


def _evaluate_full(layer: Layer, operands: list[Any]) -> Array:
    return np.full(layer.type.shape, layer.options["value"], form_dtype(layer.type.element))


def _evaluate_numbers(layer: Layer, operands: list[Any]) -> Array:
    return np.array(layer.options["values"], form_dtype(layer.type.element)).reshape(layer.type.shape)


def _evaluate_sum_so_far(layer: Layer, operands: list[Any]) -> Array:
    result: Array = np.cumsum(operands[0], layer.options["dimension"], form_dtype(layer.type.element))
    return result


MOVES: dict[str, LayerOperator] = {
    "reshape": LayerOperator(lambda layer, given: given[0].reshape(layer.type.shape), _reshape, moves=True),
    "permute": LayerOperator(lambda layer, given: given[0].transpose(layer.options["order"]), _permute, moves=True),
    "slice": LayerOperator(_evaluate_slice, _slice, moves=True),
    "select": LayerOperator(
        lambda layer, given: np.take(given[0], layer.options["index"], layer.options["dimension"]), _select, moves=True
    ),
    "expand": LayerOperator(lambda layer, given: np.broadcast_to(given[0], layer.type.shape), _expand, moves=True),
    "repeat": LayerOperator(_evaluate_repeat, _repeat),
    "concat": LayerOperator(lambda layer, given: np.concatenate(given, layer.options["dimension"]), _concat),
    "embedding": LayerOperator(lambda layer, given: given[0][given[1]], _embedding),
    "index": LayerOperator(lambda layer, given: np.take(given[0], given[1], layer.options["dimension"]), _index),
    "gather": LayerOperator(lambda layer, given: gathered(given[0], given[1:], layer.options["dimensions"]), None),
    "index_put": LayerOperator(_evaluate_index_put, _index_put),
    "arange": LayerOperator(_evaluate_arange, None),
    "full": LayerOperator(_evaluate_full, None),
    "numbers": LayerOperator(_evaluate_numbers, None),
    "cumsum": LayerOperator(_evaluate_sum_so_far, None),
}
