"""Files that describe FPGAs."""

from __future__ import annotations

from .component_tables import read_control, read_floating, read_integer, read_memory
from .components import Capacity, Die, Limits, Multiplexer, PlaceAndRoute
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
    device = _device(root.table("resources"))
    dies = tuple(_die(table) for table in root.tables("die")) if "die" in root.data else ()
    result = Fpga(
        head.name, head.title, head.part, head.frequency, head.highest_frequency, head.sources, head.external,
        device,
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
        dies=dies,
        crossing_wires=_wires(root.table("crossing")) if dies and "crossing" in root.data else 0,
    )  # fmt: skip
    _check_dies(root, device, dies)
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


_RESOURCES = ("dsp", "bram18", "uram", "lut", "ff")


def _device(table: Table) -> Capacity:
    device = Capacity(*(table.count(key) for key in _RESOURCES))
    table.done()
    return device


def _die(table: Table) -> Die:
    name = table.text("name")
    whole = Capacity(*(table.count(key) for key in _RESOURCES))
    free = _device(table.table("free")) if "free" in table.data else whole
    table.done()
    for key in _RESOURCES:
        if getattr(free, key) > getattr(whole, key):
            raise table.error(f"free.{key}", f"is more than the die has, {getattr(whole, key)}")
    return Die(name, whole, free)


def _check_dies(root: Table, device: Capacity, dies: tuple[Die, ...]) -> None:
    for key in _RESOURCES if dies else ():
        total, whole = sum(getattr(die.whole, key) for die in dies), getattr(device, key)
        if total != whole:
            raise root.error("die", f"have {total} {key} together, and resources.{key} is {whole}")
    names = [die.name for die in dies]
    if len(set(names)) < len(names):
        raise root.error("die", f"are called {', '.join(names)}: each needs a name of its own")


def _wires(table: Table) -> int:
    wires = table.count("wires")
    table.done()
    return wires


def _place_and_route(table: Table) -> PlaceAndRoute:
    found = PlaceAndRoute(
        table.text("tool"), table.text("device"), table.text("package"), table.count("speed")
    )  # fmt: skip
    table.done()
    return found
