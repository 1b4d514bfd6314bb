"""Random expressions on integers of few bits, and their values for all inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from allo.verify.concrete.engine import Constant, ExpressionGraph
from allo.verify.concrete.execute import leaf_of
from allo.verify.concrete.expression import ArgumentShapes, text
from allo.verify.concrete.operators import (
    OpKind,
    ScalarType,
    comparison,
    extension,
    integer_operator,
    select_of,
)
from allo.verify.concrete.scalars import Scalar

from .evaluate import Evaluator, Undefined

_BINARY = (
    *("addi", "addi", "subi", "muli", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
    *("divui", "remui", "floordivsi", "divsi", "remsi", "ceildivsi", "minsi", "maxui", "maxsi", "minui"),
)


class RandomExpressions:
    """Expressions over inputs of given widths."""

    def __init__(self, seed: int, leaves: Sequence[int]) -> None:
        self.graph = ExpressionGraph(1_000_000)
        self.random = np.random.default_rng(seed)
        self.leaves = leaves
        inputs = product(*(range(1 << width) for width in leaves))
        self.evaluators = [Evaluator(self.graph, [[value] for value in values]) for values in inputs]

    def integer(self, depth: int, width: int) -> int:
        """An expression of `width` bits."""
        pick = self.random.integers(0, 12)
        if depth == 0 or pick == 0:
            return self._small(width)
        if pick <= 2:
            return self._resized(depth, width)
        if pick == 3:
            sides = [self.integer(depth - 1, width) for _ in range(2)]
            return self.graph.node(select_of(ScalarType(0, width)), self.integer(depth - 1, 1), *sides)
        if pick == 4 and width == 1:
            inner = int(self.random.integers(1, 5))
            sides = [self.integer(depth - 1, inner) for _ in range(2)]
            return self.graph.node(comparison(int(self.random.integers(0, 10)), inner), *sides)
        name = str(self.random.choice(_BINARY))
        left = self.integer(depth - 1, width)
        constant = name.startswith(("sh", "div", "rem", "floor")) and self.random.integers(0, 3)
        right = self._constant(width) if constant else self.integer(depth - 1, width)
        return self.graph.node(integer_operator(f"arith.{name}", width), left, right)

    def _small(self, width: int) -> int:
        if self.random.integers(0, 3) == 0:
            return self._constant(width)
        number = int(self.random.integers(0, len(self.leaves)))
        leaf = self.graph.node(leaf_of(number, ScalarType(0, self.leaves[number])), 0, 0)
        return self._to(leaf, self.leaves[number], width)

    def _constant(self, width: int) -> int:
        return self.graph.constant(ScalarType(0, width), int(self.random.integers(0, 1 << width)))

    def _resized(self, depth: int, width: int) -> int:
        source = int(self.random.integers(1, 7))
        return self._to(self.integer(depth - 1, source), source, width)

    def _to(self, value: int, source: int, width: int) -> int:
        if source == width:
            return value
        signed = bool(self.random.integers(0, 2))
        return self.graph.node(extension(ScalarType(0, source), ScalarType(0, width), signed), value)

    def width(self, root: int) -> int:
        node = self.graph.read(root)
        return node.type.width if isinstance(node, Constant) else node.operator.result.width

    def values(self, root: int) -> list[int | None]:
        """For all inputs the value, None where it is not defined."""
        found: list[int | None] = []
        for evaluator in self.evaluators:
            try:
                found.append(evaluator.value(root))
            except Undefined:
                found.append(None)
        return found

    def scalar(self, root: int) -> Scalar:
        """The expression as the solver takes it; inputs are `x0`, `x1`, ..."""
        node = self.graph.read(root)
        if isinstance(node, Constant):
            return Scalar(node.type, bits=node.bits)
        if node.operator.kind == OpKind.LEAF:
            return Scalar(node.operator.result, name=f"x{node.operator.extra}")
        operands = tuple(self.scalar(x) for x in node.operands)
        return Scalar(node.operator.result, node.operator, operands)

    def told(self, root: int) -> str:
        names = tuple(f"x{k}" for k in range(len(self.leaves)))
        return text(self.graph, root, ArgumentShapes(names, tuple(() for _ in names)), 20)
