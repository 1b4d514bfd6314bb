"""unroll_stages: inner loops of stages become pipelines and are unrolled, so that no stage keeps the others waiting."""

from __future__ import annotations

from math import lcm

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import i32_attr
from ..ir.module import Module
from ..ir.states import Draft
from ..ir.walk import LoopView, annotations_of, entry_block, operations, statements, string_of, trip_count
from ..poly import carried_by, extract
from ..poly.model import Model
from .nest.first_iteration import sink_into_first
from .nest.unrolling import BankRequest, Option, StageChoice, StageOptions, UnrollPlan, balanced
from .split import tiled
from .step.handles import Function, Loop
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import find_loop, loop_note


@primitive(whole_module=True)
def unroll_stages(
    module: Draft,
    function: Function,
    dsp: int | None = None,
    target: str = "u280",
    loops: tuple[Loop, ...] | None = None,
    factors: tuple[int, ...] | None = None,
) -> Decided[UnrollPlan | None]:
    """Pipeline the inner loops of `function`, and unroll them so that its slowest loop nest is as fast as `dsp` allow.

        for k in range(n):                        for k in range(n):
            t = pipe.get()                            for j.outer in range(m / 4):       # pipeline=1
            for j in range(m):         ->                 if j.outer == 0: t = pipe.get()
                T[j] += t * W[k, j]                       for j.inner in range(4):       # unroll=0
                                                              T[4 * j.outer + j.inner] += t * W[k, 4 * ...]

    The nests are the stages of a dataflow region, after `fuse_streams` for instance. Unrolled are inner loops whose
    iterations do not need one another, and that neither put nor get, all of a stage by one factor, a divisor of their
    trips; what stands in front of them moves into their first iteration where both loops can then be one pipeline.
    Cycles and DSPs are those of `allo.estimate`, of which a factor divides iterations and multiplies operators; the
    factors are the best ones for these numbers: the slowest stage takes the fewest cycles with `dsp` DSPs, and each
    stage the fewest DSPs that keep up with it. Annotated loops stay as they are.
    Returns the plan (`UnrollPlan`). Its `banks` are still to be made by `partition`:
    `for b in plan.banks: s.partition(b.array, dim=b.dim, factor=b.factor)`. The step records `loops` and `factors`:
    repeated, it estimates nothing and returns None; you may give both yourself.
    Refused: no budget, or one below what the stages take without unrolling; loops whose bounds are not constant,
    unless you give the others; factors that do not divide the trips of their loops.
    Source: StreamTensor, section 5.1 (intensity-aware unrolling); the exact optimum.
    """
    if (loops is None) != (factors is None) or len(loops or ()) != len(factors or ()):
        raise ScheduleError(
            "loops= and factors= are given together, a factor for each loop",
            hint='s.unroll_stages("f", loops=["f:j"], factors=[4])',
        )
    if entry_block(module.before.function(function.name)) is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    plan = None
    if loops is None or factors is None:
        if dsp is None or dsp < 0:
            raise ScheduleError(
                "dsp= are the DSPs that the stages may take together" + ("" if dsp is None else f", got {dsp}"),
                hint=f's.unroll_stages("{function}", dsp=1000)',
            )
        plan, loops, factors = _planned(module.before, function.name, dsp, target)
    taken = set(module.buffers(function.name))
    for loop, factor in zip(loops, factors, strict=True):
        _unroll(module, loop, factor, taken)
    return Decided({"loops": loops, "factors": factors}, plan)


def _unroll(module: Module, loop: Loop, factor: int, taken: set[str]) -> None:
    """Make a loop a pipeline of `factor` copies."""
    view = find_loop(module, loop)
    trips = trip_count(view.op) if view.op.name == "affine.for" else None
    if trips is None or factor < 1 or trips % factor:
        raise ScheduleError(
            f"factor {factor} does not divide the trip count {trips} of loop '{loop.name}'"
            if trips is not None
            else f"loop '{loop.name}' has no constant trip count",
            hint="split and unroll it by hand",
            notes=[loop_note(view)],
        )
    if factor > 1:
        outer, inner = tiled(module, loop, factor)
        find_loop(module, inner).op.attributes["allo.unroll"] = i32_attr(0)
        view = find_loop(module, outer)
        sink_into_first(view, f"{loop.name}_value", taken)
    view.op.attributes["allo.pipeline"] = i32_attr(1)


# -- the plan ------------------------------------------------------------------------------------------------


def _planned(
    module: Module, name: str, dsp: int, target: str
) -> tuple[UnrollPlan, tuple[Loop, ...], tuple[int, ...]]:
    """The best factors for a budget, and the inner loops that they belong to."""
    from ..estimate.stage_costs import stage_costs

    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    nests = [op for op in statements(entry) if op.name == "affine.for"]
    if not nests:
        raise ScheduleError(
            f"'{name}' has no loop nests", hint="customize with lower_linalg=True makes loops of operators"
        )
    model = extract(function)
    inner: dict[ir.Operation, list[LoopView]] = {op: [] for op in nests}
    for view in module.loops(name):
        is_inner = not any(op.name in ("affine.for", "scf.for", "scf.while") for op in operations(view.body))
        marked = any(annotations_of(loop.op) for loop in view.chain)
        if is_inner and not marked and view.op.name == "affine.for" and view.chain[0].op in inner:
            inner[view.chain[0].op].append(view)
    free = {op: [view for view in views if _may_run_at_once(model, view)] for op, views in inner.items()}
    costs = stage_costs(module, name, target, free)
    chosen = balanced(costs, dsp)
    of_stage = {stage.name: option for stage, option in zip(costs, chosen, strict=True)}
    loops: list[Loop] = []
    factors: list[int] = []
    for op, views in inner.items():
        factor = of_stage[string_of(op, "allo.nest") or ""].factor
        for view in views:
            loops.append(Loop(name, view.nest, view.name))
            factors.append(factor if view in free[op] else 1)
    copies = {view: n for (view, n) in zip([v for views in inner.values() for v in views], factors, strict=True)}
    banks = _banks(model, name, {view: n for view, n in copies.items() if n > 1})
    stages = tuple(_choice(stage, option) for stage, option in zip(costs, chosen, strict=True))
    return UnrollPlan(target, dsp, stages, banks), tuple(loops), tuple(factors)


def _choice(stage: StageOptions, option: Option) -> StageChoice:
    return StageChoice(stage.name, option, stage.options[0].cycles, "" if option != stage.options[-1] else stage.limit)


def _may_run_at_once(model: Model, view: LoopView) -> bool:
    """Whether iterations of a loop do not need one another, and use different elements along one dimension."""
    loop = model.loop(view.op)
    for access in model.inside(loop):
        along = [abs(dict(form.terms).get(loop.variable, 0)) for form in access.subscripts]
        if access.buffer.is_stream or access.quotients or sum(along) > 1:
            return False
    return (trip_count(view.op) or 1) > 1 and carried_by(model, view.op) is None


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
