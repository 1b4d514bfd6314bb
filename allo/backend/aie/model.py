"""The array as a module: a mapped program with its cores, DMA engines, locks, descriptors and queues as processes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...ir.context import context
from ...ir.module import Module
from ...ir.streams import is_stream
from ...ir.walk import argument_names, entry_block
from ...mapping import (
    ArrayFifo, ArrayPlan, HostArray, MappedCore, Route, RuntimeSequence, Transfer, VirtualNode, VirtualStream,
)  # fmt: skip
from ..element_class import set_signature
from .model_text import (
    CREDIT, Channel, Pool, ProcessText, distribute, from_array, join, pass_on, to_array,
)  # fmt: skip

BEFORE = "before "  # of the name of an argument: what it is when the call begins


@dataclass(slots=True)
class _Model:
    """The text of a model, process by process."""

    plan: ArrayPlan
    sequence: RuntimeSequence
    bodies: Module
    kinds: dict[str, str]  # the types of the arguments
    processes: list[ProcessText] = field(default_factory=list)
    ends: dict[tuple[str, str], Pool] = field(default_factory=dict)  # of a FIFO and a core
    streams: dict[str, Channel] = field(default_factory=dict)
    variants: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    rewritten: frozenset[str] = frozenset()  # arguments that are read and written

    def build(self) -> None:
        fifos = self.plan.fifos
        read, written = (
            {part.argument.name for fifo in fifos.arrays if fifo.to_core == way for part in fifo.objects}
            for way in (True, False)
        )
        self.rewritten = frozenset(read & written)
        for fifo in fifos.arrays:
            for core in fifo.cores:
                way = f"{fifo.name} to {core}" if fifo.to_core else f"{fifo.name} from {core}"
                self.ends[fifo.name, core] = Pool.of(way, fifo.element, fifo.length, fifo.depth)
        for stream in [*(own.stream for own in fifos.streams), *fifos.internal]:
            self.streams[stream.name] = Channel(stream.name, stream.element, stream.depth)
        sequence = ProcessText("runtime_sequence")
        for step in self.sequence.steps:
            if isinstance(step, Transfer):
                sequence.give(self._queue(step.route))
            else:
                sequence.get(self._tokens(step.route))
        self.processes.append(sequence)
        for route in self.plan.routes:
            self._route(route)
        for core in self.plan.mapping.cores:
            self._core(core)

    def _process(self, symbol: str) -> ProcessText:
        made = ProcessText(symbol)
        self.processes.append(made)
        return made

    def _queue(self, route: str) -> Channel:
        return Channel(f"{route} queue", CREDIT, self.plan.array.queue)

    def _tokens(self, route: str) -> Channel:
        return Channel(f"{route} tokens", CREDIT, max(len(self.sequence.transfers(route)), 1))

    # -- DMA engines -------------------------------------------------------------------------------

    def _route(self, route: Route) -> None:
        transfers = self.sequence.transfers(route.name)
        length = sum(fifo.length for fifo in route.fifos)
        ends = [[self.ends[fifo.name, core] for core in fifo.cores] for fifo in route.fifos]
        queue, tokens = self._queue(route.name), self._tokens(route.name)
        shim = self._process(f"shim_{route.name}")
        at_shim = ends[0]
        if route.hub is not None:
            at_shim = [Pool.of(f"{route.name} at shim", route.fifos[0].element, length, route.hub_depth)]
        if route.to_core:
            to_array(shim, [self._before(own) for own in transfers], self._sources(), queue, tokens, at_shim, length)
        else:
            from_array(shim, transfers, self.kinds, queue, tokens, at_shim[0], length)
        if route.hub is not None:
            self._hub(route, at_shim[0], ends)

    def _before(self, transfer: Transfer) -> Transfer:
        """A transfer out of the copy of an argument that is written too.

        Nobody reads an element that another node writes (`overlapping`), and a node has read all of its part before it
        gives it back: as it was at the begin of the call is how it is read. The run time sees arrays only as a whole.
        """
        argument = transfer.argument
        return replace(transfer, argument=replace(argument, name=BEFORE + argument.name)) if (
            argument.name in self.rewritten
        ) else transfer

    def _sources(self) -> dict[str, str]:
        return self.kinds | {BEFORE + name: self.kinds[name] for name in self.rewritten}

    def _hub(self, route: Route, at_shim: Pool, ends: list[list[Pool]]) -> None:
        own = [
            (fifo, Pool.of(f"{fifo.name} in memory tile", fifo.element, fifo.length, route.hub_depth))
            for fifo in route.fifos
        ]
        hub = self._process(f"memory_{route.name}")
        if route.to_core:
            distribute(hub, at_shim, own, route.rounds)
        else:
            join(hub, own, at_shim, route.rounds)
        for (fifo, pool), cores in zip(own, ends, strict=True):
            channel = self._process(f"memory_{fifo.name}")
            if route.to_core:
                pass_on(channel, pool, cores, fifo.length, route.rounds)
            else:
                pass_on(channel, cores[0], [pool], fifo.length, route.rounds)

    # -- cores -------------------------------------------------------------------------------------

    def _core(self, core: MappedCore) -> None:
        text = self._process(symbol_of(core.name))
        _CoreText(self, core, text).write()

    def variant(self, node: VirtualNode) -> tuple[str, list[str]]:
        """The function of a node for the depths that its streams have, and the types of its arguments."""
        function = self.bodies.function(node.function)
        entry = entry_block(function)
        assert entry is not None
        kinds = [str(argument.type) for argument in entry.arguments]
        for end in node.ends:
            kinds[end.parameter] = self.streams[end.stream].kind
        key = node.function, tuple(kinds)
        if key not in self.variants:
            self.variants[key] = f"{node.function}_v{len(self.variants)}"
            copy = function.operation.clone(ir.InsertionPoint(function.operation))
            copy.attributes["sym_name"] = ir.StringAttr.get(self.variants[key], context())
            for argument, kind in zip(copy.regions[0].blocks[0].arguments, kinds, strict=True):
                if is_stream(argument.type):
                    argument.set_type(allo_d.StreamType(ir.Type.parse(kind, context())))
            set_signature(copy, argument_names(function))
        return self.variants[key], kinds


@dataclass(slots=True)
class _CoreText:
    """The process of one core."""

    model: _Model
    core: MappedCore
    text: ProcessText
    buffers: dict[tuple[str, int], str] = field(default_factory=dict)

    def write(self) -> None:
        fifos = self.model.plan.fifos
        into, out = fifos.arrays_of(self.core.name, True), fifos.arrays_of(self.core.name, False)
        for fifo in into:
            self.text.give(self._end(fifo).credits, fifo.depth)
        for fifo in into:
            if fifo.resident:
                self._fill(fifo, self._buffer(fifo, 0))
        for node in self.core.nodes:
            self._run(node, into, out)
        for fifo in into:
            if fifo.resident:
                self.text.give(self._end(fifo).credits)

    def _run(self, node: VirtualNode, into: list[ArrayFifo], out: list[ArrayFifo]) -> None:
        """Take objects, call the function of the node on them, give them back."""
        passed: dict[int, str] = {}
        for fifo in into:
            for held, parameter in enumerate(_parameters(fifo, self.core.name, node.name)):
                passed[parameter] = self._buffer(fifo, held)
                if not fifo.resident:
                    self._fill(fifo, passed[parameter])
        for fifo in out:
            for held, parameter in enumerate(_parameters(fifo, self.core.name, node.name)):
                self.text.get(self._end(fifo).credits)
                buffer = self._buffer(fifo, held)
                if parameter in passed:
                    self._copy(fifo, passed[parameter], buffer)
                passed[parameter] = buffer
        name, kinds = self.model.variant(node)
        for end in node.ends:
            passed[end.parameter] = self.text.takes(self.model.streams[end.stream])
        operands = ", ".join(passed[k] for k in range(len(kinds)))
        self.text.lines.append(f"func.call @{name}({operands}) : ({', '.join(kinds)}) -> ()")
        for fifo in into:
            if not fifo.resident:
                self.text.give(self._end(fifo).credits, len(_parameters(fifo, self.core.name, node.name)))
        for fifo in out:
            for held, _ in enumerate(_parameters(fifo, self.core.name, node.name)):
                self._drain(fifo, self._buffer(fifo, held))

    def _end(self, fifo: ArrayFifo) -> Pool:
        return self.model.ends[fifo.name, self.core.name]

    def _buffer(self, fifo: ArrayFifo, held: int) -> str:
        """The memory of an object."""
        if (fifo.name, held) not in self.buffers:
            self.buffers[fifo.name, held] = value = self.text.fresh()
            mark = f'{{allo.name = "{fifo.name}"}}'
            self.text.lines.insert(0, f"{value} = memref.alloc() {mark} : {_kind(fifo)}")
        return self.buffers[fifo.name, held]

    def _fill(self, fifo: ArrayFifo, buffer: str) -> None:
        loops = self.text.loops(fifo.extents)
        value = self.text.get(self._end(fifo).data)
        self.text.lines.append(f"affine.store {value}, {buffer}[{', '.join(loops)}] : {_kind(fifo)}")
        self.text.end(loops)

    def _drain(self, fifo: ArrayFifo, buffer: str) -> None:
        loops = self.text.loops(fifo.extents)
        value = self._load(fifo, buffer, loops)
        self.text.put(self._end(fifo).data, value)
        self.text.end(loops)

    def _copy(self, fifo: ArrayFifo, source: str, target: str) -> None:
        loops = self.text.loops(fifo.extents)
        value = self._load(fifo, source, loops)
        self.text.lines.append(f"affine.store {value}, {target}[{', '.join(loops)}] : {_kind(fifo)}")
        self.text.end(loops)

    def _load(self, fifo: ArrayFifo, buffer: str, loops: list[str]) -> str:
        value = self.text.fresh()
        self.text.lines.append(f"{value} = affine.load {buffer}[{', '.join(loops)}] : {_kind(fifo)}")
        return value


def _kind(fifo: ArrayFifo) -> str:
    return f"memref<{'x'.join(map(str, fifo.extents))}x{fifo.element}>"


def _parameters(fifo: ArrayFifo, core: str, node: str) -> list[int]:
    """The parameters of a node that get objects of a FIFO, in their order."""
    slot = fifo.slot_of(core)
    return [parameter for own, parameter in slot.uses if own == node] if slot is not None else []


def symbol_of(core: str) -> str:
    """The symbol of a core."""
    return "core_" + core.replace("-", "_")


def model_of_array(module: Module, bodies: Module, plan: ArrayPlan, sequence: RuntimeSequence) -> Module:
    """A module with the interface of `module`, in which the array runs the planned program."""
    result = bodies.clone()
    top = module.function(module.top)
    entry = entry_block(top)
    assert entry is not None
    kinds = {name: str(value.type) for name, value in zip(argument_names(top), entry.arguments, strict=True)}
    model = _Model(plan, sequence, result, kinds)
    model.build()
    text = "\n".join([*map(str, model.processes), _top_text(model, kinds)])
    declared = "\n".join(_declaration(result, name) for name in model.variants.values())
    parsed = ir.Module.parse(f"module {{\n{declared}\n{text}\n}}", context())
    for name in [name for name in result.names() if name not in model.variants.values()]:
        result.function(name).operation.erase()
    end = ir.InsertionPoint(result.mlir.body)
    for op in list(parsed.body.operations):
        if len(op.operation.regions[0].blocks):
            op.operation.clone(end)
    made = result.function("array_top").operation
    for name in ("arg_attrs", "itypes"):
        if name in top.operation.attributes:
            made.attributes[name] = top.operation.attributes[name]
    made.attributes["sym_name"] = ir.StringAttr.get(module.top, context())
    result.verify()
    return result


def _declaration(module: Module, name: str) -> str:
    kind = ir.TypeAttr(module.function(name).operation.attributes["function_type"]).value
    return f"func.func private @{name}({', '.join(map(str, ir.FunctionType(kind).inputs))})"


def _top_text(model: _Model, kinds: dict[str, str]) -> str:
    """The region: it makes the streams and starts the processes."""
    streams = dict.fromkeys(
        (name, kind)
        for process in model.processes
        for name, kind in process.parameters.items()
        if name not in kinds and not name.startswith(BEFORE)
    )
    values = {name: f"%s{k}" for k, (name, _) in enumerate(streams)}
    values |= {name: f"%a{k}" for k, name in enumerate(kinds)}
    lines = [f'{values[name]} = allo.stream_create {{allo.name = "{name}"}} : {kind}' for name, kind in streams]
    for name in sorted(model.rewritten):
        values[BEFORE + name] = copy = f"%before_{name}"
        lines.append(f"{copy} = memref.alloc() : {kinds[name]}")
        lines.append(f"memref.copy {values[name]}, {copy} : {kinds[name]} to {kinds[name]}")
    for process in model.processes:
        operands = ", ".join(values[name] for name in process.parameters)
        types = ", ".join(process.parameters.values())
        lines.append(f"func.call @{process.symbol}({operands}) : ({types}) -> ()")
    listed = ", ".join(f"%a{k}: {kind}" for k, kind in enumerate(kinds.values()))
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @array_top({listed}) attributes {{allo.dataflow}} {{\n{body}\n  return\n}}"
