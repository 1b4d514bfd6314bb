"""Host of a kernel with AXI interfaces in a simulation: arguments in memory, registers, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...errors import InternalError
from ..arguments.parameters import Array
from .interface.plan import REGISTER_BITS, ArrayTransfer, InterfacePlan, MemoryPort
from .interface.traffic import CallTraffic, PortTraffic
from .simulate import Bus, SimulatedRun, Simulation

_PAGE = 4096
_BASE = 1 << 32  # the lowest address of arrays
_CONTROL, _ENABLE, _ENABLED, _ASKED = 0, 4, 8, 12  # addresses of registers
_ENDED, _FAILED = 1 << 1, 1 << 4


class BusHost:
    """The host of one simulation; `traffic` is that of the last run."""

    def __init__(self, model: Simulation, plan: InterfacePlan, frequency: float, seed: int | None) -> None:
        self._model, self._plan, self._seed = model, plan, seed
        self._bus = Bus(model, "s_axi_control")
        for port in plan.ports:
            interval = port.memory.interval(port.word_bits, frequency)
            self._bus.attach_memory(_memory(port), port.word_bits, port.memory.latency, interval)
        for one in plan.streams:
            if one.loads:
                self._bus.attach_stream(_source(one), one.group_bits, is_source=True)
            if one.stores:
                self._bus.attach_stream(_sink(one), one.group_bits, is_source=False)
        model.reset()
        self._seen = model.view("phases.seen")
        self.traffic: CallTraffic | None = None

    @property
    def kernel_start(self) -> int:
        """The cycle of the run in which the kernel began."""
        return int(self._seen[2])

    def run(
        self, holders: Mapping[int, Array], limit: int | None, moved: Callable[[], int] | None = None
    ) -> SimulatedRun:
        """Call the kernel with the memory of arguments and results, by number: it is read, and what is stored written.

        Raises InternalError if the registers say that something has failed.
        """
        self._seen[:] = 0
        self._bus.begin(self._seed)
        stored = self._place_arrays(holders)
        self._describe(holders)
        outcome = self._model.run(limit, moved)
        if not outcome.finished:
            self.traffic = None
            return outcome
        status = self._bus.found(0)
        if status & _FAILED or not status & _ENDED:
            raise InternalError(f"the control register of '{self._model.top}' is {status:#x} at the end of a call")
        for holder, data in stored:
            holder.reshape(-1).view(np.uint8)[:] = data[: holder.nbytes]
        self._take_results(holders)
        self.traffic = self._measured()
        return outcome

    def _place_arrays(self, holders: Mapping[int, Array]) -> list[tuple[Array, Array]]:
        """Arrays in memory and in streams, and which of them come back into which holders."""
        random = None if self._seed is None else np.random.default_rng(self._seed)
        numbers = {one.label: number for number, one in self._plan.transfers.items()}
        stored, place = [], _BASE
        for port in self._plan.ports:
            for one in port.transfers:
                holder, size = holders[numbers[one.label]], one.words(port.word_bits) * port.word_bits // 8
                data = _bytes(holder, size)
                start = place if random is None else place + int(random.integers(_PAGE * 8 // port.word_bits)) * (
                    port.word_bits // 8
                )
                self._bus.add_region(
                    _memory(port), start, data, holder.nbytes, reads=one.loads, writes=one.stores
                )
                register = self._plan.registers[numbers[one.label]]
                self._write(register.offset, register.count, start)
                place += -(-size // _PAGE) * _PAGE + 2 * _PAGE
                if one.stores:
                    stored.append((holder, data))
        for one in self._plan.streams:
            holder = holders[numbers[one.label]]
            if one.loads:
                self._bus.set_stream(_source(one), _bytes(holder, holder.nbytes), one.groups)
            if one.stores:
                data = _bytes(holder, holder.nbytes)
                self._bus.set_stream(_sink(one), data, one.groups)
                stored.append((holder, data))
        return stored

    def _describe(self, holders: Mapping[int, Array]) -> None:
        """ValueRegisters before and after the run."""
        for number, one in self._plan.registers.items():
            if not one.is_result and number not in self._plan.transfers:
                value = int.from_bytes(holders[number].tobytes(), "little")
                self._write(one.offset, one.count, value)
        self._bus.write(_ENABLE, 1)
        self._bus.write(_ENABLED, 1)
        self._bus.write(_CONTROL, 1)
        self._bus.wait()
        self._bus.write(_ASKED, 1)
        self._bus.read([_CONTROL])
        for one in self._plan.registers.values():
            if one.is_result:
                self._bus.read(range(one.offset, one.offset + one.count * 4, 4))

    def _write(self, offset: int, count: int, value: int) -> None:
        for number in range(count):
            part = value >> number * REGISTER_BITS
            self._bus.write(offset + number * REGISTER_BITS // 8, part & ((1 << REGISTER_BITS) - 1))

    def _take_results(self, holders: Mapping[int, Array]) -> None:
        place = 1  # the control register is read first
        for number, one in self._plan.registers.items():
            if one.is_result:
                data = b"".join(self._bus.found(place + n).to_bytes(4, "little") for n in range(one.count))
                value = int.from_bytes(data, "little", signed=one.is_signed)
                holder = holders[number].reshape(-1).view(np.uint8)
                bits = value & ((1 << 8 * holder.size) - 1)
                holder[:] = np.frombuffer(bits.to_bytes(holder.size, "little"), np.uint8)
                place += one.count

    def _measured(self) -> CallTraffic:
        _, start, run, ended, done = (int(number) for number in self._seen)
        ports = []
        for port in self._plan.ports:
            size = port.word_bits // 8
            bursts_read, read, bursts_written, written = self._bus.counts(_memory(port))
            ports.append(PortTraffic(port.name, bursts_read, read * size, bursts_written, written * size))
        return CallTraffic(run - start, ended - run, done - ended, tuple(ports))


def _bytes(holder: Array, size: int) -> Array:
    """A copy of the bytes of an array, with zeros up to a whole word behind them."""
    made = np.zeros(size, np.uint8)
    made[: holder.nbytes] = holder.reshape(-1).view(np.uint8)
    return made


def _memory(port: MemoryPort) -> str:
    return f"m_axi_{port.name}"


def _source(one: ArrayTransfer) -> str:
    return f"s_axis_{one.label}"


def _sink(one: ArrayTransfer) -> str:
    return f"m_axis_{one.label}"
