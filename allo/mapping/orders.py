"""Orders of objects that DMA engines make (Dato paper, section 5.2): which end of a FIFO walks how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

from ..layout import ArrayMove, Walk, part_of
from ..target import DmaLimits, ProcessorArray, TileKind
from .fifos import ArrayFifo, ObjectFifos
from .graph import ArrayPart, VirtualGraph
from .routes import Route

_WORD = 4
_BURST = 64  # bytes that follow one another in memory: more make no transfer of a shim tile better


@dataclass(frozen=True, slots=True)
class RefusedOrder:
    """An order that no DMA engine makes: of parameter number `parameter` of a function, and which limit forbids it."""

    function: str
    parameter: int
    reason: str


def ordered(
    fifos: ObjectFifos, routes: Sequence[Route], graph: VirtualGraph, array: ProcessorArray
) -> tuple[ObjectFifos, tuple[Route, ...], tuple[RefusedOrder, ...]]:
    """FIFOs and routes with the walks of their DMA engines, and what these cannot do."""
    made: dict[str, ArrayFifo] = {}
    refused: list[RefusedOrder] = []
    hubs = {fifo.name: route.hub is not None for route in routes for fifo in route.fifos}
    for fifo in fifos.arrays:
        found = _ordered(fifo, hubs[fifo.name], array)
        if isinstance(found, str):
            uses = {(graph.node(node).function, number) for slot in fifo.slots for node, number in slot.uses}
            refused += [RefusedOrder(function, number, found) for function, number in sorted(uses)]
        made[fifo.name] = fifo if isinstance(found, str) else found
    arrays = tuple(made[fifo.name] for fifo in fifos.arrays)
    own = tuple(replace(route, fifos=tuple(made[fifo.name] for fifo in route.fifos)) for route in routes)
    return replace(fifos, arrays=arrays), own, tuple(refused)


def _ordered(fifo: ArrayFifo, has_hub: bool, array: ProcessorArray) -> ArrayFifo | str:
    """The FIFO with the walks of its ends; which limits forbid its order, if they do."""
    orders = dict.fromkeys(part.order for part in fifo.objects)
    if all(order is None or order.is_identity for order in orders):
        return fifo
    if len(orders) > 1:
        return _mixed(fifo, has_hub, array)
    size = fifo.objects[0].argument.bits // 8
    moves = [_from_box(part) if has_hub else _from_argument(part) for part in fifo.objects]
    if any(move is None for move in moves):
        return "its digits are not those of the rows of the argument"
    near = array.tiles[TileKind.MEMORY if has_hub else TileKind.SHIM].dma
    core = array.tiles[TileKind.CORE].dma
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    alone = len(fifo.objects) == 1
    known = [move for move in moves if move is not None]
    for digits in permutations(range(len(known[0].digits))):
        far = known[0].in_order(digits)[1]
        walks = [move.in_order(digits)[0] for move in known]
        limits = [_limit(walk, size, near, 0 if has_hub else 1 if alone else 0) for walk in walks]
        if any(limits) or _limit(far, size, core, 0):
            continue
        run = 0 if has_hub else min(_BURST, _run(walks[0]) * size)
        ends = sum(not walk.is_contiguous() for walk in (walks[0], far))
        found.append(((-run, ends, len(walks[0].extents) + len(far.extents)), digits))
    if not found:
        return _reason(known[0], size, (near, "memory tile" if has_hub else "shim tile"), core)
    digits = min(found)[1]
    far = known[0].in_order(digits)[1]
    parts = tuple(
        replace(part, visited=None if has_hub else _shifted(move.in_order(digits)[0], part))
        for part, move in zip(fifo.objects, known, strict=True)
    )
    near_walk = known[0].in_order(digits)[0] if has_hub else None
    at_near = None if near_walk is None or near_walk.is_contiguous() else near_walk
    return replace(fifo, objects=parts, near=at_near, at_core=None if far.is_contiguous() else far)


def _mixed(fifo: ArrayFifo, has_hub: bool, array: ProcessorArray) -> ArrayFifo | str:
    """A FIFO with objects of several orders, which transfers of a shim tile make, each its own."""
    if has_hub:
        return "objects of other orders come by the same FIFO, through a memory tile"
    limits = array.tiles[TileKind.SHIM].dma
    parts = []
    for part in fifo.objects:
        move = None if part.order is None else _from_argument(part)
        if move is None:
            parts.append(part)
            continue
        walk = move.in_order(sorted(range(len(move.digits)), key=lambda k: -move.digits[k].target))[0]
        limit = _limit(walk, part.argument.bits // 8, limits, 1)
        if limit is not None:
            return f"objects of other orders come by the same FIFO, and at the shim tile, {limit}"
        parts.append(replace(part, visited=_shifted(walk, part)))
    return replace(fifo, objects=tuple(parts))


def _reason(move: ArrayMove, size: int, near: tuple[DmaLimits, str], core: DmaLimits) -> str:
    """Why neither end makes an order alone; both together do not either."""
    count = len(move.digits)
    by_target = sorted(range(count), key=lambda k: -move.digits[k].target)
    by_source = sorted(range(count), key=lambda k: -move.digits[k].source)
    first = _limit(move.in_order(by_target)[0], size, near[0], 1)
    second = _limit(move.in_order(by_source)[1], size, core, 0)
    return f"at the {near[1]}, {first or 'nothing'}; at the core, {second or 'nothing'}"


def _limit(walk: Walk, size: int, limits: DmaLimits, more: int) -> str | None:
    """What forbids one descriptor for a walk; `more` loops may be iterations of it."""
    if walk.is_contiguous():
        return None
    words = [stride * size / _WORD for stride in walk.strides]
    if size < _WORD and walk.strides[-1] != 1:
        return f"elements of {size} bytes do not follow one another"
    if walk.extents[-1] * size % _WORD or any(step % 1 for step in words[:-1]):
        return f"rows are not words of {_WORD} bytes"
    if len(walk.extents) > limits.dimensions + more:
        return f"{len(walk.extents)} loops are needed, and there are {limits.dimensions + more}"
    inner = [walk.extents[-1] * size // _WORD, *walk.extents[1:-1]] if len(walk.extents) > 1 else []
    if inner and max(inner) > limits.wrap:
        return f"a loop has {max(inner)} iterations, and {limits.wrap} at most"
    if len(walk.extents) > limits.dimensions and walk.extents[0] > limits.iterations:
        return f"{walk.extents[0]} iterations are needed, and there are {limits.iterations}"
    if max(words) > limits.step:
        return f"a step is {int(max(words))} words, and {limits.step} at most"
    return None


def _run(walk: Walk) -> int:
    """How many elements follow one another."""
    return walk.extents[-1] if walk.strides and walk.strides[-1] == 1 else 1


def _from_box(part: ArrayPart) -> ArrayMove | None:
    return part.order


def _from_argument(part: ArrayPart) -> ArrayMove | None:
    """The move from the argument to the object."""
    assert part.order is not None
    steps = part.steps or (1,) * len(part.extents)
    strides = [a * b for a, b in zip(_row_major(part.argument.shape), steps, strict=True)]
    return ArrayMove.of(part.extents, strides, list(_row_major(part.extents))).then(part.order)


def _row_major(shape: Sequence[int]) -> Iterator[int]:
    return (prod(shape[d + 1 :]) for d in range(len(shape)))


def _shifted(walk: Walk, part: ArrayPart) -> Walk:
    offset = part_of(part.argument.shape, part.low, part.extents).offset
    return Walk(offset, walk.extents, walk.strides)
