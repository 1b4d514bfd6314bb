"""Puts, gets and looks of a region as hardware: their FIFO, when they happen, and the element that is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from mlir import ir

from ....ir.access import asks_stream, looks, may_get, may_put, puts_side, sees_element, stored
from ....ir.walk import location_of
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .flow import RegionFlow, Timed
from .function_streams import FunctionStreams


class StreamRegion(Protocol):
    """What puts and gets need of the hardware of their region."""

    builder: ModuleBuilder
    flow: RegionFlow
    streams: FunctionStreams
    guards: list[tuple[ir.Operation, int]]
    values: dict[ir.Value, Timed]

    def cycle(self, op: ir.Operation) -> int: ...

    def latency(self, op: ir.Operation) -> int: ...

    def at(self, value: ir.Value, cycle: int) -> Signal: ...

    def held_guards(self, cycle: int, guards: Sequence[tuple[ir.Operation, int]]) -> Iterator[str]: ...


def stream_event(region: StreamRegion, op: ir.Operation) -> None:
    """The hardware of a put, a get, a look, a try or a question in its cycle; the last two never wait."""
    builder, flow, cycle, puts = region.builder, region.flow, region.cycle(op), puts_side(op)
    ports, place = region.streams.place(op.operands[0], lambda value: region.at(value, cycle))
    bits = max(1, (ports.array.banks - 1).bit_length())
    chosen = None if place.chosen is None else builder.wire(f"{ports.name}_element", bits, place.chosen)
    active = " && ".join(region.held_guards(cycle, region.guards)) or "1'b1"
    can, at = ports.can(place, chosen, puts), location_of(op)
    event = flow.event(op, cycle, f"({active})", "1'b1" if asks_stream(op) else can)
    region.streams.note(event, ports, place, chosen)
    answer = builder.wire(f"{ports.name}_{'room' if puts else 'some'}", 1, can, at=at) if asks_stream(op) else None
    if not looks(op):
        fire = event.fire.name if answer is None else f"{event.fire.name} && {answer.name}"
        ports.use(place, chosen, puts, fire, region.at(stored(op), cycle).fit(ports.width) if may_put(op) else "")
    found: list[Signal] = []
    if sees_element(op) or may_get(op):
        word = ports.got(place, chosen)
        word = word if answer is None else f"{answer.name} ? {word} : {ports.width}'d0"
        found.append(builder.wire(f"{ports.name}_got", ports.width, word, at=at))
    if answer is not None:
        found.append(answer if may_put(op) or may_get(op) else builder.wire(f"{answer.name}_not", 1, f"!{answer.name}"))
    if event.done is not None:
        found = [_kept(region, one, event.fire, event.done) for one in found]
    latency = region.latency(op)
    for result, one in zip(op.results, found, strict=True):
        region.values[result] = Timed(flow.delayed(one, cycle, latency), cycle + latency)


def _kept(region: StreamRegion, found: Signal, fire: Signal, done: Signal) -> Signal:
    """An element that was got while others of its cycle still wait."""
    kept = region.builder.signal(f"{found.name}_kept", found.width)
    region.builder.register(kept, found.name, enable=fire.name)
    return region.builder.wire(f"{found.name}_or_kept", found.width, f"{done.name} ? {kept.name} : {found.name}")
