"""How many elements of a matrix a design computes in each cycle: lanes of one multiplier and one adder."""

import itertools
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import allo

DSP_PRODUCT = 3
DSP_LANE = 5  # a product and a sum of float32
FABRIC = {"add": "fabric"}  # adders of LUTs, which leave the DSPs to products: 3 a lane
TURNS = 10  # cycles from reading a sum to reading it again: a load, an addition, a store
ADDITION = 7  # cycles of each further addition to the same sum in between
MOST_TERMS = 2  # that are added to a sum in one cycle, one after the other; each more costs registers
MOST_BANKS = 1024  # of an array: tools refuse to cut it into more, or take hours


class Tile(NamedTuple):
    """Lanes for `terms` terms of `rows` x `columns` sums; `block` rows take turns, so no sum is needed too early.

    `width` are all columns of the sums, of which the tile may take as many at once.
    """

    block: int
    rows: int
    columns: int
    terms: int = 1
    width: int = 0


class Product(NamedTuple):
    """A matrix product: the columns of the result, the terms of each sum, the DSPs that a row needs besides.

    `lanes` are its lanes along the columns where they are given by another product; `even` ones leave no tail. Of a
    product that is `chained`, several terms may be added to a sum in one cycle.
    """

    columns: int
    terms: int = 1
    row_dsp: int = 0
    lanes: int = 0
    even: bool = False
    chained: bool = False


@cache
def divisors(extent: int) -> list[int]:
    """All of them, rising."""
    return [d for d in range(1, extent + 1) if extent % d == 0]


def divisor(extent: int, most: int) -> int:
    """The largest divisor of `extent` that is at most `most`: a number of lanes that leaves no tail."""
    return max(d for d in divisors(extent) if d <= most)


