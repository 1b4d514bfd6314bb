"""Shapes of the results of layers, from those of their operands: what a graph says of itself is checked by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...frontend.typing.view import broadcast_shape
from ...ir.types import AlloType, Bool, Float, Int, TensorType, UInt, shape_text
from ..graph import Layer
from .formulas import COMPARISONS, FORMULAS, LOGIC
from .moves import gathered

type Shape = tuple[int, ...]


class WrongShape(Exception):
    """A layer whose operands do not fit each other, or its result; the text says how."""


def check_layer(layer: Layer, types: Mapping[str, TensorType]) -> None:
    """Raises WrongShape unless the layer has the type that it says for operands of these types."""
    operands = [types[operand] if isinstance(operand, str) else None for operand in layer.inputs]
    shapes = [() if operand is None else operand.shape for operand in operands]
    try:
        found = _SHAPES[layer.operator](layer, shapes)
    except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError):
        found = None
    own = layer.type.shape
    if found != own:
        listed = ", ".join(map(shape_text, shapes)) or "nothing"
        raise WrongShape(f"its result has the shape {shape_text(own)}, which does not follow from {listed}")
    _check_elements(layer, [operand.element for operand in operands if operand is not None])


def _check_elements(layer: Layer, elements: list[AlloType]) -> None:
    """Sums, norms and elementary functions are of floats, subscripts are integers."""
    element, name = layer.type.element, layer.operator
    if name in _OF_INTEGERS and isinstance(element, Int):
        if not all(isinstance(e, Int | UInt) for e in elements):
            raise WrongShape("it works on integers")
    elif name in _OF_FLOATS and not (isinstance(element, Float) and all(isinstance(e, Float) for e in elements[:3])):
        raise WrongShape("it works on floats")
    if name in ("quantize", "dequantize"):
        integer, real = (element, elements[0]) if name == "quantize" else (elements[0], element)
        if not isinstance(integer, Int | UInt) or not isinstance(real, Float):
            raise WrongShape("it converts between floats and integers")
    if name in SUBSCRIPTS and not isinstance(elements[SUBSCRIPTS[name]], Int | UInt):
        raise WrongShape("its subscripts are no integers")
    if name in COMPARISONS or name in LOGIC:
        if not isinstance(element, Bool) or (name in LOGIC and not all(isinstance(e, Bool) for e in elements)):
            raise WrongShape("it works on truth values")
    elif name in _SAME_ELEMENTS and any(e != element for e in elements[: _SAME_ELEMENTS[name]]):
        raise WrongShape("it has elements of other types than its operands")
    elif name in FORMULAS and isinstance(element, Bool) and name not in ("where", "convert"):
        raise WrongShape("it computes truth values by arithmetic")


_OF_FLOATS = frozenset({
    "div", "reciprocal", "floor", "ceil", "trunc", "round", "log1p", "expm1", "log2", "log10", "exp2", "sinh", "cosh",
    "tan", "hypot", "floor_quotient",
    "rsqrt", "exp", "log", "sqrt", "sin", "cos", "tanh", "erf", "pow", "sigmoid", "silu", "gelu",
    "hardsigmoid", "hardswish", "leaky_relu", "linear", "matmul", "mean", "softmax", "layer_norm", "rms_norm",
    "batch_norm", "attention", "conv2d", "elu", "celu", "selu", "softplus", "softsign", "mish", "prelu", "above",
    "max_pool2d", "avg_pool2d", "grouped_linear",
})  # fmt: skip
_OF_INTEGERS = frozenset({"linear", "matmul", "conv2d", "grouped_linear"})  # these, if their result is one
# The operand that holds the subscripts.
SUBSCRIPTS = {"embedding": 1, "index": 1, "index_put": 2}
_SAME_ELEMENTS = {
    "reshape": 1, "permute": 1, "slice": 1, "select": 1, "expand": 1, "repeat": 1, "embedding": 1, "index": 1,
    "index_put": 2, "sum": 1, "amax": 1, "gather": 1,
}  # fmt: skip


def _all_same(shapes: list[Shape]) -> bool:
    return all(shape == shapes[0] for shape in shapes)


def _elementwise(layer: Layer, shapes: list[Shape]) -> Shape | None:
    return broadcast_shape(shapes)


def _linear(layer: Layer, shapes: list[Shape]) -> Shape | None:
    x, (outputs, inputs), *bias = shapes
    return (*x[:-1], outputs) if x[-1] == inputs and all(b == (outputs,) for b in bias) else None


def _scaled(layer: Layer, shapes: list[Shape]) -> Shape | None:
    """One scale for all, one for each place along some dimensions, or for groups along the last one."""
    x, *given = shapes
    if group := layer.options.get("group"):
        wanted = (*x[:-1], x[-1] // group)
        return x if x[-1] % group == 0 and all(shape in ((), wanted) for shape in given) else None
    return x if all(broadcast_shape([x, shape]) == x for shape in given) else None


def _grouped_linear(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (*rows, groups, size), (outputs, *own) = shapes
    return (*rows, outputs, groups) if own == [groups, size] else None


def _matmul(layer: Layer, shapes: list[Shape]) -> Shape | None:
    first, second, *added = shapes
    batch = broadcast_shape([first[:-2], second[:-2]])
    inner = second[-2] if len(second) > 1 else second[-1]
    if batch is None or first[-1] != inner:
        return None
    result = (*batch, *(first[-2:-1] if len(first) > 1 else ()), *(second[-1:] if len(second) > 1 else ()))
    return result if all(broadcast_shape([shape, result]) == result for shape in added) else None


def _along(layer: Layer, shapes: list[Shape]) -> Shape | None:
    dimensions = set(layer.options["dimensions"])
    (shape,) = shapes
    if not dimensions or not dimensions <= set(range(len(shape))):
        return None
    kept = tuple(1 if d in dimensions else extent for d, extent in enumerate(shape))
    return kept if layer.type.shape == kept else tuple(e for d, e in enumerate(shape) if d not in dimensions)


def _normal(layer: Layer, shapes: list[Shape]) -> Shape | None:
    x, *weights = shapes
    return x if x and all(weight == x[-1:] for weight in weights) else None


def _batch_norm(layer: Layer, shapes: list[Shape]) -> Shape | None:
    x, *given = shapes
    return x if len(given) == 4 and all(shape in ((), x[1:2]) for shape in given) else None


def _attention(layer: Layer, shapes: list[Shape]) -> Shape | None:
    query, key, value, *mask = shapes
    batch, (length, size), (held, own) = query[:-2], query[-2:], key[-2:]
    if size != own or key[:-2] != value[:-2] or value[-2] != held or len(key) != len(query):
        return None
    if batch != key[:-2] and (batch[:-1] != key[:-3] or batch[-1] % key[-3]):
        return None
    scores = (*batch, length, held)
    if any(broadcast_shape([shape, scores]) != scores for shape in mask):
        return None
    return (*batch, length, value[-1])


def _windows(size: Shape, window: Any, options: Mapping[str, Any]) -> Shape:
    """How many windows there are in both directions."""
    found = []
    dilation, behind = options.get("dilation", (1, 1)), options.get("behind", (0, 0))
    for extent, inside, stride, border, step, more in zip(
        size, window, options["stride"], options["padding"], dilation, behind, strict=True
    ):
        if min(inside, stride, step) < 1 or min(border, border + more) < 0:
            raise ValueError
        found.append((extent + 2 * border + more - step * (inside - 1) - 1) // stride + 1)
    return tuple(found)


def _conv2d(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (n, channels, *size), (filters, depth, *window), *bias = shapes
    groups = layer.options["groups"]
    if channels != depth * groups or filters % groups or any(shape != (filters,) for shape in bias):
        return None
    return n, filters, *_windows(tuple(size), window, layer.options)


def _pool(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (shape,) = shapes
    window, padding = layer.options["window"], layer.options["padding"]
    if len(shape) != 4 or any(border > inside // 2 for border, inside in zip(padding, window, strict=True)):
        return None
    return (*shape[:-2], *_windows(shape[-2:], window, layer.options))


def _reshape(layer: Layer, shapes: list[Shape]) -> Shape | None:
    return layer.type.shape if math.prod(shapes[0]) == math.prod(layer.type.shape) else None


def _permute(layer: Layer, shapes: list[Shape]) -> Shape | None:
    order = layer.options["order"]
    return tuple(shapes[0][d] for d in order) if sorted(order) == list(range(len(shapes[0]))) else None


def _slice(layer: Layer, shapes: list[Shape]) -> Shape | None:
    """One that ends somewhere inside."""
    shape, options, own = list(shapes[0]), layer.options, layer.type.shape
    dimension, start, step = options["dimension"], options["start"], options["step"]
    if step < 1 or start < 0 or start + (own[dimension] - 1) * step >= shape[dimension]:
        return None
    shape[dimension] = own[dimension]
    return tuple(shape)


def _select(layer: Layer, shapes: list[Shape]) -> Shape | None:
    shape, dimension = shapes[0], layer.options["dimension"]
    if not 0 <= layer.options["index"] < shape[dimension]:
        return None
    return shape[:dimension] + shape[dimension + 1 :]


def _expand(layer: Layer, shapes: list[Shape]) -> Shape | None:
    return broadcast_shape([shapes[0], layer.type.shape])


def _repeat(layer: Layer, shapes: list[Shape]) -> Shape | None:
    own, shape = layer.type.shape, shapes[0]
    whole = (1,) * (len(own) - len(shape)) + shape
    return own if all(extent % part == 0 for extent, part in zip(own, whole, strict=True)) else None


def _concat(layer: Layer, shapes: list[Shape]) -> Shape | None:
    dimension = layer.options["dimension"]
    if not _all_same([(*shape[:dimension], *shape[dimension + 1 :]) for shape in shapes]):
        return None
    total = sum(shape[dimension] for shape in shapes)
    return (*shapes[0][:dimension], total, *shapes[0][dimension + 1 :])


def _embedding(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (_, width), numbers = shapes
    return (*numbers, width)


def _index(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (table, numbers), dimension = shapes, layer.options["dimension"]
    return (*table[:dimension], *numbers, *table[dimension + 1 :]) if dimension < len(table) else None


def _index_put(layer: Layer, shapes: list[Shape]) -> Shape | None:
    (base, values, numbers), dimension = shapes, layer.options["dimension"]
    part = (*base[:dimension], *numbers, *base[dimension + 1 :])
    return base if dimension < len(base) and broadcast_shape([values, part]) == part else None


def _gather(layer: Layer, shapes: list[Shape]) -> Shape | None:
    base = np.broadcast_to(np.zeros((), np.int8), shapes[0])
    indices = [np.broadcast_to(np.zeros((), np.int64), shape) for shape in shapes[1:]]
    shape: Shape = gathered(base, indices, layer.options["dimensions"]).shape
    return shape


def _given(layer: Layer, shapes: list[Shape]) -> Shape | None:
    return layer.type.shape


_SHAPES: dict[str, Callable[[Layer, list[Shape]], Shape | None]] = {
    **dict.fromkeys((*FORMULAS, *COMPARISONS, *LOGIC), _elementwise),
    **dict.fromkeys(("mean", "sum", "amax"), _along),
    **dict.fromkeys(("layer_norm", "rms_norm", "softmax"), _normal),
    **dict.fromkeys(("max_pool2d", "avg_pool2d"), _pool),
    **dict.fromkeys(("arange", "full", "numbers", "cumsum"), _given),
    **dict.fromkeys(("quantize", "dequantize"), _scaled),
    "grouped_linear": _grouped_linear,
    "linear": _linear,
    "matmul": _matmul,
    "batch_norm": _batch_norm,
    "attention": _attention,
    "conv2d": _conv2d,
    "reshape": _reshape,
    "permute": _permute,
    "slice": _slice,
    "select": _select,
    "expand": _expand,
    "repeat": _repeat,
    "concat": _concat,
    "embedding": _embedding,
    "index": _index,
    "gather": _gather,
    "index_put": _index_put,
}
