"""Files that describe arrays of processors."""

from __future__ import annotations

from .array import ArrayTiming, DmaLimits, NativeProduct, ProcessorArray, TileKind, TileLimits
from .description import Target
from .table import Table, each

_RATES = ("stream", "load", "store", "vector")
_DMA = ("inputs", "outputs", "descriptors", "locks", "dimensions", "wrap", "step", "iterations", "length")


def read_array(head: Target, root: Table) -> ProcessorArray:
    """The array of a file whose `head` has been read."""
    grid, runtime = root.table("grid"), root.table("runtime")
    tiles = each(root.table("tile"), _tile, tuple(TileKind))
    for name in tiles:
        if name not in list(TileKind):
            raise root.table("tile").error(name, f"must be one of {', '.join(TileKind)}")
    result = ProcessorArray(
        head.name, head.title, head.part, head.frequency, head.highest_frequency, head.sources, head.external,
        grid.count("columns"), grid.count("core_rows"), runtime.count("buffers"), runtime.count("queue"),
        _clocks(root.table("clocks")) if "clocks" in root.data else {},
        {TileKind(name): tile for name, tile in tiles.items()},
        each(root.table("product"), _product, ()), _timing(root.table("timing")),
    )  # fmt: skip
    for table in (grid, runtime):
        table.done()
    if not result.cores:
        raise grid.error("columns", "and 'core_rows' must be at least 1")
    return result


def _tile(_: str, table: Table) -> TileLimits:
    dma = DmaLimits(*(table.count(key) for key in _DMA))
    limits = TileLimits(table.count("memory", 0), table.count("stack", 0), table.count("program", 0), dma)
    table.done()
    return limits


def _timing(table: Table) -> ArrayTiming:
    rates = {key: table.count(key) for key in _RATES}
    for key, rate in rates.items():
        if rate == 0:
            raise table.error(key, "must be at least 1 byte a cycle")
    timing = ArrayTiming(**rates, branch=table.count("branch"), call=table.count("call"), block=table.count("block"))
    table.done()
    return timing


def _clocks(table: Table) -> dict[str, float]:
    return {mode: table.number(mode) for mode in table.data}


def _product(name: str, table: Table) -> NativeProduct:
    shapes = table.get("shapes", (list,), "a list of [m, k, n]", None)
    for shape in shapes:
        if not isinstance(shape, list) or len(shape) != 3 or not all(isinstance(n, int) and n > 0 for n in shape):
            raise table.error("shapes", f"must be a list of [m, k, n], got {shape!r} in it")
    product = NativeProduct(table.count("rate"), tuple((m, k, n) for m, k, n in shapes))
    table.done()
    return product
