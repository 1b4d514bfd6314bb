"""Space derived from a kernel: loops that are cut, their orders, lanes, pipelines, banks that feed them, and stages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations
from typing import Any

from ..customize import Schedule
from ..customize.function.calls import calls_of
from ..customize.step.handles import Loop
from ..customize.step.record import Step
from ..customize.step.text import parse_steps
from ..errors import LayoutConflict, ScheduleError
from ..estimate import Advice, Estimate, estimate
from ..ir.walk import annotations_of, loops_of, statements
from ..poly import Model, ModelLoop, carried_by, extract, trips_of
from .choices import Choose

_MOST_PERMUTED = 4  # loops of which all orders are tried; of more, each may be the innermost one
_MOST_LANES = 4096  # copies of a body in one iteration of its pipeline
_ROUNDS = 6  # of advice on banks, each of which reads the estimate of the one before
_OF_ANY_EXTENT = (1, 2, 4, 8, 16)
_KEPT = 512  # bodies whose legal orders are kept

MERGED = "at once:"  # begins the names of decisions to run pipelines in one
STATEMENTS = "statements of"  # to cut a loop into one for each statement
FUNCTION = " is"  # ends those to leave a function as it is
OVERLAP = "stages overlap"
BUFFERED = "buffer_at in"  # begins the names of decisions to keep what a loop updates on the chip
REUSED = "reuse_at in"  # and to keep what iterations read again


@dataclass(frozen=True, slots=True)
class _Body:
    """A loop without loops inside: those around it and itself, from the outermost; `shared` have other loops too."""

    path: tuple[Loop, ...]
    shared: int
    annotated: bool


@dataclass(frozen=True, slots=True)
class Piped:
    """Loops whose innermost one is to be a pipeline, of bodies; `shared` of them have other loops too."""

    titles: tuple[str, ...]
    loops: tuple[Loop, ...]
    shared: int


def loops(s: Schedule, choose: Choose) -> list[Piped]:
    """Decide orders, lanes and pipelines of the loops that no step has annotated, the others stay; the pipelines.

    Functions become parts of their callers, whose loops share units, or stay functions. Statements get loops of their
    own, where no dependence forbids that, or stay together. Then each innermost loop with the loops around it is a
    body: it has an order, of those that no dependence forbids, lanes of each loop (copies of the body in one
    iteration), and is a pipeline. Pipelines one after the other with as many iterations may run at once.
    """
    _inline(s, choose)
    found: list[Piped] = []
    for function in [str(function.name.value) for function in s.ir.functions()]:
        _cut(s, choose, function)
        free = [number for number, body in enumerate(_bodies(s, function)) if not body.annotated]
        decided = [_decide(s, choose, function, number) for number in free]
        for pipeline in _merge(s, choose, decided):
            with suppress(ScheduleError):  # some loops are no pipelines, as those of calls that wait
                s.pipeline(pipeline.loops[-1])
                found.append(pipeline)
    return found


def banks(s: Schedule, steps: Iterable[str]) -> None:
    """Divide arrays as steps say. Where bodies ask for different numbers of banks of a dimension, it gets the most, and
    a vector gets registers in place of banks of two elements, which fit any number of lanes."""
    given: list[Step] = []
    for text in steps:
        with suppress(ScheduleError):  # windows have banks too, which are there once the advice is taken
            given += parse_steps(text, s.primitives())
    for asked in given:
        step = _in_registers(s, asked)
        try:
            s.replay([step])
        except LayoutConflict:
            _divide_more(s, step)
        except ScheduleError:
            continue  # the advice sees what is left


def _in_registers(s: Schedule, step: Step) -> Step:
    """A `partition` of a vector into elements in place of one into banks of at most two."""
    array, dim, banks = _divided(step)
    function, _, name = array.partition(":")
    value = s.ir.buffers(function).get(name)
    if value is None or dim != 1 or len(value.type.shape) != 1 or not banks < value.type.shape[0] <= 2 * banks:
        return step
    (found,) = parse_steps(f's.partition("{array}", dim={dim})', s.primitives())
    return found


def _divide_more(s: Schedule, step: Step) -> None:
    """Take a step in place of an earlier one that divides the same dimension into fewer banks."""
    array, dim, more = _divided(step)
    for position, old in enumerate(s.steps):
        if old.name == step.name and _divided(old)[:2] == (array, dim):
            if _divided(old)[2] < more:
                later = s.steps[position:]
                s.undo(len(later))
                try:
                    s.replay([step, *later[1:]])
                except ScheduleError:
                    s.replay(later)
            return


def _divided(step: Step) -> tuple[str, Any, float]:
    """The array, the dimension and the banks of a `partition`."""
    given = dict(step.arguments)
    return str(given["buffer"]), given.get("dim", 0), given.get("factor", 0) or math.inf


def memories_and_stages(s: Schedule, choose: Choose, options: Mapping[str, Any]) -> Estimate:
    """Divide arrays into the banks that pipelines ask for, decide on windows and buffers, and whether the stages of
    functions overlap; what the result costs."""
    found = _memories(s, choose, options)
    stages = [advice.step for advice in found.advice if "s.dataflow(" in advice.step]
    if stages and choose.flag(OVERLAP):
        for step in stages:
            s.replay(step)
        found = _memories(s, choose, options)
    return found


def parts(s: Schedule) -> int:
    """How many parts may overlap at most: nests and calls of functions, by which a bound of their sum is too large."""
    ir = s.ir
    return max(len(statements(function.entry_block)) for function in ir.functions() if not function.is_external)


def _bodies(s: Schedule, function: str) -> list[_Body]:
    """The innermost loops in the order of the text."""
    views = loops_of(s.ir.function(function))
    inside = Counter(view.parent.op for view in views if view.parent is not None)
    return [
        _Body(
            tuple(Loop(function, view.nest, view.name) for view in body.chain),
            max((depth for depth, view in enumerate(body.chain, 1) if inside[view.op] > 1), default=0),
            any(annotations_of(view.op) for view in body.chain),
        )
        for body in views
        if not inside[body.op]
    ]


def _inline(s: Schedule, choose: Choose) -> None:
    """Replace the calls of functions by bodies; first those of functions that are called once."""
    module = s.ir
    for name in [str(function.name.value) for function in module.functions()]:
        if name == s.top_func_name or any(annotations_of(view.op) for view in loops_of(module.function(name))):
            continue
        options = ("a part of its caller", "a function")
        once = len(calls_of(module, name)) == 1
        try:
            s.inline(name)
        except ScheduleError:
            continue
        if choose(f"{name}{FUNCTION}", options if once else options[::-1]) == "a function":
            s.undo()


def _cut(s: Schedule, choose: Choose, function: str) -> None:
    """Give statements loops of their own, the innermost loops first."""
    stays = {loop for body in _bodies(s, function) if body.annotated for loop in body.path}
    found = [Loop(function, view.nest, view.name) for view in loops_of(s.ir.function(function))]
    for loop in reversed(found):
        if loop in stays:
            continue
        try:
            s.fission(loop)
        except ScheduleError:
            continue
        if choose(f"{STATEMENTS} {function}:{loop.nest}.{loop.name}", ("apart", "together")) == "together":
            s.undo()


def _decide(s: Schedule, choose: Choose, function: str, number: int) -> Piped:
    """The order and the lanes of one body."""
    body = _bodies(s, function)[number]
    title = f"{function}:{body.path[-1].nest}.{body.path[-1].name}"
    orders = _orders(s, body)
    if len(orders) > 1:
        order = choose(f"order at {title}", orders)
        if order != orders[0]:
            s.reorder(*_in_order(body, order))
            body = _bodies(s, function)[number]
    lanes = {}
    free = body.path[body.shared :]
    for loop in free:
        options, walks, carries = _lanes(s, loop)
        lanes[loop] = choose(f"lanes of {loop.name} at {title}", options, walks=walks, carries=carries)
    outer, inner = [], []
    for loop in body.path:
        if lanes.get(loop, 1) == 1:
            outer.append(loop)
            continue
        first, last = s.split(loop, lanes[loop])
        outer.append(first)
        inner.append(last)
    if inner and inner[0].name != f"{body.path[-1].name}.inner":  # else they are innermost already
        s.reorder(*outer[body.shared :], *inner)
    return Piped((title,), tuple(outer), body.shared)


def _merge(s: Schedule, choose: Choose, pipelines: list[Piped]) -> list[Piped]:
    """Run pipelines of as many iterations at once: each may become a part of the next one, as `compute_at` does it."""
    left: list[Piped] = []
    for one in pipelines:
        last = left[-1] if left else None
        if last is not None and not last.shared and not one.shared and _trips(s, last) == _trips(s, one) is not None:
            try:
                s.compute_at(last.loops[-1], one.loops[-1])
            except ScheduleError:
                pass
            else:
                if choose.flag(f"{MERGED} {last.titles[-1]} and {one.titles[-1]}"):
                    left.pop()
                    one = replace(one, titles=(*last.titles, *one.titles))
                else:
                    s.undo()
        left.append(one)
    return left


def _trips(s: Schedule, pipeline: Piped) -> list[int] | None:
    """How often the loops of a pipeline run; None if that is not known."""
    views = {(x.nest, x.name): x for x in loops_of(s.ir.function(pipeline.loops[0].function))}
    found = [trips_of(views[loop.nest, loop.name].op).constant for loop in pipeline.loops]
    known = [int(count) for count in found if count is not None]
    return known if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class _Text:
    """A body in a function of this text, which tells its legal orders."""

    text: str
    body: _Body
    schedule: Schedule = field(compare=False)


def _orders(s: Schedule, body: _Body) -> tuple[tuple[str, ...], ...]:
    """The legal orders of the loops of a body, that of the text first."""
    return _legal(_Text(str(s.ir.function(body.path[0].function)), body, s.copy()))


@lru_cache(maxsize=_KEPT)
def _legal(asked: _Text) -> tuple[tuple[str, ...], ...]:
    """The orders that `reorder` takes."""
    body, found = asked.body, []
    names = tuple(loop.name for loop in body.path)
    for order in _candidates(names):
        try:
            asked.schedule.copy().reorder(*_in_order(body, order))
        except ScheduleError:
            continue
        found.append(order)
    return (names, *found)


def _candidates(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The orders to try beside that of the text."""
    if len(set(names)) == len(names):
        if len(names) <= _MOST_PERMUTED:
            yield from list(permutations(names))[1:]
        else:
            yield from ((*(n for n in names if n != last), last) for last in reversed(names[:-1]))


