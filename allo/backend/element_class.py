"""One function for processing elements that do the same: their FIFOs and registers are its arguments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.access import ACCESSES, access_map, accessed, gets_side, puts_side
from ..ir.branches import take_branches
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.names import unique_name
from ..ir.passes import run_passes
from ..ir.registers import part_of, register_type
from ..ir.streams import is_stream_type
from ..ir.walk import operations
from ..poly.formula import compile_map, evaluate
from ..poly.position_classes import Position
from .outlining import signature_attributes
from .positions import Place, Plan

COMPOSED = "func.func(allo-leave-affine,allo-compose-affine)"


@dataclass(frozen=True, slots=True)
class _Passed:
    """What a call passes: a value that the body takes, or the FIFO or register of it that is used as number `part`."""

    number: int
    part: int | None = None


class ElementClass:
    """The function, made of `body` for one of the elements.

    The first arguments of the body are the position, which goes; of the others, called `labels`, those that `plan` has
    parted are arrays of FIFOs and registers of which only some are used, at places that are known.
    """

    def __init__(self, body: ir.Operation, position: Position, plan: Plan, labels: Sequence[str], symbol: str) -> None:
        self._made = body.clone(ir.InsertionPoint(body))
        self._made.attributes["sym_name"] = string_attr(symbol)
        self._block = self._made.regions[0].blocks[0]
        self._callee = ir.FlatSymbolRefAttr.get(symbol, context())
        self._passed: list[_Passed] = []
        take_branches(self._block, plan.branches(position))
        self._fix(position)
        self._take(plan.parted, labels)

    def call(
        self,
        builder: Builder,
        values: Sequence[ir.Value],
        places: dict[int, list[Place]],
        marks: dict[str, ir.Attribute],
    ) -> None:
        """The call for an element that uses the FIFOs and registers at `places` of the arrays among `values`."""
        operands = [
            values[p.number] if p.part is None else part_of(builder, values[p.number], places[p.number][p.part])
            for p in self._passed
        ]
        builder.op("func.call", (), operands, {"callee": self._callee, **marks})

    def _fix(self, position: Position) -> None:
        """Let the position be known, with all that it decides."""
        start = Builder(ir.InsertionPoint.at_block_begin(self._block), self._made.location)
        for value in position:
            self._block.arguments[0].replace_all_uses_with(start.constant(index_type(), value))
            self._block.erase_argument(0)
        set_signature(self._made, [])
        run_passes(COMPOSED, self._made)
        for op in operations(self._block, "arith.constant"):
            if not any(True for _ in op.results[0].uses):
                op.erase()

    def _take(self, parted: Collection[int], labels: Sequence[str]) -> None:
        """Let the function take what it uses, by itself."""
        taken: set[str] = set()
        names: list[str] = []
        parts = self._parts(len(labels), parted)
        for number, label in enumerate(labels):
            argument = self._block.arguments[0]
            if number in parted:
                for part, users in enumerate(parts[number].values()):
                    names.append(unique_name(label + _direction(users), taken))
                    self._passed.append(_Passed(number, part))
                    self._replace(users)
            elif any(True for _ in argument.uses):
                names.append(unique_name(label, taken))
                self._passed.append(_Passed(number))
                argument.replace_all_uses_with(self._block.add_argument(argument.type, self._made.location))
            self._block.erase_argument(0)
        set_signature(self._made, names)

    def _parts(self, count: int, parted: Collection[int]) -> dict[int, dict[Place, list[ir.Operation]]]:
        """The accesses to each FIFO and register of arrays in `parted`, in the order of the text."""
        numbers = {argument: k for argument, k in zip(self._block.arguments, range(count), strict=True) if k in parted}
        found: dict[int, dict[Place, list[ir.Operation]]] = {k: {} for k in numbers.values()}
        for op in operations(self._block, *ACCESSES):
            if (number := numbers.get(accessed(op))) is not None:
                affine_map = access_map(op)
                assert affine_map is not None
                found[number].setdefault(evaluate(compile_map(affine_map), ()), []).append(op)
        return found

    def _replace(self, users: list[ir.Operation]) -> None:
        """Let accesses to one FIFO or register use a new argument."""
        array = accessed(users[0])
        element = ir.MemRefType(array.type).element_type
        if is_stream_type(element):
            argument = self._block.add_argument(element, self._made.location)
            for op in users:
                op.results[0].replace_all_uses_with(argument)
                op.erase()
            return
        argument = self._block.add_argument(register_type(element), self._made.location)
        for op in users:
            op.operands[list(op.operands).index(array)] = argument
            op.attributes["map"] = ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, [], context()))


def set_signature(function: ir.Operation, names: list[str]) -> None:
    """Let the type of a function be that of its block, and its arguments have these names."""
    kinds = [argument.type for argument in function.regions[0].blocks[0].arguments]
    for name, attribute in signature_attributes(kinds, names).items():
        function.attributes[name] = attribute


def _direction(users: list[ir.Operation]) -> str:
    """The end of the name of a FIFO that is only put into or only got from."""
    streams = [op.results[0] for op in users if len(op.results) and is_stream_type(op.results[0].type)]
    ends = [use.owner.operation for stream in streams for use in stream.uses]
    if ends and all(map(gets_side, ends)):
        return "_in"
    return "_out" if ends and all(map(puts_side, ends)) else ""
