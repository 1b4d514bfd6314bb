"""Shell of a kernel: its top module with AXI interfaces, which loads and stores arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ....target import Fpga
from ..lowering.arrays import BankedArray
from ..lowering.function import FunctionHardware
from ..lowering.memories import place_cell, place_memory
from ..lowering.ports import ArrayPorts
from ..lowering.top import HostArray, TopModule
from ..netlist.design import Signal
from .access import ArrayAccess, WordDrain, WordSource
from .masters import MemoryMaster, StreamMaster, add_control
from .plan import REGISTER_BITS, HostValue, InterfacePlan, ValueRegisters, plan_of
from .settings import InterfaceSettings


class AxiTop(TopModule):
    """The kernel in a shell: registers behind AXI4-Lite, arrays over AXI4 or AXI4-Stream, before and after it runs."""

    def __init__(self, kernel: FunctionHardware, taken: Collection[str], plan: InterfacePlan) -> None:
        self.plan = plan
        super().__init__(kernel, taken)

    def control(self) -> None:
        self.lite = add_control(self.builder, self.plan)
        self.masters = {port.name: MemoryMaster(self.builder, port, self.plan) for port in self.plan.ports}
        self.streams = {one.label: StreamMaster(self.builder, one) for one in self.plan.streams}
        self.read_values: list[tuple[ValueRegisters, Signal]] = []

    def pulses(self) -> dict[str, str]:
        return {"start": self.lite.run.name, "done": self.lite.ran.name}

    def argument(self, number: int, port: Signal) -> str:
        value = self.socket(port)
        place = self.plan.registers[number].place * REGISTER_BITS
        self.builder.drive(value, f"values[{place} +: {port.width}]")
        return value.name

    def result(self, number: int, port: Signal) -> str:
        found = self.socket(port)
        kept = self.builder.signal(f"{port.name}_kept", port.width)
        self.builder.register(kept, found.name, enable=self.lite.ran.name)
        self.read_values.append((self.plan.registers[len(self.arguments) + number], kept))
        return kept.name

    def array(self, ports: ArrayPorts, number: int) -> HostArray:
        transfer = self.plan.transfers[number]
        array, builder = ports.array, self.builder
        port = next((one for one in self.plan.ports if transfer in one.transfers), None)
        master = self.streams[transfer.label] if port is None else self.masters[port.name]
        word_bits = transfer.group_bits if port is None else port.word_bits
        source: WordSource | None = master.source(transfer) if transfer.loads else None
        drain: WordDrain | None = master.drain(transfer) if transfer.stores else None
        access = ArrayAccess(builder, ports.name, transfer, word_bits, source, drain)
        master.connect(transfer, access)
        banks = _Banks(self, ports, access)
        kept = range(array.banks) if port is None and transfer.loads and transfer.stores else ()
        placed = {bank: banks.place(bank) for bank in sorted({*banks.known, *kept})}
        access.finish(banks.read)
        return HostArray(array, placed)

    def finish(self) -> None:
        for master in self.masters.values():
            master.finish(self.lite)
        for stream in self.streams.values():
            stream.finish(self.lite)
        self.lite.finish(self.builder, self.read_values)


class _Banks:
    """The banks of an array that the shell uses beside the kernel, while the kernel does not run."""

    def __init__(self, top: AxiTop, ports: ArrayPorts, access: ArrayAccess) -> None:
        self.top, self.ports, self.access = top, ports, access
        self.known = {*ports.cell_drivers, *(bank for bank, _ in ports.words)}
        self.read: dict[int, str] = {}

    def place(self, bank: int) -> str:
        """The memory of a bank; the name of the instance."""
        if bank in self.ports.cell_drivers or self.ports.array.memory.is_register:
            return self._cell(bank)
        return self._memory(bank)

    def _cell(self, bank: int) -> str:
        builder, name, width = self.top.builder, self.ports.bank_name(bank), self.ports.array.memory.width
        if bank in self.ports.cell_drivers:
            enable, word = self.ports.cell_drivers[bank]
            q, we, d = (self.top.socket(one) for one in (self.ports.cells[bank], enable, word))
        else:
            q = builder.signal(f"{name}_q", width)
            we, d = builder.wire(f"{name}_we", 1, "1'b0"), builder.wire(f"{name}_d", width, f"{width}'d0")
        self.read[bank] = q.name
        write, data = we.name, d.name
        loads = self.access.writes(bank)
        if loads is not None:
            load = builder.wire(f"{name}_load_we", 1, loads).name
            write, data = f"{load} || {write}", f"{load} ? {self.access.written(bank)} : {data}"
        return place_cell(builder, name, width, q.name, write, data)

    def _memory(self, bank: int) -> str:
        top, name, array, access = self.top, self.ports.bank_name(bank), self.ports.array, self.access
        width, builder = array.memory.width, top.builder
        if bank in self.known:
            drivers, words, writing = top.bank(self.ports, bank)
        else:
            none = {"en": 1, "we": 1, "a": array.address_bits, "d": width}
            unused = [builder.wire(f"{name}_{part}", bits, f"{bits}'d0") for part, bits in none.items()]
            drivers, words, writing = {0: tuple(unused)}, {0: builder.signal(f"{name}_q", width)}, set()
        port = min(writing or drivers)
        used, write, address, data = drivers[port]
        loads = access.writes(bank)
        cases = [(access.storing, access.address.name)] if access.transfer.stores else []
        uses = [used.name, access.storing] if access.transfer.stores else [used.name]
        if loads is not None:
            load = builder.wire(f"{name}_load_we", 1, loads)
            uses.append(load.name)
            cases.append((load.name, access.write_address.name))
            write = builder.wire(f"{name}_h_we", 1, f"{load.name} || {write.name}")
            data = builder.wire(f"{name}_h_d", width, f"{load.name} ? {access.written(bank)} : {data.name}")
            writing = {*writing, port}
        chosen = "".join(f"{condition} ? {place} : " for condition, place in cases) + address.name
        shared = (
            builder.wire(f"{name}_h_en", 1, " || ".join(uses)), write,
            builder.wire(f"{name}_h_a", array.address_bits, chosen), data,
        )  # fmt: skip
        self.read[bank] = words[port].name
        return place_memory(builder, name, array, {**drivers, port: shared}, words, writing, access.enable)


def axi_top(
    values: Sequence[HostValue], settings: InterfaceSettings, target: Fpga
) -> Callable[[FunctionHardware, Collection[str]], AxiTop]:
    """What makes the shell around a kernel with these arguments and results."""
    return partial(_axi_top, values, settings, target)


def _axi_top(
    values: Sequence[HostValue],
    settings: InterfaceSettings,
    target: Fpga,
    kernel: FunctionHardware,
    taken: Collection[str],
) -> AxiTop:
    arrays: dict[int, BankedArray] = {}
    widths = {number: signal.width for number, signal in kernel.scalars.items()}
    for number, value in enumerate(kernel.tree.entry.arguments):
        if value in kernel.arrays and number not in kernel.scalars:
            arrays[number] = kernel.arrays[value].array
    count = len(kernel.tree.entry.arguments)
    for number, one in enumerate(kernel.results, start=count):
        if isinstance(one, ArrayPorts):
            arrays[number] = one.array
        else:
            widths[number] = one.width
    return AxiTop(kernel, taken, plan_of(values, arrays, widths, settings, target))
