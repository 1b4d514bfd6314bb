"""Estimated clocks: longest paths of small netlists, added up by hand."""

from __future__ import annotations

from typing import Any

import pytest

from allo.backend.rtl.library import library_files
from allo.backend.rtl.synthesise import clock, synthesised, yosys
from allo.backend.rtl.synthesise.clock import clock_of
from allo.errors import InternalError

OUTPUTS = ("O", "Q", "CO", "P", "DOUTADOUT", "DOA", "DOB")


def netlist(*cells: tuple[str, dict[str, list[int | str]], dict[str, str]], ports: Any = ()) -> dict[str, Any]:
    made = {
        f"cell{n}": {
            "type": kind, "parameters": parameters, "connections": pins,
            "port_directions": {pin: "output" if pin in OUTPUTS else "input" for pin in pins},
        }
        for n, (kind, pins, parameters) in enumerate(cells)
    }  # fmt: skip
    named = {f"p{n}": {"direction": way, "bits": bits} for n, (way, bits) in enumerate(ports)}
    return {"modules": {"m": {"ports": named, "cells": made}}}


def register(d: int | str, q: int) -> tuple[str, dict[str, list[int | str]], dict[str, str]]:
    return "FDRE", {"C": [1], "CE": ["1"], "D": [d], "Q": [q], "R": ["0"]}, {}


def period(*cells: Any, ports: Any = ()) -> float:
    found = clock_of(netlist(*cells, ports=ports), "m")
    assert found is not None
    return round(1000 / found, 9)


def test_two_look_up_tables() -> None:
    cells = [register("0", 2), ("LUT2", {"I0": [2], "I1": ["1"], "O": [3]}, {}), ("LUT6", {"I5": [3], "O": [4]}, {}),
             ("LUT6", {"I0": [4], "O": [5]}, {}), ("LUT1", {"I0": [5], "O": [6]}, {}), register(6, 7)]  # fmt: skip
    assert period(*cells) == round(0.09 + 4 * (0.3 + 0.1) + 0.3 + 0.04, 9)


def test_a_sum_with_two_carries() -> None:
    look_up = ("LUT2", {"I0": [2], "O": [3]}, {})
    first = ("CARRY4", {"CI": ["0"], "DI": [2], "S": [3], "O": [10], "CO": [11]}, {})
    second = ("CARRY4", {"CI": [11], "DI": ["0"], "S": ["0"], "O": [12], "CO": [13]}, {})
    after = [("LUT1", {"I0": [20], "O": [22]}, {}), ("LUT1", {"I0": [22], "O": [23]}, {}), register(23, 24)]
    cells = [register("0", 2), look_up, first, second, ("LUT1", {"I0": [12], "O": [20]}, {}), *after]
    wanted = 0.09 + 0.4 + 0.16 + 0.22 + 3 * 0.4 + 0.34  # no wire from the LUT, nor between carries
    assert period(*cells) == round(wanted, 9)
    assert period(cells[0], *cells[2:]) == round(wanted - 0.1, 9)  # straight to the carry


@pytest.mark.parametrize(
    ("registers", "wanted"),
    [
        ({}, 0.09 + 0.3 + 1.2 + 0.75 + 0.3 + 0.04),
        ({"AREG": "1", "BREG": "1"}, 0.09 + 1.2 + 0.75 + 0.3 + 0.04),
        ({"MREG": "1"}, 0.09 + 0.3 + 1.2 + 0.04),
        ({"AREG": "1", "BREG": "1", "MREG": "1", "PREG": "1"}, 0.09 + 1.2 + 0.04),
        ({"PREG": "1"}, 0.09 + 0.3 + 1.2 + 0.75 + 0.04),
    ],
)
def test_a_product(registers: dict[str, str], wanted: float) -> None:
    product = ("DSP48E1", {"A": [2], "B": [2], "CLK": [1], "P": [5]}, registers)
    assert period(register("0", 2), product, register(5, 6)) == round(max(wanted, 1 / 0.738), 9)


