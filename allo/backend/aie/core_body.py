"""Bodies of cores: tasks in their order, with objects of FIFOs in the place of arguments and streams.

Taking an object and giving it back are calls of functions without a body, each of which stands for one `FifoAction`:
the text for MLIR-AIE has operations in their place, the model of the array streams.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from mlir import ir

from ...errors import TargetError
from ...ir.access import callee_name, is_put, stored
from ...ir.builder import Builder, index_type, segments_attr, string_attr, unit_attr
from ...ir.context import context, unknown_location
from ...ir.inlining import leave_affine, replace_call
from ...ir.module import Module
from ...ir.walk import (
    argument_names,
    entry_block,
    location_of,
    operations,
    statement_of,
    statements,
    string_of,
)
from ...mapping import ArrayFifo, ArrayPlan, CoreStream, MappedCore, Shot, StreamEnd, VirtualStream, turns_of
from ..element_class import set_signature
from .blocks import loops_of_block, move_element
from .core_marks import FROM_ZERO, SHARED, mark_places
from .localize import external_functions, is_external
from .rolled import CALL, ShotText, shots_in_loops
from .woven import woven_function

CORE = "core"  # the function of a core in its module
PRODUCE, CONSUME = 0, 1  # ports of an object FIFO


@dataclass(frozen=True, slots=True)
class FifoAction:
    """What a call stands for: taking `count` objects, of which it gives number `index`, or giving them back."""

    fifo: str
    port: int
    count: int
    index: int | None = None  # None: give back


@dataclass(slots=True)
class CoreBodies:
    """The module in which cores are written."""

    plan: ArrayPlan
    bodies: Module
    actions: dict[FifoAction, str] = field(default_factory=dict)  # the function whose calls stand for it
    kinds: dict[str, str] = field(default_factory=dict)  # types of objects, by FIFO
    inner: dict[str, CoreStream] = field(init=False)  # streams that stay on a core, by name
    outer: dict[str, str] = field(init=False)  # the FIFO of others

    def __post_init__(self) -> None:
        self.inner = {own.stream.name: own for own in self.plan.fifos.internal}
        self.outer = {name: own.stream.name for own in self.plan.fifos.streams for name in own.names}
        for fifo in self.plan.fifos.arrays:
            self.kinds[fifo.name] = f"memref<{'x'.join(map(str, fifo.extents))}x{fifo.element}>"
        for between in self.plan.fifos.streams:
            self.kinds[between.stream.name] = f"memref<{between.stream.block}x{between.stream.element}>"

    def action(self, fifo: str, port: int, count: int, index: int | None = None) -> str:
        """The function that stands for an action."""
        return self.actions.setdefault(FifoAction(fifo, port, count, index), f"fifo_{len(self.actions)}")

    def body(self, core: MappedCore, runs: int) -> Module:
        """A module with the function of a core, which does `runs` calls; its arrays are made at the begin of it."""
        module = self._functions_module(core)
        held = [fifo for fifo in self.plan.fifos.arrays_of(core.name, True) if fifo.resident]
        lines = [self._acquire(fifo, f"%held_{fifo.name}", 1, 0) for fifo in held]
        lines += shots_in_loops(module, [self._shot(core, shot) for shot in core.shots])
        lines += [f"func.call @{self.action(fifo.name, CONSUME, 1)}() : () -> ()" for fifo in held]
        text = [f"func.func @{CORE}() {{", f"affine.for %run = 0 to {runs} {{", *lines, "}", "return", "}"]
        self._add(module, "\n".join(text))
        entry = entry_block(module.function(CORE))
        assert entry is not None
        for call in operations(entry, "func.call"):
            if callee_name(call) not in self.actions.values() and not is_external(module, call):
                callee = module.function(callee_name(call)).operation
                replace_call(call, callee.clone(ir.InsertionPoint(callee)))
        leave_affine(module.function(CORE).operation)  # bounds that a node loads are no longer known where it begins
        _place_arrays(entry)
        for name in [name for name in module.names() if name.startswith("node_")]:
            module.function(name).operation.erase()
        return module

    def _functions_module(self, core: MappedCore) -> Module:
        """A module with the functions of the nodes of a core, with object FIFOs instead of streams."""
        made = Module.empty(CORE)
        for function in external_functions(self.bodies):
            function.clone(ir.InsertionPoint(made.mlir.body))
        for symbol, turn in self._functions(core).values():
            self._turn(made, symbol, turn)
        return made

    def _add(self, made: Module, text: str) -> None:
        """Write functions into a module: those of a text, and those that stand for actions."""
        declared = [self._declaration(action, name) for action, name in self.actions.items()]
        declared += [_declared(made.function(name)) for name in made.names() if name.startswith("node_")]
        parsed = ir.Module.parse("module {\n" + "\n".join([*declared, text]) + "\n}", context())
        end = ir.InsertionPoint(made.mlir.body)
        for op in list(parsed.body.operations):
            if ir.StringAttr(op.attributes["sym_name"]).value not in made.names():
                op.operation.clone(end)

    def _functions(self, core: MappedCore) -> dict[object, tuple[str, Shot]]:
        """The functions of nodes, one for those that do the same with the same FIFOs and arrays, or that take turns."""
        found: dict[object, tuple[str, Shot]] = {}
        for turn in self._turns(core.nodes):
            found.setdefault(self._key(turn), (f"node_{len(found)}", turn))
        return found

    def _turns(self, nodes: Shot) -> list[Shot]:
        return turns_of(self.plan.mapping.graph, nodes)

    def _key(self, turn: Shot) -> object:
        """What the function of nodes that take turns, or of a single one, depends on."""
        if len(turn) > 1:
            return turn
        places = {name: own.place for name, own in self.inner.items()} | self.outer
        return turn[0].function, tuple((end.parameter, places[end.stream]) for end in turn[0].ends)

    def _declaration(self, action: FifoAction, name: str) -> str:
        result = f" -> {self.kinds[action.fifo]}" if action.index is not None else ""
        return f"func.func private @{name}(){result}"

    # -- statements --------------------------------------------------------------------------------

    def _acquire(self, fifo: ArrayFifo, value: str, count: int, index: int) -> str:
        port = CONSUME if fifo.to_core else PRODUCE
        kind = self.kinds[fifo.name]
        return f"{value} = func.call @{self.action(fifo.name, port, count, index)}() : () -> {kind}"

    def _shot(self, core: MappedCore, shot: Shot) -> ShotText:
        functions, turns = self._functions(core), self._turns(shot)
        lines = [line for place, turn in enumerate(turns) for line in self._run(core, turn, f"n{place}")]
        return ShotText(tuple(lines), tuple(functions[self._key(turn)][0] for turn in turns))

    def _run(self, core: MappedCore, turn: Shot, prefix: str) -> list[str]:
        """Acquire, call, release."""
        names = {node.name for node in turn}
        arguments: dict[tuple[str, int], ir.Value] = {}
        for node in turn:
            entry = entry_block(self.bodies.function(node.function))
            assert entry is not None
            arguments |= {(node.name, k): own for k, own in enumerate(entry.arguments)}
        passed: dict[tuple[str, int], str] = {}
        lines, after = [], []
        for fifo in (*self.plan.fifos.arrays_of(core.name, True), *self.plan.fifos.arrays_of(core.name, False)):
            slot = fifo.slot_of(core.name)
            own = [use for use in slot.uses if use[0] in names] if slot is not None else []
            if fifo.passing and len(turn) > 1:
                continue
            for k, use in enumerate(own):
                value = f"%held_{fifo.name}" if fifo.resident else f"%{prefix}_{fifo.name}_{k}"
                if not fifo.resident:
                    lines.append(self._acquire(fifo, value, len(own), k))
                kind = ir.MemRefType(arguments[use].type)
                if self.kinds[fifo.name] != str(kind):
                    shaped = f"%{prefix}_shaped_{fifo.name}_{k}"
                    lines.append(f"{shaped} = {_reshaped(value, self.kinds[fifo.name], kind)}")
                    value = shaped
                if use in passed:
                    lines.append(f"memref.copy {passed[use]}, {value} : {kind} to {kind}")
                passed[use] = value
            if own and not fifo.resident:
                port = CONSUME if fifo.to_core else PRODUCE
                after.append(f"func.call @{self.action(fifo.name, port, len(own))}() : () -> ()")
        given = [use for use in arguments if use in passed]
        kinds = ", ".join(str(arguments[use].type) for use in given)
        lines.append(f"func.call {CALL}({', '.join(passed[use] for use in given)}) : ({kinds}) -> ()")
        return lines + after

    # -- nodes -------------------------------------------------------------------------------------

    def _turn(self, module: Module, symbol: str, turn: Shot) -> None:
        """Write the function of a node, or of nodes that take turns, without its streams."""
        names = [name for node in turn for name in argument_names(self.bodies.function(node.function))]
        ends: dict[int, StreamEnd] = {}  # a task has both ends of a stream to itself
        first = 0
        for node in turn:
            ends |= {first + end.parameter: end for end in node.ends}
            first += len(argument_names(self.bodies.function(node.function)))
        if len(turn) > 1:
            copy = woven_function(self.plan.mapping.graph, self.bodies, turn, module, symbol)
        else:
            source = self.bodies.function(turn[0].function).operation
            copy = source.clone(ir.InsertionPoint(module.mlir.body))
            copy.attributes["sym_name"] = string_attr(symbol)
        block = copy.regions[0].blocks[0]
        mark_places(block)  # tasks run one after the other
        passing = self._passing(turn)
        for number in sorted({*ends, *passing}, reverse=True):
            names.pop(number)
            if number in passing:
                self._while_used(block.arguments[number], passing[number])
                block.erase_argument(number)
                continue
            end = ends[number]
            stream = self.plan.mapping.graph.stream(end.stream)
            stream = replace(stream, name=self.outer.get(end.stream, end.stream))
            argument = block.arguments[number]
            is_block = end.over is not None
            if is_block:
                self._block(argument, end, stream)
            for op in [] if is_block else [use.owner.operation for use in argument.uses]:
                if stream.name in self.inner:
                    _through_memory(op, self.inner[stream.name])
                else:
                    self._through_fifo(op, stream)
            block.erase_argument(number)
        set_signature(copy, names)

    def _passing(self, turn: Shot) -> dict[int, ArrayFifo]:
        """The parameters of nodes that take turns whose objects they hold only while they use them."""
        if len(turn) == 1:
            return {}
        core = self.plan.mapping.core_of(turn[0].name).name
        found: dict[int, ArrayFifo] = {}
        first = 0
        for node in turn:
            for fifo in self.plan.fifos.arrays:
                slot = fifo.slot_of(core)
                if fifo.passing and slot is not None:
                    found |= {first + parameter: fifo for name, parameter in slot.uses if name == node.name}
            first += len(argument_names(self.bodies.function(node.function)))
        return found

    def _while_used(self, argument: ir.Value, fifo: ArrayFifo) -> None:
        """Let a part be an object that is taken in front of the first statement that uses it, and given back behind the
        last."""
        users = {statement_of(use.owner.operation) for use in argument.uses}
        used = [op for op in statements(argument.owner) if op in users]
        port = CONSUME if fifo.to_core else PRODUCE
        argument.replace_all_uses_with(self._taken(used[0], fifo.name, port))
        self._give_back(fifo.name, port, used[-1])

    def _taken(self, before: ir.Operation, fifo: str, port: int) -> ir.Value:
        """An object of a FIFO, taken in front of a statement."""
        kind = ir.Type.parse(self.kinds[fifo], context())
        callee = {"callee": ir.FlatSymbolRefAttr.get(self.action(fifo, port, 1, 0), context())}
        return Builder.before(before).value("func.call", kind, (), callee)

    def _block(self, argument: ir.Value, end: StreamEnd, stream: VirtualStream) -> None:
        """Let an array that is a block be that of the core, or the object of a FIFO while it is used."""
        users = {statement_of(use.owner.operation) for use in argument.uses}
        body = statements(argument.owner)
        used = [op for op in body if op in users] or body[:1]  # what is not looked at is taken all the same
        first, last = used[0], used[-1]
        before, inner = Builder.before(first), self.inner.get(stream.name)
        if inner is not None:
            argument.replace_all_uses_with(_array_of_core(before, inner.place, inner.length, stream.element))
            return
        port = PRODUCE if end.puts else CONSUME
        taken = self._taken(first, stream.name, port)
        argument.replace_all_uses_with(taken)
        self._give_back(stream.name, port, last if users else taken.owner.operation)

    def _give_back(self, fifo: str, port: int, behind: ir.Operation) -> None:
        end = {"callee": ir.FlatSymbolRefAttr.get(self.action(fifo, port, 1), context())}
        following = statements(behind.block)
        after = following[following.index(behind) + 1]
        Builder(ir.InsertionPoint(after), behind.location).op("func.call", (), (), end)

    def _through_fifo(self, op: ir.Operation, stream: VirtualStream) -> None:
        """Let a put write to, or a get read from, the object that its block is."""
        loops = loops_of_block(op, stream.block)
        if loops is None:
            raise TargetError(
                f"blocks of stream '{stream.name}' are not moved by loops of their own", at=location_of(op),
                hint="put and get whole blocks",
            )  # fmt: skip
        around = loops[0] if loops else op
        port = PRODUCE if is_put(op) else CONSUME
        taken = self._taken(around, stream.name, port)
        move_element(op, Builder.before(op), taken, loops)
        self._give_back(stream.name, port, around)
        op.erase()


def _reshaped(value: str, flat: str, kind: ir.MemRefType) -> str:
    """An object of a FIFO for objects of several shapes, as one that a task uses."""
    strides = [prod(kind.shape[d + 1 :]) for d in range(kind.rank)]
    place = f"to offset: [0], sizes: {list(kind.shape)}, strides: {strides}"
    return f"memref.reinterpret_cast {value} {place} : {flat} to {kind}"


def _through_memory(op: ir.Operation, inner: CoreStream) -> None:
    """Let a put or a get of a stream within one core use its array, and a count of what has been moved.

    Both counts are the same again when all has been moved, so that streams that follow one another use the same.
    """
    builder, name = Builder.before(op), inner.place
    side = "puts" if is_put(op) else "gets"
    data = _array_of_core(builder, name, inner.length, inner.stream.element)
    count = _array_of_core(builder, f"{name}_{side}", 1, "i32", from_zero=True)
    first = {"map": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, [ir.AffineExpr.get_constant(0, context())], context()))}
    number = ir.IntegerType.get_signless(32, context())
    moved = builder.value("affine.load", number, [count], first)
    place = builder.value("arith.index_cast", ir.IndexType.get(context()), [moved])
    if is_put(op):
        builder.op("memref.store", (), [stored(op), data, place])
    else:
        value = builder.value("memref.load", op.results[0].type, [data, place])
        op.results[0].replace_all_uses_with(value)
    one, all_of = (builder.constant(number, n) for n in (1, inner.length))
    wrapped = builder.value("arith.remui", number, [builder.value("arith.addi", number, [moved, one]), all_of])
    builder.op("affine.store", (), [wrapped, count], first)
    op.erase()


def _array_of_core(builder: Builder, name: str, length: int, element: str, *, from_zero: bool = False) -> ir.Value:
    """An array that all tasks of a core see: `_place_arrays` makes one of those of one name."""
    kind = ir.MemRefType.get([length], ir.Type.parse(element, context()), loc=unknown_location())
    marks: dict[str, ir.Attribute] = {
        "allo.name": string_attr(name), SHARED: string_attr(name), "operandSegmentSizes": segments_attr((0, 0)),
    }  # fmt: skip
    if from_zero:
        marks[FROM_ZERO] = unit_attr()
    return builder.value("memref.alloc", kind, (), marks)


def _place_arrays(entry: ir.Block) -> None:
    """Make the arrays of a core once, at the begin of its function; counts are 0 then."""
    shared: dict[str, ir.Value] = {}
    made: list[ir.Operation] = []
    for op in operations(entry, "memref.alloc"):
        key = string_of(op, SHARED) or ""
        if key not in shared:
            start = Builder(ir.InsertionPoint.at_block_begin(entry), op.location)
            if FROM_ZERO in op.attributes:
                zero = start.constant(ir.MemRefType(op.results[0].type).element_type, 0)
                start.op("memref.store", (), [zero, op.results[0], start.constant(index_type(), 0)])
                op.move_before(zero.owner.operation)
            else:
                op.move_before(statements(entry)[0])
            shared[key] = op.results[0]
            made.append(op)
            continue
        op.results[0].replace_all_uses_with(shared[key])
        op.erase()
    for op in made:
        for name in (SHARED, FROM_ZERO):
            if name in op.attributes:
                del op.attributes[name]


def _declared(function: ir.OpView) -> str:
    kind = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
    return f"func.func private @{function.name.value}({', '.join(map(str, kind.inputs))})"
