"""conv2d, maxpool, sumpool: what is computed for every window of an image."""

from __future__ import annotations

import math

from ...ir.types import AlloType, Bool, Fixed, Float, Int, TensorType, UFixed, UInt, shape_text
from ..typing.convert import constant, convert
from ..typing.nodes import Binary, Block, Const, Expr, Stmt, Store, Symbol
from ..typing.operations import binary
from ..typing.rules import as_integer
from ..typing.view import View, whole
from .call import OperatorCall, placeholder
from .operators import pair
from .structured import OperatorNest, Subscript, along, loops, temporary
from .sums import Reduction, sum_type, sums, zero


def conv2d(call: OperatorCall) -> View | None:
    """The convolution of images with filters, over all channels."""
    image, kernel = call.array("inp", 4, "(N, C, H, W)"), call.array("filter", 4, "(F, C, KH, KW)")
    strides, padding = _pair(call, "stride", 1), _pair(call, "padding", 0)
    if image is None or kernel is None or strides is None or padding is None:
        return None
    n, channels, *size = image.type.shape
    filters, depth, *window = kernel.type.shape
    if channels != depth:
        shapes = f"{shape_text(image.type.shape)} and the filters {shape_text(kernel.type.shape)}"
        call.error(f"conv2d() needs as many channels in images as in filters, but the images have the shape {shapes}")
        return None
    padded = [extent + 2 * border for extent, border in zip(size, padding, strict=True)]
    output = _output(call, padded, window, strides)
    term = call.combine("*", placeholder(image.type.element, call.at), placeholder(kernel.type.element, call.at))
    if output is None or term is None:
        return None
    names = ("n", "f", "oh", "ow", "c", "kh", "kw")
    nest = tuple(zip(names, (n, filters, *output, channels, *window), strict=True))
    places = (*along(0, 4), _place(2, strides[0], 5), _place(3, strides[1], 6))
    exact = sum_type(call, term.type, channels * math.prod(window))
    options = (("strides", strides), ("dilations", (1, 1)))
    filter_read = (kernel, along(1, 4, 5, 6))

    def convolution(source: View) -> Reduction:
        factors = ((source, places), filter_read)
        return Reduction(nest, 3, factors, exact, "conv_2d_nchw_fchw", sums(call), zero(call), options)

    if padding == (0, 0):
        return convolution(image).result(call)

    def compute(target: Symbol) -> Stmt:
        name = call.number(call.name)
        wider = TensorType(image.type.element, (n, channels, *padded))
        symbol, padding_statements = padded_image(call, name, image, wider, padding)
        return Block(call.at, (*padding_statements, convolution(whole(symbol, call.at)).into(call, target, name)))

    return call.computed(TensorType(exact, convolution(image).shape), [image, kernel], compute)


def padded_image(
    call: OperatorCall, name: str, image: View, wider: TensorType, padding: tuple[int, int], border: float = 0
) -> tuple[Symbol, tuple[Stmt, ...]]:
    """The image in a larger one, with zeros or another number around."""
    at = call.at
    symbol, declare = temporary(f"{call.name}_padded", wider, at)
    names = ("n", "c", "h", "w")
    around = OperatorNest(at, f"{name}_padding", list(zip(names, wider.shape, strict=True)))
    zeros = around.statement(symbol, convert(Const(wider.element, at, border), wider.element), "fill")
    inside = OperatorNest(at, f"{name}_inside", list(zip(names, image.type.shape, strict=True)))
    indices = list(inside.variables)
    for d in (2, 3):
        moved = binary("+", indices[d], constant(padding[d - 2], at), at)
        assert moved is not None
        indices[d] = moved
    store = Store(at, symbol, tuple(indices), convert(image.read(inside.variables), wider.element))
    return symbol, (declare, zeros, loops(inside, store))


def _pair(call: OperatorCall, name: str, least: int) -> tuple[int, int] | None:
    """A stride or padding: a number, or one for each direction."""
    value = call.constants[name].value
    numbers = value if isinstance(value, tuple) else (value, value)
    if len(numbers) == 2 and all(isinstance(number, int) and number >= least for number in numbers):
        return pair(value)
    call.error(f"{call.name}() needs integers of at least {least} as '{name}', got {value!r}", None, name)
    return None


def _output(call: OperatorCall, size: list[int], window: list[int], strides: tuple[int, int]) -> list[int] | None:
    """How many windows fit in both directions."""
    if all(inside <= extent for inside, extent in zip(window, size, strict=True)):
        return [(e - w) // s + 1 for e, w, s in zip(size, window, strides, strict=True)]
    is_padded = "padding" in call.constants and call.constants["padding"].value not in (0, (0, 0))
    padded = " with its padding" if is_padded else ""
    small, large = " x ".join(map(str, window)), " x ".join(map(str, size))
    call.error(f"{call.name}() with a window of {small} does not fit an image of {large}{padded}")
    return None


def _place(output: int, stride: int, inside: int) -> Subscript:
    """`output * stride + inside`."""
    return 0, ((output, stride), (inside, 1))


def maxpool(call: OperatorCall) -> View | None:
    """The maximum of every window."""
    return _pool(call, "pooling_nchw_max")


def sumpool(call: OperatorCall) -> View | None:
    """The sum of every window."""
    return _pool(call, "pooling_nchw_sum")


def _pool(call: OperatorCall, operation: str) -> View | None:
    image, window = call.array("inp", 4, "(N, C, H, W)"), call.array("window", 2, "(KH, KW)")
    strides = _pair(call, "stride", 1)
    if image is None or window is None or strides is None:
        return None
    n, channels, *size = image.type.shape
    height, width = window.type.shape
    output = _output(call, size, [height, width], strides)
    if output is None:
        return None
    names = ("n", "c", "oh", "ow", "kh", "kw")
    nest = tuple(zip(names, (n, channels, *output, height, width), strict=True))
    places = (*along(0, 1), _place(2, strides[0], 4), _place(3, strides[1], 5))
    element = image.type.element
    number = as_integer(element) or element
    options = (("strides", strides), ("dilations", (1, 1)))
    factors = ((image, places), (window, along(4, 5)))

    def accumulate(acc: AlloType, old: Expr, elements: list[Expr]) -> Expr:
        op = "+" if operation.endswith("sum") else "max"
        return Binary(acc, call.at, op, old, convert(elements[0], acc))

    if operation.endswith("sum"):
        exact = sum_type(call, number, height * width)
        return Reduction(nest, 2, factors, exact, operation, accumulate, zero(call), options).result(call)

    def least(acc: AlloType) -> Expr:
        return Const(acc, call.at, least_value(acc))

    return Reduction(nest, 2, factors, number, operation, accumulate, least, options, adds=False).result(call)


def least_value(scalar: AlloType) -> int | float:
    """The least value of a type."""
    match scalar:
        case Int():
            return -(1 << (scalar.width - 1))
        case Fixed():
            return -(2.0 ** (scalar.width - 1 - scalar.fracs))
        case Float():
            return -math.inf
        case UInt() | UFixed() | Bool() | _:
            return 0
