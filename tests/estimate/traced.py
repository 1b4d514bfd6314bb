"""What the iterations of a pipelined loop wait for, found by running the kernel itself on arrays that keep a record.

Nothing of the estimator is used but the latencies of the target: an operation is an instruction of the Python function
with the values of the loops inside of the pipelined one. Where a rule of the estimator is debatable, this takes the
side of the shorter interval, so that less than `least_interval` is certainly wrong.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter
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
class Rule:
    """A wait between numbered times; `of` is the operation whose operator decides how long it takes."""

    source: int
    sink: int
    distance: int
    kind: str
    of: int


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
        """What the branches write waits for it: a write cannot be taken back."""
        return self.run.condition(self, bool(self.number > (other.number if isinstance(other, Value) else other)))

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
        self.run.write(self, at, inputs, [value] if isinstance(value, Value) else [])
        self.data[at] = value.number if isinstance(value, Value) else value


def _plain(index: Any) -> tuple[tuple[int, ...], list[Value]]:
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(int(part) for part in parts), [part for part in parts if isinstance(part, Value)]


class Run:
    """Runs of a kernel; the loops down to `depth` are the pipeline, those inside of it are unrolled."""

    def __init__(self, target: Target, depth: int) -> None:
        self.target, self.depth = target, depth
        self.numbers: dict[Key, int] = {}
        self.operators: list[Operator] = []  # by operation
        self.elements: dict[int, set[Key]] = {}
        self.arrays: dict[int, str] = {}
        self.waits: set[Wait] = set()
        self.fetched: set[int] = set()  # reads that get a value from the memory, at least once
        self.looked_up: set[int] = set()  # accesses whose subscripts are data
        self.reads: Counter[int] = Counter()  # how often each read takes place
        self.given: Counter[tuple[int, int]] = Counter()  # and how often it gets what a write of the iteration leaves
        self.stack: list[int] = []
        self.conditions: dict[int, list[int]] = {}  # by line of the kernel, those of the conditions around
        self.compared: dict[int, Value] = {}  # by line, the last comparison
        self.iteration = -1
        self.uses: list[tuple[Key, Use, bool]] = []

    def execute(self, kernel: Callable[..., Any], arguments: Mapping[str, np.ndarray]) -> None:
        """One run of the kernel; what waits for what adds up over several, which are one pipeline with other data."""
        self.iteration, self.uses = -1, []
        self.conditions, self.compared = _conditions(kernel), {}
        scope = {**kernel.__globals__, "range": self.range}
        traced = FunctionType(kernel.__code__, scope, kernel.__name__, kernel.__defaults__, kernel.__closure__)
        traced(**{name: Array(self, name, data.copy()) for name, data in arguments.items()})
        self.through_memory()

    def range(self, *bounds: int) -> Iterator[int]:
        """Python's own, but for keeping what runs."""
        for value in range(*bounds):
            self.stack.append(value)
            if len(self.stack) == self.depth:
                self.iteration += 1
            yield value
            self.stack.pop()

    def _frame(self) -> Any:
        """Where the kernel is."""
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == __name__:
            frame = frame.f_back
        return frame

    def _number(self, operator: Operator) -> Use:
        key = (self._frame().f_lasti, *self.stack[self.depth :])
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

    def condition(self, value: Value, holds: bool) -> bool:
        """A comparison of floats that decides on a branch."""
        use = self._number(self.target.floating("compare", "f32"))
        self._values([value], use)
        self.compared[self._frame().f_lineno] = Value(self, holds, use)
        return holds

    def read(self, array: Array, at: tuple[int, ...], subscripts: Sequence[Value]) -> Value:
        """A use of an element; what it waits for is found at the end."""
        use = self._access(array, at, subscripts, "read")
        self.looked_up |= {use.operation} if subscripts else set()
        return Value(self, array.data[at], use)

    def write(
        self, array: Array, at: tuple[int, ...], subscripts: Sequence[Value], values: Sequence[Value]
    ) -> None:
        around = self.conditions.get(self._frame().f_lineno, ())
        conditions = [self.compared[line] for line in around if line in self.compared]
        use = self._access(array, at, [*subscripts, *values, *conditions], "write")
        self.looked_up |= {use.operation} if subscripts else set()

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
                if key in stays:
                    self._wait(stays[key], use, "overwritten")
                stays[key] = use
                continue
            self.reads[use.operation] += 1
            if key in last:
                self._wait(last[key], use, "written")
                if last[key].iteration == use.iteration:
                    self.given[last[key].operation, use.operation] += 1
                if last[key].iteration == use.iteration:
                    continue  # nothing is read from the memory
            self.fetched.add(use.operation)
            readers.setdefault(key, []).append(use)

    def _wait(self, source: Use, sink: Use, kind: str) -> None:
        self.waits.add(Wait(source.operation, sink.operation, sink.iteration - source.iteration, kind))

    def in_registers(self, array: str) -> bool:
        """Whether each operation keeps to one element of the array, which then need not be in the memory."""
        own = [n for n, name in self.arrays.items() if name == array]
        return all(len(self.elements[n]) == 1 for n in own)

    def passes_on(self, wait: Wait) -> bool:
        """Whether a value of the same iteration is there at once: no hardware compares subscripts that are data, so it
        takes the way through memory unless the read always gets it."""
        always = self.given[wait.source, wait.sink] == self.reads[wait.sink]
        return always or not {wait.source, wait.sink} & self.looked_up

    def rules(self) -> list[Rule]:
        """The waits between the starts of operations (even numbers) and when the values of reads are there (odd ones).

        A value that the same iteration has written is there at once (`passes_on`). Others come from the memory, unless
        the array is kept in registers; to a read that gets both, they come in time for both.
        """
        at_once = [w for w in self.waits if w.kind == "written" and w.distance == 0]
        compared = {wait.sink for wait in at_once if not self.passes_on(wait)}
        kept = {name for name in self.arrays.values() if self.in_registers(name)}
        found = set[Rule]()
        for n, name in self.arrays.items():
            kind = "fetched" if n in self.fetched | compared and name not in kept else "no time"
            found.add(Rule(2 * n, 2 * n + 1, 0, kind, n))
        for wait in self.waits:
            source, sink, kind = 2 * wait.source, 2 * wait.sink, wait.kind
            if kind == "written" and wait.distance == 0 and self.passes_on(wait):
                sink, kind = sink + 1, "no time"
            elif kind == "value":
                is_read = wait.source in self.arrays
                source += is_read
                kind = "register" if wait.distance else "no time" if is_read else "value"
            if kind != "overwritten" or self.arrays[wait.source] not in kept:
                found.add(Rule(source, sink, wait.distance, kind, wait.source))
        return sorted(found, key=lambda rule: (rule.sink, rule.source, rule.distance, rule.kind))

    def feasible(self, interval: int, cycle: int) -> bool:
        """Whether times exist, in ps, that are the same in each iteration and that nothing contradicts."""
        start = [0] * (2 * len(self.operators))
        rules = self.rules()
        for _ in range(3 * len(start) + 3):
            moved = False
            for rule in rules:
                sink = self.operators[rule.sink // 2]
                ready = _ready(start[rule.source], self.operators[rule.of], rule.kind, cycle)
                ready -= interval * cycle * rule.distance
                if sink.latency == 0 and sink.delay and ready % cycle + sink.delay > cycle:
                    ready = (ready // cycle + 1) * cycle
                if ready > start[rule.sink]:
                    start[rule.sink] = ready
                    moved = True
            if not moved:
                return True
        return False


def _conditions(kernel: Callable[..., Any]) -> dict[int, list[int]]:
    """For each line of a kernel the lines of the conditions around it."""
    lines, first = inspect.getsourcelines(kernel)
    found: dict[int, list[int]] = {}
    for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
        if isinstance(node, ast.If):
            for inner in (*node.body, *node.orelse):
                for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1):
                    found.setdefault(first + line - 1, []).append(first + node.lineno - 1)
    return found


def _ready(start: int, source: Operator, kind: str, cycle: int) -> int:
    """When what an operation waits for is there."""
    match kind:
        case "fetched":
            return (start // cycle + source.latency) * cycle
        case "no time":
            return start
        case "read":
            return start // cycle * cycle
        case "written" | "overwritten":
            return (start // cycle + 1) * cycle
        case "register":  # a value of an earlier iteration is kept in one
            return (start // cycle + max(1, source.latency)) * cycle
    return start // cycle * cycle + source.latency * cycle if source.latency else start + source.delay


def least_interval(
    kernel: Callable[..., Any], data: Sequence[Mapping[str, np.ndarray]], depth: int, target: Target
) -> int:
    """The least interval with which the pipeline of the outermost `depth` loops gives what the kernel gives, for each
    of several sets of arguments: hardware is made before data are known."""
    run = Run(target, depth)
    for arguments in data:
        run.execute(kernel, arguments)
    low, high = 1, 1
    while not run.feasible(high, target.budget):
        low, high = high + 1, 2 * high
        assert high < 1 << 20, "no interval is enough"
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if run.feasible(middle, target.budget) else (middle + 1, high)
    return low
