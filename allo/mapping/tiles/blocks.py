"""Blocks that are tried: values of template parameters, and whether they cut all arrays evenly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from ...errors import TargetError
from .program import TileProgram


def instances(fixed: object, blocks: object, *, settled: bool) -> list[dict[str, Any]]:
    """The values of template parameters that are tried; `settled`: the program has its values already.

    Raises TargetError for what says none.
    """
    if settled and (fixed or blocks):
        raise TargetError("a schedule has its values already", hint="give them to `allo.customize`, or map the kernel")
    if not isinstance(fixed or {}, Mapping):
        raise TargetError(f"instantiate must give values by name, got {fixed!r}", hint='write `{"BM": 64}`')
    if not isinstance(blocks or {}, Mapping):
        raise TargetError(f"blocks must list values by name, got {blocks!r}", hint='write `{"BM": [32, 64]}`')
    known = dict(fixed) if isinstance(fixed, Mapping) else {}
    tried = dict(blocks) if isinstance(blocks, Mapping) else {}
    for name, values in tried.items():
        if name in known:
            raise TargetError(f"'{name}' is in instantiate and in blocks", hint="leave it out of one of them")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            hint = f'write `{{"{name}": [32, 64]}}`'
            raise TargetError(f"blocks['{name}'] must list values, got {values!r}", hint=hint)
    return [known | dict(zip(tried, chosen, strict=True)) for chosen in product(*tried.values())]


def demand_covered(program: TileProgram) -> None:
    """Raises TargetError if blocks leave a part of an array out, which a mask would have to take in."""
    for segment, loops in program.segments:
        for box in segment.stores:
            written = prod(program.grid) * prod(loop.mean for loop in loops) * box.bytes
            if written < box.array.bytes:
                raise TargetError(f"blocks do not divide '{box.array.name}': a part of it is not written")
    for segment, loops in program.segments:
        for box in (*segment.loads, *segment.stores):
            if (left := program.left_out(box, loops)) is not None:
                raise TargetError(f"blocks do not divide '{box.array.name}': {left} elements of a dimension are left")
