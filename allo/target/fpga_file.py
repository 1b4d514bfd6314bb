"""Files that describe FPGAs."""

from __future__ import annotations

from .component_tables import read_control, read_floating, read_integer, read_memory
from .components import Capacity, Limits, Multiplexer, PlaceAndRoute
from .description import Target
from .fpga import Fpga
from .profile_file import read_profiles
from .table import Table, each

_INTEGER = ("add", "compare", "logic", "select", "shift", "mul", "div", "place")


def read_fpga(head: Target, root: Table) -> Fpga:
    """The FPGA of a file whose `head` has been read."""
    rules = root.table("rules")
    dsp = root.table("dsp")
    tile = dsp.get("tile", (list,), "[width, width]", None)
    if len(tile) != 2 or not all(isinstance(n, int) and n > 0 for n in tile):
        raise dsp.error("tile", f"must be [width, width], got {tile!r}")
    result = Fpga(
        head.name, head.title, head.part, head.frequency, head.highest_frequency, head.sources, head.external,
        _device(root.table("resources")),
        _limits(root.table("limits")) if "limits" in root.data else Limits(),
        read_control(root.table("control")),
        each(root.table("memory"), read_memory, ("BRAM", "LUTRAM", "FIFO", "REGISTER")),
        rules.count("registers_up_to"), rules.count("lutram_up_to"), (max(tile), min(tile)),
        dsp.count("small_factor"),
        _multiplexer(root.table("multiplexer")),
        each(root.table("integer"), read_integer, _INTEGER),
        tuple(read_floating(row) for row in root.tables("operator")),
        profiles=read_profiles(root),
        place_and_route=_place_and_route(root.table("place_and_route")) if "place_and_route" in root.data else None,
    )  # fmt: skip
    for table in (rules, dsp):
        table.done()
    return result


def _limits(table: Table) -> Limits:
    limits = Limits(table.count("banks", 0), table.count("platform_dsp", 0))
    table.done()
    return limits


def _multiplexer(table: Table) -> Multiplexer:
    found = Multiplexer(table.count("inputs"), table.count("delay"))
    table.done()
    if found.inputs < 2:
        raise table.error("inputs", f"must be at least 2, got {found.inputs}")
    return found


def _device(table: Table) -> Capacity:
    device = Capacity(*(table.count(key) for key in ("dsp", "bram18", "uram", "lut", "ff")))
    table.done()
    return device


def _place_and_route(table: Table) -> PlaceAndRoute:
    found = PlaceAndRoute(
        table.text("tool"), table.text("device"), table.text("package"), table.count("speed")
    )  # fmt: skip
    table.done()
    return found
