"""The iterations in which accesses happen, against the conditions of the kernel."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import allo
from allo.ir.types import int32
from allo.poly import extract, iterations_of


def conditions(A: int32[12, 10, 8], B: int32[12, 10, 8], C: int32[12, 10, 8], D: int32[12, 10, 8]):
    for i, j, k in allo.grid(12, 10, 8):
        if k == 7 and i >= 2:
            A[i, j, k] = 1
        if i % 3 == 1:
            B[i, j, k] = 1
        if j <= i:
            C[i, j, k] = 1
        if i + j + k == 40:
            D[i, j, k] = 1


@pytest.mark.parametrize(
    ("array", "holds"),
    [
        ("A", lambda i, j, k: k == 7 and i >= 2),
        ("B", lambda i, j, k: i % 3 == 1),
        ("C", lambda i, j, k: j <= i),
        ("D", lambda i, j, k: i + j + k == 40),
    ],
)
def test_iterations_are_those_in_which_conditions_hold(array, holds) -> None:
    s = allo.customize(conditions)
    model = extract(s.ir.function("conditions"))
    (access,) = [found for found in model.accesses if found.buffer.name == array]
    expected = [point for point in product(range(12), range(10), range(8)) if holds(*point)]
    rows = iterations_of(access, 1000)
    assert rows is not None and rows.dtype == np.int64 and rows.shape == (len(expected), 3)
    assert sorted(map(tuple, rows.tolist())) == expected
    assert not expected or iterations_of(access, len(expected) - 1) is None
