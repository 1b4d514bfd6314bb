"""One function for processing elements that do the same: their FIFOs, registers and banks are its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mlir import ir

from ..customize.bind import mark_argument
from ..ir.access import ACCESSES, accessed, gets_side, puts_side
from ..ir.branches import take_branches
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.names import unique_name
from ..ir.passes import run_passes
from ..ir.registers import bank_type, part_of
from ..ir.streams import is_stream_type
from ..ir.walk import operations
from ..poly.formula import compile_map, evaluate
from ..poly.position_classes import Position
from .outlining import signature_attributes
from .positions import Place, Plan, map_of

COMPOSED = "func.func(allo-leave-affine,allo-compose-affine)"


class _Passed(NamedTuple):
    """What a call passes: a value that the body takes, or the FIFO, register or bank of it that is used as number
    `part`."""

    number: int
    part: int | None = None


class ElementClass:
    """The function, made of `body` for one of the elements.

    `name` is that of the function. The first arguments of the body are the position, which goes; of the others, called
    `labels`, those that `plan` has parted are arrays of FIFOs, registers and banks of which only some are used, at
    places that are known. A bank is a memory as `memories` say, by the number of its array.
    """

    def __init__(
        self, body: ir.Operation, position: Position, plan: Plan, labels: Sequence[str], symbol: str,
        memories: Mapping[int, ir.Attribute],
    ) -> None:  # fmt: skip
        self._made = body.clone(ir.InsertionPoint(body))
        self.name = symbol
        self._made.attributes["sym_name"] = string_attr(symbol)
        self._block = self._made.regions[0].blocks[0]
        self._passed: list[_Passed] = []
        take_branches(self._block, plan.branches(position))
        self._fix(position)
        self._dimensions = plan.parted
        self._take(labels, memories)

    def uses(self, places: Mapping[int, Sequence[Place]]) -> list[tuple[int, Place | None]]:
        """What a call passes for an element that uses the FIFOs, registers and banks at `places`: numbers of values,
        and the place if it is a part of one."""
        return [(of, None if part is None else places[of][part]) for of, part in self._passed]

    def call(
        self,
        builder: Builder,
        values: Mapping[int, ir.Value],
        places: Mapping[int, Sequence[Place]],
        marks: Mapping[str, ir.Attribute],
        known: dict[tuple[int, Place], ir.Value],
    ) -> None:
        """The call for an element that uses the FIFOs, registers and banks at `places` of the arrays among `values`.

        Those that earlier elements use too are `known`.
        """
        operands = []
        for of, place in self.uses(places):
            if place is None:
                operands.append(values[of])
                continue
            if (of, place) not in known:
                known[of, place] = part_of(builder, values[of], place, self._dimensions[of])
            operands.append(known[of, place])
        callee = ir.FlatSymbolRefAttr.get(self.name, context())
        builder.op("func.call", (), operands, {"callee": callee, **marks})

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

    def _take(self, labels: Sequence[str], memories: Mapping[int, ir.Attribute]) -> None:
        """Let the function take what it uses, by itself."""
        taken: set[str] = set()
        names: list[str] = []
        parts = self._parts(len(labels))
        for number, label in enumerate(labels):
            argument = self._block.arguments[0]
            if number in self._dimensions:
                for part, users in enumerate(parts[number].values()):
                    names.append(unique_name(label + _direction(users), taken))
                    self._passed.append(_Passed(number, part))
                    self._replace(users, self._dimensions[number])
            elif any(True for _ in argument.uses):
                names.append(unique_name(label, taken))
                self._passed.append(_Passed(number))
                argument.replace_all_uses_with(self._block.add_argument(argument.type, self._made.location))
            self._block.erase_argument(0)
        set_signature(self._made, names)
        for place, passed in enumerate(self._passed):
            if passed.part is not None and passed.number in memories:
                mark_argument(self._made, place, "allo.memory", memories[passed.number])

    def _parts(self, count: int) -> dict[int, dict[Place, list[ir.Operation]]]:
        """The accesses to each part of the arrays that are parted, in the order of the text."""
        dimensions = self._dimensions
        numbers = {
            argument: k for argument, k in zip(self._block.arguments, range(count), strict=True) if k in dimensions
        }
        found: dict[int, dict[Place, list[ir.Operation]]] = {k: {} for k in numbers.values()}
        for op in operations(self._block, *ACCESSES):
            if (number := numbers.get(accessed(op))) is not None:
                place = evaluate(compile_map(map_of(op, dimensions[number])), ())
                found[number].setdefault(place, []).append(op)
        return found

    def _replace(self, users: list[ir.Operation], dimensions: tuple[int, ...]) -> None:
        """Let accesses to one FIFO, register or bank use a new argument."""
        array = accessed(users[0])
        kind = ir.MemRefType(array.type)
        if is_stream_type(kind):
            argument = self._block.add_argument(kind.element_type, self._made.location)
            for op in users:
                op.results[0].replace_all_uses_with(argument)
                op.erase()
            return
        argument = self._block.add_argument(bank_type(kind, dimensions), self._made.location)
        for op in users:
            op.operands[list(op.operands).index(array)] = argument
            rest = [k for k in range(kind.rank) if k not in dimensions]
            op.attributes["map"] = ir.AffineMapAttr.get(map_of(op, rest))


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
