"""relay: connect the producer of an array with a consumer, or neighbouring processing elements, by FIFOs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mlir import ir

from ..errors import ScheduleError
from ..ir.access import callee_name
from ..ir.builder import Builder
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import array_operations, entry_block, statements
from ..layout import ITensor
from ..poly import Box, OrderMismatch, OrderObstacle
from .dataflow import run_at_once
from .fifo.accesses import (
    Get,
    create,
    demand_fifo,
    fifo_at,
    get_at_loads,
    gets_of,
    lanes_of,
    missing,
    obstacle,
    put_at_stores,
    stream_type,
    wanted,
)
from .fifo.conditional import moved_out_of_branches
from .fifo.external_streams import close_calls, open_calls
from .fifo.first_values import drop_first_values
from .fifo.neighbours import pass_on
from .fifo.orders import demand_expected, expected_order, order_between
from .fifo.producer import Drained, drained, summed_in_copy, with_first_values
from .fifo.stages import Stage, stages_inside, stages_of
from .function.calls import call_counts, function_around
from .function.signature import add_argument, own_callee, result_to_argument, set_argument
from .module.declared_orders import declare
from .step.handles import Buffer, Function, Nest
from .step.primitive import primitive
from .step.resolve import buffer_note, find_buffer
from .step.stream_ends import demand_ends_of_elements


@primitive
def relay(
    module: Module,
    buffer: Buffer,
    dst: Function | Nest,
    axis: int | None = None,
    depth: int = -1,
    assume_safe: bool = False,
    itensor: str | None = None,
) -> None:
    """Pass the elements of `buffer` to `dst` through a FIFO of `depth` elements. `to` is another name of it.

        C: T[m, n]                              C: Stream[T, depth]
        for i, j in grid(m, n):                 for i, j in grid(m, n):
            C[i, j] = S(i, j)           ->          C.put(S(i, j))
        for i, j in grid(m, n): # dst           for i, j in grid(m, n):
            R(C[i, j])                              R(C.get())

    Without `axis`, `buffer` is a local array that one loop nest or call writes and that `dst`, a nest or a function
    called once, reads. An element that inner loops use again is taken out before them. If others read the array too,
    it stays for them, and each destination gets a FIFO of its own. A function that is also called elsewhere is copied
    first (`f_1`), with those that it only passes the array on to; an array that a function returns becomes an argument.
    What branches read that data decide is taken out before them, if each element is then taken once and in order.
    An external kernel takes part where C++ has a stream, whose elements are those of the array in the order of memory.
    First values that the producer overwrites are dropped; with those that it goes on with it begins itself.
    A producer that sums up what it writes works on a copy of what one iteration of a loop touches, and puts an element
    when it is complete; if no loop completes them in the order in which they are read, a nest `drain_<buffer>` behind
    the producer puts them in the order of memory. Where only a box of the elements is read, only these are put.
    An array in banks along some dimensions, not all (`partition`, complete), becomes an array of FIFOs, one for each of
    these banks: as many elements pass in a cycle as there are banks, each bank in an order of its own.
    With `axis`, `dst` is an unfolded nest, and data travel along that loop of it (counted from 0). Either `buffer` is
    an array of each processing element, filled with the same values along the axis: the first one gets them from
    outside, by a nest `load_<buffer>`, and each passes them on to the next one; if it reads them once, in the order in
    which they come, the array disappears. Or `buffer` is made outside of the nest, and an element reads what the one
    before it has written, X[p] and X[p + 1]: it becomes an array of FIFOs; functions called in the nest are inlined.
    FIFOs are named `fifo_<buffer>`. What makes one has the order in which elements pass as a type, `allo.itensor`, if
    it is one of loops with constant bounds. `itensor="!allo.itensor<...>"` is that type as you expect it.
    The default depth, the number of elements of the array (or bank), never blocks.
    The function or loop around becomes a dataflow region if `dataflow` allows that; what then runs in sequence needs
    FIFOs that hold all that is put before it is taken.
    Refused: an element that is not read once, or not in the order in which it is put, with the first such element;
    several producers; arrays that are arguments, constants or results; parallel loops; with `axis`, elements that
    differ along it; an order that is not the one of `itensor`. `assume_safe=True` accepts what cannot be decided.
    Source: Allo paper, Table 2, section 5 and Figs. 5 and 6.
    """
    value = local_array(module, buffer)
    if axis is not None:
        if not isinstance(dst, Nest):
            raise ScheduleError(f"axis= needs an unfolded loop nest as destination, got function '{dst}'")
        if itensor is not None:
            raise ScheduleError("itensor= is the order of one FIFO, and axis= makes an array of them")
        run_at_once(module, pass_on(module, buffer, dst, axis, depth, assume_safe=assume_safe))
        return
    expected = expected_order(itensor)
    taps = open_calls(module, value)
    fifos = connect(module, buffer, value, dst, depth, assume_safe=assume_safe, expected=expected)
    close_calls(module, taps)
    demand_ends_of_elements(module)
    run_at_once(module, fifos)


def local_array(module: Module, buffer: Buffer) -> ir.Value:
    """The array that may become a FIFO. Raises ScheduleError for one that is not made in the module."""
    value = find_buffer(module, buffer)
    if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "func.call":
        value = result_to_argument(module, value.owner.operation) or value
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "memref.alloc":
        raise ScheduleError(
            f"'{buffer.name}' is not a local array, and only an array that is made in the module can become a FIFO",
            notes=[buffer_note(buffer, value)],
        )
    return value


def connect(
    module: Module,
    buffer: Buffer,
    value: ir.Value,
    dst: Function | Nest,
    depth: int,
    *,
    assume_safe: bool,
    expected: ITensor | None = None,
) -> ir.Value:
    """Make a FIFO, or an array of them, from the producer of an array to one of its readers, as `expected`."""
    stages = stages_of(module, buffer, value)
    chosen = consumer_of(buffer, value, stages, dst).op
    while _copied(module, stages, chosen):
        stages = stages_of(module, buffer, value)
    if moved := moved_out_of_branches(_stage_at(stages, chosen).reads):
        if not _passes(stages_of(module, buffer, value), chosen, lanes_of(ir.MemRefType(value.type))):
            for load in reversed(moved):
                load.put_back()
        stages = stages_of(module, buffer, value)
    stages = drop_first_values(stages)
    source = Drained(buffer, value)
    if sum(bool(stage.writes) for stage in stages) > 1:
        writing = [stage for stage in stages if stage.writes]
        if _sums_in_copy(module, source, writing[-1], chosen) or with_first_values(stages):
            stages = drop_first_values(stages_of(module, buffer, value))
    consumer = _stage_at(stages, chosen)
    producer = _producer(buffer, value, stages, consumer)
    inner = stages_inside(producer)
    if len(drop_first_values(inner)) < len(inner):
        stages = stages_of(module, buffer, value)
        producer = _stage_at(stages, producer.op)
    if producer.reads or _is_rewritten(producer, consumer):
        if not _sums_in_copy(module, source, producer, chosen):
            demand_fifo(missing(producer, consumer, gets_of(consumer)), buffer.name, assume_safe=assume_safe)
            source = drained(buffer, value, producer, consumer)
        stages = stages_of(module, source.buffer, source.value)
        consumer = _stage_at(stages, chosen)
        producer = next(stage for stage in stages if stage.writes)
    keep = len(stages) > 2
    gets = gets_of(consumer)
    memref = ir.MemRefType(value.type)
    lanes = lanes_of(memref)
    box, answer = None, obstacle(producer, consumer, gets, lanes)
    if isinstance(answer, OrderObstacle) and answer.mismatch is OrderMismatch.UNREAD:
        box = wanted(consumer, gets)
        answer = answer if box is None else obstacle(producer, consumer, gets, lanes, box)
    demand_fifo(answer, buffer.name, assume_safe=assume_safe)
    extents = memref.shape
    kind = stream_type(memref.element_type, [n for d, n in enumerate(extents) if d not in lanes], depth)
    name = unique_name(f"fifo_{buffer.name}", _names(value))
    fifos = create(Builder.before(value.owner.operation), kind, name, [extents[d] for d in lanes])
    order = None if lanes else order_between(producer, consumer, gets, is_part=box is not None)
    _declare(buffer, fifos, order, expected, producer, consumer)
    _give(producer, fifos, lanes, name, keep=keep, box=box)
    _take(consumer, fifos, lanes, gets)
    if not keep:
        source.value.owner.operation.erase()
    return fifos


def _declare(
    buffer: Buffer, fifo: ir.Value, order: ITensor | None, expected: ITensor | None, producer: Stage, consumer: Stage
) -> None:
    """Write the order of a FIFO, if it has one, into the module, as the user expects it."""
    demand_expected(buffer.name, order, expected, producer.writes, consumer.reads)
    if order is not None:
        declare(fifo, expected or order)


def _passes(stages: list[Stage], chosen: ir.Operation, lanes: Sequence[int]) -> bool:
    """Whether the elements can go from the one stage that writes them all, which comes last of those, to `chosen`."""
    consumer = _stage_at(stages, chosen)
    producer = next((stage for stage in reversed(stages) if stage.writes), None)
    return producer is not None and obstacle(producer, consumer, gets_of(consumer), lanes) is None


def _is_rewritten(producer: Stage, consumer: Stage) -> bool:
    """Whether a producer surely writes some element more than once."""
    answer = obstacle(producer, consumer, gets_of(consumer))
    return isinstance(answer, OrderObstacle) and answer.mismatch is OrderMismatch.TWICE


def _stage_at(stages: list[Stage], op: ir.Operation) -> Stage:
    return next(stage for stage in stages if stage.op == op)


def _sums_in_copy(module: Module, source: Drained, producer: Stage, consumer: ir.Operation) -> bool:
    """Let a producer write each element once, from a copy of a part, if then they can go through a FIFO."""
    block = statements(consumer.block)
    behind = len(block) - block.index(consumer)  # the steps tried may drop statements in front

    def is_fine(trial: Module) -> bool:
        value = find_buffer(trial, source.buffer)
        stages = drop_first_values(stages_of(trial, source.buffer, value))
        writing = [stage for stage in stages if stage.writes]
        if len(writing) != 1 or writing[0].reads:
            return False
        stage = _stage_at(stages, statements(value.owner.operation.block)[-behind])
        gets, lanes = gets_of(stage), lanes_of(ir.MemRefType(value.type))
        return obstacle(writing[0], stage, gets, lanes, wanted(stage, gets)) is None

    return summed_in_copy(module, producer, is_fine)


def _names(value: ir.Value) -> set[str]:
    """The names of all arrays and streams of the function that makes `value`."""
    entry = entry_block(function_around(value.owner.operation))
    assert entry is not None
    return {name for _, name in array_operations(entry) if name is not None}


def consumer_of(buffer: Buffer, value: ir.Value, stages: list[Stage], dst: Function | Nest) -> Stage:
    """The stage that `dst` names, which may only read."""
    found = [stage for stage in stages if stage.is_called(dst)]
    found = [stage for stage in found if stage.reads and not stage.writes] or found
    names = [stage.name for stage in stages if stage.reads]
    hint = f"it is read by {', '.join(names)}" if names else "nothing reads it"
    if isinstance(dst, Nest) and dst.function != buffer.function:
        raise ScheduleError(f"'{buffer}' and loop nest '{dst}' are in different functions", hint=hint)
    if not found:
        raise ScheduleError(f"'{dst.name}' does not use '{buffer.name}'", hint=hint, notes=[buffer_note(buffer, value)])
    if len(found) > 1:
        raise ScheduleError(
            f"'{buffer.name}' is passed to '{dst.name}' in several calls",
            hint="inline() the function, and name the loop nest",
            notes=[stage.note for stage in found],
        )
    consumer = found[0]
    if consumer.writes:
        raise ScheduleError(
            f"{consumer.name} writes '{buffer.name}', but it is the end of the FIFO that takes elements out",
            notes=[consumer.note, buffer_note(buffer, value)],
        )
    return consumer


def _producer(buffer: Buffer, value: ir.Value, stages: list[Stage], consumer: Stage) -> Stage:
    """The one stage that writes the array, before the consumer."""
    found = [stage for stage in stages if stage.writes]
    if len(found) != 1:
        names = " and ".join(stage.name for stage in found)
        written = f"is written by {names}" if found else "is written by nobody"
        raise ScheduleError(
            f"'{buffer.name}' {written}, but a FIFO has one producer",
            hint=_one_producer(buffer, found) if found else None,
            notes=[*(stage.note for stage in found), buffer_note(buffer, value)],
        )
    producer = found[0]
    if stages.index(producer) > stages.index(consumer):
        raise ScheduleError(
            f"{consumer.name} reads '{buffer.name}' before {producer.name} writes it",
            notes=[consumer.note, producer.note],
        )
    return producer


def _one_producer(buffer: Buffer, found: list[Stage]) -> str:
    """What to do about several producers; first values go if the others do not depend on them."""
    last = found[-1]
    if last.reads:
        copy = f's.buffer_at("{_inside(buffer, last)}", axis=...)'
        return f"if {found[0].name} writes a constant, {copy} lets {last.name} start with it and write once"
    return "let one loop nest write all elements"


def _inside(buffer: Buffer, stage: Stage) -> Buffer:
    """What the array is called in the function of the stage."""
    return buffer if stage.callee is None else Buffer(stage.model.function, stage.writes[0].buffer.name)


def _give(
    producer: Stage, fifos: ir.Value, lanes: Sequence[int], name: str, *, keep: bool, box: Box | None
) -> None:
    """Let the producer put, what is in the box if there is one; `keep` the array that it writes for others."""
    inside = fifos
    if keep:
        for (call, _), function in zip(producer.calls, _functions(producer), strict=True):
            inside = add_argument(function, call, inside, name)
    else:
        inside = _passed(producer, fifos)
    put_at_stores(producer.writes, partial(fifo_at, inside, lanes), keep=keep, box=box)


def _take(consumer: Stage, fifos: ir.Value, lanes: Sequence[int], gets: list[Get]) -> None:
    """Let the consumer get."""
    inside = _passed(consumer, fifos)
    get_at_loads(gets, partial(fifo_at, inside, lanes))


def _passed(stage: Stage, stream: ir.Value) -> ir.Value:
    """The stream inside of a stage, which gets it in the place of the array."""
    inside = stream
    for (call, position), function in zip(stage.calls, _functions(stage), strict=True):
        inside = set_argument(function, call, position, inside)
    return inside


def _functions(stage: Stage) -> list[ir.OpView]:
    """The functions that the calls of a stage call."""
    inner = [function_around(call) for call, _ in stage.calls[1:]]
    return [*inner, function_around((*stage.writes, *stage.reads)[0].op)] if stage.calls else []


def _copied(module: Module, stages: list[Stage], consumer: ir.Operation) -> bool:
    """Whether a stage that writes, or the consumer, called a function that others call too, and got a copy of it."""
    counts = call_counts(module)
    for stage in stages:
        for call, _ in stage.calls if stage.writes or stage.op == consumer else ():
            if counts[callee_name(call)] > 1:
                own_callee(module, call)
                return True
    return False
