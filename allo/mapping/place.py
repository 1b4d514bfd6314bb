"""Placement of cores on the tiles of an array: neighbours where streams are, since they share a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Counts
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from random import Random

from ..errors import TargetError
from ..target import ProcessorArray, Tile, TileKind
from .graph import PartAccess
from .steps import MappedCore, Mapping

_STARTS = 8  # of which placements are improved
_MOST_STARTS = 32  # if cores have too few DMA channels otherwise


@dataclass(frozen=True, slots=True)
class Placement:
    """The tile of `array` of each core, in the order of the cores of `mapping`."""

    mapping: Mapping
    tiles: tuple[Tile, ...]
    array: ProcessorArray

    def tile(self, core: str) -> Tile:
        """The tile of a core."""
        return next(tile for own, tile in zip(self.mapping.cores, self.tiles, strict=True) if own.name == core)

    def distant(self) -> int:
        """How many streams join cores that share no memory."""
        tiles = {node.name: t for c, t in zip(self.mapping.cores, self.tiles, strict=True) for node in c.nodes}
        return sum(
            self.array.shared_memory(tiles[s.producer], tiles[s.consumer]) is None
            for s in self.mapping.graph.streams
        )


def place(mapping: Mapping, array: ProcessorArray) -> Placement:
    """The placement, of those that are tried, with the fewest DMA channels of cores that there are too many of, then
    with the fewest streams between cores that share no memory.

    Raises TargetError if there are more cores than the array has.
    """
    if len(mapping.cores) > array.cores:
        raise TargetError(
            f"{len(mapping.cores)} cores are needed, and '{array.name}' has {array.cores}: each position of a task "
            "takes one",
            hint='let cores run several: mapping_primitives=[("bundle", [...]), ("chain", [...])]',
        )
    cost = _TileCost.of(mapping, array)
    tried = [Placement(mapping, tiles, array) for tiles in _candidates(mapping, array)]
    best = min(tried, key=lambda own: cost(own.tiles)[:2])
    random = Random(0)  # the same on all machines
    for k in range(_MOST_STARTS):
        too_many, distant, _ = cost(best.tiles)
        if not distant or (k >= _STARTS and not too_many):
            break
        start = best if k == 0 else replace(best, tiles=tuple(random.sample(list(_snake(array)), len(best.tiles))))
        best = min(best, _improved(start, array, cost), key=lambda own: cost(own.tiles)[:2])
    return best


@dataclass(frozen=True, slots=True)
class _TileCost:
    """How good tiles of cores are: how many DMA channels of cores there are too many of, at least, how many streams
    join cores that share no memory, and the length of the ways of all.

    `free` are the inputs and outputs that parts of arguments leave a core, if as many of them share one as can; `apart`
    are the pairs of tiles whose cores share no memory.
    """

    ends: Counts[tuple[int, int], int]
    free: tuple[tuple[int, ...], tuple[int, ...]]
    apart: frozenset[tuple[Tile, Tile]]

    @classmethod
    def of(cls, mapping: Mapping, array: ProcessorArray) -> _TileCost:
        number = {node.name: k for k, core in enumerate(mapping.cores) for node in core.nodes}
        ends = Counter((number[s.producer], number[s.consumer]) for s in mapping.graph.streams)
        limits = array.tiles[TileKind.CORE].dma
        inputs, outputs = (
            tuple(max(most - len(_kinds_of_objects(core, other)), 0) for core in mapping.cores)
            for most, other in ((limits.inputs, PartAccess.OUT), (limits.outputs, PartAccess.IN))
        )
        tiles = list(_snake(array))
        apart = frozenset(pair for pair in product(tiles, tiles) if array.shared_memory(*pair) is None)
        return cls({pair: count for pair, count in ends.items() if pair[0] != pair[1]}, (inputs, outputs), apart)

    def __call__(self, tiles: Sequence[Tile]) -> tuple[int, int, int]:
        distant = way = 0
        into, out = (list(free) for free in self.free)
        for (producer, consumer), count in self.ends.items():
            ends = tiles[producer], tiles[consumer]
            way += count * ends[0].distance(ends[1])
            if ends in self.apart:
                distant += count
                out[producer] -= count
                into[consumer] -= count
        return sum(-left for left in (*into, *out) if left < 0), distant, way


def _kinds_of_objects(core: MappedCore, other: PartAccess) -> set[tuple[str, int]]:
    """Element types and lengths of parts that come to a core, or leave it: all but those that only do the other."""
    used = [use for node in core.nodes for use in node.parts if use.access is not other]
    return {(use.part.argument.element, prod(use.part.object_extents)) for use in used}


def _improved(placement: Placement, array: ProcessorArray, cost: _TileCost) -> Placement:
    """A placement that no exchange of two tiles makes better."""
    tiles: list[Tile] = list(placement.tiles)
    tiles += [tile for tile in _snake(array) if tile not in placement.tiles]
    best, is_better = cost(tiles), True
    while is_better:
        is_better = False
        for a, b in combinations(range(len(tiles)), 2):
            if a >= len(placement.tiles):
                continue
            tiles[a], tiles[b] = tiles[b], tiles[a]
            found = cost(tiles)
            if found < best:
                best, is_better = found, True
            else:
                tiles[a], tiles[b] = tiles[b], tiles[a]
    return replace(placement, tiles=tuple(tiles[: len(placement.tiles)]))


def _candidates(mapping: Mapping, array: ProcessorArray) -> Iterator[tuple[Tile, ...]]:
    on_grid = _on_grid(mapping.cores, array)
    if on_grid is not None:
        yield on_grid
    for order in (list(mapping.cores), _followed(mapping)):
        way = dict(zip((core.name for core in order), _snake(array), strict=False))
        yield tuple(way[core.name] for core in mapping.cores)


def _on_grid(cores: Sequence[MappedCore], array: ProcessorArray) -> tuple[Tile, ...] | None:
    """Positions (i, j) of one task at row i and column j, if they fit."""
    places = [core.nodes[0].position for core in cores]
    if len({core.nodes[0].task for core in cores}) > 1 or any(len(place) != 2 for place in places):
        return None
    if any(i >= array.core_rows or j >= array.columns for i, j in places):
        return None
    return tuple(Tile(j, array.first_core_row + i) for i, j in places)


def _snake(array: ProcessorArray) -> Iterator[Tile]:
    """All core tiles, up one column and down the next: each beside the one before it."""
    for column in range(array.columns):
        rows = range(array.first_core_row, array.first_core_row + array.core_rows)
        yield from (Tile(column, row) for row in (rows if column % 2 == 0 else reversed(rows)))


def _followed(mapping: Mapping) -> list[MappedCore]:
    """The cores in an order in which consumers come behind their producers wherever that can be."""
    consumers: dict[str, list[MappedCore]] = {}
    for stream in mapping.graph.streams:
        consumers.setdefault(mapping.core_of(stream.producer).name, []).append(mapping.core_of(stream.consumer))
    found: dict[str, MappedCore] = {}

    def follow(core: MappedCore) -> None:
        ahead = [core]
        while ahead:
            own = ahead.pop()
            if own.name not in found:
                found[own.name] = own
                ahead += reversed(consumers.get(own.name, []))

    for core in mapping.cores:
        follow(core)
    return list(found.values())
