"""Top module of a simulation: the kernel with a memory for each bank of its arguments and results."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ....ir.names import unique_name
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Direction, Signal
from .arrays import BankedArray
from .function import FunctionHardware
from .memories import place_cell, place_memory
from .ports import ArrayPorts


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array that the host fills or reads: its banks by number, with the names of their memories."""

    array: BankedArray
    banks: dict[int, str]


@dataclass(frozen=True, slots=True)
class KeptArray:
    """An array or a number that stays from call to call, with the bits of its elements at first."""

    place: HostArray
    contents: tuple[int, ...]


class TopModule:
    """The kernel with a memory for each bank of its arguments and results; `taken` are names of other modules."""

    def __init__(self, kernel: FunctionHardware, taken: Collection[str], suffix: str = "top") -> None:
        self.kernel = kernel
        builder = self.builder = ModuleBuilder(unique_name(f"{kernel.name}_{suffix}", set(taken)))
        self.sockets = {"clk": "clk", "rst": "rst", "en": "en", "start": "start", "done": "done"}
        self._control()
        en = Signal("en", 1)
        builder.module.signals.append(en)
        builder.drive(en, "1'b1")
        stuck = Signal("stuck", 1)
        if kernel.waiting is None:
            builder.drive(stuck, "1'b0")
        else:
            self.sockets[kernel.waiting.name] = stuck.name
        self.arguments: list[HostArray | str | None] = []
        for number, value in enumerate(kernel.tree.entry.arguments):
            if number in kernel.scalars:
                self.arguments.append(self._number(kernel.scalars[number]))
            elif value in kernel.arrays:
                self.arguments.append(self._array(kernel.arrays[value]))
            else:
                self.arguments.append(None)
        self.results: list[HostArray | str] = [
            self._array(one) if isinstance(one, ArrayPorts) else self._result(one) for one in kernel.results
        ]
        self.states = tuple(
            KeptArray(self._array(ports), tuple(kernel.initial(symbol))) for symbol, ports in kernel.states.items()
        )
        builder.instance(kernel.name, "kernel", {}, self.sockets)

    def _control(self) -> None:
        """What begins a call and what says that it has ended."""
        for name in ("clk", "rst", "start"):
            self.builder.port(name, 1, Direction.INPUT)
        for name in ("done", "stuck"):
            self.builder.port(name, 1, Direction.OUTPUT)

    def _result(self, port: Signal) -> str:
        """A number that is a result."""
        out = self.builder.port(port.name, port.width, Direction.OUTPUT)
        self.sockets[port.name] = out.name
        return out.name

    def _cell(self, name: str, width: int, value: str, write: str, data: str) -> str:
        """A register of an array or of a number; the name of its instance."""
        return place_cell(self.builder, name, width, value, write, data)

    def _memory(
        self, name: str, array: BankedArray, drivers: Mapping[int, tuple[Signal, ...]], words: Mapping[int, Signal],
        writing: set[int],
    ) -> str:  # fmt: skip
        """The memory of one bank; the name of its instance."""
        return place_memory(self.builder, name, array, drivers, words, writing)

    def _number(self, port: Signal) -> str:
        value = self._socket(port)
        return self._cell(port.name, port.width, value.name, "1'b0", f"{port.width}'d0")

    def _socket(self, port: Signal) -> Signal:
        """A signal that is connected to a port of the kernel."""
        made = self.builder.signal(port.name, port.width)
        self.sockets[port.name] = made.name
        return made

    def _array(self, ports: ArrayPorts) -> HostArray:
        banks = {}
        width = ports.array.memory.width
        for bank, (enable, word) in ports.cell_drivers.items():
            q, we, d = (self._socket(one) for one in (ports.cells[bank], enable, word))
            banks[bank] = self._cell(ports.bank_name(bank), width, q.name, we.name, d.name)
        for bank in sorted({bank for bank, _ in ports.words}):
            numbers = [port for of, port in ports.words if of == bank]
            drivers = {port: tuple(map(self._socket, ports.drivers[bank, port])) for port in numbers}
            words = {port: self._socket(ports.words[bank, port]) for port in numbers}
            writing = {port for of, port in ports.writing if of == bank}
            banks[bank] = self._memory(ports.bank_name(bank), ports.array, drivers, words, writing)
        return HostArray(ports.array, banks)
