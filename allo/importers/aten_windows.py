"""Operators of PyTorch on images as layers: convolutions, pools, borders, other sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..ir.arrays import form_dtype
from ..ir.types import TensorType
from .aten_moves import Layers, layer
from .composed import bordered, windows_rounded_up, with_own_divisors
from .exported import AtenNode, NotImported
from .graph import Array, Layer
from .node_layers import NodeLayers


def _conv2d(node: AtenNode) -> Layers:
    padding, behind = node.arguments.get("padding", (0, 0)), (0, 0)
    kernel = node.type_of(node.array("weight")).shape[2:]
    if len(kernel) == 1 or node.arguments.get("transposed"):
        yield from _other_convolution(node, kernel)
        return
    if len(kernel) != 2:
        raise NotImported("it is a convolution of other than one or two dimensions")
    dilation, stride = _pair(node.ints("dilation", (1, 1))), _pair(node.ints("stride", (1, 1)))
    if padding == "valid":
        padding = (0, 0)
    elif padding == "same":
        rows, columns = (d * (k - 1) for d, k in zip(dilation, kernel, strict=True))
        padding, behind = (rows // 2, columns // 2), (rows % 2, columns % 2)
    elif isinstance(padding, str):
        raise NotImported(f"its padding is {padding!r}")
    else:
        padding = _pair(node.ints("padding", (0, 0)))
    yield from _in_batch(
        node, "conv2d", node.array("input"), node.array("weight"), node.maybe("bias"),
        stride=stride, padding=padding, dilation=dilation, groups=node.int("groups", 1),
        **({"behind": behind} if any(behind) else {}),
    )  # fmt: skip


def _in_batch(node: AtenNode, operator: str, image: str, *others: str | None, **options: Any) -> Layers:
    """The layer of a batch of images; one image is a batch of one."""
    kind, own = node.type_of(image), node.type_of(node.outputs[0])
    if len(kind.shape) != 3:
        yield layer(node, operator, image, *others, **options)
        return
    batch, result = f"{node.outputs[0]}_image", f"{node.outputs[0]}_batch"
    given = tuple(name for name in others if name is not None)
    yield Layer(batch, "reshape", (image,), {}, TensorType(kind.element, (1, *kind.shape)), node.origin)
    yield Layer(result, operator, (batch, *given), options, TensorType(own.element, (1, *own.shape)), node.origin)
    yield layer(node, "reshape", result)


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    if len(values) == 1:
        return values[0], values[0]
    if len(values) != 2:
        raise NotImported("its windows have other than two dimensions")
    return values[0], values[1]


def _pool_options(node: AtenNode) -> dict[str, Any]:
    window = _pair(node.ints("kernel_size"))
    stride, padding = _pair(node.ints("stride", ()) or window), _pair(node.ints("padding", (0, 0)))
    return {"window": window, "stride": stride, "padding": padding}


def _max_pool(node: AtenNode) -> Layers:
    options = {**_pool_options(node), "dilation": _pair(node.ints("dilation", (1, 1)))}
    if node.arguments.get("ceil_mode"):
        options = windows_rounded_up(node.type_of(node.array("self")).shape[-2:], options)
    yield from _in_batch(node, "max_pool2d", node.array("self"), **options)


def _average_pool(node: AtenNode) -> Layers:
    options, divisor = _pool_options(node), node.int("divisor_override", 0)
    image, kind = node.array("self"), node.type_of(node.array("self"))
    if node.arguments.get("ceil_mode"):
        options = windows_rounded_up(kind.shape[-2:], options)
    counts_padding = options["padding"] == (0, 0) or node.arguments.get("count_include_pad") is not False
    differ = not divisor and (not counts_padding or any(options.get("behind", ())))
    for made in _in_batch(node, "avg_pool2d", image, **options, divisor=divisor or prod(options["window"])):
        if differ and made.operator == "avg_pool2d":
            yield from with_own_divisors(made, kind, count_padding=counts_padding)
        else:
            yield made


def _other_convolution(node: AtenNode, kernel: tuple[int, ...]) -> Layers:
    """A convolution of rows, as one of images of one row, or a transposed one."""
    layers, rank = NodeLayers(node), len(kernel)
    image, weight, bias = node.array("input"), node.array("weight"), node.maybe("bias")
    if rank > 2:
        raise NotImported("it is a convolution of other than one or two dimensions")
    ones, zeros = (1,) * (2 - rank), (0,) * (2 - rank)
    stride, dilation = ((*ones, *node.ints(name, (1,) * rank)) for name in ("stride", "dilation"))
    padding, more = ((*zeros, *node.ints(name, (0,) * rank)) for name in ("padding", "output_padding"))
    groups, result = node.int("groups", 1), node.type_of(node.outputs[0])
    if rank == 1:
        n, channels, length = node.type_of(image).shape
        image = layers.shaped("image", image, (n, channels, 1, length))
        weight = layers.shaped("kernel", weight, (*node.type_of(weight).shape[:2], 1, *kernel))
    options: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if node.arguments.get("transposed"):
        image, weight = _spread(layers, image, stride), _turned_kernel(layers, weight, groups)
        window = layers.type_of(weight).shape[2:]
        around = tuple(d * (k - 1) - p for d, k, p in zip(dilation, window, padding, strict=True))
        if min(around) < 0:
            raise NotImported("its padding is larger than its window")
        options |= {"stride": (1, 1), "padding": around, **({"behind": more} if any(more) else {})}
    given = tuple(name for name in (image, weight, bias) if name is not None)
    shape = (*result.shape[:2], *(1,) * (2 - rank), *result.shape[2:])
    made = layers.add("rows" if rank == 1 else "", "conv2d", given, TensorType(result.element, shape), **options)
    if rank == 1:
        layers.shaped("", made, result.shape)
    yield from layers.made


def _spread(layers: NodeLayers[AtenNode], image: str, stride: Sequence[int]) -> str:
    """The image with zeros between its elements, so that they are `stride` apart."""
    for axis, step in zip((2, 3), stride, strict=True):
        if step > 1:
            kind = layers.type_of(image)
            *front, extent = kind.shape[: axis + 1]
            parts = layers.shaped(f"parts{axis}", image, (*front, extent, 1, *kind.shape[axis + 1 :]))
            wide = bordered(layers, f"spread{axis}", parts, {axis + 1: (0, step - 1)}, 0)
            whole = layers.shaped(f"whole{axis}", wide, (*front, extent * step, *kind.shape[axis + 1 :]))
            image = layers.cut(f"apart{axis}", whole, axis, 0, (extent - 1) * step + 1)
    return image


def _turned_kernel(layers: NodeLayers[AtenNode], weight: str, groups: int) -> str:
    """The filters of the convolution that a transposed one is: the other way round, from outputs to inputs."""
    inputs, outputs, rows, columns = layers.type_of(weight).shape
    parts = layers.shaped("groups", weight, (groups, inputs // groups, outputs, rows, columns))
    turned = layers.turned("swapped", parts, (0, 2, 1, 3, 4))
    kernel = layers.shaped("filters", turned, (groups * outputs, inputs // groups, rows, columns))
    for axis, extent in ((2, rows), (3, columns)):
        kernel = layers.placed(f"reversed{axis}", kernel, axis, range(extent - 1, -1, -1))
    return kernel


def _adaptive_pool(operator: str) -> Callable[[AtenNode], Layers]:
    def read(node: AtenNode) -> Layers:
        size, wanted = node.type_of(node.array("self")).shape[-2:], node.type_of(node.outputs[0]).shape[-2:]
        if all(extent % output == 0 for extent, output in zip(size, wanted, strict=True)):
            window = size[0] // wanted[0], size[1] // wanted[1]
            options: dict[str, Any] = {"window": window, "stride": window, "padding": (0, 0)}
            options |= {"divisor": prod(window)} if operator == "avg_pool2d" else {"dilation": (1, 1)}
            yield from _in_batch(node, operator, node.array("self"), **options)
        elif operator == "avg_pool2d":
            yield from _averages(node, size, wanted)
        else:
            raise NotImported("its windows differ in size: the outputs do not divide the image")

    return read


def _averages(node: AtenNode, size: Sequence[int], wanted: Sequence[int]) -> Layers:
    """Averages of windows that differ in size: products with matrices that have a window in each row."""
    layers, image = NodeLayers(node), node.array("self")
    kind = node.type_of(image)
    dtype = form_dtype(kind.element)
    rows, columns = (_window_matrix(old, new).astype(dtype) for old, new in zip(size, wanted, strict=True))
    across = TensorType(kind.element, (*kind.shape[:-1], wanted[1]))
    line = layers.add("across", "linear", (image, layers.known("columns", columns)), across)
    layers.add("", "matmul", (layers.known("rows", rows), line), node.type_of(node.outputs[0]))
    yield from layers.made


def _window_matrix(old: int, new: int) -> Array:
    matrix = np.zeros((new, old))
    for place in range(new):
        first, last = place * old // new, -(-(place + 1) * old // new)
        matrix[place, first:last] = 1 / (last - first)
    return matrix


def _padded(node: AtenNode) -> Layers:
    """Constants in front and behind; the last dimension has the first two numbers."""
    pads, rank = node.ints("pad"), len(node.type_of(node.array("self")).shape)
    sides = {rank - 1 - n: (pads[2 * n], pads[2 * n + 1]) for n in range(len(pads) // 2)}
    layers = NodeLayers(node)
    bordered(layers, "", node.array("self"), sides, node.float("value", 0))
    yield from layers.made


def _resized(places: Callable[[AtenNode, int, int, float], tuple[Array, Array | None]]) -> Callable[[AtenNode], Layers]:
    """Other sizes, one dimension after the other: a place for each element, or two and the part of the second."""

    def read(node: AtenNode) -> Layers:
        layers, source = NodeLayers(node), node.array("input")
        kind, wanted = node.type_of(source), node.type_of(node.outputs[0]).shape
        scales = node.arguments.get("scale_factors") or ()
        for axis in range(2, len(wanted)):
            old, new = kind.shape[axis], wanted[axis]
            scale = float(scales[axis - 2]) if scales else 0.0
            first, part = places(node, old, new, scale)
            near = layers.placed(f"near{axis}", source, axis, first.tolist())
            if part is None:
                source = near
                continue
            far = layers.placed(f"far{axis}", source, axis, np.minimum(first + 1, old - 1).tolist())
            shape = (new, *(1,) * (len(wanted) - axis - 1))
            between = layers.each(f"between{axis}", "sub", far, near)
            weight = layers.known(f"part{axis}", part.astype(np.float32).reshape(shape))
            source = layers.each(f"along{axis}", "add", near, layers.each(f"more{axis}", "mul", between, weight))
        layers.shaped("", source, wanted)
        yield from layers.made

    return read


def _step(old: int, new: int, scale: float) -> np.float32:
    """How far apart the places of two elements are."""
    return np.float32(1 / scale if scale > 0 else np.float32(old) / np.float32(new))


def _nearest(offset: float) -> Callable[[AtenNode, int, int, float], tuple[Array, None]]:
    def places(node: AtenNode, old: int, new: int, scale: float) -> tuple[Array, None]:
        at = (np.arange(new, dtype=np.float32) + np.float32(offset)) * _step(old, new, scale)
        return np.minimum(np.floor(at), old - 1).astype(np.int64), None

    return places


def _linear(node: AtenNode, old: int, new: int, scale: float) -> tuple[Array, Array]:
    numbers = np.arange(new, dtype=np.float32)
    if node.arguments.get("align_corners"):
        at = numbers * np.float32((old - 1) / (new - 1) if new > 1 else 0)
    else:
        at = np.maximum((numbers + np.float32(0.5)) * _step(old, new, scale) - np.float32(0.5), 0)
    first = np.minimum(np.floor(at), old - 1).astype(np.int64)
    return first, at - first


WINDOWS: dict[str, Callable[[AtenNode], Layers]] = {
    **dict.fromkeys(("conv2d.default", "conv2d.padding", "convolution.default"), _conv2d),
    **dict.fromkeys(("max_pool2d.default", "max_pool2d_with_indices.default"), _max_pool),
    **dict.fromkeys(
        ("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default"), _adaptive_pool("avg_pool2d")
    ),
    "adaptive_max_pool2d.default": _adaptive_pool("max_pool2d"),
    "avg_pool2d.default": _average_pool,
    "constant_pad_nd.default": _padded,
    **{f"upsample_nearest{d}d.vec": _resized(_nearest(0.0)) for d in (1, 2, 3)},
    **{f"_upsample_nearest_exact{d}d.vec": _resized(_nearest(0.5)) for d in (1, 2, 3)},
    **dict.fromkeys(("upsample_linear1d.vec", "upsample_bilinear2d.vec"), _resized(_linear)),
}  # fmt: skip
