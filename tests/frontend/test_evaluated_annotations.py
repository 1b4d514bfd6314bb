"""Annotations that Python has evaluated (this file does without `from __future__ import annotations`)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import AlloType, float32, float64, int8


def scaled(T: AlloType, N: int) -> Callable[..., Any]:
    """A kernel whose extents and element type are used in annotations only, where no closure keeps them."""

    def scale(by: T, A: T[N]):
        for i in range(A.shape[0]):
            A[i] *= by

    def first(by: T, A: T[N]) -> T:
        scale(by, A)
        return A[0]

    return first


@pytest.mark.parametrize(("T", "dtype"), [(float32, np.float32), (float64, np.float64), (int8, np.int8)])
def test_types_of_the_enclosing_function(T: AlloType, dtype: type) -> None:
    kernel = scaled(T, 3)  # the call that defines it has returned
    A = np.arange(1, 4, dtype=dtype)
    assert allo.customize(kernel).build()(3, A) == 3
    assert A.tolist() == [3, 6, 9]
