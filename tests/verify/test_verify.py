"""`allo.verify`: its three answers, their texts, the first wrong step, and what comes in a counterexample."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import json
import math
import re
import sys

import numpy as np
import pytest

import allo
from allo.ir.module import Module
from allo.ir.types import UInt, float32, int8, int32
from allo.testing import assert_equivalent
from allo.verify import Different, Equivalent, Unknown

M, N, K = 6, 5, 4


def gemm(A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for i, j in allo.grid(M, N):
        for k in range(K):
            C[i, j] += A[i, k] * B[k, j]


def transposed(A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for i, j in allo.grid(M, N):
        for k in range(K):
            C[i, j] += B[k, j] * A[i, k]


def shorter(A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for i, j in allo.grid(M, N):
        for k in range(K - 1):
            C[i, j] += A[i, k] * B[k, j]


def two_mm(A: int32[4, 4], B: int32[4, 4], D: int32[4, 4], E: int32[4, 4]):
    C: int32[4, 4]
    gemm1(A, B, C)
    gemm2(C, D, E)


def gemm1(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]):
    for i, j in allo.grid(4, 4):
        total: int32 = 0
        for k in range(4):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def gemm2(C: int32[4, 4], D: int32[4, 4], E: int32[4, 4]):
    for i, j, k in allo.grid(4, 4, 4):
        if k == 0:
            E[i, j] = 0
        E[i, j] += C[i, k] * D[k, j]


def row_wise():
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.buffer_at(s.C, "i")
    s.pipeline("j")
    return s


def plain(result):
    """Its text without times and paths."""
    text = re.sub(r"\d+\.\d\d s", "T s", str(result))
    return re.sub(r'File "[^"]*", line \d+', "File, line N", text)


def test_a_schedule_is_equivalent_to_its_kernel():
    result = row_wise().verify()
    assert result and isinstance(result, Equivalent)
    assert plain(result) == (
        "Equivalent: 'gemm' and the schedule of 'gemm' with 3 steps, by array dataflow graphs of any size in T s"
    )


def test_each_method_alone():
    assert allo.verify(gemm, row_wise(), method="affine")
    assert allo.verify(gemm, row_wise(), method="concrete")
    tested = allo.verify(gemm, row_wise(), method="differential")
    assert isinstance(tested, Unknown) and not tested
    assert tested.reason == "no method that proves was asked; 12 inputs agreed"


def test_factors_of_a_product_commute():
    assert allo.verify(gemm, transposed)


def test_a_difference_has_a_small_confirmed_counterexample():
    result = allo.verify(gemm, shorter)
    assert isinstance(result, Different) and not result
    example = result.counterexample
    assert (example.output, len(example.element), example.seen_right) == ("C", 2, "0.0")
    A, B, C = example.arguments
    assert np.count_nonzero(A) == np.count_nonzero(B) == 1 and not C.any()
    wanted, found = C.copy(), C.copy()
    allo.customize(gemm).build()(A, B, wanted)
    allo.customize(shorter).build()(A, B, found)
    assert repr(float(wanted[example.element])) == example.seen_left
    assert repr(float(found[example.element])) == example.seen_right


def test_json():
    told = json.loads(allo.verify(gemm, shorter).to_json())
    assert told["answer"] == "different" and told["counterexample"]["values"][1] == "0.0"
    assert json.loads(allo.verify(gemm, row_wise()).to_json())["answer"] == "equivalent"
    assert json.loads(allo.verify(gemm, gemm, method="differential").to_json())["answer"] == "unknown"


def streamed():
    """Two products joined by a FIFO, in which rows of C go from one to the other."""
    s = allo.customize(two_mm)
    s.reorder("gemm2:k", "gemm2:j")
    s.buffer_at("gemm2:E", axis="gemm2:i")
    s.relay(s.C, "gemm2", depth=4)
    return s


def test_a_stream_is_equivalent():
    assert streamed().verify()


def test_the_buggy_stream_of_fig_6(monkeypatch):
    """The first product is made column by column, as if `reorder` did not check dependences."""
    s = streamed()
    monkeypatch.setattr(sys.modules["allo.customize.reorder"], "order_violation", lambda *_, **__: None)
    s.reorder("gemm1:j", "gemm1:i")
    s.pipeline("gemm1:k")
    result = s.verify()
    assert isinstance(result, Different)
    example = result.counterexample
    assert example.reason.startswith("order of the elements of stream 'fifo_C': before this step the program puts ")
    assert example.reason.endswith(" as element 1, and after it the program puts it as element 4")
    assert example.first_step is not None and example.first_step.number == 3
    assert example.first_step.text == 's.reorder("gemm1:S_i_j_0.j", "gemm1:S_i_j_0.i")'
    assert "first step after which they differ: s.reorder" in str(result)


def test_helper_for_tests():
    assert assert_equivalent(gemm, row_wise())
    with pytest.raises(allo.VerificationError) as caught:
        assert_equivalent(gemm, shorter)
    assert "C[" in str(caught.value) and "inputs on which both were run" in str(caught.value)


def test_unknown_method():
    with pytest.raises(allo.VerificationError) as caught:
        allo.verify(gemm, gemm, method="afine")
    assert str(caught.value) == "there is no method 'afine'\n  hint: did you mean 'affine'?"


@pytest.mark.parametrize("timeout", [-1, math.nan, "3", None, True])
def test_no_number_of_seconds(timeout):
    with pytest.raises(allo.VerificationError) as caught:
        allo.verify(gemm, gemm, timeout=timeout)
    assert str(caught.value) == f"timeout must be a number of seconds, 0 or more, got {timeout!r}"


def test_sums_of_floats_in_another_order_only_when_asked():
    def forward(x: float32[8]) -> float32:
        total: float32 = 0
        for i in range(8):
            total += x[i]
        return total

    def backward(x: float32[8]) -> float32:
        total: float32 = 0
        for i in range(8):
            total += x[7 - i]
        return total

    result = allo.verify(forward, backward)
    assert isinstance(result, Different)
    assert allo.verify(forward, backward, reassociate=True)


def test_zeros_have_signs_and_nan_is_less_than_nothing():
    def one(x: float32[4], y: float32[4]):
        for i in range(4):
            y[i] = x[i] if x[i] > 0.0 else 0.0

    def other(x: float32[4], y: float32[4]):
        for i in range(4):
            y[i] = 0.0 if x[i] < 0.0 else x[i]

    assert isinstance(allo.verify(one, other), Different)


def test_integers_wrap():
    def one(x: int8[4], y: int8[4]):
        for i in range(4):
            y[i] = x[i] * 5

    def other(x: int8[4], y: int8[4]):
        for i in range(4):
            y[i] = (x[i] << 2) + x[i]

    def wrong(x: int8[4], y: int8[4]):
        for i in range(4):
            y[i] = (x[i] << 2) | x[i]

    assert allo.verify(one, other)
    assert isinstance(allo.verify(one, wrong), Different)


def test_reshaped_and_packed_arguments():
    def bytes_added(x: int8[8, 4], y: int8[8, 4]):
        for i, j in allo.grid(8, 4):
            y[i, j] += x[i, j]

    s = allo.customize(bytes_added)
    s.reshape(s.x, [32])
    s.pack(s.y, 2, 4)
    assert s.verify()


def test_subscripts_from_data():
    def gathered(index: UInt(3)[4], x: float32[8], y: float32[4]):
        for i in range(4):
            y[i] = x[index[i]]

    def backwards(index: UInt(3)[4], x: float32[8], y: float32[4]):
        for i in range(4):
            y[3 - i] = x[index[3 - i]]

    def wrong(index: UInt(3)[4], x: float32[8], y: float32[4]):
        for i in range(4):
            y[3 - i] = x[index[i]]

    assert allo.verify(gathered, backwards)
    assert isinstance(allo.verify(gathered, wrong), Different)


def test_loops_that_end_by_data_are_unknown_with_the_statement():
    def halved(x: int32[1], y: int32[1]):
        while x[0] > 1:
            x[0] = x[0] // 2
            y[0] += 1

    def shifted(x: int32[1], y: int32[1]):
        while x[0] > 1:
            x[0] = x[0] >> 1
            y[0] = 1 + y[0]

    result = allo.verify(halved, shifted)
    assert isinstance(result, Unknown) and result.at is not None and result.at.line > 0
    assert "inputs agreed" in result.reason


def collatz(x: int32, steps: int32) -> int32:
    n: int32 = x
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + steps
    for i in range(4):
        n += i
    return n


def scaled(A: float32[...], n: int32):
    for i in range(n):
        A[i] = 2.0 * A[i]


@pytest.mark.parametrize(
    ("kernel", "method"), [(collatz, "the same operations"), (scaled, "array dataflow graphs of any size")]
)
def test_directives_change_nothing_whatever_the_program_does(kernel, method):
    s = allo.customize(kernel)
    s.pipeline("i")
    s.unroll("i", factor=2)
    result = s.verify()
    assert isinstance(result, Equivalent) and result.method == method
    assert isinstance(s.verify(method="affine"), Equivalent) == (kernel is scaled)


def test_other_operations_of_an_unknown_program_are_not_the_same():
    def tripled(A: float32[...], n: int32):
        for i in range(n):
            A[i] = 3.0 * A[i]

    def added(A: float32[...], n: int32):
        for i in range(n):
            A[i] = A[i] + A[i]

    result = allo.verify(scaled, tripled)
    assert isinstance(result, Different) and "n = 5" in str(result)  # the extent of A, so that all of it is used
    assert not isinstance(allo.verify(scaled, added, timeout=1), Equivalent)


def test_leaving_an_array_is_a_difference():
    text = str(allo.customize(gemm).module)
    other = Module.parse(text.replace(f"affine.for %arg5 = 0 to {K}", f"affine.for %arg5 = 0 to {K + 1}"))
    result = allo.verify(gemm, other)
    assert isinstance(result, Different) and "outside of 'A'" in result.counterexample.reason
