"""Pairs of different expressions with equal values: by normal forms, then by the solver."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .engine import UNDEFINED, Constant, ExpressionGraph, OpNode
from .expression import position_of
from .operators import OpKind
from .scalars import Answer, Differ, Same, Scalar, SolverUndecided, equal

_MOST_OPERATIONS = 4_000  # of a pair that the solver is given
_SECONDS = 2.0  # for one pair
_FLOATS_IN_ORDER = frozenset({OpKind.OPAQUE, OpKind.LEAF, OpKind.ADDF, OpKind.SUBF, OpKind.MULF, OpKind.NEGF})

type Input = tuple[int, int]  # argument, position


@dataclass(frozen=True, slots=True)
class IdPair:
    """Two ids."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Unequal:
    """`model`: values of integer inputs for which the two differ, if the solver has found some.

    `stuck` says why they may be equal nevertheless.
    """

    model: dict[Input, int] | None = None
    stuck: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """For each pair "rewritten" (equal normal forms), "solved" (equal by the solver), or Unequal."""

    verdicts: list[Unequal | str]


def equal_pairs(
    graph: ExpressionGraph, pairs: Sequence[IdPair], reassociate: bool, most_terms: int, deadline: float
) -> Verdicts | str:
    """The verdicts on pairs of expressions; a text if the normal forms are too large."""
    ids = np.array([x for pair in pairs for x in (pair.left, pair.right)], dtype=np.uint32)
    distinct, where = np.unique(ids, return_inverse=True)
    left_time = max(0.0, deadline - time.process_time())
    forms = graph.normal_forms(distinct, reassociate, most_terms, left_time)
    if forms is None:
        over = time.process_time() > deadline
        return "the time is over" if over else f"too large: normal forms of more than {most_terms:,} terms"
    form_of = forms[where.reshape(-1)].reshape(-1, 2)
    depends = (graph.unwritten(distinct) > 0)[where.reshape(-1)].reshape(-1, 2)  # on what nothing has written
    solver = _Solver(graph, deadline)
    verdicts: list[Unequal | str] = []
    for pair, (left, right), (unknown, other) in zip(pairs, form_of, depends, strict=True):
        if left == right and left:
            verdicts.append("rewritten")
        elif unknown:
            verdicts.append(
                Unequal(stuck="the first program computes it from an element that nothing has written")
            )
        else:
            verdicts.append(solver.verdict(pair, is_defined=not other))
    return Verdicts(verdicts)


@dataclass(slots=True)
class _Solver:
    """Gives pairs to the solver until one differs: each shape of a pair once."""

    graph: ExpressionGraph
    deadline: float
    _found: bool = False  # whether a pair differs: the others do not matter any more
    _known: dict[tuple[object, ...], Answer] = field(default_factory=dict)
    _settled: dict[IdPair, bool] = field(default_factory=dict)

    def verdict(self, pair: IdPair, is_defined: bool) -> Unequal | str:
        """The verdict on a pair; `is_defined`: the second side does not depend on what nothing has written."""
        if self._found or not is_defined:
            self._found = True
            return Unequal()
        if self._frontier_is_equal(pair):
            return "solved"
        answer, inputs = self._solve(pair, with_cuts=False)
        if isinstance(answer, Same):
            return "solved"
        if time.process_time() > self.deadline:
            return Unequal(stuck="the time is over")
        self._found = True
        if isinstance(answer, Differ):
            return Unequal({inputs[name]: value for name, value in answer.inputs.items() if name in inputs})
        return Unequal()

    def _frontier_is_equal(self, root: IdPair) -> bool:
        """Whether equal operators lead from the pair down to pairs that are equal."""
        stack = [root]
        seen: set[IdPair] = set()
        while stack:
            pair = stack.pop()
            if pair.left == pair.right or pair in seen:
                continue
            seen.add(pair)
            if pair.left == UNDEFINED or pair.right == UNDEFINED or time.process_time() > self.deadline:
                return False
            x, y = self.graph.read(pair.left), self.graph.read(pair.right)
            if isinstance(x, OpNode) and isinstance(y, OpNode) and x.operator == y.operator and x.operator.arity:
                operands = y.operands
                if x.operator.commutative and (x.operands[0] == operands[1] or x.operands[1] == operands[0]):
                    operands = operands[::-1]
                stack.extend(IdPair(a, b) for a, b in zip(x.operands, operands, strict=True))
            elif not self._is_settled(pair):
                return False
        return True

    def _is_settled(self, pair: IdPair) -> bool:
        if pair not in self._settled:
            answer, _ = self._solve(pair, with_cuts=True)
            self._settled[pair] = isinstance(answer, Same)
        return self._settled[pair]

    def _solve(self, pair: IdPair, with_cuts: bool) -> tuple[Answer, dict[str, Input]]:
        """The answer for a pair, with the inputs of the names in it."""
        build = _Build(self.graph)
        cones = build.cones(pair)
        if cones is None:
            return SolverUndecided(f"more than {_MOST_OPERATIONS:,} operations, or an undefined value"), {}
        left_cone, right_cone = cones
        if not build.has_integers:
            return SolverUndecided("floats are compared operation by operation"), {}
        cuts = left_cone & right_cone if with_cuts else set()
        left, right = build.scalar(pair.left, cuts), build.scalar(pair.right, cuts)
        shape = (*build.shape, with_cuts)
        if shape not in self._known:
            left_time = self.deadline - time.process_time()
            if left_time <= 0:
                return SolverUndecided("the time is over"), {}
            self._known[shape] = equal(left, right, seconds=min(_SECONDS, left_time))
        return self._known[shape], build.inputs


