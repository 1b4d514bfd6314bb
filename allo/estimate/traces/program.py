"""Programs of traces: the puts and gets of a module at the cycles of its control trees, as text of Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, prod

from mlir import ir

from ...ir.access import callee_name, makes_stream
from ...ir.processes import region_statements, spatial_loops
from ...ir.walk import LoopView, constant_bounds, entry_block, induction_variable, statements, string_of
from ...poly.apart import Apartness
from ...timing.control.span import Span
from ...timing.control.tree import (
    ArrayCopy,
    Branch,
    Dataflow,
    Invocation,
    Node,
    Pipeline,
    Repeat,
    Spatial,
    Straight,
)
from ...timing.control.tree import Sequence as InTurn
from .text import NoTrace, TraceText


@dataclass(slots=True)
class TraceProgram(TraceText):
    """The nodes of control trees, and processes of regions."""

    def text(self) -> str:
        """The text. Raises NoTrace."""
        self._write(f"a, y, z = R.begin({self.module.top!r}, (), ())", "t = 0")
        self._function(self.module.top)
        self._write("R.end(t)")
        return "\n".join(self.lines) + "\n"

    def _function(self, name: str) -> None:
        self.trees.built(name)  # how long it takes is not asked where FIFOs decide
        self._inside.append(name)
        tree = self._tree
        self._see(tree.entry)
        self._node(tree.root)
        self._write(f"t += {tree.control}")
        self._inside.pop()

    # -- nodes of the tree -----------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        match node:
            case Straight():
                offset = self._name("o")
                self._write(f"{offset} = t")
                self._straight(node.body, node.region, offset)
                self._write(f"t += {node.depth}")
            case InTurn():
                for part in node.parts:
                    self._node(part)
            case Dataflow():
                self._region(node)
            case Invocation():
                self._write(f"t += {node.control}")
                self._called(node.op)
            case ArrayCopy():
                self._write(f"t += {self._constant(node)}")
            case _ if not self._matters(_op_of(node)) and (self._is_fixed(node) or not self._is_known(node)):
                self._write(f"t += {self._constant(node)}")
            case Branch():
                self._branch(node)
            case Pipeline():
                self._pipeline(node)
            case Repeat():
                self._repeat(node)
            case Spatial():
                self._spatial(node)

    def _is_fixed(self, node: Node) -> bool:
        """Whether a node takes the same time whenever it runs."""
        match node:
            case Straight():
                return True
            case Pipeline():
                return all(constant_bounds(view.op) is not None for view in node.loops)
            case Repeat():
                return constant_bounds(node.view.op) is not None and self._is_fixed(node.body)
            case Invocation():
                return node.callee in self.trees.spans and self._is_fixed(self.trees.spans[node.callee].tree.root)
            case InTurn():
                return all(map(self._is_fixed, node.parts))
            case ArrayCopy():
                return node.cycles is not None
            case Branch() | Dataflow() | Spatial():
                return False

    def _is_known(self, node: Node) -> bool:
        """Whether it is known which branch is taken, or how often a loop runs, where data do not decide that."""
        match node:
            case Branch():
                return self._condition(node.op) is not None
            case Pipeline():
                return self._are_bounds_known(node.view)
            case Repeat():
                return node.view.op.name != "scf.while" and self._are_bounds_known(node.view)
            case _:
                return False

    def _constant(self, node: Node) -> int:
        """The cycles of what uses no stream, on average."""
        spans = self.trees.spans[self._inside[-1]]
        span: Span = spans.of(node)
        if span.latency is None or (self.exact and not spans.is_even(node)):
            raise NoTrace("how long this takes is known at run time only", _op_of(node), self._stated(node))
        return ceil(span.latency)

    def _stated(self, node: Node) -> str | None:
        view = node.view if isinstance(node, Pipeline | Repeat | Spatial) else None
        return None if view is None else f'state how often it runs: trips={{"{self._tree.loop_name(view)}": ...}}'

    def _trips(self, view: LoopView, factor: int) -> str:
        lower, upper, step = self._bounds(view)
        return f"len(range({lower}, {upper}, {step * factor}))"

    def _pipeline(self, node: Pipeline) -> None:
        if not self._matters(node.view.op):
            trips = self._name("n")
            copies = prod(1 if loop.trip is None else loop.trip for loop in node.time[1:])
            self._write(f"{trips} = {self._trips(node.view, node.time[0].factor)} * {copies}")
            self._write(f"t += {trips} and ({trips} - 1) * {node.interval} + {node.depth}", f"t += {node.control}")
            return
        start, last, depth = self._name("x"), self._name("x"), self._depth
        self._write(f"{start} = t + {node.enter}", f"{last} = {start} - {node.depth}")
        axes = dict(self._axes)
        for view, loop in zip(node.loops, node.time, strict=True):
            number, inner = self._loop(view), self._name("x")
            self._write(f"{inner} = {start} + {number} // {loop.factor} * {loop.stride * node.interval}")
            start = inner
            if loop.copy >= 0:
                self._axes[loop.copy] = f"({number} % {loop.factor})"
            self._see(view.body)
        self._straight(tuple(statements(node.loops[-1].body)), node.region, start)
        self._write(f"{last} = {start}")
        self._depth, self._axes = depth, axes
        self._write(f"t = {last} + {node.depth + node.leave}")

    def _repeat(self, node: Repeat) -> None:
        if node.view.op.name == "scf.while":
            raise NoTrace(f"how often the while loop '{node.view.name}' runs depends on data", node.view.op)
        depth, axes, body = self._depth, dict(self._axes), node.body
        if not self._matters(node.view.op) and self._is_fixed(body):
            factor = body.region.graph.region.time[0].factor if isinstance(body, Straight) else 1
            once = self._constant(body) + node.each
            self._write(f"t += {self._trips(node.view, factor)} * {once} + {node.control}")
            return
        self._write(f"t += {node.enter}")
        if isinstance(body, Dataflow):
            self._again(node, body)
        elif isinstance(body, Straight):
            loop, start = body.region.graph.region.time[0], self._name("x")
            self._write(f"{start} = t")
            number = self._loop(node.view)
            at, apart = self._name("o"), node.each + body.depth
            self._write(f"{at} = {start} + {number} // {loop.factor} * {apart} + {node.each}")
            if loop.copy >= 0:
                self._axes[loop.copy] = f"({number} % {loop.factor})"
            self._see(node.view.body)
            self._straight(body.body, body.region, at)
            self._write(f"t = {at} + {body.depth}")
        else:
            self._loop(node.view)
            self._write(f"t += {node.each}")
            self._see(node.view.body)
            self._node(body)
        self._depth, self._axes = depth, axes
        self._write(f"t += {node.leave}")

    def _spatial(self, node: Spatial) -> None:
        """Elements that are not free: they begin together, in one process."""
        begin, end, depth = self._name("x"), self._name("x"), self._depth
        self._write(f"{begin} = {end} = t")
        self._loop(node.view)
        self._write(f"t = {begin}")
        self._see(node.view.body)
        self._node(node.body)
        self._write(f"{end} = max({end}, t)")
        self._depth = depth
        self._write(f"t = {end}")

    def _branch(self, node: Branch) -> None:
        condition = self._condition(node.op)
        if condition is None:
            raise NoTrace("whether a stream is used depends on data", node.op)
        blocks = [block for region in node.op.regions for block in region.blocks]
        for head, block, branch in zip((f"if {condition.text}:", "else:"), blocks, node.branches, strict=False):
            with self._under(head):
                self._see(block)
                self._node(branch)

    def _called(self, op: ir.Operation) -> None:
        name = callee_name(op)
        tree = self.trees.built(name)
        if not self._matters(op) and (tree is None or self._is_fixed(tree.root) or name in self._inside):
            latency = self.trees.span(name).latency
            if latency is None:
                raise NoTrace(f"how long '{name}' takes is known at run time only", op)
            self._write(f"t += {ceil(latency)}")
            return
        entry = entry_block(self.module.function(name))
        if entry is None or name in self._inside:
            raise NoTrace(f"nothing is known of the streams of '{name}'", op)
        for argument, value in zip(entry.arguments, op.operands, strict=True):
            self._scalars.passed(value, argument)
            if value in self._streams:
                self._streams[argument] = self._streams[value]
            else:
                self._streams.pop(argument, None)
        self._function(name)

    # -- regions ---------------------------------------------------------------------------------------

    def _region(self, node: Dataflow) -> None:
        """Its processes are recorded one after the other; what started them goes on when all have ended."""
        before = self._name("b")
        self._write(f"{before} = R.fork(t)")
        stages = self._stages(node)
        for stage in stages:
            self._write(f"{stage.group} = []")
            self._process(stage, f"({before}, {_starred(other.group for other in stage.after)})")
        self._joined(before, stages)

    def _again(self, node: Repeat, body: Dataflow) -> None:
        """A loop of stages, each of which goes on with the next iteration when it has ended the last one. FIFOs are the
        same in all iterations."""
        before, depth = self._name("b"), self._depth
        for op in statements(node.view.body):
            if makes_stream(op):
                self._made(op)
                self._hoisted.add(op.results[0])
        self._write(f"{before} = R.fork(t)")
        stages = self._stages(body)
        for stage in stages:
            self._write(f"{stage.group} = []")
        self._loop(node.view)
        self._see(node.view.body)
        for stage in stages:
            self._write(f"{stage.group}_1, {stage.group} = {stage.group}, []")
        for stage in stages:
            groups = [*(other.group for other in stage.after), f"{stage.group}_1"]
            self._process(stage, f"({before}, {_starred(groups)})")
        self._depth = depth
        self._joined(before, stages)

    def _joined(self, before: str, stages: Sequence[_Stage]) -> None:
        ended = _starred(stage.group for stage in stages)
        self._write(f"a, y, z = R.join({before}, ({ended}))", "t = 0")

    def _stages(self, node: Dataflow) -> list[_Stage]:
        """The parts of a region that are processes, in the order of the text."""
        parts = {op: part for part in node.parts for op in _ops_of(part)}
        found: dict[Node, _Stage] = {}
        are_apart = Apartness(self.module)
        for statement in region_statements(self._effects, _ops_of(node.parts[0])[0].block, are_apart):
            part = parts.get(statement.op)
            if part is not None and statement.is_process and part not in found:
                after = [found[parts[other]] for other in statement.after if parts.get(other) in found]
                found[part] = _Stage(part, statement.op, self._name("g"), tuple(dict.fromkeys(after)))
        return list(found.values())

    def _process(self, stage: _Stage, after: str) -> None:
        part, depth, spatial = stage.part, self._depth, spatial_loops(stage.op)
        position: list[str] = []
        while isinstance(part, Spatial) and part.view.op in spatial:
            self._loop(part.view)
            self._see(part.view.body)
            position.append(self._known(induction_variable(part.view.op)))
            inner = part.body.parts
            part = inner[0] if len(inner) == 1 else part.body
        called = part.callee if isinstance(part, Invocation) else None
        name = called or string_of(stage.op, "allo.nest") or self._inside[-1]
        self._write(f"a, y, z = R.begin({name!r}, ({''.join(f'{p}, ' for p in position)}), {after})", "t = 0")
        self._node(part)
        self._write(f"{stage.group}.append(R.end(t))")
        self._depth = depth

    def _known(self, value: ir.Value) -> str:
        term = self._scalars.term(value)
        assert term is not None
        return term.text


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """A part of a region: the list of its processes in the text, and the earlier parts that must have ended."""

    part: Node
    op: ir.Operation
    group: str
    after: tuple[_Stage, ...]


def _starred(names: Iterable[str]) -> str:
    return "".join(f"*{name}, " for name in names)


def _op_of(node: Node) -> ir.Operation:
    return _ops_of(node)[0]


def _ops_of(node: Node) -> tuple[ir.Operation, ...]:
    """The operations that a part of a block is made of."""
    match node:
        case Straight():
            return node.body
        case Pipeline():
            return (node.loops[0].op,)
        case Repeat() | Spatial():
            return (node.view.op,)
        case Branch() | Invocation() | ArrayCopy():
            return (node.op,)
        case _:
            return tuple(op for part in node.parts for op in _ops_of(part))
