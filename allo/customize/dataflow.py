"""dataflow: the statements of a function or loop run as stages that are connected by what they hand on."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import unit_attr
from ..ir.hang import Hang
from ..ir.module import Module
from ..ir.processes import DATAFLOW, is_region
from ..ir.walk import entry_block, statements
from ..poly import Model, backward_between_iterations, extract, stage_clash
from .function.calls import function_around
from .nest.absorb import absorb, absorbed_by
from .step.handles import Function, Loop
from .step.legality import demand
from .step.primitive import primitive
from .step.region_stages import refusal_of_stages, region_name
from .step.resolve import find_loop, loop_note
from .step.stream_ends import stream_name

_MOST_STEPS = 1_000_000  # puts and gets that a primitive looks at


@primitive(checks_stages=True)
def dataflow(module: Module, region: Function | Loop, assume_safe: bool = False) -> None:
    """Run the statements of `region`, a function or the body of a loop, at the same time, each as a stage.

        def f(A, B):                      def f(A, B):      # dataflow
            T: int32[n]                       T: int32[n]   # a channel between stages
            produce(A, T)        ->           produce(A, T)     # both at the same time,
            consume(T, B)                     consume(T, B)     # on different data

    A stage is a loop nest, a call or a single statement; one that uses an array begins when the one that writes it has
    ended, and those that FIFOs join take turns. First values of an array (`T: int32[n] = 0`) are no stage of their own
    if a loop nest goes on with them: it writes them itself, where it begins with an element, or in its first iteration.
    Refused: an array that two stages write; a stage that writes what an earlier stage reads; a stream with more
    than one stage at an end; in a loop, a later stage that an earlier stage of a later iteration must wait for (an
    array of the loop's body has no such dependences); an unfolded loop. `assume_safe=True` accepts what cannot be
    decided. Later steps that make other stages of the region are refused for the same reasons.
    Source: Allo paper, Table 2 and section 6.5.
    """
    if isinstance(region, Function):
        function = module.function(region.name)
        entry = entry_block(function)
        if entry is None:
            raise ScheduleError(f"the body of '{region}' is not in the module")
        make_region(module, extract(function), entry, assume_safe=assume_safe)
        return
    view = find_loop(module, region)
    if view.op.name != "affine.for":
        raise ScheduleError(f"loop '{region.name}' has run-time bounds", notes=[loop_note(view)])
    if "allo.spatial" in view.op.attributes:
        raise ScheduleError(
            f"loop '{region.name}' is unfolded: its iterations are processing elements, which run at the same time",
            hint="make a function of what an element does, and that a dataflow region",
            notes=[loop_note(view)],
        )
    make_region(module, extract(module.function(region.function)), view.body, assume_safe=assume_safe)


def make_region(
    module: Module, model: Model, block: ir.Block, *, assume_safe: bool = False, unfolded: bool = True
) -> None:
    """Mark a function, of which `model` is, or a loop in it, whose body is `block`.

    Processing elements begin with first values if `unfolded`. Raises ScheduleError if that is not legal.
    """
    owner = block.owner.operation
    if owner.name not in ("func.func", "affine.for"):
        raise ScheduleError("what is in a branch, or in a loop with run-time bounds, cannot become stages")
    whole = statements(block)[:-1]
    first_values = _first_values(model, whole, unfolded=unfolded)
    stages = [op for op in whole if op not in [first for first, _ in first_values]]
    name = region_name(owner)
    refusal = refusal_of_stages(module, model, stages, f"{name} cannot become a dataflow region")
    if refusal is not None:
        raise refusal
    if first_values:
        function = function_around(first_values[0][0])
        for first, nest in first_values:
            absorb(function, first, nest)
        stages, model = statements(block)[:-1], extract(function)
    if owner.name != "func.func":
        answer = backward_between_iterations(model, owner, stages)
        demand(answer, f"the stages of {name} cannot run at the same time", assume_safe=assume_safe)
    owner.attributes[DATAFLOW] = unit_attr()


def _first_values(
    model: Model, stages: list[ir.Operation], *, unfolded: bool
) -> list[tuple[ir.Operation, ir.Operation]]:
    """The statements that only give an array its first values, of which a later stage writes others too, with the nest
    that can begin with them."""
    found = []
    for number, stage in enumerate(stages):
        nest = absorbed_by(stage, stages[number:], model if unfolded else None)
        if nest is not None and stage_clash(model, [stage, nest]) is not None:
            found.append((stage, nest))
    return found


def run_at_once(module: Module, stream: ir.Value) -> None:
    """Make what is around a stream a dataflow region if that is legal, so that both ends run at the same time."""
    made = stream.owner.operation
    if is_region(made.block):
        return
    model = extract(function_around(made))
    try:
        make_region(module, model, made.block, unfolded=False)
    except ScheduleError as error:
        if _begins_elements(module, model, made):
            return
        clash = stage_clash(model, statements(made.block)[:-1])
        array = None if clash is None else clash.first.buffer.value
        if array is not None and isinstance(array.owner, ir.Block):  # a local array may become a FIFO yet
            _demand_room(module, made, error)


def _begins_elements(module: Module, model: Model, made: ir.Operation) -> bool:
    """Make a region in which processing elements begin with first values, if a FIFO would else be too shallow.

    Elsewhere they stay in front: tools let processes of a region share no array, and statements in a row may.
    """
    stages = statements(made.block)[:-1]
    if _first_values(model, stages, unfolded=True) == _first_values(model, stages, unfolded=False):
        return False
    if _shallow(module, made) is None:
        return False
    try:
        make_region(module, model, made.block)
    except ScheduleError:
        return False
    return True


def _shallow(module: Module, made: ir.Operation) -> Hang | None:
    """How a FIFO is full for ever where its ends run one after the other; None if it holds what is put."""
    from ..poly import hang_of

    hang = hang_of(module, _MOST_STEPS)
    if not isinstance(hang, Hang) or hang.full is None or hang.full.stream.name != stream_name(made.results[0]):
        return None
    return hang


def _demand_room(module: Module, made: ir.Operation, obstacle: ScheduleError) -> None:
    """Raise ScheduleError unless a FIFO whose ends run one after the other holds all that is put before it is taken."""
    hang, name = _shallow(module, made), stream_name(made.results[0])
    if hang is None or hang.full is None:
        return
    depth = max(need.depth for need in hang.needs if need.stream.name == name)
    why = obstacle.diagnostics[0]
    raise ScheduleError(
        f"'{name}' holds {hang.full.depth}, and its ends run one after the other: what puts into it waits for ever. "
        f"They cannot run at the same time: {why.message}",
        hint=f"give a depth of {depth}, or let the rest become stages of a dataflow region first",
        notes=why.notes,
    )
