"""Interleaved order of processes that wait for each other: one sequence of statements, without streams.

The processes of regions take turns as in a run, with FIFOs that hold any number of elements: each goes on until it gets
from an empty one. Loops around puts and gets are written out, what is put is the value that is got. Which statements
come in which order does not change results, and whether a FIFO is too shallow is another question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from mlir import ir

from ...ir.access import (
    accessed,
    callee_name,
    is_affine_access,
    is_at_stream,
    is_get,
    is_load,
    is_put,
    makes_stream,
)
from ...ir.access import subscripts as subscripts_of
from ...ir.builder import Builder, index_type
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.processes import is_region, region_statements, spatial_loops
from ...ir.streams import KEEPS, is_stream_type
from ...ir.walk import constant_bounds, entry_block, induction_variable, operations, statements
from ...poly.apart import Apartness
from ...poly.waiting.scalars import Scalars
from ...poly.waiting.terms import number

_MOST_STATEMENTS = 20_000  # that are written out

type _Channel = tuple[int, tuple[int, ...]]  # a FIFO: what makes it, and its place in an array
type _Turn = Iterator[None]  # a process: each step ends where it waits


class NoTurns(Exception):
    """Why processes are not put in an interleaved order."""


@dataclass(slots=True)
class _Names:
    """What values of the text are in one process: values that were written, FIFOs, integers that are known."""

    values: dict[ir.Value, ir.Value] = field(default_factory=dict)
    streams: dict[ir.Value, _Channel] = field(default_factory=dict)
    scalars: Scalars = field(default_factory=Scalars)

    def copy(self) -> _Names:
        return replace(
            self, values=dict(self.values), streams=dict(self.streams), scalars=Scalars(dict(self.scalars.known))
        )

    def integer(self, value: ir.Value) -> int:
        term = self.scalars.term(value)
        if term is None or term.constant is None:
            raise NoTurns("which stream is used, or how often, depends on data")
        return term.constant


@dataclass(slots=True, eq=False)
class _Process:
    steps: _Turn
    after: tuple[_Process, ...] = ()
    done: bool = False


@dataclass(slots=True)
class _Turns:
    module: Module
    end: ir.Operation  # what is written stands before it
    are_apart: Apartness
    queues: dict[_Channel, deque[ir.Value]] = field(default_factory=dict)
    alive: list[_Process] = field(default_factory=list)
    keeping: set[int] = field(default_factory=set)  # what makes FIFOs that have elements at their end, as credits do
    made: int = 0
    written: int = 0
    progress: bool = True

    @property
    def effects(self) -> Effects:
        return self.are_apart.effects

    # -- processes -------------------------------------------------------------------------------------

    def run(self, main: _Turn) -> None:
        """Let all take turns until the first has ended."""
        first = _Process(main)
        self.alive.append(first)
        while not first.done:
            self.progress = False
            for process in list(self.alive):
                if any(not other.done for other in process.after):
                    continue
                try:
                    next(process.steps)
                except StopIteration:
                    process.done = self.progress = True
                    self.alive.remove(process)
            if not self.progress:
                raise NoTurns("its tasks wait for ever")
        if any(left for (made, _), left in self.queues.items() if made not in self.keeping):
            raise NoTurns("elements are left in a stream")

    def region(self, block: ir.Block, names: _Names) -> _Turn:
        """The statements of a region: processes are started, others wait for those before them."""
        started: dict[ir.Operation, list[_Process]] = {}
        for statement in region_statements(self.effects, block, self.are_apart):
            op = statement.op
            before = tuple(process for other in statement.after for process in started[other])
            if statement.is_process:
                spatial = spatial_loops(op)
                started[op] = []
                for place in product(*(range(*(constant_bounds(loop) or (0, 0, 1))) for loop in spatial)):
                    own = names.copy()
                    steps = self.statement(op, own, dict(zip(spatial, place, strict=True)))
                    started[op].append(_Process(steps, before))
                self.alive += started[op]
                self.progress = True
                continue
            yield from _until(before)
            yield from self.statement(op, names, {})
        yield from _until([process for own in started.values() for process in own])

    def block(self, block: ir.Block, names: _Names, place: dict[ir.Operation, int]) -> _Turn:
        if is_region(block):
            yield from self.region(block, names)
            return
        for op in statements(block):
            if op.name not in ("func.return", "affine.yield", "scf.yield"):
                yield from self.statement(op, names, place)

    # -- statements ------------------------------------------------------------------------------------

    def statement(self, op: ir.Operation, names: _Names, place: dict[ir.Operation, int]) -> _Turn:
        """What a statement does, for positions `place` of the loops that are processes."""
        if makes_stream(op):
            self.made += 1
            if KEEPS in op.attributes:
                self.keeping.add(self.made)
            names.streams[op.results[0]] = self.made, ()
        elif is_load(op) and is_stream_type(accessed(op).type):
            names.streams[op.results[0]] = names.streams[accessed(op)][0], self.subscripts(op, names)
        elif is_put(op):
            self.queue(op, names).append(names.values.get(op.operands[1], op.operands[1]))
            self.progress = True
        elif is_get(op):
            queue = self.queue(op, names)
            while not queue:
                yield
            names.values[op.results[0]] = queue.popleft()
            self.progress = True
        elif is_at_stream(op):
            raise NoTurns("what is found in a stream depends on when tasks run")
        elif op in place or self.effects.uses_streams(op):
            yield from self.inside(op, names, place)
        else:
            self.write(op, names)

    def queue(self, op: ir.Operation, names: _Names) -> deque[ir.Value]:
        channel = names.streams.get(accessed(op))
        if channel is None:
            raise NoTurns("a stream comes from outside")
        return self.queues.setdefault(channel, deque())

    def subscripts(self, load: ir.Operation, names: _Names) -> tuple[int, ...]:
        found = subscripts_of(load)
        if not is_affine_access(load):
            return tuple(names.integer(value) for value in found)
        terms = names.scalars.mapped(ir.AffineMapAttr(load.attributes["map"]).value, found)
        constants = [] if terms is None else [term.constant for term in terms]
        if terms is None or None in constants:
            raise NoTurns("which stream is used depends on data")
        return tuple(constant for constant in constants if constant is not None)

    def inside(self, op: ir.Operation, names: _Names, place: dict[ir.Operation, int]) -> _Turn:
        """A call, a loop or a condition around puts and gets."""
        if op.name == "func.call":
            yield from self.call(op, names)
        elif op.name in ("affine.for", "scf.for") and not len(op.results):
            body = op.regions[0].blocks[0]
            for value in (place[op],) if op in place else self.values(op, names):
                names.scalars.variable(induction_variable(op), number(value))
                names.values[induction_variable(op)] = self.index(value)
                yield from self.block(body, names, place)
        elif op.name in ("affine.if", "scf.if") and not len(op.results):
            condition = names.scalars.condition(op)
            if condition is None:
                raise NoTurns("whether a stream is used depends on data")
            arm = op.regions[0 if eval(condition.text) else 1]  # integers and comparisons that we have written
            for block in arm.blocks:
                yield from self.block(block, names, place)
        else:
            raise NoTurns("whether a stream is used depends on data")

    def call(self, op: ir.Operation, names: _Names) -> _Turn:
        entry = entry_block(self.module.function(callee_name(op)))
        if entry is None or len(op.results):
            raise NoTurns(f"nothing is known of the streams of '{callee_name(op)}'")
        own = _Names()
        for argument, value in zip(entry.arguments, op.operands, strict=True):
            if value in names.scalars.known:
                own.scalars.known[argument] = names.scalars.known[value]
            own.values[argument] = names.values.get(value, value)
            if value in names.streams:
                own.streams[argument] = names.streams[value]
        yield from self.block(entry, own, {})

    def values(self, loop: ir.Operation, names: _Names) -> range:
        if loop.name == "scf.for":
            return range(*(names.integer(value) for value in list(loop.operands)[:3]))
        bounds = [names.scalars.bound(loop, which) for which in ("lowerBoundMap", "upperBoundMap")]
        ends = [None if bound is None else bound.constant for bound in bounds]
        if ends[0] is None or ends[1] is None:
            raise NoTurns("how often a stream is used depends on data")
        return range(ends[0], ends[1], ir.IntegerAttr(loop.attributes["step"]).value)

    # -- what is written -------------------------------------------------------------------------------

    def index(self, value: int) -> ir.Value:
        return Builder.before(self.end).constant(index_type(), value)

    def write(self, op: ir.Operation, names: _Names) -> None:
        """A copy of a statement that uses no stream."""
        names.scalars.see(op)
        copy = op.clone(ir.InsertionPoint(self.end)).operation
        inner = [copy, *(i for region in copy.regions for block in region.blocks for i in operations(block))]
        for one in inner:
            for position, operand in enumerate(one.operands):
                if operand in names.values:
                    one.operands[position] = names.values[operand]
        self.written += len(inner)
        if self.written > _MOST_STATEMENTS:
            raise NoTurns(f"its tasks take turns over more than {_MOST_STATEMENTS:,} statements")
        names.values.update(zip(op.results, copy.results, strict=True))


def _until(processes: Sequence[_Process]) -> _Turn:
    while any(not process.done for process in processes):
        yield


def take_turns(module: Module) -> None:
    """Replace the body of the entry, whose processes wait for each other; raises NoTurns, with it unchanged."""
    entry = entry_block(module.function(module.top))
    assert entry is not None
    old = statements(entry)
    if not is_region(entry):
        raise NoTurns("it is no region")
    turns = _Turns(module, old[-1], Apartness(module))
    first, names = len(old) - 1, _Names()
    try:
        turns.run(turns.region(entry, names))
    except NoTurns:
        for op in reversed(statements(entry)[first:-1]):
            op.erase()
        raise
    for position, value in enumerate(old[-1].operands):
        old[-1].operands[position] = names.values.get(value, value)
    for op in reversed(old[:-1]):
        op.erase()
