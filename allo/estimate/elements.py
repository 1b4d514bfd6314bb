"""Elements of grids by what they do: for each class of positions its function, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.branches import take_branches
from ..ir.walk import entry_block
from ..poly import position_classes
from ..poly.position_classes import Branches
from ..timing.control.calls import Callee
from ..timing.control.span import Span
from ..timing.control.trees import Choice, Trees


@dataclass(frozen=True, slots=True, eq=False)
class GridElement:
    """`count` instances of a function that does what `trees` say of it."""

    callee: str
    count: int
    trees: Trees


class GridElements:
    """What functions call: of each task, the classes of its positions, each of which is scheduled by itself."""

    def __init__(self, trees: Trees, choose: Choice) -> None:
        self.trees = trees
        self._choose = choose
        self._found: dict[str, list[GridElement]] = {}

    def inside(self, element: GridElement) -> list[GridElement]:
        """What one of them calls."""
        if element.trees is not self.trees:
            callees = element.trees.span(element.callee).callees
            return [GridElement(callee, number, self.trees) for callee, number in callees.items()]
        if element.callee not in self._found:
            self._found[element.callee] = list(self._called(element.callee))
        return self._found[element.callee]

    def _called(self, name: str) -> Iterator[GridElement]:
        for callee, number in self.trees.span(name).callees.items():
            classes = position_classes(self.trees.module, name, callee, number)
            for taken, count in (classes if classes is not None else {(): number}).items():
                does = _ClassTrees(self.trees, callee, taken, self._choose) if taken else self.trees
                yield GridElement(callee, count, does)


class _ClassTrees(Trees):
    """The trees of a module in which one function does what it does where it takes these branches."""

    def __init__(self, trees: Trees, name: str, taken: Branches, choose: Choice) -> None:
        super().__init__(trees.module.clone(), trees.options, choose)
        self.trees = trees
        self.name = name
        entry = entry_block(self.module.function(name))
        assert entry is not None
        take_branches(entry, dict(taken))

    def span(self, name: str) -> Span:
        """The time of one call of a function."""
        return super().span(name) if name == self.name else self.trees.span(name)

    def callee(self, name: str) -> Callee:
        """What callers of a function see."""
        return super().callee(name) if name == self.name else self.trees.callee(name)
