"""Units that regions of a function share: each has them while it runs, before and after the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ....errors import Location
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .flow import RegionFlow, UnitRegisters


class UnitUse(NamedTuple):
    """What an operation takes a unit for: its module, its operands by the ports of that, the bits of a float."""

    module: str
    parameters: Mapping[str, int | str]
    operands: Mapping[str, str]
    width: int

    def as_sum(self) -> UnitUse:
        """A difference as a sum, whose unit it shares: the second operand has the other sign."""
        if self.module != "allo_fsub":
            return self
        operands = {**self.operands, "b": f"{self.operands['b']} ^ {{1'b1, {self.width - 1}'d0}}"}
        return self._replace(module="allo_fadd", operands=operands)


type _Kind = tuple[int, str, tuple[tuple[str, int | str], ...]]  # the stage, and what is alike of units


@dataclass(slots=True)
class _Unit:
    """The instance of that number, what it gives, and what each region brings to it when a condition holds."""

    instance: int
    result: Signal
    uses: list[tuple[str, UnitUse]] = field(default_factory=list)


class SharedUnits:
    """The units of one function; what a region uses is numbered, and regions share those of equal numbers.

    A unit takes operands each cycle and has registers only behind them, so that what an earlier region gave it does not
    meet what the next one does. In regions that may stand still, units stand still with them, and are their own.
    """

    def __init__(self, builder: ModuleBuilder) -> None:
        self._builder = builder
        self._units: dict[_Kind, list[_Unit]] = {}
        self._used: dict[_Kind, Counter[RegionFlow]] = {}

    def result(self, use: UnitUse, registers: UnitRegisters, name: str, at: Location | None) -> Signal:
        """What a unit gives behind these registers, which no other region of the same stage needs meanwhile."""
        flow, shared = registers.flow, use.as_sum()
        kind = (flow.stage, shared.module, tuple(use.parameters.items()))
        units, used = self._units.setdefault(kind, []), self._used.setdefault(kind, Counter())
        made = self._builder.signal(name, use.width)
        if used[flow] == len(units):
            units.append(_Unit(len(self._builder.module.instances), made))
            sockets = {"clk": "clk", "en": "en", **use.operands, "y": made.name}
            self._builder.instance(use.module, f"{name}_unit", use.parameters, sockets, at)
        else:
            self._builder.drive(made, units[used[flow]].result.name, at)
        units[used[flow]].uses.append((flow.valid[registers.stage].name, shared))
        used[flow] += 1
        return made

    def finish(self) -> None:
        """Let each unit that several regions use take the operands of the one that runs."""
        for unit in (unit for units in self._units.values() for unit in units if len(unit.uses) > 1):
            *others, (_, last) = unit.uses
            chosen = {}
            for port, operand in last.operands.items():
                text = "".join(f"{valid} ? {use.operands[port]} : " for valid, use in others) + operand
                chosen[port] = self._builder.wire(f"{unit.result.name}_{port}", last.width, text).name
            instances = self._builder.module.instances
            one = instances[unit.instance]
            instances[unit.instance] = one._replace(module=last.module, ports={**one.ports, **chosen})
