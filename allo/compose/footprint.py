"""Footprint of a step: the loop nests, loops, arrays and statements that it changed, by the modules around it.

Steps that changed different things commute. Partition layouts are left out: they meet, whatever the order.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary, ref

from mlir import ir

from allo._mlir import fingerprint

from ..customize import Schedule
from ..customize.nest.rewrite import compose_affine
from ..ir.module import Module
from ..ir.parts import Part
from ..ir.states import FinishedModule
from ..ir.walk import LOOP_OPERATIONS, argument_names, entry_block, operations, statements, string_of

_LAYOUT = re.compile(r", #allo\.partition<\[[^\]]*\]>")
_NAMES = frozenset({"allo.name", "allo.nest"})
_NO_ARRAYS = frozenset({*LOOP_OPERATIONS, "func.call", "arith.constant"})


@dataclass(frozen=True, slots=True)
class Touch:
    """A part of a function that a step changed; `name` is empty for its statements, and for the function itself."""

    function: str
    kind: str  # function, nest, loop, buffer, type (of a buffer), statements
    name: str = ""

    def overlaps(self, other: Touch) -> bool:
        """Whether two steps that changed these parts may depend on each other's order."""
        if self.function != other.function:
            return False
        if "function" in (self.kind, other.kind) or self == other:
            return True
        if {self.kind, other.kind} == {"nest", "loop"}:
            return self.name.split(".")[0] == other.name.split(".")[0]
        return False

    def __str__(self) -> str:
        match self.kind:
            case "function":
                return f"function '{self.function}'"
            case "statements":
                return f"the statements of '{self.function}'"
            case "nest":
                return f"loop nest '{self.function}:{self.name}'"
            case "type":
                return f"the type of buffer '{self.function}:{self.name}'"
            case _:
                return f"{self.kind} '{self.function}:{self.name}'"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The parts of a function as texts, without layouts: nests without annotations, annotations, arrays, the rest."""

    nests: dict[str, str]
    loops: dict[str, str]
    buffers: dict[str, str]
    types: dict[str, str]  # of buffers
    statements: str


def snapshot(function: ir.OpView) -> Snapshot:
    """The parts of a function."""
    return _Reader(function).run()


class _Reader:
    def __init__(self, function: ir.OpView) -> None:
        self.function = function
        self.values: dict[ir.Value, str] = {}
        self.result = Snapshot({}, {}, {}, {}, "")

    def run(self) -> Snapshot:
        entry, attributes = entry_block(self.function), self.function.operation.attributes
        if entry is None:
            return self.result
        own = [f"{n} {a}" for n, a in attributes.items() if n not in ("function_type", "sym_name", "arg_attrs")]
        given = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
        for position, (name, argument) in enumerate(zip(argument_names(self.function), entry.arguments, strict=True)):
            self.values[argument] = f"%{name}"
            kept = str(given[position]) if position < len(given) else ""
            self.result.types[name] = _plain(argument.type)
            self.result.buffers[name] = f"{self.result.types[name]} {kept}"
        lines: list[str] = [*own]
        for operation in statements(entry):
            nest = string_of(operation, "allo.nest") or string_of(operation, "allo.name")
            if operation.name in LOOP_OPERATIONS and nest is not None:
                self.result.nests[nest] = "\n".join(self._lines(operation, nest))
            elif operation.name != "arith.constant":
                lines += [line for line in self._lines(operation, "") if line]
        return dataclasses.replace(self.result, statements="\n".join(lines))

    def _lines(self, op: ir.Operation, nest: str) -> Iterator[str]:
        """The operations of a nest or statement; values are numbered from the head of each operation they are in."""
        loop, name = op.name in LOOP_OPERATIONS, string_of(op, "allo.name")
        attributes = {n: _plain(a) for n, a in op.attributes.items()}
        notes = {n: a for n, a in attributes.items() if n.startswith("allo.") and n not in _NAMES}
        if loop and nest:
            self.result.loops[f"{nest}.{name}"] = str(sorted(notes.items()))
            attributes = {n: a for n, a in attributes.items() if n not in notes}
        types = [_plain(result.type) for result in op.results]
        array = name is not None and not loop and op.name != "func.call" and bool(types)
        if array and name is not None:
            self.result.types[name] = str(types)
            self.result.buffers[name] = f"{op.name} {types} {sorted(attributes.items())}"
            attributes = {"allo.name": name}
        operands = [self._value(operand) for operand in op.operands]
        for position, result in enumerate(op.results):
            self.values[result] = f"%{name}" if array else f"{op.name}{position}({', '.join(operands)}){attributes}"
        if not array or nest:
            yield f"{op.name} {operands} {sorted(attributes.items())} {types}"
        for region in op.regions:
            for block in region.blocks:
                for position, argument in enumerate(block.arguments):
                    self.values[argument] = f"{name or op.name}#{position}"
                for inner in statements(block):
                    yield from self._lines(inner, nest)
                yield "end"

    def _value(self, value: ir.Value) -> str:
        """A short name of a value by what it is computed from, so that equal names are equal values."""
        text = self.values.get(value, "?")
        return text if len(text) < 80 else f"#{hash(text)}"


def _plain(attribute: ir.Attribute | ir.Type) -> str:
    text = str(attribute)
    return _LAYOUT.sub("", text) if "#allo.partition" in text else text


def difference(function: str, before: Snapshot | None, after: Snapshot | None) -> Iterator[Touch]:
    """The parts of a function that differ; parts that are new are not there for anybody else to change."""
    if before is None or after is None:
        if before is not after:
            yield Touch(function, "function")
        return
    for nest in before.nests:
        if before.nests[nest] != after.nests.get(nest):
            yield Touch(function, "nest", nest)
    for loop in before.loops:
        if loop in after.loops and before.loops[loop] != after.loops[loop]:
            yield Touch(function, "loop", loop)
    for buffer in before.buffers:
        if before.buffers[buffer] != after.buffers.get(buffer):
            yield Touch(function, "buffer", buffer)
    common = [nest for nest in before.nests if nest in after.nests]
    if before.statements != after.statements or common != [nest for nest in after.nests if nest in before.nests]:
        yield Touch(function, "statements")
    for buffer in before.types:
        if before.types[buffer] != after.types.get(buffer):
            yield Touch(function, "type", buffer)


def part_names(function: ir.OpView) -> list[str]:
    """The nests of a function, then its arrays, in the order of the text."""
    entry = entry_block(function)
    if entry is None:
        return []
    loops = [op for op in statements(entry) if op.name in LOOP_OPERATIONS]
    nests = [string_of(op, "allo.nest") or string_of(op, "allo.name") for op in loops]
    made = (op for op in operations(entry) if len(op.results) and op.name not in _NO_ARRAYS)
    arrays = [*argument_names(function), *(string_of(op, "allo.name") for op in made)]
    return [name for name in dict.fromkeys([*nests, *arrays]) if name is not None]


# what was found out about schedules, for as long as they live
_KNOWN: WeakKeyDictionary[Schedule, History] = WeakKeyDictionary()


class History:
    """What the steps of a schedule changed; looks only at the functions that it is asked for, and grows with it."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = ref(schedule)
        self._states: dict[int, FinishedModule] = {}  # what is known belongs to these
        self._functions: dict[int, dict[str, Part]] = {}
        self._snapshots: dict[tuple[str, bytes], Snapshot] = {}

    @classmethod
    def of(cls, schedule: Schedule) -> History:
        """The history that was made for `schedule` before, if its steps are still there."""
        history, last = _KNOWN.get(schedule), len(schedule.steps)
        if history is None or any(k > last or schedule._after(k) is not old for k, old in history._states.items()):
            history = _KNOWN[schedule] = cls(schedule)
        return history

    @property
    def schedule(self) -> Schedule:
        """The schedule."""
        schedule = self._schedule()
        assert schedule is not None, "a history is used while its schedule lives"
        return schedule

    def functions(self, state: int) -> dict[str, Part]:
        """The functions of the module after the first `state` steps."""
        if state not in self._functions:
            self._functions[state] = self.state(state).definitions()
        return self._functions[state]

    def state(self, number: int) -> FinishedModule:
        """The state after the first `number` steps."""
        if number not in self._states:
            self._states[number] = self.schedule._after(number)
        return self._states[number]

    def at(self, state: int, function: str) -> Snapshot | None:
        """A function after the first `state` steps; None if it is not there."""
        found = self.fingerprint(state, function)
        if found is None:
            return None
        key = (function, found)
        if key not in self._snapshots:
            self._snapshots[key] = _normal_snapshot(self.functions(state)[function].op)
        return self._snapshots[key]

    def touched(self, step: int, function: str) -> tuple[Touch, ...]:
        """What step number `step` changed in a function."""
        if self._is_same(step, step + 1, function):
            return ()
        return tuple(difference(function, self.at(step, function), self.at(step + 1, function)))

    def changes(self, function: str, first: int, last: int) -> set[int]:
        """The steps from number `first` on and before `last` that changed more of a function than layouts.

        Where a function is the same before and after several steps, they are not looked at one by one.
        """
        if first >= last or self._is_same(first, last, function):
            return set()
        if last - first == 1:
            return {first}
        middle = (first + last) // 2
        return self.changes(function, first, middle) | self.changes(function, middle, last)

    def made_functions(self, step: int) -> list[str]:
        """The functions that a step made."""
        before = self.functions(step)
        return [name for name in self.functions(step + 1) if name not in before]

    def made_parts(self, step: int, function: str) -> list[str]:
        """The nests and arrays of a function that a step made."""
        if self._is_same(step, step + 1, function):
            return []
        before, after = (self.functions(state).get(function) for state in (step, step + 1))
        old = set() if before is None else set(part_names(before.op.opview))
        return [] if after is None else [name for name in part_names(after.op.opview) if name not in old]

    def _is_same(self, first: int, last: int, function: str) -> bool:
        """Whether a function is the same after the first `first` and after the first `last` steps, but for layouts."""
        before, after = self.functions(first).get(function), self.functions(last).get(function)
        if before is None or after is None:
            return before is after
        return before.plain is after.plain or self.fingerprint(first, function) == self.fingerprint(last, function)

    def fingerprint(
        self, state: int, function: str, layouts: bool = False, names: Mapping[str, str] | None = None
    ) -> bytes | None:
        """What a function is after the first `state` steps, with other `names` of functions; None if it is not there.

        Layouts of arrays are left out, unless `layouts` is set.
        """
        part = self.functions(state).get(function)
        if part is None:
            return None
        others = tuple((ours, theirs) for ours, theirs in (names or {}).items() if ours != theirs)
        key = ("fingerprint", layouts, others)
        return part.fact(key, lambda op: fingerprint(op, dict(others), layouts), any_layout=not layouts)


def _normal_snapshot(function: ir.Operation) -> Snapshot:
    """The parts of a function with composed affine maps: primitives that change a function leave them so."""
    alone = Module.empty("")
    copy = function.clone(ir.InsertionPoint(alone.mlir.body)).opview
    compose_affine([copy])
    return snapshot(copy)
