"""Answers of method 2: a proof for all outputs, a difference that an output shows, or why it is stuck."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import islpy as isl

from ...poly.effort import is_exhausted
from ..certificate.check import problems
from ..deadline import Deadline
from ..program.branches import Guards
from ..program.programs import Program
from ..result import Mismatch, Stuck
from .definedness import are_one_choice
from .effort import Effort
from .explain import coordinates, text
from .flow import Flows
from .graph import ComputationGraph
from .nodes import Gap, Kind
from .proof import OutOfSteps, Pair, Prover, Unproven, Widening
from .reductions import Sums
from .tokens import Fault, check_streams
from .write_certificate import written

_DEEPEST = 8_000
_CERTIFICATE = 5  # steps that one may take, to write as to check
# How relations are widened in one attempt after the other, and how many steps it may take.
_ATTEMPTS = (
    (Widening(1, 2, "affine", False), 1500),
    (Widening(3, 6, "affine", False), 800),
    (Widening(2, 4, "simple", True), 300),
)


@dataclass(frozen=True, slots=True)
class Proof:
    """The programs compute the same for all inputs; `sums` are those whose terms are the same in another order."""

    steps: int
    sums: dict[Pair, tuple[Sums, ...]] = field(repr=False)
    certificate: str = field(repr=False)

    def to_json(self) -> str:
        """The certificate, which `allo/verify/certificate/check.py` checks."""
        return self.certificate


def prove(
    a: Program,
    b: Program,
    *,
    reassociate: bool = False,
    seconds: float | None = None,
    deadline: Deadline | None = None,
) -> Proof | Mismatch | Stuck:
    """Whether `b` computes what `a` does, where a's result is defined; the interfaces must agree.

    It is `Stuck` after `seconds` of the processor, and at the deadline; without them, after a number of operations of
    isl.

    A `Mismatch` names an element of an output whose values are computed differently; that the values differ for some
    input has to be confirmed by running both.
    """
    for program in (a, b):
        if program.cycle:
            return Mismatch("", (), "", "", f"deadlock: {program.cycle}")
        if program.opaque:
            return Stuck(f"{program.opaque[0].what} is not understood", program.opaque[0].at)
    effort = Effort(seconds, deadline=deadline)
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _DEEPEST))
    try:
        with effort.limited():
            found = _checked(_prove((a, b), Guards.VALUES, effort, reassociate), a, b, reassociate, effort)
            if isinstance(found, Proof) or not (a.has_terms or b.has_terms):
                return found
            other = _checked(_prove((a, b), Guards.TERMS, effort, reassociate), a, b, reassociate, effort)
            return other if isinstance(other, Proof) else found
    except Gap as gap:
        return gap.stuck
    except isl.Error as error:
        return Stuck(f"isl does not answer: {error}")
    except RecursionError:
        return Stuck("the computation is nested too deeply")
    finally:
        sys.setrecursionlimit(depth)


def _checked(
    found: Proof | Mismatch | Stuck, a: Program, b: Program, reassociate: bool, effort: Effort
) -> Proof | Mismatch | Stuck:
    """A proof counts only if its certificate passes."""
    if not isinstance(found, Proof):
        return found
    effort.check(steps=_CERTIFICATE)
    wrong = problems(found.to_json(), a, b, reassociate=reassociate)
    if wrong and is_exhausted():
        raise effort.error()
    return Stuck(f"the proof fails its own check, please report it: {wrong}") if wrong else found


def _prove(
    programs: tuple[Program, Program], form: Guards, effort: Effort, reassociate: bool
) -> Proof | Mismatch | Stuck:
    left, right = (Flows(ComputationGraph(program.straight(form)), effort) for program in programs)
    for flows in (left, right):
        fault = check_streams(flows)
        if fault is not None:
            return _stream_mismatch(fault)
    doubt: Stuck | None = None
    for widening, budget in _ATTEMPTS:
        prover = Prover(left, right, widening, budget, reassociate)
        try:
            found = _attempt(prover)
        except OutOfSteps as gap:
            doubt = doubt or gap.stuck
            continue
        effort.check(steps=_CERTIFICATE)
        if found is None and not are_one_choice(prover.chosen):
            return Stuck("an element that nothing has written would need two values")
        if found is None:
            return Proof(prover.steps, prover.sums, written(programs, form, prover))
        number, failure = found
        if failure.surely:
            return _mismatch(left, right, number, failure)
        at = failure.right.source or failure.left.source
        doubt = doubt or Stuck("the values that are computed here could not be related", at)
    assert doubt is not None
    return doubt


def _attempt(prover: Prover) -> tuple[int, Unproven] | None:
    """The first output that cannot be shown equal."""
    for number in range(len(prover.left.graph.outputs)):
        one, other = prover.left.graph.output(number), prover.right.graph.output(number)
        failure = prover.equal(one, other, prover.left.graph.elements(number).identity())
        if failure is not None:
            return number, failure
    return None


def _mismatch(left: Flows, right: Flows, number: int, failure: Unproven) -> Mismatch:
    one, other = (f.graph.output(number) for f in (left, right))
    element, same = failure.point.domain(), failure.point.range()
    first = text(left, failure.left, failure.at.domain(), 1)
    second = text(right, failure.right, failure.at.range(), 1)
    verb = "reads" if failure.right.kind in (Kind.INPUT, Kind.UNDEFINED) else "computes"
    unwritten = ", which nothing has written" if failure.right.kind is Kind.UNDEFINED else ""
    reason = f"{verb} {second}{unwritten} instead of {first}"
    return Mismatch(
        left.graph.outputs[number].name,
        coordinates(element) if one.kind is Kind.READ else (),
        text(left, one, element),
        text(right, other, same),
        reason,
        failure.left.source,
        failure.right.source,
    )


def _stream_mismatch(fault: Fault) -> Mismatch:
    name = fault.access.buffer.name
    stream = f"{name}[{', '.join(map(str, fault.channel))}]" if fault.channel else name
    return Mismatch(name, fault.channel, "", "", f"{fault.reason} of '{stream}'", None, fault.access.source)
