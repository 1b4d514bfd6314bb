"""Connections of an instance with an array of its caller: ports of banks, registers, or one register of many."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....errors import TargetError
from ....ir.access import callee_name
from ....ir.registers import bank_place, register_place
from ....ir.walk import location_of
from ..netlist.builder import ModuleBuilder, OpenOutput
from .ports import ArrayPorts, DrivenPort


@dataclass(frozen=True, slots=True)
class ArrayCall:
    """An array of a call: in the callee, in the caller, and the number of the call there; `operand` if it is one."""

    op: ir.Operation
    operand: ir.Value | None
    inner: ArrayPorts
    outer: ArrayPorts
    region: int


def connect(builder: ModuleBuilder, call: ArrayCall, sockets: dict[str, str]) -> None:
    """Connect the instance. Raises TargetError for arrays that are made of different memories."""
    inner, outer = call.inner, call.outer
    prefix = f"{callee_name(call.op)}_"
    banks = _banks(call)
    for bank, (enable, word) in inner.cell_drivers.items():
        sockets[inner.cells[bank].name] = outer.cell(banks.get(bank, bank)).name
        outer.write_cell(
            banks.get(bank, bank), OpenOutput(sockets, enable, prefix), OpenOutput(sockets, word, prefix)
        )
    for (bank, port), drivers in inner.drivers.items():
        made = used, write, address, word = [builder.signal(prefix + one.name, one.width) for one in drivers]
        sockets |= {one.name: signal.name for one, signal in zip(drivers, made, strict=True)}
        read = builder.signal(prefix + inner.words[bank, port].name, inner.array.memory.width)
        sockets[inner.words[bank, port].name] = read.name
        writes = (bank, port) in inner.writing
        link = DrivenPort(used, write, address, word, writes, read, call.region, location_of(call.op))
        outer.links.setdefault((banks.get(bank, bank), port), []).append(link)


def _banks(call: ArrayCall) -> dict[int, int]:
    """The banks of the caller that others of the callee are: of one register or bank, its place in an array."""
    one, other = call.inner.array.memory, call.outer.array.memory
    place = None if call.operand is None else register_place(call.operand)
    if place is not None and one.is_register and other.is_register and not one.shape:
        (bank,) = call.outer.array.at(place).banks
        return {0: bank}
    place = None if call.operand is None or place is not None else bank_place(call.operand)
    same = ["kind", "ports", "read", "width", *(["shape", "dims"] if place is None else [])]
    if any(getattr(one, name) != getattr(other, name) for name in same):
        raise TargetError(
            f"array '{call.outer.name}' is made of other memory than argument '{call.inner.name}' of "
            f"'{callee_name(call.op)}'",
            at=location_of(call.op),
            hint="bind and partition both alike",
        )
    if place is not None:
        (bank,) = call.outer.array.at(place).banks
        return {0: bank}
    return {}

