"""Numbers of four bits, two in a byte, that tasks widen: the loops that do it, and the kernel in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from mlir import ir

from ....ir.access import access_map, accessed, is_load, stored
from ....ir.module import Module
from ....ir.walk import statement_of
from ....layout import ArrayMove
from ....target import ProcessorArray
from .nests import nest_of, strides_of
from .source import declare_kernel

_BODY = (
    "affine.apply", "arith.index_cast", "arith.muli", "affine.load", "arith.shrui", "arith.trunci", "arith.extsi",
    "affine.store",
)  # fmt: skip
_LEAST = 32  # numbers that fill the shortest vector


@dataclass(frozen=True, slots=True)
class NumberPairs:
    """An array of bytes with the numbers of `packed`, two in each byte of that, which `nest` makes before `user`."""

    packed: ir.Value
    nest: ir.Operation


def pairs_of(array: ir.Value, user: ir.Operation) -> NumberPairs | None:
    """What an array that only `user` reads is made of, if that are pairs in the same order; None if not."""
    if isinstance(array.owner, ir.Block):
        return None
    users = {statement_of(use.owner.operation) for use in array.uses} - {user}
    nest = nest_of(next(iter(users))) if len(users) == 1 else None
    if nest is None or tuple(op.name for op in nest.body) != _BODY:
        return None
    part, index, times, load, shifted, cut, wide, store = nest.body
    chain = [(part, index), (index, times), (load, shifted), (times, shifted), (shifted, cut), (cut, wide)]
    if any(one.results[0] not in other.operands for one, other in chain) or stored(store) != wide.results[0]:
        return None
    shape = list(ir.MemRefType(array.type).shape)
    packed = accessed(load)
    in_order = strides_of(store, nest.variables) == tuple(prod(shape[d + 1 :]) for d in range(len(shape)))
    read_only = all(is_load(use.owner.operation) for use in packed.uses)
    if nest.extents != tuple(shape) or not in_order or not read_only or accessed(store) != array:
        return None
    count = len(shape)
    own = [ir.AffineExpr.get_dim(d, load.context) for d in range(count)]
    halves = ir.AffineMap.get(count, 0, [*own[:-1], ir.AffineExpr.get_floor_div(own[-1], 2)], load.context)
    rest = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(own[0], 2)], load.context)
    variables = list(nest.variables)
    is_plain = access_map(load) == halves and list(load.operands)[1:] == variables
    is_half = ir.AffineMapAttr(part.attributes["map"]).value == rest and list(part.operands) == variables[-1:]
    return NumberPairs(packed, nest.loops[0]) if is_plain and is_half and _is_four(times) else None


def _is_four(times: ir.Operation) -> bool:
    other = times.operands[1].owner
    return not isinstance(other, ir.Block) and other.name == "arith.constant" and (
        ir.IntegerAttr(other.operation.attributes["value"]).value == 4
    )  # fmt: skip


def declare_widening(module: Module, array: ProcessorArray, kinds: Sequence[ir.Type], count: int) -> str:
    """Declare the kernel that makes bytes of `count` numbers in pairs, the number of which fills vectors."""
    lanes = next(lanes for lanes in (64, _LEAST) if count % lanes == 0)
    name = f"widen_i4_{count}"
    text = (
        f'#include "allo_kernels.h"\n\n'
        f'extern "C" void {name}(const int8_t *from, int8_t *to) {{\n'
        f"  allo_kernels::widen<{lanes}, {count}>(from, to);\n}}\n"
    )
    cycles = array.timing.call + ceil(count / array.timing.store)
    declare_kernel(module, name, text, kinds, [1], cycles, {})
    return name


def paired(move: ArrayMove) -> ArrayMove | None:
    """The move of pairs of neighbours; None if those of one side are no neighbours on the other."""
    *outer, inner = move.digits
    is_together = (inner.source, inner.target) == (1, 1) and inner.extent % 2 == 0
    if not is_together or any(digit.source % 2 or digit.target % 2 for digit in outer):
        return None
    extents = [*(digit.extent for digit in outer), inner.extent // 2]
    return ArrayMove.of(
        extents, [*(d.source // 2 for d in outer), 1], [*(d.target // 2 for d in outer), 1]
    )  # fmt: skip


def fills_vectors(count: int) -> bool:
    """Whether so many numbers are whole vectors."""
    return count % _LEAST == 0
