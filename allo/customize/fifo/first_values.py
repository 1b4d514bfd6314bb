"""Initial contents of an array that need not be transferred: overwritten by the next stage, or one constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.access import is_affine_load, stored
from ...ir.walk import operations
from ...poly import Access, Transfer, only_first_values, overwritten
from ..array.constants import made_again, makers
from .stages import Stage

_PURE = (
    *("affine.for", "affine.yield", "affine.apply", "affine.if"),
    *("arith.", "allo.sign_cast", "allo.fixed_constant"),
)


def drop_first_values(stages: list[Stage]) -> list[Stage]:
    """Drop the nests that give the array first values which the next stage overwrites.

    If the next stage reads them before, they must be one constant, which takes the place of what it reads.
    """
    while len(stages) > 1 and stages[0].writes and not stages[0].reads:
        first, second = stages[0], stages[1]
        if not second.writes or first.callee is not None or not _only_stores(first):
            break
        if not overwritten(_transfers(first, first.writes), _transfers(second, second.writes)):
            break
        if second.reads and not _insert_constant(first, second):
            break
        first.op.erase()
        stages = [replace(second, reads=()), *stages[2:]]
    return stages


def _transfers(stage: Stage, accesses: Sequence[Access]) -> list[Transfer]:
    return [Transfer(access, stage.fixed, len(access.loops), stage.model.function) for access in accesses]


def _only_stores(stage: Stage) -> bool:
    """Whether a nest does nothing but store to the array."""
    stores = [access.op for access in stage.writes]
    blocks = [block for region in stage.op.regions for block in region.blocks]
    return bool(blocks) and all(
        op in stores or is_affine_load(op) or op.name.startswith(_PURE)
        for block in blocks
        for op in operations(block)
    )


def _insert_constant(first: Stage, second: Stage) -> bool:
    """Put the constant that `first` writes in the place of what `second` reads of it; False if that is not all."""
    made = [makers(stored(access.op)) for access in first.writes]
    chains = [[(op.name, str(op.attributes)) for op in chain] for chain in made]
    if not made[0] or any(chain != chains[0] for chain in chains):
        return False
    writes, reads = _transfers(second, second.writes), _transfers(second, second.reads)
    if not only_first_values(_transfers(first, first.writes), writes, reads):
        return False
    for access in second.reads:
        access.op.results[0].replace_all_uses_with(made_again(made[0], access.op))
        access.op.erase()
    return True
