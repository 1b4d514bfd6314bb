"""Lower bound on the interval from edges between unrolled copies: closed walks, taken together so often that copies
return.

Walks are the columns of a linear program: together they cover one iteration and move by no copy, and take as long as
possible. Its dual variables are the interval and a price for each move; a walk that is longer at these prices enters
the program, by the simplex method, with the lexicographic rule, so that it ends. With any prices at which no walk is
longer the interval is not too low. The inverse of the basis is kept as whole numbers over one denominator, which the
pivot becomes: all divisions are exact (Edmonds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

from ..problem.graph import Edge
from .walks import positive_cycle

_MOST_PIVOTS = 200  # random kernels take 70 at most


@dataclass(frozen=True, slots=True)
class Column:
    """A closed walk: its time, its iterations and its moves in each unrolled loop."""

    weight: int
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
        self.far = (sum(abs(edge.weight) for edge in self.edges) + cycle) * spread

    def demand(self, least: int) -> Demand | None:
        """What is demanded beyond an interval of `least` cycles; None if nothing is."""
        size = len(self.loops) + 1
        basis = [Column(least * self.cycle, 1, (0,) * len(self.loops))]
        basis += [Column(-self.far, 0, tuple(int(n == k) for k in self.loops)) for n in self.loops]
        inverse, whole = [[int(row == column) for column in range(size)] for row in range(size)], 1
        for _ in range(_MOST_PIVOTS):
            duals = [sum([b.weight * row[k] for b, row in zip(basis, inverse, strict=True)]) for k in range(size)]
            interval = max(least, -(-duals[0] // (whole * self.cycle)))
            entering = self._longer(interval, duals[1:], whole)
            if entering is None:
                taken = [(row[0], b.walk) for b, row in zip(basis, inverse, strict=True) if row[0] > 0 and b.walk]
                return _demanded(interval, taken, whole) if interval > least else None
            pivot = _pivot(basis, inverse, whole, entering)
            if pivot is None:
                break
            whole = pivot
        serial = self._serial()
        return Demand(serial) if serial > least else None

    def _longer(self, interval: int, prices: Sequence[int], whole: int) -> Column | None:
        """A walk that takes longer than its iterations and the prices of its moves, each as parts of a `whole`."""
        for k, price in enumerate(prices):  # prices are limited, to `far`
            if price > self.far * whole:
                return Column(-self.far, 0, tuple(-int(n == k) for n in range(len(prices))))
        common = gcd(whole, *prices)
        unit = whole // common
        price_of = {n: price // common for n, price in zip(self.loops, prices, strict=True)}
        costs = {
            ranges: sum([min(price_of[n] * low, price_of[n] * high) for n, low, high in ranges])
            for ranges in self.moves
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
        weight = sum([edge.weight for edge in walk])
        return Column(weight, sum([edge.distance for edge in walk]), tuple(moves[n] for n in self.loops), tuple(walk))

    def _serial(self) -> int:
        """All copies one after the other: no walk is longer that comes to each copy once."""
        longest = {source: 0 for source in self.counts}
        for edge in self.edges:
            longest[edge.source] = max(longest[edge.source], edge.weight)
        return -(-sum(weight * self.counts[node] for node, weight in longest.items()) // self.cycle)


def _demanded(interval: int, shares: Sequence[tuple[int, tuple[Edge, ...]]], whole: int) -> Demand:
    """Walks together, each a whole number of times; those first that lead to later iterations."""
    common = gcd(whole, *(share for share, _ in shares))
    ordered = sorted(shares, key=lambda item: not any(edge.distance for edge in item[1]))
    taken = [(edge, share // common) for share, walk in ordered for edge in walk]
    return Demand(interval, tuple(edge for edge, _ in taken), tuple(times for _, times in taken))


def _pivot(basis: list[Column], inverse: list[list[int]], whole: int, entering: Column) -> int | None:
    """Exchange a column of the basis; what the inverse is then divided by, None if no column can leave."""
    column = (entering.distance, *entering.moves)
    shares = [sum([x * c for x, c in zip(row, column, strict=True) if c]) for row in inverse]
    leaving = [r for r, share in enumerate(shares) if share > 0]
    if not leaving:
        return None
    row = leaving[0]
    for other in leaving[1:]:
        if [x * shares[row] for x in inverse[other]] < [x * shares[other] for x in inverse[row]]:
            row = other
    pivot, chosen = shares[row], inverse[row]
    for other, share in enumerate(shares):
        if other != row:
            inverse[other] = [(x * pivot - share * y) // whole for x, y in zip(inverse[other], chosen, strict=True)]
    basis[row] = entering
    return pivot
