"""Cores in the model of an array: their bodies, with streams and credits in the place of actions on FIFOs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...ir.access import callee_name
from ...ir.builder import Builder, affine_constant, affine_dim, segments_attr, string_attr
from ...ir.context import context
from ...ir.walk import induction_variable, operations, statements
from ...layout import Walk
from .core_body import CONSUME, FifoAction
from .model_text import ModelChannel, ModelProcess, Pool


@dataclass(slots=True)
class CoreProcess:
    """The function of a core that becomes a process; `actions` say what its calls stand for."""

    entry: ir.Block
    pools: dict[str, Pool]
    actions: dict[str, FifoAction]
    process: ModelProcess  # the streams that it takes, by name
    walks: Mapping[str, Walk]  # over objects, of the DMA engine of the core, by FIFO
    values: dict[str, ir.Value] = field(default_factory=dict)
    objects: dict[tuple[str, int], ir.Value] = field(default_factory=dict)

    def write(self, gives: Sequence[str]) -> None:
        """Replace all calls; the core gives credits for all places of the FIFOs `gives` when it begins."""
        for call in operations(self.entry, "func.call"):
            if callee_name(call) not in self.actions:  # code in C++
                continue
            action = self.actions[callee_name(call)]
            if action.index is None:
                self._give_back(call, action)
            else:
                self._take(call, action)
            call.erase()
        start = Builder(ir.InsertionPoint(statements(self.entry)[0]))
        for name in gives:
            credits = self.pools[name].credits
            self._give(start, credits, credits.depth)

    def _take(self, call: ir.Operation, action: FifoAction) -> None:
        builder, pool = Builder.before(call), self.pools[action.fifo]
        assert action.index is not None
        key = action.fifo, action.index
        if key not in self.objects:
            first = Builder(ir.InsertionPoint(statements(self.entry)[0]), call.location)
            name = string_attr(f"object_{len(self.objects)}")
            marks = {"allo.name": name, "operandSegmentSizes": segments_attr((0, 0))}
            self.objects[key] = first.value("memref.alloc", call.results[0].type, (), marks)
        array = self.objects[key]
        if action.port == CONSUME:
            inner, place, variables = _loops(builder, array, self.walks.get(action.fifo))
            value = self._get(inner, pool.data)
            inner.op("affine.store", (), [value, array, *variables], {"map": ir.AffineMapAttr.get(place)})
        else:
            self._get(builder, pool.credits)
        call.results[0].replace_all_uses_with(array)

    def _give_back(self, call: ir.Operation, action: FifoAction) -> None:
        builder, pool = Builder.before(call), self.pools[action.fifo]
        if action.port == CONSUME:
            self._give(builder, pool.credits, action.count)
            return
        for index in range(action.count):
            array = self.objects[action.fifo, index]
            inner, place, variables = _loops(builder, array, self.walks.get(action.fifo))
            kind = ir.MemRefType(array.type).element_type
            value = inner.value("affine.load", kind, [array, *variables], {"map": ir.AffineMapAttr.get(place)})
            inner.op("allo.stream_put", (), [self._stream(pool.data), value])

    def _stream(self, channel: ModelChannel) -> ir.Value:
        if channel.name not in self.values:
            self.process.takes(channel)
            kind = ir.Type.parse(channel.kind, context())
            self.values[channel.name] = self.entry.add_argument(kind, ir.Location.unknown(context()))
        return self.values[channel.name]

    def _get(self, builder: Builder, channel: ModelChannel) -> ir.Value:
        kind = ir.Type.parse(channel.element, context())
        return builder.value("allo.stream_get", kind, [self._stream(channel)])

    def _give(self, builder: Builder, channel: ModelChannel, count: int) -> None:
        one = builder.constant(ir.Type.parse(channel.element, context()), 1)
        for _ in range(count):
            builder.op("allo.stream_put", (), [self._stream(channel), one])


def _loops(
    builder: Builder, array: ir.Value, walk: Walk | None
) -> tuple[Builder, ir.AffineMap, Sequence[ir.Value]]:
    """Loops over the elements of an array, in the order of a walk: where their body is, the subscripts, and the
    variables of these."""
    shape = ir.MemRefType(array.type).shape if walk is None else walk.extents
    inner, variables = builder, []
    zero = ir.AffineMap.get_constant(0, context())
    for extent in shape:
        loop = inner.affine_for((zero, []), (ir.AffineMap.get_constant(extent, context()), []), 1, {})
        variables.append(induction_variable(loop))
        inner = Builder(ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0]), builder.loc)
    subscripts = [affine_dim(k) for k in range(len(shape))]
    if walk is not None:
        address = affine_constant(0)
        for place, stride in zip(subscripts, walk.strides, strict=True):
            address = address + place * stride
        subscripts = [address]
    places = ir.AffineMap.get(len(shape), 0, subscripts, context())
    return inner, places, variables
