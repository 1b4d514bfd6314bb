"""unroll_stages: inner loops of stages become pipelines and are unrolled, so that no stage keeps the others waiting."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import NamedTuple

from ..errors import ScheduleError
from ..ir.builder import i32_attr
from ..ir.module import Module
from ..ir.states import Draft
from ..ir.walk import LoopView, entry_block, statements, trip_count
from ..poly import extract
from ..poly.model import Model
from .fifo.balance import within_budget
from .fifo.shortest import Choices, shortest
from .fifo.vectors import agreed, inner_loops
from .nest.first_iteration import sink_into_first
from .nest.unrolling import BankRequest, UnrollPlan
from .split import tiled
from .step.handles import FifoName, Function, Loop
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import find_loop, loop_note
from .widen import pass_vectors

_OBJECTIVES = ("interval", "latency")


@primitive(whole_module=True)
def unroll_stages(
    module: Draft,
    function: Function,
    dsp: int | None = None,
    target: str = "u280",
    objective: str = "interval",
    tails: bool = False,
    loops: tuple[Loop, ...] | None = None,
    factors: tuple[int, ...] | None = None,
    fifos: tuple[FifoName, ...] | None = None,
    widths: tuple[int, ...] | None = None,
) -> Decided[UnrollPlan | None]:
    """Pipeline the inner loops of `function`, and unroll them so that its slowest loop nest is as fast as `dsp` allow.

        for k in range(n):                        for k in range(n):
            t = pipe.get()                            for j.outer in range(m / 4):       # pipeline=1
            for j in range(m):         ->                 if j.outer == 0: t = pipe.get()
                T[j] += t * W[k, j]                       for j.inner in range(4):       # unroll=0
                                                              T[4 * j.outer + j.inner] += t * W[k, 4 * ...]

    The nests are the stages of a dataflow region, after `fuse_streams` for instance. Unrolled are inner loops whose
    iterations do not need one another, all of a stage by one factor, a divisor of their trips; what stands in front of
    them moves into their first iteration where both loops can then be one pipeline. Loops that put or get pass vectors
    of a power of two elements then, up to that factor, if both ends of each FIFO can: it is widened, as by `widen`; an
    end that keeps up with one element a cycle stays so.
    Cycles and DSPs are those of `allo.estimate`, of which a factor divides iterations and multiplies operators; the
    factors are the best ones for these numbers: the slowest stage takes the fewest cycles with `dsp` DSPs, and each
    stage the fewest DSPs that keep up with it, but for loops that become as wide as what they pass elements to or take
    them from. With `tails`, factors that divide no trip count are tried too: the last iteration of a loop runs fewer
    copies, under a condition, as `split` makes it. With the `objective` "latency" one sample takes the fewest cycles
    instead, on the critical path through stages that overlap with FIFOs deep enough, and the fewest DSPs for these.
    Annotated loops stay as they are, but for pipelines that start an iteration a cycle.
    Returns the plan (`UnrollPlan`). Its `banks` are still to be made by `partition`:
    `for b in plan.banks: s.partition(b.array, dim=b.dim, factor=b.factor)`. The step records `loops` and
    `factors`, `fifos` and `widths`: repeated, it estimates nothing and returns None; you may give them yourself.
    Refused: no budget, or one below what stages take without unrolling; outermost loops that are all unrolled; loops
    without constant bounds, unless you give the others; factors that do not divide trips, but with `tails`.
    Source: StreamTensor, section 5.1 (intensity-aware unrolling, vectorisation); the exact optimum.
    """
    if (loops is None) != (factors is None) or len(loops or ()) != len(factors or ()):
        raise ScheduleError(
            "loops= and factors= are given together, a factor for each loop",
            hint='s.unroll_stages("f", loops=["f:j"], factors=[4])',
        )
    if entry_block(module.before.function(function.name)) is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    _check_widths(loops, fifos, widths)
    plan, chosen = None, _Chosen(loops or (), factors or (), fifos or (), widths or ())
    if loops is None or factors is None:
        plan, chosen = _planned(module.before, function.name, dsp, target, objective, tails=tails)
    taken = set(module.buffers(function.name))
    pipelines = [_copied(module, *one, tails=tails) for one in zip(chosen.loops, chosen.factors, strict=True)]
    for fifo, width in zip(chosen.fifos, chosen.widths, strict=True):
        pass_vectors(module, fifo, width)
    for loop, pipeline in zip(chosen.loops, pipelines, strict=True):
        view = find_loop(module, pipeline)
        if pipeline != loop:
            sink_into_first(view, f"{loop.name}_value", taken)
        view.op.attributes["allo.pipeline"] = i32_attr(1)
    return Decided(chosen._asdict(), plan)


def _check_widths(
    loops: tuple[Loop, ...] | None, fifos: tuple[FifoName, ...] | None, widths: tuple[int, ...] | None
) -> None:
    is_odd = (fifos is None) != (widths is None) or len(fifos or ()) != len(widths or ())
    if is_odd or (fifos is not None and loops is None):
        raise ScheduleError(
            "fifos= and widths= are given together, a width for each FIFO, and with loops=",
            hint='s.unroll_stages("f", loops=["f:j"], factors=[4], fifos=["f:fifo_C"], widths=[4])',
        )


class _Chosen(NamedTuple):
    """The arguments of a step that plans nothing."""

    loops: tuple[Loop, ...]
    factors: tuple[int, ...]
    fifos: tuple[FifoName, ...]
    widths: tuple[int, ...]


def _copied(module: Module, loop: Loop, factor: int, *, tails: bool) -> Loop:
    """Make so many copies of the body of a loop, which may leave a tail; the loop that is left."""
    view = find_loop(module, loop)
    trips = trip_count(view.op) if view.op.name == "affine.for" else None
    if trips is None or not 1 <= factor <= trips or (trips % factor and not tails):
        raise ScheduleError(
            f"factor {factor} does not divide the trip count {trips} of loop '{loop.name}'"
            if trips is not None
            else f"loop '{loop.name}' has no constant trip count",
            hint="split and unroll it by hand",
            notes=[loop_note(view)],
        )
    if factor == 1:
        return loop
    outer, inner = tiled(module, loop, factor)
    copied = find_loop(module, inner).op.attributes
    copied["allo.unroll"] = i32_attr(0)
    if "allo.pipeline" in copied:
        del copied["allo.pipeline"]
    return outer


# -- the plan ------------------------------------------------------------------------------------------------


def _planned(
    module: Module, name: str, dsp: int | None, target: str, objective: str, *, tails: bool
) -> tuple[UnrollPlan, _Chosen]:
    """The best factors for a budget, and what they mean for loops and FIFOs."""
    from ..estimate.stage_costs import SampleCosts, stage_costs

    if objective not in _OBJECTIVES:
        raise ScheduleError(f"objective must be one of {', '.join(_OBJECTIVES)}, got {objective!r}")
    if dsp is None or dsp < 0:
        raise ScheduleError(
            "dsp= are the DSPs that the stages may take together" + ("" if dsp is None else f", got {dsp}"),
            hint=f's.unroll_stages("{name}", dsp=1000)',
        )
    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    nests = [op for op in statements(entry) if op.name == "affine.for"]
    if not nests:
        raise ScheduleError(
            f"'{name}' has no loop nests", hint="customize with lower_linalg=True makes loops of operators"
        )
    model = extract(function)
    found = [loop for loop in inner_loops(module, name, model) if loop.view.chain[0].op in nests]
    costs = stage_costs(module, name, target, [loop.view for loop in found])
    if not costs:
        raise ScheduleError(
            f"no loop nest of '{name}' is a stage: all copies of their outermost loops run at once",
            hint="leave it to unroll_stages() which loops are unrolled",
        )
    stage_of = {loop.view: costs.get(loop.view.chain[0].op) for loop in found}
    loops = agreed(one.possible(loop) if (one := stage_of[loop.view]) is not None else loop for loop in found)
    stages = list(costs.values())
    made = within_budget(stages, loops, stage_of, dsp, tails=tails)
    if made is None:
        loops = [replace(loop, widths=()) if loop.widths else loop for loop in loops]
        made = within_budget(stages, loops, stage_of, dsp, tails=tails)
    assert made is not None
    if objective == "latency":
        choices = Choices(stages, loops, stage_of, SampleCosts(stages), tails=tails)
        made = choices.plan(shortest(choices, dsp, choices.state(made)))
    chosen, copies, widths = made
    unrolled = {loop.view: n for loop, n in zip(loops, copies, strict=True) if n > 1}
    plan = UnrollPlan(target, dsp, chosen, _banks(model, name, unrolled), widths)
    names = tuple(Loop(name, loop.view.nest, loop.view.name) for loop in loops)
    return plan, _Chosen(names, tuple(copies), tuple(widths), tuple(widths.values()))


def _banks(model: Model, function: str, copies: dict[LoopView, int]) -> tuple[BankRequest, ...]:
    """The banks that the copies of loops need at once."""
    found: dict[tuple[str, int], int] = {}
    extents: dict[tuple[str, int], int | None] = {}
    for view, factor in copies.items():
        loop = model.loop(view.op)
        for access in model.inside(loop):
            for dim, form in enumerate(access.subscripts, 1):
                if loop.variable in dict(form.terms):
                    key = (access.buffer.name, dim)
                    found[key] = lcm(found.get(key, 1), factor)
                    extents[key] = access.buffer.shape[dim - 1]
    whole = {key for key, factor in found.items() if (extents[key] or factor + 1) <= factor}
    return tuple(BankRequest(f"{function}:{key[0]}", key[1], 0 if key in whole else n) for key, n in found.items())
