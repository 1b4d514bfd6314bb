"""Functions that processing elements share: which of them do the same, and which registers each of them is given."""

from __future__ import annotations

from typing import Any

import allo
from allo.backend.instantiate import instantiate
from allo.ir.types import index, int32


def ends(A: int32[3, 4], B: int32[3], i: index) -> None:
    B[i] = A[i, 0] - A[i, 3]


def rows(A: int32[3, 4], B: int32[3]) -> None:
    for i in allo.grid(3, name="PE"):
        ends(A, B, i)


def twice(A: int32[4], B: int32[4], i: index) -> None:
    B[i] = A[i] - A[2 * i % 4]


def places(A: int32[4], B: int32[4]) -> None:
    for i in allo.grid(4, name="PE"):
        twice(A, B, i)


def unfolded(kernel: Any, *, complete: bool = True) -> allo.Schedule:
    s = allo.customize(kernel)
    s.unfold("PE", axes=[0])
    for array in (s.A, s.B):
        s.partition(array, dim=0 if complete else 1)
    return s


def functions(s: allo.Schedule) -> list[str]:
    return [function.name.value for function in instantiate(s.ir).functions()]


def test_registers_of_an_array_of_two_dimensions() -> None:
    s = unfolded(rows)
    assert functions(s) == ["ends_0", "rows"]
    assert "ends_0(A[2][0], A[2][3], B[2]);" in s.build(target="vhls").hls_code
    instantiate(s.ir).verify()


def test_names_of_registers_of_one_array_differ() -> None:
    entry = instantiate(unfolded(rows).ir).function("ends_0").operation
    names = [str(given["allo.name"]) for given in entry.attributes["arg_attrs"]]
    assert len(set(names)) == 3


def test_one_register_twice_is_another_function_than_two_of_them() -> None:
    assert functions(unfolded(places)) == ["twice_0", "twice_1", "places"]


def test_elements_with_banks_that_hold_several_registers_stay_apart() -> None:
    assert functions(unfolded(rows, complete=False)) == ["ends_0", "ends_1", "ends_2", "rows"]
