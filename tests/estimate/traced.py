"""What the iterations of a pipelined loop wait for, found by running the kernel itself on arrays that keep a record.

Nothing of the estimator is used but the latencies of the target: an operation is an instruction of the Python function
with the values of the loops inside of the pipelined one. Where a rule of the estimator is debatable, this takes the
side of the shorter interval, so that less than `least_interval` is certainly wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from allo.target import Operator, Target

type Key = tuple[object, ...]


@dataclass(frozen=True)
class Wait:
    """How a later operation waits for `source`, `distance` iterations before it."""

    source: int
    sink: int
    distance: int
    kind: str  # "value", "written", "read" (before it is overwritten) or "overwritten"


@dataclass(frozen=True)
class Use:
    operation: int
    iteration: int
    position: int


class Value:
    """A number with the operation that made it."""

    def __init__(self, run: Run, number: Any, made: Use) -> None:
        self.run, self.number, self.made = run, number, made

    def _with(self, other: Any, kind: str, of: Callable[[Any, Any], Any]) -> Value:
        with np.errstate(over="ignore", invalid="ignore"):  # products of products: what waits for what is asked alone
            value = of(self.number, other.number if isinstance(other, Value) else other)
        return self.run.operation(kind, value, [x for x in (self, other) if isinstance(x, Value)])

    def __add__(self, other: Any) -> Value:
        return self._with(other, "add", lambda a, b: a + b)

    def __mul__(self, other: Any) -> Value:
        return self._with(other, "mul", lambda a, b: a * b)

    def __gt__(self, other: Any) -> bool:
        return bool(self.number > (other.number if isinstance(other, Value) else other))

    def __index__(self) -> int:
        return int(self.number)


class Array:
    """An array of the kernel, which tells the run of each use of an element."""

    def __init__(self, run: Run, name: str, data: np.ndarray) -> None:
        self.run, self.name, self.data = run, name, data

    def __getitem__(self, index: Any) -> Value:
        at, inputs = _plain(index)
        return self.run.read(self, at, inputs)

    def __setitem__(self, index: Any, value: Any) -> None:
        at, inputs = _plain(index)
        if isinstance(value, Value):
            inputs.append(value)
        self.run.write(self, at, inputs)
        self.data[at] = value.number if isinstance(value, Value) else value


def _plain(index: Any) -> tuple[tuple[int, ...], list[Value]]:
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(int(part) for part in parts), [part for part in parts if isinstance(part, Value)]


class Run:
    """One run of a kernel; the loops down to `depth` are the pipeline, those inside of it are unrolled."""

    def __init__(self, target: Target, depth: int) -> None:
        self.target, self.depth = target, depth
        self.numbers: dict[Key, int] = {}
        self.operators: list[Operator] = []  # by operation
        self.elements: dict[int, set[Key]] = {}
        self.arrays: dict[int, str] = {}
        self.waits: set[Wait] = set()
        self.stack: list[int] = []
        self.iteration = -1
        self.uses: list[tuple[Key, Use, bool]] = []

    def range(self, *bounds: int) -> Iterator[int]:
        """Python's own, but for keeping what runs."""
        for value in range(*bounds):
            self.stack.append(value)
            if len(self.stack) == self.depth:
                self.iteration += 1
            yield value
            self.stack.pop()

    def _number(self, operator: Operator) -> Use:
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == __name__:
            frame = frame.f_back
        key = (frame.f_lasti, *self.stack[self.depth :])
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers)
            self.operators.append(operator)
        return Use(self.numbers[key], self.iteration, len(self.uses))

    def _values(self, inputs: Sequence[Value], use: Use) -> None:
        for value in inputs:
            distance = use.iteration - value.made.iteration
            self.waits.add(Wait(value.made.operation, use.operation, distance, "value"))

    def operation(self, kind: str, number: Any, inputs: Sequence[Value]) -> Value:
        """An arithmetic operation."""
        is_float = isinstance(number, float | np.floating)
        use = self._number(self.target.floating(kind, "f32") if is_float else self.target.integer(kind, 32))
        self._values(inputs, use)
        return Value(self, number, use)

    def read(self, array: Array, at: tuple[int, ...], inputs: Sequence[Value]) -> Value:
        """A use of an element; what it waits for is found at the end."""
        return Value(self, array.data[at], self._access(array, at, inputs, "read"))

    def write(self, array: Array, at: tuple[int, ...], inputs: Sequence[Value]) -> None:
        self._access(array, at, inputs, "write")

    def _access(self, array: Array, at: tuple[int, ...], inputs: Sequence[Value], kind: str) -> Use:
        use = self._number(Operator(kind, latency=1))
        self._values(inputs, use)
        self.elements.setdefault(use.operation, set()).add((array.name, *at))
        self.arrays[use.operation] = array.name
        self.uses.append(((array.name, *at), use, kind == "write"))
        return use

    # -- what waits ------------------------------------------------------------------------------------

    def through_memory(self) -> None:
        """The waits for elements: values that are read, and what is overwritten."""
        last: dict[Key, Use] = {}
        stays: dict[Key, Use] = {}
        readers: dict[Key, list[Use]] = {}
        final = {(key, use.iteration): use for key, use, is_write in self.uses if is_write}
        for key, use, is_write in self.uses:
            if is_write:
                last[key] = use
                if final[key, use.iteration] is not use:
                    continue
                for reader in readers.pop(key, ()):
                    self._wait(reader, use, "read")
                if key in stays and not self.in_registers(str(key[0])):
                    self._wait(stays[key], use, "overwritten")
                stays[key] = use
                continue
            if key in last:
                self._wait(last[key], use, "written")
                if last[key].iteration == use.iteration:
                    continue  # nothing is read from the memory
            readers.setdefault(key, []).append(use)

    def _wait(self, source: Use, sink: Use, kind: str) -> None:
        self.waits.add(Wait(source.operation, sink.operation, sink.iteration - source.iteration, kind))

    def in_registers(self, array: str) -> bool:
        """Whether each operation keeps to one element of the array, which then need not be in the memory."""
        own = [n for n, name in self.arrays.items() if name == array]
        return all(len(self.elements[n]) == 1 for n in own)

    def feasible(self, interval: int, cycle: int) -> bool:
        """Whether times exist, in ps, that are the same in each iteration and that nothing contradicts."""
        start = [0] * len(self.operators)
        rules = [(w, self._kind(w)) for w in sorted(self.waits, key=lambda w: (w.sink, w.source, w.distance, w.kind))]
        for _ in range(3 * len(start) + 3):
            moved = False
            for wait, kind in rules:
                sink, source = self.operators[wait.sink], self.operators[wait.source]
                ready = _ready(start[wait.source], source, kind, cycle) - interval * cycle * wait.distance
                if sink.latency == 0 and sink.delay and ready % cycle + sink.delay > cycle:
                    ready = (ready // cycle + 1) * cycle
                if ready > start[wait.sink]:
                    start[wait.sink] = ready
                    moved = True
            if not moved:
                return True
        return False

    def _kind(self, wait: Wait) -> str:
        """The kind of a wait, where a read that takes no time is "no time"."""
        if wait.kind == "written" and wait.distance == 0:
            return "no time"
        if wait.kind == "value" and wait.source in self.arrays:
            direct = any(w.sink == wait.source and w.kind == "written" and w.distance == 0 for w in self.waits)
            if direct or self.in_registers(self.arrays[wait.source]):
                return "no time" if wait.distance == 0 else "register"
        return "register" if wait.kind == "value" and wait.distance else wait.kind


def _ready(start: int, source: Operator, kind: str, cycle: int) -> int:
    """When what an operation waits for is there."""
    match kind:
        case "no time":
            return start
        case "read":
            return start // cycle * cycle
        case "written" | "overwritten":
            return (start // cycle + 1) * cycle
        case "register":  # a value of an earlier iteration is kept in one
            return (start // cycle + max(1, source.latency)) * cycle
    return start // cycle * cycle + source.latency * cycle if source.latency else start + source.delay


def least_interval(kernel: Callable[..., Any], arguments: Mapping[str, np.ndarray], depth: int, target: Target) -> int:
    """The least interval with which the pipeline of the outermost `depth` loops gives what the kernel gives."""
    run = Run(target, depth)
    scope = {**kernel.__globals__, "range": run.range}
    traced = FunctionType(kernel.__code__, scope, kernel.__name__, kernel.__defaults__, kernel.__closure__)
    traced(**{name: Array(run, name, data.copy()) for name, data in arguments.items()})
    run.through_memory()
    low, high = 1, 1
    while not run.feasible(high, target.budget):
        low, high = high + 1, 2 * high
        assert high < 1 << 20, "no interval is enough"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if run.feasible(middle, target.budget) else (middle + 1, high)
    return low
