"""Operators of PyTorch that say where elements stand, and those that only stand where all is known, as layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from ..ir.types import Bool, Int, TensorType
from .exported import AtenNode, NotImported
from .graph import Layer, Operand
from .node_layers import NodeLayers

type Layers = Iterator[Layer]

_RESHAPES = {
    "view.default", "reshape.default", "_unsafe_view.default", "unsqueeze.default", "squeeze.dim", "squeeze.dims",
    "squeeze.default", "flatten.using_ints", "view_copy.default", "unflatten.int",
}  # fmt: skip


def layer(node: AtenNode, operator: str, *inputs: Operand | None, **options: Any) -> Layer:
    """The layer of the first result of a node."""
    given = tuple(operand for operand in inputs if operand is not None)
    return Layer(node.outputs[0], operator, given, options, node.type_of(node.outputs[0]), node.origin)


def _parts(node: AtenNode, dimension: int, sizes: list[int]) -> Layers:
    start = 0
    for name, size in zip(node.outputs, sizes, strict=True):
        options = {"dimension": dimension, "start": start, "step": 1}
        yield Layer(name, "slice", (node.array("self"),), options, node.type_of(name), node.origin)
        start += size


def _split(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    shapes = [node.type_of(name).shape for name in node.outputs]
    yield from _parts(node, dimension, [shape[dimension] for shape in shapes])


def _dimension(node: AtenNode, name: str, operand: str = "self", default: int = 0) -> int:
    return node.int(name, default) % max(len(node.type_of(node.array(operand)).shape), 1)


def _slice(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    extent = node.type_of(node.array("self")).shape[dimension]
    start = node.int("start", 0)
    start = min(max(start + extent if start < 0 else start, 0), extent)
    yield layer(
        node, "slice", node.array("self"), dimension=dimension, start=start, step=node.int("step", 1)
    )


def _select(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    index = node.int("index")
    extent = node.type_of(node.array("self")).shape[dimension]
    yield layer(node, "select", node.array("self"), dimension=dimension, index=index % extent)


def _concat(node: AtenNode) -> Layers:
    arrays = node.arrays("tensors")
    rank = len(node.type_of(node.outputs[0]).shape)
    yield layer(node, "concat", *arrays, dimension=node.int("dim", 0) % rank)


def _permute(node: AtenNode) -> Layers:
    dims = node.ints("dims")
    yield layer(node, "permute", node.array("self"), order=tuple(d % len(dims) for d in dims))


def _transpose(node: AtenNode) -> Layers:
    rank = len(node.type_of(node.array("self")).shape)
    order = list(range(rank))
    first, second = (node.int(name) % rank for name in ("dim0", "dim1")) if rank > 1 else (0, 0)
    if "dim0" not in node.arguments:
        first, second = 0, rank - 1
    order[first], order[second] = order[second], order[first]
    yield layer(node, "permute", node.array("self"), order=tuple(order))


def _matrix_transpose(node: AtenNode) -> Layers:
    rank = len(node.type_of(node.array("self")).shape)
    yield layer(node, "permute", node.array("self"), order=tuple(reversed(range(rank))))


def _index_put(node: AtenNode) -> Layers:
    if node.arguments.get("accumulate"):
        raise NotImported("it adds to what is there (accumulate)")
    given, own = node.arrays("indices"), node.type_of(node.array("self"))
    if len(given) == 1 and given[0] is not None and node.type_of(given[0]) == TensorType(Bool(), own.shape):
        if node.type_of(node.array("values")).shape not in ((), (1,)):
            raise NotImported("it sets the elements of a mask to several values")
        yield layer(node, "where", given[0], node.array("values"), node.array("self"))
        return
    yield from _indexed(node, "index_put", node.array("self"), node.array("values"))


def _index(node: AtenNode) -> Layers:
    """Subscripts along one dimension; others only where they are known, as those of masks are."""
    given = {d: index for d, index in enumerate(node.arrays("indices")) if index is not None}
    if len(given) == 1 and len(node.type_of(next(iter(given.values()))).shape) <= 1:
        yield from _indexed(node, "index", node.array("self"))
    else:
        yield layer(node, "gather", node.array("self"), *given.values(), dimensions=tuple(given))


def _indexed(node: AtenNode, operator: str, *inputs: str) -> Layers:
    """Subscripts along one dimension, by an array of one dimension."""
    given = [(d, index) for d, index in enumerate(node.arrays("indices")) if index is not None]
    if len(given) != 1 or len(node.type_of(given[0][1]).shape) > 1:
        raise NotImported("it has other subscripts than those along one dimension, in one row")
    yield layer(node, operator, *inputs, given[0][1], dimension=given[0][0], wraps=True)


def _gather(node: AtenNode) -> Layers:
    """Elements that an array of subscripts names along one dimension, each at its own place of the others."""
    layers, source, index = NodeLayers(node), node.array("self"), node.array("index")
    shape, own, axis = node.type_of(source).shape, node.type_of(index), _dimension(node, "dim")
    if not shape or not own.shape:
        raise NotImported("it takes a number, or takes from one")
    steps = [prod(shape[d + 1 :]) for d in range(len(shape))]
    places = np.indices(own.shape)
    offsets = sum(places[d] * step for d, step in enumerate(steps) if d != axis) + np.zeros(own.shape, np.int64)
    wide = layers.add("wide", "convert", (index,), TensorType(Int(64), own.shape))
    step = layers.each("step", "mul", wide, steps[axis])
    number = layers.each("number", "add", step, layers.known("offsets", offsets))
    row = layers.shaped("row", number, (prod(own.shape),))
    flat = layers.shaped("flat", source, (prod(shape),))
    kind = TensorType(node.type_of(source).element, (prod(own.shape),))
    layers.shaped("", layers.add("taken", "index", (flat, row), kind, dimension=0), own.shape)
    yield from layers.made


def _flip(node: AtenNode) -> Layers:
    layers, source = NodeLayers(node), node.array("self")
    shape = node.type_of(source).shape
    for d in node.ints("dims"):
        axis = d % len(shape)
        source = layers.placed(f"along{axis}", source, axis, range(shape[axis] - 1, -1, -1))
    layers.shaped("", source, shape)
    yield from layers.made


def _diagonal(node: AtenNode) -> Layers:
    """Every `columns + 1`st element of a matrix, whose rows stand one behind the other."""
    layers, source = NodeLayers(node), node.array("self")
    shape, offset = node.type_of(source).shape, node.int("offset", 0)
    first, second = (node.int(name, default) % len(shape) for name, default in (("dim1", 0), ("dim2", 1)))
    others = tuple(d for d in range(len(shape)) if d not in (first, second))
    rows, columns = shape[first], shape[second]
    turned = layers.turned("matrices", source, (*others, first, second))
    flat = layers.shaped("rows", turned, (*(shape[d] for d in others), rows * columns))
    start, extent = (offset if offset >= 0 else -offset * columns), node.type_of(node.outputs[0]).shape[-1]
    layers.cut("", flat, len(others), start, extent, columns + 1)
    yield from layers.made


def _scatter(node: AtenNode, dimension: int, places: range, values: str) -> Layers:
    """Parts of an array along a dimension are others."""
    layers, numbers = NodeLayers(node), np.asarray(list(places), np.int64)
    inputs = node.array("self"), values, layers.known("places", numbers)
    layers.add("", "index_put", inputs, node.type_of(node.outputs[0]), dimension=dimension)
    yield from layers.made


def _slice_scatter(node: AtenNode) -> Layers:
    dimension, source = _dimension(node, "dim"), node.array("src")
    extent = node.type_of(node.array("self")).shape[dimension]
    start, step = min(max(_from_front(node.int("start", 0), extent), 0), extent), node.int("step", 1)
    count = node.type_of(source).shape[dimension]
    yield from _scatter(node, dimension, range(start, start + count * step, step), source)


def _from_front(place: int, extent: int) -> int:
    return place + extent if place < 0 else place


def _select_scatter(node: AtenNode) -> Layers:
    dimension = _dimension(node, "dim")
    shape = node.type_of(node.array("self")).shape
    place = _from_front(node.int("index"), shape[dimension])
    layers = NodeLayers(node)
    row = layers.shaped("row", node.array("src"), (*shape[:dimension], 1, *shape[dimension + 1 :]))
    yield from layers.made
    yield from _scatter(node, dimension, range(place, place + 1), row)


def _arange(node: AtenNode) -> Layers:
    start, step = node.float("start", 0), node.float("step", 1)
    yield layer(node, "arange", start=start, step=step)


def _filled(value: float | None) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        given = node.arguments.get("s", node.arguments.get("fill_value"))
        if value is None and not isinstance(given, int | float):
            raise NotImported("its value is not known")
        yield layer(node, "full", value=given if value is None else value)

    return read


def _cumsum(node: AtenNode) -> Layers:
    yield layer(node, "cumsum", node.array("self"), dimension=_dimension(node, "dim"))


def _embedding(node: AtenNode) -> Layers:
    yield layer(node, "embedding", node.array("weight"), node.array("indices"))


def _index_select(node: AtenNode) -> Layers:
    yield layer(
        node, "index", node.array("self"), node.array("index"), dimension=_dimension(node, "dim")
    )


def _index_copy(node: AtenNode) -> Layers:
    yield layer(
        node, "index_put", node.array("self"), node.array("source"), node.array("index"),
        dimension=_dimension(node, "dim"),
    )  # fmt: skip


def _same_elements(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        yield layer(node, operator, node.array("self"))

    return read


MOVES: dict[str, Callable[[AtenNode], Layers]] = {
    **{name: _same_elements("reshape") for name in _RESHAPES},
    **dict.fromkeys(("split.Tensor", "split_with_sizes.default", "chunk.default"), _split),
    **dict.fromkeys(("transpose.int", "t.default"), _transpose),
    "permute.default": _permute,
    "numpy_T.default": _matrix_transpose,
    "expand.default": _same_elements("expand"),
    "repeat.default": _same_elements("repeat"),
    "flip.default": _flip,
    "diagonal.default": _diagonal,
    "slice_scatter.default": _slice_scatter,
    "select_scatter.default": _select_scatter,
    "slice.Tensor": _slice,
    "select.int": _select,
    "cat.default": _concat,
    "embedding.default": _embedding,
    "index_select.default": _index_select,
    "index.Tensor": _index,
    "index_put.default": _index_put,
    "index_copy.default": _index_copy,
    "gather.default": _gather,
    "arange.start_step": _arange,
    "arange.default": _arange,
    "arange.start": _arange,
    "full.default": _filled(None),
    "full_like.default": _filled(None),
    "scalar_tensor.default": _filled(None),
    "zeros.default": _filled(0.0),
    "empty.memory_format": _filled(0.0),  # of which all elements are written before any is read
    "ones.default": _filled(1.0),
    "cumsum.default": _cumsum,
}
