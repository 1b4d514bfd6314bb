"""Tables of values that the files of targets and of profiles have alike."""

from __future__ import annotations

from .components import Control, ControlSize, FloatOperator, IntegerOperator, MemoryKind, Operator
from .table import Table


def read_control(table: Table) -> Control:
    """Cycles of control."""
    found = Control(
        table.count("pipelined_loop"), table.count("loop"), table.count("iteration"), table.count("call"),
        table.number("uncertainty"), table.count("function", 0), _control_size(table),
    )  # fmt: skip
    table.done()
    if not found.uncertainty < 1:
        raise table.error("uncertainty", "must be less than 1, the part of the period that is kept free")
    return found


def _control_size(table: Table) -> ControlSize:
    """What control takes, by default what tools of AMD make of it."""
    known = ControlSize()
    return ControlSize(
        table.count("loop_lut", known.loop_lut), table.count("loop_ff", known.loop_ff),
        table.count("function_lut", known.function_lut), table.count("function_ff", known.function_ff),
        table.count("choice_lut", known.choice_lut), table.number("register_ff", known.register_ff),
        table.number("choice_lut_per_bit", known.choice_lut_per_bit),
        table.number("wait_lut_per_bit", known.wait_lut_per_bit),
    )  # fmt: skip


def read_memory(name: str, table: Table) -> MemoryKind:
    """A kind of memory."""
    ports, read, write = (table.count(key) for key in ("ports", "read", "write"))
    kind = MemoryKind(name, ports, read, write, table.pairs("shapes"))
    table.done()
    return kind


def read_integer(name: str, table: Table) -> IntegerOperator:
    """An operator on integers."""
    operator = IntegerOperator(
        table.count("delay", 0),
        table.number("delay_per_bit", 0.0),
        table.count("latency", 0),
        table.number("latency_per_bit", 0.0),
        table.number("lut_per_bit", 0.0),
        table.number("ff_per_bit", 0.0),
        table.number("lut_per_square", 0.0),
        table.number("ff_per_square", 0.0),
    )
    table.done()
    return operator


def read_floating(table: Table) -> FloatOperator:
    """A row of the table of operators on floats."""
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
