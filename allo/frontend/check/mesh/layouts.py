"""Layouts of the arrays that a task computes with, by the typing rules of Dato (Fig. 6)."""

from __future__ import annotations

import ast

from ...typing.scope import Scope


class LayoutChecker:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def axes(self, node: ast.Call, name: str, x: ast.expr, op: str, dim: int) -> tuple[int, ...] | None:
        return (0,)

    def agrees(self, node: ast.Call, name: str, x: ast.expr, op: str, dim: int, axes: tuple[int, ...]) -> bool:
        return True
