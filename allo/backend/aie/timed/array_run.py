"""Timed run of a program on the model of an array: its cycles, what its cores reach of their rate, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....dataflow.replay import Replayed, replay
from ....dataflow.timed.run import TimedRun
from ....dataflow.timed.table import table
from ....errors import InternalError, TargetError, nearest
from ....ir.module import Module
from ....mapping import ArrayPlan, RuntimeSequence
from ....target import ProcessorArray
from ..core_body import CoreBodies
from .array_trace import ArrayTrace
from .core_cycles import CoreCycles, Kernels, kernels_of


@dataclass(frozen=True, eq=False)
class ArrayRun(TimedRun):
    """A run of a program on the timed model of an array, *simulated*.

    `multiplied` are the products of elements that its cores sum in products of matrices, by the type of these.
    """

    array: ProcessorArray = field(kw_only=True)
    power_mode: str | None = field(kw_only=True)
    kernels: Kernels = field(kw_only=True)
    cores: int = field(kw_only=True)
    multiplied: Mapping[str, int] = field(kw_only=True)

    @property
    def utilisation(self) -> float | None:
        """The part of the products that the cores in use could sum in these cycles; None if none has a native rate."""
        known = {element: count for element, count in self.multiplied.items() if element in self.array.products}
        if not known or not self.cycles:
            return None
        least = sum(count / self.array.products[element].rate for element, count in known.items())
        return least / (self.cycles * self.cores)

    def __str__(self) -> str:
        return "\n".join([table(self), "", *self._rates()])

    def __repr__(self) -> str:
        return f"<ArrayRun of {self.top} on {self.target}: {self.cycles} cycles>"

    def _rates(self) -> list[str]:
        mode = f", power mode {self.power_mode}" if self.power_mode is not None else ""
        lines = [f"loops as {self.kernels} code on {self.cores} of {self.array.cores} cores{mode}"]
        for element, count in sorted(self.multiplied.items()):
            rate = f"{2 * count / self.milliseconds / 1e6:.1f}"
            lines.append(f"{count:,} products of {element} are summed: {rate} GOPS")
        if self.utilisation is not None:
            lines.append(f"{self.utilisation:.1%} of what these cores can do")
        return lines


def timed_run(
    plan: ArrayPlan,
    sequence: RuntimeSequence,
    bodies: Module,
    top: str,
    *,
    power_mode: str | None = None,
    kernels: str = "scalar",
    cycles: Mapping[str, int] | None = None,
) -> ArrayRun:
    """One call of a planned program with clocks; `AIEModule.timed` says what the options mean."""
    array = plan.array
    kind = kernels_of(kernels)
    if power_mode is not None and power_mode not in array.clocks:
        listed = ", ".join(array.clocks) or "none"
        raise TargetError(
            f"'{array.name}' has no power mode {power_mode!r}; there is {listed}",
            hint=nearest(str(power_mode), array.clocks),
        )
    made, found = replayed(plan, sequence, bodies, CoreCycles.of_bodies(array, kind, bodies, given_cycles(cycles)))
    if found.stuck:
        raise InternalError(f"'{top}' ends, but not if it is timed: {found.stuck[0]}")
    frequency = array.frequency if power_mode is None else array.clocks[power_mode]
    return ArrayRun(
        top, array.part, frequency, found, basis="on the model of the array",
        array=array, power_mode=power_mode, kernels=kind, cores=len(plan.mapping.cores),
        multiplied=dict(made.multiplied),
    )  # fmt: skip


def replayed(
    plan: ArrayPlan, sequence: RuntimeSequence, bodies: Module, costs: CoreCycles
) -> tuple[ArrayTrace, Replayed]:
    """One call with clocks, as it is; its cores may wait for one another for ever."""
    made = ArrayTrace(plan, sequence, CoreBodies(plan, bodies), costs)
    return made, replay(made.trace())


def given_cycles(cycles: Any) -> Mapping[str, int]:
    """What a user says of functions of C++; raises TargetError for what is no table of cycles."""
    found = {} if cycles is None else cycles
    is_table = isinstance(found, Mapping)
    if not is_table or any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in found.values()):
        raise TargetError(f"cycles= has the cycles of functions of C++, by name: {{'scale': 120}}; got {cycles!r}")
    return found
