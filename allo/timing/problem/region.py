"""Scheduling region of a loop body: the operations with the loops inside unrolled, without copies.

An operation stands for all of its copies. `copies` are the unrolled loops that its value depends on: what does not
depend on one is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from mlir import ir

from ...ir.access import (
    accessed,
    callee_name,
    gets_side,
    is_access,
    is_at_stream,
    is_copy,
    is_load,
    moves_element,
)
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import LOOP_OPERATIONS, constant_bounds
from ...ir.widths import Widths
from ...poly import Access, CopyLoop, Form, Model, Space, TimeLoop, model_without_elements
from ...target import Fpga, Operator
from .banks import routing
from .memory import ArrayMemory
from .operators import SharedUnit, bits_of, is_integer, operator_of, shared_unit


@dataclass(slots=True, eq=False)
class RegionNode:
    """An operation with all its copies."""

    index: int
    op: ir.Operation
    kind: str  # "read", "write", "compute", "call"
    operator: Operator
    around: tuple[int, ...]  # the unrolled loops around it
    guards: tuple[tuple[ir.Operation, int], ...]  # conditions around it, with the branch
    position: tuple[int, ...]
    copies: frozenset[int] = frozenset()
    width: int = 0  # bits of the result that are built
    label: str = ""
    memory: ArrayMemory | None = None
    forms: tuple[Form | None, ...] = ()
    access: Access | None = None
    touched: tuple[Access, ...] = ()  # all arrays that it uses: several for a call
    lookups: tuple[Access | None, ...] = ()  # by subscript: the read whose value it is, of an array that stays
    latency: int = 0
    delay: int = 0
    shared: SharedUnit | None = None  # the unit for which it may take turns
    routing: Operator | None = None  # between the banks of an array and an access
    interval: int = 1
    in_register: bool = False  # the element stays in a register while the loop runs
    forwarded: bool = False  # the value comes from a store of the same iteration


@dataclass(slots=True)
class LoopBody:
    """The nodes of a body; `inputs[n]` are the nodes whose values node n uses.

    Where `assumes` is set, elements that stay the same are in registers, stores are forwarded, copies of sums form
    trees, and what is guarded is computed before the condition is known, although the module does not say so
    (`allo.timing.rewrites` makes one that does).
    """

    space: Space
    nodes: list[RegionNode] = field(default_factory=list)
    near: dict[int, list[RegionNode]] = field(default_factory=dict)  # accesses of its array that one may meet
    inputs: list[list[int]] = field(default_factory=list)
    assumes: bool = True

    @property
    def time(self) -> tuple[TimeLoop, ...]:
        return self.space.time

    @property
    def copy_loops(self) -> list[CopyLoop]:
        return self.space.copies

    @property
    def is_unrolled(self) -> bool:
        """Whether nodes have copies."""
        return any(self.count(node.around) > 1 for node in self.nodes)

    def count(self, copies: Iterable[int]) -> int:
        """How many copies some unrolled loops make together."""
        return self.space.count(copies)


def unbounded_loop(operations: Iterable[ir.Operation]) -> ir.Operation | None:
    """The first loop in a body without a constant extent, which keeps the body from being one region."""
    for op in operations:
        if op.name in LOOP_OPERATIONS and constant_bounds(op) is None:
            return op
        inside = (inner for region in op.regions for block in region.blocks for inner in _of(block))
        if (found := unbounded_loop(inside)) is not None:
            return found
    return None


@dataclass(frozen=True)
class SurroundingFacts:
    """What is known of a function, found when it is asked for: of a region that only connects others, little is."""

    module: Module
    name: str
    entry: ir.Block

    @cached_property
    def model(self) -> Model:
        return model_without_elements(self.module, self.name)

    @cached_property
    def accesses(self) -> dict[ir.Operation, list[Access]]:
        found: dict[ir.Operation, list[Access]] = {}
        for access in self.model.accesses:
            found.setdefault(access.op, []).append(access)
        return found

    @cached_property
    def widths(self) -> Widths:
        return Widths(self.entry)

    @cached_property
    def constants(self) -> dict[int, tuple[int, int]]:
        """By variable the lower bound and the step, of loops with constant bounds."""
        bounds = {loop.variable: constant_bounds(loop.op) for loop in self.model.loops}
        return {variable: (one[0], one[2]) for variable, one in bounds.items() if one is not None}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a region needs to know of its function: facts, the target, memories of arrays, costs of callees."""

    facts: SurroundingFacts
    target: Fpga
    memory_of: Callable[[ir.Value, str], ArrayMemory]
    call_cost: Callable[[str], tuple[int, int]]  # latency and interval
    assumes: bool = True  # what a `LoopBody` does

    @property
    def model(self) -> Model:
        return self.facts.model

    @property
    def accesses(self) -> dict[ir.Operation, list[Access]]:
        return self.facts.accesses

    @property
    def widths(self) -> Widths:
        return self.facts.widths


