"""Rewrites of graphs before they become kernels: what is known is computed, norms are folded and recognised."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Diagnostic, ModelError
from ..ir.arrays import array_element_type, form_dtype
from ..ir.names import unique_name
from ..ir.types import Float, TensorType
from .graph import Array, Layer, LayerGraph
from .integers import integer_products
from .operators import OPERATORS, SUBSCRIPTS, WrongShape, check_layer
from .reading import all_missing, missing

MOST = 1 << 28  # elements of a constant that is computed


def simplified(graph: LayerGraph) -> LayerGraph:
    """The graph with all of this done, without layers that nothing needs.

    Raises ModelError with the layers that only have a meaning where their operands are known.
    """
    _check(graph)
    for rewrite in REWRITES:
        graph = rewrite(graph)
    wrong: list[Diagnostic] = [
        missing(layer.origin, f"the operator '{layer.operator}'", "its operands are not known before the model runs")
        for layer in graph.layers
        if OPERATORS[layer.operator].build is None
    ]
    if wrong:
        raise all_missing(wrong)
    return graph


def _check(graph: LayerGraph) -> None:
    """Whether the graph holds together. Raises ModelError with all layers that do not."""
    types = dict(graph.arguments)
    wrong: list[Diagnostic] = []
    for name, array in graph.constants.items():
        if (element := array_element_type(array)) is None:
            raise ModelError(f"the constant '{name}' of the model '{graph.name}' has elements that kernels do not have")
        types[name] = TensorType(element, array.shape)
    for layer in graph.layers:
        absent = [name for name in layer.arrays if name not in types]
        try:
            if absent:
                raise WrongShape(f"it needs '{absent[0]}', which comes later or not at all")
            check_layer(layer, types)
        except WrongShape as error:
            wrong.append(missing(layer.origin, f"the layer '{layer.name}', {layer.operator},", str(error)))
        types[layer.name] = layer.type
    if wrong:
        raise all_missing(wrong)
    absent = [name for name in (*graph.results, *graph.updates.values()) if name not in types]
    if absent or any(types[name] != graph.arguments.get(argument) for argument, name in graph.updates.items()):
        what = f"'{absent[0]}' is missing" if absent else "an argument would change its type"
        raise ModelError(f"the results of the model '{graph.name}' are not what it computes: {what}")


def folded(graph: LayerGraph) -> LayerGraph:
    """Layers of constants are constants, but for integers that stand for floats."""
    return _folded(graph, frozenset({"dequantize"}))


def folded_floats(graph: LayerGraph) -> LayerGraph:
    """Layers of constants are constants."""
    return _folded(graph, frozenset())


def _folded(graph: LayerGraph, left_alone: frozenset[str]) -> LayerGraph:
    constants = dict(graph.constants)
    left: list[Layer] = []
    for layer in graph.layers:
        if layer.operator not in left_alone and all(name in constants for name in layer.arrays):
            if (size := math.prod(layer.type.shape)) > MOST:
                text = f"it is a constant of {size} elements, and {MOST} are the most"
                raise all_missing([missing(layer.origin, f"the layer '{layer.name}', {layer.operator},", text)])
            operands = [constants[o] if isinstance(o, str) else o for o in layer.inputs]
            result = OPERATORS[layer.operator].evaluate(layer, operands)
            result = np.ascontiguousarray(result, form_dtype(layer.type.element))
            constants[layer.name] = result.reshape(layer.type.shape)  # NumPy gives one without dimensions one
        else:
            left.append(layer)
    return replace(graph, constants=constants, layers=tuple(left))


def needed(graph: LayerGraph) -> LayerGraph:
    """Without layers and constants that no result needs."""
    wanted = set(graph.kept)
    left: list[Layer] = []
    for layer in reversed(graph.layers):
        if layer.name in wanted:
            wanted |= set(layer.arrays)
            left.append(layer)
    constants = {name: array for name, array in graph.constants.items() if name in wanted}
    return replace(graph, constants=constants, layers=tuple(reversed(left)))


def folded_norms(graph: LayerGraph) -> LayerGraph:
    """A batch norm becomes part of the convolution or linear layer before it, if that has no other use.

    Source: Jacob et al. 2018, section 3.2: the weights are scaled, and the bias is what the norm adds.
    """
    constants, layers = dict(graph.constants), {layer.name: layer for layer in graph.layers}
    users, same, means = graph.users(), dict[str, str](), dict(graph.means)
    made: list[Layer] = []
    names = {*graph.arguments, *constants, *layers}

    def alone(name: str) -> bool:
        return len(users[name]) == 1 and name not in graph.kept

    for norm in graph.layers:
        given = [constants.get(o) if isinstance(o, str) else o for o in norm.inputs[1:]]
        if norm.operator != "batch_norm" or any(value is None for value in given):
            made.append(layers[norm.name])
            continue
        before = str(norm.inputs[0])
        source = layers.get(same.get(before, before))
        scale, shift = _scale_and_shift(norm, given, norm.type.shape[1])
        joined = source is not None and alone(source.name) and alone(before)
        if source is not None and joined and (scaled := _scaled(source, norm, scale, shift, constants, names)):
            made[made.index(source)] = layers[source.name] = scaled
            same[norm.name], means[source.name] = source.name, norm.name
        else:
            made += _product_and_sum(norm, scale, shift, constants, names)
    return _with_others(replace(graph, constants=constants, layers=tuple(made), means=means), same)


def _scaled(
    source: Layer, norm: Layer, scale: Array, shift: Array, constants: dict[str, Array], taken: set[str]
) -> Layer | None:
    """A layer with other weights that does what the norm behind it does; None if it is not one of those."""
    arrays = [constants.get(str(operand)) for operand in source.inputs[1:]]
    weight = arrays[0] if arrays else None
    if source.operator != "conv2d" and (source.operator != "linear" or len(norm.type.shape) != 2):
        return None
    if weight is None or any(array is None for array in arrays):
        return None
    bias = shift if len(arrays) < 2 else shift + scale * np.asarray(arrays[1], np.float64)
    wide = scale.reshape(-1, *(1,) * (weight.ndim - 1)) * np.asarray(weight, np.float64)
    names = [unique_name(f"{source.name}_{part}", taken) for part in ("weight", "bias")]
    constants |= {name: array.astype(weight.dtype) for name, array in zip(names, (wide, bias), strict=True)}
    return replace(source, inputs=(source.inputs[0], *names))


def _product_and_sum(
    norm: Layer, scale: Array, shift: Array, constants: dict[str, Array], taken: set[str]
) -> list[Layer]:
    """The norm as `x * scale + shift`."""
    dtype = form_dtype(norm.type.element)
    names = [unique_name(f"{norm.name}_{part}", taken) for part in ("scale", "shift")]
    places = (-1, *(1,) * (len(norm.type.shape) - 2))
    constants |= {n: v.astype(dtype).reshape(places) for n, v in zip(names, (scale, shift), strict=True)}
    inputs, name = (norm.inputs[0], names[0]), unique_name(f"{norm.name}_scaled", taken)
    product = replace(norm, name=name, operator="mul", inputs=inputs, options={})
    return [product, replace(norm, operator="add", inputs=(product.name, names[1]), options={})]


def _scale_and_shift(norm: Layer, given: list[Any], channels: int) -> tuple[Array, Array]:
    """What a batch norm multiplies each channel with, and what it adds then."""
    weight, bias, mean, variance = (np.broadcast_to(np.asarray(v, np.float64), (channels,)) for v in given)
    scale = weight / np.sqrt(variance + norm.options["eps"])
    return scale, bias - mean * scale


def _with_others(graph: LayerGraph, same: Mapping[str, str]) -> LayerGraph:
    """The graph in which values have other names."""

    def named(name: str) -> str:
        while name in same:
            name = same[name]
        return name

    layers = tuple(
        replace(layer, inputs=tuple(named(o) if isinstance(o, str) else o for o in layer.inputs))
        for layer in graph.layers
    )
    updates = {argument: named(value) for argument, value in graph.updates.items()}
    return replace(graph, layers=layers, results=tuple(map(named, graph.results)), updates=updates)


def recognised_norms(graph: LayerGraph) -> LayerGraph:
    """`x * rsqrt(mean(x ** 2) + eps)`, perhaps times a weight, is one layer.

    Source: Zhang and Sennrich 2019; the form is that of the models of Hugging Face.
    """
    layers = {layer.name: layer for layer in graph.layers}
    users = graph.users()

    def only(name: str) -> bool:
        return len(users.get(name, ())) == 1 and name not in graph.kept

    for product in graph.layers:
        found = _root_mean_square(product, layers, only)
        if found is None:
            continue
        source, eps, inside = found
        layers[product.name] = replace(product, operator="rms_norm", inputs=(source,), options={"eps": eps})
        for name in inside:
            del layers[name]
        after = users.get(product.name, ())
        if len(after) == 1 and after[0].operator == "mul" and only(product.name):
            weight = next((o for o in after[0].inputs if o != product.name), None)
            if isinstance(weight, str) and _shape(graph, weight) == product.type.shape[-1:]:
                norm = layers.pop(product.name)
                layers[after[0].name] = replace(
                    norm, name=after[0].name, type=after[0].type, inputs=(source, weight)
                )
    return replace(graph, layers=tuple(layers.values()))


def _shape(graph: LayerGraph, name: str) -> tuple[int, ...] | None:
    if (array := graph.constants.get(name)) is not None:
        shape: tuple[int, ...] = array.shape
        return shape
    kind: TensorType | None = graph.arguments.get(name)
    return None if kind is None else kind.shape


def _root_mean_square(
    product: Layer, layers: Mapping[str, Layer], only: Callable[[str], bool]
) -> tuple[str, float, list[str]] | None:
    """The array, the number under the root, and the layers in between, if `product` ends such a norm."""
    if product.operator != "mul" or len(product.arrays) != 2 or not isinstance(product.type.element, Float):
        return None
    for source, name in (product.arrays, product.arrays[::-1]):
        root = layers.get(name)
        total = layers.get(str(root.inputs[0])) if root is not None and root.operator == "rsqrt" else None
        if root is None or total is None or total.operator != "add" or len(total.arrays) != 1:
            continue
        mean = layers.get(total.arrays[0])
        eps = next((o for o in total.inputs if not isinstance(o, str)), None)
        if mean is None or mean.operator != "mean" or eps is None or total.options.get("alpha", 1) != 1:
            continue
        squares = layers.get(str(mean.inputs[0]))
        rank = len(product.type.shape)
        if squares is None or mean.options["dimensions"] != (rank - 1,) or len(mean.type.shape) != rank:
            continue
        inside = [root.name, total.name, mean.name, squares.name]
        squared = (squares.operator == "pow" and squares.inputs == (source, 2)) or squares.inputs == (source, source)
        if squared and squares.operator in ("pow", "mul") and squares.type == product.type and all(map(only, inside)):
            return source, float(eps), inside
    return None


def known_gathers(graph: LayerGraph) -> LayerGraph:
    """Elements that known arrays of subscripts name together are those along one dimension, which has all of theirs."""
    constants, types = dict(graph.constants), graph.types()
    names, left = set(types), list[Layer]()
    for layer in graph.layers:
        given = [constants.get(str(name)) for name in layer.inputs[1:]]
        if layer.operator != "gather" or any(array is None or array.dtype.kind not in "iu" for array in given):
            left.append(layer)
            continue
        source, dimensions = types[str(layer.inputs[0])], layer.options["dimensions"]
        first = dimensions[0] if dimensions == tuple(range(dimensions[0], dimensions[-1] + 1)) else 0
        others = [d for d in range(len(source.shape)) if d not in dimensions]
        order = (*others[:first], *dimensions, *others[first:])
        extents = [source.shape[d] for d in dimensions]
        places = np.broadcast_arrays(*(array for array in given if array is not None))
        outside = [(p, e) for array, e in zip(places, extents, strict=True) for p in array.flat if not -e <= p < e]
        if outside:
            text = f"its subscript {outside[0][0]} is outside of {outside[0][1]} elements"
            raise all_missing([missing(layer.origin, f"the layer '{layer.name}', {layer.operator},", text)])
        inside = [np.where(array < 0, array + e, array) for array, e in zip(places, extents, strict=True)]
        numbers = np.ravel_multi_index(tuple(inside), tuple(extents)).astype(np.int64).reshape(-1)
        turned, flat, taken, known = (
            unique_name(f"{layer.name}_{part}", names) for part in ("turned", "flat", "taken", "places")
        )
        constants[known] = numbers
        shape = [source.shape[d] for d in order]
        rest = tuple(shape[:first]), tuple(shape[first + len(dimensions) :])
        element = source.element
        for name, operator, inputs, kind, options in (
            (turned, "permute", (layer.inputs[0],), shape, {"order": order}),
            (flat, "reshape", (turned,), (*rest[0], math.prod(extents), *rest[1]), {}),
            (taken, "index", (flat, known), (*rest[0], len(numbers), *rest[1]), {"dimension": first}),
            (layer.name, "reshape", (taken,), layer.type.shape, {}),
        ):
            left.append(Layer(name, operator, inputs, options, TensorType(element, tuple(kind)), layer.origin))
    return replace(graph, constants=constants, layers=tuple(left))


def known_subscripts(graph: LayerGraph) -> LayerGraph:
    """Subscripts that are known count from the front, inside of their array; others may still be negative."""
    constants, types = dict(graph.constants), graph.types()
    names = set(types)
    left: list[Layer] = []
    wrong: list[Diagnostic] = []
    for layer in graph.layers:
        place = SUBSCRIPTS.get(layer.operator)
        given = constants.get(str(layer.inputs[place])) if place is not None else None
        if place is None or given is None:
            left.append(layer)
            continue
        extent = types[str(layer.inputs[0])].shape[layer.options.get("dimension", 0)]
        least = -extent if layer.options.get("wraps") else 0
        outside = given[(given < least) | (given >= extent)]
        if outside.size:
            text = f"its subscript {outside.flat[0]} is outside of {extent} elements"
            wrong.append(missing(layer.origin, f"the layer '{layer.name}', {layer.operator},", text))
        name = unique_name(f"{layer.name}_places", names)
        constants[name] = np.where(given < 0, given + extent, given).astype(given.dtype)
        inputs = tuple(name if position == place else o for position, o in enumerate(layer.inputs))
        options = {key: value for key, value in layer.options.items() if key != "wraps"}
        left.append(replace(layer, inputs=inputs, options=options))
    if wrong:
        raise all_missing(wrong)
    return replace(graph, constants=constants, layers=tuple(left))


REWRITES: tuple[Callable[[LayerGraph], LayerGraph], ...] = (
    folded,
    known_gathers,
    known_subscripts,
    integer_products,  # while weights are integers
    folded_floats,
    folded_norms,  # behind `folded`, which makes constants of weights that are computed
    recognised_norms,
    needed,
)
