"""Cycles of a control tree, counted iteration by iteration where loops depend on the loops around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir import ir

from ...ir.access import callee_name
from ...ir.walk import LoopView, bound_operands, induction_variable
from ...poly.formula import Formula, compile_map, compile_set, evaluate, satisfies
from . import tree

type Numbers = Mapping[ir.Value, int]


class DataDecide(Exception):
    """How long something takes is not known before it runs."""


class Counter:
    """The cycles of nodes where the variables of the loops around them have these values."""

    def __init__(self, callee: Callable[[str], tree.FunctionTree | None]) -> None:
        self.callee = callee
        self.known: dict[tuple[tree.Node, tuple[int | None, ...]], int] = {}
        self.used: dict[tree.Node, tuple[ir.Value, ...]] = {}
        self.calls: dict[str, int] = {}

    def call(self, function: tree.FunctionTree) -> int:
        if function.name not in self.calls:
            self.calls[function.name] = self.of(function.root, {}) + function.control
        return self.calls[function.name]

    def of(self, node: tree.Node, numbers: Numbers) -> int:
        key = (node, tuple(numbers.get(value) for value in self._used(node)))
        if key not in self.known:
            self.known[key] = self._counted(node, numbers)
        return self.known[key]

    def _counted(self, node: tree.Node, numbers: Numbers) -> int:
        match node:
            case tree.Straight():
                return node.depth
            case tree.Sequence():
                return sum(self.of(part, numbers) for part in node.parts)
            case tree.Pipeline():
                trips = 1
                for view in node.loops:
                    trips *= len(iterations(view, numbers))
                return (trips - 1) * node.interval + node.depth + node.control if trips else node.control
            case tree.Repeat(body=tree.Straight() | tree.Sequence()):
                return self._repeated(node, numbers)
            case tree.Branch():
                return self._branch(node, numbers)
            case tree.Invocation():
                called = self.callee(callee_name(node.op))
                if called is None:
                    raise DataDecide
                return node.control + self.call(called)
            case tree.ArrayCopy(cycles=int(cycles)):
                return cycles
            case _:
                raise DataDecide

    def _repeated(self, node: tree.Repeat, numbers: Numbers) -> int:
        turns, variable = iterations(node.view, numbers), induction_variable(node.view.op)
        if variable not in self._used(node.body):
            one = node.each + self.of(node.body, numbers) if turns else 0
            return node.control + len(turns) * one
        total = node.control
        for number in turns:
            total += node.each + self.of(node.body, {**numbers, variable: number})
        return total

    def _branch(self, node: tree.Branch, numbers: Numbers) -> int:
        if node.op.name == "affine.if":
            formula, equalities = compile_set(node.op.attributes["condition"])
            taken = 0 if satisfies(_results(formula, node.op.operands, numbers), equalities) else 1
            return self.of(node.branches[taken], numbers) if taken < len(node.branches) else 0
        found = {self.of(branch, numbers) for branch in node.branches}
        found |= {0} if len(node.branches) < 2 else set()
        if len(found) > 1:
            raise DataDecide
        return found.pop()

    def _used(self, node: tree.Node) -> tuple[ir.Value, ...]:
        """The variables of loops around a node that decide how long it takes."""
        if node not in self.used:
            found: dict[ir.Value, None] = {}
            views = node.loops if isinstance(node, tree.Pipeline) else ()
            views = (node.view,) if isinstance(node, tree.Repeat) else views
            for view in views:
                if view.op.name == "affine.for":
                    found |= dict.fromkeys(v for side in bound_operands(view.op) for v in side)
            if isinstance(node, tree.Branch):
                found |= dict.fromkeys(node.op.operands)
            sources = dict.fromkeys(source for value in found for source in _sources(value))
            for part in tree.parts_of(node):
                sources |= dict.fromkeys(self._used(part))
            self.used[node] = tuple(sources)
        return self.used[node]


def _sources(value: ir.Value) -> list[ir.Value]:
    if isinstance(value.owner, ir.Block) or value.owner.name != "affine.apply":
        return [value]
    return [source for operand in value.owner.operands for source in _sources(operand)]


def iterations(view: LoopView, numbers: Numbers) -> range:
    """What the variable of a loop is, in turn. Raises DataDecide if that is not known."""
    if view.op.name != "affine.for":
        raise DataDecide
    lower, upper = (
        _results(compile_map(ir.AffineMapAttr(view.op.attributes[name]).value), operands, numbers)
        for name, operands in zip(("lowerBoundMap", "upperBoundMap"), bound_operands(view.op), strict=True)
    )
    return range(max(lower), min(upper), ir.IntegerAttr(view.op.attributes["step"]).value)


def _number(value: ir.Value, numbers: Numbers) -> int:
    """An index that is known from the variables of loops."""
    if value in numbers:
        return numbers[value]
    if isinstance(value.owner, ir.Block):
        raise DataDecide
    op = value.owner.operation
    if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
        return int(ir.IntegerAttr(op.attributes["value"]).value)
    if op.name != "affine.apply":
        raise DataDecide
    return _results(compile_map(ir.AffineMapAttr(op.attributes["map"]).value), op.operands, numbers)[0]


def _results(formula: Formula, operands: Sequence[ir.Value], numbers: Numbers) -> tuple[int, ...]:
    """The results of an affine map or set on values that are known."""
    if None in formula.results:
        raise DataDecide
    return evaluate(formula, [_number(value, numbers) for value in operands])
