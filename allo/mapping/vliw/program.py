"""Programs of GEMM kernels: instructions with registers and pointers, a prologue, a hardware loop, an epilogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from ...errors import ContractionError
from .addresses import PointerSteps, pointer_steps
from .bounds import bounds_of
from .instruction import Instruction, MachineOperation
from .machine import IssueSlot
from .modulo import KernelSchedule, block_of, schedule_of
from .operations import GemmShape, TileOperation


@dataclass(frozen=True, slots=True)
class KernelProgram:
    """Instructions of a kernel; the body of the hardware loop is run `trips` times."""

    schedule: KernelSchedule
    prologue: tuple[Instruction, ...]
    body: tuple[Instruction, ...]
    trips: int
    epilogue: tuple[Instruction, ...]

    @property
    def shape(self) -> GemmShape:
        """What it computes."""
        return self.schedule.shape

    @property
    def cycles(self) -> int:
        """Instructions that are run: cycles, unless banks conflict."""
        return len(self.prologue) + self.trips * len(self.body) + len(self.epilogue)

    @property
    def size(self) -> int:
        """Bytes of program memory, if each instruction has its full width."""
        count = len(self.prologue) + len(self.body) + len(self.epilogue)
        return count * self.shape.machine.instruction_bytes

    def run(self) -> Iterator[Instruction]:
        """The instructions in the order in which they are run."""
        yield from self.prologue
        for _ in range(self.trips):
            yield from self.body
        yield from self.epilogue

    def table(self, part: str = "body", first: int = 0, count: int | None = None) -> str:
        """Instructions of the `"prologue"`, `"body"` or `"epilogue"` as a table with a column a slot."""
        parts = {"prologue": self.prologue, "body": self.body, "epilogue": self.epilogue}
        if part not in parts:
            raise ContractionError(f"a program has no part '{part}': it has {', '.join(parts)}")
        chosen = parts[part][first : None if count is None else first + count]
        slots = [slot.value for slot in IssueSlot]
        rows = [["", *slots]]
        for number, instruction in enumerate(chosen, first):
            rows.append([str(number), *(str(instruction[s]) if s in instruction else "" for s in slots)])
        widths = [max(len(row[k]) for row in rows) for k in range(len(slots) + 1)]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def gemm_program(shape: GemmShape | None = None) -> KernelProgram:
    """The program of a GEMM kernel, `out += in0 @ in1`, with the least interval that is found.

    Raises ContractionError for shapes that it does not take, and for programs that memory does not hold.
    """
    shape = shape or GemmShape()
    least = min(shape.iterations, 2) * bounds_of(shape).interval * shape.machine.instruction_bytes
    _refuse_long(shape, least)
    schedule = schedule_of(shape)
    program = _ProgramWriter(schedule, pointer_steps(schedule)).written()
    _refuse_long(shape, program.size)
    return program


def _refuse_long(shape: GemmShape, size: int) -> None:
    if size > shape.machine.program_bytes:
        message = f"the program has {size} bytes or more, and program memory {shape.machine.program_bytes}"
        raise ContractionError(message, hint="all of K is unrolled: split it in two calls")


class _ProgramWriter:
    """All iterations, one after the other on one line of time, from which the loop is taken again."""

    def __init__(self, schedule: KernelSchedule, steps: PointerSteps) -> None:
        self.schedule, self.steps = schedule, steps
        self.shape, self.interval = schedule.shape, schedule.interval
        self.iteration = [*self._moves(), *steps.scalars(schedule)]

    def written(self) -> KernelProgram:
        iterations, first = self.shape.iterations, self.schedule.first
        lead, setup = self._setup()
        end = lead + (iterations - 1) * self.interval + max(time for time, _ in self.iteration) - first + 1
        line: list[Instruction] = [{} for _ in range(end)]
        for cycle, operation in setup:
            self._put(line[cycle], operation)
        for number in range(iterations):
            for time, operation in self.iteration:
                self._put(line[lead + number * self.interval + time - first], operation)
        self._return(line)
        stages = ceil(max(time - first + 1 for time, _ in self.iteration) / self.interval)
        trips = iterations - stages + 1
        if trips < 2:
            return KernelProgram(self.schedule, tuple(line), (), 0, ())
        start = lead + (stages - 1) * self.interval
        stop = start + trips * self.interval
        body = line[start : start + self.interval]
        return KernelProgram(self.schedule, tuple(line[:start]), tuple(body), trips, tuple(line[stop:]))

    def _put(self, instruction: Instruction, operation: MachineOperation) -> None:
        slots = ("x", "m") if operation.slot == "xm" else (operation.slot,)
        if any(slot in instruction for slot in slots):
            raise ContractionError(f"two operations want slot {operation.slot}: {operation}")
        for slot in slots[:1]:
            instruction[slot] = operation

    def _moves(self) -> Iterator[tuple[int, MachineOperation]]:
        """Loads, products and stores of one iteration, with their times."""
        for operation, (time, slot) in self.schedule.placed.items():
            match operation.kind:
                case "multiply":
                    a = self._vector(TileOperation("load A", operation.step, operation.row))
                    b = self._vector(TileOperation("load B", operation.step, column=operation.column))
                    yield time, MachineOperation("v", "vmac.f", _accumulator(operation), (a, b))
                case "load C":
                    at = ("p2", self.steps.offset(operation))
                    yield time, MachineOperation("a", "vlda.conv", _accumulator(operation), at)
                case "store C":
                    at = ("p3", self.steps.offset(operation))
                    yield time, MachineOperation("s", "vst.conv", _accumulator(operation), at)
                case _:
                    pointer = "p0" if operation.kind == "load A" else "p1"
                    half = "wh" if operation.half else "wl"
                    target = self._vector(block_of(operation)).replace("x", half)
                    yield time, MachineOperation(
                        slot.value, f"vld{slot.value}", target, (pointer, self.steps.after[operation])
                    )

    def _vector(self, block: TileOperation) -> str:
        return f"x{self.schedule.vectors[block]}"

    def _setup(self) -> tuple[int, list[tuple[int, MachineOperation]]]:
        """Instructions in front of the first load that constants need, and the constants, the most urgent first."""
        due: dict[str, int] = {}
        for time, operation in self.iteration:
            for name in self.steps.constants_of(operation):
                due[name] = min(due.get(name, time), time)
        ordered = sorted(due, key=lambda name: due[name])
        first = self.schedule.first
        lead = max([0, *(k + 1 - (due[name] - first) for k, name in enumerate(ordered))])
        return lead, [(k, self.steps.setup(name)) for k, name in enumerate(ordered)]

    def _return(self, line: list[Instruction]) -> None:
        """The jump back, so that what is left is done in its delay slots."""
        place = max(len(line) - self.shape.machine.branch, 0)
        while "x" in line[place]:
            place += 1
        line[place]["x"] = MachineOperation("x", "ret", "lr")
        line += [{} for _ in range(place + self.shape.machine.branch - len(line))]


def _accumulator(operation: TileOperation) -> str:
    return f"bm{4 * operation.row + operation.column}"
