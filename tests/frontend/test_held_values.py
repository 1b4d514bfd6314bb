"""Constant arrays keep their numbers in the declared type, or are refused with the element, its value and the line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

import allo
from allo.errors import KernelError
from allo.frontend.typing.held_values import not_held
from allo.ir.quantize import quantize
from allo.ir.types import (
    AlloType,
    ConstExpr,
    Fixed,
    Float,
    Int,
    Stateful,
    UFixed,
    UInt,
    bool,
    float16,
    float32,
    int8,
    int32,
    uint4,
    wrap,
)
from tests.seeds import drawn, sweep

HALVES = np.array([1.5, 2.5])
LARGE = np.array([[1, 2], [300, 4]])
WHOLE = np.array([1.0, -2.0])
HINT = "give the array a type for its numbers, or convert them outside of the kernel: `array.astype(...)`"


def listed() -> int32[2]:
    B: int32[2] = [1.5, 2.5]
    return B


def captured() -> int8[2, 2]:
    B: int8[2, 2] = LARGE
    return B


def assigned() -> int32[2]:
    B: int32[2] = 0
    B[:] = HALVES
    return B


def renamed() -> int32[2]:
    B: int32[2] = 0
    B = HALVES
    return B


def state() -> uint4:
    kept: Stateful[uint4[2]] = [3, 16]
    return kept[0]


def constant() -> int32:
    C: ConstExpr[int8[2]] = [-128, 128]
    return C[0]


def fixed() -> float32:
    Q: Fixed(8, 4)[2] = [7.99, 8]
    return Q[0]


def truth() -> bool:
    T: bool[2] = [1, 2]
    return T[0]


def small() -> float16:
    F: float16[2] = [0.1, 1e6]
    return F[0]


@pytest.mark.parametrize(
    ("kernel", "line", "message"),
    [
        (listed, 1, "element [0] of 'B' is 1.5, which int32 does not hold"),
        (captured, 1, "element [1, 0] of 'LARGE' is 300, which int8 does not hold: it is from -128 to 127"),
        (assigned, 2, "element [0] of 'HALVES' is 1.5, which int32 does not hold"),
        (renamed, 2, "element [0] of 'HALVES' is 1.5, which int32 does not hold"),
        (state, 1, "element [1] of 'kept' is 16, which uint4 does not hold: it is from 0 to 15"),
        (constant, 1, "element [1] of 'C' is 128, which int8 does not hold: it is from -128 to 127"),
        (fixed, 1, "element [1] of 'Q' is 8, which Fixed(8, 4) does not hold"),
        (truth, 1, "element [1] of 'T' is 2, which bool does not hold"),
        (small, 1, "element [1] of 'F' is 1000000.0, which float16 does not hold"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(kernel: Callable[..., Any], line: int, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        allo.customize(kernel)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.message, diagnostic.hint) == (message, HINT)
    assert diagnostic.at is not None and diagnostic.at.line == kernel.__code__.co_firstlineno + line


def kept() -> (int32[2], int8[2], float32[2], Fixed(8, 4, overflow="sat")[2], bool[2]):
    a: int32[2] = WHOLE
    b: int8[2] = [127, -128]
    c: float32[2] = [0.1, 16777217]  # rounded, as floats are
    d: Fixed(8, 4, overflow="sat")[2] = [100, 0.3]  # as its type says
    e: bool[2] = [0, 1]
    return a, b, c, d, e


def test_kept() -> None:
    found = [value.tolist() for value in allo.customize(kept).build()()]
    assert found == [[1, -2], [127, -128], [float(np.float32(0.1)), 16777216], [7.9375, 0.25], [False, True]]
    assert found == [value.tolist() for value in allo.interpret(kept)()]


def changed(value: Any, element: AlloType) -> Any:
    """Whether an assignment of the number gives another one, where digits of floats and fixed point do not count."""
    number = value.item()
    match element:
        case Int() | UInt():
            return not math.isfinite(number) or wrap(math.floor(number), element) != number
        case Fixed() | UFixed():
            wide = Fixed(1024, element.fracs, element.rounding)
            return not math.isfinite(number) or quantize(number, wide) != quantize(number, element)
    assert isinstance(element, Float)
    with np.errstate(over="ignore"):
        narrow = np.float64(number).astype({"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}[repr(element)])
    return math.isfinite(number) and not math.isfinite(float(narrow))


TYPES = (
    *(kind(width) for kind in (Int, UInt) for width in (1, 3, 8, 33)),
    *(kind(9, f, r) for kind in (Fixed, UFixed) for f in (0, 4, 9) for r in ("trn", "rnd", "rnd_conv", "rnd_zero")),
    float16,
    Float(16, brain=True),
)


@sweep(3)
@drawn(
    100,
    st.sampled_from(TYPES),
    st.one_of(
        st.lists(st.integers(-(1 << 40), 1 << 40) | st.integers(-520, 520), min_size=1, max_size=4),
        st.lists(st.floats(-600, 600) | st.integers(-2400, 2400).map(lambda k: k / 8), min_size=1, max_size=4),
        st.lists(st.floats(-1e290, 1e290) | st.just(math.inf), min_size=1, max_size=3),
    ),
)
def test_first_number_that_changes(element: AlloType, numbers: list[Any]) -> None:
    array = np.array(numbers)
    wrong = [position for position, value in enumerate(array) if changed(value, element)]
    told = not_held(array, element, "A")
    assert (told is None) == (not wrong), (told, wrong)
    if told is not None:
        assert told.startswith(f"element [{wrong[0]}] of 'A' is {array[wrong[0]].item()}, which {element!r}")
