"""Demands of templates on their parameters, and the constants that follow from them.

Kernels call these functions in `ConstExpr` declarations and annotations; what they raise becomes a KernelError.
"""

from __future__ import annotations

from ..ir.types import AlloType, Bool, Fixed, Float, Int, UFixed, UInt


def quotient(number: int, divisor: int, name: str) -> int:
    """`number // divisor`. Raises ValueError if there is a remainder; `name` says what `number` is."""
    if number % divisor:
        raise ValueError(f"{name} = {number} is not a multiple of {divisor}")
    return number // divisor


def tiles(number: int, tile: int) -> int:
    """How many tiles of `tile` cover `number`. Raises ValueError for a tile below 1."""
    if tile < 1:
        raise ValueError(f"a tile has at least 1 element, got {tile}")
    return -(-number // tile)


def groups(number: int, size: int, name: str) -> int:
    """How many groups of `size` cover `number`. Raises ValueError for a group above `number`, which is `name`."""
    if size > number:
        raise ValueError(f"groups of {size} are larger than {name} = {number}")
    return tiles(number, size)


def window_count(extent: int, window: int, stride: int, padding: int, given: int, name: str) -> int:
    """The number of windows along a dimension. Raises ValueError if `given`, the parameter `name`, is another one."""
    if stride < 1 or padding < 0 or window < 1:
        raise ValueError(f"window {window}, stride {stride} and padding {padding} do not make windows")
    count = (extent + 2 * padding - window) // stride + 1
    if given != count or count < 1:
        raise ValueError(
            f"{name} = {given}, but {max(count, 0)} windows of {window} with stride {stride} fit into {extent} "
            f"elements with padding {padding}"
        )
    return count


def pool_count(extent: int, window: int, stride: int, padding: int, given: int, name: str) -> int:
    """As `window_count`; also raises ValueError if a window could lie in the padding alone."""
    if 2 * padding > window:
        raise ValueError(f"padding {padding} is more than half of the window {window}")
    return window_count(extent, window, stride, padding, given, name)


def fractional(kind: AlloType, name: str) -> int:
    """Raises TypeError unless `kind` holds fractions, which template `name` computes with."""
    if not isinstance(kind, Float | Fixed | UFixed):
        raise TypeError(
            f"{name} computes with fractions, and {kind!r} has none; use a float or fixed-point type"
        )
    return kind.bits


def integral(kind: AlloType, name: str) -> int:
    """The width of `kind`. Raises TypeError unless it is an integer type, which template `name` asks for."""
    if isinstance(kind, Bool) or not isinstance(kind, Int | UInt):
        raise TypeError(f"{name} packs integers, got {kind!r}")
    return kind.bits


def signed_product(left: AlloType, right: AlloType) -> int:
    """The width of a product. Raises TypeError unless both types are signed integers."""
    if not (isinstance(left, Int) and isinstance(right, Int)):
        raise TypeError(
            f"two products share a multiplier only if they are signed integers, got {left!r} * {right!r}"
        )
    return left.bits + right.bits


def sum_type(kind: AlloType, count: int) -> AlloType:
    """A type for the sum of `count` numbers of `kind` that loses nothing where `kind` is exact."""
    extra = (count - 1).bit_length()
    match kind:
        case Int() | UInt() if not isinstance(kind, Bool):
            return type(kind)(kind.bits + extra)
        case Fixed() | UFixed():
            return type(kind)(kind.bits + extra, kind.fracs)
    return kind


def lowest(kind: AlloType) -> float | int:
    """The least number of `kind`."""
    match kind:
        case Int():
            return -(1 << kind.bits - 1)
        case Fixed():
            return -(1 << kind.bits - 1) / (1 << kind.fracs)
        case Float():
            return float("-inf")
    return 0
