"""Kernel injection (Dato paper, section 5.1): products of matrices in tasks become calls of vector kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from mlir import ir

from ....ir.access import accessed, is_load, is_store, stored
from ....ir.builder import Builder
from ....ir.context import unknown_location
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.walk import entry_block, location_of, operations, statement_of, statements, string_of
from ....layout import ArrayMove
from ....target import ProcessorArray
from ..localize import bits_of
from .contract import PAIRED, ProductContract, contract_for
from .move_calls import write_move
from .nests import ArraySum, WholeNest, move_of, nest_of, strides_of, sum_of_arrays, zeros_of
from .pairs import NumberPairs, declare_widening, fills_vectors, paired, pairs_of
from .products import factors_of, sum_of
from .source import declare_kernel

_EXACT = ("arith.extsi", "arith.extf")


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """A nest of a task: the kernel that computes it, or why there is none."""

    function: str
    nest: str
    line: int | None
    kernel: str | None
    reason: str = ""

    def __str__(self) -> str:
        where = f"{self.nest} (line {self.line})" if self.line else self.nest
        return f"{self.function}: {where}: {self.kernel or f'as loops: {self.reason}'}"


def chosen(function: str, nest: ir.Operation, kernel: str | None, reason: str = "") -> KernelChoice:
    """What is told of a nest of a function."""
    place = location_of(nest)
    name = string_of(nest, "allo.nest") or "loops"
    return KernelChoice(function, name, place.line if place else None, kernel, reason)


@dataclass(frozen=True, slots=True)
class _Factors:
    """A nest that adds a product of matrices to an array; strides are of rows and columns of each."""

    nest: ir.Operation
    extents: tuple[int, int, int]  # rows, terms, columns
    arrays: tuple[ir.Value, ir.Value, ir.Value]  # factors, sums
    strides: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


@dataclass(slots=True)
class Injection:
    """One function of tasks in which kernels are put, in place."""

    module: Module
    name: str
    array: ProcessorArray
    choices: list[KernelChoice] = field(default_factory=list)

    def run(self) -> bool:
        """Put in all kernels of products; whether there is one."""
        products = [(op, self._product(op)) for op in statements(self._entry)[:-1]]
        for op, found in products:
            if isinstance(found, _Factors):
                self._inject(found)
            elif found is not None:
                self._note(op, None, found)
        if not any(choice.kernel for choice in self.choices):
            return False
        for op in statements(self._entry)[:-1]:
            copied = move_of(op)
            if copied is not None:
                write_move(self.module, Builder.before(op), *copied)
                op.erase()
        return True

    @property
    def _entry(self) -> ir.Block:
        entry = entry_block(self.module.function(self.name))
        assert entry is not None
        return entry

    def _note(self, op: ir.Operation, kernel: str | None, reason: str = "") -> None:
        self.choices.append(chosen(self.name, op, kernel, reason))

    # -- what is there -----------------------------------------------------------------------------

    def _product(self, op: ir.Operation) -> _Factors | str | None:
        """The product that a statement computes; why it cannot be a kernel; None if it is no product."""
        multiplied = [own for own in _inside(op, "arith.muli", "arith.mulf") if factors_of(own) and sum_of(own)]
        nest = nest_of(op)
        if len(multiplied) != 1 or (nest is not None and len(nest.loops) < 3):
            return None
        factors, store = factors_of(multiplied[0]), sum_of(multiplied[0])
        assert factors is not None and store is not None
        if nest is None or len(nest.loops) != 3:
            return "it is no nest of three loops over rows, columns and terms alone"
        if not _is_exact(nest, multiplied[0], factors, store):
            return "what is multiplied or summed is not what is loaded"
        found = _assigned(nest, factors, store)
        return found if found is not None else "its arrays are not matrices of which all is multiplied"

    def _last_before(self, op: ir.Operation, array: ir.Value) -> ir.Operation | None:
        """The last statement before one that uses an array."""
        users = {statement_of(use.owner.operation) for use in array.uses}
        before = statements(self._entry)
        own = [other for other in before[: before.index(op)] if other in users and other.name != "memref.alloc"]
        return own[-1] if own else None

    def _users(self, array: ir.Value) -> list[ir.Operation]:
        """The statements that use an array, in their order."""
        users = {statement_of(use.owner.operation) for use in array.uses}
        return [op for op in statements(self._entry) if op in users]

    # -- what is made ------------------------------------------------------------------------------

    def _inject(self, found: _Factors) -> None:
        """Write the kernel of a product, with moves to and from its layouts around it."""
        sums = found.arrays[2]
        zero = self._last_before(found.nest, sums)
        zero = zero if zero is not None and _fills(zero, sums) else None
        added = self._added(found, zero) if zero is not None else None
        start = None if zero is not None else sums
        if added is not None:
            _, base, _ = added
            filled = self._last_before(found.nest, base)
            only = isinstance(base.owner, ir.OpView | ir.Operation) and len(self._users(base)) == 2
            start = base
            if filled is not None and only and _fills(filled, base):
                filled.erase()
                start = None
        element, result = (str(ir.MemRefType(value.type).element_type) for value in found.arrays[1:])
        turned = found.strides[1][0] == 1 and found.strides[1][1] > 1
        pairs = [pairs_of(value, found.nest) for value in found.arrays[:2]]
        contract = self._contract(found, (element, result), start is not None, turned, pairs[1])
        if isinstance(contract, str):
            self._note(found.nest, None, contract)
            return
        self._note(found.nest, contract.name)
        self._write(found, contract, start, added, pairs)
        for op in (zero, found.nest, *((added[0],) if added is not None else ())):
            if op is not None:
                op.erase()
        for own in pairs:
            if own is not None:
                _erase_unread(own)

    def _contract(
        self, found: _Factors, kinds: tuple[str, str], starts: bool, turned: bool, pairs: NumberPairs | None
    ) -> ProductContract | str:
        """The kernel of a product, one of bytes and pairs if there are such instructions."""
        element, result = kinds
        if pairs is not None and not turned:
            mixed = contract_for(
                self.array, (element, PAIRED), result, found.extents, starts=starts, turned=False
            )  # fmt: skip
            if isinstance(mixed, ProductContract) and paired(mixed.second(found.strides[1])) is not None:
                return mixed
        return contract_for(self.array, (element, element), result, found.extents, starts=starts, turned=turned)

    def _added(
        self, found: _Factors, zero: ir.Operation
    ) -> tuple[ir.Operation, ir.Value, ArraySum] | None:  # fmt: skip
        """The nest behind a product that adds it to another array, which the kernel can start from."""
        sums = found.arrays[2]
        users = [op for op in self._users(sums) if op.name != "memref.alloc"]
        if isinstance(sums.owner, ir.Block) or len(users) != 3 or users[:2] != [zero, found.nest]:
            return None
        total = sum_of_arrays(users[2])
        if total is None or sums not in total.terms or total.terms[0] == total.terms[1]:
            return None
        base = total.terms[1] if total.terms[0] == sums else total.terms[0]
        order, effects = statements(self._entry), Effects(self.module)
        between = order[order.index(found.nest) + 1 : order.index(users[2])]
        used = {*found.arrays, base}
        if any(effects.touched(op).writes & used for op in between):
            return None
        is_plain = total.moves[0] == total.moves[1] and total.moves[0].is_identity
        same = ir.MemRefType(total.target.type).element_type == ir.MemRefType(base.type).element_type
        kind = ir.MemRefType(sums.type).element_type
        return (users[2], base, total) if is_plain and same and kind == ir.MemRefType(base.type).element_type else None

    def _write(
        self, found: _Factors, contract: ProductContract, start: ir.Value | None,
        added: tuple[ir.Operation, ir.Value, ArraySum] | None, pairs: Sequence[NumberPairs | None],
    ) -> None:  # fmt: skip
        builder = Builder.before(added[0] if added is not None else found.nest)
        moves = (contract.first(found.strides[0]), contract.second(found.strides[1]))
        packed = [
            self._factor(builder, value, move, own, stays_pairs)
            for value, move, own, stays_pairs in zip(
                found.arrays[:2], moves, pairs, (False, contract.takes_pairs), strict=True
            )
        ]
        third = contract.third(found.strides[2])
        target = found.arrays[2] if added is None else added[2].target
        if start is not None:
            packed.append(self._packed(builder, start, third, "sums"))
        made = _array_like(builder, target, "product")
        operands = [*packed, made]
        last = len(operands) - 1
        multiplied = prod(found.extents)
        declare_kernel(
            self.module, contract.name, contract.text, [value.type for value in operands], [last],
            contract.cycles(self.array), {contract.product: multiplied}, [last - 1] if start is not None else [],
        )  # fmt: skip
        callee = {"callee": ir.FlatSymbolRefAttr.get(contract.name, builder.loc.context)}
        builder.op("func.call", (), operands, callee)
        write_move(self.module, builder, made, target, third.inverse)

    def _factor(
        self, builder: Builder, value: ir.Value, move: ArrayMove, pairs: NumberPairs | None, stays_pairs: bool
    ) -> ir.Value:
        """A factor in blocks; what is in pairs is moved in pairs, and made bytes after that unless it stays so."""
        in_pairs = paired(move) if pairs is not None else None
        if pairs is None or in_pairs is None or not (stays_pairs or fills_vectors(len(move))):
            return self._packed(builder, value, move, "factor")
        packed = self._packed(builder, pairs.packed, in_pairs, "pairs")
        if stays_pairs:
            return packed
        wide = _array_like(builder, value, "factor")
        name = declare_widening(self.module, self.array, [packed.type, wide.type], len(move))
        callee = {"callee": ir.FlatSymbolRefAttr.get(name, builder.loc.context)}
        builder.op("func.call", (), [packed, wide], callee)
        return wide

    def _packed(self, builder: Builder, value: ir.Value, move: ArrayMove, name: str) -> ir.Value:
        packed = _array_like(builder, value, name)
        write_move(self.module, builder, value, packed, move)
        return packed


def _array_like(builder: Builder, value: ir.Value, name: str) -> ir.Value:
    """A flat array of as many elements."""
    kind = ir.MemRefType(value.type)
    return builder.alloc(ir.MemRefType.get([prod(kind.shape)], kind.element_type, loc=unknown_location()), name)


def _erase_unread(pairs: NumberPairs) -> None:
    """Erase loops whose bytes nobody reads."""
    array = next(accessed(op) for op in operations(pairs.nest.regions[0].blocks[0]) if is_store(op))
    if all(statement_of(use.owner.operation) == pairs.nest for use in array.uses):
        pairs.nest.erase()
        array.owner.erase()


def _fills(op: ir.Operation, array: ir.Value) -> bool:
    """Whether a statement fills an array with zeros."""
    filled = zeros_of(op)
    return filled is not None and filled == array


def _inside(op: ir.Operation, *names: str) -> list[ir.Operation]:
    return operations(op.regions[0].blocks[0], *names) if op.name == "affine.for" else []


def _is_exact(
    nest: WholeNest, product: ir.Operation, factors: Sequence[ir.Operation], store: ir.Operation
) -> bool:
    """Whether the lower bits of what is summed are those of exact products: nothing is cut before the store."""
    known = {product, store, *factors}
    for op in nest.body:
        if op in known or op.name in ("arith.addi", "arith.addf") or (is_load(op) and accessed(op) == accessed(store)):
            continue
        if not op.name.startswith(_EXACT) and not (op.name == "arith.trunci" and op.results[0] == stored(store)):
            return False
    first, second = (load.results[0].type for load in factors)
    kind = product.results[0].type
    if first != second or len(nest.body) > 12:
        return False
    if not isinstance(kind, ir.IntegerType):
        return isinstance(stored(store).type, ir.FloatType)
    return bool(first.is_signless) and kind.width >= min(2 * bits_of(first), bits_of(stored(store).type))


def _assigned(nest: WholeNest, factors: Sequence[ir.Operation], store: ir.Operation) -> _Factors | None:
    """Which loop is over rows, terms and columns."""
    accesses = (*factors, store)
    strides = [strides_of(op, nest.variables) for op in accesses]
    if any(own is None for own in strides):
        return None
    first, second, sums = ([own[k] if own else 0 for k in range(3)] for own in strides)
    rows = [k for k in range(3) if first[k] and sums[k] and not second[k]]
    columns = [k for k in range(3) if second[k] and sums[k] and not first[k]]
    terms = [k for k in range(3) if first[k] and second[k] and not sums[k]]
    if not len(rows) == len(columns) == len(terms) == 1:
        return None
    i, j, k = rows[0], columns[0], terms[0]
    pairs = ((first[i], first[k]), (second[k], second[j]), (sums[i], sums[j]))
    extents = nest.extents[i], nest.extents[k], nest.extents[j]
    shapes = ((extents[0], extents[1]), (extents[1], extents[2]), (extents[0], extents[2]))
    for access, shape, pair in zip(accesses, shapes, pairs, strict=True):
        length = prod(ir.MemRefType(accessed(access).type).shape)
        if length != prod(shape) or not ArrayMove.of(shape, pair, pair).is_whole:
            return None
    arrays = (accessed(factors[0]), accessed(factors[1]), accessed(store))
    return _Factors(nest.loops[0], extents, arrays, pairs)


