"""Methods of the verifier: the order in which they are tried, and what their answers mean together."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from ..errors import VerificationError, counted, nearest
from ..ir.hang import Hang
from ..poly import hang_of
from ..poly.hangs import MOST_STEPS
from ..poly.model import Source
from .affine.bounds import Escape, escape_of
from .deadline import Deadline
from .program.programs import Program, other_interface, other_start, other_states
from .result import Counterexample, Different, Equivalent, Mismatch, Result, Stuck, Unknown
from .run.bisect import changed_order, first_wrong_step
from .run.counterexample import Found, NotFound, counterexample, search, smaller
from .run.differential import RUN_SECONDS, UNWRITTEN, ProgramPair
from .run.identical import are_identical
from .run.inputs import Values
from .run.runner import Failed, Runner

_AFFINE_SHARE = 0.25  # of the time, in seconds of the processor, if the others are tried too
_PROOF_SHARE = 0.6  # of what is left, by the clock; the rest is to run what is suspected
_SEARCH_SHARE = 0.6  # of what is left then; the rest is to make a counterexample small, and to find the step
_TOKENS_PER_SECOND = 500_000  # at least
IDENTICAL = "the same operations"
METHODS = ("auto", "affine", "concrete", "differential")

type _Method = Callable[["_Check", Deadline, float], Any]


def _affine(check: _Check, deadline: Deadline, share: float) -> Any:
    from .affine import prove

    try:
        seconds = share * check.deadline.left
        return prove(check.a, check.b, reassociate=check.reassociate, seconds=seconds, deadline=deadline)
    except Exception as error:  # the other methods may know the answer, and Unknown tells of it
        return fault(error)


def _concrete(check: _Check, deadline: Deadline, share: float) -> Any:
    return check.runner.compare(check.a, check.b, reassociate=check.reassociate, deadline=deadline)


def fault(error: Exception) -> Stuck:
    """What a method answers that has failed because of a mistake of ours."""
    places = traceback.extract_tb(error.__traceback__)
    at = f" in {places[-1].name}" if places else ""
    return Stuck(f"internal error, please report it: {type(error).__name__}{at}: {error}")


_PROOFS: dict[str, tuple[str, _Method]] = {
    "affine": ("array dataflow graphs of any size", _affine),
    "concrete": ("concrete computation graphs", _concrete),
}


def check(
    a: Program, b: Program, runner: Runner, *, reassociate: bool = False, deadline: Deadline, method: str = "auto"
) -> Result:
    """Compare two programs; see `allo.verify`."""
    if method not in METHODS:
        hint = nearest(str(method), METHODS) or f"the methods are {', '.join(METHODS)}"
        raise VerificationError(f"there is no method '{method}'", hint=hint)
    start = monotonic()
    if told := other_interface(a, b):
        example = Counterexample("", (), "", "", told, (), "", "")
        return Different("their interfaces", monotonic() - start, example, _described(a), _described(b))
    if told := other_states(a, b):
        return Unknown(told, None, monotonic() - start, (), None, _described(a), _described(b))
    work = _Check(a, b, runner, reassociate, deadline)
    result = work.run(method)
    endless = work.without_end() if isinstance(result, Equivalent) else None
    return result if endless is None else endless


@dataclass(slots=True)
class _Check:
    """One comparison: what is known so far."""

    a: Program
    b: Program
    runner: Runner
    reassociate: bool
    deadline: Deadline
    start: float = field(default_factory=monotonic)
    tried: list[str] = field(default_factory=list)
    stuck: Stuck | None = None
    suspected: Mismatch | None = None
    _pair: ProgramPair | None = None

    @property
    def seconds(self) -> float:
        return monotonic() - self.start

    def run(self, method: str) -> Result:
        name = other_start(self.a, self.b)
        if name:  # the methods take any values of variables for inputs
            reason = f"the stateful variable '{name}' starts with other values"
            self.suspected = Mismatch(name, (), "", "", reason)
            self.tried.append(reason)
            return self._differential()
        for name, (text, run) in _PROOFS.items():
            if method not in ("auto", name):
                continue
            answer = self._attempt(text, run, _AFFINE_SHARE if run is _affine and method == "auto" else 1.0)
            if answer is not None:
                return answer
            if method == "auto" and run is _affine and are_identical(self.a, self.b):
                return Equivalent(IDENTICAL, self.seconds, None, *self._names())
        return self._differential()

    def without_end(self) -> Unknown | None:
        """The answer for programs that compute the same if their FIFOs hold all elements, and one of which may hang."""
        for which, program in (("first", self.a), ("second", self.b)):
            most = min(MOST_STEPS, max(1, int(self.deadline.left * _TOKENS_PER_SECOND)))
            found = hang_of(program.original, most, balanced=True)
            if found is None:
                continue
            if isinstance(found, Hang):
                error = found.error().diagnostics[0]
                reason = f"the {which} program never ends: {error.message}; {error.hint}"
            else:
                reason = f"whether the FIFOs of the {which} program are deep enough is not known: {found.reason}"
            return Unknown(reason, None, self.seconds, (*self.tried, reason), None, *self._names())
        return None

    def _attempt(self, text: str, run: _Method, share: float) -> Result | None:
        """The answer of a method, if it has one within a share of the time that is left."""
        if self.deadline.is_over:
            self.tried.append(f"{text}: no time left")
            return None
        answer = run(self, self.deadline.part(_PROOF_SHARE), share)
        if isinstance(answer, Stuck):
            at = f" ({answer.at})" if answer.at is not None and answer.at.line else ""
            self.tried.append(f"{text}: {answer.reason}{at}")
            self.stuck = answer
            return None
        if not isinstance(answer, Mismatch):
            if run is _affine:  # which knows of no ends of arrays
                for which, one, other in (("second", self.a, self.b), ("first", self.b, self.a)):
                    escape = escape_of(one, other, self.deadline.part(_PROOF_SHARE))
                    if escape is not None:
                        return self._escaping(text, which, escape)
            certificate = answer if hasattr(answer, "to_json") else None
            return Equivalent(text, self.seconds, certificate, *self._names())
        self.suspected = answer
        self.tried.append(f"{text}: {answer.reason}")
        outcome = self._search(answer)
        return self._different(text, outcome) if isinstance(outcome, Found) else None

    def _escaping(self, text: str, which: str, escape: Escape) -> Result | None:
        """The answer when the programs compute the same if arrays have no ends, and an access goes beyond."""
        verb = "leaves" if escape.is_sure else "may leave"
        self.stuck = Stuck(f"{escape.text} of the {which} program {verb} its array", escape.at)
        self.tried.append(f"{text}: equivalent, except that {self.stuck.reason} ({escape.at})")
        outcome = self._search(None)
        return self._different(text, outcome) if isinstance(outcome, Found) else None

    def _names(self) -> tuple[str, str]:
        return _described(self.a), _described(self.b)

    @property
    def pair(self) -> ProgramPair:
        if self._pair is None:
            self._pair = ProgramPair(self.a, self.b, self.runner, reassociate=self.reassociate, deadline=self.deadline)
        return self._pair

    def _search(self, suspected: Mismatch | None) -> Found | NotFound:
        if any(argument.type is None for argument in self.a.arguments) or None in self.a.results:
            return NotFound(0, ())  # NumPy has no streams
        return search(self.pair, self.deadline.part(_SEARCH_SHARE), suspected)

    def _differential(self) -> Result:
        """The answer when no method proves anything."""
        outcome = self._search(self.suspected)
        if isinstance(outcome, Found):
            return self._different("running both", outcome)
        agreed = f"{counted(outcome.agreed, 'input')} agreed"
        notes = dict.fromkeys(undecided.reason for undecided in outcome.undecided)
        self.tried.append("; ".join([f"running both: {agreed}", *list(notes)[:2]]))
        reason, at = self._reason()
        return Unknown(f"{reason}; {agreed}", at, self.seconds, tuple(self.tried), self.suspected, *self._names())

    def _reason(self) -> tuple[str, Source | None]:
        if self.suspected is not None:
            return "a method suspects a difference that no run shows", self.suspected.right_at
        if self.stuck is not None:
            return self.stuck.reason, self.stuck.at
        return "no method that proves was asked", None

    def _different(self, method: str, found: Found) -> Result:
        first_inputs = found.inputs.values  # in which elements differ, as the minimised ones do not
        found = smaller(self.pair, found, self.deadline.part(_SEARCH_SHARE))
        self.pair.deadline = self.deadline
        problem = self._contradiction(found)
        if problem and self.pair.is_undefined(found.inputs.values, found.difference):
            found = Found(found.inputs, replace(found.difference, right="undefined", reason=UNWRITTEN))
        elif problem:
            return Unknown(problem, None, self.seconds, tuple(self.tried), self.suspected, *self._names())
        step = first_wrong_step(
            self.a,
            self.b,
            found.inputs.values,
            self.runner,
            reassociate=self.reassociate,
            deadline=self.deadline,
        )
        order = changed_order(self.a, self.b, step, first_inputs, self.runner, self.deadline)
        example = counterexample(self.pair, found, self.suspected, step, order)
        return Different(method, self.seconds, example, *self._names())

    def _contradiction(self, found: Found) -> str:
        """What is wrong if builds of the programs as they were given agree where their guarded copies differ."""
        difference = found.difference
        plain = not (self.a.changes or self.b.changes or any(argument.is_state for argument in self.a.arguments))
        if not plain or not difference.output or difference.reason:
            return ""
        first, second = (self._original(program, found.inputs.values) for program in (self.a, self.b))
        if isinstance(first, Failed) or isinstance(second, Failed):
            return ""
        return "" if self.pair.differ(first, second, difference) else (
            f"builds of both programs agree in {difference.output}{list(difference.element)}, and the copies of them "
            "that check each subscript do not: please report this"
        )

    def _original(self, program: Program, values: Values) -> Any:
        return self.runner.run(self.runner.prepare(program.original), values, RUN_SECONDS, self.deadline)


def _described(program: Program) -> str:
    if program.schedule is None:
        return f"'{program.name}'"
    return f"the schedule of '{program.name}' with {counted(len(program.steps), 'step')}"
