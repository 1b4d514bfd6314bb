"""Contraction trees: in which order the operands of an einsum expression meet, two at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ContractionError
from .expression import EinsumExpression

type _Pairs = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class TreeStep:
    """One contraction: the numbers of its operands, and the labels of its result, which gets the next number.

    The operands of the expression have the first numbers.
    """

    operands: tuple[int, ...]
    output: str


@dataclass(frozen=True, slots=True)
class ContractionPath:
    """How operands meet: a strategy of `opt_einsum`, or the numbers of the operands of each step."""

    strategy: str = "auto"
    pairs: _Pairs = ()

    @classmethod
    def of(cls, path: Any, count: int) -> ContractionPath:
        """The path of `count` operands that a user means.

        `path` is a strategy of `opt_einsum` (`"auto"`, `"optimal"`, `"greedy"`, ...), a path as `numpy.einsum` takes
        (pairs of positions in the list of what is left), or a tree of operand numbers, `((0, 1), 2)`. Raises
        ContractionError for a path that does not use each operand once.
        """
        if isinstance(path, ContractionPath):
            return path
        if isinstance(path, str):
            return cls(_strategy(path))
        if isinstance(path, tuple):
            return cls("", _of_tree(path, count))
        if not isinstance(path, list):
            kind = type(path).__name__
            raise ContractionError(f"path is a strategy, a list of pairs or a tree of tuples, got {kind}")
        given = path[1:] if path and isinstance(path[0], str) and path[0] == "einsum_path" else path
        return cls("", _numbered(given or ([(0,)] if count == 1 else []), count))


def contraction_tree(
    expression: EinsumExpression, shapes: Sequence[Sequence[int]], path: Any = "auto"
) -> tuple[TreeStep, ...]:
    """The steps of a contraction along a path, as `ContractionPath.of` takes it. Raises ContractionError."""
    count = len(expression.inputs)
    found = ContractionPath.of(path, count)
    if not found.strategy:
        return _steps(expression, found.pairs)
    pairs = _chosen(expression, shapes, found.strategy) if count > 2 else [tuple(range(count))]
    return _steps(expression, _numbered(pairs, count))


def _strategy(name: str) -> str:
    """A strategy that `opt_einsum` knows; only what is not the default asks for it."""
    if name != "auto":
        import opt_einsum

        try:
            opt_einsum.paths.get_path_fn(name)
        except KeyError:
            hint = "try 'auto', 'optimal', 'greedy', 'dp' or 'random-greedy'"
            raise ContractionError(f"opt_einsum knows no strategy '{name}' for paths", hint=hint) from None
    return name


def _chosen(expression: EinsumExpression, shapes: Sequence[Sequence[int]], strategy: str) -> list[tuple[int, ...]]:
    import opt_einsum

    found, _ = opt_einsum.contract_path(str(expression), *map(tuple, shapes), shapes=True, optimize=strategy)
    return [tuple(pair) for pair in found]


def _is_number(value: Any, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _numbered(path: Sequence[Any], count: int) -> _Pairs:
    """Operands by their numbers instead of positions in the list of what is left."""
    left, found = list(range(count)), []
    for number, pair in enumerate(path):
        inside = isinstance(pair, list | tuple) and all(_is_number(k, len(left)) for k in pair)
        if not inside or len(set(pair)) != len(pair) or not 1 <= len(pair) <= 2:
            operands = f"the {len(left)} operands" if len(left) > 1 else "the 1 operand"
            message = f"entry {number} of the path, {pair!r}, is no pair of {operands} left"
            raise ContractionError(message, hint="contract two operands at a time")
        found.append(tuple(left[k] for k in pair))
        for k in sorted(pair, reverse=True):
            del left[k]
        left.append(count + number)
    if len(left) != 1:
        raise ContractionError(f"the path leaves {len(left)} operands that have not met")
    return tuple(found)


def _of_tree(tree: tuple[Any, ...], count: int) -> _Pairs:
    """The steps of a tree, those inside first."""
    found: list[tuple[int, ...]] = []
    used: list[int] = []

    def visit(node: Any, depth: int) -> int:
        if _is_number(node, count):
            used.append(node)
            return int(node)
        if not isinstance(node, tuple) or not 1 <= len(node) <= 2:
            hint = "a tree is as ((0, 1), 2)"
            raise ContractionError(f"{node!r} is neither the number of an operand nor a pair of trees", hint=hint)
        if depth > 2 * count:
            raise ContractionError(f"the tree is more than {2 * count} deep, and has {count} operands")
        children = tuple(visit(child, depth + 1) for child in node)
        found.append(children)
        return count + len(found) - 1

    visit(tree, 1)
    if sorted(used) != list(range(count)):
        raise ContractionError(f"the tree has the operands {sorted(used)}: it has each of 0 to {count - 1} once")
    return tuple(found)


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
