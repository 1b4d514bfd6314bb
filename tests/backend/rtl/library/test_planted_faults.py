"""Faults of the kind that slips into hardware, planted in the library one at a time: the tests here notice each."""

from __future__ import annotations

import pytest

from allo.backend.rtl.library import library_files
from tests.backend.rtl.library.bench import Unit, results
from tests.backend.rtl.library.test_units import arithmetic_units, assert_arithmetic, pairs_of

COUNT = 4_000
FAULTS = {
    "sticky digit lost": ("allo_fadd", "add", "(|shifted[MAN:0]) | (far & (|z1))", "1'b0"),
    "ties away from even": ("allo_fround", "mul", "rest2 | m2[0]", "1'b1"),
    "subnormal exponent off by one": ("allo_fround", "mul", "(EW + 1)'(e) - 1'b1", "(EW + 1)'(e)"),
    "infinity too late": ("allo_fround", "add", "(1 << EXP) - 1)", "1 << EXP)"),
    "sign of zero": ("allo_fadd", "add", "none ? minus2 : s2", "s2"),
    "a latency too short": ("allo_fadd", "add", "R_ALIGN = LAT >= 3 ? 1 : 0", "R_ALIGN = 0"),
    "a stage without stall": ("allo_pipe", "mul", "(posedge clk) if (en) q <= d", "(posedge clk) q <= d"),
    "operands exchanged": ("allo_fdiv", "div", "EW'(x_n) - EW'(z_n)", "EW'(z_n) - EW'(x_n)"),
    "a digit too few": ("allo_digits", "div", "TO = (k + 1) * N / PARTS", "TO = (k + 1) * N / PARTS - (k == 0)"),
    "odd exponents of roots": ("allo_fsqrt", "root", "odd = plain[0]", "odd = 1'b0"),
}  # fmt: skip
LATENCIES = {"add": 7, "mul": 4, "div": 5, "root": 5}


def faulty(name: str) -> tuple[dict[str, Unit], dict[str, str]]:
    module, operation, text, instead = FAULTS[name]
    units = arithmetic_units("f16", {operation: (LATENCIES[operation],)})
    files = library_files([unit.module for unit in units.values()])
    assert files[f"{module}.sv"].count(text) == 1
    return units, {f"{module}.sv": files[f"{module}.sv"].replace(text, instead)}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(name: str) -> None:
    units, files = faulty(name)
    found = results(tuple(units.values()), {"f16": pairs_of("f16", COUNT, 1)}, fast=False, files=files)
    with pytest.raises(AssertionError, match=r"of 4000: "):
        assert_arithmetic(units, found, COUNT, 1)