def halvings(width: int) -> list[int]:
    """The numbers of terms before each level of a tree that adds `width` terms in pairs."""
    return [] if width < 2 else [width, *halvings((width + 1) // 2)]


def turns(extent: int) -> int:
    """The fewest turns that sums of `extent` elements take: all of few elements."""
    return min(TURNS, extent)


def product_tiles(
    rows: int,
    products: Sequence[Product],
    dsp: int,
    lane: int = DSP_LANE,
    fits: Callable[..., bool] = lambda *tiles: True,
) -> list[Tile]:
    """Lanes for products of as many rows, which run one after the other and share `dsp`: the fewest cycles in all.

    A lane takes `lane` of them. All have the same number of row lanes, a divisor, so that one reads in banks what the
    other has written; `fits(*tiles)` says whether what they share has few enough banks. Nothing if `dsp` are too few.
    """
    choices = [
        list(tiles)
        for r in divisors(rows)
        for tiles in itertools.product(*(_widest(rows, product, r, dsp, lane) for product in products))
        if fits(*tiles)
    ]
    return min(choices, key=lambda t: sum(map(partial(cycles, rows), products, t)), default=[])


@cache
def _widest(rows: int, product: Product, r: int, dsp: int, lane: int) -> list[Tile]:
    """For each number of terms the tile of `r` rows with the most columns, and the least block for its turns."""
    tiles = []
    for t in (t for t in divisors(product.terms) if t <= (MOST_TERMS if product.chained else 1)):
        most = min((dsp // r // t - product.row_dsp) // lane, MOST_BANKS // r)
        columns = [c for c in widths(product) if c <= most and take_turns(rows, product, r, c, t)]
        if columns:
            c = columns[-1]
            block = next(b for b in divisors(rows) if b % r == 0 and take_turns(b, product, r, c, t))
            tiles.append(Tile(block, r, c, t, product.columns))
    return tiles


@cache
def widths(product: Product) -> list[int]:
    """Numbers of lanes along the columns, each the least for the turns that it takes; the last turn may have fewer."""
    most = product.columns
    if product.even:
        return divisors(most)
    return [product.lanes] if product.lanes else sorted({-(-most // count) for count in range(1, most + 1)})


def cycles(rows: int, product: Product, tile: Tile) -> int:
    """The cycles that the sums of the product take."""
    return rows // tile.rows * -(-product.columns // tile.columns) * (product.terms // tile.terms)


def take_turns(rows: int, product: Product, r: int, c: int, t: int = 1) -> bool:
    """Enough elements of `rows` rows take turns at `r` x `c` lanes, where `t` terms are added to each in a chain."""
    wanted = min(TURNS + ADDITION * (t - 1), rows * product.columns)
    return rows // r * -(-product.columns // c) >= wanted


def tree_tile(rows: int, columns: int, dsp: int, lane: int = DSP_LANE) -> tuple[int, int]:
    """The most lanes within `dsp` for a matrix times a vector from either side: rows and columns of a piece."""
    choices = [
        (r, c)
        for r in divisors(rows)
        for c in divisors(columns)
        if lane * r * c <= dsp and r * c <= MOST_BANKS and rows // r >= turns(rows) and columns // c >= turns(columns)
    ]
    return max(choices, key=lambda rc: (rc[0] * rc[1], -max(rc)))


def enough(lanes: int) -> int:
    """The least multiple of `lanes` that keeps loops over one vector short: its banks."""
    return -(-TURNS // lanes) * lanes


def spread(s: allo.Schedule, rows: str, columns: str, tile: Tile) -> None:
    """Compute `tile.rows` x `tile.columns` elements in each cycle of the nest of the two loops.

    The loop over columns is pipelined, or that over rows where a tile has all columns.
    """
    column, column_lane = s.split(columns, tile.columns)
    row, *row_lane = s.split(rows, tile.rows) if tile.rows > 1 else (rows,)
    if row_lane:
        s.reorder(row, column, *row_lane, column_lane)
    s.pipeline(row if tile.columns == tile.width else column)


def unroll(s: allo.Schedule, *loops: str, levels: int = 1) -> None:
    """Unroll `loops`, and with `levels` the loops of a tree, which are one for each, numbered behind the first."""
    for loop in loops:
        for level in range(levels):
            s.unroll(f"{loop}_{level}" if level else loop)


def in_banks(s: allo.Schedule, buffer: Any, *factors: int) -> None:
    """Give each dimension of `buffer` as many banks as its number in `factors`."""
    for dim, factor in enumerate(factors, 1):
        if factor > 1:
            s.partition(buffer, dim=dim, factor=factor)


def row_wise(s: allo.Schedule, buffer: str, tile: Tile, first: Tile | None = None) -> None:
    """Sum in `buffer`, where the sums along k of all elements take turns.

    The kernel is `for i: for j: (buffer[i, j] = ...; for k: buffer[i, j] += ...)`. What the sums begin with is computed
    before, in as many lanes as the tile `first` has, by default in those of the sums.
    """
    k, *term = s.split("k", tile.terms) if tile.terms > 1 else ("k",)
    s.reorder(k, "i", "j", *term)
    for nest, lanes in (("S_i_0_1", first or tile), ("S_i_0", tile)):
        spread(s, f"{nest}.i", f"{nest}.j", lanes)
    in_banks(s, s.buffers[buffer], tile.rows, tile.columns)


def rows_in_order(s: allo.Schedule, right: str, columns: int) -> None:
    """Compute a row of a product while the one before leaves in the order of its elements.

    The kernel is `for i: (row(i, ..., sums); for j: product[i, j] = sums[j])`, where row is
    `for j: (sums[j] = 0; for k: sums[j] += ... * right[k, j])`. The sums of a row, as many as `columns`, take turns.
    """
    lanes = divisor(columns, columns // turns(columns))
    s.reorder("row:k", "row:j")
    for nest in ("S_j_0_1", "S_j_0"):
        s.pipeline(s.split(f"row:{nest}.j", lanes)[0])
    in_banks(s, "row:sums", lanes)
    in_banks(s, f"row:{right}", 1, lanes)
    s.pipeline("j")
    s.dataflow("i")
