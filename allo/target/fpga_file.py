"""Files that describe FPGAs."""

from __future__ import annotations

from .description import Target
from .fpga import (
    Capacity,
    Control,
    FloatOperator,
    Fpga,
    IntegerOperator,
    Limits,
    MemoryKind,
    Multiplexer,
    Operator,
)
from .table import Table, each


def read_fpga(head: Target, root: Table) -> Fpga:
    """The FPGA of a file whose `head` has been read."""
    control = root.table("control")
    rules = root.table("rules")
    dsp = root.table("dsp")
    tile = dsp.get("tile", (list,), "[width, width]", None)
    if len(tile) != 2 or not all(isinstance(n, int) and n > 0 for n in tile):
        raise dsp.error("tile", f"must be [width, width], got {tile!r}")
    result = Fpga(
        head.name, head.title, head.part, head.frequency, head.highest_frequency, head.sources, head.external,
        _device(root.table("resources")),
        _limits(root.table("limits")) if "limits" in root.data else Limits(),
        Control(control.count("pipelined_loop"), control.count("loop"), control.count("iteration"),
                control.count("call"), control.number("uncertainty")),
        each(root.table("memory"), _memory, ("BRAM", "LUTRAM", "FIFO", "REGISTER")),
        rules.count("registers_up_to"), rules.count("lutram_up_to"), (max(tile), min(tile)),
        dsp.count("small_factor"),
        _multiplexer(root.table("multiplexer")),
        each(root.table("integer"), _integer, ("add", "compare", "logic", "select", "shift", "mul", "div", "place")),
        tuple(_floating(row) for row in root.tables("operator")),
    )  # fmt: skip
    for table in (control, rules, dsp):
        table.done()
    if not result.control.uncertainty < 1:
        raise control.error("uncertainty", "must be less than 1, the part of the period that is kept free")
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


def _memory(name: str, table: Table) -> MemoryKind:
    ports, read, write = (table.count(key) for key in ("ports", "read", "write"))
    kind = MemoryKind(name, ports, read, write, table.pairs("shapes"))
    table.done()
    return kind


def _integer(name: str, table: Table) -> IntegerOperator:
    operator = IntegerOperator(
        table.count("delay", 0),
        table.number("delay_per_bit", 0.0),
        table.count("latency", 0),
        table.number("latency_per_bit", 0.0),
        table.number("lut_per_bit", 0.0),
        table.number("ff_per_bit", 0.0),
    )
    table.done()
    return operator


def _floating(table: Table) -> FloatOperator:
    kind, type_ = table.text("kind"), table.text("type")
    operator = Operator(
        f"{kind}_{type_}",
        table.count("latency"),
        dsp=table.count("dsp"),
        lut=table.count("lut"),
        ff=table.count("ff"),
    )
    row = FloatOperator(kind, type_, table.number("up_to"), operator, table.text("implementation", ""))
    table.done()
    return row
