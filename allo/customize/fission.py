"""fission: statements of a loop get loops of their own, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import string_attr
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import LoopView, loops_of, statements
from ..poly import Undecided, Violation, extract, forbidden_cuts
from .nest.rewrite import loop_attributes
from .step.handles import Loop
from .step.legality import demand, demand_still_parallel, parallel_loops
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def fission(module: Module, loop: Loop, assume_safe: bool = False) -> tuple[Loop, ...]:
    """Give each statement of the body of `loop` a loop of its own. Returns their handles, in the order of the text.

        for i in range(n):            for i in range(n):
            S(i)               ->         S(i)
            T(i)                      for i_1 in range(n):
                                          T(i_1)

    Statements that a dependence or a variable of one iteration ties together stay in one loop. The first loop keeps
    its name; at the top of a function the others are nests of their own, `S_i_0_1`, ..., whose loop has the name of
    this one. Refused: a loop of one statement, or whose statements are all tied, with the dependence that ties them; a
    `while` loop; an annotated loop. `assume_safe=True` accepts what cannot be decided. Source: loop distribution,
    Kennedy and McKinley (Supercomputing 1990).
    """
    view = find_loop(module, loop)
    if view.op.name == "scf.while" or len(view.op.results):
        raise ScheduleError(
            f"loop '{loop.name}' hands on values from one iteration to the next, and cannot run twice",
            hint="write it as a `for` loop over a range, with such values in arrays",
            notes=[loop_note(view)],
        )
    loop_attributes(view)
    parallel = parallel_loops(module, loop)
    ends = _ends(module, view, loop, assume_safe=assume_safe)
    handles = _cut(module.function(loop.function), view, loop, ends)
    demand_still_parallel(module, loop, parallel, assume_safe=assume_safe)
    return handles


def _ends(module: Module, view: LoopView, loop: Loop, *, assume_safe: bool) -> list[int]:
    """Where the body is cut: the numbers of the operations that begin a loop, behind those of the first."""
    body = statements(view.body)[:-1]
    written = [number for number in range(1, len(body)) if not len(body[number - 1].results)]
    effects = Effects(module)
    free = [cut for cut in written if not _is_crossed(body, cut, effects)]
    if not free:
        alone = f"the body of loop '{loop.name}' is one statement"
        tied = f"the statements of loop '{loop.name}' share variables of one iteration, or all use streams"
        raise ScheduleError(
            tied if written else alone,
            hint="keep variables in arrays with an element for each iteration" if written else None,
            notes=[loop_note(view)],
        )
    answers = forbidden_cuts(extract(module.function(loop.function), view.op), view.op, body)
    found = [cut for cut in free if _allows(answers.get(cut), assume_safe=assume_safe)]
    if not found:
        what = f"the statements of loop '{loop.name}' cannot run in loops of their own"
        demand(answers[free[0]], what, assume_safe=False)
    return found


def _allows(answer: Violation | Undecided | None, *, assume_safe: bool) -> bool:
    return answer is None or (assume_safe and isinstance(answer, Undecided))


def _is_crossed(body: Sequence[ir.Operation], cut: int, effects: Effects) -> bool:
    """Whether a value, but for constants, or the turn of streams, would have to be kept across a cut."""
    before, after = body[:cut], body[cut:]
    if all(any(map(effects.uses_streams, part)) for part in (before, after)):
        return True
    users = [use.owner.operation for op in before if op.name != "arith.constant" for r in op.results for use in r.uses]
    return any(_outermost(user, body) in after for user in users)


def _outermost(op: ir.Operation, body: Sequence[ir.Operation]) -> ir.Operation:
    """The operation of the body that `op` is, or is in."""
    while op not in body:
        assert op.parent is not None
        op = op.parent.operation
    return op


def _cut(function: ir.OpView, view: LoopView, loop: Loop, ends: Sequence[int]) -> tuple[Loop, ...]:
    """Copies of the loop behind it, each of which keeps its own part of the body."""
    views = loops_of(function)
    loops = {other.name for other in views if other.nest == view.nest}
    nests = {other.own_nest for other in views if other.own_nest is not None}
    copies = [view.op, *(view.op.clone(ir.InsertionPoint(view.op)) for _ in ends)]
    handles = [loop]
    for before, copy in pairwise(copies):
        copy.move_after(before)
        nest, name = loop.nest, loop.name
        if view.parent is None:
            nest = unique_name(loop.nest, nests)
            copy.attributes["allo.nest"] = string_attr(nest)
        else:
            name = unique_name(loop.name, loops)
            copy.attributes["allo.name"] = string_attr(name)
        handles.append(Loop(loop.function, nest, name))
    bounds = [0, *ends, len(statements(view.body)) - 1]
    for copy, (first, last) in zip(copies, pairwise(bounds), strict=True):
        _keep(copy, first, last)
    return tuple(handles)


def _keep(copy: ir.Operation, first: int, last: int) -> None:
    """Erase all of the body of a loop but some operations, and constants that these use."""
    body = statements(copy.regions[0].blocks[0])[:-1]
    for number, op in reversed(list(enumerate(body))):
        if not first <= number < last and not (op.name == "arith.constant" and any(True for _ in op.results[0].uses)):
            op.erase()
