"""Arguments and streams that are moved in another form: numbers, four bits, odd widths, rests of words."""

# Streams of regions are declared by annotations.
# ruff: noqa: F821

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.aie.carried import Carried, CarriedForm, carried_as
from allo.errors import TargetError
from allo.ir.mlir_types import memref_type
from allo.ir.types import (
    Stream,
    TensorType,
    bfloat16,
    bool,
    float32,
    index,
    int4,
    int8,
    int12,
    int16,
    int32,
    uint4,
    uint8,
)
from allo.library.aie import GEMM
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate
M, N, K = 16, 16, 32

type Numbers = np.ndarray[Any, Any]


def integers(low: int, high: int, *shape: int, kind: Any = np.int8) -> Numbers:
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(kind)


@df.region()
def mixed(A: int8[M, K], B: int4[K, N], C: int32[M, N]):
    @df.kernel(mapping=[2], args=[A, B, C])
    def gemm(a: int8[M, K], b: int4[K, N] @ [R, S(0)], c: int32[M, N] @ [R, S(0)]):
        c[:, :] = allo.matmul(a, b)


@df.region()
def numbers(A: float32[M], scale: float32, shift: int16, last: uint8, half: bfloat16, count: int32, B: float32[M]):
    @df.kernel(mapping=[1], args=[A, scale, shift, last, half, count, B])
    def core(a: float32[M], s: float32, d: int16, e: uint8, h: bfloat16, n: int32, b: float32[M]):
        for i in range(n):
            b[i] = a[i] * s + d + e + h


@df.region()
def odd(A: int8[M], I: int32[M], P: int4[3, 3], B: int16[M], C: uint4[M]):  # noqa: E741
    wide: Stream[int12, 4]
    blocks: Stream[uint4[M], 2]
    flags: Stream[bool, 2]

    @df.kernel(mapping=[1], args=[A])
    def send(a: int8[M]):
        x: uint4[M] = 0
        for i in range(M):
            wide.put(a[i] * 9)
            flags.put(a[i] > 0)
            x[i] = a[i] + 8
        blocks.put(x)

    @df.kernel(mapping=[1], args=[P, B])
    def receive(p: int4[3, 3], b: int16[M]):
        for i in range(M):
            b[i] = wide.get() + (100 if flags.get() else 0)
        x = blocks.get()
        for i in range(M):
            b[i] += x[i] + p[2, 2]

    @df.kernel(mapping=[1], args=[I, C])
    def scattered(i: int32[M], c: uint4[M]):
        for k in range(M):
            place: index = i[k]
            c[place] = k


@df.region()
def convolution(X: int16[7, 7], F: int16[3, 3], Y: int16[5, 5]):
    """Arguments of 98, 18 and 50 bytes."""

    @df.kernel(mapping=[1], args=[X, F, Y])
    def conv(x: int16[7, 7], f: int16[3, 3], y: int16[5, 5]):
        for i, j in allo.grid(5, 5):
            total: int16 = 0
            for r, c in allo.grid(3, 3):
                total += x[i + r, j + c] * f[r, c]
            y[i, j] = total


