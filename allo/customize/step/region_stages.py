"""Stages of dataflow regions: what forbids that statements run at the same time, also after later steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.module import Module
from ...ir.states import Draft, FinishedModule
from ...ir.walk import location_of, statements, string_of
from ...poly import Clash, Model, Undecided, Violation, backward_between_iterations, model_of, stage_clash
from .legality import demand
from .stream_ends import region_blocks, region_sizes, shared_ends

_HINT = "do this first, and make the dataflow region then, with assume_safe=True if you know that it is safe"


def region_name(owner: ir.Operation) -> str:
    """What messages call a function or a loop."""
    if owner.name == "func.func":
        return f"function '{string_of(owner, 'sym_name')}'"
    return f"loop '{string_of(owner, 'allo.name')}'"


def demand_legal_stages(module: FinishedModule) -> None:
    """Raises ScheduleError if a loop of a module from text has stages that wait for those of later iterations.

    Stages of one iteration wait for each other as the text has them; who wrote it vouches for what is not decided.
    """
    for name in module.names():
        _demand_iterations(module, name, may_be_undecided=lambda: True)


def demand_stages_still_legal(module: FinishedModule, draft: Draft) -> None:
    """Raises ScheduleError if the step that wrote `draft` made other stages of a region, which cannot run at once.

    Where a user has vouched for stages of a function that could not be decided, others may not be decided either.
    """
    known = draft.before.parts
    for name in draft.changed:
        if name not in known or name not in module.parts:
            continue
        if region_sizes(module.parts[name]) != region_sizes(known[name]):
            for block in region_blocks(module.symbol(name)):
                why = f"{region_name(block.owner.operation)} cannot be a dataflow region then"
                refusal = _shared_array(model_of(module, name), statements(block)[:-1], why)
                if refusal is not None:
                    raise refusal
            _demand_iterations(module, name, partial(_is_undecided, draft.before, name))


def _demand_iterations(module: FinishedModule, name: str, may_be_undecided: Callable[[], bool]) -> None:
    for block in region_blocks(module.symbol(name)):
        answer = _between_iterations(module, name, block)
        if answer is not None and not (isinstance(answer, Undecided) and may_be_undecided()):
            region = region_name(block.owner.operation)
            demand(answer, f"the stages of {region} cannot run at the same time then", assume_safe=False, hint=_HINT)


def _is_undecided(module: FinishedModule, name: str) -> bool:
    """Whether stages of a function run at once because a user says that they may."""
    blocks = region_blocks(module.symbol(name))
    return any(isinstance(_between_iterations(module, name, block), Undecided) for block in blocks)


def _between_iterations(module: FinishedModule, name: str, block: ir.Block) -> Violation | Undecided | None:
    """What forbids that stages of a later iteration of a loop begin before those of an earlier one have ended."""
    owner = block.owner.operation
    if owner.name == "func.func":
        return None
    return backward_between_iterations(model_of(module, name), owner, statements(block)[:-1])


def refusal_of_stages(module: Module, model: Model, stages: list[ir.Operation], why: str) -> ScheduleError | None:
    """The refusal, which begins with `why`, of statements that cannot be the stages of a region; None if they can."""
    return _shared_array(model, stages, why) or shared_ends(module, lambda: model, stages, why)


def _shared_array(model: Model, stages: list[ir.Operation], why: str) -> ScheduleError | None:
    clash = stage_clash(model, stages)
    return None if clash is None else ScheduleError(f"{why}: {_told(clash)}", notes=_notes(clash))


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
