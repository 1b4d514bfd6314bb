"""Files that describe arrays of processors."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from .array import ArrayTiming, DmaLimits, NativeProduct, ProcessorArray, TileKind, TileLimits
from .array_switch import Cascade, StreamSwitch, SwitchPorts, TileSide
from .description import Target
from .table import Table, each

_RATES = ("stream", "load", "store", "vector")
_CYCLES = ("hop", "branch", "call", "block")
_DMA = ("inputs", "outputs", "descriptors", "locks", "dimensions", "wrap", "step", "iterations", "length")
_PORTS = ("north", "east", "south", "west", "core", "fifo", "trace")
_OWN = "own"


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
        _cascade(root.table("cascade")) if "cascade" in root.data else None,
    )  # fmt: skip
    _check_ports(root.table("tile"), result.tiles)
    for table in (grid, runtime):
        table.done()
    if not result.cores:
        raise grid.error("columns", "and 'core_rows' must be at least 1")
    return result


def _tile(_: str, table: Table) -> TileLimits:
    dma = DmaLimits(*(table.count(key) for key in _DMA))
    memory, banks = table.count("memory", 0), table.count("banks", 0)
    if bool(memory) != bool(banks) or (banks and memory % banks):
        raise table.error("banks", f"must divide the {memory} bytes of 'memory', got {banks}")
    addresses = _memories(table.table("memories"), memory) if "memories" in table.data else {}
    limits = TileLimits(
        memory, banks, table.count("stack", 0), table.count("program", 0), dma, _switch(table.table("switch")),
        addresses.get(_OWN), {TileSide(key): own for key, own in addresses.items() if key != _OWN},
        table.count("far", 0),
    )  # fmt: skip
    if limits.far > min(dma.inputs, dma.outputs):
        raise table.error("far", f"must be at most the DMA channels in one sense, got {limits.far}")
    table.done()
    return limits


def _memories(table: Table, size: int) -> Mapping[str, int]:
    """The addresses of the memories that a core sees, its own among them."""
    found = {key: table.count(key) for key in dict.fromkeys((_OWN, *table.data))}
    for key in found:
        if key != _OWN:
            _side(table, key, key)
    for (low, one), (high, other) in pairwise(sorted((address, key) for key, address in found.items())):
        if low + size > high:
            raise table.error(other, f"is {high:#x}, and the {size} bytes of '{one}' begin at {low:#x}")
    return found


def _switch(table: Table) -> StreamSwitch:
    keeps: bool = table.data.get("keeps_channel", False)
    table.used.add("keeps_channel")
    if not isinstance(keeps, bool):
        raise table.error("keeps_channel", f"must be true or false, got {keeps!r}")
    switch = StreamSwitch(_ports(table.table("inputs")), _ports(table.table("outputs")), keeps)
    table.done()
    return switch


def _ports(table: Table) -> SwitchPorts:
    ports = SwitchPorts(*(table.count(key, 0) for key in _PORTS))
    table.done()
    return ports


def _check_ports(table: Table, tiles: Mapping[TileKind, TileLimits]) -> None:
    """Refuse ports on two sides of tiles beside each other that are not as many."""
    core, memory, shim = TileKind.CORE, TileKind.MEMORY, TileKind.SHIM
    joined = [(own, own, TileSide.EAST) for own in TileKind]
    joined += [(one, other, TileSide.NORTH) for one, other in ((shim, memory), (memory, core), (core, core))]
    ways = [*joined, *((other, one, side.opposite) for one, other, side in joined)]
    for one, other, side in ways:
        out, into = tiles[one].switch.outputs.at(side), tiles[other].switch.inputs.at(side.opposite)
        if out != into:
            raise table.error(
                f"{one}.switch.outputs.{side}",
                f"is {out}, and '{table.path}{other}.switch.inputs.{side.opposite}', where these ports end, is {into}",
            )


def _cascade(table: Table) -> Cascade:
    sides = []
    for key in ("inputs", "outputs"):
        listed = table.get(key, (list,), "a list of sides", None)
        sides.append(tuple(_side(table, key, own) for own in listed))
    cascade = Cascade(table.count("bits"), *sides)
    table.done()
    if {side.opposite for side in cascade.outputs} != set(cascade.inputs):
        raise table.error("inputs", "must be the sides opposite to those of 'outputs'")
    return cascade


def _side(table: Table, key: str, given: object) -> TileSide:
    if given not in list(TileSide):
        raise table.error(key, f"must be one of {', '.join(TileSide)}, got {given!r}")
    return TileSide(str(given))


def _timing(table: Table) -> ArrayTiming:
    rates = {key: table.count(key) for key in _RATES}
    for key, rate in rates.items():
        if rate == 0:
            raise table.error(key, "must be at least 1 byte a cycle")
    timing = ArrayTiming(**rates, **{key: table.count(key) for key in _CYCLES})
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
