"""Lower bound on the interval from edges between unrolled copies: closed walks, taken together so often that copies
return.

Walks are the columns of a linear program: together they cover one iteration and move by no copy, and take as long as
possible. Its dual variables are the interval and a price for each move; a walk that is longer at these prices enters
the program, by the simplex method in fractions, with the lexicographic rule, so that it ends. With any prices at which
no walk is longer the interval is not too low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm, prod

from ..problem.graph import Edge
from .walks import positive_cycle

_MOST_PIVOTS = 200  # random kernels take 70 at most


@dataclass(frozen=True, slots=True)
class Column:
    """A closed walk: its time, its iterations and its moves in each unrolled loop."""

    weight: Fraction | int
    distance: int
    moves: tuple[int, ...]
    walk: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Demand:
    """The interval in cycles that walks demand, with their edges and how often each is taken.

    Without edges it is an assumption: that all copies run one after the other.
    """

    interval: int
    edges: tuple[Edge, ...] = ()
    times: tuple[int, ...] = ()


class Circulation:
    """The walks through one strongly connected part; `counts` are the copies of its nodes."""

    def __init__(self, counts: Mapping[int, int], edges: Sequence[Edge], cycle: int) -> None:
        self.counts, self.cycle = counts, cycle
        longest: dict[object, Edge] = {}
        for edge in edges:
            key = (edge.source, edge.sink, edge.distance, edge.ranges)
            if key not in longest or edge.weight > longest[key].weight:
                longest[key] = edge
        self.edges = list(longest.values())
        self.moves = {edge.ranges for edge in self.edges}
        self.loops = sorted({n for ranges in self.moves for n, *_ in ranges})
        # A move in an outer loop may take as long as all moves back in the loops inside of it.
        all_moves = [move for ranges in self.moves for move in ranges]
        spread = prod(1 + max(max(-low, high) for n, low, high in all_moves if n == loop) for loop in self.loops)
        self.far = Fraction((sum(abs(edge.weight) for edge in self.edges) + cycle) * spread)

    def demand(self, least: int) -> Demand | None:
        """What is demanded beyond an interval of `least` cycles; None if nothing is."""
        size = len(self.loops) + 1
        basis = [Column(least * self.cycle, 1, (0,) * len(self.loops))]
        basis += [Column(-self.far, 0, tuple(int(n == k) for k in self.loops)) for n in self.loops]
        inverse = [[Fraction(int(row == column)) for column in range(size)] for row in range(size)]
        for _ in range(_MOST_PIVOTS):
            duals = [
                sum((b.weight * row[k] for b, row in zip(basis, inverse, strict=True)), Fraction(0))
                for k in range(size)
            ]
            interval = max(least, ceil(duals[0] / self.cycle))
            entering = self._longer(interval, duals[1:])
            if entering is None:
                shares = [(row[0], b.walk) for b, row in zip(basis, inverse, strict=True) if row[0] > 0 and b.walk]
                return _demanded(interval, shares) if interval > least else None
            if not _pivot(basis, inverse, entering):
                break
        serial = self._serial()
        return Demand(serial) if serial > least else None

    def _longer(self, interval: int, prices: Sequence[Fraction]) -> Column | None:
        """A walk that takes longer than its iterations and the prices of its moves."""
        for k, price in enumerate(prices):  # prices are limited, to `far`
            if price > self.far:
                return Column(-self.far, 0, tuple(-int(n == k) for n in range(len(prices))))
        unit = lcm(*(price.denominator for price in prices))
        price_of = {n: int(price * unit) for n, price in zip(self.loops, prices, strict=True)}
        costs = {
            ranges: sum(min(price_of[n] * low, price_of[n] * high) for n, low, high in ranges) for ranges in self.moves
        }
        per_iteration = interval * self.cycle
        lengths = [(e.weight - per_iteration * e.distance) * unit - costs[e.ranges] for e in self.edges]
        walk = positive_cycle(sorted(self.counts), self.edges, lengths)
        if walk is None:
            return None
        moves = {n: 0 for n in self.loops}
        loose = {n: [0, 0] for n in self.loops}
        for edge in walk:
            for n, low, high in edge.ranges:
                if price_of[n]:
                    moves[n] += low if price_of[n] > 0 else high
                else:
                    loose[n] = [loose[n][0] + low, loose[n][1] + high]
        for n, (low, high) in loose.items():
            moves[n] += min(max(0, low), high)
        weight = sum(edge.weight for edge in walk)
        return Column(weight, sum(edge.distance for edge in walk), tuple(moves[n] for n in self.loops), tuple(walk))

    def _serial(self) -> int:
        """All copies one after the other: no walk is longer that comes to each copy once."""
        longest = {source: 0 for source in self.counts}
        for edge in self.edges:
            longest[edge.source] = max(longest[edge.source], edge.weight)
        return -(-sum(weight * self.counts[node] for node, weight in longest.items()) // self.cycle)


def _demanded(interval: int, shares: Sequence[tuple[Fraction, tuple[Edge, ...]]]) -> Demand:
    """Walks together, each a whole number of times; those first that lead to later iterations."""
    unit = lcm(*(share.denominator for share, _ in shares))
    ordered = sorted(shares, key=lambda item: not any(edge.distance for edge in item[1]))
    taken = [(edge, int(share * unit)) for share, walk in ordered for edge in walk]
    return Demand(interval, tuple(edge for edge, _ in taken), tuple(times for _, times in taken))


def _pivot(basis: list[Column], inverse: list[list[Fraction]], entering: Column) -> bool:
    """Exchange a column of the basis; False if no column can leave."""
    column = (entering.distance, *entering.moves)
    shares = [sum((x * c for x, c in zip(row, column, strict=True) if c), Fraction(0)) for row in inverse]
    leaving = [r for r, share in enumerate(shares) if share > 0]
    if not leaving:
        return False
    row = min(leaving, key=lambda r: [x / shares[r] for x in inverse[r]])
    inverse[row] = [x / shares[row] for x in inverse[row]]
    for other, share in enumerate(shares):
        if other != row and share:
            inverse[other] = [x - share * y for x, y in zip(inverse[other], inverse[row], strict=True)]
    basis[row] = entering
    return True
