"""Virtual mapping graph of a region, and a module with the bodies of its tasks at their positions."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import TargetError
from ...ir.access import access_map, accessed, callee_name
from ...ir.builder import Builder, string_attr, unit_attr
from ...ir.effects import Effects
from ...ir.linalg import with_loops
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.processes import DATAFLOW, ELEMENT_NAME, ELEMENT_OF, ELEMENT_POSITION, is_process, spatial_loops
from ...ir.stream_facts import BLOCK, StreamFacts, facts_of
from ...ir.streams import is_stream, is_stream_type
from ...ir.walk import argument_names, entry_block, induction_variable, location_of, statements, string_of
from ...mapping import (
    ArrayPart,
    CallArray,
    PartAccess,
    PartUse,
    StreamEnd,
    VirtualGraph,
    VirtualNode,
    VirtualStream,
    overlapping,
)  # fmt: skip
from ...poly import begins_anew, overwritten_arguments
from ...poly.formula import compile_map, evaluate
from ...poly.token_counts import Uncounted, tokens_of
from ..instantiate import instantiate
from .blocks import let_blocks_be_arrays
from .carried import Carried, carried_arguments, carried_operands, moved_element, source_of
from .carry import carry_body
from .chosen_streams import name_streams
from .circles import with_circles, with_own_order
from .constants import sink_constants
from .decided import take_decided_branches
from .declared import TaskParts, parts_of_tasks
from .idle_ends import drop_idle_ends
from .localize import (
    Boxes,
    LocalBody,
    bits_of,
    boxes_of,
    demand_for_cores,
    demand_moved,
    external_functions,
    inline_calls,
    localized,
    moved_arguments,
    reach_of_arguments,
)
from .reached import ElementBox, Reach, is_unbounded, shifted, without_starts
from .temporaries import without_temporaries


@dataclass(frozen=True, slots=True)
class ReadRegion:
    """A region as a graph, the module in which the functions of its nodes are, and arguments of another form."""

    graph: VirtualGraph
    bodies: Module
    carried: Mapping[int, Carried]


def read_region(module: Module, stays: Callable[[ir.Block], bool] | None = None) -> ReadRegion:
    """The graph of the region that is the entry of a module; nests of functions that `stays` tells are not joined.

    Raises TargetError for what an array of processors cannot run, with the line.
    """
    top = module.function(module.top)
    if DATAFLOW not in top.operation.attributes:
        raise TargetError(
            f"'{module.top}' is no dataflow region, of whose tasks cores could be made",
            at=location_of(top.operation),
            hint="write it with @df.region() and @df.kernel(mapping=[...])",
        )
    prepared = with_loops(module).clone()
    name_streams(prepared)
    _let_all_be_positions(prepared)
    declared = parts_of_tasks(prepared)
    instances = instantiate(prepared)
    drop_idle_ends(instances)
    sink_constants(instances)
    return _Reader(instances, stays, declared).read()


def _let_all_be_positions(module: Module) -> None:
    """Let tasks at a single position be in a grid of one, so that they get a function like all others."""
    entry = entry_block(module.function(module.top))
    assert entry is not None
    for op in statements(entry)[:-1]:
        if op.name == "func.call" and not spatial_loops(op):
            builder = Builder.before(op)
            zero, one = (ir.AffineMap.get_constant(n, op.context) for n in (0, 1))
            nest = string_attr(callee_name(op))
            marks = {"allo.name": string_attr("p"), "allo.nest": nest, "allo.spatial": unit_attr()}
            loop = builder.affine_for((zero, []), (one, []), 1, marks)
            op.move_before(statements(loop.regions[0].blocks[0])[-1])
            for number, operand in enumerate(op.operands):
                if isinstance(operand.type, ir.IndexType):  # the position, a constant 0
                    op.operands[number] = induction_variable(loop)


@dataclass(slots=True)
class _Reader:
    """One region that is read; its tasks are calls by now."""

    module: Module
    stays: Callable[[ir.Block], bool] | None
    declared: TaskParts
    bodies: Module = field(init=False)
    externals: list[ir.Operation] = field(init=False)
    known: dict[str, LocalBody] = field(default_factory=dict)
    reach: dict[str, dict[int, Reach | None]] = field(default_factory=dict)  # by functions that begin at 0
    parts: dict[tuple[Any, ...], LocalBody] = field(default_factory=dict)  # by those, and the boxes that they use
    texts: dict[str, LocalBody] = field(default_factory=dict)  # by what a function of parts is at first
    accesses: dict[tuple[str, int], PartAccess] = field(default_factory=dict)  # by functions and their arguments
    facts: dict[ir.Operation, StreamFacts] = field(default_factory=dict)  # by what makes streams
    blocks: dict[str, tuple[ir.Type, int, int]] = field(default_factory=dict)
    names: dict[tuple[ir.Value, int], str] = field(default_factory=dict)
    carried: Mapping[int, Carried] = field(default_factory=dict)
    unbounded: set[tuple[str, int]] = field(default_factory=set)  # arguments of functions, as those of `accesses`

    def read(self) -> ReadRegion:
        self.bodies = Module.empty(self.module.top)
        self.externals = external_functions(self.module)
        for function in self.externals:
            function.clone(ir.InsertionPoint(self.bodies.mlir.body))
        top = self.module.function(self.module.top)
        entry = entry_block(top)
        assert entry is not None
        self.carried = carried_arguments(entry)
        arguments = self._arguments(top)
        nodes = []
        for op in statements(entry)[:-1]:
            if ELEMENT_NAME in op.attributes:
                nodes.append(self._node(op, arguments))
            elif is_process(op) or (op.name == "memref.alloc" and not is_stream_type(op.results[0].type)):
                raise TargetError(
                    f"'{self.module.top}' has a statement or an array outside of its tasks, for which there is no core",
                    at=location_of(op),
                    hint="move it into a task; let tasks pass arrays through streams",
                )
        busy = [node for node in nodes if not self._is_idle(node)] or nodes
        idle = tuple(node.name for node in nodes if node not in busy)
        graph = with_circles(VirtualGraph(arguments, tuple(busy), tuple(self._edges(busy)), idle), self.bodies)
        _refuse_races(graph, self.unbounded)
        graph = with_own_order(graph, self.module)
        return ReadRegion(graph, self.bodies, self.carried)

    def _is_idle(self, node: VirtualNode) -> bool:
        """Whether a position has nothing to do: all its branches are those of others."""
        entry = entry_block(self.bodies.function(node.function))
        assert entry is not None
        return not node.ends and all(op.name == "arith.constant" for op in statements(entry)[:-1])

    def _arguments(self, top: ir.OpView) -> tuple[CallArray, ...]:
        found = []
        entry = entry_block(top)
        assert entry is not None
        for value, name in zip(entry.arguments, argument_names(top), strict=True):
            if value.arg_number in self.carried:
                own = self.carried[value.arg_number]
                found.append(CallArray(name, str(own.kind), bits_of(own.kind), own.shape))
                continue
            if not isinstance(value.type, ir.MemRefType) or not value.type.has_static_shape or not value.type.rank:
                is_array = isinstance(value.type, ir.MemRefType) and value.type.rank
                raise TargetError(
                    f"argument '{name}' is {value.type}: a call passes arrays of known extents to the array",
                    at=location_of(top.operation),
                    hint="give it its extents" if is_array else "pass it as an array of one element",
                )
            kind = value.type.element_type
            bits = 0 if not hasattr(kind, "width") else bits_of(kind)
            found.append(CallArray(name, str(kind), bits, tuple(value.type.shape)))
        results = ir.FunctionType(ir.TypeAttr(top.operation.attributes["function_type"]).value).results
        if list(results):
            raise TargetError(
                f"'{self.module.top}' returns a value, and the array writes to arguments only",
                at=location_of(top.operation),
                hint="let a task write to an argument",
            )
        return tuple(found)

    def _node(self, call: ir.Operation, arguments: tuple[CallArray, ...]) -> VirtualNode:
        name, task = string_of(call, ELEMENT_NAME), string_of(call, ELEMENT_OF)
        assert name is not None and task is not None
        place = tuple(int(ir.IntegerAttr(v).value) for v in ir.ArrayAttr(call.attributes[ELEMENT_POSITION]))
        streams = {n: self._stream(operand) for n, operand in enumerate(call.operands) if is_stream(operand.type)}
        carried = carried_operands(call, self.carried)
        blocks = {n: self.blocks[stream][1] for n, stream in streams.items()}
        body = self._body(callee_name(call), blocks, carried, self._declared(call, task, place, carried))
        function = body.name
        parts, ends = [], []
        for number, operand in enumerate(call.operands):
            box = body.boxes[number]
            if box is None:
                sides = [puts for puts, own in ((True, body.puts), (False, body.gets)) if number in own]
                ends += [StreamEnd(number, streams[number], puts, body.blocks.get(number)) for puts in sides]
            elif isinstance((source := source_of(operand)[0]).owner, ir.Block):
                part = ArrayPart(arguments[source.arg_number], box.low, box.extents, steps=box.steps)
                parts.append(PartUse(number, part, self._access(function, number)))
            else:
                raise TargetError(
                    f"task '{task}' uses an array of the region, which no core keeps", at=location_of(call),
                    hint="let tasks pass it through a stream",
                )  # fmt: skip
        return VirtualNode(
            name, task, place, function, tuple(parts), tuple(ends), body.arrays, location_of(call)
        )

    def _declared(
        self, call: ir.Operation, task: str, place: tuple[int, ...], carried: Mapping[int, Carried]
    ) -> dict[int, ElementBox]:
        """The parts that a position is declared to have, as they are moved, by the operands of its call."""
        found = {}
        for number, operand in enumerate(call.operands):
            if isinstance(operand.owner, ir.Block):
                part = self.declared.get((task, ir.BlockArgument(operand).arg_number))
                if part is not None and list(part.whole) == getattr(operand.type, "shape", None):
                    box = ElementBox(part.start(place), part.extents)
                    moved = carried[number].moved(box) if number in carried else box
                    if moved is not None:
                        found[number] = moved
        return found

    def _body(
        self, callee: str, blocks: dict[int, int], carried: Mapping[int, Carried], declared: dict[int, ElementBox]
    ) -> LocalBody:
        """The function of a task at a position, in the module of bodies; positions that do the same have one."""
        if callee in self.known:
            return self.known[callee]
        inline_calls(self.module, callee)
        carry_body(self.module, callee, carried)
        arrays = let_blocks_be_arrays(self.module, callee, blocks)
        function = self.module.function(callee)
        take_decided_branches(function.regions[0].blocks[0])
        moved = moved_arguments(function, arrays)
        text, starts = without_starts(function, moved)
        if text not in self.reach:
            found = reach_of_arguments(self.module, callee, moved)
            self.reach[text] = {n: own and shifted(own, starts[n], back=True) for n, own in found.items()}
        reach = {n: own and shifted(own, starts[n]) for n, own in self.reach[text].items()}
        boxes = boxes_of(function, reach, declared)
        parts = tuple(box and box.behind(starts[n]) for n, box in enumerate(boxes))
        key = text, parts, tuple(arrays.items())
        if key not in self.parts:
            self.parts[key] = self._parts_of(callee, arrays, boxes)
        self.known[callee] = body = self.parts[key].inside(boxes)
        self.unbounded.update((body.name, n) for n, own in reach.items() if n not in declared and is_unbounded(own))
        return body

    def _parts_of(self, callee: str, arrays: dict[int, bool], boxes: Boxes) -> LocalBody:
        """The function of a task that takes parts of arrays."""
        alone = Module.empty(callee)
        for function in self.externals:
            function.clone(ir.InsertionPoint(alone.mlir.body))
        localized(self.module, callee, alone, arrays, boxes)
        made = alone.function(callee).operation
        made.attributes["sym_name"] = string_attr("same")
        text = str(made)
        made.attributes["sym_name"] = string_attr(callee)
        if text not in self.texts:
            without_temporaries(alone, callee, self.module, self.stays)
            demand_for_cores(alone, callee)
            own = alone.function(callee)
            reach = reach_of_arguments(alone, callee, moved_arguments(own, arrays))
            self.texts[text] = localized(alone, callee, self.bodies, arrays, boxes_of(own, reach, {}))
        return self.texts[text]

    def _access(self, function: str, number: int) -> PartAccess:
        key = function, number
        if key not in self.accesses:
            self.accesses[key] = self._access_of(function, number)
        return self.accesses[key]

    def _access_of(self, function: str, number: int) -> PartAccess:
        if number in overwritten_arguments(self.bodies, function):
            return PartAccess.OUT
        entry = entry_block(self.bodies.function(function))
        assert entry is not None
        users = [use.owner.operation for use in entry.arguments[number].uses]
        effects = Effects(self.bodies)
        if not any(entry.arguments[number] in effects.touched(op).writes for op in users):
            return PartAccess.IN
        return PartAccess.OUT if begins_anew(self.bodies, function, number) else PartAccess.BOTH

    # -- streams -----------------------------------------------------------------------------------

    def _stream(self, value: ir.Value) -> str:
        """The name of a stream that is passed to a task."""
        made, index = value, 0
        if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "affine.load":
            load = value.owner.operation
            own = access_map(load)
            made = accessed(load)
            assert own is not None
            place = evaluate(compile_map(own), ())
            shape = ir.MemRefType(made.type).shape
            index = sum(p * prod(shape[d + 1 :]) for d, p in enumerate(place))
        key = (made, index)
        if key not in self.names:
            op = made.owner.operation
            if op not in self.facts:
                self.facts[op] = facts_of(self.module, op)
            facts = self.facts[op]
            name = "_".join([facts.name, *facts.element(index).removeprefix(facts.name).strip("[]").split(", ")])
            self.names[key] = unique_name(name.strip("_"), set(self.names.values()))
            kind = made.type.element_type if isinstance(made.type, ir.MemRefType) else made.type
            block = int(ir.IntegerAttr(op.attributes[BLOCK]).value) if BLOCK in op.attributes else 1
            stream = allo_d.StreamType(kind)
            moved = moved_element(stream.element_type)
            demand_moved(moved, f"stream '{facts.name}'", facts.made)
            self.blocks[self.names[key]] = (moved, block, stream.depth)
        return self.names[key]

    def _edges(self, nodes: list[VirtualNode]) -> list[VirtualStream]:
        ends: dict[str, list[tuple[VirtualNode, StreamEnd]]] = {}
        for node in nodes:
            for end in node.ends:
                ends.setdefault(end.stream, []).append((node, end))
        found = []
        for name, own in ends.items():
            puts, gets = ([pair for pair in own if pair[1].puts == puts] for puts in (True, False))
            if len(puts) != 1 or len(gets) != 1:
                counts = f"{len(puts)} producers and {len(gets)} consumers"
                raise TargetError(f"stream '{name}' joins {counts}, not one each")
            (producer, put), (consumer, get) = puts[0], gets[0]
            kind, block, depth = self.blocks[name]
            found.append(VirtualStream(
                name, str(kind), bits_of(kind), block, depth, self._tokens(producer, put), producer.name, consumer.name
            ))  # fmt: skip
            if found[-1].tokens != self._tokens(consumer, get):
                raise TargetError(f"'{producer.name}' puts another number of elements into '{name}' than is taken")
        return found

    def _tokens(self, node: VirtualNode, end: StreamEnd) -> int:
        if end.over is not None:
            return self.blocks[end.stream][1]
        entry = entry_block(self.bodies.function(node.function))
        assert entry is not None
        count = tokens_of(self.bodies, entry.arguments[end.parameter])
        if isinstance(count, Uncounted):
            raise TargetError(
                f"how much passes through stream '{end.stream}' depends on {count.on}", at=location_of(count.op),
                hint="transfers of an array of processors have fixed lengths",
            )  # fmt: skip
        return count.puts if end.puts else count.gets


def _refuse_races(graph: VirtualGraph, unbounded: Container[tuple[str, int]]) -> None:
    found = overlapping([(node, use) for node in graph.nodes for use in node.parts])
    if found is not None:
        writer, other, use = found
        whom = f"task '{other.name}' uses too" if other != writer else "it uses as another parameter too"
        hint = "pass what one needs of the other through a stream, and write parts that do not overlap"
        if (writer.function, use.parameter) in unbounded:
            hint = "say which part a position has by a layout, `@ [S(0), R]`: only a run knows which elements it uses"
        elif use.part.argument.bits < 32:
            hint += "; DMA engines move single elements between those of others if these have four bytes"
        raise TargetError(
            f"task '{writer.name}' writes {use.part}, of which {whom}: transfers have no order among them",
            at=writer.at, hint=hint,
        )  # fmt: skip
