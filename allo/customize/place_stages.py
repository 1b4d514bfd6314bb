"""place_stages: stages of a dataflow region on the dies of a chip, with as few wires between dies as may be."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from ..errors import ScheduleError, nearest
from ..ir.builder import string_attr
from ..ir.context import context
from ..ir.dies import DIES
from ..ir.states import Draft
from ..ir.walk import entry_block
from .fifo.dies import DieGraph, DiePlan
from .step.handles import Function
from .step.primitive import primitive
from .step.record import Decided


@primitive(whole_module=True)
def place_stages(
    module: Draft,
    function: Function,
    target: str = "u280",
    fill: float = 0.7,
    wires: int | None = None,
    fixed: Mapping[str, str] | None = None,
    stages: tuple[str, ...] | None = None,
    dies: tuple[str, ...] | None = None,
) -> Decided[DiePlan]:
    """Give each stage of a dataflow region a die of `target`.

        f: A -> fifo -> B -> C      ->      SLR0: A      SLR1: B, C      34 wires between them

    A stage is a loop nest, by its name, or all calls of a function, by that of the function. No die is taken by more
    than the part `fill` of what the target says that a design can have of each resource, and no more wires lie between
    two dies than the target says, or `wires`. Of all such places those with the fewest wires between dies are taken: a
    FIFO has those of an element and two more, an array data and address of a port of each bank, and they count once for
    each pair of dies side by side that they lie between. Of places that are as good the fullest die is as empty as may
    be. Both are exact, by integer linear programming. Resources are those of `allo.estimate`; what a memory between
    stages takes is that of the stage that reads it first. `fixed={"A": "SLR0"}` places some stages by hand, such as
    those beside memory.
    Projects of Vitis for cards tell Vivado the places; elsewhere they have no effect, and values never change. Nothing
    adds registers where a FIFO crosses, neither in hardware nor in estimates.
    Returns the places, with what is taken of each die and what crosses (`DiePlan`). The step records `stages` and
    `dies`: repeated, it plans nothing, and looks whether they fit; you may give both yourself.
    Refused: a function that is no region; targets that describe no dies; stages that fit nowhere, with the die, the
    resource and how much is needed; stages and dies that do not exist.
    Source: StreamTensor, section 5.3 (graph partitioning); UG1292 for the part of LUTs that is filled.
    """
    if (stages is None) != (dies is None) or len(stages or ()) != len(dies or ()):
        raise ScheduleError(
            "stages= and dies= are given together, a die for each stage",
            hint='s.place_stages("f", stages=["A", "B"], dies=["SLR0", "SLR1"])',
        )
    if stages is not None and fixed is not None:
        raise ScheduleError("fixed= places some stages by hand, and stages= all", hint="leave out one of them")
    if not 0 < fill <= 1:
        raise ScheduleError(f"fill= is the part of a die that may be taken, above 0 and at most 1, got {fill}")
    if wires is not None and wires < 1:
        raise ScheduleError(f"wires= are those between two dies, at least 1, got {wires}")
    if entry_block(module.before.function(function.name)) is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    from ..estimate.dies import region_dies
    from ..mapping.dies import assigned

    graph = region_dies(module.before, function.name, target, fill, wires)
    given = dict(fixed or {}) if stages is None or dies is None else dict(zip(stages, dies, strict=True))
    _check_names(graph, given, whole=stages is not None)
    plan = assigned(graph, given) if stages is None else DiePlan(graph, given, "given")
    if excess := graph.excess(plan.places):
        raise ScheduleError(f"{excess} on {graph.target}", hint="place fewer stages there, or give a larger fill=")
    places = {stage.name: plan.places[stage.name] for stage in graph.stages}
    marks = ir.DictAttr.get({name: string_attr(die) for name, die in places.items()}, context())
    module.function(function.name).operation.attributes[DIES] = marks
    made = {"stages": tuple(places), "dies": tuple(places.values()), "fixed": None}
    return Decided(made, plan)


def _check_names(graph: DieGraph, given: Mapping[str, str], *, whole: bool) -> None:
    """Refuse stages and dies that there are not, and places of some stages only where those of all are wanted."""
    names, dies = [stage.name for stage in graph.stages], [die.name for die in graph.dies]
    for stage, die in given.items():
        if stage not in names:
            hint = nearest(stage, names) or f"its stages are {', '.join(names)}"
            raise ScheduleError(f"'{graph.function}' has no stage '{stage}'", hint=hint)
        if die not in dies:
            hint = nearest(die, dies) or f"its dies are {', '.join(dies)}"
            raise ScheduleError(f"target '{graph.target}' has no die '{die}'", hint=hint)
    missing = [name for name in names if name not in given] if whole else []
    if missing:
        raise ScheduleError(
            f"stages= leaves out '{missing[0]}'" + (f" and {len(missing) - 1} more" if missing[1:] else ""),
            hint="fixed= places some stages, and leaves the others to the plan",
        )