@dataclass(slots=True)
class _Build:
    """The expressions of a pair for the solver; inputs are numbered as they come, so that equal shapes are equal."""

    graph: ExpressionGraph
    inputs: dict[str, Input] = field(default_factory=dict)
    has_integers: bool = False  # operations that are more to the solver than functions
    _names: dict[int, str] = field(default_factory=dict)
    _made: dict[int, Scalar] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)
    _shape: list[object] = field(default_factory=list)

    @property
    def shape(self) -> tuple[object, ...]:
        """What the two expressions are, whatever their inputs."""
        return tuple(self._shape)

    def cones(self, pair: IdPair) -> tuple[set[int], set[int]] | None:
        """The operations below each side; None if there are too many, or an undefined value is among them."""
        found: list[set[int]] = []
        for root in (pair.left, pair.right):
            cone: set[int] = set()
            stack = [root]
            while stack:
                number = stack.pop()
                if number == UNDEFINED:
                    return None
                if number in cone:
                    continue
                node = self.graph.read(number)
                if isinstance(node, Constant) or node.operator.kind == OpKind.LEAF:
                    continue
                cone.add(number)
                self.has_integers |= node.operator.kind not in _FLOATS_IN_ORDER
                stack.extend(node.operands)
                if len(cone) > _MOST_OPERATIONS:
                    return None
            found.append(cone)
        return found[0], found[1]

    def scalar(self, root: int, cuts: set[int]) -> Scalar:
        """The expression, with an input for each operation in `cuts`."""
        stack = [root]
        while stack:
            number = stack[-1]
            if number in self._made:
                stack.pop()
                continue
            node = UNDEFINED if number == UNDEFINED else self.graph.read(number)
            if isinstance(node, OpNode) and node.operator.kind != OpKind.LEAF and number not in cuts:
                missing = [operand for operand in node.operands if operand not in self._made]
                if missing:
                    stack.extend(missing)
                    continue
            self._enter(number, node, number in cuts)
            stack.pop()
        self._shape.append(self._numbers[root])
        return self._made[root]

    def _enter(self, number: int, node: OpNode | Constant | int, is_cut: bool) -> None:
        self._numbers[number] = len(self._numbers)
        if isinstance(node, Constant):
            self._made[number] = Scalar(node.type, bits=node.bits)
            self._shape.append(node)
            return
        assert isinstance(node, OpNode)
        operator = node.operator
        if is_cut or operator.kind == OpKind.LEAF:
            name = f"x{len(self._names)}"
            self._names[number] = name
            self._made[number] = Scalar(operator.result, name=name)
            self._shape.append(operator.result)
            if not is_cut and operator.result.code == 0:
                self.inputs[name] = (operator.extra, position_of(node))
            return
        self._made[number] = Scalar(operator.result, operator, tuple(self._made[x] for x in node.operands))
        self._shape.append((operator, *(self._numbers[x] for x in node.operands)))
