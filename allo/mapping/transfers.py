"""Transfers between memory and an array: descriptors of shim tiles, and the order in which a call starts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from ..errors import TargetError
from ..layout import Walk, in_turn
from ..target import DmaLimits, ProcessorArray, TileKind
from .graph import ArrayPart, CallArray
from .plan import ArrayPlan
from .routes import Route

_WORD = 4  # bytes


@dataclass(frozen=True, slots=True)
class ShimTransfer:
    """What one descriptor moves: addresses of an argument, in elements, over a route; `descriptor` is its number.

    With `token`, the shim tile tells when it has ended.
    """

    route: str
    argument: CallArray
    walk: Walk
    descriptor: int
    token: bool


@dataclass(frozen=True, slots=True)
class TokenWait:
    """TokenWait until the oldest transfer of a route that has a token has ended."""

    route: str


@dataclass(frozen=True, slots=True)
class RuntimeSequence:
    """What the controller of the array does in a call."""

    steps: tuple[ShimTransfer | TokenWait, ...]

    def transfers(self, route: str) -> tuple[ShimTransfer, ...]:
        """The transfers of a route, in their order."""
        return tuple(s for s in self.steps if isinstance(s, ShimTransfer) and s.route == route)


def sequence_of(plan: ArrayPlan, *, inputs_first: bool = False) -> RuntimeSequence:
    """The transfers of a call, each started as soon as its channel has room for it and its shim tile a descriptor.

    Routes go forward at once: what a route moves in the first half of a call is started before the second half of all.
    So nothing is waited for that needs what is not started yet, as far as cores use and make all things evenly. With
    `inputs_first`, all that comes to the array is started before anything is waited for that leaves it, as for tasks
    that take turns and need all parts before there is a result.
    Raises TargetError for parts that are not made of words of four bytes.
    """
    limits = plan.array.tiles[TileKind.SHIM].dma
    order = sorted(plan.routes, key=lambda route: route.to_core)  # what the array writes has a place at once
    made = _Sequence(plan.array, limits)
    starts: list[tuple[Fraction, int, Route, CallArray, Walk]] = []
    for number, route in enumerate(order):
        walks = list(_walks(route, limits))
        total, moved = sum(len(walk) for _, walk in walks), 0
        for k, (argument, walk) in enumerate(walks):
            late = inputs_first and not route.to_core and k >= plan.array.queue
            starts.append((Fraction(moved, total) + late, number, route, argument, walk))
            moved += len(walk)
    for _, _, route, argument, walk in sorted(starts, key=lambda start: start[:2]):
        made.start(route, argument, walk)
    for route in order:
        if not route.to_core:
            made.wait_all(route)
    return RuntimeSequence(tuple(made.done()))


@dataclass(slots=True)
class _Started:
    """A transfer that has been started, and where it stands in the sequence."""

    place: int
    route: Route
    descriptor: int


class _Sequence:
    """The sequence while it is written."""

    def __init__(self, array: ProcessorArray, limits: DmaLimits) -> None:
        self.array = array
        self.free = {column: list(range(limits.descriptors)) for column in range(array.columns)}
        self.running: list[_Started] = []
        self.steps: list[tuple[Route, CallArray, Walk, int] | TokenWait] = []
        self.tokens: set[int] = set()

    def start(self, route: Route, argument: CallArray, walk: Walk) -> None:
        """Start a transfer; wait for older ones of its channel, or its tile, if it has no place."""
        while sum(own.route.name == route.name for own in self.running) >= self.array.queue:
            self._wait(route)
        while not self.free[route.shim]:
            self._wait(next(own.route for own in self.running if own.route.shim == route.shim))
        descriptor = self.free[route.shim].pop(0)
        self.running.append(_Started(len(self.steps), route, descriptor))
        self.steps.append((route, argument, walk, descriptor))

    def wait_all(self, route: Route) -> None:
        """TokenWait for all transfers of a route."""
        while any(own.route.name == route.name for own in self.running):
            self._wait(route)

    def done(self) -> Iterator[ShimTransfer | TokenWait]:
        """All steps; what nobody waits for has no token, if it goes to the array."""
        for place, step in enumerate(self.steps):
            if isinstance(step, TokenWait):
                yield step
                continue
            route, argument, walk, descriptor = step
            yield ShimTransfer(route.name, argument, walk, descriptor, place in self.tokens or not route.to_core)

    def _wait(self, route: Route) -> None:
        oldest = next(own for own in self.running if own.route.name == route.name)
        self.running.remove(oldest)
        self.tokens.add(oldest.place)
        self.free[route.shim].append(oldest.descriptor)
        self.steps.append(TokenWait(route.name))


def _walks(route: Route, limits: DmaLimits) -> Iterator[tuple[CallArray, Walk]]:
    """The walks over arguments that move all objects of a route in their order, each of whole objects or of a part."""
    rounds = [_merged([fifo.objects[k] for fifo in route.fifos]) for k in range(route.rounds)]
    if all(len(own) == 1 and own[0][0].argument == rounds[0][0][0].argument for own in rounds):
        first = rounds[0][0][0]
        rounds = [[(first, walk) for walk in in_turn([own[0][1] for own in rounds])]]
    for part, walk in (pair for own in rounds for pair in own):
        for piece in _fitted(walk.normal, part, limits):
            yield part.argument, piece


def _merged(parts: Sequence[ArrayPart]) -> list[tuple[ArrayPart, Walk]]:
    """The walks over parts of one object, those of one argument as few; with the first part of each."""
    found: list[tuple[ArrayPart, Walk]] = []
    for _, own in groupby(parts, key=lambda part: part.argument):
        run = list(own)
        found += [(run[0], walk.normal) for walk in in_turn([part.walk for part in run])]
    return found


def _fitted(walk: Walk, part: ArrayPart, limits: DmaLimits) -> Iterator[Walk]:
    """The walk, or some that together are it, within the fields of descriptors."""
    size = part.argument.bits // 8
    _demand_words(walk, part, size)
    split = _within_wraps(walk, size, limits)
    if _fits(split, size, limits):
        yield split
        return
    for k in range(walk.extents[0]):
        offset = walk.offset + k * walk.strides[0]
        yield from _fitted(Walk(offset, walk.extents[1:], walk.strides[1:]), part, limits)


def _demand_words(walk: Walk, part: ArrayPart, size: int) -> None:
    """DMA engines move words of four bytes."""
    extents, strides = walk.extents or (1,), walk.strides or (1,)
    reason = ""
    if size < _WORD and strides[-1] != 1:
        reason = "its elements do not follow one another"
    elif extents[-1] * size % _WORD:
        reason = f"{extents[-1] * size} bytes follow one another"
    elif walk.offset * size % _WORD:
        reason = f"it begins at byte {walk.offset * size}"
    elif any(stride * size % _WORD for stride in strides[:-1]):
        reason = f"rows are {', '.join(str(stride * size) for stride in strides[:-1])} bytes apart"
    if reason:
        raise TargetError(
            f"transfers move words of {_WORD} bytes, and {part}, of {size} bytes an element, is not made of them: "
            f"{reason}",
            hint="let parts begin and end at multiples of four bytes in the last dimension",
        )


def _within_wraps(walk: Walk, size: int, limits: DmaLimits) -> Walk:
    """The walk with long inner loops in two."""
    if walk.is_contiguous():
        return walk
    unit = max(_WORD // size, 1)
    last = len(walk.extents) - 1
    inner = _divisor(walk.extents[last], limits.wrap * unit, unit)
    if inner and inner < walk.extents[last]:
        walk = walk.split(last, inner)
        last += 1
    if last and (inner := _divisor(walk.extents[last - 1], limits.wrap, 1)) and inner < walk.extents[last - 1]:
        walk = walk.split(last - 1, inner)
    return walk


def _divisor(extent: int, most: int, unit: int) -> int:
    """The largest divisor up to `most` that is a multiple of `unit`; 0 if there is none."""
    return next((n for n in range(min(extent, most), 0, -1) if extent % n == 0 and n % unit == 0), 0)


def _fits(walk: Walk, size: int, limits: DmaLimits) -> bool:
    """Whether a walk over elements of `size` bytes fits in the fields of a descriptor."""
    if walk.is_contiguous():
        return True
    extents, strides = walk.extents, walk.strides
    inner = [extents[-1] * size // _WORD, *extents[-2:-1]]
    return (
        len(extents) <= limits.dimensions + 1
        and (len(extents) <= limits.dimensions or extents[0] <= limits.iterations)
        and max(inner) <= limits.wrap
        and max(stride * size // _WORD for stride in strides) <= limits.step
    )
