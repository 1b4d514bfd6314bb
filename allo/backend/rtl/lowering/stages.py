"""Stages that run at once: each begins with the region, or when those have ended that use the same arrays before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from mlir import ir

from ....errors import TargetError
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.processes import is_process, region_statements
from ....ir.walk import location_of, operations
from ....timing.control import tree
from ....timing.roles import is_pure, only_names
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal


class StagesAtOnce:
    """Which stages of a region, numbered from 1, may run at the same time: none of two waits for the other's end."""

    def __init__(self, after: list[list[int]]) -> None:
        self._before: list[set[int]] = []
        for others in after:
            self._before.append({*others, *(one for other in others for one in self._before[other])})

    def has(self, one: int, other: int) -> bool:
        """Whether two stages may."""
        first, last = sorted((one - 1, other - 1))
        return 0 <= first < last < len(self._before) and first not in self._before[last]


class StagedFunction(Protocol):
    """What stages need of the hardware of their function."""

    module: Module
    tree: tree.FunctionTree
    waits: list[str]
    stage: int
    together: list[StagesAtOnce]


class NodeHardware(Protocol):
    """What makes the hardware of nodes of a control tree."""

    builder: ModuleBuilder

    def of(self, node: tree.Node, start: Signal) -> Signal: ...


def stages(control: NodeHardware, function: StagedFunction, node: tree.Dataflow, start: Signal) -> Signal:
    """The hardware of stages that begin with a pulse; the pulse with which the last of them ends."""
    return _Stages(control, function, node, start).make()


class _Stages:
    def __init__(
        self, control: NodeHardware, function: StagedFunction, node: tree.Dataflow, start: Signal
    ) -> None:
        self.control = control
        self.function = function
        self.builder = control.builder
        self.start = start
        self.parts: list[tuple[tuple[ir.Operation, ...], tree.Node]] = []
        for part in node.parts:
            found = _statements_of(part)
            if found:
                self.parts.append((found, part))

    def make(self) -> Signal:
        """The pulse with which all have ended."""
        after = self._after()
        self.function.together.append(StagesAtOnce(after))
        outer, ends, waits, moving = self.function.waits, list[Signal](), list[str](), list[str]()
        for number, (_, part) in enumerate(self.parts):
            self.function.stage, self.function.waits = number + 1, []
            begin = self._joined([ends[other] for other in after[number]], "ready") if after[number] else self.start
            ends.append(self.control.of(part, begin))
            own = " || ".join(self.function.waits)
            waits += [f"({own})"] if own else []
            moving.append(self._moving(begin, ends[-1], own))
        self.function.stage, self.function.waits = 0, outer
        if waits:
            some = self.builder.wire("stages_waiting", 1, " || ".join(waits)).name
            none = self.builder.wire("stages_moving", 1, " || ".join(moving)).name
            self.function.waits.append(self.builder.wire("stages_wait", 1, f"{some} && !{none}").name)
        return self._joined(ends, "all") if ends else self.start

    def _after(self) -> list[list[int]]:
        """The stages whose end each of them waits for: they use its arrays, or it takes values of theirs."""
        root = self.function.tree
        numbers = {op: number for number, (ops, _) in enumerate(self.parts) for op in ops}
        found: list[set[int]] = [set() for _ in self.parts]
        for statement in region_statements(Effects(self.function.module), root.entry):
            own = numbers.get(statement.op)
            others = {numbers[other] for other in statement.after if other in numbers} - {own}
            if others and not is_process(statement.op):
                raise TargetError(
                    "this statement of a region gives a value that has to wait for other stages, which target 'rtl' "
                    "has no hardware for",
                    at=location_of(statement.op),
                    hint="let a stage do it, and put the value into a stream",
                )
            if own is not None:
                found[own] |= others
        if any(len(op.results) for op in numbers):
            makers = _Makers(numbers)
            for number, (ops, _) in enumerate(self.parts):
                found[number].update(*map(makers.of, ops))
        return [sorted(others - {number}) for number, others in enumerate(found)]

    def _joined(self, pulses: list[Signal], name: str) -> Signal:
        """A pulse when the last of some has come."""
        if len(pulses) == 1:
            return pulses[0]
        made = self.builder.signal(f"stages_{name}", 1)
        came = []
        for pulse in pulses:
            kept = self.builder.signal(f"{pulse.name}_came", 1)
            came.append(self.builder.wire(f"{pulse.name}_is_over", 1, f"{pulse.name} || {kept.name}").name)
            self.builder.register(kept, f"{came[-1]} && !{made.name}", reset=0)
        self.builder.drive(made, " && ".join(came))
        return made

    def _moving(self, begin: Signal, end: Signal, waits: str) -> str:
        """Whether a stage runs, and does not wait."""
        runs = self.builder.signal("stage_runs", 1)
        active = self.builder.wire("stage_active", 1, f"{begin.name} || {runs.name}")
        self.builder.register(runs, f"{active.name} && !{end.name}", reset=0)
        return f"({active.name} && !({waits}))" if waits else active.name


def _statements_of(part: tree.Node) -> tuple[ir.Operation, ...]:
    """The statements that a part of a region is; none if they take no time."""
    match part:
        case tree.Straight():
            timed = [op for op in part.body if not (is_pure(op) or only_names(op))]
            found = [op for op in timed if is_process(op)]
            if len(found) > 1:
                raise TargetError(
                    "statements of a region run at once, and target 'rtl' has no hardware for several outside of loops "
                    "and tasks",
                    at=location_of(found[1]),
                    hint="put them into a task",
                )
            return part.body if timed else ()
        case tree.Pipeline() | tree.Repeat() | tree.Spatial():
            return (part.view.op,)
        case tree.Branch() | tree.Invocation() | tree.ArrayCopy():
            return (part.op,)
        case _:
            return ()


class _Makers:
    """The numbers of the operations that make what others take, or what these are made of."""

    def __init__(self, numbers: Mapping[ir.Operation, int]) -> None:
        self._numbers = numbers
        self._known: dict[ir.Operation, frozenset[int]] = {}

    def of(self, op: ir.Operation) -> frozenset[int]:
        """Those of an operation, and of those in it."""
        if op not in self._known:
            inner = {one for region in op.regions for block in region.blocks for one in operations(block)}
            found = set[int]()
            for owner in (operand.owner for one in (op, *inner) for operand in one.operands):
                if not isinstance(owner, ir.Block) and (maker := owner.operation) not in inner:
                    found |= self.of(maker)
                    found.update([self._numbers[maker]] if maker in self._numbers else ())
            self._known[op] = frozenset(found)
        return self._known[op]
