"""Tiles that are written as a whole: what programs write, against the boxes that they send to the memory."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from ...errors import Location, TargetError
from ...mapping.tiles.program import LevelForm, TileBox, TileLoop, TileProgram
from ...poly import Access


def demand_whole(program: TileProgram, loops: Sequence[TileLoop], box: TileBox, writes: Sequence[Access]) -> None:
    """Raises TargetError if writes of one segment leave out an element of their tile, in any program.

    What lies outside of the array is no part of a tile: conditions of writes may mask it.
    """
    levels = [*range(len(program.grid)), *(loop.level for loop in loops)]
    missing = _elements(program, loops, levels, box)
    for write in writes:
        missing = missing.subtract(_written(write, len(levels)))
    if missing.is_empty():
        return
    point = missing.sample().wrap().sample_point()
    values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(len(levels) + len(box.shape))]
    where = ", ".join(f"{program.names[level]} = {value}" for level, value in zip(levels, values, strict=False))
    source = writes[0].source
    raise TargetError(
        f"`{writes[0].text}` does not write its whole tile: where {where}, "
        f"{box.array.name}{values[len(levels) :]} is left out",
        at=Location(source.file, source.line, source.column) if source.line else None,
        hint="compute the whole tile in an array of the program, and assign it at once",
    )


def _written(write: Access, levels: int) -> isl.Map:
    """The elements that a write writes, by levels."""
    found = write.map.intersect_domain(write.domain)
    inner = found.dim(isl.dim_type.in_) - levels
    found = found.project_out(isl.dim_type.in_, levels, inner)
    for side in (isl.dim_type.in_, isl.dim_type.out):
        if found.has_tuple_id(side):
            found = found.reset_tuple_id(side)
    return found


def _elements(program: TileProgram, loops: Sequence[TileLoop], levels: Sequence[int], box: TileBox) -> isl.Map:
    """The elements of the array that lie in a box, by levels."""
    names = {level: f"l{level}" for level in levels}
    rows = [f"0 <= l{level} < {extent}" for level, extent in enumerate(program.grid)]
    for loop in loops:
        lower = _text(loop.lower, names)
        rows.append(f"{lower} <= l{loop.level} < {_text(loop.upper, names)}")
        rows.append(f"exists(s: l{loop.level} = {lower} + {loop.step} * s)")
    for k, (form, size, extent) in enumerate(zip(box.lower, box.shape, box.array.shape, strict=True)):
        lower = _text(form, names)
        rows.append(f"{lower} <= e{k} < {lower} + {size} and 0 <= e{k} < {extent}")
    elements = ", ".join(f"e{k}" for k in range(len(box.shape)))
    return isl.Map(f"{{ [{', '.join(names.values())}] -> [{elements}] : {' and '.join(rows)} }}")


def _text(form: LevelForm, names: dict[int, str]) -> str:
    return " + ".join([str(form.constant), *(f"{c}{names[level]}" for level, c in form.terms)])
