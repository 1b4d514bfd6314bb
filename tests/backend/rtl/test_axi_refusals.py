"""Settings of interfaces that make no sense, with the whole text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import int32

from .test_flows import NOTHING, NUMBERS, crossed
from .test_refusals import refusal


def scaled(x: int32[8], y: int32[8], unused: int32[4], factor: int32) -> int32[2]:
    ends: int32[2] = 0
    for i in range(8):
        y[i] = factor * x[i]
    ends[0] = x[0]
    ends[1] = x[7]
    return ends


CASES = [
    (
        "m_axi",
        "interface must be \"axi\" or a dict of settings, got 'm_axi'\n"
        '  hint: write interface="axi", or interface={"word_bits": 128}',
    ),
    (
        {"wordbits": 32},
        "interface has no setting 'wordbits'\n"
        "  hint: did you mean 'word_bits'? the settings: word_bits, bundles, streams, memory, outstanding, "
        "back_pressure",
    ),
    (
        {"word_bits": 48},
        "word_bits of the interface must be one of 32, 64, 128, 256, 512, got 48",
    ),
    (
        {"bundles": ["x"]},
        "bundles of the interface must be a dict from names of arrays to ports, got ['x']",
    ),
    (
        {"bundles": {"x": "Port 1"}},
        "the port of 'x' must be a name of small letters and digits, got 'Port 1'\n  hint: write \"gmem0\"",
    ),
    (
        {"streams": "x"},
        "streams of the interface must be a list of names of arrays, got 'x'",
    ),
    (
        {"memory": "SRAM"},
        "target 'u280' has no memory 'SRAM' beside the chip\n  hint: it has: HBM, DDR",
    ),
    (
        {"outstanding": 0},
        "outstanding of the interface must be a number from 1 to 64, got 0",
    ),
    (
        {"back_pressure": True},
        "back_pressure of the interface must be a seed, a number from 0 on, got True",
    ),
    (
        {"streams": ["z"]},
        "streams of the interface names 'z', which is no argument or result of the kernel\n"
        "  hint: the arrays: x, y, unused, output_0",
    ),
    (
        {"bundles": {"factor": "gmem0"}},
        "bundles of the interface names 'factor', which is a number and goes through a register\n"
        "  hint: take the entry out",
    ),
    (
        {"streams": ["unused"]},
        "streams of the interface names 'unused', which the kernel does not use\n  hint: take the entry out",
    ),
    (
        {"streams": ["x"], "bundles": {"x": "gmem0"}},
        "bundles of the interface names 'x', which is a stream\n  hint: take one of the entries out",
    ),
    (
        {"bundles": {"x": "gmem0", "y": "gmem0"}, "memory": {"y": "DDR"}},
        "'x' in HBM and 'y' in DDR have one port, 'gmem0'\n  hint: give each a port of its own",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("interface", "told"), CASES)
def test_settings(interface: Any, told: str) -> None:
    assert refusal(allo.customize(scaled), interface=interface) == told


def test_registers_and_ports() -> None:
    """What a host has to know: addresses of registers, arrays by port."""
    built = allo.customize(scaled).build(target="rtl", interface={"bundles": {"y": "gmem0"}})
    plan = built.interface
    assert [(one.label, one.offset, one.count, one.is_result) for one in plan.registers.values()] == [
        ("x", 0x10, 2, False), ("y", 0x18, 2, False), ("factor", 0x20, 1, False), ("output_0", 0x24, 2, False),
    ]  # fmt: skip
    assert [(port.name, [one.label for one in port.transfers]) for port in plan.ports] == [
        ("gmem1", ["x"]), ("gmem0", ["y"]), ("gmem2", ["output_0"]),
    ]  # fmt: skip
    assert [(one.label, one.loads, one.stores) for one in plan.transfers.values()] == [
        ("x", True, False), ("y", False, True), ("output_0", False, True),
    ]  # fmt: skip
    assert "m_axi_gmem1_awaddr" not in built.code and "m_axi_gmem0_araddr" not in built.code


def test_what_ends_a_run_early() -> None:
    """A limit and a hang tell what they tell without an interface; a call after them begins anew."""
    built = allo.customize(scaled).build(target="rtl", interface="axi", limit=50)
    x = np.arange(8, dtype=np.int32)
    with pytest.raises(allo.AlloError, match="the simulation of 'scaled' was stopped after 50 cycles"):
        built(x, x.copy(), np.zeros(4, np.int32), 3)
    s = df.customize(crossed)
    made, plain = s.build(target="rtl", interface="axi"), s.build(target="rtl")
    found, wanted = [], []
    for module, texts in ((made, found), (plain, wanted)):
        with pytest.raises(allo.DataflowError) as caught:
            module(NUMBERS, NOTHING.copy())
        texts.append(str(caught.value))
    assert found == wanted
    few, one, other = np.minimum(NUMBERS, 4), NOTHING.copy(), NOTHING.copy()
    few[:10] = 0
    made(few, one)
    plain(few, other)
    np.testing.assert_array_equal(one, other)
