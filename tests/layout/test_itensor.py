"""Iterative tensors and the converters between them, against the lists of what passes."""

from __future__ import annotations

from itertools import product
from math import gcd, prod

import pytest
from hypothesis import strategies as st

from allo.layout import ITensor, LineBuffer, StreamConverter, line_buffer, stream_converter
from tests.seeds import drawn, sweep

# Fig. 5 of StreamTensor: three orders of an array of 8 x 8
B = ITensor.of((4, 2), (4, 2), (2, 4), (1, 0))
C = ITensor.of((4, 2), (4, 2, 2), (2, 1, 4), (2, 0))


def passed(order: ITensor) -> list[tuple[int, ...]]:
    """Every element, in the order in which they pass."""
    return [
        tuple(low + n for low, n in zip(place, inside, strict=True))
        for place in order.places()
        for inside in product(*map(range, order.element))
    ]


def test_orders_of_the_paper() -> None:
    assert list(B.places())[:4] == [(0, 0), (4, 0), (0, 2), (4, 2)]
    assert list(C.places())[:5] == [(0, 0), (4, 0), (0, 0), (4, 0), (0, 2)]
    assert B.shape == C.shape == (8, 8) and B.tokens == 8 and C.count == 128
    assert str(B) == "!allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>"
    assert str(C) == "!allo.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>"


def test_converter_of_the_paper() -> None:
    """Case 1 needs none, case 2 two tiles of 8 x 2."""
    assert stream_converter(B, B) is None
    made = stream_converter(B, C)
    assert made is not None
    assert (made.shared, made.tile, made.buffered) == ((4,), (8, 2), 32)


@st.composite
def orders(draw: st.DrawFn, shape: tuple[int, ...], *, repeats: bool) -> ITensor:
    """An order of all elements of an array: its dimensions in digits, in any order, perhaps visited again."""
    loops: list[tuple[int, int | None, int]] = []
    for d, extent in enumerate(shape):
        while extent > 1:
            trip = draw(st.sampled_from([k for k in range(2, extent + 1) if extent % k == 0]))
            extent //= trip
            loops.append((trip, d, extent))
    loops = list(draw(st.permutations(loops)))
    for trip in draw(st.lists(st.integers(2, 3), max_size=2)) if repeats else ():
        loops.insert(draw(st.integers(0, len(loops))), (trip, None, 1))
    trips, dims, steps = zip(*loops, strict=True) if loops else ((), (), ())
    rows = tuple(tuple(int(dim == d) for dim in dims) for d in range(len(shape)))
    return ITensor((1,) * len(shape), trips, steps, rows)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[ITensor, ITensor]:
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3)))
    return draw(orders(shape, repeats=False)), draw(orders(shape, repeats=True))


def least_tile(source: list[tuple[int, ...]], result: list[tuple[int, ...]]) -> int:
    """The smallest box that does, of all ways to cut both streams into as many pieces of one length each."""
    best = None
    for rounds in range(1, gcd(len(source), len(result)) + 1):
        if len(source) % rounds or len(result) % rounds:
            continue
        given, taken = len(source) // rounds, len(result) // rounds
        parts = [source[k * given : (k + 1) * given] for k in range(rounds)]
        if all(set(result[k * taken : (k + 1) * taken]) <= set(part) for k, part in enumerate(parts)):
            boxes = [prod(max(ends) - min(ends) + 1 for ends in zip(*part, strict=True)) for part in parts]
            best = min(max(boxes), best or max(boxes))
    assert best is not None
    return best


