"""Datapath of one scheduled region: each operation in its cycle, and delay lines for values that wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mlir import ir

from ....errors import InternalError
from ....ir.access import (
    access_map,
    accessed,
    base_of,
    is_access,
    is_at_stream,
    is_load,
    is_store,
    stored,
    subscripts,
)
from ....ir.streams import is_stream_type
from ....ir.walk import location_of, statements
from ....poly.covers import cover_of
from ....timing.pipeline import ScheduledRegion
from ....timing.problem.between import passes_by
from ....timing.problem.operators import no_hardware
from ....timing.problem.region import RegionNode
from ..netlist.design import Signal
from .arrays import BankPlace
from .flow import RegionFlow, Timed
from .linear import SubscriptNumber
from .ports import ArrayPorts, PortedAccess
from .region_writes import RegionWrite, meets
from .stream_events import stream_event
from .subscripts import of_index, of_map, of_value

if TYPE_CHECKING:
    from .function import FunctionHardware

_SILENT = ("memref.alloc", "memref.get_global", "affine.yield", "scf.yield", "memref.dealloc",
           "func.return", "scf.condition")  # fmt: skip


class RegionHardware:
    """The hardware of one region; `flow` says of each cycle whether an iteration is there, and whether it goes on."""

    def __init__(
        self,
        function: FunctionHardware,
        number: int,
        scheduled: ScheduledRegion,
        flow: RegionFlow,
        loops: Mapping[ir.Value, Signal],
    ) -> None:
        self.function = function
        self.builder, self.streams = function.builder, function.streams
        self.number = number
        self.scheduled, self.schedule = scheduled, scheduled.schedule
        self.flow = flow
        self.valid = flow.valid
        self.nodes = {node.op: node for node in scheduled.graph.region.nodes}
        self.meeting = {(e.source, e.sink) for e in scheduled.graph.edges if not (e.distance or e.order)}
        self.values: dict[ir.Value, Timed] = {value: Timed(signal, 0) for value, signal in loops.items()}
        self.guards: list[tuple[ir.Operation, int]] = []
        self.conditions: dict[ir.Operation, Timed] = {}
        self.writes: dict[ir.Value, list[RegionWrite]] = {}
        self.written: dict[int, RegionWrite] = {}  # the same, by node
        self.reads: dict[tuple[ir.Value, int], tuple[Timed, int]] = {}  # by element: the word, and who has read it
        self.held: dict[ir.Value, Signal] = {}
        self.own: set[ir.Operation] = set()
        function.units.bind(scheduled)

    # -- values --------------------------------------------------------------------------------------------

    def cycle(self, op: ir.Operation) -> int:
        """When an operation starts."""
        table = self.schedule.cycles[self.nodes[op].index]
        if table.size != 1:
            raise InternalError(f"operation {op.name} still has copies")
        return int(table.reshape(-1)[0])

    def latency(self, op: ir.Operation) -> int:
        """The registers between the operands of an operation and its result."""
        return self.schedule.problem.operations[self.nodes[op].index].latency

    def timed(self, value: ir.Value) -> Timed:
        """A value, computed here if it is wires of others."""
        found = self.values.get(value)
        if found is None:
            found = self._found(value)
            self.values[value] = found
        return found

    def _found(self, value: ir.Value) -> Timed:
        if isinstance(value.owner, ir.Block) or value in self.function.places or value in self.function.given:
            return Timed(self.function.stable(value), None)
        op = value.owner.operation
        if op in self.own:
            raise InternalError(f"the value of {op.name} is used before it is computed")
        return self._wires(op)

    def at(self, value: ir.Value, cycle: int) -> Signal:
        """A value in a cycle of the iteration."""
        return self.later(self.timed(value), cycle)

    def later(self, timed: Timed, cycle: int) -> Signal:
        """What is there in a later cycle."""
        if timed.ready is None:
            return timed.signal
        if cycle < timed.ready:
            raise InternalError(f"'{timed.signal.name}' of cycle {timed.ready} is used in cycle {cycle}")
        return self.flow.delayed(timed.signal, timed.ready, cycle - timed.ready)

    def hold(self, value: ir.Value) -> Signal:
        """A value of this region for those that run later."""
        if value not in self.held:
            self.held[value] = self.flow.kept(self.timed(value))
        return self.held[value]

    # -- operations ----------------------------------------------------------------------------------------

    def run(self, body: tuple[ir.Operation, ...]) -> None:
        """Make the hardware of all operations, in the order of the text."""
        for op in body:
            self._collect(op)
        for op in body:
            self._operation(op)
        for base, writes in self.writes.items():
            self._finish_writes(base, self.function.arrays_of(base), writes)
        self.function.waits += self.flow.finish()
        self.function.places.update((result, self) for op in self.own for result in op.results)

    def _collect(self, op: ir.Operation) -> None:
        self.own.add(op)
        for region in op.regions:
            for block in region.blocks:
                for inner in statements(block):
                    self._collect(inner)

    def _operation(self, op: ir.Operation) -> None:
        if any(is_stream_type(result.type) for result in op.results):
            return
        if op.name in _SILENT:
            for result in op.results:
                self.function.arrays_of(result)
        elif op.name in ("affine.if", "scf.if"):
            self._condition(op)
        elif is_at_stream(op):
            stream_event(self, op)
        elif is_access(op):
            self._access(op)
        elif op.regions or not len(op.results):
            raise no_hardware(op)
        elif op.name == "arith.constant":
            self.values[op.results[0]] = Timed(self.function.operations.constant(op), None)
        elif op in self.nodes:
            cycle, latency = self.cycle(op), self.latency(op)
            operands = [self.at(value, cycle) for value in op.operands]
            made = self.function.operations.result(op, operands, latency, self.flow.after(cycle, latency))
            self.values[op.results[0]] = Timed(made, cycle + latency)
        else:
            self.values[op.results[0]] = self._wires(op)

    def _wires(self, op: ir.Operation) -> Timed:
        """An operation that takes no time: it is there when its operands are."""
        if op.name == "arith.constant":
            return Timed(self.function.operations.constant(op), None)
        given = [self.timed(value) for value in op.operands]
        ready = max((timed.ready for timed in given if timed.ready is not None), default=None)
        operands = [timed.signal if ready is None else self.later(timed, ready) for timed in given]
        if op.name == "affine.apply":
            return Timed(self.function.applied(op, self.subscript_numbers(list(op.operands), operands)), ready)
        return Timed(self.function.operations.result(op, operands, 0), ready)

    def _index_at(self, cycle: int, value: ir.Value) -> SubscriptNumber:
        return of_value(self.at(value, cycle), *self.function.limits(value))

    def subscript_numbers(self, values: list[ir.Value], signals: list[Signal]) -> list[SubscriptNumber]:
        limits = self.function.limits
        return [of_value(signal, *limits(value)) for value, signal in zip(values, signals, strict=True)]

    # -- conditions ----------------------------------------------------------------------------------------

    def _condition(self, op: ir.Operation) -> None:
        if op.name == "affine.if":
            given = [self.timed(value) for value in op.operands]
            ready = max((timed.ready for timed in given if timed.ready is not None), default=None)
            signals = [timed.signal if ready is None else self.later(timed, ready) for timed in given]
            made = self.function.condition(op, self.subscript_numbers(list(op.operands), signals))
            self.conditions[op] = Timed(made, ready)
        else:
            self.conditions[op] = self.timed(op.operands[0])
        yields: list[list[ir.Value]] = []
        for number, region in enumerate(op.regions):
            self.guards.append((op, number))
            for block in region.blocks:
                inner = statements(block)
                for one in inner:
                    self._operation(one)
                if inner and inner[-1].name in ("scf.yield", "affine.yield"):
                    yields.append(list(inner[-1].operands))
            self.guards.pop()
        for number, result in enumerate(op.results):
            cycle, latency = self.cycle(op), self.latency(op)
            condition = self.later(self.conditions[op], cycle)
            width = self.function.operations.width(result)
            first, second = (self.at(branch[number], cycle).fit(width) for branch in yields)
            made = self.builder.wire("selected", width, f"{condition.fit(1)} ? {first} : {second}", at=location_of(op))
            self.values[result] = Timed(self.flow.delayed(made, cycle, latency), cycle + latency)

    def _active(self, cycle: int, guards: list[tuple[ir.Operation, int]]) -> str:
        """The condition under which something happens in a cycle."""
        return " && ".join([self.valid[cycle].name, *self.held_guards(cycle, guards)])

    def held_guards(self, cycle: int, guards: Sequence[tuple[ir.Operation, int]]) -> Iterator[str]:
        """The conditions of guards in a cycle."""
        for op, branch in guards:
            condition = self.later(self.conditions[op], cycle)
            yield condition.fit(1) if branch == 0 else f"!{condition.fit(1)}"

    # -- arrays --------------------------------------------------------------------------------------------

    def _access(self, op: ir.Operation) -> None:
        node, base = self.nodes[op], base_of(accessed(op))
        ports = self.function.arrays_of(base)
        cycle = self.cycle(op)
        known = partial(self._index_at, cycle)
        read = known if ports.array.banks == 1 else partial(of_index, leaf=known)  # banks are told by what indices are
        given = [read(value) for value in subscripts(op)]
        made = access_map(op)
        place = ports.array.place(given if made is None else of_map(made, given))
        bits = max(1, (ports.array.banks - 1).bit_length())
        chosen = None if place.chosen is None else self.builder.common(f"{ports.name}_bank", bits, place.chosen)
        if is_load(op) and node.forwarded:
            self.values[op.results[0]] = Timed(self._passed(node, ports, place, chosen, cycle), cycle)
        elif is_store(op):
            self._write(node, base, ports, place, chosen, cycle)
        elif ports.array.memory.is_register:
            word = self._read_cells(node, ports, place, chosen, cycle)
            self.values[op.results[0]] = Timed(word, cycle)
        else:
            found = self._read(node, base, ports, place, chosen, cycle)
            self.values[op.results[0]] = self._behind_writes(node, base, found, cycle + self.latency(op))

    def _write(
        self, node: RegionNode, base: ir.Value, ports: ArrayPorts, place: BankPlace, chosen: Signal | None, cycle: int
    ) -> None:
        width = ports.array.memory.width
        data = self.at(stored(node.op), cycle).fit(width)
        active = self._active(cycle, self.guards)
        made = RegionWrite(node, place, active, chosen, data, tuple(self.guards))
        self.writes.setdefault(base, []).append(made)
        self.written[node.index] = made
        if ports.array.memory.is_register:
            for bank in place.banks:
                own = "" if chosen is None else f" && {chosen.name} == {chosen.width}'d{bank}"
                ports.write_cell(bank, f"({self.flow.once(active, cycle)}{own})", data, cycle)

    def _finish_writes(self, base: ir.Value, ports: ArrayPorts, writes: list[RegionWrite]) -> None:
        """Give writes ports; of those that write one element in an iteration, the last one's is that of all."""
        if ports.array.memory.is_register:
            return
        following: dict[int, int] = {}  # by write, the next one of its element
        last: dict[int, int] = {}
        for number, write in enumerate(writes):
            element = self._element(write.node)
            if element in last:
                following[last[element]] = number
            last[element] = number
        before: dict[int, list[RegionWrite]] = {}
        for number, write in enumerate(writes):
            later = following.get(number)
            if later is not None and writes[later].node.index < self._between(write.node):
                before[later] = [*before.pop(number, ()), write]
                continue
            self._write_port(ports, write, before.pop(number, []))

    def _between(self, node: RegionNode) -> float:
        """What keeps an access from sharing a port with others of its element."""
        memories = self.schedule.problem.memories
        return next((m.between[node.index] for m in memories if node.index in m.between), -1)

    def _before(self, node: RegionNode) -> list[RegionWrite]:
        """The writes so far that may be of the element of an access."""
        near = self.scheduled.graph.region.near[node.index]
        return [self.written[one.index] for one in near if one.index in self.written]

    def _write_port(self, ports: ArrayPorts, write: RegionWrite, before: list[RegionWrite]) -> None:
        """One write, which takes along what is written before where its own condition does not hold."""
        op, data = write.node.op, write.data
        cycle, width = self.cycle(op), ports.array.memory.width
        own = list(self.held_guards(cycle, write.guards))
        guards = [own, *(list(self.held_guards(cycle, one.guards)) for one in reversed(before))]
        any_of = [" && ".join(one) or "1'b1" for one in guards]
        if own and before:
            words = [data, *(self.at(stored(one.node.op), cycle).fit(width) for one in reversed(before))]
            cases = zip(any_of[:-1], words[:-1], strict=True)
            data = "".join(f"({one}) ? {word} : " for one, word in cases) + words[-1]
        active = write.condition
        if own and before:
            active = f"{self.valid[cycle].name} && ({' || '.join(f'({one})' for one in any_of)})"
        at = location_of(op)
        address = self.builder.common(f"{ports.name}_to", ports.array.address_bits, write.place.address, at=at)
        ports.accesses.append(
            PortedAccess(
                self.number, cycle, self.schedule.interval, True, write.place, self.flow.once(active, cycle), address,
                write.chosen, data, {}, at,
            )
        )  # fmt: skip

    def _passed(self, node: RegionNode, ports: ArrayPorts, place: BankPlace, chosen: Signal | None,
                cycle: int) -> Signal:  # fmt: skip
        """What a store of the same iteration has written for certain, or others have behind it under conditions."""
        writes = self._before(node)
        cover = cover_of([write.node for write in writes], node)
        if cover is None:
            raise InternalError("a value is forwarded from no store")
        first = next(number for number, write in enumerate(writes) if write.node is cover)
        width = ports.array.memory.width
        text = self.at(stored(cover.op), cycle).fit(width)
        behind = [write for write in writes[first + 1 :] if set(write.place.banks) & set(place.banks)]
        for write in behind:
            own, at = write.chosen, self.cycle(write.node.op)
            earlier = None if own is None else self.flow.delayed(own, at, cycle - at)
            met = meets(replace(write, chosen=earlier), place, chosen) or ""
            condition = (" && ".join(self.held_guards(cycle, write.guards)) or "1'b1") + met
            text = f"({condition}) ? {self.at(stored(write.node.op), cycle).fit(width)} : {text}"
        if not behind:
            return self.at(stored(cover.op), cycle)
        return self.builder.wire(ports.name, width, text, at=location_of(node.op))

    def _read_cells(
        self, node: RegionNode, ports: ArrayPorts, place: BankPlace, chosen: Signal | None, cycle: int
    ) -> Signal:
        """The element in registers, or what is written to it in the same cycle of the same iteration."""
        width = ports.array.memory.width
        *others, last = place.banks
        text = "".join(
            f"{chosen.name} == {chosen.width}'d{bank} ? {ports.cell(bank).name} : " for bank in others if chosen
        )
        text += ports.cell(last).name
        for write in self._before(node):  # the last one is asked first
            if self.cycle(write.node.op) == cycle and (met := meets(write, place, chosen)) is not None:
                text = f"({write.condition}{met}) ? {write.data} : {text}"
        return self.builder.wire(ports.name, width, text, at=location_of(node.op))

    def _behind_writes(self, node: RegionNode, base: ir.Value, word: Timed, ready: int) -> Timed:
        """What a read finds behind writes of its element in the same iteration, which may still be on their way."""
        before = self._before(node)
        met = (write for write in before if passes_by(write.node, node, (one.node for one in before)))
        if not (writes := [write for write in met if (write.node.index, node.index) in self.meeting]):
            return word
        width = self.function.arrays_of(base).array.memory.width
        text = self.later(word, ready).fit(width)
        for write in writes:
            condition = " && ".join(self.held_guards(ready, write.guards)) or "1'b1"
            text = f"({condition}) ? {self.at(stored(write.node.op), ready).fit(width)} : {text}"
        return Timed(self.builder.wire("behind", width, text, at=location_of(node.op)), ready)

    def _read(
        self, node: RegionNode, base: ir.Value, ports: ArrayPorts, place: BankPlace, chosen: Signal | None, cycle: int
    ) -> Timed:
        """The word that a port reads; a second read of an element takes that of the first."""
        key = (base, self._element(node))
        known = self.reads.get(key)
        if known is not None and known[1] > self._between(node):
            return known[0]
        width, latency, at = ports.array.memory.width, self.latency(node.op), location_of(node.op)
        address = self.builder.common(f"{ports.name}_at", ports.array.address_bits, place.address, at=at)
        results = {bank: self.builder.signal(f"{ports.name}_read", width) for bank in place.banks}
        ports.accesses.append(
            PortedAccess(
                self.number, cycle, self.schedule.interval, False, place,
                (self.flow.once if latency else self.flow.at_turn)(self.valid[cycle].name, cycle),
                address, chosen, "", results, at,
            )
        )  # fmt: skip
        *others, last = place.banks
        text = results[last].name
        if chosen is not None:
            which = self.flow.asked(chosen, latency)
            for bank in others:
                text = f"{which.name} == {which.width}'d{bank} ? {results[bank].name} : {text}"
        word = results[last] if chosen is None else self.builder.wire(f"{ports.name}_word", width, text)
        word = self.flow.settled(word, cycle, latency) if latency else self.flow.steady(word, cycle)
        made = Timed(word, cycle + latency)
        self.reads[key] = (made, node.index)
        return made

    def _element(self, node: RegionNode) -> int:
        """A number for the element that an access touches; equal ones for equal elements, if that is certain."""
        if None in node.forms:
            return -1 - node.index
        for memory in self.schedule.problem.memories:
            if node.index in memory.uses:
                return int(memory.uses[node.index].elements.reshape(-1)[0])
        return -1 - node.index
