"""FIFOs in place of an array: its stores and loads become puts and gets of a stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import Location, Note, ScheduleError
from ...ir.access import access_map, accessed, stored, subscripts
from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context, unknown_location
from ...ir.partitions import divisions_of
from ...ir.walk import induction_variable
from ...layout import Banks, Division
from ...poly import (
    Access,
    Box,
    OrderMismatch,
    OrderObstacle,
    Transfer,
    Undecided,
    fifo_obstacle,
    inside,
    read_box,
    unwritten,
)
from ..array.subscripts import AccessOperation
from .stages import Stage

# Makes the stream that an access uses, in front of the operation that the builder stands at.
type Streams = Callable[[Builder, ir.Operation], ir.Value]

LARGEST_DEPTH = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Get:
    """One get for loads of the same element: it stands in front of `anchor`, outside of loops that do not matter."""

    anchor: ir.Operation
    loads: tuple[Access, ...]
    depth: int  # loops around the anchor


def lanes_of(array: ir.MemRefType) -> tuple[int, ...]:
    """The dimensions that are in banks completely, if others are not: each of these banks becomes a FIFO."""
    found = tuple(d for d, banks in enumerate(Banks.read(divisions_of(array))) if banks.kind is Division.COMPLETE)
    return found if len(found) < array.rank else ()


def stream_type(element: ir.Type, shape: Sequence[int], depth: int) -> ir.Type:
    """The type of a stream of as many elements as `shape` has, or of `depth` if that is given."""
    if depth == -1:
        depth = 1
        for extent in shape:
            depth *= max(extent, 1)
    if not 1 <= depth <= LARGEST_DEPTH:
        raise ScheduleError(
            f"the depth of a FIFO must be from 1 to {LARGEST_DEPTH}, got {depth}",
            hint="or leave it out: as many elements as the array has",
        )
    return allo_d.StreamType.get(element, depth)


def gets_of(stage: Stage) -> list[Get]:
    """Where elements are taken from the FIFO so that each is taken as seldom as possible.

    What a branch or a loop reads that was read before it, `B[i] if B[i] > 0 else 0`, is not taken again.
    """
    found: list[tuple[ir.Block, str, list[ir.Value], Get]] = []
    for access in stage.reads:
        anchor, depth = _hoisted(access, stage.fixed)
        operands = list(access.op.operands)[1:]
        shape = str(access.op.attributes["map"]) if "map" in access.op.attributes else ""
        for position, (block, text, values, get) in enumerate(found):
            if text == shape and values == operands and _is_inside(anchor, block):
                merged = Get(get.anchor, (*get.loads, access), get.depth)
                found[position] = (block, text, values, merged)
                break
        else:
            found.append((anchor.block, shape, operands, Get(anchor, (access,), depth)))
    return [get for _, _, _, get in found]


def _hoisted(access: Access, fixed: int) -> tuple[ir.Operation, int]:
    """The outermost place at which the element that is loaded is known, and the number of loops around it."""
    anchor, depth = access.op, len(access.loops)
    operands = list(access.op.operands)[1:]
    while depth > fixed:
        loop = anchor.parent.operation
        around = loop.parent
        if loop.name != "affine.for" or around is None or around.operation.name not in ("affine.for", "func.func"):
            break
        if any(_depends(operand, loop) for operand in operands):
            break
        anchor, depth = loop, depth - 1
    return anchor, depth


def _is_inside(op: ir.Operation, block: ir.Block) -> bool:
    """Whether an operation is one of a block, or inside of one."""
    around: ir.Operation | None = op
    while around is not None and around.name != "func.func":
        if around.block == block:
            return True
        around = None if around.parent is None else around.parent.operation
    return False


def _depends(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is made inside of a loop."""
    if isinstance(value.owner, ir.Block):
        return bool(value == induction_variable(loop))
    op: ir.Operation | None = value.owner.operation
    while op is not None:
        if op == loop:
            return True
        op = None if op.parent is None else op.parent.operation
    return False


def obstacle(
    producer: Stage, consumer: Stage, gets: Sequence[Get], lanes: Sequence[int] = (), box: Box | None = None
) -> OrderObstacle | Undecided | None:
    """Why the elements, or those of a box, cannot go from one stage to the other through a FIFO for each of `lanes`."""
    writes = [transfer_of(producer, access, len(access.loops)) for access in producer.writes]
    if box is not None:
        writes = [inside(write, box) for write in writes]
    return fifo_obstacle(writes, _reads(consumer, gets), lanes)


def missing(producer: Stage, consumer: Stage, gets: Sequence[Get]) -> OrderObstacle | Undecided | None:
    """An element that a stage takes and the other one, however often it writes, never does."""
    writes = [transfer_of(producer, access, len(access.loops)) for access in producer.writes]
    return unwritten(writes, _reads(consumer, gets))


def wanted(consumer: Stage, gets: Sequence[Get]) -> Box | None:
    """The box of the elements that a stage takes, if they are one."""
    return read_box(_reads(consumer, gets))