def converted(made: StreamConverter | LineBuffer, given: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """What comes out of a converter, tile by tile, or window by window."""
    if isinstance(made, LineBuffer):
        return slid(made, given, made.rows)
    fill, drain = list(made.fill.addresses()), list(made.drain.addresses())
    assert max(fill) < made.size and min(fill) == 0
    result = []
    for begin in range(0, len(given), len(fill)):
        tile = dict(zip(fill, given[begin : begin + len(fill)], strict=True))
        result += [tile[address] for address in drain]
    return result


def slid(made: LineBuffer, given: list[tuple[int, ...]], rows: int) -> list[tuple[int, ...]]:
    """What a line buffer of so many rows gives, in the order in which its loops run."""
    held: dict[tuple[int, int], tuple[int, ...]] = {}
    elements, result = iter(given), []
    for numbers in product(*(range(slide.trip) for slide in made.slides)):
        row = numbers[made.rolling]
        base = sum(n * stride for n, stride in zip(numbers, made.strides, strict=True))
        assert base + max(made.fill.addresses()) < made.width
        held |= {(row % rows, base + place): next(elements) for place in made.fill.addresses()}
        if any(
            (n - slide.first) % slide.step or not 0 <= (n - slide.first) // slide.step < slide.windows
            for n, slide in zip(numbers, made.slides, strict=True)
        ):
            continue
        begin = sum((n - s.reach) * w for n, s, w in zip(numbers, made.slides, made.strides, strict=True))
        first = row - made.slides[made.rolling].reach
        places = zip(made.back.addresses(), made.drain.addresses(), strict=True)
        result += [held.get(((first + back) % rows, begin + place), ()) for back, place in places]
    assert next(elements, None) is None
    return result


@st.composite
def windowed(draw: st.DrawFn) -> tuple[ITensor, ITensor]:
    """Rows of pixels, perhaps of images, and windows over them, with steps, dilation, and a part of the channels."""
    images, channels = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    taken, filters = draw(st.integers(1, channels)), draw(st.integers(1, 2))
    window, step, apart, count = ([draw(st.integers(1, 3)) for _ in range(2)] for _ in range(4))
    low, more = ([draw(st.integers(0, 2)) for _ in range(2)] for _ in range(2))
    size = [
        low[d] + more[d] + step[d] * (count[d] - 1) + apart[d] * (window[d] - 1) + 1 for d in range(2)
    ]  # fmt: skip
    shape = (images, *size, channels)
    source = ITensor.of((1,) * 4, shape, (1,) * 4, range(4))
    trips = (images, *count, filters, taken, *window)
    map_ = ((1, 0, 0, 0, 0, 0, 0), (0, step[0], 0, 0, 0, apart[0], 0), (0, 0, step[1], 0, 0, 0, apart[1]))
    result = ITensor((1,) * 4, trips, (1,) * 7, (*map_, (0, 0, 0, 0, 1, 0, 0)), (0, *low, channels - taken))
    return source, result


@sweep(60, 2)
@drawn(6, windowed())
def test_windows_of_images(pair: tuple[ITensor, ITensor]) -> None:
    """What windows take is right, and would not be with a row less than the line buffer has."""
    source, result = pair
    given, wanted = passed(source), passed(result)
    made = line_buffer(source, result)
    if made is None:
        return
    assert slid(made, given, made.rows) == wanted
    if made.rows > 1:
        assert slid(made, given, made.rows - 1) != wanted


@sweep(60, 2)
@drawn(8, pairs())
def test_converters_are_least(pair: tuple[ITensor, ITensor]) -> None:
    source, result = pair
    given, wanted = passed(source), passed(result)
    assert ITensor.parse(str(result)) == result
    assert source.is_same_order(result) == (given == wanted)
    made = stream_converter(source, result)
    if made is None:
        assert given == wanted
        return
    assert converted(made, given) == wanted
    tile = least_tile(given, wanted)
    assert made.size == tile if isinstance(made, StreamConverter) else made.buffered <= 2 * tile


@st.composite
def boxes(draw: st.DrawFn) -> tuple[ITensor, tuple[int, ...], tuple[int, ...]]:
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3)))
    low = tuple(draw(st.integers(0, extent - 1)) for extent in shape)
    end = tuple(draw(st.integers(begin + 1, extent)) for begin, extent in zip(low, shape, strict=True))
    return draw(orders(shape, repeats=True)), low, end


@sweep(60, 2)
@drawn(8, boxes())
def test_part_of_an_order(given: tuple[ITensor, tuple[int, ...], tuple[int, ...]]) -> None:
    """What is left out is outside of the box, and the rest passes as before."""
    source, low, end = given
    part = source.within(low, end)
    kept = set(passed(part))
    assert passed(part) == [place for place in passed(source) if place in kept]
    inside = [at for at in passed(source) if all(a <= b < c for a, b, c in zip(low, at, end, strict=True))]
    assert set(inside) <= kept


