"""Units of the library against the CPU: the same bits, whatever the latency, with stalls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from tests.backend.rtl.library import reference
from tests.backend.rtl.library.bench import Unit, Words, results
from tests.backend.rtl.library.reference import FORMATS
from tests.backend.rtl.library.vectors import float_pairs, integer_pairs

COUNT = 20_000
OPERATIONS = ("add", "sub", "mul", "div", "root")
MODULES = dict(zip(OPERATIONS, ("allo_fadd", "allo_fsub", "allo_fmul", "allo_fdiv", "allo_fsqrt"), strict=True))
PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}  # those of kernels
LATENCIES = {"add": (7, 0, 2, 4, 10), "sub": (5,), "mul": (4, 0, 1, 6), "div": (14, 0, 3, 40), "root": (14, 0, 4, 35)}


def arithmetic_units(name: str, latencies: Mapping[str, tuple[int, ...]]) -> dict[str, Unit]:
    exponent, fraction, _, _ = FORMATS[name]
    return {
        f"{name}_{operation}_{latency}": Unit(
            f"{name}_{operation}_{latency}", MODULES[operation], name, {"EXP": exponent, "MAN": fraction, "LAT": latency}
        )
        for operation, values in latencies.items()
        for latency in values
    }


@cache
def expected_arithmetic(name: str, count: int, seed: int) -> dict[str, Words]:
    _, _, scalar, kind = FORMATS[name]
    a, b = (reference.floats(side, name) for side in pairs_of(name, count, seed))
    made = reference.ran(reference.arithmetic, [scalar], [a, b], [kind] * 5)
    return {
        operation: reference.one_nan(reference.words(array), name)
        for operation, array in zip(OPERATIONS, made, strict=True)
    }


@cache
def pairs_of(name: str, count: int, seed: int) -> tuple[Words, Words]:
    exponent, fraction, _, _ = FORMATS[name]
    return float_pairs(exponent, fraction, count, seed)


def assert_arithmetic(units: Mapping[str, Unit], found: Mapping[str, Words], count: int, seed: int) -> None:
    for unit in units.values():
        _, operation, _ = unit.name.split("_")
        expected = expected_arithmetic(unit.vectors, count, seed)[operation]
        wrong = np.flatnonzero(found[unit.name] != expected)
        a, b = pairs_of(unit.vectors, count, seed)
        shown = [f"{a[k]:x} {b[k]:x} -> {found[unit.name][k]:x}, not {expected[k]:x}" for k in wrong[:5]]
        assert not shown, f"{unit.name}: {len(wrong)} of {count}: {'; '.join(shown)}"


def all_units(names: tuple[str, ...]) -> dict[str, Unit]:
    units = arithmetic_units(names[0], LATENCIES)
    for name in names[1:]:
        units |= arithmetic_units(name, {operation: values[:1] for operation, values in LATENCIES.items()})
    return units


@pytest.mark.parametrize("fast", [False, True], ids=["synthesizable", "fast"])
def test_arithmetic_of_floats(fast: bool) -> None:
    names = ("f32", "f16", "bf16")
    units = all_units(names)
    found = results(tuple(units.values()), {name: pairs_of(name, COUNT, 1) for name in names}, fast=fast)
    assert_arithmetic(units, found, COUNT, 1)
