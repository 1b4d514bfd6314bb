"""The array as a module: a mapped program with its cores, DMA engines, locks, descriptors and queues as processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mlir import ir

from ...ir.builder import string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.streams import KEEPS
from ...ir.walk import argument_names, entry_block, operations
from ...mapping import ArrayPlan, MappedCore, Route, RuntimeSequence, ShimTransfer
from ..element_class import set_signature
from .carried import Carried
from .constants import constants_as_globals, declare_constants
from .core_body import CORE, CoreBodies
from .localize import external_functions
from .model_core import CoreProcess
from .model_text import (
    CREDIT,
    ModelChannel,
    ModelProcess,
    Pool,
    distribute,
    from_array,
    join,
    pass_on,
    to_array,
)

BEFORE = "before "  # of the name of an argument: what it is when the call begins


@dataclass(slots=True)
class _Model:
    """The text of a model, process by process."""

    plan: ArrayPlan
    sequence: RuntimeSequence
    bodies: CoreBodies
    kinds: dict[str, str]  # the types of the arguments
    processes: list[ModelProcess] = field(default_factory=list)
    ends: dict[tuple[str, str], Pool] = field(default_factory=dict)  # of a FIFO and a core
    streams: dict[str, Pool] = field(default_factory=dict)
    cores: dict[str, ir.Operation] = field(default_factory=dict)
    modules: list[Module] = field(default_factory=list)  # that own the functions of cores
    constants: dict[str, ir.Attribute] = field(default_factory=dict)
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
        for between in fifos.streams:
            stream = between.stream
            self.streams[stream.name] = Pool.of(stream.name, stream.element, stream.block, between.depth)
        sequence = ModelProcess("runtime_sequence")
        for step in self.sequence.steps:
            if isinstance(step, ShimTransfer):
                sequence.give(self._queue(step.route))
            else:
                sequence.get(self._tokens(step.route))
        self.processes.append(sequence)
        for route in self.plan.routes:
            self._route(route)
        for mapped in self.plan.mapping.cores:
            self._core(mapped)

    def _process(self, symbol: str) -> ModelProcess:
        made = ModelProcess(symbol)
        self.processes.append(made)
        return made

    def _queue(self, route: str) -> ModelChannel:
        return ModelChannel(f"{route} queue", CREDIT, self.plan.array.queue)

    def _tokens(self, route: str) -> ModelChannel:
        return ModelChannel(f"{route} tokens", CREDIT, max(len(self.sequence.transfers(route)), 1))

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

    def _before(self, transfer: ShimTransfer) -> ShimTransfer:
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
                pass_on(channel, pool, cores, fifo.length, route.rounds, read=fifo.near)
            else:
                pass_on(channel, cores[0], [pool], fifo.length, route.rounds, written=fifo.near)

    # -- cores -------------------------------------------------------------------------------------

    def _core(self, core: MappedCore) -> None:
        """The process of a core: its body, with streams in the place of FIFOs."""
        process = ModelProcess(symbol_of(core.name))
        self.processes.append(process)
        module = self.bodies.body(core, 1)
        function = module.function(CORE)
        entry = entry_block(function)
        assert entry is not None
        gets = [fifo.name for fifo in self.plan.fifos.arrays_of(core.name, True)]
        gets += [fifo.stream.name for fifo in self.plan.fifos.streams if fifo.consumer == core.name]
        puts = [fifo.name for fifo in self.plan.fifos.arrays_of(core.name, False)]
        puts += [fifo.stream.name for fifo in self.plan.fifos.streams if fifo.producer == core.name]
        pools = {name: self._end(name, core.name) for name in (*gets, *puts)}
        walks = {fifo.name: fifo.at_core for fifo in self.plan.fifos.arrays if fifo.at_core is not None}
        body = CoreProcess(entry, pools, {v: k for k, v in self.bodies.actions.items()}, process, walks)
        self.constants |= constants_as_globals(entry)
        for number, array in enumerate(operations(entry, "memref.alloc")):
            array.attributes["allo.name"] = string_attr(f"array_{number}")  # cores that do the same are one function
        body.write(gets)
        set_signature(function.operation, [])
        function.operation.attributes["sym_name"] = string_attr(process.symbol)
        self.cores[process.symbol] = function.operation
        self.modules.append(module)

    def _end(self, fifo: str, core: str) -> Pool:
        """What a core sees of a FIFO."""
        return self.ends[fifo, core] if (fifo, core) in self.ends else self.streams[fifo]


def symbol_of(core: str) -> str:
    """The symbol of a core."""
    return "core_" + core.replace("-", "_")


def model_of_array(
    module: Module, bodies: Module, plan: ArrayPlan, sequence: RuntimeSequence, carried: Mapping[int, Carried]
) -> Module:
    """A module with the interface of `module`, in which the array runs the planned program; arguments that are
    `carried` in another form come in it."""
    top = module.function(module.top)
    entry = entry_block(top)
    assert entry is not None
    passed = [carried[v.arg_number].memref if v.arg_number in carried else v.type for v in entry.arguments]
    kinds = {name: str(kind) for name, kind in zip(argument_names(top), passed, strict=True)}
    model = _Model(plan, sequence, CoreBodies(plan, bodies), kinds)
    model.build()
    same, functions = _alike(model)
    top_text = _top_text(model, kinds, same)
    text = "\n".join(functions[symbol] for symbol in dict.fromkeys(same.values()))
    result = Module(ir.Module.parse(f"module {{\n{text}\n{top_text}\n}}", context()))
    run_passes("builtin.module(strip-debuginfo)", result.mlir.operation)  # what stands for no line of a kernel
    result.mlir.operation.attributes["allo.top"] = string_attr(module.top)
    declare_constants(result, model.constants)
    for function in external_functions(bodies):
        function.clone(ir.InsertionPoint(result.mlir.body))
    for symbol, core in model.cores.items():
        if same[symbol] == symbol:
            declared = result.function(symbol).operation
            core.clone(ir.InsertionPoint(declared))
            declared.erase()
    made = result.function("array_top").operation
    for name in ("arg_attrs", "itypes"):
        if name in top.operation.attributes:
            made.attributes[name] = top.operation.attributes[name]
    made.attributes["sym_name"] = string_attr(module.top)
    result.verify()
    return result


def _alike(model: _Model) -> tuple[dict[str, str], dict[str, str]]:
    """The function that each process runs, those that do the same one of them, and the texts of these."""
    first: dict[str, str] = {}
    same, texts = {}, {}
    for process in model.processes:
        texts[process.symbol] = process.declaration if process.symbol in model.cores else str(process)
        key = str(model.cores[process.symbol]) if process.symbol in model.cores else texts[process.symbol]
        same[process.symbol] = first.setdefault(key.replace(process.symbol, "f", 1), process.symbol)
    return same, texts


def _top_text(model: _Model, kinds: dict[str, str], same: dict[str, str]) -> str:
    """The region: it makes the streams and starts the processes."""
    streams = dict.fromkeys(
        (name, kind)
        for process in model.processes
        for name, kind in process.parameters.items()
        if name not in kinds and not name.startswith(BEFORE)
    )
    values = {name: f"%s{k}" for k, (name, _) in enumerate(streams)}
    values |= {name: f"%a{k}" for k, name in enumerate(kinds)}
    keeping = {name for process in model.processes for name in process.keeping}
    lines = []
    for name, kind in streams:
        marks = f'allo.name = "{name}"' + (f", {KEEPS}" if name in keeping else "")
        lines.append(f"{values[name]} = allo.stream_create {{{marks}}} : {kind}")
    for name in sorted(model.rewritten):
        values[BEFORE + name] = copy = f"%before_{name}"
        lines.append(f"{copy} = memref.alloc() : {kinds[name]}")
        lines.append(f"memref.copy {values[name]}, {copy} : {kinds[name]} to {kinds[name]}")
    for process in model.processes:
        operands = ", ".join(values[name] for name in process.parameters)
        types = ", ".join(process.parameters.values())
        mark = f'{{allo.name = "{process.symbol}"}}'
        lines.append(f"func.call @{same[process.symbol]}({operands}) {mark} : ({types}) -> ()")
    listed = ", ".join(f"%a{k}: {kind}" for k, kind in enumerate(kinds.values()))
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @array_top({listed}) attributes {{allo.dataflow}} {{\n{body}\n  return\n}}"