def test_columns() -> None:
    """Of rows that hold three matrices, one goes into the tile; if its order is that of the rows, there is none."""
    rows = ITensor.of((1, 1), (4, 12), (1, 1), (0, 1))
    heads = ITensor((1, 1), (2, 4, 2), (1, 1, 1), ((0, 1, 0), (2, 0, 1)), (0, 4))
    made = stream_converter(rows, heads)
    assert made is not None and (made.tile, made.buffered) == ((4, 4), 16)
    wanted = [place for place in passed(rows) if 4 <= place[1] < 8]
    assert converted(made, wanted) == passed(heads)
    assert stream_converter(rows, ITensor((1, 1), (4, 4), (1, 1), ((1, 0), (0, 1)), (0, 4))) is None


def test_windows() -> None:
    """A reader of rows of three elements needs all that they overlap; of every second column, the row."""
    rows = ITensor.of((1, 1), (6, 4), (1, 1), (0, 1))
    windows = ITensor((1, 1), (4, 3, 4), (1, 1, 1), ((1, 1, 0), (0, 0, 1)))
    made = stream_converter(rows, windows)
    assert isinstance(made, LineBuffer) and (made.rows, made.buffered) == (3, 12)
    assert converted(made, passed(rows)) == passed(windows)


def test_blocks_and_elements() -> None:
    """A block passes as its elements, row by row: other tokens, but one order."""
    blocks, rows = ITensor.of((2, 8), (4,), (2,), (0, -1)), ITensor.of((1, 4), (8, 2), (1, 4), (0, 1))
    assert blocks.is_same_order(rows) and not blocks.is_same_stream(rows)
    assert stream_converter(blocks, rows) is None


@pytest.mark.parametrize(
    ("source", "result", "why"),
    [
        (C, B, "it gives an element more than once"),
        (ITensor.of((1,), (6,), (1,), (0,)), ITensor.of((1,), (8,), (1,), (0,)), "it does not give the element [6]"),
        (ITensor.of((1,), (8,), (1,), (0,), "i8"), ITensor.of((1,), (8,), (1,), (0,)), "the elements are i8, not f32"),
        (ITensor.of((1,), (8,), (1,), (0,)), B, "the array has 1 dimensions, not 2"),
    ],
)  # fmt: skip
def test_what_no_converter_makes(source: ITensor, result: ITensor, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        stream_converter(source, result)
    assert str(caught.value) == f"{source} cannot become {result}: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<4xf32>", f"not an itensor: '!allo.itensor<4xf32>'; one is {B}"),
        ("<1xf32, [4] * [1], (d1) -> (d1)>", "the loops of an itensor are d0, d1, ..., got (d1)"),
        ("<1xf32, [4] * [1], (d0) -> (d0 d0)>", "'d0 d0' is no sum of d0 and numbers"),
        ("<1xf32, [4] * [1], (d0) -> (d1 * 2)>", "'d1 * 2' is no sum of d0 and numbers"),
        ("<f32, [4] * [1, 2], (d0) -> ()>", "an itensor has a step for each trip count, got (4,) and (1, 2)"),
        ("<1xf32, [0] * [1], (d0) -> (d0)>", "extents, trip counts and steps of an itensor are at least 1"),
        ("<1xf32, [4] * [1], (d0) -> (-d0)>", "an itensor begins at subscript (-3,), in front of the array"),
        ("<1x1xf32, [4] * [1], (d0) -> (d0)>", "an element of 2 dimensions needs a map to as many, got ((1,),)"),
        ("<1xf32, [4] * [1], (d0, d1) -> (d0)>", "each result of the map is over the 1 loops, got ((1, 0),)"),
    ],
)  # fmt: skip
def test_texts_that_are_none(text: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        ITensor.parse(f"!allo.itensor{text}")
    assert str(caught.value) == why


def test_texts() -> None:
    for text in (
        "!allo.itensor<f32, [] * [], () -> ()>",
        "!allo.itensor<1x4xi8, [3, 2] * [1, 4], (d0, d1) -> (d0 * 2 + 1, -d1 + 4)>",
        "!allo.itensor<1x!allo.fixed<8, 3>, [3] * [1], (d0) -> (5)>",
    ):
        assert str(ITensor.parse(text)) == text
