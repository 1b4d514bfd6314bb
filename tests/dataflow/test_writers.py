"""Two positions that write one element, where subscripts do not tell: seen by runs with check=True."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo.dataflow as df
from allo.backend.checked import track_writers
from allo.errors import CheckError
from allo.ir.types import index, int32

P, N = 3, 8


@df.region()
def prefixes(L: int32[P], C: int32[P, N]):
    @df.kernel(mapping=[P], args=[L, C])
    def fill(L: int32[P], C: int32[P, N]):
        p = df.get_pid()
        i: index = 0
        while i < L[p]:
            C[0, i] = 1
            i += 1


@df.region()
def scatter(L: int32[P], C: int32[P, N]):
    @df.kernel(mapping=[P, 2], args=[L, C])
    def fill(L: int32[P], C: int32[P, N]):
        p, q = df.get_pid()
        at: index = L[p]
        C[at, q] = p + 1
        C[at, q] += 10


@pytest.mark.parametrize("options", [{}, {"threads": 3}], ids=["one thread", "threads"])
@pytest.mark.parametrize(
    ("region", "given", "wrong", "where"),
    [
        (prefixes, [0, 4, 0], [1, 0, 2], "element [0, 0] of 'C'"),
        (scatter, [2, 0, 1], [2, 0, 2], "element [2, 0] of 'C'"),
    ],
    ids=["while", "data"],
)
def test_two_writers(
    region: Callable[..., Any], given: list[int], wrong: list[int], where: str, options: dict[str, Any]
) -> None:
    plain, checked = df.build(region), df.build(region, check=True, **options)
    first, second = np.zeros((P, N), np.int32), np.zeros((P, N), np.int32)
    for _ in range(2):
        plain(np.array(given, np.int32), first)
        checked(np.array(given, np.int32), second)
        np.testing.assert_array_equal(first, second)
    with pytest.raises(CheckError) as caught:
        checked(np.array(wrong, np.int32), second)
    assert f"{where} is written by another position, too" in str(caught.value)


def test_positions_that_are_seen_to_be_apart_are_not_looked_at() -> None:
    @df.region()
    def own(C: int32[P, N]):
        @df.kernel(mapping=[P], args=[C])
        def fill(C: int32[P, N]):
            p = df.get_pid()
            for i in range(N):
                C[p, i] = i

    module = df.customize(own).ir.clone()
    before = str(module.mlir)
    track_writers(module)
    assert str(module.mlir) == before
    module = df.customize(scatter).ir.clone()
    track_writers(module)
    assert "written_by" in str(module.mlir)
