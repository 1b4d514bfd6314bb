"""Demands of collectives, operations and assignments on the layouts of their arrays; parts of what is whole."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ....ir.types import index
from ....layout import Layout, Shard, ShardedArray
from ...read.source import Position
from ...typing.convert import constant
from ...typing.nodes import Binary, Const, Expr, Symbol, Var
from ...typing.view import Slice, View, select, whole
from .layouts import KnownLayouts


class LayoutChecker(KnownLayouts):
    """Refuses arrays that do not lie as what they are used for needs, with the places that say how they lie."""

    def axes(self, node: ast.Call, name: str, x: ast.expr, op: str, dim: int) -> tuple[int, ...] | None:
        """The axes of the grid that a collective means which names none; None after an error."""
        array, text = self.of(x), ast.unparse(x)
        if self.is_refused(x):
            return None
        if array is None and len(self.scope.grid) == 1:
            return (0,)
        if array is None:
            hint = "say along which axis of the grid: `axis=0`"
            self.scope.error(node, f"{name}() needs 'axis': how `{text}` lies over the grid is not known", hint)
            return None
        if name == "all_gather":
            placement = array.layout.placements[dim]
            if isinstance(placement, Shard):
                return (placement.axis,)
            message = f"{name}() joins dimension {dim} of `{text}`, of which each position has all"
            self.report(node, message, "say along which axis all the same: `axis=0`")
            return None
        found = array.axes_of(op)
        if not found and self.refuse_own(array):
            return None
        if len(found) == 1 or (found and name == "allreduce"):
            return found
        waits = " and ".join(f"'{p.operator}' along axis {p.axis}" for p in sorted(array.pending)) or "nothing"
        message = f"{name}() combines `{text}` by '{op}', but that waits for {waits}"
        hint = f"write `op=\"{min(array.pending).operator}\"`" if array.pending else "for all copies: `axis=0`"
        if len(found) > 1:
            hint = "say along which axis of the grid: `axis=0`"
        self.report(node, message, hint)
        return None

    def agrees(self, node: ast.Call, name: str, x: ast.expr, op: str, dim: int, axes: tuple[int, ...]) -> bool:
        """Whether a collective along these axes is one for what is known about its value."""
        array, text = self.of(x), ast.unparse(x)
        if array is None:
            return not self.is_refused(x)
        waits = tuple(sorted({pending.axis for pending in array.pending}))
        listed = " and ".join(f"'{p.operator}' along axis {p.axis}" for p in sorted(array.pending))
        if name == "all_gather":
            placement = array.layout.placements[dim]
            if not isinstance(placement, Shard) or placement.axis == axes[0]:
                return True
            cut = f"dimension {dim} of `{text}` is cut along axis {placement.axis}"
            message = f"{name}() along axis {axes[0]}, but {cut}"
        elif not waits or (array.axes_of(op) and set(axes) <= set(array.axes_of(op))):
            return True
        else:
            along = ", ".join(map(str, axes))
            message = f"{name}() combines `{text}` by '{op}' along axis {along}, but that waits for {listed}"
        self.report(node, message, "leave out 'axis', or give the one of the layout")
        return False

    # -- what is moved ----------------------------------------------------------------------------------------------

    def joined(
        self, node: ast.expr, nodes: Sequence[ast.expr], values: Sequence[Expr | Symbol | View]
    ) -> list[Expr | Symbol | View]:
        """Operands of an operation on elements: of those that are whole where another one is cut, the same part."""
        result = self.of(node)
        if result is None:
            return list(values)
        found: list[Expr | Symbol | View] = []
        for place, value in zip(nodes, values, strict=True):
            array = self.of(place)
            rank = 0 if array is None else len(array.shape)
            part = None if array is None else Layout(result.layout.placements[len(result.shape) - rank :])
            found.append(value if array is None or part is None else self._part(value, array, part, node))
        return found

    def stored(self, node: ast.AST, target: Symbol, place: ast.expr, value: Expr | Symbol | View) -> Any:
        """What is assigned to all of `target`, as it lies there; None after an error."""
        wanted, array = self.declared.get(target), self.of(place)
        if isinstance(value, Expr) or wanted is None or array is None or wanted.shape != array.shape:
            return value
        text = f"`{ast.unparse(place)}`"
        if self.refuse_own(array, wanted.layout.shard_axes(self.scope.grid)):
            return None
        if array.waits:
            waits = " and ".join(f"'{p.operator}' along axis {p.axis}" for p in sorted(array.waits))
            hint = f"combine it first: `allo.allreduce({ast.unparse(place)}, op=\"{min(array.waits).operator}\")`"
            message = f"'{target.name}' gets {text}, of which positions have parts, to be combined by {waits}"
            self.report(place, message, hint, ast.Name(target.name, ast.Load()))
            return None
        for dimension, (have, want) in enumerate(zip(array.layout.placements, wanted.layout.placements, strict=True)):
            if isinstance(have, Shard) and have != want and array.is_cut(dimension):
                how = f"cut along axis {want.axis}" if isinstance(want, Shard) else "whole"
                message = (
                    f"dimension {dimension} of {text} is cut along axis {have.axis} of the grid, but that of "
                    f"'{target.name}' is {how}"
                )
                hint = "give both the same layout"
                if not isinstance(want, Shard):
                    hint = f"gather it first: `allo.all_gather({ast.unparse(place)}, dim={dimension})`"
                self.report(place, message, hint, ast.Name(target.name, ast.Load()))
                return None
        return self._part(value, array, wanted.layout, node)

    def _part(
        self, value: Expr | Symbol | View, array: ShardedArray, wanted: Layout, node: ast.AST
    ) -> Expr | Symbol | View:
        """What a position has of a value that is whole in dimensions which `wanted` cuts."""
        at = self.scope.source.position(node)
        if isinstance(value, Expr) or array.layout == wanted:
            return value
        shape = wanted.local_shape(array.shape, self.scope.grid)
        placements = zip(array.layout.placements, wanted.placements, shape, strict=True)
        starts = [self._start(want, extent, at) if want != have else None for have, want, extent in placements]
        if all(start is None for start in starts):
            return value
        view = whole(value, at) if isinstance(value, Symbol) else value
        selectors = [
            Slice(constant(0, at) if start is None else start, 1, extent)
            for start, extent in zip(starts, shape, strict=True)
        ]
        return select(view, selectors, at)

    def _start(self, placement: Any, extent: int, at: Position) -> Expr | None:
        if not isinstance(placement, Shard):
            return None
        place = Var(index, at, self.scope.positions[placement.axis])
        return Binary(index, at, "*", place, Const(index, at, extent))
