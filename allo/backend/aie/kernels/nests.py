"""Nests of loops over whole arrays, as moves and sums: addresses of accesses as strides of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from ....ir.access import access_map, accessed, is_affine_access, is_load, is_store, stored, subscripts
from ....ir.walk import constant_bounds, induction_variable, statements
from ....layout import ArrayMove
from ....poly.formula import compile_map


@dataclass(frozen=True, slots=True)
class WholeNest:
    """Loops from 0 on, each the only statement of the one around it, and the statements of the innermost one."""

    loops: tuple[ir.Operation, ...]
    extents: tuple[int, ...]
    body: tuple[ir.Operation, ...]

    @property
    def variables(self) -> list[ir.Value]:
        """The variables of the loops, outer ones first."""
        return [induction_variable(loop) for loop in self.loops]


def nest_of(op: ir.Operation) -> WholeNest | None:
    """The loops of a statement; None if they are not such a nest."""
    loops, extents = [], []
    while op.name == "affine.for":
        bounds = constant_bounds(op)
        if bounds is None or bounds[::2] != (0, 1) or bounds[1] < 1:
            return None
        loops.append(op)
        extents.append(bounds[1])
        body = statements(op.regions[0].blocks[0])[:-1]
        if len(body) != 1 or body[0].name != "affine.for":
            return WholeNest(tuple(loops), tuple(extents), tuple(body))
        op = body[0]
    return None


def strides_of(access: ir.Operation, variables: Sequence[ir.Value]) -> tuple[int, ...] | None:
    """How far the address of an access moves with each of `variables`; None if it is no sum of these from 0 on."""
    found = address_of(access)
    if found is None or found[1] or any(value not in variables for value in found[0]):
        return None
    return tuple(found[0].get(variable, 0) for variable in variables)


def address_of(access: ir.Operation) -> tuple[dict[ir.Value, int], int] | None:
    """The address of an access in elements: the stride of each variable, and a constant; None for another formula."""
    own = access_map(access)
    if own is None or not is_affine_access(access):
        return None
    formula, operands = compile_map(own), subscripts(access)
    shape = list(ir.MemRefType(accessed(access).type).shape)
    strides: dict[ir.Value, int] = {}
    constant = 0
    for d, result in enumerate(formula.results):
        if result is None or formula.quotients:
            return None
        below = prod(shape[d + 1 :])
        constant += result.constant * below
        for number, coefficient in result.terms:
            value = operands[number - 1]
            strides[value] = strides.get(value, 0) + coefficient * below
    return strides, constant


def move_of(op: ir.Operation) -> tuple[ir.Value, ir.Value, ArrayMove] | None:
    """What a nest that only copies moves: from which array, to which one, and how; None for other statements."""
    nest = nest_of(op)
    if nest is None or len(nest.body) != 2:
        return None
    load, store = nest.body
    if not is_load(load) or not is_store(store) or stored(store) != load.results[0]:
        return None
    move = _moved(nest, load, store)
    return None if move is None else (accessed(load), accessed(store), move)


def _moved(nest: WholeNest, load: ir.Operation, store: ir.Operation) -> ArrayMove | None:
    source, target = (strides_of(op, nest.variables) for op in (load, store))
    if source is None or target is None:
        return None
    move = ArrayMove.of(nest.extents, source, target)
    whole = all(len(move) == prod(ir.MemRefType(accessed(op).type).shape) for op in (load, store))
    return move if whole and move.is_whole else None


def zeros_of(op: ir.Operation) -> ir.Value | None:
    """The array that a nest fills with zeros; None for other statements."""
    nest = nest_of(op)
    if nest is None or len(nest.body) != 1 or not is_store(nest.body[0]):
        return None
    (store,) = nest.body
    made = stored(store).owner
    if isinstance(made, ir.Block) or made.name != "arith.constant":
        return None
    value = made.operation.attributes["value"]
    is_zero = isinstance(value, ir.IntegerAttr | ir.FloatAttr) and value.value == 0
    strides = strides_of(store, nest.variables)
    if not is_zero or strides is None or prod(nest.extents) != prod(ir.MemRefType(accessed(store).type).shape):
        return None
    move = ArrayMove.of(nest.extents, strides, strides)
    return accessed(store) if move.is_whole else None


@dataclass(frozen=True, slots=True)
class ArraySum:
    """A nest that stores sums of elements of two arrays: `target[...] = terms[0][...] + terms[1][...]`."""

    target: ir.Value
    terms: tuple[ir.Value, ir.Value]
    moves: tuple[ArrayMove, ArrayMove]  # from each of both to the target


def sum_of_arrays(op: ir.Operation) -> ArraySum | None:
    """The sum of two whole arrays that a nest computes; None for other statements."""
    nest = nest_of(op)
    if nest is None or len(nest.body) != 4:
        return None
    first, second, add, store = nest.body
    if not (is_load(first) and is_load(second) and is_store(store)) or add.name not in ("arith.addi", "arith.addf"):
        return None
    if set(add.operands) != {first.results[0], second.results[0]} or stored(store) != add.results[0]:
        return None
    moves = [_moved(nest, load, store) for load in (first, second)]
    if moves[0] is None or moves[1] is None:
        return None
    return ArraySum(accessed(store), (accessed(first), accessed(second)), (moves[0], moves[1]))
