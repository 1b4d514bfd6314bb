"""Bodies of tasks for arguments and streams in the form in which they are moved, and peeks that are gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import TargetError
from ...ir.access import access_map, is_end, is_get, is_load, is_peek, is_store, stored, subscripts
from ...ir.builder import Builder, index_type, string_attr
from ...ir.context import context, unknown_location
from ...ir.inlining import leave_affine
from ...ir.module import Module
from ...ir.streams import is_stream
from ...ir.walk import argument_names, entry_block, induction_variable, location_of, operations, statements
from ...poly import model_of
from ..element_class import set_signature
from .carried import Carried, CarriedForm, moved_element
from .reached import box_of


def carry_body(module: Module, name: str, carried: Mapping[int, Carried]) -> None:
    """Let a function take what is moved, in place: `carried` has its arguments that are moved in another form.

    Raises TargetError where a function of C++ takes one of them.
    """
    function = module.function(name)
    entry = entry_block(function)
    assert entry is not None
    names = argument_names(function)
    for number, argument in enumerate(entry.arguments):
        if is_stream(argument.type):
            _let_peeks_be_gets(argument)
            _carry_stream(argument)
        elif number in carried:
            _Argument(module, name, argument, carried[number], names[number]).rewrite()
    _widen_nibbles(entry)
    set_signature(function.operation, names)
    leave_affine(function.operation)


def _as_kind(at: Builder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """A value as one of a type of the same width."""
    return value if value.type == kind else at.value("allo.sign_cast", kind, [value])


def _signless(kind: ir.Type) -> ir.Type:
    return ir.IntegerType.get_signless(kind.width, context()) if isinstance(kind, ir.IntegerType) else kind


def _narrowed(at: Builder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """What is moved as the element that it stands for."""
    plain = _signless(kind)
    return _as_kind(at, value if value.type == plain else at.value("arith.trunci", plain, [value]), kind)


def _widened(at: Builder, value: ir.Value, kind: ir.Type) -> ir.Value:
    """An element as what is moved."""
    plain = _as_kind(at, value, _signless(value.type))
    if plain.type == kind:
        return plain
    is_signed = value.type.is_signless and value.type.width > 1
    return at.value("arith.extsi" if is_signed else "arith.extui", kind, [plain])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an element is: subscripts, the map of an affine access, and by how much it is shifted in a byte."""

    indices: list[ir.Value]
    where: ir.AffineMap | None
    shift: ir.Value | None

    def load(self, at: Builder, array: ir.Value) -> ir.Value:
        if self.where is None:
            return at.load(array, self.indices)
        return at.affine_load(array, self.where, self.indices)

    def store(self, at: Builder, value: ir.Value, array: ir.Value) -> None:
        if self.where is None:
            at.store(value, array, self.indices)
        else:
            at.affine_store(value, array, self.where, self.indices)


