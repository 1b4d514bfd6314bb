"""Contraction trees: in which order the operands of an einsum expression meet, two at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ContractionError
from .expression import EinsumExpression


@dataclass(frozen=True, slots=True)
class TreeStep:
    """One contraction: the numbers of its operands, and the labels of its result, which gets the next number.

    The operands of the expression have the first numbers.
    """

    operands: tuple[int, ...]
    output: str


def contraction_tree(
    expression: EinsumExpression, shapes: Sequence[Sequence[int]], sizes: Mapping[str, int], path: Any = "auto"
) -> tuple[TreeStep, ...]:
    """The steps of a contraction.

    `path` is a strategy of `opt_einsum` (`"auto"`, `"optimal"`, `"greedy"`, ...), a path as `numpy.einsum` takes
    (pairs of positions in the list of what is left), or a tree of operand numbers, `((0, 1), 2)`. Raises
    ContractionError for a path that does not use each operand once.
    """
    count = len(expression.inputs)
    if isinstance(path, str):
        pairs = _chosen(expression, shapes, path) if count > 2 else [tuple(range(count))]
        return _steps(expression, _numbered(pairs, count))
    if isinstance(path, tuple):
        return _steps(expression, _of_tree(path, count))
    if not isinstance(path, Sequence):
        raise ContractionError(f"path is a strategy, a list of pairs or a tree of tuples, got {type(path).__name__}")
    given = list(path[1:] if path and path[0] == "einsum_path" else path)
    return _steps(expression, _numbered(given, count))


def _chosen(expression: EinsumExpression, shapes: Sequence[Sequence[int]], strategy: str) -> list[tuple[int, ...]]:
    import opt_einsum

    try:
        opt_einsum.paths.get_path_fn(strategy)
    except KeyError:
        hint = "try 'auto', 'optimal', 'greedy', 'dp' or 'random-greedy'"
        raise ContractionError(f"opt_einsum knows no strategy '{strategy}' for paths", hint=hint) from None
    found, _ = opt_einsum.contract_path(str(expression), *map(tuple, shapes), shapes=True, optimize=strategy)
    return [tuple(pair) for pair in found]


def _numbered(path: Sequence[Any], count: int) -> list[tuple[int, ...]]:
    """Operands by their numbers instead of positions in the list of what is left."""
    left, found = list(range(count)), []
    for number, pair in enumerate(path):
        inside = isinstance(pair, Sequence) and all(isinstance(k, int) and 0 <= k < len(left) for k in pair)
        if not inside or len(set(pair)) != len(pair) or not 1 <= len(pair) <= 2:
            message = f"entry {number} of the path, {pair!r}, is no pair of the {len(left)} operands left"
            raise ContractionError(message, hint="contract two operands at a time")
        found.append(tuple(left[k] for k in pair))
        for k in sorted(pair, reverse=True):
            del left[k]
        left.append(count + number)
    if len(left) != 1:
        raise ContractionError(f"the path leaves {len(left)} operands that have not met")
    return found


def _of_tree(tree: tuple[Any, ...], count: int) -> list[tuple[int, ...]]:
    """The steps of a tree, those inside first."""
    found: list[tuple[int, ...]] = []
    used: list[int] = []

    def visit(node: Any) -> int:
        if isinstance(node, int) and not isinstance(node, bool) and 0 <= node < count:
            used.append(node)
            return node
        if not isinstance(node, tuple) or not 1 <= len(node) <= 2:
            hint = "a tree is as ((0, 1), 2)"
            raise ContractionError(f"{node!r} is neither the number of an operand nor a pair of trees", hint=hint)
        children = tuple(visit(child) for child in node)
        found.append(children)
        return count + len(found) - 1

    visit(tree)
    if sorted(used) != list(range(count)):
        raise ContractionError(f"the tree has the operands {sorted(used)}: it has each of 0 to {count - 1} once")
    return found


def _steps(expression: EinsumExpression, pairs: Sequence[tuple[int, ...]]) -> tuple[TreeStep, ...]:
    """Each result keeps the labels that the final one or another operand has; the last one has the order asked for."""
    labels: dict[int, str] = dict(enumerate(expression.inputs))
    steps: list[TreeStep] = []
    count = len(expression.inputs)
    for number, pair in enumerate(pairs):
        own = "".join(dict.fromkeys("".join(labels.pop(k) for k in pair)))
        if number == len(pairs) - 1:
            output = expression.output
        else:
            needed = set(expression.output).union(*labels.values())
            output = "".join(label for label in own if label in needed)
        labels[count + number] = output
        steps.append(TreeStep(pair, output))
    return tuple(steps)