def _in_order(body: _Body, order: tuple[str, ...]) -> list[Loop]:
    by_name = {loop.name: loop for loop in body.path}
    return [by_name[name] for name in order]


def _lanes(s: Schedule, loop: Loop) -> tuple[list[int], tuple[str, ...], bool]:
    """The numbers of lanes that a loop may have: for each number of iterations that is left, the fewest. Also the
    dimensions of arrays that no other loop walks along at the same time, and whether iterations need one another.

    Where iterations need one another, as those of a sum, they are divisors of the extent: a sum with terms under a
    condition, which the last iteration would have, is no tree.
    """
    function = s.ir.function(loop.function)
    view = next(x for x in loops_of(function) if (x.nest, x.name) == (loop.nest, loop.name))
    extent = trips_of(view.op).constant
    model = extract(function, view.chain[0].op)
    carries = carried_by(model, view.op) is not None
    walks = _walks(model, model.loop(view.op), loop.function)
    if extent is None:
        return list(_OF_ANY_EXTENT), walks, carries
    every = range(1, int(extent) + 1)
    if not carries:
        wanted = list(dict.fromkeys(-(-int(extent) // turns) for turns in reversed(every)))
    else:
        wanted = [lanes for lanes in every if extent % lanes == 0]
    return [lanes for lanes in wanted if lanes <= _MOST_LANES] or [1], walks, carries


def _walks(model: Model, loop: ModelLoop, function: str) -> tuple[str, ...]:
    """The dimensions of arrays that a loop walks along alone, as `array[dimension]`."""
    found = {
        f"{function}:{access.buffer.name}[{dimension}]"
        for access in model.inside(loop)
        for dimension, subscript in enumerate(access.subscripts)
        if {variable for variable, _ in subscript.terms} & set(access.variables) == {loop.variable}
    }
    return tuple(sorted(found))


def _memories(s: Schedule, choose: Choose, options: Mapping[str, Any]) -> Estimate:
    """Apply what the estimate advises for arrays, until it advises no more; the last estimate."""
    for _ in range(_ROUNDS):
        found = estimate(s, **options)
        before = str(s.steps)
        for advice in found.advice:
            if _is_of_banks(advice):
                banks(s, advice.step.partition("  # ")[0].split("; "))
            elif _is_taken(advice, choose):
                with suppress(ScheduleError):
                    s.replay(advice.step)
        if str(s.steps) == before:
            return found
    return estimate(s, **options)


def _is_of_banks(advice: Advice) -> bool:
    others = ("s.reuse_at(", "s.buffer_at(")
    steps = advice.step.split("; ")
    return all(step.startswith("s.partition(") and not any(other in step for other in others) for step in steps)


def _is_taken(advice: Advice, choose: Choose) -> bool:
    """Windows of what is read again, and copies of what is updated, are decisions."""
    if "s.reuse_at(" in advice.step:
        return choose.flag(f"{REUSED} {advice.at}")
    return "s.buffer_at(" in advice.step and choose.flag(f"{BUFFERED} {advice.at}")