class _Argument:
    """An argument of a body whose accesses are rewritten."""

    def __init__(self, module: Module, function: str, value: ir.Value, carried: Carried, name: str) -> None:
        self.module, self.function, self.value, self.carried, self.name = module, function, value, carried, name
        self.element = carried.was.element_type if isinstance(carried.was, ir.MemRefType) else carried.was

    def rewrite(self) -> None:
        if not isinstance(self.carried.was, ir.MemRefType):
            self._rewrite_number()
            return
        users = [use.owner.operation for use in self.value.uses]
        for op in users:
            if op.name == "memref.copy":
                _as_loops(op)
        users = [use.owner.operation for use in self.value.uses]
        other = next((op for op in users if not (is_load(op) or is_store(op))), None)
        if other is not None:
            raise TargetError(
                f"argument '{self.name}' is moved in another form, as {self.carried.memref}, and '{other.name}' "
                "uses it as a whole",
                at=location_of(other),
                hint="copy it to an array of the task, and pass that on",
            )
        fills = self.carried.is_flat and all(is_store(op) for op in users) and self._last_is_written()
        self.value.set_type(self.carried.memref)
        for op in users:
            self._access(op)
        if fills and self.carried.form is CarriedForm.SAME:
            self._fill()

    def _last_is_written(self) -> bool:
        box = box_of(model_of(self.module, self.function), self.value)
        return all(a + b == extent for a, b, extent in zip(box.low, box.extents, self.carried.extents, strict=True))

    def _fill(self) -> None:
        """Write what fills the last word up, so that it need not come in."""
        at = Builder(ir.InsertionPoint.at_block_begin(self.value.owner), self.value.location)
        kind = self.carried.kind
        zero = at.constant(kind, 0)
        for place in range(prod(self.carried.extents), self.carried.shape[0]):
            at.affine_store(zero, self.value, ir.AffineMap.get_constant(place, context()), [])

    def _rewrite_number(self) -> None:
        """A number is loaded where the body begins."""
        entry = self.value.owner
        at = Builder(ir.InsertionPoint.at_block_begin(entry), self.value.location)
        users = [(use.owner, use.operand_number) for use in self.value.uses]
        self.value.set_type(self.carried.memref)
        where = ir.AffineMap.get_constant(0, context())
        bits = ir.IntegerType.get_signless(self.element.width, context())
        number = _narrowed(at, at.affine_load(self.value, where, []), bits)
        if isinstance(self.element, ir.IntegerType):
            number = _as_kind(at, number, self.element)
        else:
            number = at.value("arith.bitcast", self.element, [number])
        for name, kind in self.carried.casts:
            number = at.value(name, kind, [number])
        for owner, operand in users:
            owner.operands[operand] = number

    def _access(self, op: ir.Operation) -> None:
        at = Builder.before(op)
        carried, place = self.carried, self._affine(at, op) if access_map(op) is not None else self._dynamic(at, op)
        if is_load(op):
            moved = place.load(at, self.value)
            if place.shift is not None:
                moved = at.value("arith.shrui", carried.kind, [moved, place.shift])
            op.results[0].replace_all_uses_with(_narrowed(at, moved, self.element))
        else:
            value = _widened(at, stored(op), carried.kind)
            if place.shift is not None:
                value = _beside(at, value, place.load(at, self.value), place.shift)
            place.store(at, value, self.value)
        op.erase()

    def _affine(self, at: Builder, op: ir.Operation) -> _Place:
        own = access_map(op)
        assert own is not None
        where, part = self.carried.place(own)
        if self.carried.form is not CarriedForm.NIBBLES:
            return _Place(subscripts(op), where, None)
        second = at.value("affine.apply", index_type(), subscripts(op), {"map": ir.AffineMapAttr.get(part)})
        return _Place(subscripts(op), where, self._shift(at, second))

    def _dynamic(self, at: Builder, op: ir.Operation) -> _Place:
        indices = subscripts(op)
        if self.carried.is_flat:
            row = at.constant(index_type(), 0)
            for index, extent in zip(indices, self.carried.extents, strict=True):
                before = at.value("arith.muli", index_type(), [row, at.constant(index_type(), extent)])
                row = at.value("arith.addi", index_type(), [before, index])
            indices = [row]
        if self.carried.form is not CarriedForm.NIBBLES:
            return _Place(indices, None, None)
        one = at.constant(index_type(), 1)
        second = at.value("arith.andi", index_type(), [indices[-1], one])
        indices[-1] = at.value("arith.shrui", index_type(), [indices[-1], one])
        return _Place(indices, None, self._shift(at, second))

    def _shift(self, at: Builder, second: ir.Value) -> ir.Value:
        byte = self.carried.kind
        return at.value("arith.muli", byte, [at.value("arith.index_cast", byte, [second]), at.constant(byte, 4)])


def _beside(at: Builder, value: ir.Value, before: ir.Value, shift: ir.Value) -> ir.Value:
    """A byte with four bits of a value in their place, and the others as they were."""
    byte = value.type
    own = at.value("arith.andi", byte, [value, at.constant(byte, 15)])
    mask = at.value("arith.shli", byte, [at.constant(byte, 15), shift])
    others = at.value("arith.andi", byte, [before, at.value("arith.xori", byte, [mask, at.constant(byte, -1)])])
    return at.value("arith.ori", byte, [others, at.value("arith.shli", byte, [own, shift])])


# -- streams and arrays of a task ----------------------------------------------------------------------


