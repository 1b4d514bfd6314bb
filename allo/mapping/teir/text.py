"""TECs as text, which can be parsed again."""

from __future__ import annotations

from ...errors import ContractionError
from .values import DataType, DimType, ExecType, PrimFirst, PrimLast, PrimMain, Tec, TecDimension, word

_COLUMNS = ("dimension", "type", "exec", "size", "in0", "in1", "out")


def tec_text(tec: Tec) -> str:
    """A line of properties, then a table with a line a dimension, the outermost loop first."""
    prims = f"prim_first={tec.prim_first} prim_main={tec.prim_main} prim_last={tec.prim_last}"
    rows: list[tuple[str, ...]] = [_COLUMNS]
    rows += [(d.name, d.type, d.execution, str(d.size), *map(str, d.strides)) for d in tec.dimensions]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_COLUMNS))]
    lines = [f"tec data_type={tec.data_type} {prims}"]
    for row in rows:
        cells = [c.ljust(w) if k < 3 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def parse_tec(text: str) -> Tec:
    """The TEC that `tec_text` has written. Raises ContractionError with the line that cannot be read."""
    if not isinstance(text, str):
        raise ContractionError(f"a TEC is parsed from text, got {type(text).__name__}")
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines or lines[0][1][0] != "tec":
        raise ContractionError("the text of a TEC begins with 'tec'", hint="print one to see the form")
    given: dict[str, str] = {}
    for part in lines[0][1][1:]:
        name, _, value = part.partition("=")
        if name not in ("data_type", "prim_first", "prim_main", "prim_last") or not value:
            raise ContractionError(f"line {lines[0][0]}: '{part}' is no property of a TEC")
        if name in given:
            raise ContractionError(f"line {lines[0][0]}: '{name}' is given twice")
        given[name] = value
    if "data_type" not in given:
        raise ContractionError(f"line {lines[0][0]}: there is no data_type")
    dimensions = []
    for number, cells in lines[1:]:
        if tuple(cells) == _COLUMNS:
            continue
        dimensions.append(_dimension(number, cells))
    return Tec(
        tuple(dimensions),
        word(DataType, "data_type", given["data_type"]),
        word(PrimFirst, "prim_first", given.get("prim_first", "zero")),
        word(PrimMain, "prim_main", given.get("prim_main", "none")),
        word(PrimLast, "prim_last", given.get("prim_last", "none")),
    )


def _dimension(number: int, cells: list[str]) -> TecDimension:
    if len(cells) != len(_COLUMNS):
        message = f"line {number}: a dimension has the {len(_COLUMNS)} entries {', '.join(_COLUMNS)}; got {len(cells)}"
        raise ContractionError(message)
    name, kind, execution, *numbers = cells
    for column, text in zip(_COLUMNS[3:], numbers, strict=True):
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise ContractionError(f"line {number}: {column} is a number, got '{text}'")
    size, *strides = map(int, numbers)
    try:
        types = word(DimType, "type", kind), word(ExecType, "exec", execution)
    except ContractionError as error:
        raise ContractionError(f"line {number}: {error.diagnostics[0].message}") from None
    return TecDimension(name, *types, size, (strides[0], strides[1], strides[2]))
