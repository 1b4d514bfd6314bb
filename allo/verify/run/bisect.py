"""First step of a schedule after which its program differs, and what it did to streams."""

from __future__ import annotations

from ...errors import AlloError
from ..deadline import Deadline
from ..program.programs import Program, load
from ..result import FirstStep
from .differential import Difference, ProgramPair
from .inputs import Values
from .runner import Runner
from .token_order import other_order


def first_wrong_step(
    a: Program, b: Program, values: Values, runner: Runner, *, reassociate: bool, deadline: Deadline
) -> FirstStep | None:
    """The first step of `b` (of `a`, if `b` has none) after which it differs from the other program on `values`.

    None if there are no steps, if the kernel differs before the first of them, or if the time does not suffice.
    """
    scheduled, other = (b, a) if b.steps else (a, b)
    schedule, count = scheduled.schedule, len(scheduled.steps)
    if schedule is None or not count:
        return None

    def differs(steps: int) -> bool | None:
        copy = schedule.copy()
        copy.undo(count - steps)
        try:
            program = load(copy, like=other)
            pair = ProgramPair(other, program, runner, reassociate=reassociate, deadline=deadline)
        except AlloError:
            return None
        return isinstance(pair.compare(values), Difference)

    if differs(0) is not False:
        return None
    right, wrong = 0, count
    while wrong - right > 1:
        middle = (right + wrong) // 2
        answer = differs(middle) if not deadline.is_over else None
        if answer is None:
            return None
        right, wrong = (right, middle) if answer else (middle, wrong)
    step = scheduled.steps[wrong - 1]
    return FirstStep(wrong - 1, str(step), "" if step.at is None else str(step.at))


def changed_order(
    a: Program, b: Program, step: FirstStep | None, values: Values, runner: Runner, deadline: Deadline
) -> str:
    """The stream whose elements come in another order in `b` than in `a`, or since the first wrong step."""
    told = other_order(a, b, values, runner, deadline)
    if told or step is None:
        return told
    scheduled = b if b.steps else a
    assert scheduled.schedule is not None
    states = []
    for steps in (step.number, step.number + 1):
        copy = scheduled.schedule.copy()
        copy.undo(len(scheduled.steps) - steps)
        states.append(load(copy))
    told = other_order(states[0], states[1], values, runner, deadline)
    return told.replace("the first program", "before this step the program").replace(
        "the second one", "after it the program"
    )