type _Source = tuple[int | None, frozenset[int]]  # the node that makes a value, None: it is there; its copies


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an operation is: the unrolled loops and the conditions around it, and its position in the text."""

    around: tuple[int, ...]
    guards: tuple[tuple[ir.Operation, int], ...]
    position: tuple[int, ...]


class RegionBuilder:
    """Reads the body of the innermost of some time loops, or straight code."""

    def __init__(self, around: Surroundings, time: tuple[TimeLoop, ...]) -> None:
        self.around = around
        self.region = LoopBody(Space(time, constants=around.facts.constants), assumes=around.assumes)
        self.values: dict[ir.Value, _Source] = {}

    def build(self, operations: Iterable[ir.Operation]) -> LoopBody:
        """The region of these operations and all below them, whose loops have constant extents (`unbounded_loop`)."""
        self._operations(operations, _Place(tuple(range(len(self.region.copy_loops))), (), ()))
        written = {access.buffer.label for node in self.region.nodes for access in node.touched if access.is_write}
        for node in self.region.nodes:
            node.lookups = tuple(a if a is not None and a.buffer.label not in written else None for a in node.lookups)
        return self.region

    def _operations(self, operations: Iterable[ir.Operation], outer: _Place) -> None:
        for number, op in enumerate(operations):
            at = replace(outer, position=(*outer.position, number))
            if op.name in LOOP_OPERATIONS:
                inner = self._unrolled(op)
                if self.region.copy_loops[inner].trip:  # else it does nothing
                    self._operations(_of(op.regions[0].blocks[0]), replace(at, around=(*at.around, inner)))
            elif op.name in ("affine.if", "scf.if"):
                self._condition(op, at)
            else:
                self._operation(op, at)

    def _unrolled(self, op: ir.Operation) -> int:
        bounds = constant_bounds(op)
        assert bounds is not None
        lower, upper, step = bounds
        trip = max(0, -(-(upper - lower) // step))
        loop = self.around.model.loop(op)
        number = self.region.space.unrolled(CopyLoop(loop.variable, loop.name, trip, step, lower))
        self.values[op.regions[0].blocks[0].arguments[0]] = (None, frozenset({number}))
        return number

    def _condition(self, op: ir.Operation, at: _Place) -> None:
        condition = [self._source(value) for value in op.operands] if op.name == "scf.if" else []
        yielded: list[_Source] = list(condition)
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                inner = list(_of(block))
                self._operations(inner, _Place(at.around, (*at.guards, (op, number)), (*at.position, number)))
                if inner and inner[-1].name in ("scf.yield", "affine.yield"):
                    yielded += [self._source(value) for value in inner[-1].operands]
        if len(op.results):
            select = self.around.target.integer("select", sum(bits_of(result.type) for result in op.results))
            self._node(op, "compute", select, at, yielded)

    def _source(self, value: ir.Value) -> _Source:
        return self.values.get(value, (None, frozenset()))

    def _operation(self, op: ir.Operation, at: _Place) -> None:
        name = op.name
        if is_at_stream(op) or (is_access(op) and not is_stream_type(accessed(op).type)):
            kind = "read" if is_load(op) or gets_side(op) else "write"
            self._access(op, kind, accessed(op), at)
        elif name == "func.call":
            callee = callee_name(op)
            self._call(op, f"call of {callee}", self.around.call_cost(callee), at)
        elif is_copy(op):
            elements = prod(max(extent, 1) for extent in ir.MemRefType(op.operands[0].type).shape)
            self._call(op, "copy of an array", (elements + 1, elements), at)
        elif name == "memref.alloc":
            self.values[op.results[0]] = (None, frozenset(at.around))  # each copy has an array of its own
        elif not len(op.results) or name == "memref.get_global":
            return
        else:
            inputs = [self._source(value) for value in op.operands]
            operator = operator_of(op, self.around.target, self.around.widths)
            if operator.free and len([n for n, _ in inputs if n is not None]) <= 1:
                source = next((n for n, _ in inputs if n is not None), None)
                copies = frozenset().union(*(c for _, c in inputs))
                self._make(op, source, copies)
                return
            if not self.region.assumes:
                inputs += self._conditions(at)
            node = self._node(op, "compute", operator, at, inputs)
            node.shared = shared_unit(op, operator, self.around.target, self.around.widths)

    def _node(
        self, op: ir.Operation, kind: str, operator: Operator, at: _Place, inputs: list[_Source]
    ) -> RegionNode:
        """A node, which makes the results of its operation."""
        copies = frozenset().union(*(c for _, c in inputs))
        node = RegionNode(
            len(self.region.nodes), op, kind, operator, at.around, at.guards, at.position, copies,
            width=self._width(op.results[0]) if len(op.results) else 0,
            latency=operator.latency, delay=operator.delay,
        )  # fmt: skip
        self.region.nodes.append(node)
        self.region.inputs.append(list(dict.fromkeys(n for n, _ in inputs if n is not None)))
        self._make(op, node.index, copies)
        return node

    def _make(self, op: ir.Operation, node: int | None, copies: frozenset[int]) -> None:
        for result in op.results:
            self.values[result] = (node, copies)

    def _width(self, value: ir.Value) -> int:
        return self.around.widths.bits(value) if is_integer(value) else bits_of(value.type)

    def _access(self, op: ir.Operation, kind: str, array: ir.Value, at: _Place) -> None:
        inputs = [self._source(value) for value in op.operands if value != array]
        if is_stream_type(array.type):
            inputs.append(self._source(array))  # which FIFO of an array it is
        if kind == "write" or op.name.startswith("allo.stream") or not self.region.assumes:
            inputs += self._conditions(at)
        node = self._node(op, kind, Operator(kind), at, inputs)
        found = self.around.accesses.get(op, [])
        node.access = found[0] if found else None
        node.touched = tuple(found)
        if node.access is not None:
            node.label = node.access.buffer.label
            node.forms = tuple(self.region.space.form(f, node.access) for f in node.access.subscripts)
            if None in node.forms:
                node.lookups = self._lookups(node)
        else:
            node.label = f"?{len(self.region.nodes)}"
        node.memory = self.around.memory_of(array, node.access.buffer.name if node.access else "?")
        node.latency = node.memory.read if kind == "read" else node.memory.kind.write
        if is_at_stream(op) and not moves_element(op):
            node.latency = 0  # a flag
        elif not moves_element(op):
            node.routing = routing(self.region.space, kind, node.forms, node.memory, self.around.target)
            node.delay = node.routing.delay if kind == "read" else 0
        used = frozenset(number for form in node.forms if form is not None for number, _ in form.copies)
        if any(form is None for form in node.forms) or op.name.startswith("allo.stream"):
            used |= frozenset(at.around)
        node.copies = node.copies | used | self._source(array)[1]
        self._make(op, node.index, node.copies)  # of a read, or whether a try did it

    def _lookups(self, node: RegionNode) -> tuple[Access | None, ...]:
        """The accesses whose values the subscripts are, but for conversions."""
        subscripts = list(node.op.operands)[1 if node.kind == "read" else 2 :]
        if len(subscripts) != len(node.forms):
            return (None,) * len(node.forms)
        unknown = zip(subscripts, node.forms, strict=True)
        return tuple(self._read_of(value) if form is None else None for value, form in unknown)

    def _read_of(self, value: ir.Value) -> Access | None:
        while not isinstance(value.owner, ir.Block) and value.owner.name in ("arith.index_cast", "arith.extsi"):
            value = value.owner.operands[0]
        found = [] if isinstance(value.owner, ir.Block) else self.around.accesses.get(value.owner.operation, [])
        return found[0] if found and is_load(found[0].op) else None

    def _conditions(self, at: _Place) -> list[_Source]:
        """What decides whether guarded effects happen; conditions on loop variables are known at once."""
        return [self._source(op.operands[0]) for op, _ in at.guards if op.name == "scf.if"]

    def _call(self, op: ir.Operation, name: str, cost: tuple[int, int], at: _Place) -> None:
        inputs = [self._source(value) for value in op.operands] + self._conditions(at)
        node = self._node(op, "call", Operator(name, cost[0]), at, inputs)
        node.copies, node.interval = frozenset(at.around), cost[1]
        node.touched = tuple(self.around.accesses.get(op, ()))
        self._make(op, node.index, node.copies)


def _of(block: ir.Block) -> list[ir.Operation]:
    return [view.operation for view in block.operations]
