"""convert: a stream-layout converter between loop nests that make and use the elements of an array in other orders."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..errors import Note, ScheduleError, counted
from ..ir.module import Module
from ..ir.processes import is_region
from ..ir.walk import location_of
from ..layout import ITensor, LineBuffer, StreamConverter, stream_converter
from .dataflow import run_at_once
from .fifo.accesses import Get, gets_of
from .fifo.conditional import moved_out_of_branches
from .fifo.converters import insert_converter
from .fifo.line_buffers import insert_line_buffer
from .fifo.orders import demand_expected, expected_order, order_of_get, order_of_puts
from .fifo.stages import Stage, stages_of
from .module.declared_orders import confirm_declared_orders, declare
from .nest.absorb import one_writer
from .relay import connect, consumer_of, local_array
from .step.handles import Buffer, Nest
from .step.primitive import primitive
from .step.resolve import find_buffer
from .step.stream_ends import demand_ends_of_elements


@primitive
def convert(
    module: Module, buffer: Buffer, dst: Nest, depth: int = -1, itensor: str | None = None
) -> Buffer | None:
    """Pass the elements of `buffer` to nest `dst` in the order in which that takes them, through FIFOs and a tile.

        C: T[m, n]                               fifo_C: Stream[T, depth]
        for i, j in grid(m, n):                  fifo_C_in_order: Stream[T, 2]
            C[i, j] = S(i, j)                    for i, j in grid(m, n):
        for i, j, k in grid(m, p, n): # dst          fifo_C.put(S(i, j))
            R(C[i, k])                  ->       C_tile: T[2, n]
                                                 for p, x in grid(m + 1, p * n): # convert_C
                                                     C_tile[p % 2, x] = fifo_C.get()               # x < n
                                                     fifo_C_in_order.put(C_tile[(p - 1) % 2, x % n])
                                                 for i, j, k in grid(m, p, n):
                                                     R(fifo_C_in_order.get())

    Both orders are iterative tensors (`allo.layout.ITensor`); the loops in which they do the same are shared, and of
    the rest the converter holds the least tile twice: one is filled while the other is drained, as often as it is
    read. With no shared loop it holds the array, once. Elements that `dst` does not take stay in the tile. Where
    windows of `dst` slide along the loops of the producer, it is a line buffer, `C_rows`: as many rows as a window is
    high, out of which a window is taken as soon as its last element has come. Where both orders are one, it is `relay`.
    Returns the handle of the tile or the rows, if there are any.
    Several nests that write the array become one, which must be possible, in as many loops as may be. What is read in
    branches that data decide is taken whether they run or not. Of a box that `dst` takes, only the elements pass.
    `depth` is that of the FIFO into the converter, by default the elements of the array, which never blocks; the one
    behind it has two places in a dataflow region, else as many as elements pass (`size_fifos` computes least depths).
    What makes a FIFO has the order of its elements as a type, `allo.itensor`; `itensor="!allo.itensor<...>"` is that in
    which `dst` takes them as you expect it.
    Refused: what `relay` refuses but for the order; a producer or `dst` that are no loop nests beside the array, with
    constant bounds and no affine branches around it but those that cut a box out of the iterations; an array that `dst`
    reads in several places; an order that is not the one of `itensor`.
    Source: StreamTensor, sections 3.1.2, 4.2 and 5.2.1, Algorithm 1.
    """
    tile = stream(module, buffer, dst, depth, expected_order(itensor))
    confirm_declared_orders(module)
    return tile


def stream(
    module: Module, buffer: Buffer, dst: Nest, depth: int, expected: ITensor | None = None
) -> Buffer | None:
    """Make FIFOs, and a converter if the orders differ, between the nests of an array; the handle of its tile."""
    plan = link_plan(module, buffer, dst)
    value = local_array(module, buffer)
    function = module.function(buffer.function)
    demand_expected(buffer.name, plan.result, expected, (), plan.get.loads)
    if plan.converter is None:
        run_at_once(module, connect(module, buffer, value, dst, depth, assume_safe=False, expected=expected))
        demand_ends_of_elements(module)
        return None
    if isinstance(plan.converter, LineBuffer):
        made = insert_line_buffer(function, buffer.name, plan.consumer, plan.get, plan.converter)
    else:
        made = insert_converter(function, buffer.name, plan.consumer, plan.get, plan.converter)
    fifo = connect(module, buffer, value, Nest(buffer.function, made.nest), depth, assume_safe=False)
    declare(fifo, plan.converter.source)
    run_at_once(module, fifo)
    behind = 2 if is_region(fifo.owner.operation.block) else -1
    result = Buffer(buffer.function, made.result)
    in_order = connect(module, result, find_buffer(module, result), dst, behind, assume_safe=False)
    declare(in_order, expected or plan.result)
    demand_ends_of_elements(module)
    return Buffer(buffer.function, made.tile)


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """The orders of both ends, and what lies between them: None if they are one."""

    consumer: Stage
    get: Get
    source: ITensor
    result: ITensor
    converter: StreamConverter | LineBuffer | None


def link_plan(module: Module, buffer: Buffer, dst: Nest) -> LinkPlan:
    """How the elements come to `dst`. Raises ScheduleError if the order of an end is not known."""
    value = local_array(module, buffer)
    stages = stages_of(module, buffer, value)
    consumer = consumer_of(buffer, value, stages, dst)
    writing = [stage for stage in stages if stage.writes]
    if len(writing) > 1 and one_writer(module.function(buffer.function), [stage.op for stage in writing]):
        return link_plan(module, buffer, dst)
    for stage in writing:
        if stage.callee is not None:
            raise ScheduleError(
                f"{stage.name} writes '{buffer.name}', and a converter is between loop nests",
                hint=f'inline() it: s.inline("{stage.callee}")',
                notes=[stage.note],
            )
    if not writing:
        raise ScheduleError(f"'{buffer.name}' is written by nobody, but a FIFO has one producer")
    if moved := moved_out_of_branches(consumer.reads):
        stages = stages_of(module, buffer, value)
        consumer = consumer_of(buffer, value, stages, dst)
        if not all(_is_inside(consumer, get) for get in gets_of(consumer)):
            for load in reversed(moved):
                load.put_back()
            stages = stages_of(module, buffer, value)
            consumer = consumer_of(buffer, value, stages, dst)
        writing = [stage for stage in stages if stage.writes]
    gets = gets_of(consumer)
    if len(gets) > 1:
        raise ScheduleError(
            f"{consumer.name} reads '{buffer.name}' at {counted(len(gets), 'place')}, and a converter serves one",
            hint="read it once, into a copy made by buffer_at() or reuse_at()",
            notes=[Note("it is read here", location_of(get.loads[0].op)) for get in gets],
        )
    source, result = order_of_puts(writing[-1]), order_of_get(consumer, gets[0])
    try:
        return LinkPlan(consumer, gets[0], source, result, stream_converter(source, result))
    except ValueError as error:
        raise ScheduleError(f"'{buffer.name}' cannot be converted: {error}", notes=[consumer.note]) from None


def _is_inside(consumer: Stage, get: Get) -> bool:
    """Whether what a get takes is surely in the array."""
    try:
        order = order_of_get(consumer, get)
    except ScheduleError:
        return False
    return all(end <= extent for end, extent in zip(order.shape, ir.MemRefType(consumer.value.type).shape, strict=True))
