"""What the programs of the Dato paper compute, or what is said about them, in simulator, reference and C simulation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
import allo.dataflow as dato
from allo.ir.types import AlloType, bfloat16, float32
from tests.published.doors import assert_same, ran

from . import dato_paper as paper
from .doors import in_c

rng = np.random.default_rng(2025)


def numbers(*shape: int, dtype: type = np.int16) -> np.ndarray[Any, Any]:
    return rng.integers(-9, 9, shape).astype(dtype)


@in_c
@pytest.mark.filterwarnings("ignore::allo.ScheduleNote")  # of the steps that let both consumers read one array
def test_producer_and_consumer(csim: bool) -> None:
    A = numbers(16, dtype=np.int8)
    s = allo.customize(paper.figure_2b)
    s.relay(s.Z0, "consumer_0")
    s.relay(s.Z1, "consumer_1")
    for design in (s, dato.customize(paper.figure_2c)):
        options = {"target": "vitis_hls", "mode": "csim"} if csim else {}
        B = np.zeros_like(A)
        design.build(**options)(A, B)
        np.testing.assert_array_equal(B, A + 1)


def test_figure_5() -> None:
    left, right = paper.figure_5()
    for program, said in (
        (left, "stream 'sBA' is empty, and nothing will be put into it any more: 0 elements have been put and 0 taken"),
        (right, "8 elements are put into stream 's', and 4 elements are taken out of it"),
    ):
        with pytest.raises(allo.DataflowError) as caught:
            dato.customize(program)
        assert caught.value.diagnostics[0].message == said


def test_figure_7() -> None:
    A, B = numbers(4, 6), numbers(6, 4)
    C = np.zeros((4, 4), np.int16)
    dato.build(paper.figure_7())(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize(("element", "within"), [(float32, 1e-5), (bfloat16, 4e-2)], ids=["float32", "bfloat16"])
def test_flash_attention(element: AlloType, within: float) -> None:
    dtype = np.float32 if element is float32 else ml_dtypes.bfloat16
    Q, K, V = (rng.random(shape).astype(dtype) for shape in ((4, 4), (4, 4), (4, 4)))
    O = np.zeros((4, 4), dtype)  # noqa: E741 - as the paper calls it
    dato.build(paper.figure_10(element))(Q, K, V, O)
    scores = np.exp(Q.astype(np.float64) @ K.astype(np.float64))
    wanted = scores / scores.sum(axis=1, keepdims=True) @ V.astype(np.float64)
    np.testing.assert_allclose(O.astype(np.float64), wanted, atol=within)


@in_c
def test_daisy_chain(csim: bool) -> None:
    top = paper.appendix_A(4, 4, 4, 2, 2)
    A, B = (rng.integers(0, 1 << 16, 8).astype(np.uint16) for _ in range(2))
    given = (A, B, np.zeros(8, np.uint16))
    seen = ran(dato.build(top), given)
    assert_same(seen, ran(allo.interpret(top), given))
    if csim:
        assert_same(seen, ran(dato.build(top, target="vitis_hls", mode="csim"), given))


def test_daisy_chain_of_the_printed_size() -> None:
    s = dato.customize(paper.appendix_A(64, 64, 64, 16, 16))
    assert len(list(s.ir.functions())) == 5
