"""Arrays whose extents are known at run time only: `T[...]`."""

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.types import bfloat16, float32, index, int5, int32, uint8


def copy_some(A: float32[...], B: float32[...], size: int32):
    for i in range(size):
        B[i] = A[i]


@pytest.mark.parametrize("extent", [4, 7])
def test_as_in_published_allo(extent: int) -> None:
    a, b = np.arange(extent, dtype=np.float32), np.zeros(extent, np.float32)
    allo.customize(copy_some).build()(a, b, 3)
    assert b.tolist() == [0, 1, 2] + [0] * (extent - 3)


def test_one_module_takes_every_extent() -> None:
    built = allo.customize(copy_some).build()
    for extent in (3, 5, 100):
        a, b = np.full(extent, 2, np.float32), np.zeros(extent, np.float32)
        built(a, b, extent)
        assert np.array_equal(a, b)


def test_type_in_the_module() -> None:
    s = allo.customize(copy_some)
    assert "func.func @copy_some(%arg0: memref<?xf32> {allo.name = \"A\"}" in str(s.module)
    assert [str(p) for p in s.build().parameters] == ["A: float32[...]", "B: float32[...]", "size: int32"]


def sums(A: int5[..., 3], s: int32[3]) -> index:
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += A[i, j]
    return A.shape[0]


def test_some_dimensions() -> None:
    a = np.random.default_rng(0).integers(-16, 16, (5, 3), np.int8)
    s = np.zeros(3, np.int32)
    assert allo.customize(sums).build()(a, s) == 5
    assert np.array_equal(s, a.sum(axis=0))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((5, 2), np.int8), ValueError, r"argument 'A' must have shape \(\.\.\., 3\), got \(5, 2\)"),
        (np.zeros(3, np.int8), ValueError, r"argument 'A' must have shape \(\.\.\., 3\), got \(3,\)"),
        ([1, 2, 3], TypeError, r"argument 'A' must be a NumPy array of shape \(\.\.\., 3\)"),
    ],
)
def test_arguments_that_do_not_fit(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        allo.customize(sums).build()(value, np.zeros(3, np.int32))


def test_no_elements() -> None:
    assert allo.customize(sums).build()(np.zeros((0, 3), np.int8), np.zeros(3, np.int32)) == 0


def whole(A: uint8[..., 4], B: uint8[..., 4], v: uint8[4]):
    B[:] = A + v
    B += 1
    A[1:3] = 7
    A[-1] = B[0]


def test_whole_arrays() -> None:
    a, v = np.arange(16, dtype=np.uint8).reshape(4, 4), np.array([1, 2, 3, 4], np.uint8)
    b, expected, sums_ = np.zeros_like(a), a.copy(), a + v + 1
    expected[1:3], expected[-1] = 7, sums_[0]
    allo.customize(whole).build()(a, b, v)
    assert np.array_equal(b, sums_) and np.array_equal(a, expected)


def test_a_statement_covers_what_all_its_arrays_have() -> None:
    a, b = np.ones((2, 4), np.uint8), np.zeros((4, 4), np.uint8)
    allo.customize(whole_sum).build()(a, b)
    assert b[:2].all() and not b[2:].any()


def whole_sum(A: uint8[..., 4], B: uint8[..., 4]):
    B[:] = A + B


def turned(A: float32[..., ...], B: float32[..., ...]):
    B[:] = A.T


def test_transposed() -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((3, 2), np.float32)
    allo.customize(turned).build()(a, b)
    assert np.array_equal(b, a.T)


def scale(X: float32[...], by: float32):
    for i in range(X.shape[0]):
        X[i] *= by


def calls(A: float32[4, 3], B: float32[...]):
    scale(A[1], 2.0)
    scale(B, 3.0)


def constant_extent(A: float32[3], B: float32[...]):
    scale(A, 2.0)
    calls_further(B)


def calls_further(B: float32[...]):
    scale(B, 4.0)


def test_calls() -> None:
    a, b = np.ones((4, 3), np.float32), np.ones(5, np.float32)
    allo.customize(calls).build()(a, b)
    assert a.sum(axis=1).tolist() == [3, 6, 3, 3] and b.tolist() == [3] * 5
    c = np.ones(3, np.float32)
    allo.customize(constant_extent).build()(c, b)
    assert c.tolist() == [2] * 3 and b.tolist() == [12] * 5


def total(A: bfloat16[...]) -> float32:
    s: float32 = 0
    for i in range(A.shape[0]):
        s += A[i]
    return s


def test_types_that_numpy_does_not_have() -> None:
    assert allo.customize(total).build()(np.array([1, 2.5, 3], ml_dtypes.bfloat16)) == 6.5


@pytest.mark.parametrize("primitive", [("pipeline",), ("parallel",), ("unroll", 4)])
def test_primitives_on_loops_of_run_time_extents(primitive: tuple[str, ...]) -> None:
    s = allo.customize(scale)
    getattr(s, primitive[0])("i", *primitive[1:])
    x = np.arange(1000, dtype=np.float32)
    s.build()(x, 2.0)
    assert np.array_equal(x, 2 * np.arange(1000))


def test_refusals() -> None:
    s = allo.customize(scale)
    with pytest.raises(allo.ScheduleError) as refused:
        s.partition("X")
    assert "partition: the extent of dimension 1 of 'X' is known at run time only" in str(refused.value)
    assert "hint: declare the argument with all extents" in str(refused.value)
    with pytest.raises(allo.ScheduleError) as refused:
        s.buffer_at("X", axis="i")
    assert "'X' has an extent that is known at run time only, so a part of it cannot be clipped" in str(refused.value)


def test_a_layout_does_not_get_lost_where_the_extent_does() -> None:
    s = allo.customize(constant_extent)
    with pytest.raises(allo.ScheduleError, match="'A' is also 'scale:X', whose extent of dimension 1"):
        s.partition("A")


def test_a_subscript_that_is_negative_is_noticed() -> None:
    def before_the_start(A: float32[...]):
        for i in range(4):
            A[i - 1] = 0

    with pytest.raises(allo.KernelError, match="subscript 0 is -1 when i=0, but dimension 0 of 'A' starts at 0"):
        allo.customize(before_the_start)
