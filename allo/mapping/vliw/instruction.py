"""Instructions of a compute tile: operations on registers, one a slot at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MachineOperation:
    """One operation of an instruction: what it does (`kind`), to which register, with which operands."""

    slot: str
    kind: str
    target: str
    operands: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {', '.join(map(str, (self.target, *self.operands)))}"


type Instruction = dict[str, MachineOperation]  # by slot
