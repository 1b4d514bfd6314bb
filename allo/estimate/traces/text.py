"""Text of programs of traces: writing, streams and loops, and operations that are scheduled together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from mlir import ir

from ...customize.fifo.depths import depth_of
from ...dataflow.trace import USES, StreamUse
from ...errors import Location
from ...ir.access import (
    accessed,
    asks_stream,
    base_of,
    is_load,
    is_peek,
    is_put,
    makes_stream,
    waits_at_stream,
)
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import (
    LOOP_OPERATIONS,
    LoopView,
    argument_names,
    constant_bounds,
    induction_variable,
    location_of,
    operations,
    statements,
    string_of,
)
from ...poly.waiting.scalars import Scalars
from ...poly.waiting.terms import Truth, loop_variable
from ...timing.control.tree import FunctionTree
from ...timing.control.trees import Trees
from ...timing.pipeline import ScheduledRegion


def _stream_in(op: ir.Operation) -> str | None:
    """The name of the first stream that an operation, or one below it, uses."""
    for inner in (op, *_inside(op)):
        for value in inner.operands:
            if is_stream_type(value.type):
                base = base_of(value)
                if isinstance(base.owner, ir.Block):
                    return str(argument_names(base.owner.owner)[ir.BlockArgument(base).arg_number])
                return string_of(base.owner.operation, "allo.name")
    return None


def _inside(op: ir.Operation) -> list[ir.Operation]:
    """The operations below an operation."""
    return [inner for region in op.regions for block in region.blocks for inner in operations(block)]


class NoTrace(Exception):
    """Puts and gets, or their times, depend on what is known at run time only, because of what stands at a place."""

    def __init__(self, reason: str, op: ir.Operation, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.at: Location | None = location_of(op)
        self.stream = _stream_in(op)


@dataclass(slots=True)
class TraceText(ABC):
    """Calls of a `TraceRecorder` `R`; `t` is the cycle of the process; `a`, `y`, `z` take codes, cycles and intervals.

    `made` are the operations that make streams; `T` are tables of cycles of unrolled copies. If it is `scheduled`, a
    process does what it does in an iteration, or in one piece of straight code, in the order of the schedule, as a
    state machine does; else in that of the program. If it is `exact`, cycles are those of hardware of our own: nothing
    takes so many on average, and what waits tries again after an interval (`Trace.steps`).
    """

    module: Module
    trees: Trees
    made: Sequence[ir.Operation]
    scheduled: bool = True
    exact: bool = False
    lines: list[str] = field(default_factory=list)
    tables: list[object] = field(default_factory=list)
    _depth: int = 0
    _count: int = 0
    _scalars: Scalars = field(default_factory=Scalars)
    _streams: dict[ir.Value, str] = field(default_factory=dict)
    _inside: list[str] = field(default_factory=list)
    _axes: dict[int, str] = field(default_factory=dict)  # of variables of unrolled loops: which copy it is
    _offsets: list[int | None] = field(default_factory=list)  # cycles of puts and gets of a piece; None: some cycle
    _hoisted: set[ir.Value] = field(default_factory=set)  # streams that are made before a loop, once
    _effects: Effects = field(init=False)

    def __post_init__(self) -> None:
        self._effects = Effects(self.module)

    def _write(self, *lines: str) -> None:
        self.lines += ["  " * self._depth + line for line in lines]

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    @contextmanager
    def _under(self, head: str) -> Iterator[None]:
        self._write(head)
        self._depth += 1
        self._write("pass")
        yield
        self._depth -= 1

    def _matters(self, op: ir.Operation) -> bool:
        return self._effects.uses_streams(op)

    @property
    def _tree(self) -> FunctionTree:
        return self.trees.spans[self._inside[-1]].tree

    @abstractmethod
    def _called(self, op: ir.Operation) -> None:
        """Write what a call does."""

    # -- loops ----------------------------------------

    def _loop(self, view: LoopView) -> str:
        """Write the head of a loop, and go into it: the number of the iteration."""
        lower, upper, step = self._bounds(view)
        variable, number = self._name("i"), self._name("n")
        known = constant_bounds(view.op)
        values = None if known is None else (known[0], max(known[0], known[1] - 1))
        self._scalars.variable(induction_variable(view.op), loop_variable(variable, None, values))
        self._write(f"for {number}, {variable} in enumerate(range({lower}, {upper}, {step})):")
        self._depth += 1
        self._write("pass")
        return number

    def _condition(self, op: ir.Operation) -> Truth | None:
        """What is tested, if that is known without data."""
        return self._scalars.condition(op) if op.name in ("affine.if", "scf.if") else None

    def _are_bounds_known(self, view: LoopView) -> bool:
        try:
            self._bounds(view)
        except NoTrace:
            return False
        return True

    def _bounds(self, view: LoopView) -> tuple[str, str, int]:
        op = view.op
        if op.name == "affine.for":
            lower, upper = (self._scalars.bound(op, attribute) for attribute in ("lowerBoundMap", "upperBoundMap"))
            step: int | None = ir.IntegerAttr(op.attributes["step"]).value
        else:
            lower, upper, given = (self._scalars.term(value) for value in list(op.operands)[:3])
            step = None if given is None else given.constant
        if lower is not None and upper is not None and step is not None and step > 0:
            return lower.text, upper.text, step
        name, counts = self._tree.loop_name(view), self._tree.trips
        trips = counts.of(view)
        if trips.mean is None or not {view.name, f"{self._tree.name}:{view.name}"} & counts.given.keys():
            raise NoTrace(
                f"how often loop '{view.name}' runs is known at run time only", op,
                f'state how often it runs: trips={{"{name}": ...}}',
            )  # fmt: skip
        return "0", str(int(trips.mean) * (step or 1)), step or 1

    # -- operations ------------------------------------------------------------------------------------

    def _see(self, block: ir.Block) -> None:
        """What the operations of a block make that others are told of."""
        for op in statements(block):
            self._made(op)

    def _made(self, op: ir.Operation) -> None:
        if makes_stream(op) and op.results[0] in self._hoisted:
            return
        if makes_stream(op):
            kind = op.results[0].type
            count = prod(kind.shape) if isinstance(kind, ir.MemRefType) else 1
            name, number = self._name("s"), self.made.index(op)
            self._write(f"{name} = R.make({number}, {count}, {depth_of(kind)})")
            self._streams[op.results[0]] = name
        elif is_load(op) and is_stream_type(accessed(op).type):
            if accessed(op) in self._streams:
                self._streams[op.results[0]] = f"{self._streams[accessed(op)]} + {self._place(op)}"
        elif not len(op.regions) or len(op.results):
            self._scalars.see(op)

    def _straight(self, body: Sequence[ir.Operation], region: ScheduledRegion, at: str) -> None:
        """Puts and gets of operations that are scheduled together."""
        index = {node.op: node.index for node in region.graph.region.nodes}
        place, around, self._offsets = len(self.lines), self._offsets, []
        for op in body:
            self._scheduled(op, region, index, at)
        known = [offset for offset in self._offsets if offset is not None]
        if self.scheduled and not any(map(self._calls, body)) and (known != sorted(known) or None in self._offsets):
            mark = self._name("m")
            self.lines.insert(place, "  " * self._depth + f"{mark} = R.mark()")
            self._write(f"R.in_order({mark})")
        self._offsets = around

    def _calls(self, op: ir.Operation) -> bool:
        """Whether there are calls in an operation, which put or get in an order of their own."""
        return any(inner.name == "func.call" and self._matters(inner) for inner in (op, *_inside(op)))

    def _scheduled(self, op: ir.Operation, region: ScheduledRegion, index: dict[ir.Operation, int], at: str) -> None:
        if waits_at_stream(op):
            interval = region.schedule.interval or 1
            self._token(op, f"{at} + {self._offset(region, index[op])}", interval)
        elif op.name == "func.call" and self._matters(op):
            now = self._name("x")
            control = self._tree.around.target.control.call
            self._write(f"{now} = t", f"t = {at} + {self._offset(region, index[op])} + {control}")
            self._called(op)
            self._write(f"t = {now}")
        elif asks_stream(op):
            raise NoTrace("what is found in a stream depends on when processes run", op)
        elif len(op.regions) and self._matters(op):
            self._nested(op, region, index, at)

    def _nested(self, op: ir.Operation, region: ScheduledRegion, index: dict[ir.Operation, int], at: str) -> None:
        """A loop that is unrolled, or a condition, in operations that are scheduled together."""
        depth, axes = self._depth, dict(self._axes)
        if op.name in LOOP_OPERATIONS:
            view = self._tree.views[op]
            number = self._loop(view)
            variable = self._tree.around.model.loop(op).variable
            copies = enumerate(region.graph.region.copy_loops)
            self._axes |= {axis: number for axis, loop in copies if loop.variable == variable}
            self._inner(view.body, region, index, at)
        else:
            condition = self._condition(op)
            blocks = [inner.blocks[0] for inner in op.regions if len(inner.blocks)]
            if condition is None:
                self._either(op, blocks, region, index, at)
                return
            for head, block in zip((f"if {condition.text}:", "else:"), blocks, strict=False):
                with self._under(head):
                    self._inner(block, region, index, at)
        self._depth, self._axes = depth, axes

    def _either(
        self,
        op: ir.Operation,
        blocks: Sequence[ir.Block],
        region: ScheduledRegion,
        index: dict[ir.Operation, int],
        at: str,
    ) -> None:
        """Whichever arm data choose, they put and get the same; each when the later arm does."""
        lines, count = len(self.lines), self._count
        arms: list[list[tuple[str, str, str]]] = []
        for block in blocks:
            self._count = count
            self._inner(block, region, index, at)
            arms.append([line.partition(" y(") for line in self.lines[lines:]])
            del self.lines[lines:]
        heads = [[line if self.exact else line[0] for line in arm] for arm in arms]
        if len(arms) != 2 or heads[0] != heads[1]:
            raise NoTrace("whether a stream is used depends on data", op)
        for (head, mark, cycle), (_, _, other) in zip(*arms, strict=True):
            self.lines.append(f"{head} y(max({cycle.removesuffix(')')}, {other.removesuffix(')')}))" if mark else head)

    def _inner(self, block: ir.Block, region: ScheduledRegion, index: dict[ir.Operation, int], at: str) -> None:
        self._see(block)
        for op in statements(block):
            self._scheduled(op, region, index, at)

    def _offset(self, region: ScheduledRegion, number: int) -> str:
        """The cycle in which an operation starts, which copies of it may do one after the other."""
        table = region.schedule.cycles[number]
        if table.size == 1:
            self._offsets.append(int(table.min()))
            return str(int(table.min()))
        self._offsets.append(None)
        name = f"T[{len(self.tables)}]"
        self.tables.append(table.tolist())
        places = (self._axes.get(axis, "0") if extent > 1 else "0" for axis, extent in enumerate(table.shape))
        return name + "".join(f"[{place}]" for place in places)

    def _token(self, op: ir.Operation, cycle: str, interval: int) -> None:
        stream = self._streams.get(accessed(op))
        if stream is not None:  # those of other programs are always ready
            use = StreamUse.PUT if is_put(op) else StreamUse.PEEK if is_peek(op) else StreamUse.GET
            again = f" z({interval});" if self.exact else ""
            self._write(f"a({USES} * ({stream}) + {use.value});{again} y({cycle})")

    def _place(self, load: ir.Operation) -> str:
        """The number of the stream that is taken from an array, row by row."""
        terms = self._scalars.subscripts(load)
        if terms is None:
            raise NoTrace("which stream is used depends on data", load)
        place = "0"
        for extent, term in zip(ir.MemRefType(accessed(load).type).shape, terms, strict=True):
            place = f"({place}) * {extent} + {term.text}"
        return f"({place})"
