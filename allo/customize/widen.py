"""widen: elements pass through several FIFOs in turn, so that as many pass in a cycle."""

from __future__ import annotations

from math import prod

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import Note, ScheduleError
from ..ir.access import is_end, puts_side
from ..ir.builder import Builder, affine_constant
from ..ir.context import context, unknown_location
from ..ir.module import Module
from ..ir.stream_facts import made_streams
from ..ir.walk import buffer_location, location_of, trip_count
from ..poly import Access, Cut, Model, ModelLoop, extract, whole_blocks
from .fifo.depths import depth_of, fifo_name
from .fifo.walking import number_of
from .step.handles import FifoName
from .step.primitive import primitive


@primitive
def widen(module: Module, fifo: FifoName, factor: int) -> None:
    """Pass the elements of `fifo` through `factor` FIFOs in turn, so that a vector of as many can pass in a cycle.

        pipe: Stream[T, 8]                    pipe: Stream[T, 2][4]
        for x in range(n):                    for x in range(n):
            pipe.put(S(x))           ->           pipe[x % 4].put(S(x))
        for y in range(m):                    for y in range(m):
            R(pipe.get())                         R(pipe[y % 4].get())

    An end whose loop is then split by `factor`, and the inner loop unrolled, moves a vector in each iteration; the
    other end may do the same, or take one element after the other. `unroll_stages` does all of it where a stream keeps
    a stage waiting. The depth is divided, and rounded up: what could run before never waits longer.
    Which FIFO an element goes through must be plain from the loops around each put and each get: these move whole
    vectors whenever they run, with one put or get in them.
    Refused: a factor below 2; an array of FIFOs; a stream that goes to functions, or that is looked at or tried; loops
    that end, or branches that leave out elements, in the middle of a vector; loops with run-time bounds.
    Source: StreamTensor, section 4.3.3.
    """
    pass_vectors(module, fifo, factor)


def pass_vectors(module: Module, fifo: FifoName, factor: int) -> None:
    """Widen a FIFO; what `widen` does and refuses."""
    if factor < 2:
        raise ScheduleError(f"factor must be at least 2, got {factor}")
    made = stream_of(module, fifo)
    declared = Note(f"'{fifo.name}' is made here", buffer_location(made.results[0]))
    if made.name != "allo.stream_create":
        raise ScheduleError(
            f"'{fifo.name}' is an array of FIFOs, and only a single one can be widened", notes=[declared]
        )
    for use in made.results[0].uses:
        op = use.owner.operation
        if not is_end(op):
            what = "is passed on" if op.name == "func.call" else "is looked at, or tried"
            hint = "inline() the function" if op.name == "func.call" else "only what puts and gets can be widened"
            raise ScheduleError(
                f"'{fifo.name}' {what}, and which of several FIFOs that means is not known",
                hint=hint,
                notes=[Note("it is here", location_of(op)), declared],
            )
    model = extract(module.function(fifo.function), using=made.results[0])
    places: dict[ir.Operation, tuple[ModelLoop, ...]] = {}
    for access in ends_of(model, made):
        loops = whole_blocks(model, access, factor)
        if isinstance(loops, Cut):
            raise _cut(fifo, factor, access, loops)
        places[access.op] = loops
    _deal(made, places, factor)


def _cut(fifo: FifoName, factor: int, access: Access, cut: Cut) -> ScheduleError:
    end = "put" if puts_side(access.op) else "get"
    why = [] if cut.at == access.op else [Note("this is why", location_of(cut.at))]
    return ScheduleError(
        f"'{fifo.name}' cannot pass {factor} elements at a time: at a {end}, {cut.reason}",
        hint="each put and each get has to move whole vectors whenever its inner loops run",
        notes=[Note(f"the {end} is here", location_of(access.op)), *why],
    )


def stream_of(module: Module, fifo: FifoName) -> ir.Operation:
    """What makes a FIFO."""
    return next(op for op in made_streams(module.function(fifo.function)) if fifo_name(op) == fifo.name)


def ends_of(model: Model, made: ir.Operation) -> list[Access]:
    """The puts and gets of a stream."""
    users = {use.owner.operation for use in made.results[0].uses}
    return [access for access in model.accesses if access.op in users]


def _deal(made: ir.Operation, places: dict[ir.Operation, tuple[ModelLoop, ...]], factor: int) -> None:
    """Make an array of FIFOs of one, of which each end uses that of the place in a vector."""
    old = made.results[0]
    kind = allo_d.StreamType.get(allo_d.StreamType(old.type).element_type, -(-depth_of(old.type) // factor))
    builder = Builder.before(made)
    array = builder.alloc(ir.MemRefType.get([factor], kind, loc=unknown_location()), fifo_name(made))
    for attribute in made.attributes:
        array.owner.operation.attributes[attribute] = made.attributes[attribute]
    for op, loops in places.items():
        number, variables = number_of(loops)
        if prod(trip_count(loop.op) or 1 for loop in loops) > factor:
            number = ir.AffineExpr.get_mod(number, affine_constant(factor))
        place = ir.AffineMap.get(len(loops), 0, [number], context())
        op.operands[0] = Builder.before(op).affine_load(array, place, variables)
    made.erase()