def _let_peeks_be_gets(stream: ir.Value) -> None:
    """A peek in front of a get takes the element, and the get is what it took; so do gets in both branches behind it.

    Its room in the FIFO is free earlier, which no task can tell but by the time.
    """
    ends = [use.owner.operation for use in stream.uses]
    for block in {op.block for op in ends if is_peek(op)}:
        seen: list[ir.Operation] = []  # peeks of the element that is next
        for op in statements(block):
            gets = _gets_at(op, ends)
            if op in ends and is_peek(op):
                seen.append(op)
            elif gets and seen:
                got = Builder.before(seen[0]).get(stream)
                for own in (*seen, *gets):
                    own.results[0].replace_all_uses_with(got)
                    own.erase()
            if gets or _inside(op, ends):
                seen = []


def _inside(op: ir.Operation, ends: list[ir.Operation]) -> list[ir.Operation]:
    """The ends of a stream in the regions of an operation."""
    return [own for region in op.regions for block in region.blocks for own in operations(block) if own in ends]


def _gets_at(op: ir.Operation, ends: list[ir.Operation]) -> list[ir.Operation]:
    """The gets of the one element that a statement takes, whatever branch it runs; none if it is not known."""
    if op in ends and is_get(op):
        return [op]
    own = _inside(op, ends)
    is_branch = op.name in ("scf.if", "affine.if") and len(own) == 2 and all(map(is_get, own))
    blocks = [block for region in op.regions for block in region.blocks]
    return own if is_branch and [get.block for get in own] == blocks else []


def _carry_stream(stream: ir.Value) -> None:
    """Let a stream have elements that are moved."""
    kind = allo_d.StreamType(stream.type)
    moved = moved_element(kind.element_type)
    if moved == kind.element_type:
        return
    ends = [use.owner.operation for use in stream.uses if is_end(use.owner.operation)]
    stream.set_type(allo_d.StreamType.get(moved, kind.depth))
    for op in ends:
        at = Builder.before(op)
        if is_get(op):
            op.results[0].replace_all_uses_with(_narrowed(at, at.get(stream), kind.element_type))
        else:
            at.put(stream, _widened(at, stored(op), moved))
        op.erase()


def _as_loops(copy: ir.Operation) -> None:
    """A copy of an array, element by element."""
    at, operands = Builder.before(copy), list(copy.operands)
    shape = ir.MemRefType(operands[0].type).shape
    variables = []
    for number, extent in enumerate(shape):
        bounds = [(ir.AffineMap.get_constant(bound, context()), ()) for bound in (0, extent)]
        marks = {"allo.name": string_attr(f"c{number}")} | ({} if number else {"allo.nest": string_attr("copy")})
        loop = at.affine_for(bounds[0], bounds[1], 1, marks)
        variables.append(induction_variable(loop))
        at = Builder(ir.InsertionPoint(statements(loop.regions[0].blocks[0])[-1]), copy.location)
    same = ir.AffineMap.get_identity(len(shape), context())
    at.affine_store(at.affine_load(operands[0], same, variables), operands[1], same, variables)
    copy.erase()


def _widen_nibbles(entry: ir.Block) -> None:
    """Let arrays of a task with elements of four bits have bytes with their values: kernels multiply these."""
    for op in operations(entry, "memref.alloc"):
        kind = ir.MemRefType(op.results[0].type)
        own = kind.element_type
        if not isinstance(own, ir.IntegerType) or own.width != 4 or not own.is_signless or not kind.rank:
            continue
        users = [use.owner.operation for use in op.results[0].uses]
        if not all(is_load(user) or is_store(user) for user in users):
            continue
        byte = ir.IntegerType.get_signless(8, context())
        op.results[0].set_type(ir.MemRefType.get(kind.shape, byte, loc=unknown_location()))
        for user in users:
            if is_load(user):
                _load_byte(user, byte)
            else:
                user.operands[0] = _widened(Builder.before(user), stored(user), byte)


def _load_byte(load: ir.Operation, byte: ir.Type) -> None:
    """A load that gives a byte: what widens it further widens the byte."""
    users = [use.owner.operation for use in load.results[0].uses]
    load.results[0].set_type(byte)
    for user in users:
        if user.name == "arith.extsi":
            result = user.results[0]
            if result.type == byte:
                result.replace_all_uses_with(load.results[0])
                user.erase()
        else:
            narrow = Builder.before(user).value(
                "arith.trunci", ir.IntegerType.get_signless(4, context()), [load.results[0]]
            )
            for number, operand in enumerate(user.operands):
                if operand == load.results[0]:
                    user.operands[number] = narrow
