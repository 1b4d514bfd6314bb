"""Limit of the nesting of kernels: what walks them, here and in MLIR, needs some stack for each level."""

from __future__ import annotations

import ast

from ...errors import Diagnostic
from .source import KernelSource

MOST_OPERATORS = 5_000
MOST_BLOCKS = 1_000
_SHORT = 2_000  # characters: each adds one operator at most, and two of them one block


def too_deep(source: KernelSource) -> Diagnostic | None:
    """The first place that is inside of too many blocks, or of an expression with too many operators on one path."""
    if source.length <= _SHORT:
        return None
    waiting: list[tuple[ast.AST, int, int]] = [(source.tree, 0, 0)]
    while waiting:
        node, blocks, operators = waiting.pop()
        if blocks > MOST_BLOCKS:
            message = f"blocks are nested more than {MOST_BLOCKS} deep (each `elif` is one level)"
            return _at(source, node, message, "move some of them to a kernel of their own and call it")
        if operators > MOST_OPERATORS:
            message = f"the expression nests more than {MOST_OPERATORS} operators"
            return _at(source, node, message, "assign a part of it to a variable first")
        if isinstance(node, ast.expr):
            operators += _levels(node)
        inner = [(child, operators) for child in ast.iter_child_nodes(node)]
        blocks += isinstance(node, ast.stmt)
        waiting += [(child, blocks, 0 if isinstance(child, ast.stmt) else count) for child, count in reversed(inner)]
    return None


def _levels(node: ast.expr) -> int:
    """A choice takes a block of MLIR for each way, and `a and b and c` is one in another."""
    if isinstance(node, ast.BoolOp):
        return 2 * len(node.values)
    return 2 if isinstance(node, ast.IfExp) else 1


def _at(source: KernelSource, node: ast.AST, message: str, hint: str) -> Diagnostic:
    return Diagnostic(message, source.location(source.position(node)), hint)
