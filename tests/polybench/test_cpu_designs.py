"""The designs for one core of a CPU: right results in all element types, and sums in the order they promise."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

import allo
from allo.ir.types import AlloType, float32, float64
from allo.testing import assert_equivalent
from polybench import load
from polybench.accuracy import error, inputs, tolerance
from polybench.cpu_designs import CPU


def results(name: str, size: str, T: AlloType) -> tuple[Any, ...]:
    got = inputs(name, size, T)
    CPU[name].customized(size, T).build()(*got)
    return got


def assert_like_numpy(name: str, size: str, T: AlloType) -> None:
    wanted = inputs(name, size, T)
    load(name).reference(size, *wanted)
    assert error(name, results(name, size, T), wanted) <= tolerance(name, T)


def test_twelve_and_more() -> None:
    assert len(CPU) >= 14


@pytest.mark.parametrize("name", CPU)
def test_each_is_scheduled(name: str) -> None:
    assert CPU[name].customized("MINI").steps and CPU[name].lines() <= 20


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("name", CPU)
def test_same_as_numpy(name: str, size: str) -> None:
    """In float64, which shows more mistakes."""
    assert_like_numpy(name, size, float64)


@pytest.mark.parametrize("name", CPU)
def test_proved(name: str) -> None:
    design = load(name).designs["cpu"]
    assert design is CPU[name] and design.on_cpu
    assert_equivalent(load(name).kernel("SMALL"), design.customized("SMALL"), reassociate=design.reassociated)


@pytest.mark.parametrize("name", CPU)
def test_same_as_numpy_in_float32(name: str) -> None:
    assert_like_numpy(name, "MINI", float32)


@pytest.mark.slow
@pytest.mark.parametrize("name", CPU)
def test_same_as_numpy_in_medium(name: str) -> None:
    assert_like_numpy(name, "MEDIUM", float64)


@pytest.mark.parametrize("name", [name for name, design in CPU.items() if not design.reassociated])
def test_sums_in_the_same_order_give_the_same_bits(name: str) -> None:
    got, wanted = inputs(name, "MINI"), inputs(name, "MINI")
    CPU[name].customized("MINI").build()(*got)
    allo.customize(load(name).kernel("MINI")).build()(*wanted)
    pairs = zip(got, wanted, strict=True)
    assert all(g.tobytes() == w.tobytes() for g, w in pairs if not isinstance(g, float))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
@pytest.mark.parametrize("name", CPU)
def test_csim(name: str) -> None:
    got, wanted = inputs(name, "MINI"), inputs(name, "MINI")
    s = CPU[name].customized("MINI")
    s.build(target="vitis_hls", mode="csim")(*got)
    s.build()(*wanted)
    assert all(g.tobytes() == w.tobytes() for g, w in zip(got, wanted, strict=True) if not isinstance(g, float))
