"""Systolic arrays: output- and weight-stationary, tiled, with packed words."""

import numpy as np
import pytest

import allo
from allo.compose import default_schedule
from allo.ir.types import Fixed, float32, float64, int8, int16, int32, uint8, uint16
from allo.library import reference
from allo.library.systolic import (
    packed_systolic,
    schedule_packed_systolic,
    schedule_systolic,
    systolic,
    systolic_tile,
    weight_stationary,
    weight_stationary_tile,
)

from .instances import built, floats, integers

SHAPES = [(8, 5, 12, 4, 4), (7, 3, 10, 4, 3), (1, 6, 2, 2, 2), (4, 1, 4, 4, 4), (3, 2, 5, 1, 1)]
INTEGERS = [(int8, int8, int32, np.int8, np.int32), (int8, int16, int16, np.int8, np.int16)]
INTEGERS += [(uint8, uint8, uint16, np.uint8, np.uint16), (int16, int8, int32, np.int16, np.int32)]
NUMPY = {int8: np.int8, int16: np.int16, uint8: np.uint8}


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", [systolic, weight_stationary])
def test_shapes(kernel, shape, scheduled):
    A, B = integers(np.int8, shape[0], shape[1]), integers(np.int8, shape[1], shape[2])
    C = np.full((shape[0], shape[2]), 77, np.int32)
    built(kernel, [int8, int8, int32, *shape], scheduled)(A, B, C)
    np.testing.assert_array_equal(C, reference.systolic(A, B, np.int32))


@pytest.mark.parametrize("kernel", [systolic, weight_stationary])
@pytest.mark.parametrize("TyA, TyB, TyC, dtype, result", INTEGERS, ids=str)
def test_integers(kernel, TyA, TyB, TyC, dtype, result):
    A, B = integers(dtype, 6, 5), integers(NUMPY[TyB], 5, 4)
    C = np.zeros((6, 4), result)
    built(kernel, [TyA, TyB, TyC, 6, 5, 4, 3, 2], True)(A, B, C)
    np.testing.assert_array_equal(C, reference.systolic(A, B, result))


@pytest.mark.parametrize("kernel", [systolic, weight_stationary])
@pytest.mark.parametrize("kind, dtype", [(float32, np.float32), (float64, np.float64)])
def test_floats(kernel, kind, dtype):
    A, B = floats(6, 5, dtype=dtype), floats(5, 4, dtype=dtype)
    C = np.zeros((6, 4), dtype)
    built(kernel, [kind, kind, kind, 6, 5, 4, 3, 2], True)(A, B, C)
    np.testing.assert_allclose(C, reference.systolic(A, B, np.float64), rtol=1e-5, atol=1e-6)


def test_fixed_point():
    T, U = Fixed(12, 6), Fixed(32, 12)
    A, B = (np.floor(floats(*shape, dtype=np.float64) * 64) / 64 for shape in ((4, 3), (3, 4)))
    C = np.zeros((4, 4))
    built(systolic, [T, T, U, 4, 3, 4, 2, 2], True)(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize(
    "kernel", [systolic_tile, pytest.param(weight_stationary_tile, marks=pytest.mark.slow)]
)
def test_elements_are_connected_by_fifos(kernel):
    s = default_schedule(kernel, [int8, int8, int32, 5, 5, 5])
    assert sum(step.name == "relay" for step in s.steps) == 2 and str(s.module).count("allo.spatial") == 2
    A, B, C = integers(np.int8, 5, 5), integers(np.int8, 5, 5), np.zeros((5, 5), np.int32)
    s.build(target="vitis_hls", mode="csim")(A, B, C)
    np.testing.assert_array_equal(C, reference.systolic(A, B, np.int32))


def test_the_schedule_of_the_tile_is_that_of_the_paper():
    s = schedule_systolic(allo.customize(systolic, instantiate=[int8, int8, int32, 8, 6, 8, 4, 3]))
    verbs = [step.name for step in s.steps if "systolic_tile" in str(step)]
    assert verbs == ["buffer_at"] * 2 + ["unfold"] + ["partition"] * 3 + ["relay"] * 2 + [
        "pipeline",
        "dataflow",
    ]
    assert "depth=5" in str(s.steps[-4]) and "depth=4" in str(s.steps[-3])


def words(array: np.ndarray, axis: int, count: int) -> np.ndarray:
    """`count` neighbours along `axis` in one word, the first lowest."""
    last = np.ascontiguousarray(np.moveaxis(array, axis, -1))
    packed = last.view(f"i{array.itemsize * count}")
    return np.ascontiguousarray(np.moveaxis(packed, -1, axis))


@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("P, shape", [(2, (8, 5, 12, 4, 6)), (4, (8, 3, 8, 8, 4)), (1, (4, 3, 4, 2, 2))])
def test_packed_words(P, shape, scheduled):
    A, B = integers(np.int8, shape[0], shape[1]), integers(np.int8, shape[1], shape[2])
    wanted = reference.systolic(A, B, np.int16)
    C = np.zeros((shape[0] // P, shape[2]), f"i{2 * P}")
    built(packed_systolic, [int8, int8, int16, *shape, P], scheduled)(words(A, 0, P), words(B, 1, P), C)
    np.testing.assert_array_equal(C, words(wanted, 0, P))


def test_the_words_are_unpacked_at_once():
    parameters = [int8, int8, int16, 8, 5, 8, 4, 4, 2]
    s = schedule_packed_systolic(allo.customize(packed_systolic, instantiate=parameters))
    assert sum(step.name == "unroll" for step in s.steps) == 3
