"""Orders of loops in which a nest takes the elements of an array as its producer gives them, as far as may be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...ir.module import Module
from ...ir.walk import LoopView, string_of, trip_count
from ...layout import ITensor
from ...poly import Access, extract
from ..nest.rewrite import only_child
from .accesses import Get


def bands_of(module: Module, function: str) -> dict[str, list[LoopView]]:
    """Of each nest the loops with nothing in between, outermost first; they may be in any order again."""
    nests: dict[str, list[LoopView]] = {}
    for view in module.loops(function):
        nests.setdefault(view.nest, []).append(view)
    return {nest: _band(views) for nest, views in nests.items()}


def _band(views: Sequence[LoopView]) -> list[LoopView]:
    band = [*views[:1]]
    for outer, inner in pairwise(views):
        if inner.parent is None or inner.parent.op != outer.op or not only_child(outer, inner):
            break
        band.append(inner)
    return [] if any(view.op.name != "affine.for" for view in band) else band


def orders_of_later_writers(module: Module, function: str) -> dict[str, list[str]]:
    """Of nests that write an array before another nest does, their loops in the order in which that one goes along the
    dimensions of the array, where that is another order."""
    bands = bands_of(module, function)
    writers: dict[str, list[tuple[str, Access]]] = {}
    for access in extract(module.function(function)).accesses:
        if access.is_write and access.loops and access.buffer.origin == "alloc":
            nest = string_of(access.loops[0].op, "allo.nest") or ""
            writers.setdefault(access.buffer.label, []).append((nest, access))
    orders: dict[str, list[str]] = {}
    for writes in writers.values():
        for (nest, first), (other, second) in reversed([*pairwise(writes)]):
            now, mine, its = [view.name for view in bands[nest]], _dimensions(first), _dimensions(second)
            later = [its[name] for name in orders.get(other, [loop.name for loop in second.loops]) if name in its]
            if nest != other and mine.keys() == {*now} and {*mine.values()} <= {*later}:
                wanted = sorted(now, key=lambda name: later.index(mine[name]))
                if wanted != now:
                    orders[nest] = wanted
    return orders


def _dimensions(access: Access) -> dict[str, int]:
    """The dimensions of an array by the loops that go along them, each alone."""
    alone = {form.terms[0][0]: d for d, form in enumerate(access.subscripts) if len(form.terms) == 1}
    return {loop.name: alone[loop.variable] for loop in access.loops if loop.variable in alone}


def like(source: ITensor, get: Get, band: Sequence[LoopView]) -> list[str]:
    """The loops of a nest by name, so that those which give the subscripts of a get follow the order of the source.

    The other loops come last, in their order, but loops of one iteration first.
    """
    access = get.loads[0]
    ranks: dict[str, tuple[int, int]] = {}
    for loop in access.loops:
        factors = [dict(form.terms).get(loop.variable, 0) for form in access.subscripts]
        used = [(d, abs(int(factor))) for d, factor in enumerate(factors) if factor]
        if used:
            ranks[loop.name] = min((_rank(source, d, factor), -factor) for d, factor in used)
    last = (len(source.scalars.trips) + 1, 0)
    ranks |= {view.name: (-1, 0) for view in band if trip_count(view.op) == 1}
    return sorted((view.name for view in band), key=lambda name: ranks.get(name, last))


def _rank(source: ITensor, dimension: int, factor: int) -> int:
    """The number of the first loop of the source that goes along a dimension in steps of at most `factor`."""
    loops = source.scalars.loops
    found = (n for n, loop in enumerate(loops) if 0 < abs(loop.stride[dimension]) <= factor)
    return next(found, len(loops))