def test_memories_and_ports() -> None:
    block = ("RAMB18E2", {"ADDRARDADDR": [2], "CLKARDCLK": [1], "DOUTADOUT": [5]}, {"DOA_REG": "0", "DOB_REG": "0"})
    look_up = ("LUT1", {"I0": [5], "O": [6]}, {})
    assert period(register("0", 2), block, look_up, register(6, 7)) == round(1.0 + 0.4 + 0.34, 9)
    assert period(look_up, register(6, 7), ports=[("input", [5])]) == round(1.0 + 0.4 + 0.34, 9)
    distributed = ("RAM64M8", {"ADDRA": [2], "WCLK": [1], "DIA": [2], "DOA": [5]}, {})
    cells = [register("0", 2), distributed, look_up, ("LUT1", {"I0": [6], "O": [8]}, {})]
    assert period(*cells, ports=[("output", [8])]) == round(max(0.09 + 3 * 0.4 + 0.34, 1 / 0.738), 9)


def test_what_looks_like_a_circle_and_is_none() -> None:
    """A write address that depends on what is read, and a digit of a sum that depends on a lower one."""
    memory = ("RAM32M16", {"ADDRA": [2], "ADDRH": [6], "WCLK": [1], "DIA": [5], "DOA": [5], "DOB": [9]}, {})
    look_up = ("LUT1", {"I0": [5], "O": [6]}, {})
    tail = [("LUT1", {"I0": [6], "O": [7]}, {}), ("LUT1", {"I0": [7], "O": [8]}, {}), register(8, 10)]
    assert period(register("0", 2), memory, look_up, *tail) == round(0.09 + 4 * 0.4 + 0.34, 9)
    pins = {"CI": ["0"], "DI": ["0"] * 4, "S": [3, "0", 6, "0"], "O": [5, 9, 8, 7], "CO": [11, 12, 13, 14]}
    total = ("CARRY4", pins, {})
    first = ("LUT1", {"I0": [2], "O": [3]}, {})
    assert period(register("0", 2), first, total, look_up, register(8, 10)) == round(0.09 + 2 * (0.4 + 0.22) + 0.34, 9)


def test_nothing_takes_no_time_and_few_gates_the_least() -> None:
    assert clock_of(netlist(), "m") is None
    assert clock_of(netlist(register(2, 3), register(3, 4)), "m") == 738


def test_what_a_netlist_cannot_have() -> None:
    circle = [("LUT1", {"I0": [2], "O": [3]}, {}), ("LUT1", {"I0": [3], "O": [2]}, {})]
    with pytest.raises(InternalError, match="a netlist has a path of logic that comes back to where it began"):
        clock_of(netlist(*circle), "m")
    with pytest.raises(InternalError, match="nobody says how long a LATCH takes"):
        clock_of(netlist(("LATCH", {"I": [2], "O": [3]}, {})), "m")


def test_all_numbers_are_there() -> None:
    table = clock.delays()
    assert set(table) == {"highest", "net", "register", "logic", "carry", "memory", "dsp"}


CHAIN = """
module chain(input logic clk, input logic [3:0] x, output logic [3:0] y);
  logic [3:0] a, b;
  always_ff @(posedge clk) begin a <= x; b <= a + 4'd3; y <= b; end
endmodule
"""


@pytest.mark.slow
@pytest.mark.skipif(not yosys.is_available(), reason="needs Yosys: pip install allo[synth]")
def test_more_registers_are_faster() -> None:
    assert synthesised({"chain.sv": CHAIN}, "chain").clock == 738
    texts = library_files(["allo_fadd"])
    wrapper = "module unit(input logic clk, input logic [15:0] a, b, output logic [15:0] y);\n"
    wrapper += "  allo_fadd #(.EXP(5), .MAN(10), .LAT({})) u (.clk, .en(1'b1), .a, .b, .y);\nendmodule\n"
    clocks = [synthesised({**texts, "unit.sv": wrapper.format(latency)}, "unit").clock for latency in (1, 5)]
    assert clocks[0] is not None and clocks[1] is not None
    assert clocks[1] > 1.5 * clocks[0]
