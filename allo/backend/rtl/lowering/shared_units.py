"""Units that operations share: those of one pipeline by cycles of its interval, those of regions while these run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mlir import ir

from ....errors import InternalError, Location
from ....timing.pipeline import ScheduledRegion
from ....timing.problem.operators import SharedUnit
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .flow import UnitRegisters


class UnitNumber(NamedTuple):
    """One of the units of a kind, as `allo/timing/binding.py` numbers those of a region."""

    kind: SharedUnit
    number: int


class UnitUse(NamedTuple):
    """What an operation takes a unit for: its module, its operands by the ports of that, the bits of its result."""

    module: str
    parameters: Mapping[str, int | str]
    operands: Mapping[str, str]
    width: int

    def bits(self, port: str) -> int:
        """The bits of an operand: those of the float, or as many as the product takes of a factor."""
        return int(self.parameters.get(f"W{port.upper()}", self.width))

    def as_sum(self) -> UnitUse:
        """A difference as a sum, whose unit it shares: the second operand has the other sign."""
        if self.module != "allo_fsub":
            return self
        operands = {**self.operands, "b": f"{self.operands['b']} ^ {{1'b1, {self.width - 1}'d0}}"}
        return self._replace(module="allo_fadd", operands=operands)


@dataclass(slots=True)
class _Unit:
    """The instance of that number, what it gives, and what each operation brings to it when a condition holds."""

    instance: int
    result: Signal
    uses: list[tuple[str, UnitUse]] = field(default_factory=list)


class SharedUnits:
    """The units of one function.

    A unit takes operands each cycle and has registers only behind them: what it was given in one cycle does not meet
    what it is given in the next one. Operations of a pipeline on one unit start in different cycles of the interval;
    regions run in turn, but for those of different stages, which have units of their own. Units do not stand still with
    a region: operands come in their cycle of the interval, and results wait in front of what takes them.
    """

    def __init__(self, builder: ModuleBuilder) -> None:
        self._builder = builder
        self.numbers: dict[ir.Operation, UnitNumber] = {}
        self._units: dict[tuple[int, UnitNumber], _Unit] = {}

    def bind(self, scheduled: ScheduledRegion) -> None:
        """Note which operations of a region are on which units."""
        for node, units in zip(scheduled.graph.region.nodes, scheduled.shared_units()[0], strict=True):
            if units is not None and node.shared is not None:
                self.numbers[node.op] = UnitNumber(node.shared, int(units.item()))

    def result(
        self, use: UnitUse, unit: UnitNumber, registers: UnitRegisters, name: str, at: Location | None
    ) -> Signal:
        """What a unit gives behind these registers: the result in the cycle in which it is there, then of others."""
        flow, shared = registers.flow, use.as_sum()
        place = flow.stage, unit
        found = self._units.get(place)
        if found is None:
            made = self._builder.signal(name, use.width)
            found = self._units[place] = _Unit(len(self._builder.module.instances), made)
            sockets = {"clk": "clk", "en": "en", **use.operands, "y": made.name}
            self._builder.instance(use.module, f"{name}_unit", use.parameters, sockets, at)
        elif found.uses[-1][1].module != shared.module or found.uses[-1][1].parameters != use.parameters:
            raise InternalError(f"{use.module} of {use.parameters} shares '{found.result.name}_unit', another kind")
        found.uses.append((flow.at_turn(flow.valid[registers.stage].name, registers.stage), shared))
        return flow.settled(found.result, registers.stage, registers.cycles)

    def finish(self) -> None:
        """Let each unit that several operations use take the operands of the one whose cycle it is."""
        for unit in (unit for unit in self._units.values() if len(unit.uses) > 1):
            last = unit.uses[-1][1]
            chosen = {}
            for port in last.operands:
                brought = [(when, use.operands[port]) for when, use in unit.uses]
                chosen[port] = self._chosen(f"{unit.result.name}_{port}", last.bits(port), brought)
            instances = self._builder.module.instances
            one = instances[unit.instance]
            instances[unit.instance] = one._replace(module=last.module, ports={**one.ports, **chosen})

    def _chosen(self, name: str, width: int, uses: Sequence[tuple[str, str]]) -> str:
        """The operand of the one whose condition holds; of more than two, by the digits of its number."""
        cases: dict[str, list[str]] = {}
        for when, operand in reversed(uses):
            cases.setdefault(operand, []).append(when)
        operands, conditions = list(cases), list(cases.values())
        digits = []
        for digit in range((len(cases) - 1).bit_length()):
            among = [when for number, any_of in enumerate(conditions) if number >> digit & 1 for when in any_of]
            text = " || ".join(among)
            digits.append(text if len(among) == 1 else self._builder.common(f"{name}_of", 1, text).name)
        return self._builder.wire(name, width, _tree(operands, digits)).name


def _tree(operands: Sequence[str], digits: Sequence[str]) -> str:
    """The operand whose number has these digits, the lowest one first."""
    if len(operands) == 1:
        return operands[0]
    half = 1 << (len(operands) - 1).bit_length() - 1
    low, high = (
        of[0] if len(of) == 1 else f"({_tree(of, digits)})" for of in (operands[:half], operands[half:])
    )
    return f"{digits[half.bit_length() - 1]} ? {high} : {low}"
