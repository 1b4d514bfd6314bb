"""Clocks of processes: machine code that counts the cycles of the static schedules, and notes when streams are used.

The clock of a process is what it would show if the process never waited. It passes as the control of the target does:
loops enter, iterate and leave, pipelines start an iteration each interval, conditions take the branch that runs. So
extents and branches that data decide are exact too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence as Operations
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ....errors import DataflowError, InternalError, Location
from ....ir.access import asks_stream, callee_name, waits_at_stream
from ....ir.builder import Builder
from ....ir.effects import Effects, with_inner
from ....ir.module import Module
from ....ir.processes import is_process, spatial_loops
from ....ir.walk import (
    LoopView,
    constant_bounds,
    induction_variable,
    location_of,
    statements,
    trip_count,
)
from ....timing.control.tree import (
    ArrayCopy,
    Branch,
    Dataflow,
    FunctionTree,
    Invocation,
    Node,
    Pipeline,
    Repeat,
    Sequence,
    Spatial,
    Straight,
    label,
    nodes,
)
from ....timing.control.trees import Trees
from ....timing.pipeline import ScheduledRegion
from ....timing.problem.region import RegionNode
from ....timing.roles import is_pure
from .clock_code import ClockCode, apart, once


@dataclass(frozen=True, slots=True)
class ProcessSite:
    """A statement of a region: what its processes are called, where it is, and the extents of its grid.

    `loop` is true for stages of a loop whose iterations overlap: each goes on when its last iteration has ended.
    """

    name: str
    line: Location | None
    extents: tuple[int, ...] = ()
    loop: bool = False


class Clocks:
    """Puts clocks into all functions of a module, by the control trees of its own operations."""

    def __init__(self, module: Module, trees: Trees) -> None:
        self.module, self.trees = module, trees
        self.effects = Effects(module)
        self.code = ClockCode(module)
        self.sites = [ProcessSite(module.top, location_of(module.function(module.top).operation))]
        self._fixed: dict[str, bool] = {}
        self._loops: dict[Node, Fraction | None] = {}

    def write(self) -> None:
        """Rewrite the module, whose top function is a process of its own. Raises DataflowError for what has no time."""
        trees = [found.tree for found in self.trees.spans.values()]
        for tree in trees:  # before anything changes
            self._is_fixed(tree.name)
            for node in nodes(tree.root):
                if isinstance(node, Pipeline | Repeat) and self._same(node):
                    self._loops[node] = self.trees.spans[tree.name].of(node).latency
        for tree in trees:
            if not self._is_fixed(tree.name) or tree.name == self.module.top:
                _FunctionClock(self, tree).write()

    def known(self, call: Invocation) -> int | None:
        """The cycles that each call of a function takes; None if they vary, or if it uses streams.

        Raises DataflowError for an external kernel.
        """
        if call.callee not in self.trees.spans:
            raise DataflowError(
                f"how long the external kernel '{call.callee}' takes is not known, and so is when its caller goes on",
                at=location_of(call.op), hint="time a design of which all kernels are written in Python",
            )  # fmt: skip
        latency = self.trees.span(call.callee).latency
        return None if latency is None or not self._is_fixed(call.callee) else math.ceil(latency)

    def cycles(self, node: Pipeline | Repeat) -> int | None:
        """The cycles of a loop that always takes the same time, and uses no stream."""
        latency = self._loops.get(node)
        return None if latency is None else math.ceil(latency)

    def _is_fixed(self, name: str) -> bool:
        if name not in self._fixed:
            self._fixed[name] = False
            tree = self.trees.spans[name].tree
            self._fixed[name] = not self.effects.uses_streams(tree.function.operation) and self._same(tree.root)
        return self._fixed[name]

    def _same(self, node: Node) -> bool:
        """Whether a node always takes the same time, and uses no stream."""
        match node:
            case Straight():
                return not any(map(self.effects.uses_streams, node.body))
            case Pipeline():
                bounded = all(constant_bounds(view.op) is not None for view in node.loops)
                return bounded and not self.effects.uses_streams(node.view.op)
            case Repeat():
                return constant_bounds(node.view.op) is not None and self._same(node.body)
            case Sequence():
                return all(map(self._same, node.parts))
            case Invocation():
                return node.callee in self.trees.spans and self._is_fixed(node.callee)
            case ArrayCopy():
                return node.cycles is not None
            case Branch() | Dataflow() | Spatial():
                return False


class _FunctionClock:
    """The clock in one function."""

    def __init__(self, clocks: Clocks, tree: FunctionTree) -> None:
        self.clocks, self.code, self.tree = clocks, clocks.code, tree
        # loops over the elements of unfolded nests; no set, since operations hash by what is in them
        self.elements: list[ir.Operation] = []

    def write(self) -> None:
        root, end = self.tree.root, Builder.before(statements(self.tree.entry)[-1])
        if isinstance(root, Dataflow):
            self._region(root)
            self.code.advance_behind_tasks(end, self.tree.control)
        else:
            self._node(root)
            self.code.advance(end, self.tree.control)

    def _node(self, node: Node) -> None:
        """What runs one after the other."""
        match node:
            case Straight():
                self._events(node.region, node.body)
                last = node.body[-1]
                self.code.advance(Builder.before(last) if _ends(last) else _behind(last), node.depth)
            case Sequence():
                for part in node.parts:
                    self._node(part)
            case Branch():
                for branch in node.branches:
                    self._node(branch)
            case Pipeline() | Repeat():
                self._loop(node)
            case Invocation():
                self._call(node)
            case ArrayCopy():
                if node.cycles is None:
                    raise DataflowError(
                        "how long the copy of an array of run-time extents takes is not known", at=location_of(node.op)
                    )
                self.code.advance(_behind(node.op), node.cycles)
            case Spatial() if node.view.op in self.elements:
                self._node(node.body)
            case Spatial():
                raise DataflowError(
                    f"loop '{node.view.name}' is unfolded, but is no statement of a dataflow region: when its elements "
                    "begin is not known", at=location_of(node.view.op), hint="mark the function as a dataflow region",
                )  # fmt: skip
            case Dataflow():
                raise InternalError("a dataflow region is neither a function nor the body of a loop")

    def _call(self, node: Invocation) -> None:
        cycles = self.clocks.known(node)
        if cycles is None:
            self.code.advance(Builder.before(node.op), node.control)
        else:
            self.code.advance(_behind(node.op), cycles + node.control)

    # -- loops -------------------------------------------------------------------------------------------

    def _loop(self, node: Pipeline | Repeat) -> None:
        op = node.view.op
        if (cycles := self.clocks.cycles(node)) is not None:
            self.code.advance(_behind(op), cycles)
            return
        for view in node.loops if isinstance(node, Pipeline) else (node.view,):
            if "allo.parallel" in view.op.attributes:
                del view.op.attributes["allo.parallel"]  # threads of a pool have no clock
        match node:
            case Pipeline():
                self._pipeline(node)
            case Repeat(body=Dataflow() as body):
                self._region(body, overlapped=True)
                self.code.advance(_behind(op), node.control)
            case Repeat(body=Straight() as body):  # iterations, or groups of those that are unrolled, one by one
                self._events(body.region, body.body, -body.depth)
                self._start(body.region, node.view, body.depth + node.each)
                self._around(node)
            case Repeat():
                self._node(node.body)
                self._around(node)
                last = node.view.op.regions[-1].blocks[0]  # of a while loop, what runs once an iteration
                self.code.advance(Builder.before(statements(last)[0]), node.each)

    def _around(self, node: Repeat) -> None:
        self.code.advance(Builder.before(node.view.op), node.enter)
        self.code.advance(_behind(node.view.op), node.leave)

    def _pipeline(self, node: Pipeline) -> None:
        outer, inner = node.loops[0].op, node.loops[-1]
        self._events(node.region, statements(inner.body), -node.interval)
        self._calls(node.region, -node.interval)
        self._start(node.region, inner, node.interval)
        at, behind = Builder.before(outer), _behind(outer)
        whole = node.depth - node.interval + node.leave
        self.code.advance(at, node.enter)
        if all(constant_bounds(view.op) is not None for view in node.loops) and node.trips:
            self.code.advance(behind, whole)
            return
        before, after = self.code.clock(at), self.code.clock(behind)
        self.code.advance(behind, self.code.where_equal(behind, (before, after), node.leave, whole))  # none has run

    def _start(self, region: ScheduledRegion, view: LoopView, cycles: int) -> None:
        """Let cycles go by at the start of each iteration, or of each group."""
        at = Builder.before(statements(view.body)[0])
        loop = region.graph.region.time[-1]
        if loop.factor == 1:
            self.code.advance(at, cycles)
            return
        assert loop.lower is not None
        place = self.code.iteration(at, induction_variable(view.op), loop.lower, loop.step, loop.factor)
        self.code.advance(at, self.code.where_equal(at, (place, 0), cycles, 0))

    # -- streams -----------------------------------------------------------------------------------------

    def _events(self, region: ScheduledRegion, block: Operations[ir.Operation], shift: int = 0) -> None:
        """Note what a scheduled region does to streams, so many cycles after the clock."""
        for op in (inner for outer in block for inner in with_inner(outer)):
            if asks_stream(op):
                raise DataflowError(
                    "a timed run knows when elements are put and got, not what is found in a stream at any other time",
                    at=location_of(op), hint="use put, get and peek, which wait",
                )  # fmt: skip
        for node in region.graph.region.nodes:
            if waits_at_stream(node.op):
                at = Builder.before(node.op)
                cycles = self.code.add(at, self._cycle(region, node, at), shift)
                self.code.event(at, node.op, cycles, region.schedule.interval or 1)

    def _calls(self, region: ScheduledRegion, shift: int) -> None:
        """Let callees of a pipeline count from the cycle in which they start."""
        for node in region.graph.region.nodes:
            if node.op.name != "func.call":
                continue
            name = callee_name(node.op)
            control = self.tree.around.target.control.call
            if self.clocks.known(Invocation(node.op, name, control)) is not None:
                continue
            if isinstance(self.clocks.trees.spans[name].tree.root, Dataflow):
                raise DataflowError(
                    f"a pipeline starts '{name}' again before it has ended, and how its tasks go on then is not known",
                    at=location_of(node.op), hint="leave the loop around the call without a pipeline",
                )  # fmt: skip
            at, behind = Builder.before(node.op), _behind(node.op)
            before = self.code.clock(at)
            self.code.advance(at, self.code.add(at, self._cycle(region, node, at), shift + control))
            self.code.set_clock(behind, before)

    def _cycle(self, region: ScheduledRegion, node: RegionNode, at: Builder) -> int | ir.Value:
        """The cycle of an operation in its iteration, by its copy."""
        table = region.schedule.cycles[node.index]
        places = [self._copy(region, n, at) if size > 1 else None for n, size in enumerate(table.shape)]
        return self.code.entry(at, table, places)

    def _copy(self, region: ScheduledRegion, number: int, at: Builder) -> ir.Value:
        """Which copy of an unrolled loop runs."""
        body = region.graph.region
        copy = body.copy_loops[number]
        time = next((loop for loop in body.time if loop.copy == number), None)
        wanted = copy.variable if time is None else time.variable
        loop = next(loop for loop in self.tree.around.model.loops if loop.variable == wanted)
        lower, step, factor = (copy.lower, copy.step, 0) if time is None else (time.lower or 0, time.step, time.factor)
        return self.code.iteration(at, induction_variable(loop.op), lower, step, factor)

    # -- regions -----------------------------------------------------------------------------------------

    def _region(self, region: Dataflow, *, overlapped: bool = False) -> None:
        """Parts that run at once, each with a clock of its own; of straight code, each statement."""
        for part in region.parts:
            match part:
                case Straight():
                    self._straight_processes(part, overlapped)
                case Spatial() | Pipeline() | Repeat():
                    self._process(part, part.view.op, overlapped)
                case Branch() | Invocation() | ArrayCopy():
                    self._process(part, part.op, overlapped)
                case _:
                    raise InternalError(f"a part of a dataflow region is a {type(part).__name__}")

    def _straight_processes(self, part: Straight, overlapped: bool) -> None:
        for op in part.body:
            if is_process(op) and not is_pure(op):
                own = once(op)
                self._site(own, ProcessSite(label(part), location_of(op), loop=overlapped))
                self.code.advance(Builder.before(statements(own)[-1]), part.depth)
        self._events(part.region, part.body)

    def _process(self, part: Node, op: ir.Operation, overlapped: bool) -> None:
        """A statement of a region: one process, or one for each element of an unfolded nest."""
        if not is_process(op):
            raise DataflowError(
                "this statement of a region gives a value to its tasks: when they begin then is not known",
                at=location_of(op), hint="let a task do it, and put the value into a stream",
            )  # fmt: skip
        spatial = spatial_loops(op)
        self.elements += spatial
        own = apart(self.clocks.module, op) if len(op.results) else once(op)
        self._node(part)
        called = [one.callee for one in nodes(part) if isinstance(one, Invocation)]
        one_call = len(called) == 1 and (spatial or isinstance(part, Invocation))
        name = called[0] if one_call else part.view.nest if isinstance(part, Spatial) else label(part)
        extents = tuple(trip_count(loop) or 0 for loop in spatial)
        self._site(own, ProcessSite(name, location_of(op), extents, overlapped))

    def _site(self, block: ir.Block, site: ProcessSite) -> None:
        self.code.site(Builder.before(statements(block)[0]), len(self.clocks.sites))
        self.clocks.sites.append(site)


def _ends(op: ir.Operation) -> bool:
    return op.name in ("func.return", "affine.yield", "scf.yield", "scf.condition")


def _behind(op: ir.Operation) -> Builder:
    return Builder(ir.InsertionPoint.after(op), op.location)
