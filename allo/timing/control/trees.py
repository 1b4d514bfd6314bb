"""Control trees of a module: callees before callers, whose schedules depend on how long calls take."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mlir import ir

from ...ir.module import Module
from ...ir.walk import entry_block
from ..problem.memory import ArrayMemory
from .build import Assumed, TreeBuilder, TreeOptions
from .calls import Callee
from .span import Ends, Span
from .spans import Spans, seen
from .tree import FunctionTree

type Choice = Callable[[FunctionTree], Mapping[ir.Value, ArrayMemory]]  # other memories of arrays; empty: none
_UNKNOWN = Callee(None, None, Ends(), ())


class Trees:
    """The trees of the functions of a module, each built when it is asked for, with their spans.

    `choose` says which arrays a tool puts into other memories, unasked, when it sees a tree.
    """

    def __init__(self, module: Module, options: TreeOptions, choose: Choice | None = None) -> None:
        self.module = module
        self.options = options
        self.choose = choose
        self.builders: dict[str, TreeBuilder] = {}
        self.spans: dict[str, Spans] = {}
        self.wholes: dict[str, Span] = {}

    def span(self, name: str) -> Span:
        """The time of one call of a function; not known for external kernels and recursive ones."""
        if name not in self.wholes:
            self.built(name)
            self.wholes[name] = Span(None)  # what a recursive call is
            if name in self.spans:
                self.wholes[name] = self.spans[name].whole
        return self.wholes[name]

    def built(self, name: str) -> FunctionTree | None:
        """The tree of a function, without its own time; None for external kernels."""
        if name not in self.spans and name not in self.wholes and entry_block(self.module.function(name)) is not None:
            self.wholes[name] = Span(None)  # what a recursive call is
            self.spans[name] = Spans(self._built(name), self.callee)
            del self.wholes[name]
        return self.spans[name].tree if name in self.spans else None

    def callee(self, name: str) -> Callee:
        """What callers of a function see."""
        span = self.span(name)
        return seen(self.spans[name], span) if name in self.spans else _UNKNOWN

    def _call_cost(self, name: str) -> tuple[int, int]:
        return self.callee(name).cost(self.options.target)

    def _built(self, name: str) -> FunctionTree:
        memories: dict[ir.Value, ArrayMemory] = {}
        while True:
            builder = TreeBuilder(self.module, name, self.options, self._call_cost, memories)
            tree = builder.build()
            self.builders[name] = builder
            chosen = self.choose(tree) if self.choose is not None else {}
            if not chosen:
                return tree
            memories = {**builder.memories, **chosen}


class AssumedTrees(Trees):
    """The trees of a module if some steps are taken, by function and loop; what these do not change is shared."""

    def __init__(self, trees: Trees, assumed: Mapping[str, Mapping[ir.Operation, Assumed]]) -> None:
        super().__init__(trees.module, trees.options)
        self.trees = trees
        self.assumed = assumed

    def span(self, name: str) -> Span:
        """The time of one call of a function."""
        if name not in self.wholes:
            self.wholes[name] = span = self.trees.span(name)
            builder = self.trees.builders.get(name)
            if builder is None:
                return span
            self.spans[name] = self.trees.spans[name]
            if name in self.assumed or any(map(self._changes, span.callees)):
                changed = builder.assuming(self.assumed.get(name, {}), self._call_cost)
                found = Spans(changed, self.callee, listed=False, known=self.trees.spans[name])
                whole = found.whole
                if (whole.latency, whole.interval, whole.ends) != (span.latency, span.interval, span.ends):
                    self.wholes[name], self.spans[name] = whole, found  # else callers need no other look
        return self.wholes[name]

    def _changes(self, name: str) -> bool:
        return self.span(name) is not self.trees.span(name)
