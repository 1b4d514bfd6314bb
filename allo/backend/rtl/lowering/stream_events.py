"""Puts, gets and looks of a region as hardware: their FIFO, when they happen, and the element that is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from mlir import ir

from ....ir.access import is_peek, is_put, stored
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
    """The hardware of a put, a get or a look in its cycle."""
    builder, flow, cycle, puts = region.builder, region.flow, region.cycle(op), is_put(op)
    ports, place = region.streams.place(op.operands[0], lambda value: region.at(value, cycle))
    bits = max(1, (ports.array.banks - 1).bit_length())
    chosen = None if place.chosen is None else builder.wire(f"{ports.name}_element", bits, place.chosen)
    active = " && ".join(region.held_guards(cycle, region.guards)) or "1'b1"
    event = flow.event(op, cycle, f"({active})", ports.can(place, chosen, puts))
    word = region.at(stored(op), cycle).fit(ports.width) if puts else ""
    if not is_peek(op):
        ports.use(place, chosen, puts, event.fire, word)
    region.streams.note(event, ports, place, chosen, is_put=puts)
    if puts:
        return
    found = builder.wire(f"{ports.name}_got", ports.width, ports.got(place, chosen), at=location_of(op))
    if event.done is not None:
        found = _kept(region, found, event.fire, event.done)
    latency = region.latency(op)
    region.values[op.results[0]] = Timed(flow.delayed(found, cycle, latency), cycle + latency)


def _kept(region: StreamRegion, found: Signal, fire: Signal, done: Signal) -> Signal:
    """An element that was got while others of its cycle still wait."""
    kept = region.builder.signal(f"{found.name}_kept", found.width)
    region.builder.register(kept, found.name, enable=fire.name)
    return region.builder.wire(f"{found.name}_or_kept", found.width, f"{done.name} ? {kept.name} : {found.name}")
