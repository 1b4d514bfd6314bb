"""Stages of dataflow regions: what forbids that statements run at the same time, also after later steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.module import Module
from ...ir.states import Draft, FinishedModule
from ...ir.walk import location_of, statements, string_of
from ...poly import Clash, Undecided, Violation, backward_between_iterations, extract, stage_clash
from .legality import demand
from .stream_ends import region_blocks, region_sizes, shared_ends

_HINT = "do this first, and make the dataflow region then, with assume_safe=True if you know that it is safe"


def region_name(owner: ir.Operation) -> str:
    """What messages call a function or a loop."""
    if owner.name == "func.func":
        return f"function '{string_of(owner, 'sym_name')}'"
    return f"loop '{string_of(owner, 'allo.name')}'"


def demand_legal_stages(module: Module) -> None:
    """Raises ScheduleError if a loop of a module from text has stages that wait for those of later iterations.

    Stages of one iteration wait for each other as the text has them; who wrote it vouches for what is not decided.
    """
    for function in module.functions():
        _demand_iterations(function.operation, may_be_undecided=lambda: True)


def demand_stages_still_legal(module: FinishedModule, draft: Draft) -> None:
    """Raises ScheduleError if the step that wrote `draft` made other stages of a region, which cannot run at once.

    Where a user has vouched for stages of a function that could not be decided, others may not be decided either.
    """
    known = draft.before.parts
    for name in draft.changed:
        if name not in known or name not in module.parts:
            continue
        if region_sizes(module.parts[name]) != region_sizes(known[name]):
            _demand_legal(module, module.parts[name].op, partial(_is_undecided, known[name].op))


def _demand_legal(module: Module, function: ir.Operation, may_be_undecided: Callable[[], bool]) -> None:
    for block in region_blocks(function):
        why = f"{region_name(block.owner.operation)} cannot be a dataflow region then"
        refusal = refusal_of_stages(module, function.opview, statements(block)[:-1], why)
        if refusal is not None:
            raise refusal
    _demand_iterations(function, may_be_undecided)


def _demand_iterations(function: ir.Operation, may_be_undecided: Callable[[], bool]) -> None:
    for block in region_blocks(function):
        answer = _between_iterations(function, block)
        if answer is not None and not (isinstance(answer, Undecided) and may_be_undecided()):
            name = region_name(block.owner.operation)
            demand(answer, f"the stages of {name} cannot run at the same time then", assume_safe=False, hint=_HINT)


def _is_undecided(function: ir.Operation) -> bool:
    """Whether stages of a function run at once because a user says that they may."""
    return any(isinstance(_between_iterations(function, block), Undecided) for block in region_blocks(function))


def _between_iterations(function: ir.Operation, block: ir.Block) -> Violation | Undecided | None:
    """What forbids that stages of a later iteration of a loop begin before those of an earlier one have ended."""
    owner = block.owner.operation
    if owner == function:
        return None
    return backward_between_iterations(extract(function.opview), owner, statements(block)[:-1])


def refusal_of_stages(
    module: Module, function: ir.OpView, stages: list[ir.Operation], why: str
) -> ScheduleError | None:
    """The refusal, which begins with `why`, of statements that cannot be the stages of a region; None if they can."""
    model = extract(function)
    clash = stage_clash(model, stages)
    if clash is not None:
        return ScheduleError(f"{why}: {_told(clash)}", notes=_notes(clash))
    return shared_ends(module, function, stages, why, model=model)


def _told(clash: Clash) -> str:
    first, second = clash.first, clash.second
    array = first.buffer.name
    if first.is_write:
        return (
            f"'{array}' has two producers, the statement at {first.source} writes {first.text} and "
            f"the statement at {second.source} writes {second.text}"
        )
    return (
        f"data flow backwards, the statement at {second.source} writes {second.text}, and "
        f"the statement at {first.source} in an earlier stage reads {first.text}"
    )


def _notes(clash: Clash) -> list[Note]:
    places = [location_of(access.op) for access in (clash.first, clash.second)]
    return [Note("the statement is here", place) for place in dict.fromkeys(places) if place is not None]
