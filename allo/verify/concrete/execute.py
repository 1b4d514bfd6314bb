"""Execution of a program on expressions, and what is told when it cannot go on."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ...poly.model import Source, source_of
from ..program.programs import Program
from .emit import Executable, Storage, emit
from .engine import ExpressionGraph, Ids, Run, Status, Stop
from .lowered import held, lower
from .operators import BIT, OpKind, ScalarOperator, ScalarType, comparison, extension, integer_operator

_TURNS = 2_000_000  # of loops, between two looks at the clock


@dataclass(frozen=True, slots=True)
class ComputedOutput:
    """What a program leaves in an argument (its name) or returns (`result 0`): an expression for each element."""

    name: str
    shape: tuple[int, ...]
    ids: Ids
    run: Run
    made: Executable
    place: Storage

    def writer(self, element: int) -> Source | None:
        """The statement that has written an element (by its position row by row) last."""
        if self.place.array is None:
            return None
        op = self.made.origins.get(self.run.writer(self.place.array, element))
        return None if op is None else source_of(op)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outputs of a program that came to its end, and the streams in which elements were left."""

    outputs: tuple[ComputedOutput, ...]
    left_over: tuple[tuple[str, int], ...]
    run: Run
    made: Executable

    def escape_beyond(self, other: Outcome) -> Failure | None:
        """A read outside of an array in a branch on data, in which `other` leaves none."""
        at = self.run.escape_beyond(other.run)
        if at is None:
            return None
        array = self.made.names[self.made.code[at + 2]]
        reason = f"a branch that depends on data reads outside of '{array}'"
        return Failure(reason, source_of(self.made.origins[at]))


@dataclass(frozen=True, slots=True)
class Failure:
    """A program that cannot go on. `is_error`: it would fail on a CPU too (`array` and `element` if that is known)."""

    reason: str
    at: Source | None
    is_error: bool = False
    array: str = ""
    element: tuple[int, ...] = ()


def execute(graph: ExpressionGraph, program: Program, deadline: float) -> Outcome | Failure:
    """Run a program on expressions; raises Unsupported if it has operations without a meaning there."""
    lowered = lower(program)
    made = emit(graph, lowered)
    equal, both = graph.operator(comparison(0)), graph.operator(integer_operator("arith.andi", BIT.width))
    _enter_scalars(graph, program, made)
    run = Run(graph, made.code, made.registers, made.arrays, equal, both)
    for array, values in made.contents.items():
        run.cells(array)[:] = values
    for position, place in enumerate(made.arguments):
        if place.array is not None:
            leaf, extend = _input(graph, program, position, place.type)
            run.fill_with_inputs(place.array, leaf, extend)
    for place in (*made.arguments, *made.results):
        if place.array is not None:
            run.track(place.array)
    while (stop := run.resume(_TURNS)).status == Status.PAUSED:
        if time.process_time() > deadline:
            return Failure("the time is over", _source(made, stop))
    if stop.status != Status.DONE:
        return _failure(graph, made, stop)
    return Outcome(tuple(_outputs(program, made, run)), tuple(_left_over(made, run)), run, made)


def leaf_of(argument: int, scalar: ScalarType) -> ScalarOperator:
    """The inputs of an argument as operators on their position (row by row)."""
    return ScalarOperator("input", OpKind.LEAF, 0, scalar, f"{argument} {scalar}", extra=argument)


def _input(graph: ExpressionGraph, program: Program, position: int, container: ScalarType) -> tuple[int, int]:
    """The operators that make the inputs of an argument, and that put them into containers (0: none)."""
    inner = held(program.arguments[position].type)
    if container.code or inner is None or inner[0] >= container.width:
        return graph.operator(leaf_of(position, container)), 0
    scalar = ScalarType(0, inner[0])
    return graph.operator(leaf_of(position, scalar)), graph.operator(extension(scalar, container, inner[1]))


def _enter_scalars(graph: ExpressionGraph, program: Program, made: Executable) -> None:
    for position, place in enumerate(made.arguments):
        if place.array is None:
            inner = held(program.arguments[position].type)
            width = place.type.width if inner is None or place.type.code else min(inner[0], place.type.width)
            scalar = ScalarType(place.type.code, width)
            leaf = graph.node(leaf_of(position, scalar), 0, 0)
            if width < place.type.width:
                assert inner is not None
                leaf = graph.node(extension(scalar, place.type, inner[1]), leaf)
            made.registers[place.register] = leaf


def _outputs(program: Program, made: Executable, run: Run) -> list[ComputedOutput]:
    found = []
    for argument, place in zip(program.arguments, made.arguments, strict=True):
        if place.array is not None:
            found.append(ComputedOutput(argument.name, place.shape, run.cells(place.array), run, made, place))
    for number, place in enumerate(made.results):
        found.append(ComputedOutput(f"result {number}", place.shape, _ids(run, place), run, made, place))
    return found


def _ids(run: Run, place: Storage) -> Ids:
    if place.array is not None:
        return run.cells(place.array)
    return np.array([run.register(place.register) & 0xFFFFFFFF], dtype=np.uint32)


def _left_over(made: Executable, run: Run) -> list[tuple[str, int]]:
    return [(_stream(made, origin, index), count) for origin, index, count in run.left_over()]


def _stream(made: Executable, origin: int, index: int) -> str:
    name = made.streams[origin]
    sizes = [made.arrays[k][0] for k, known in enumerate(made.names) if known == name]
    return f"{name}[{index}]" if sizes and sizes[0] > 1 else name


def _source(made: Executable, stop: Stop) -> Source | None:
    op = made.origins.get(stop.at)
    return None if op is None else source_of(op)


def _too_large(graph: ExpressionGraph) -> str:
    count = len(graph) - 1
    if count + 1 >= graph.limit:
        return f"too large: more than {count:,} different expressions"
    return f"too large: more than {count:,} different expressions, in the limit of {graph.memory / 1e9:g} GB for them"


def _failure(graph: ExpressionGraph, made: Executable, stop: Stop) -> Failure:
    """What is told about a program that has stopped before its end."""
    at = _source(made, stop)
    first, second, third = stop.details
    match stop.status:
        case Status.OUT_OF_BOUNDS:
            array = made.names[made.code[stop.at + 2]]
            verb = "reads" if made.origins[stop.at].name.endswith("load") else "writes"
            reason = f"{verb} outside of '{array}': subscript {first} is {second}, and the extent is {third}"
            return Failure(reason, at, True, array)
        case Status.EMPTY_STREAM:
            name = _stream(made, first, second)
            return Failure(
                f"waits for ever (deadlock): gets from '{name}', into which nothing puts any more",
                at,
                True,
                name,
            )
        case Status.TOO_MANY_NODES:
            return Failure(_too_large(graph), at)
        case Status.SYMBOLIC_NUMBER:
            return Failure("a bound or a subscript depends on data", at)
        case Status.SYMBOLIC_STREAM:
            return Failure("whether a stream is used depends on data", at)
        case Status.SYMBOLIC_SUBSCRIPT:
            return Failure("a subscript that depends on data may mean too many elements", at)
        case Status.SYMBOLIC_CONDITION:
            return Failure("how often a loop runs depends on data", at)
        case Status.SYMBOLIC_STORE:
            return Failure("a branch that depends on data writes outside of an array", at)
        case Status.UNDEFINED_NUMBER:
            return Failure("a division by zero, or a loop whose step is not positive", at, True)
    return Failure("the branches that depend on data are too long", at)
