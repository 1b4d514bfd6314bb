"""Limits of arrays of processors that the verifier of MLIR-AIE does not look at, checked on what is emitted."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import prod

from ...errors import TargetError
from ...mapping import ArrayPlan, Route, RuntimeSequence, ShimTransfer, TokenWait
from ...target import TileKind
from .check_memory import check_memories
from .check_ports import check_ports

_WORD = 4


def check_plan(plan: ArrayPlan, sequence: RuntimeSequence) -> None:
    """Raises TargetError for a program that hardware would drop parts of, wait for, or give other numbers for.

    Where descriptors, waits and objects are what this project makes itself, an error is a mistake of its own; it says
    what is wrong all the same.
    """
    routes = {route.name: route for route in plan.routes}
    state = _Controller(plan, routes)
    for step in sequence.steps:
        if step.route not in routes:
            raise TargetError(f"the sequence names '{step.route}', and there is no such FIFO")
        if isinstance(step, TokenWait):
            state.wait(step)
        else:
            _check_descriptor(plan, step)
            state.start(step)
    for route in plan.routes:
        _check_amount(route, sequence)
    _check_objects(plan)
    check_ports(plan)
    check_memories(plan)


@dataclass(slots=True)
class _Controller:
    """What has been started, and has not been waited for, while a sequence runs."""

    plan: ArrayPlan
    routes: dict[str, Route]
    running: dict[str, deque[ShimTransfer]] = field(default_factory=dict)

    def start(self, transfer: ShimTransfer) -> None:
        own = self.running.setdefault(transfer.route, deque())
        if len(own) >= self.plan.array.queue:
            raise TargetError(
                f"'{transfer.route}' has {len(own)} transfers that have not ended, and its queue takes "
                f"{self.plan.array.queue}: hardware drops one more",
                hint="wait for one of them first",
            )
        shim = self.routes[transfer.route].shim
        for name, others in self.running.items():
            if self.routes[name].shim == shim and any(other.descriptor == transfer.descriptor for other in others):
                raise TargetError(
                    f"descriptor {transfer.descriptor} of shim tile ({shim}, 0) is used by '{name}' when "
                    f"'{transfer.route}' writes it",
                    hint="wait for that transfer first",
                )
        own.append(transfer)

    def wait(self, step: TokenWait) -> None:
        own = self.running.get(step.route, deque())
        if not any(transfer.token for transfer in own):
            raise TargetError(
                f"the sequence waits for '{step.route}', of which no transfer that runs has a token: it waits for ever",
                hint="let the transfer have a token (issue_token)",
            )
        while not own.popleft().token:
            pass


def _check_descriptor(plan: ArrayPlan, transfer: ShimTransfer) -> None:
    limits = plan.array.tiles[TileKind.SHIM].dma
    walk, size = transfer.walk, transfer.argument.bits // 8
    name = f"the transfer of '{transfer.argument.name}' over '{transfer.route}'"
    if not 0 <= transfer.descriptor < limits.descriptors:
        raise TargetError(f"{name} has descriptor {transfer.descriptor}, and there are {limits.descriptors}")
    last = walk.offset + sum((n - 1) * s for n, s in zip(walk.extents, walk.strides, strict=True))
    if walk.offset < 0 or last >= prod(transfer.argument.shape):
        raise TargetError(f"{name} goes on to element {last}, and there are {prod(transfer.argument.shape)}")
    if len(walk) * size % _WORD or walk.offset * size % _WORD:
        amount = f"{len(walk) * size} bytes from byte {walk.offset * size} on"
        raise TargetError(f"{name} moves {amount}, not words of {_WORD}")
    if walk.is_contiguous():
        return
    if len(walk.extents) > limits.dimensions + 1:
        raise TargetError(f"{name} has {len(walk.extents)} loops, and descriptors {limits.dimensions} and an iteration")
    if len(walk.extents) > limits.dimensions and walk.extents[0] > limits.iterations:
        raise TargetError(f"{name} has {walk.extents[0]} iterations, and there are {limits.iterations} at most")
    for extent in (walk.extents[-1] * size // _WORD, *walk.extents[-2:-1]):
        if extent > limits.wrap:
            raise TargetError(f"{name} has a loop of {extent}, and {limits.wrap} is the longest")
    for stride in walk.strides:
        if (words := stride * size // _WORD) > limits.step:
            raise TargetError(f"{name} has a stride of {words} words, and {limits.step} is the longest")
    if size < _WORD and walk.strides[-1] != 1:
        raise TargetError(f"{name} moves single elements of {size} bytes, not words of {_WORD}")
    if any(stride * size % _WORD for stride in walk.strides[:-1]):
        raise TargetError(f"{name} has strides that are no multiples of {_WORD} bytes")


def _check_amount(route: Route, sequence: RuntimeSequence) -> None:
    """What transfers move, and what cores take or give, is the same."""
    moved = sum(len(transfer.walk) for transfer in sequence.transfers(route.name))
    taken = route.rounds * sum(fifo.length for fifo in route.fifos)
    if moved != taken:
        whom = "cores take" if route.to_core else "cores give"
        raise TargetError(f"transfers over '{route.name}' move {moved} elements, and {whom} {taken}")


def _check_objects(plan: ArrayPlan) -> None:
    for fifo in plan.fifos.arrays:
        if fifo.bytes % _WORD:
            raise TargetError(
                f"an object of '{fifo.name}' has {fifo.bytes} bytes, and DMA engines move words of {_WORD}",
                hint="let parts of arrays be multiples of four bytes",
            )
    for stream in plan.fifos.streams:
        if not stream.shared and stream.bytes % _WORD:
            raise TargetError(
                f"an object of stream '{stream.stream.name}' has {stream.bytes} bytes, and '{stream.producer}' at "
                f"{plan.placement.tile(stream.producer)} is not beside '{stream.consumer}' at "
                f"{plan.placement.tile(stream.consumer)}: DMA engines move words of {_WORD}",
                hint="put blocks of several elements",
            )
