"""Tokens of a stream that pass in whole blocks: which place of its block a token has, by the loops around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl
from mlir import ir

from ..ir.access import puts_side
from ..ir.walk import constant_bounds
from .model import Access, Model, ModelLoop


@dataclass(frozen=True, slots=True)
class Cut:
    """Why the tokens that an access moves do not come in whole blocks; `at` is what cuts them."""

    reason: str
    at: ir.Operation


def whole_blocks(model: Model, access: Access, size: int) -> tuple[ModelLoop, ...] | Cut:
    """The innermost loops in each run of which a put or get moves whole blocks of `size` tokens of its stream.

    The number of an iteration of them, modulo `size`, is then the place of its token in a block, if all that this side
    does to the stream is in such loops: it has moved whole blocks whenever one begins.
    """
    chain: list[ModelLoop] = []
    trips: list[int] = []
    for loop in reversed(access.loops[len(access.buffer.scope) :]):
        bounds = constant_bounds(loop.op) if loop.op.name == "affine.for" else None
        if bounds is None:
            return Cut(f"loop '{loop.name}' has no constant bounds", loop.op)
        chain.insert(0, loop)
        trips.insert(0, -(-(bounds[1] - bounds[0]) // bounds[2]))
        if prod(trips) % size == 0:
            break
    else:
        count = "in no loop" if not chain else f"in loops of {prod(trips):,} iterations, no multiple of {size}"
        return Cut(f"it is {count}", access.op)
    mine = puts_side(access.op)
    for other in model.inside(chain[0]):
        if other.buffer == access.buffer and other.op != access.op and puts_side(other.op) == mine:
            return Cut(f"another {'put' if mine else 'get'} is in loop '{chain[0].name}'", other.op)
    branch = _branch(access, chain)
    if branch is None:
        return tuple(chain)
    if not access.exact_domain:
        return Cut("it is in a branch that data decide", branch)
    domain = access.domain.reset_tuple_id()
    if domain.apply(_same_block(access, chain, trips, size)).is_subset(domain):
        return tuple(chain)
    return Cut(f"a branch leaves out parts of blocks of {size}", branch)


def _branch(access: Access, chain: Sequence[ModelLoop]) -> ir.Operation | None:
    """The innermost operation around an access that is none of the loops, up to the outermost one."""
    inside = {loop.op for loop in chain}
    op = access.op
    while op != chain[0].op:
        assert op.parent is not None
        op = op.parent.operation
        if op not in inside:
            return op
    return None


def _same_block(access: Access, chain: Sequence[ModelLoop], trips: Sequence[int], size: int) -> isl.Map:
    """Each iteration with those of the same block, in the same iteration of the loops outside of `chain`."""
    outer = [f"o{k}" for k in range(len(access.loops) - len(chain))]
    rows = ["0 <= a < " + str(size), "0 <= b < " + str(size)]
    for side in "cd":
        number = " + ".join(f"{prod(trips[k + 1 :])} * {side}{k}n" for k in range(len(chain)))
        rows.append(f"{number} = {size} * block + {'a' if side == 'c' else 'b'}")
        for k, loop in enumerate(chain):
            bounds = constant_bounds(loop.op)
            assert bounds is not None
            rows.append(f"{side}{k} = {bounds[0]} + {bounds[2]} * {side}{k}n and 0 <= {side}{k}n < {trips[k]}")
    numbers = [f"{side}{k}n" for side in "cd" for k in range(len(chain))]
    before, after = (", ".join([*outer, *(f"{side}{k}" for k in range(len(chain)))]) for side in "cd")
    inside = f"exists a, b, block, {', '.join(numbers)} : {' and '.join(rows)}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [{before}] -> [{after}] : {inside} }}")
