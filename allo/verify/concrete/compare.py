"""Comparison of two programs of fixed sizes: both are run on expressions over the same inputs."""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from ...ir.types import TensorType
from ...poly.model import source_of
from ..program.programs import Program
from ..result import InputValue, Mismatch, Stuck
from .engine import WHOLLY_UNWRITTEN, ExpressionGraph
from .execute import ComputedOutput, Failure, Outcome, execute
from .expression import ArgumentShapes, difference, text
from .lowered import Unsupported
from .pairs import IdPair, Unequal, equal_pairs

type _Places = npt.NDArray[np.intp]
type _Differing = tuple[ComputedOutput, ComputedOutput, _Places]


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many different expressions (20 to 40 bytes each), bytes for them, and terms of normal forms."""

    nodes: int = 160_000_000
    memory: int = 3_600_000_000
    terms: int = 40_000_000


@dataclass(frozen=True, slots=True)
class Equal:
    """Both programs compute the same expression for each element of each output.

    `expressions` is how many different ones both have computed; `rewritten` how many elements are equal by normal
    forms, and `solved` by the solver, not expression by expression.
    """

    expressions: int
    elements: int
    rewritten: int
    solved: int

    def to_json(self) -> str:
        """The counts as JSON: there is no relation to write down, both programs were run."""
        return json.dumps(asdict(self))


def compare(
    a: Program, b: Program, *, reassociate: bool = False, seconds: float = 60.0, limit: Limit = Limit()
) -> Equal | Mismatch | Stuck:
    """Run both programs on expressions and compare those of each output element.

    The expressions of integers are folded where they are constant, and equal modulo their width in any order of sums
    and products; those of floats are equal if the same operations are applied to the same values (`a + b` is
    `b + a`; with `reassociate` sums and products in any order). What then is still different is given to a solver
    (`scalars`). An element that the first program leaves undefined may have any value in the second.

    Branches on data are both run, and the values that they leave are selected; a subscript from data selects among the
    elements that it may mean, if its type keeps it inside of the array. Stuck names the statement whose effect depends
    on data otherwise, or says that there are too many expressions.
    """
    deadline = time.process_time() + seconds  # of this process: a busy machine is no reason to give up
    graph = ExpressionGraph(limit.nodes, limit.memory)
    outcomes: list[Outcome | Failure] = []
    for program in (a, b):
        promise = next((statement for statement in program.opaque if statement.is_promise), None)
        if promise is not None:
            return Stuck(f"{promise.what} is not understood", promise.at)
        try:
            outcomes.append(execute(graph, program, deadline))
        except Unsupported as error:
            return Stuck(error.reason, None if error.op is None else source_of(error.op))
        if isinstance(outcomes[0], Failure):
            break  # what the first program means is not known
    first, second = outcomes[0], outcomes[-1]
    if isinstance(first, Failure):
        return Stuck(first.reason, first.at)
    if isinstance(second, Failure):
        return _failed(second)
    inputs = ArgumentShapes(tuple(x.name for x in a.arguments), tuple(_shape(x.type) for x in a.arguments))
    return _Comparison(graph, inputs, reassociate, limit, deadline).run(first, second)


def _shape(kind: object) -> tuple[int, ...]:
    return tuple(kind.shape) if isinstance(kind, TensorType) else ()


def _failed(failure: Failure) -> Mismatch | Stuck:
    """The first program runs to its end, and the second one does not."""
    if not failure.is_error:
        return Stuck(failure.reason, failure.at)
    return Mismatch(
        failure.array, failure.element, "", "", f"the second program {failure.reason}", None, failure.at
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    graph: ExpressionGraph
    inputs: ArgumentShapes
    reassociate: bool
    limit: Limit
    deadline: float

    def run(self, first: Outcome, second: Outcome) -> Equal | Mismatch | Stuck:
        differing: list[_Differing] = []
        for left, right in zip(first.outputs, second.outputs, strict=True):
            places = np.flatnonzero(left.ids != right.ids)
            places = places[self.graph.unwritten(left.ids[places]) != WHOLLY_UNWRITTEN]
            if len(places):
                differing.append((left, right, places))
        total = sum(math.prod(output.shape) for output in first.outputs)
        answer: Equal | Mismatch | Stuck = Equal(len(self.graph) - 1, total, 0, 0)
        if differing:
            answer = self._differing(differing, total)
        if isinstance(answer, Equal) and first.left_over != second.left_over:
            return self._left_over(first, second)
        escape = second.escape_beyond(first) if isinstance(answer, Equal) else None
        return answer if escape is None else Stuck(escape.reason, escape.at)

    def _left_over(self, first: Outcome, second: Outcome) -> Mismatch | Equal:
        one, other = dict(first.left_over), dict(second.left_over)
        name = next(n for n in (*other, *one) if one.get(n, 0) != other.get(n, 0))
        reason = f"counts: {other.get(name, 0)} elements are left in '{name}', not {one.get(name, 0)}"
        return Mismatch(name, (), "", "", reason)

    def _differing(self, differing: list[_Differing], total: int) -> Equal | Mismatch | Stuck:
        """Give the pairs of expressions that are not the same ones to normal forms, and then to the solver."""
        left = np.concatenate([x.ids[places] for x, _, places in differing])
        right = np.concatenate([y.ids[places] for _, y, places in differing])
        keys, where = np.unique(left.astype(np.uint64) << np.uint64(32) | right, return_inverse=True)
        pairs = [IdPair(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in keys]
        answer = equal_pairs(self.graph, pairs, self.reassociate, self.limit.terms, self.deadline)
        if isinstance(answer, str):
            return Stuck(answer)
        bad = np.array([isinstance(x, Unequal) for x in answer.verdicts])
        if not bad.any():
            solved = np.array([x == "solved" for x in answer.verdicts])
            return Equal(len(self.graph) - 1, total, len(left), int(solved[where.reshape(-1)].sum()))
        wrong = np.flatnonzero(bad[where.reshape(-1)])
        return self._mismatch(differing, wrong, [answer.verdicts[k] for k in where.reshape(-1)[wrong]])

    def _mismatch(
        self, differing: list[_Differing], wrong: _Places, verdicts: list[Unequal | str]
    ) -> Mismatch | Stuck:
        """The first element that differs; one for which the solver has found inputs if there is any."""
        chosen = next(
            (k for k, x in enumerate(verdicts) if isinstance(x, Unequal) and x.model is not None), 0
        )
        verdict = verdicts[chosen]
        assert isinstance(verdict, Unequal)
        position = int(wrong[chosen])
        which = 0
        while position >= len(differing[which][2]):
            position -= len(differing[which][2])
            which += 1
        left, right, places = differing[which]
        place = int(places[position])
        element = tuple(int(x) for x in np.unravel_index(place, left.shape)) if left.shape else ()
        one, other = int(left.ids[place]), int(right.ids[place])
        if verdict.stuck:
            name = f"{left.name}[{', '.join(map(str, element))}]" if element else left.name
            return Stuck(f"{name} may be equal or not: {verdict.stuck}")
        return Mismatch(
            left.name,
            element,
            text(self.graph, one, self.inputs),
            text(self.graph, other, self.inputs),
            self._reason(one, other),
            left.writer(place),
            right.writer(place),
            inputs=self._values(verdict),
            elements=len(wrong),
        )

    def _reason(self, one: int, other: int) -> str:
        forms = None
        if not self.reassociate:
            forms = self.graph.normal_forms(np.array([one, other], dtype=np.uint32), True, 1_000_000, 2.0)
        if forms is not None and forms[0] == forms[1] and forms[0]:
            return "the same sums or products of floats in another order (reassociate=True allows that)"
        return difference(self.graph, one, other, self.inputs)

    def _values(self, verdict: Unequal) -> tuple[InputValue, ...]:
        """The input elements for which the solver has found different results."""
        if verdict.model is None:
            return ()
        return tuple(
            InputValue(self.inputs.names[argument], self.inputs.element(argument, position), bits)
            for (argument, position), bits in sorted(verdict.model.items())
        )
