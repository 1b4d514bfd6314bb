"""Plan of an interface: which array goes through which port in which words, and the registers of all else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ....errors import TargetError, nearest
from ....ir.module import Module
from ....ir.types import AlloType, TensorType
from ....ir.words import container_bits, is_signed
from ....poly import overwritten_arguments
from ....target import Fpga
from ....target.description import External
from ...arguments.parameters import parameters_of, results_of
from ..lowering.arrays import BankedArray
from .settings import InterfaceSettings

_NARROWEST = 32  # bits of a port of memory
REGISTER_BITS, ADDRESS_BITS = 32, 64
_FIRST = 16  # the address of the first register behind those that control


@dataclass(frozen=True, slots=True)
class HostValue:
    """An argument or a result as the host has it; `is_array`, or a number. Results are called `output_0`, ..."""

    label: str
    element: AlloType
    is_array: bool
    reads: bool
    writes: bool
    is_result: bool


@dataclass(frozen=True, slots=True)
class ArrayTransfer:
    """An array between the host and its banks on chip: elements of `bits` bits outside, `lanes` of them a cycle."""

    label: str
    array: BankedArray
    bits: int
    is_signed: bool
    lanes: int
    loads: bool
    stores: bool

    @property
    def group_bits(self) -> int:
        return self.lanes * self.bits

    @property
    def latency(self) -> int:
        """Cycles from the address of an element on chip to it."""
        return 0 if self.array.memory.is_register else self.array.memory.read

    @property
    def groups(self) -> int:
        return prod(self.array.memory.shape) // self.lanes

    def words(self, word_bits: int) -> int:
        """The words of a port that the array takes."""
        return -(-self.groups * self.group_bits // word_bits)


@dataclass(frozen=True, slots=True)
class MemoryPort:
    """A port of AXI4, `m_axi_<name>`, with the arrays that go through it one after the other."""

    name: str
    word_bits: int
    memory: External
    transfers: tuple[ArrayTransfer, ...]

    @property
    def loads(self) -> tuple[ArrayTransfer, ...]:
        return tuple(one for one in self.transfers if one.loads)

    @property
    def stores(self) -> tuple[ArrayTransfer, ...]:
        return tuple(one for one in self.transfers if one.stores)


@dataclass(frozen=True, slots=True)
class ValueRegisters:
    """The registers of a value: the address of the first one, and how many there are; results fill them by sign."""

    label: str
    offset: int
    count: int
    is_result: bool
    is_signed: bool = False

    @property
    def place(self) -> int:
        """The number of the first one among all behind those that control."""
        return (self.offset - _FIRST) // (REGISTER_BITS // 8)


@dataclass(frozen=True, slots=True)
class InterfacePlan:
    """All ports. `transfers` and `registers` are by the number of the argument, results behind arguments."""

    transfers: Mapping[int, ArrayTransfer]
    ports: tuple[MemoryPort, ...]
    streams: tuple[ArrayTransfer, ...]
    registers: Mapping[int, ValueRegisters]
    outstanding: int

    @property
    def written_registers(self) -> int:
        return sum(one.count for one in self.registers.values() if not one.is_result)

    @property
    def read_registers(self) -> int:
        return sum(one.count for one in self.registers.values() if one.is_result)


def host_values(module: Module) -> tuple[HostValue, ...]:
    """Arguments and results of the entry of a module."""
    overwritten = overwritten_arguments(module, module.top)
    found = []
    for number, one in enumerate(parameters_of(module)):
        found.append(_host_value(one.name, one.type, number not in overwritten, one.written, False))
    for number, kind in enumerate(results_of(module)):
        found.append(_host_value(f"output_{number}", kind, False, True, True))
    return tuple(found)


def _host_value(label: str, kind: AlloType | TensorType, reads: bool, writes: bool, is_result: bool) -> HostValue:
    element = kind.element if isinstance(kind, TensorType) else kind
    return HostValue(label, element, isinstance(kind, TensorType), reads, writes, is_result)


def plan_of(
    values: Sequence[HostValue],
    arrays: Mapping[int, BankedArray],
    widths: Mapping[int, int],
    settings: InterfaceSettings,
    target: Fpga,
) -> InterfacePlan:
    """The plan for the arrays and the numbers (their bits) that the kernel uses, by the number of the argument.

    Raises TargetError for settings that name what is no array, and for memory that the target does not describe.
    """
    _check_names(settings, values, {values[number].label for number in arrays})
    transfers = {n: _transfer(values[n], array, settings.word_bits) for n, array in sorted(arrays.items())}
    streams = tuple(one for one in transfers.values() if one.label in settings.streams)
    inside = [one for one in transfers.values() if one not in streams]
    ports = _ports(inside, settings, target)
    registers: dict[int, ValueRegisters] = {}
    offset = _FIRST
    in_memory = {one.label for one in inside}
    for is_read in (False, True):  # by the host
        for number, value in enumerate(values):
            bits = ADDRESS_BITS if value.label in in_memory else widths.get(number, 0)
            if bits and (value.is_result and not value.is_array) == is_read:
                count = -(-bits // REGISTER_BITS)
                registers[number] = ValueRegisters(value.label, offset, count, is_read, is_signed(value.element))
                offset += count * REGISTER_BITS // 8
    return InterfacePlan(transfers, ports, streams, registers, settings.outstanding)


def _transfer(value: HostValue, array: BankedArray, word_bits: int) -> ArrayTransfer:
    bits = container_bits(value.element)
    shape, dims = array.memory.shape, array.dims
    apart = dims[-1].canonical(shape[-1]).neighbours(shape[-1]) if shape else 1
    lanes = max(1, min(apart, word_bits // bits))
    return ArrayTransfer(value.label, array, bits, is_signed(value.element), lanes, value.reads, value.writes)


def _ports(transfers: Sequence[ArrayTransfer], settings: InterfaceSettings, target: Fpga) -> tuple[MemoryPort, ...]:
    """Each array has a port of its own, `gmem0`, `gmem1`, ..., unless it is given another one."""
    bundles, number = dict(settings.bundles or {}), 0
    arrays: dict[str, list[ArrayTransfer]] = {}
    for one in transfers:
        name = bundles.get(one.label)
        if name is None:
            while f"gmem{number}" in bundles.values():
                number += 1
            name, number = f"gmem{number}", number + 1
        arrays.setdefault(name, []).append(one)
    made = []
    for name, found in arrays.items():
        kinds = {_memory_of(one.label, settings, target): one.label for one in found}
        if len(kinds) > 1:
            (first, label), (second, other) = list(kinds.items())[:2]
            raise TargetError(
                f"'{label}' in {first.name} and '{other}' in {second.name} have one port, '{name}'",
                hint="give each a port of its own",
            )
        widest = max(one.group_bits for one in found)
        width = max(_NARROWEST, min(settings.word_bits, widest))
        made.append(MemoryPort(name, width, next(iter(kinds)), tuple(found)))
    return tuple(made)


def _memory_of(label: str, settings: InterfaceSettings, target: Fpga) -> External:
    if not target.external:
        raise TargetError(
            f"target '{target.name}' describes no memory beside the chip",
            hint="add a table [external.DDR] with latency and gigabytes to its file",
        )
    first = next(iter(target.external))
    if isinstance(settings.memory, str):
        return target.external[settings.memory]
    return target.external[(settings.memory or {}).get(label, first)]


def _check_names(settings: InterfaceSettings, values: Sequence[HostValue], used: Collection[str]) -> None:
    arrays = [value.label for value in values if value.is_array]
    kinds = settings.memory if isinstance(settings.memory, Mapping) else {}
    for setting, names in {"bundles": settings.bundles or {}, "streams": settings.streams, "memory": kinds}.items():
        for name in names:
            if name in arrays and setting != "streams" and name in settings.streams:
                raise TargetError(
                    f"{setting} of the interface names '{name}', which is a stream", hint="take one of the entries out"
                )
            if name in arrays and name not in used:
                raise TargetError(
                    f"{setting} of the interface names '{name}', which the kernel does not use",
                    hint="take the entry out",
                )
            if name in arrays:
                continue
            if any(value.label == name for value in values):
                raise TargetError(
                    f"{setting} of the interface names '{name}', which is a number and goes through a register",
                    hint="take the entry out",
                )
            listed = f"the arrays: {', '.join(arrays) or 'none'}"
            near = nearest(name, arrays)
            raise TargetError(
                f"{setting} of the interface names '{name}', which is no argument or result of the kernel",
                hint=f"{near} {listed}" if near else listed,
            )