@df.region()
def peeked(A: int32[M], B: int32[M]):
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def send(a: int32[M]):
        for i in range(M):
            pipe.put(a[i])

    @df.kernel(mapping=[1], args=[B])
    def receive(b: int32[M]):
        for i in range(M // 2):
            b[i] = pipe.peek() * 2 + pipe.get()
        for i in range(M // 2):
            if pipe.peek() > 0:
                b[M // 2 + i] = pipe.get()
            else:
                b[M // 2 + i] = 0 - pipe.get()


@pytest.mark.parametrize("kernels", ["scalar", pytest.param("vector", marks=pytest.mark.slow)])
def test_products_with_four_bits(kernels: str) -> None:
    A, B, C = integers(-128, 128, M, K), integers(-8, 8, K, N), np.zeros((M, N), np.int32)
    built = df.build(mixed, target="aie", kernels=kernels)
    built(A, B, C)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B)
    assert "%B: memref<256xi8>" in built.mlir  # two of B in a byte
    if built.kernels is not None:
        assert [choice.kernel for choice in built.kernels.choices] == ["product_i8xi4_i32_16x32x8"]
        assert built.kernels.copies == ()
        assert built.timed().multiplied == {"i8xi4": M * K * N}


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["scalar", "vector"])
@pytest.mark.parametrize(
    ("first", "second", "device"), [(int4, int4, "npu1"), (int8, int4, "npu2"), (int4, int8, "npu1")], ids=str
)
def test_chains_of_products_with_four_bits(first: Any, second: Any, device: str, kernels: str) -> None:
    """Only the second factor of an instruction may have four bits: the first is widened, in blocks."""
    top, steps = GEMM(32, 64, 32, 2, 2, 2, first, int8, TyB=second)
    A, B = integers(-8, 8, 32, 32), integers(-8, 8, 32, 64)
    C = np.zeros((32, 64), np.int8)
    built = df.build(top, target="aie", mapping_primitives=steps, kernels=kernels, device_type=device)
    built(A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    if built.kernels is not None:
        called = [line for line in built.mlir.splitlines() if "func.func private @widen_i4_" in line]
        assert built.kernels.copies == () and len(called) == (first is int4 or second is int8)
        assert built.timed().multiplied == {"i8" if second is int8 else "i8xi4": 32 * 32 * 64}


@df.region()
def pairs_elsewhere(A: int8[16, 32], B: int4[32, 32], C: int32[16, 32], D: int8[32, 32]):
    """B is used by another loop too, and columns first by a product."""

    @df.kernel(mapping=[1], args=[A, B, C, D])
    def core(a: int8[16, 32], b: int4[32, 32], c: int32[16, 32], d: int8[32, 32]):
        c[:, :] = allo.matmul(a, b.T)
        for i, j in allo.grid(32, 32):
            d[i, j] = b[31 - i, j]


@pytest.mark.slow
def test_pairs_that_are_used_otherwise_stay_loops() -> None:
    A, B = integers(-128, 128, 16, 32), integers(-8, 8, 32, 32)
    C, D = np.zeros((16, 32), np.int32), np.zeros((32, 32), np.int8)
    built = df.build(pairs_elsewhere, target="aie", kernels="vector")
    built(A, B, C, D)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B.T)
    np.testing.assert_array_equal(D, B[::-1])
    assert any("subscripts are computed" in str(choice) for choice in built.kernels.choices)


def test_numbers_of_a_call() -> None:
    A, B = np.arange(M, dtype=np.float32), np.full(M, -1, np.float32)
    built = df.build(numbers, target="aie")
    built(A, 0.5, -3, 200, 1.5, 5, B)
    expected = np.where(np.arange(M) < 5, A * 0.5 - 3 + 200 + 1.5, -1)
    np.testing.assert_array_equal(B, expected)
    with pytest.raises(TypeError, match="argument 'shift'"):
        built(A, 0.5, "3", 200, 1.5, 5, B)
    with pytest.raises(TargetError) as caught:
        allo.verify(numbers, built)
    assert str(caught.value) == (
        "argument 'scale' is f32 and moved as memref<1xi32>, which is what the model takes: it has not the interface "
        "of a kernel to compare it with\n"
        "  hint: run it beside the region, or declare arguments as they are moved"
    )


def test_odd_widths() -> None:
    A, P = integers(-8, 8, M), integers(-8, 8, 3, 3)
    order = np.random.default_rng(0).permutation(M).astype(np.int32)
    B, C = np.zeros(M, np.int16), np.zeros(M, np.uint8)
    df.build(odd, target="aie")(A, order, P, B, C)
    np.testing.assert_array_equal(B, A.astype(np.int16) * 9 + 100 * (A > 0) + A + 8 + P[2, 2])
    np.testing.assert_array_equal(C[order], np.arange(M))


def test_rests_of_words() -> None:
    X, F, Y = (integers(-9, 9, n, n, kind=np.int16) for n in (7, 3, 5))
    built = df.build(convolution, target="aie")
    built(X, F, Y)
    np.testing.assert_array_equal(Y, sum(X[r : r + 5, c : c + 5] * F[r, c] for r in range(3) for c in range(3)))
    assert [use.access for use in built.graph.nodes[0].parts] == ["in", "in", "out"]


def test_peeks() -> None:
    A, B = integers(-9, 9, M, kind=np.int32), np.zeros(M, np.int32)
    df.build(peeked, target="aie")(A, B)
    np.testing.assert_array_equal(B, np.concatenate([3 * A[:8], abs(A[8:])]))


def test_a_peek_alone_is_refused() -> None:
    @df.region()
    def top(A: int32[4], B: int32[4]):
        pipe: Stream[int32, 4]

        @df.kernel(mapping=[1], args=[A])
        def send(a: int32[4]):
            for i in range(4):
                pipe.put(a[i])

        @df.kernel(mapping=[1], args=[B])
        def receive(b: int32[4]):
            first: int32 = pipe.peek()
            for i in range(4):
                b[i] = pipe.get() + first

    with pytest.raises(TargetError) as caught:
        df.build(top, target="aie")
    text = re.sub(r'File ".*?", line \d+, column \d+: ', "", str(caught.value)).splitlines()
    assert (
        text[0] == "streams on an array of processors are put into and got from; cores have no 'allo.stream_peek'"
    )
    assert text[-1] == "  hint: get an element, and keep it as long as it is needed"


@pytest.mark.parametrize(
    ("element", "shape", "moved"),
    [
        (int4, (4, 16), ((4, 8), CarriedForm.NIBBLES)),
        (uint4, (4, 8), ((4, 4), CarriedForm.NIBBLES)),
        (int4, (3, 5), ((8,), CarriedForm.NIBBLES)),
        (int12, (4, 4), ((4, 4), CarriedForm.SAME)),
        (bfloat16, (3, 3), ((10,), CarriedForm.SAME)),
        (uint8, (7,), ((8,), CarriedForm.SAME)),
    ],
)
def test_there_and_back(element: Any, shape: tuple[int, ...], moved: tuple[tuple[int, ...], CarriedForm]) -> None:
    carried = carried_as(memref_type(TensorType(element, shape)))
    assert isinstance(carried, Carried) and (carried.shape, carried.form) == moved
    low, kind = (0, np.uint8) if element in (uint4, uint8) else (-8, np.int16 if element == int12 else np.int8)
    value = integers(low, low + 16, *shape, kind=carried.dtype if element == bfloat16 else kind)
    again = np.zeros_like(value)
    carried.take_back(carried.given(value), again)
    np.testing.assert_array_equal(again, value)


def test_host_programs_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of the host program give what a call on the model passes."""
    df.build(odd, target="aie", project=str(tmp_path / "p"))
    text = (tmp_path / "p" / "run.py").read_text()
    start, end = text.index("CARRIED ="), text.index("if len(FILES)")
    monkeypatch.setattr("sys.argv", ["run.py"])
    names: dict[str, Any] = {}
    exec("import json, sys\nimport numpy as np\n" + text[start:end], names)
    assert names["CARRIED"] == {"2": ["nibbles", "int8", [8]], "4": ["nibbles", "int8", [8]]}
    P = integers(-8, 8, 3, 3)
    carried = carried_as(memref_type(TensorType(int4, (3, 3))))
    assert carried is not None
    made = names["moved"](P, *names["CARRIED"]["2"])
    np.testing.assert_array_equal(made, carried.given(P))
    np.testing.assert_array_equal(names["taken_back"](made, P, "nibbles"), P)
