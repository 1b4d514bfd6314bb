"""Pointers of GEMM kernels: what each load adds to its pointer, and the branch-free steps from block to block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ...errors import ContractionError
from .instruction import MachineOperation
from .machine import IssueSlot
from .modulo import KernelSchedule
from .operations import GemmShape, TileOperation

_IMMEDIATE = range(-1024, 1024)  # Tab. 3: 11 bits; multiples of four
# From m<tensor> on, which hold the steps to the next iteration, modifiers are constants.
_DYNAMIC = {0: "m0", 1: "m1", 2: "m2"}


@dataclass(frozen=True, slots=True)
class PointerSteps:
    """`after`: what a load of an input adds to its pointer, a number or a modifier; `constants`: set up before.

    `stays` and `turns` are the steps of the three pointers behind an iteration: to the next block of columns, and
    how much more to the next block of rows.
    """

    shape: GemmShape
    after: dict[TileOperation, str | int]
    constants: dict[str, int]

    def address(self, operation: TileOperation) -> int:
        """The byte that an operation moves in the first iteration, in its tensor."""
        return address(self.shape, operation)

    def offset(self, operation: TileOperation) -> int:
        """The same for blocks of the output, behind the pointer."""
        return address(self.shape, operation)

    def constants_of(self, operation: MachineOperation) -> Iterator[str]:
        """The constants and copies of pointers that an operation needs."""
        for name in (operation.target, *operation.operands):
            if isinstance(name, str) and (name in self.constants or name == "p3"):
                yield name
        if operation.kind == "vmac.f":
            yield "r15"

    def setup(self, name: str) -> MachineOperation:
        """The operation that makes a constant."""
        if name == "p3":
            return MachineOperation("m", "mov", name, ("p2",))
        return MachineOperation("xm", "movxm", name, (self.constants[name],))

    def scalars(self, schedule: KernelSchedule) -> Iterator[tuple[int, MachineOperation]]:
        """The operations that step pointers from one iteration to the next, without a branch, with their times.

        A counter of columns, `r0`, is compared with their number; the result, 0 or 1, is multiplied with how much
        more the pointer moves at the end of a row, and added to how much it moves else.
        """
        times = {kind: [t for o, (t, _) in schedule.placed.items() if o.kind == kind] for kind in _KINDS}
        busy = {(t % schedule.interval, s.value) for t, s in schedule.placed.values()}
        start = max(times["store C"]) + 2 - schedule.interval  # the last store of before has moved its pointer
        chain: list[tuple[str, str, tuple[str | int, ...]]] = [
            ("add", "r0", ("r0", 1)), ("ge", "r1", ("r0", "r2")), ("mul", "r3", ("r1", "r2")),
            ("sub", "r0", ("r0", "r3")),
        ]  # fmt: skip
        for tensor in range(3):
            own = f"r{4 + tensor}"
            chain += [("mul", own, ("r1", f"r{7 + tensor}")), ("add", own, (own, f"r{10 + tensor}"))]
        time = max(start, 0)
        for kind, target, operands in chain:
            yield time, MachineOperation("x", kind, target, operands)
            time += 1
        for tensor, kind in enumerate(_KINDS[:3]):
            if tensor < 2 and not time < max(times[kind]) < time + schedule.interval:
                raise ContractionError(f"the step of pointer p{tensor} is not there when its last load comes")
            yield time, MachineOperation("m", "mov", _DYNAMIC[tensor], (f"r{4 + tensor}",))
            time += 1
        for pointer, kind, least in (("p2", "load C", time), ("p3", "store C", 0)):
            at = max(least, max(times[kind]) + 1)
            slots = (IssueSlot.STORE, IssueSlot.LOAD_B, IssueSlot.LOAD_A)
            free = ((t, s) for t in range(at, at + schedule.interval) for s in slots)
            when, slot = next((t, s) for t, s in free if (t % schedule.interval, s.value) not in busy)
            busy.add((when % schedule.interval, slot.value))
            if when >= min(times[kind]) + schedule.interval:
                raise ContractionError(f"pointer {pointer} finds no place between the blocks of two iterations")
            yield when, MachineOperation(slot.value, f"padd{slot.value}", pointer, ("m2",))


_KINDS = ("load A", "load B", "load C", "store C")


def address(shape: GemmShape, operation: TileOperation) -> int:
    """The byte of its tile that an operation of the first iteration begins at: layouts `mkrs`, `knst`, `mnrt`."""
    if operation.kind == "load A":
        return (operation.row * shape.steps + operation.step) * 64 + operation.half * 32
    if operation.kind == "load B":
        return (operation.step * shape.n // 4 + operation.column) * 64 + operation.half * 32
    return (operation.row * shape.n // 4 + operation.column) * 32


def pointer_steps(schedule: KernelSchedule) -> PointerSteps:
    """What pointers of a schedule do. Raises ContractionError if modifiers do not suffice for it."""
    shape = schedule.shape
    after: dict[TileOperation, str | int] = {}
    modifiers: dict[int, str] = {}
    ends: list[int] = []
    for tensor, kind in enumerate(("load A", "load B")):
        placed = [(time, o) for o, (time, _) in schedule.placed.items() if o.kind == kind]
        loads = [o for _, o in sorted(placed, key=lambda pair: pair[0])]
        for load, following in pairwise(loads):
            step = address(shape, following) - address(shape, load)
            if step in _IMMEDIATE:
                after[load] = step
            else:
                after[load] = modifiers.setdefault(step, f"m{len(modifiers) + 3}")
        after[loads[-1]] = _DYNAMIC[tensor]
        ends.append(address(shape, loads[0]) - address(shape, loads[-1]))
    if len(modifiers) + 3 > shape.machine.modifiers:
        raise ContractionError(f"the kernel needs {len(modifiers) + 3} modifiers: there are {shape.machine.modifiers}")
    columns = shape.n // 16
    rows = (4 * shape.steps * 64, 0, 4 * shape.n // 4 * 32)  # from one block of rows to the next
    blocks = (0, 4 * 64, 4 * 32)  # from one block of columns to the next
    constants = {name: step for step, name in modifiers.items()}
    constants |= {"r0": 0, "r2": columns, "r15": 28}
    for tensor in range(3):
        stays = (ends[tensor] if tensor < 2 else 0) + blocks[tensor]
        constants[f"r{7 + tensor}"] = rows[tensor] - columns * blocks[tensor]
        constants[f"r{10 + tensor}"] = stays
    return PointerSteps(shape, after, constants)
