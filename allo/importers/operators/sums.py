"""Layers that sum up: products of matrices, sums, means and maxima along dimensions, softmax and norms, attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from ...frontend.library.elementwise import elementwise
from ...frontend.library.normalize import RowWise, softmax
from ...frontend.library.structured import Subscript, Subscripts, along
from ...frontend.library.sums import Reduction, sums, zero
from ...frontend.library.windows import least_value
from ...frontend.typing.convert import convert
from ...frontend.typing.nodes import Binary, Block, Compare, Const, Expr, MathCall, Select, Symbol
from ...frontend.typing.view import View
from ...ir.types import AlloType, Bool, Float, Int, TensorType
from ...ir.types import bool as bool_type
from ..graph import Array, Layer
from .layer_call import LayerCall, LayerOperator
from .reshape import reshaped


def _linear(call: LayerCall) -> View:
    """`x @ w.T + b`."""
    x, w, operator = call.stored(0), call.stored(1), call.operator_call()
    *rows, outputs = call.type.shape
    names = [f"b{d}" for d in range(len(rows) - 1)] + ["i"] * min(len(rows), 1)
    loops = (*zip(names, rows, strict=True), ("j", outputs), ("k", w.type.shape[1]))
    rank = len(rows)
    factors = ((x, along(*range(rank), rank + 1)), (w, along(rank, rank + 1)))
    start = zero(operator) if len(call.layer.inputs) == 2 else call.stored(2)
    named = "matmul" if rank == 1 else "generic"
    return Reduction(loops, 1, factors, call.sum_element, named, sums(operator), start).result(operator)


def _batch(shape: tuple[int, ...], batch: tuple[int, ...]) -> Subscripts:
    """The subscripts of the batch dimensions of an operand: 0 where it has one matrix for all."""
    places: list[Subscript] = []
    for d, extent in enumerate(shape, start=len(batch) - len(shape)):
        places.append((0, ()) if extent == 1 and batch[d] != 1 else along(d)[0])
    return tuple(places)


def _matmul(call: LayerCall) -> View:
    """`a @ b`, or `a @ b + c`, where `c` has one number for each column, or one for each element."""
    a, b, operator = call.stored(0), call.stored(1), call.operator_call()
    first, second = a.type.shape, b.type.shape
    rows, columns = ([("i", first[-2])] if len(first) > 1 else []), ([("j", second[-1])] if len(second) > 1 else [])
    batch = call.type.shape[: len(call.type.shape) - len(rows) - len(columns)]
    names = [("b" if len(batch) == 1 else f"b{d}", extent) for d, extent in enumerate(batch)]
    loops = (*names, *rows, *columns, ("k", first[-1]))
    k = len(loops) - 1
    left = (*_batch(first[:-2], batch), *along(*([len(batch)] if rows else [])), *along(k))
    right = (*_batch(second[:-2], batch), *along(k), *along(*([k - 1] if columns else [])))
    named = "generic"
    if rows and columns and len(batch) <= 1 and len(first) == len(second):
        named = "batch_matmul" if batch else "matmul"
    added = None if len(call.layer.inputs) == 2 else call.stored(2)
    one_each = added is not None and added.type.shape == (call.type.shape[-1],)
    start = added if one_each and added is not None else zero(operator)
    factors = ((a, left), (b, right))
    kind = call.sum_element
    result = Reduction(loops, 1, factors, kind, named, sums(operator), start).result(operator)
    if added is None or one_each:
        return result
    product = call.array(f"{call.layer.name}_product", result)

    def combine(elements: list[Expr]) -> Expr:
        return Binary(kind, call.at, "+", elements[0], convert(elements[1], kind))

    total = elementwise(operator, "add", combine, [product, added])
    assert isinstance(total, View)
    return total


def _along(call: LayerCall, operation: str) -> View:
    """The sum, mean or maximum along some dimensions, with one place or none in their stead."""
    source = call.stored(0)
    shape, dimensions = source.type.shape, call.layer.options["dimensions"]
    keeps, count = len(call.type.shape) == len(shape), math.prod(shape[d] for d in dimensions)
    is_direct = operation != "mean" and not keeps
    kind = call.element if operation == "amax" else call.sum_element
    operator = call.operator_call("" if is_direct else "total")
    kept = [d for d in range(len(shape)) if d not in dimensions]
    loops = tuple((f"i{d}", shape[d]) for d in (*kept, *dimensions))
    position = {d: number for number, d in enumerate((*kept, *dimensions))}

    def accumulate(acc: AlloType, old: Expr, elements: list[Expr]) -> Expr:
        return Binary(acc, call.at, "max" if operation == "amax" else "+", old, convert(elements[0], acc))

    def start(acc: AlloType) -> Expr:
        return Const(acc, call.at, least_value(acc)) if operation == "amax" else zero(operator)(acc)

    factors = ((source, along(*(position[d] for d in range(len(shape))))),)
    reduction = Reduction(
        loops, len(dimensions), factors, kind, "generic", accumulate, start, adds=operation != "amax"
    )
    if is_direct:
        return reduction.result(operator)
    total = call.array(f"{call.layer.name}_total", reduction.result(operator))

    def read(indices: tuple[Expr, ...]) -> Expr:
        value = total.read(tuple(indices[d] for d in kept) if keeps else indices)
        if operation != "mean":
            return value
        return Binary(kind, call.at, "/", value, Const(kind, call.at, float(count)))

    return View(call.type, call.at, read, None, total.sources)


def _softmax(call: LayerCall) -> View:
    kind = call.sum_element
    assert isinstance(kind, Float)
    result = softmax(call.operator_call(A=call.stored(0)), inside=kind)
    assert result is not None
    return result


def _normalised(call: LayerCall, centred: bool) -> View:
    """`(x - mean) / sqrt(variance + eps) * weight + bias`, or `x / sqrt(mean of squares + eps) * weight`."""
    source, operator = call.stored(0), call.operator_call()
    given = [call.stored(position) for position in range(1, len(call.layer.inputs))]
    shape, rank, at = call.type.shape, len(call.type.shape), call.at
    kind = call.sum_element
    assert isinstance(kind, Float)
    size, eps = float(shape[-1]), float(call.layer.options["eps"])
    weighted = bool(call.layer.options.get("weighted", True))

    def compute(target: Symbol) -> Block:
        rows = RowWise(operator, shape, kind)
        scale, reads = rows.row_values("scale"), [rows.every(source)]
        scales = scale.sources[0][0]
        if centred:
            mean = rows.row_values("mean")
            rows.reduce("sum", "+", 0.0, mean, lambda x: x, [rows.every(source)])
            means = mean.sources[0][0]
            rows.map("mean", means, lambda s: rows.op("/", s, rows.number(size)), [rows.row(mean)], rank - 1)
            reads.append(rows.row(mean))

        def squared(x: Expr, *m: Expr) -> Expr:
            own = rows.op("-", x, m[0]) if m else x
            return rows.op("*", own, own)

        rows.reduce("squares", "+", 0.0, scale, squared, reads)

        def inverse(s: Expr) -> Expr:
            variance = rows.op("+", rows.op("/", s, rows.number(size)), rows.number(eps))
            return rows.op("/", rows.number(1.0), rows.function("math.sqrt", variance))

        rows.map("scale", scales, inverse, [rows.row(scale)], rank - 1)

        def normal(x: Expr, *more: Expr) -> Expr:
            rest = list(more)
            own = rows.op("-", x, rest.pop(0)) if centred else x
            own = rows.op("*", own, rest.pop(0))
            own = rows.op("*", own, rest.pop(0)) if rest and weighted else own
            return rows.op("+", own, rest.pop(0)) if rest else own

        rows.map("", target, normal, [*reads, rows.row(scale), *(rows.column(weight) for weight in given)], rank)
        return Block(at, tuple(rows.statements))

    return operator.computed(TensorType(kind, shape), [source, *given], compute)


def _batch_norm(call: LayerCall) -> View:
    """`(x - mean) * (weight / sqrt(variance + eps)) + bias` of each channel, where these are no constants."""
    source, values = call.view(0), [call.value(position) for position in range(1, 5)]
    kind, at = call.element, call.at

    def op(name: str, lhs: Expr, rhs: Expr) -> Expr:
        return Binary(kind, at, name, lhs, rhs)

    def read(indices: tuple[Expr, ...]) -> Expr:
        given = (value.read(indices[1:2]) if isinstance(value, View) else value for value in values)
        weight, bias, mean, variance = (convert(value, kind) for value in given)
        spread = op("+", variance, Const(kind, at, float(call.layer.options["eps"])))
        scale = op("/", weight, MathCall(kind, at, "math.sqrt", (spread,)))
        return op("+", op("*", op("-", source.read(indices), mean), scale), bias)

    views = [source, *(value for value in values if isinstance(value, View))]
    return View(call.type, at, read, None, tuple((symbol, False) for view in views for symbol, _ in view.sources))


def _attention(call: LayerCall) -> View:
    """`softmax(q @ k.T * scale + mask) @ v`, where several heads of `q` may share one of `k` and `v`.

    Source: PyTorch, `scaled_dot_product_attention`; grouped-query attention: Ainslie et al. 2023.
    """
    name, kind = call.layer.name, call.sum_element
    query, key, value = (call.stored(position) for position in range(3))
    *batch, length, size = query.type.shape
    held = key.type.shape[-2]
    heads = key.type.shape[-3] if batch else 1
    group = batch[-1] // heads if batch else 1
    outer = [*batch[:-1], heads, group] if group > 1 else batch
    names = [f"b{d}" for d in range(len(outer))]
    rank = len(outer)
    own: Subscripts = along(*range(rank))
    if group > 1:
        own = (*along(*range(rank - 2)), (0, ((rank - 2, group), (rank - 1, 1))))
    shared = along(*range(rank - 1)) if group > 1 else along(*range(rank))
    scored = (*zip(names, outer, strict=True), ("i", length), ("j", held), ("k", size))
    factors = ((query, (*own, *along(rank, rank + 2))), (key, (*shared, *along(rank + 1, rank + 2))))
    named = call.operator_call("scores")
    products = Reduction(scored, 1, factors, kind, "generic", sums(named), zero(named)).result(named)
    scores = call.array(f"{name}_scores", _masked(call, call.array(f"{name}_products", products), group, rank))
    chosen = softmax(call.operator_call("softmax", A=scores), hides_rows=_may_hide_rows(call))
    assert chosen is not None
    weights = call.array(f"{name}_weights", chosen)
    last = value.type.shape[-1]
    summed = (*zip(names, outer, strict=True), ("i", length), ("j", last), ("k", held))
    factors = ((weights, along(*range(rank + 1), rank + 2)), (value, (*shared, *along(rank + 2, rank + 1))))
    operator = call.operator_call("groups" if group > 1 else "")
    result = Reduction(summed, 1, factors, kind, "generic", sums(operator), zero(operator)).result(operator)
    return result if group == 1 else reshaped(call, call.array(f"{name}_groups", result))


def _may_hide_rows(call: LayerCall) -> bool:
    """Whether the mask may leave nothing of a row."""
    if len(call.layer.inputs) < 4:
        return False
    symbols = [symbol for symbol, _ in call.view(3).sources]
    mask = symbols[0].constant if len(symbols) == 1 else None
    if mask is None or mask.shape != call.view(3).type.shape:
        return True
    seen = mask if mask.dtype == np.bool_ else mask > -math.inf
    if call.layer.options["causal"]:
        seen = seen & np.tri(call.view(0).type.shape[-2], call.view(1).type.shape[-2], dtype=np.bool_)
    return not seen.any(-1).all()


def _masked(call: LayerCall, products: View, group: int, rank: int) -> View:
    """The products times the scale, plus the mask."""
    kind, at, options = call.sum_element, call.at, call.layer.options
    mask = call.view(3) if len(call.layer.inputs) > 3 else None
    least = Const(kind, at, -math.inf)

    def read(indices: tuple[Expr, ...]) -> Expr:
        value: Expr = Binary(kind, at, "*", products.read(indices), Const(kind, at, float(options["scale"])))
        if cap := float(options.get("softcap", 0)):
            bounded = MathCall(kind, at, "math.tanh", (Binary(kind, at, "/", value, Const(kind, at, cap)),))
            value = Binary(kind, at, "*", bounded, Const(kind, at, cap))
        if mask is not None:
            heads = indices[:rank]
            if group > 1:
                head = Binary(indices[0].type, at, "*", indices[rank - 2], call.index(group))
                heads = (*indices[: rank - 2], Binary(indices[0].type, at, "+", head, indices[rank - 1]))
            places = (*heads, *indices[rank:])
            shape = mask.type.shape
            own = places[len(places) - len(shape) :]
            zero_ = call.index(0)
            element = mask.read(tuple(zero_ if n == 1 else i for n, i in zip(shape, own, strict=True)))
            if isinstance(element.type, Bool):
                value = Select(kind, at, element, value, least)
            else:
                value = Binary(kind, at, "+", value, convert(element, kind))
        if options["causal"]:
            visible = Compare(bool_type, at, "<=", indices[-1], indices[-2])
            value = Select(kind, at, visible, value, least)
        return value

    sources = tuple((symbol, False) for view in (products, mask) if view is not None for symbol, _ in view.sources)
    return View(products.type, at, read, None, sources)


def _evaluate_attention(layer: Layer, operands: list[Any]) -> Array:
    query, key, value, *given = widened(layer, operands)
    if query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        group = query.shape[-3] // key.shape[-3]
        key, value = (np.repeat(array, group, axis=-3) for array in (key, value))
    scores = query @ np.swapaxes(key, -1, -2) * query.dtype.type(layer.options["scale"])
    if cap := layer.options.get("softcap", 0):
        scores = np.tanh(scores / scores.dtype.type(cap)) * scores.dtype.type(cap)
    for mask in given:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    if layer.options["causal"]:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=np.bool_), scores, -np.inf)
    weights = _evaluate_softmax(layer, [scores])
    weights = np.where((scores == -np.inf).all(-1, keepdims=True), weights.dtype.type(0), weights)
    result: Array = weights @ value
    return result


def _evaluate_softmax(layer: Layer, operands: list[Any]) -> Array:
    (x,) = widened(layer, operands)
    powers = np.exp(x - x.max(-1, keepdims=True))
    result: Array = powers / powers.sum(-1, keepdims=True)
    return result


def _evaluate_norm(layer: Layer, operands: list[Any]) -> Array:
    x, *given = widened(layer, operands)
    eps = x.dtype.type(layer.options["eps"])
    if layer.operator == "layer_norm":
        x = x - x.mean(-1, keepdims=True)
    result: Array = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    if given and layer.options.get("weighted", True):
        result = result * given.pop(0)
    return result + given[0] if given else result


def _evaluate_batch_norm(layer: Layer, operands: list[Any]) -> Array:
    x, *given = operands
    places = (1, -1, *(1,) * (x.ndim - 2))
    arrays = (np.asarray(value, x.dtype) for value in given)
    weight, bias, mean, variance = (array.reshape(places if array.ndim else ()) for array in arrays)
    result: Array = (x - mean) * (weight / np.sqrt(variance + x.dtype.type(layer.options["eps"]))) + bias
    return result


def _evaluate_matmul(layer: Layer, operands: list[Any]) -> Array:
    operands = widened(layer, operands)
    result: Array = np.matmul(operands[0], operands[1])
    return result if len(operands) == 2 else result + operands[2]


_NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def widened(layer: Layer, operands: list[Any]) -> list[Any]:
    """Operands in a type in which sums of products are exact if they are integers; floats of 16 bits get 32."""
    if isinstance(layer.type.element, Int):
        return [o.astype(np.float64) for o in operands]
    narrow = [getattr(o, "dtype", None) in _NARROW for o in operands]
    return [o.astype(np.float32) if is_narrow else o for o, is_narrow in zip(operands, narrow, strict=True)]


def _evaluate_linear(layer: Layer, operands: list[Any]) -> Array:
    operands = widened(layer, operands)
    result: Array = np.matmul(operands[0], operands[1].T)
    return result if len(operands) == 2 else result + operands[2]


def _evaluate_along(layer: Layer, operands: list[Any]) -> Array:
    source = operands[0] if layer.operator == "amax" else widened(layer, operands)[0]
    functions: dict[str, Callable[..., Array]] = {"mean": np.mean, "sum": np.sum, "amax": np.max}
    result = np.asarray(functions[layer.operator](source, axis=layer.options["dimensions"]))
    return result.reshape(layer.type.shape)


SUMS: dict[str, LayerOperator] = {
    "linear": LayerOperator(_evaluate_linear, _linear),
    "matmul": LayerOperator(_evaluate_matmul, _matmul),
    "mean": LayerOperator(_evaluate_along, lambda call: _along(call, "mean")),
    "sum": LayerOperator(_evaluate_along, lambda call: _along(call, "sum")),
    "amax": LayerOperator(_evaluate_along, lambda call: _along(call, "amax")),
    "softmax": LayerOperator(_evaluate_softmax, _softmax),
    "layer_norm": LayerOperator(_evaluate_norm, lambda call: _normalised(call, centred=True)),
    "rms_norm": LayerOperator(_evaluate_norm, lambda call: _normalised(call, centred=False)),
    "batch_norm": LayerOperator(_evaluate_batch_norm, _batch_norm),
    "attention": LayerOperator(_evaluate_attention, _attention),
}
