"""Unfolded loop nests as hardware: one function for all processing elements that do the same, a call for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from mlir import ir

from ..customize.function.positions import split_positions
from ..errors import TargetError
from ..ir.access import callee_name
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.elements import ElementNest, calls_with_any, element_nests, only_call
from ..ir.inlining import replace_call
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.passes import run_passes
from ..ir.processes import DATAFLOW
from ..ir.walk import (
    LoopView,
    argument_names,
    constant_bounds,
    entry_block,
    operations,
    statements,
    string_of,
)
from ..timing.rewrites.inline_calls import is_straight_code
from .element_calls import ElementMarks, ElementUse, NestCalls
from .element_class import COMPOSED, ElementClass, set_signature
from .outlining import captured, signature_attributes
from .positions import Plan

type BankMemory = Callable[[ir.Value], ir.Attribute | None]


def instantiate(module: Module, bank_memory: BankMemory | None = None) -> Module:
    """A copy of `module` in which each nest with `allo.spatial` loops is a call for each element.

    Elements whose bodies are the same but for the FIFOs and registers that they use share a function, which takes
    these, not arrays of them: tools synthesise it once. What else depends on the position, a row of a memory say,
    stays a constant, in a function of its own: as an argument it would be a multiplexer in each element. Banks are
    passed as registers are, of arrays for which `bank_memory` gives what a bank is bound to. A function is called after
    the first of its elements, `PE_0_1` in nest `PE`; if the nest is nothing but one call of `f`, `f_0_1`. The bodies of
    functions that take the position are parts of those of elements.
    """
    return _instantiated(module, bank_memory, None)


@dataclass(frozen=True, slots=True)
class FoldedNests:
    """A module in which the first element of each class of `nests` is called, which rewrites take for all of them."""

    module: Module
    nests: Sequence[NestCalls]

    def unfold(self, rewritten: Module) -> None:
        """Write the calls of all other elements into what the module has become."""
        for nest in self.nests:
            nest.unfold(rewritten)


def folded(module: Module, bank_memory: BankMemory | None = None) -> FoldedNests:
    """As `instantiate`, but that of nests whose calls are never inlined or copied only the first elements are called.

    These are nests outside of loops, some of whose elements are no straight code, in functions that no element calls.
    """
    nests: list[NestCalls] = []
    return FoldedNests(_instantiated(module, bank_memory, nests), nests)


def _instantiated(module: Module, bank_memory: BankMemory | None, folded: list[NestCalls] | None) -> Module:
    """The copy; nests whose calls are left out are added to `folded`, if it is given."""
    result = module.clone()
    inside = _called_by_elements(result)
    for function in list(result.functions()):
        for nest in element_nests(function):
            is_part = function.name.value in inside
            _Elements(result, function, _checked(nest), bank_memory).replace(None if is_part else folded)
    names = _name_positions(result)
    if folded is not None and names:
        folded[:] = [nest.renamed(names) for nest in folded]
    return result


def _called_by_elements(module: Module) -> set[str]:
    """The functions that elements of nests call: their bodies may become parts of those."""
    found: set[str] = set()
    waiting = [nest.outermost.body for function in module.functions() for nest in element_nests(function)]
    while waiting:
        for name in map(callee_name, operations(waiting.pop(), "func.call")):
            if name not in found:
                found.add(name)
                entry = entry_block(module.function(name))
                waiting += [entry] if entry is not None else []
    return found


def _name_positions(module: Module) -> dict[str, str]:
    """Let functions of some positions of a task, such as `gemm[0, :]`, have names that hardware languages have; these
    by the names before."""
    names = set(module.names())
    renamed: dict[str, str] = {}
    for name in sorted(name for name in names if split_positions(name) is not None):
        plain = unique_name("_".join(re.findall(r"\w+", name.replace(":", "to"))), names)
        names.add(plain)
        renamed[name] = plain
        for function in module.functions():
            if function.name.value == name:
                function.operation.attributes["sym_name"] = string_attr(plain)
            entry = entry_block(function)
            for call in operations(entry, "func.call") if entry is not None else ():
                if callee_name(call) == name:
                    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(plain, context())
    return renamed


def _checked(nest: ElementNest) -> ElementNest:
    obstacle = nest.obstacle()
    if obstacle is not None:
        raise TargetError(
            f"nest '{nest.outermost.nest}' has no processing elements: {obstacle.reason}",
            at=obstacle.at,
            hint="unfold loops with constant bounds and with nothing between them",
        )
    return nest


class _Elements:
    """One nest that becomes calls."""

    def __init__(self, module: Module, function: ir.OpView, nest: ElementNest, bank_memory: BankMemory | None) -> None:
        self.module = module
        self.bank_memory = bank_memory
        self.function = function
        self.nest = nest
        self.call = only_call(nest)
        self.passed: list[ir.Value] = []  # what the body of an element uses
        self.inlined: list[str] = []

    def replace(self, folded: list[NestCalls] | None) -> None:
        """Put the calls of the elements in the place of the nest, of those which are `folded` the first ones only."""
        nest = self.nest.outermost
        name = nest.nest if self.call is None else callee_name(self.call)
        body = self._body()
        elements, classes = self._elements(body, name)
        is_top = nest.op.parent is not None and nest.op.parent.operation.name == "func.func"
        calls = NestCalls(
            self.function.name.value, elements, classes, ElementMarks.of(nest.op, nest.nest),
            [value.type for value in self.passed],
        )  # fmt: skip
        builder = Builder.before(nest.op)
        if folded is not None and is_top and not all(is_straight_code(self.module, c.name) for c in set(classes)):
            calls.fold(builder, self.passed)
            folded.append(calls)
        else:
            calls.write(builder, self.passed)
        body.erase()
        nest.op.erase()
        self._erase_inlined()

    def _elements(self, body: ir.Operation, name: str) -> tuple[list[ElementUse], list[ElementClass]]:
        """All elements, called `name` and their places, and the class of each."""
        nest, taken = self.nest, set(self.module.names())
        labels = self._labels()
        of = self.bank_memory
        memories = {} if of is None else {
            number: memory for number, value in enumerate(self.passed) if (memory := of(value)) is not None
        }  # fmt: skip
        ranges = [_range(view, extent) for view, extent in zip(nest.spatial, nest.extents, strict=True)]
        plan = Plan(body, ranges, memories)
        made: dict[object, ElementClass] = {}
        values = [
            [_value(view, k) for k in range(extent)] for view, extent in zip(nest.spatial, nest.extents, strict=True)
        ]
        elements, classes = [], []
        for place, position in zip(product(*map(range, nest.extents)), product(*values), strict=True):
            own_name = "_".join([name, *map(str, place)])
            like, parts = plan.at(position)
            if like not in made:
                made[like] = ElementClass(body, position, plan, labels, unique_name(own_name, taken), memories)
            elements.append(ElementUse(own_name, position, parts))
            classes.append(made[like])
        return elements, classes

    def _labels(self) -> list[str]:
        """The names of what the body uses."""
        entry = entry_block(self.function)
        assert entry is not None
        names = dict(zip(entry.arguments, argument_names(self.function), strict=True))
        found = []
        for value in self.passed:
            is_argument = isinstance(value.owner, ir.Block)
            found.append(names.get(value) if is_argument else string_of(value.owner.operation, "allo.name"))
        return [name or "arg" for name in found]

    def _body(self) -> ir.Operation:
        """A function of what an element does: its arguments are the position, and the values that it uses."""
        builder = Builder(ir.InsertionPoint(self.function.operation), self.nest.outermost.op.location)
        symbol = {"sym_name": string_attr(f"an element of {self.nest.outermost.nest}")}
        made = builder.op("func.func", (), (), {**symbol, **signature_attributes([], [])}, 1)
        positions = [index_type() for _ in self.nest.spatial]
        block = made.regions[0].blocks.append(*positions, arg_locs=[made.location for _ in positions])
        found = _without_loops(self.nest, list(block.arguments))
        self.passed = [value for value in captured(found) if value.owner != block]
        builder.point = ir.InsertionPoint(block)
        end = builder.op("func.return")
        for op in found:
            op.move_before(end)
        mapping = {value: block.add_argument(value.type, made.location) for value in self.passed}
        for op in operations(block):
            for number, operand in enumerate(op.operands):
                if operand in mapping:
                    op.operands[number] = mapping[operand]
        set_signature(made, [])
        run_passes(COMPOSED, made)
        while self._inline(made):
            run_passes(COMPOSED, made)
        return made

    # -- functions that take the position ----------------------------------------------------------

    def _inline(self, body: ir.Operation) -> bool:
        """Put the functions that take the position in the place of their calls; whether there were any."""
        block = body.regions[0].blocks[0]
        calls = calls_with_any(block, list(block.arguments)[: len(self.nest.spatial)])
        chosen = [call for call in calls if self._may_inline(callee_name(call))]
        self.inlined += dict.fromkeys(map(callee_name, chosen))
        for call in chosen:
            callee = self.module.function(callee_name(call))
            if DATAFLOW in callee.operation.attributes:
                body.attributes[DATAFLOW] = callee.operation.attributes[DATAFLOW]
            replace_call(call, callee.operation.clone(ir.InsertionPoint(callee.operation)))
        return bool(chosen)

    def _may_inline(self, name: str) -> bool:
        """Whether nothing is lost: a region within an element stays one, and so do arrays bound to a memory."""
        function = self.module.function(name)
        attributes = function.operation.attributes
        is_bound = "arg_attrs" in attributes and "allo.memory" in str(attributes["arg_attrs"])
        is_inner_region = DATAFLOW in attributes and (self.call is None or callee_name(self.call) != name)
        return name not in self.inlined and entry_block(function) is not None and not is_bound and not is_inner_region

    def _erase_inlined(self) -> None:
        """Erase functions that nothing calls any more."""
        entries = [entry for function in self.module.functions() if (entry := entry_block(function)) is not None]
        called = {callee_name(call) for entry in entries for call in operations(entry, "func.call")}
        for name in self.inlined:
            if name not in called and name != self.module.top:
                self.module.function(name).operation.erase()


def _value(view: LoopView, number: int) -> int:
    bounds = constant_bounds(view.op)
    assert bounds is not None
    return bounds[0] + number * bounds[2]


def _range(view: LoopView, extent: int) -> tuple[int, int]:
    """The least and the greatest value of the variable of a spatial loop."""
    first, last = _value(view, 0), _value(view, max(extent, 1) - 1)
    return min(first, last), max(first, last)


def _without_loops(nest: ElementNest, position: list[ir.Value]) -> list[ir.Operation]:
    """A copy of the nest without its spatial loops, whose variables are `position`; it stands in front of the nest."""
    copy = nest.outermost.op.clone(ir.InsertionPoint(nest.outermost.op))
    loops = [copy, *operations(copy.regions[0].blocks[0])]
    found = [copy]
    for loop, value in zip([op for op in loops if "allo.spatial" in op.attributes], position, strict=True):
        body = loop.regions[0].blocks[0]
        body.arguments[0].replace_all_uses_with(value)
        inner = statements(body)[:-1]
        for op in inner:
            op.move_before(loop)
        if loop in found:
            at = found.index(loop)
            found[at : at + 1] = inner
        loop.erase()
    return found
