"""Hardware of the functions of a module: what an instance of each takes, with its callees and without."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.walk import operations
from ..timing.control.trees import Trees
from .elements import GridElement, GridElements
from .function import FunctionReport
from .report.result import Resources
from .report.rows import Rows
from .resources import array_name, own_resources
from .subscripts import address_products


class Hardware:
    """What functions take, each found once; `reports` have the rows of those that were reported on."""

    def __init__(self, trees: Trees, elements: GridElements, reports: Mapping[str, FunctionReport]) -> None:
        self.trees = trees
        self.elements = elements
        self.target = trees.options.target
        self._reports = reports
        self._found: dict[str, Resources] = {}

    def of(self, name: str) -> Resources:
        """What one instance of a function takes, with its callees."""
        if name not in self._found:
            self._found[name] = self.whole(GridElement(name, 1, self.trees))
        return self._found[name]

    def whole(self, element: GridElement) -> Resources:
        """What an element takes, with its callees."""
        found = self.own(element)
        for inner in self.elements.inside(element):
            found += self.called(inner)
        return found

    def called(self, element: GridElement) -> Resources:
        """What all instances of an element take that a function calls."""
        one = self.of(element.callee) if element.trees is self.trees else self.whole(element)
        return one.times(element.count)

    def own(self, element: GridElement) -> Resources:
        """What an element takes without its callees."""
        name, trees = element.callee, element.trees
        span = trees.span(name)
        if name not in trees.spans:
            return Resources()
        builder = trees.builders[name]
        for op in operations(builder.entry):
            if op.name in ("memref.alloc", "memref.get_global"):
                builder.memory_of(op.results[0], array_name(op))
        loops = sum(row.state != "spatial" for row in self.rows(element).made.values())
        is_own = self.target.rules.own_hardware is not None
        products = address_products(trees.spans[name].tree) if is_own else 0
        return own_resources(span, builder.function, builder.memories, self.target, loops, products)

    def rows(self, element: GridElement) -> Rows:
        """The rows of its loops."""
        name, trees = element.callee, element.trees
        return self._reports[name].rows if trees is self.trees and name in self._reports else Rows(trees.spans[name])
