"""Elements of grids by what they do: for each class of positions the branches that it takes, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mlir import ir

from ..ir.module import Module
from ..ir.walk import operations
from ..poly import position_classes
from ..timing.control.span import Span
from ..timing.control.spans import Spans
from ..timing.control.trees import Trees


@dataclass(frozen=True, slots=True, eq=False)
class GridElement:
    """`count` instances of a function, in which some conditions are `decided`."""

    callee: str
    count: int
    decided: Mapping[ir.Operation, bool] = field(default_factory=dict)

    def inside(self, module: Module, trees: Trees) -> Iterator[GridElement]:
        """What one of them calls."""
        if not self.decided:
            yield from called(module, trees, self.callee)
            return
        for callee, number in self.span(trees).callees.items():
            yield GridElement(callee, number)

    def span(self, trees: Trees) -> Span:
        """That of the function, with the branches that are taken."""
        if not self.decided:
            return trees.span(self.callee)
        tree = trees.spans[self.callee].tree
        return Spans(tree, trees.callee, listed=False, decided=self.decided).whole

    def omits(self, op: ir.Operation) -> bool:
        """Whether an operation of the function is in a branch that is not taken."""
        for condition, holds in self.decided.items():
            blocks = [block for region in condition.regions for block in region.blocks]
            if any(_is_within(op, block) for block in (blocks[1:] if holds else blocks[:1])):
                return True
        return False


def called(module: Module, trees: Trees, name: str) -> Iterator[GridElement]:
    """What a function calls: of each task, the classes of its positions."""
    for callee, number in trees.span(name).callees.items():
        conditions = _on_positions(trees, callee)
        classes = position_classes(module, name, callee, conditions, number)
        if classes is None:
            yield GridElement(callee, number)
            continue
        for holds, count in classes.items():
            yield GridElement(callee, count, dict(zip(conditions, holds, strict=True)))


def _on_positions(trees: Trees, name: str) -> list[ir.Operation]:
    """The conditions of a function that depend on nothing but its scalar arguments."""
    if name not in trees.spans:
        return []
    entry = trees.spans[name].tree.entry
    return [op for op in operations(entry, "affine.if") if all(value.owner == entry for value in op.operands)]


def _is_within(op: ir.Operation, block: ir.Block) -> bool:
    """Whether a block holds an operation, at any depth."""
    inner: ir.Block | None = op.block
    while inner is not None and inner != block:
        owner = inner.owner.operation
        inner = None if owner.name == "func.func" else owner.block
    return inner is not None