def _reads(consumer: Stage, gets: Sequence[Get]) -> list[Transfer]:
    return [transfer_of(consumer, get.loads[0], get.depth) for get in gets]


def transfer_of(stage: Stage, access: Access, depth: int) -> Transfer:
    return Transfer(access, stage.fixed, depth, stage.model.function)


def demand_fifo(answer: OrderObstacle | Undecided | None, array: str, *, assume_safe: bool) -> None:
    """Refuse a FIFO unless the elements can go through it. Raises ScheduleError with the element and the statements."""
    match answer:
        case None:
            return
        case Undecided():
            if not assume_safe:
                raise ScheduleError(
                    f"'{array}' cannot become a FIFO, because it cannot be decided: {answer.describe()}",
                    hint="if you know that it is safe, pass assume_safe=True",
                    notes=_notes(answer.access),
                )
        case OrderObstacle():
            message, hint = _told(answer, array)
            raise ScheduleError(
                f"'{array}' cannot become a FIFO: {message}", hint=hint, notes=_notes(answer.first, answer.second)
            )


def _told(answer: OrderObstacle, array: str) -> tuple[str, str]:
    one, other = _element(array, answer.element), _element(array, answer.other)
    match answer.mismatch:
        case OrderMismatch.TWICE:
            return f"{one} is written more than once", "write it once, for example from a copy made by buffer_at()"
        case OrderMismatch.REREAD:
            return (
                f"{one} is read more than once, but a FIFO gives an element once",
                "read it once, for example into a copy made by buffer_at() or reuse_at()",
            )
        case OrderMismatch.UNREAD:
            return f"{one} is written but never read, and would stay in it", "write only what is read"
        case OrderMismatch.UNWRITTEN:
            return f"{one} is read but never written", "write it before, or read only what is written"
        case OrderMismatch.EARLY:
            return f"{one} is read before it is written", "write it before"
        case OrderMismatch.ORDER:
            return (
                f"{one} is written before {other}, but read after it",
                "reorder() the loops of one side, or read through a copy made by buffer_at()",
            )


def _element(array: str, subscripts: tuple[int, ...]) -> str:
    return f"{array}[{', '.join(map(str, subscripts))}]" if subscripts else array


def _notes(*accesses: Access) -> list[Note]:
    places = dict.fromkeys(
        (access.is_write, Location(access.source.file, access.source.line, access.source.column))
        for access in accesses
        if access.source.line
    )
    return [Note(f"it is {'written' if write else 'read'} here", place) for write, place in places]


def put_at_stores(writes: Sequence[Access], stream: Streams, *, keep: bool, box: Box | None = None) -> None:
    """Put what is stored, or what is stored in a box; the stores stay only if others read the array."""
    for access in writes:
        builder = Builder.before(access.op)
        if box is not None:
            _where_inside(builder, access.op, box)
        builder.put(stream(builder, access.op), stored(access.op))
        if not keep:
            access.op.erase()


def _where_inside(builder: Builder, store: ir.Operation, box: Box) -> None:
    """Let `builder` go on where an affine store is to an element of a box."""
    place, shape = access_map(store), ir.MemRefType(accessed(store).type).shape
    assert place is not None
    rows: list[ir.AffineExpr] = []
    for form, (low, high), extent in zip(place.results, box, shape, strict=True):
        rows += [form - low] * (low > 0) + [affine_constant(high) - form] * (high < extent - 1)
    condition = ir.IntegerSet.get(place.n_dims, place.n_symbols, rows, [False] * len(rows), context())
    guard = builder.affine_if(condition, subscripts(store), has_else=False)
    builder.point = ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0])


def get_at_loads(
    gets: Sequence[Get], stream: Streams, then: Callable[[Builder, ir.Value], None] | None = None
) -> None:
    """Get what is loaded; `then` may do something with each element behind its get."""
    for place in gets:
        builder = Builder(ir.InsertionPoint(place.anchor), place.loads[0].op.location)
        value = builder.get(stream(builder, place.loads[0].op))
        if then is not None:
            then(builder, value)
        for access in place.loads:
            access.op.results[0].replace_all_uses_with(value)
    for place in gets:
        for access in place.loads:
            access.op.erase()


def fifo_at(fifos: ir.Value, lanes: Sequence[int], builder: Builder, access: ir.Operation) -> ir.Value:
    """The FIFO that a load or store of the array means, by its subscripts `lanes`; without them there is only one."""
    if not lanes:
        return fifos
    return AccessOperation(access).place(builder, [affine_dim(d) for d in lanes]).load(builder, fifos)


def create(builder: Builder, kind: ir.Type, name: str, extents: Sequence[int] = ()) -> ir.Value:
    """A new stream, or an array of them."""
    if extents:
        return builder.alloc(ir.MemRefType.get(list(extents), kind, loc=unknown_location()), name)
    return builder.value("allo.stream_create", kind, (), {"allo.name": string_attr(name)})
