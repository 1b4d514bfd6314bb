"""Kernels are read once while a schedule has them, unless anything that they were read from means another thing."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.frontend.program import ReachedKernels
from allo.ir.types import AlloType, float32, int8, int32


def scaled(T: AlloType = int32, extent: int = 8, by: Any = 2) -> Callable[..., None]:
    def part(A: T[extent], B: T[extent]):
        for i in range(extent):
            B[i] = A[i] * by

    return part


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are checked from now on."""
    while gc.collect():  # what one round frees may be the last that refers to more
        pass
    names: list[str] = []
    check = ReachedKernels.function

    def noting(self: ReachedKernels, source: Any, *rest: Any) -> Any:
        names.append(source.name)
        return check(self, source, *rest)

    monkeypatch.setattr(ReachedKernels, "function", noting)
    return names


def whole(part: Callable[..., None]) -> Callable[..., None]:
    def top(A: int32[8], B: int32[8]):
        part(A, B)

    return top


def test_a_part_is_read_with_its_caller(checked: list[str]) -> None:
    """Its own schedule, and a copy of the `def` with the same values, do not read it again."""
    s = allo.customize(whole(scaled()))
    p = allo.customize(scaled())
    p.split("i", 4)
    s.compose(p)
    assert checked == ["top", "part"]
    assert [str(step) for step in s.steps] == [str(step) for step in p.steps]
    values = np.arange(8, dtype=np.int32)
    result = np.zeros(8, np.int32)
    s.build()(values, result)
    np.testing.assert_array_equal(result, values * 2)


def test_instances_of_one_def_have_names_of_their_own(checked: list[str]) -> None:
    first, second = scaled(), scaled()

    def top(A: int32[8], B: int32[8], C: int32[8]):
        first(A, B)
        second(B, C)

    s = allo.customize(top)
    assert checked == ["top", "part"]
    assert s.ir.names() == ["part", "part_1", "top"]


@pytest.mark.parametrize(
    "other",
    [{"by": 3}, {"by": 2.0}, {"by": True}, {"extent": 4}, {"T": int8}, {"T": float32}],
    ids=lambda other: f"{other}",
)
def test_other_values_are_another_kernel(checked: list[str], other: dict[str, Any]) -> None:
    first = allo.customize(scaled())
    second = allo.customize(scaled(**other))
    assert checked == ["part", "part"]
    assert str(second.module) != str(first.module)


def test_signs_of_zeros_are_told_apart(checked: list[str]) -> None:
    kept = [allo.customize(scaled(float32, by=by)) for by in (0.0, -0.0)]
    results = [np.zeros(8, np.float32) for _ in kept]
    for s, result in zip(kept, results, strict=True):
        s.build()(np.ones(8, np.float32), result)
    assert [np.signbit(result).all() for result in results] == [False, True]


def test_arrays_may_have_changed(checked: list[str]) -> None:
    table = np.arange(8, dtype=np.int32)

    def look_up(B: int32[8]):
        for i in range(8):
            B[i] = table[i]

    kept = allo.customize(look_up)
    table[0] = 5
    result = np.zeros(8, np.int32)
    allo.customize(look_up).build()(result)
    assert checked == ["look_up", "look_up"] and kept is not None
    np.testing.assert_array_equal(result, table)


def test_names_that_get_another_value(checked: list[str]) -> None:
    by = 2

    def part(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i] * by

    before = allo.customize(part)
    by = 3
    after = allo.customize(part)
    assert checked == ["part", "part"]
    assert str(before.module) != str(after.module)


def test_other_rules(checked: list[str]) -> None:
    schedules = [allo.customize(scaled(int8), typing_rule_set=rules) for rules in ("default", "cpp")]
    assert checked == ["part", "part"]
    assert str(schedules[0].module) != str(schedules[1].module)


def test_nothing_outlives_the_schedules(checked: list[str]) -> None:
    gc.disable()
    try:
        s = allo.customize(scaled())
        copy = s.copy()
        del s
        allo.customize(scaled())
        del copy
        allo.customize(scaled())
    finally:
        gc.enable()
    assert checked == ["part", "part"]


def counter() -> Callable[..., int32]:
    def count() -> int32:
        total: int32 @ allo.ir.types.Stateful = 0
        total += 1
        return total

    return count


def test_instances_have_states_of_their_own(checked: list[str]) -> None:
    first, second = counter(), counter()

    def top(times: int32[2]):
        times[0] = first()
        times[0] = first()
        times[1] = second()

    times = np.zeros(2, np.int32)
    allo.customize(top).build()(times)
    assert times.tolist() == [2, 1]
    assert checked == ["top", "count", "count"]


def test_a_part_has_the_module_of_its_own_text() -> None:
    """Also where a caller has emitted it, by this name and by another one."""
    alone = {by: str(allo.customize(scaled(by=by)).module) for by in (2, 3)}
    first, second = scaled(by=2), scaled(by=3)

    def top(A: int32[8], B: int32[8], C: int32[8]):
        first(A, B)
        second(B, C)

    s = allo.customize(top)
    assert "@part_1" in str(s.module)
    parts = {by: allo.customize(scaled(by=by)) for by in (2, 3)}
    assert {by: str(part.module) for by, part in parts.items()} == alone
    parts[2].split("i", 4)
    assert str(allo.customize(scaled(by=2)).module) == alone[2]
    assert str(allo.customize(top).module) == str(s.state(0).mlir)


@pytest.mark.parametrize("loops_first", [False, True])
def test_operators_stay_operators(loops_first: bool) -> None:
    def product(A: float32[4, 4], B: float32[4, 4]) -> float32[4, 4]:
        return allo.matmul(A, B)

    made = {loops: allo.customize(product, lower_linalg=loops) for loops in (loops_first, not loops_first)}
    assert {loops: "linalg.matmul" in str(s.module) for loops, s in made.items()} == {False: True, True: False}
