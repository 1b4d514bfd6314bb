"""Stream-layout converters: the loops that two orders of an array share, and the least tile to turn one into the other.

A tile is filled in the order of the source while the one before it is drained in the order of the result. Source:
StreamTensor, section 5.2.1 and Algorithm 1, on single elements: loops are split and merged so that more are shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from .itensor import CountedLoop, ITensor, first_missing
from .line_buffer import LineBuffer, line_buffer
from .walks import Walk


@dataclass(frozen=True, slots=True)
class StreamConverter:
    """What lies between two streams: `shared` are the trip counts of the loops in which both sides do the same, and in
    one iteration of them the source gives all elements of a `tile` of the array that the result takes.

    `fill` and `drain` are the addresses in the row-major tile, in the order of the two sides; `source` is the order in
    which elements come in, without those that the result surely does not take.
    """

    shared: tuple[int, ...]
    tile: tuple[int, ...]
    fill: Walk
    drain: Walk
    source: ITensor

    @property
    def rounds(self) -> int:
        """How many tiles pass."""
        return prod(self.shared)

    @property
    def size(self) -> int:
        """The elements of one tile."""
        return prod(self.tile)

    @property
    def buffered(self) -> int:
        """The elements that it holds: of two tiles, one filled and one drained, or of one if there is only one."""
        return self.size * min(self.rounds, 2)

    def __str__(self) -> str:
        return f"{min(self.rounds, 2)} of {' x '.join(map(str, self.tile))}"


def stream_converter(source: ITensor, result: ITensor) -> StreamConverter | LineBuffer | None:
    """What makes the stream `result` of `source`; None if the elements pass in one order, so that a FIFO does it.

    It is a line buffer where that holds less than tiles. Raises ValueError if nothing can be: an element is missing, or
    comes twice.
    """
    why = source.obstacle(result)
    if why is not None:
        raise ValueError(f"{source} cannot become {result}: {why}")
    part = source.within(result.lowest, result.shape)
    box = prod(end - low for low, end in zip(part.lowest, part.shape, strict=True))
    orders = dict.fromkeys([part, source] if part.count == box else [source])
    if any(order.is_same_order(result) for order in orders):
        return None
    made: list[StreamConverter | LineBuffer] = [_converter(order, result) for order in orders]
    made += [rolling for order in orders if (rolling := line_buffer(order, result)) is not None]
    return min(made, key=lambda one: one.buffered)


def _converter(source: ITensor, result: ITensor) -> StreamConverter:
    one, two = list(source.scalars.normal), list(result.scalars.normal)
    low = tuple(b - a for a, b in zip(source.offset, result.offset, strict=True))
    shared: list[int] = []
    while one and two and (found := _shared_loop(one, two, low)) is not None:
        outer, one, two = found
        shared.append(outer)
    first = [sum(min(0, loop.stride[d] * (loop.trip - 1)) for loop in one) for d in range(source.rank)]
    tile = tuple(1 + sum(abs(loop.stride[d]) * (loop.trip - 1) for loop in one) for d in range(source.rank))
    begin = tuple(-a for a in first)
    fill = _walk(one, begin, tile)
    drain = _walk(two, tuple(a + b for a, b in zip(low, begin, strict=True)), tile)
    return StreamConverter(tuple(shared), tile, fill, drain, source)


def _shared_loop(
    one: Sequence[CountedLoop], two: Sequence[CountedLoop], low: tuple[int, ...]
) -> tuple[int, list[CountedLoop], list[CountedLoop]] | None:
    """The most iterations of the outermost loops that both can do together, and what each does in one of them."""
    for count in _divisors(gcd(one[0].trip, two[0].trip)):
        (left, rest), (right, other) = one[0].split(count), two[0].split(count)
        if left.stride != right.stride:
            continue
        inner = [loop for loop in (rest, *one[1:]) if loop.trip > 1]
        taken = [loop for loop in (other, *two[1:]) if loop.trip > 1]
        if first_missing(inner, (0,) * len(low), taken, low) is None:
            return count, inner, taken
    return None


def _divisors(number: int) -> Iterator[int]:
    """The divisors but 1, the greatest first."""
    return (count for count in range(number, 1, -1) if number % count == 0)


def _walk(loops: Sequence[CountedLoop], begin: tuple[int, ...], tile: tuple[int, ...]) -> Walk:
    weights = [prod(tile[d + 1 :]) for d in range(len(tile))]
    address = [sum(w * s for w, s in zip(weights, loop.stride, strict=True)) for loop in loops]
    offset = sum(w * b for w, b in zip(weights, begin, strict=True))
    return Walk(offset, tuple(loop.trip for loop in loops), tuple(address)).normal
