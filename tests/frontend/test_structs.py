"""Structs in kernels: fields on both sides, values, copies, calls, states and constants, and primitives on them."""

from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, Int, Stateful, Struct, UFixed, UInt, float32, int8, int32
from allo.ir.types import bool as bool_

INNER = Struct({"y": Int(5), "z": UFixed(9, 3)})
POINT = Struct({"x": int32, "w": Fixed(8, 4), "inner": INNER})
PAIR = Struct({"x": int32, "w": Fixed(8, 4)})
COMPLEX = Struct({"re": float32, "im": float32})
N = 8


def pair(x: int, w: float) -> Any:
    return PAIR(x=x, w=w)


def build(kernel: Any) -> Any:
    return allo.customize(kernel).build()


def test_fields_of_variables_and_arguments() -> None:
    def kernel(p: POINT) -> (int32, POINT):
        q: POINT = p
        q.x = p.x + 1
        q.x -= 10
        q.inner.y += 3
        q.w = q.x / 4
        return p.x, q

    x, q = build(kernel)({"x": 5, "w": 0.5, "inner": {"y": 14, "z": 1.125}})
    assert (x, q.item()) == (5, (-4, -1.0, (-15, 1.125)))  # 14 + 3 wraps in five bits


def test_fields_of_elements() -> None:
    def kernel(ps: POINT[N], A: int32[N]):
        for i in range(N):
            ps[i].x *= A[i]
            ps[i].inner.z = ps[N - 1 - i].w + 1

    ps = np.zeros(N, POINT({"x": 0, "w": 0, "inner": {"y": 0, "z": 0}}).dtype)
    ps["x"], ps["w"] = np.arange(N), np.arange(N) / 16
    build(kernel)(ps, np.arange(N, dtype=np.int32))
    assert ps["x"].tolist() == [i * i for i in range(N)]
    assert ps["inner"]["z"].tolist() == [np.floor((1 + (N - 1 - i) / 16) * 8) / 8 for i in range(N)]


def test_bits_of_fields() -> None:
    def kernel(ps: POINT[2]) -> (UInt(1), UInt(3)):
        ps[0].inner.y[0] = 1
        ps[1].x[4:8] = 15
        ps[1].x[0] ^= 1
        return ps[0].inner.y[0], ps[1].x[3:6]

    ps = np.zeros(2, POINT({"x": 0, "w": 0, "inner": {"y": 0, "z": 0}}).dtype)
    assert build(kernel)(ps) == (1, 6)
    assert (ps["inner"]["y"].tolist(), ps["x"].tolist()) == ([1, 0], [0, 0xF1])


def test_values_from_all_fields() -> None:
    def kernel(n: int32) -> (POINT, PAIR, int32):
        p: POINT = {"w": 0.3, "x": n, "inner": {"y": n, "z": 2}}
        q = PAIR(w=n, x=p.x + 1)
        return p, q, PAIR({"x": n, "w": 0}).x

    p, q, x = build(kernel)(3)
    assert (p.item(), q.item(), x) == ((3, 0.25, (3, 2.0)), (4, 3.0), 3)


def test_assignments_copy() -> None:
    def kernel(ps: PAIR[4]) -> (PAIR, PAIR):
        p: PAIR = ps[0]
        q = p
        ps[0].x = 10
        p.x = 20
        ps[1] = p
        ps[2:] = ps[:2]
        return p, q

    ps = np.array([pair(i, i / 2) for i in range(4)])
    assert [r.item() for r in build(kernel)(ps)] == [(20, 0.0), (0, 0.0)]
    assert ps.tolist() == [(10, 0.0), (20, 0.0), (10, 0.0), (20, 0.0)]


def test_whole_arrays() -> None:
    def kernel(ps: PAIR[4]) -> PAIR[4]:
        same: PAIR[4] = ps
        filled: PAIR[4] = {"x": 7, "w": 0.5}
        ps[1:3] = filled[:2]
        filled[:] = same
        filled[0] = ps[2]
        return filled

    ps = np.array([pair(i, i / 2) for i in range(4)])
    assert build(kernel)(ps).tolist() == [(7, 0.5), (1, 0.5), (2, 1.0), (3, 1.5)]
    assert ps.tolist() == [(0, 0.0), (7, 0.5), (7, 0.5), (3, 1.5)]


def moved(p: PAIR, by: int32) -> PAIR:
    p.x += by
    return p


def reset_first(ps: PAIR[4]) -> int32:
    ps[0] = PAIR(x=0, w=0)
    return ps[1].x


def test_calls_and_choices() -> None:
    def kernel(p: PAIR, ps: PAIR[4], c: bool_) -> (PAIR, PAIR, int32, int32):
        q = moved(p, 5)
        chosen: PAIR = ps[3] if c else moved(q, 1)
        first = reset_first(ps)
        ps[moved(p, 1).x].x += moved(p, 2).x
        return q, chosen, moved(q, 1).x, first

    ps = np.array([pair(i + 1, 1) for i in range(4)])
    q, chosen, x, first = build(kernel)(pair(1, -1), ps, False)
    assert (q.item(), chosen.item(), x, first) == ((6, -1.0), (7, -1.0), 7, 2)
    assert ps["x"].tolist() == [0, 2, 6, 4] and p_is_unchanged(kernel)


def p_is_unchanged(kernel: Any) -> bool:
    """Structs are passed by value: the argument of the caller stays."""
    p = pair(1, -1)
    ps = np.array([pair(i + 1, 1) for i in range(4)])
    build(kernel)(p, ps, True)
    return bool(p == pair(1, -1))


def swap[T, M: int](A: "T[M]", B: "T[M]"):
    for i in range(M):
        t: T = A[i]
        A[i] = B[i]
        B[i] = t


def test_templates() -> None:
    A, B = np.array([pair(i, 1) for i in range(3)]), np.array([pair(-i, 2) for i in range(3)])
    a, b = A.tolist(), B.tolist()
    allo.customize(swap, instantiate=[PAIR, 3]).build()(A, B)
    assert (A.tolist(), B.tolist()) == (b, a)


def test_bits_of_a_struct_have_the_first_field_in_front() -> None:
    def kernel(p: PAIR, ps: PAIR[2]) -> (UInt(40), PAIR, Int(8)):
        ps[1] = p.bitcast().bitcast(PAIR)
        bits = p.bitcast()
        bits[0] = 1
        return p.bitcast(), bits.bitcast(PAIR), p.w.bitcast(Int(8))

    ps = np.array([pair(0, 0)] * 2)
    bits, changed, w = build(kernel)(pair(6, -1), ps)
    assert (bits, changed.item(), w) == (6 | 0xF0 << 32, (7, -1.0), -16)
    assert ps[1].item() == (6, -1.0)


TABLE = np.array([(1, 0.5), (2, -1.5), (3, 2.25)], np.dtype([("n", "i4"), ("f", "f4")]))


def test_constants() -> None:
    def kernel(i: int32) -> (int32, float32, PAIR, Fixed(9, 2)):
        ps: PAIR[2] = [{"x": 1, "w": 0.5}, {"x": -2, "w": -1.5}]
        L: Fixed(9, 2)[3] = [0.25, -1.75, 7]
        return TABLE[i].n, TABLE[i].f, ps[i], L[i]

    s = allo.customize(kernel)
    assert "memref.alloc" not in str(s.module)
    n, f, p, q = s.build()(1)
    assert (n, f, p.item(), q) == (2, -1.5, (-2, -1.5), -1.75)


WIDE = np.array([1 << 90, -5], object)


def test_wide_constants() -> None:
    def kernel(i: int32) -> (Int(100), UInt(70)):
        A: Int(100)[2] = WIDE
        B: UInt(70)[2] = [1 << 69, 3]
        return A[i], B[i]

    built = build(kernel)
    assert [built(0), built(1)] == [(1 << 90, 1 << 69), (-5, 3)]


def test_states() -> None:
    def kernel(by: int8) -> (PAIR, Fixed(9, 1), Int(100), PAIR[2]):
        last: Stateful[PAIR] = {"x": 1, "w": -1}
        all_: Stateful[PAIR[2]] = 0
        total: Stateful[Fixed(9, 1)] = 1.5
        wide: Stateful[Int(100)] = 1 << 80
        last.x += by
        total += last.x
        wide = wide + wide
        all_[by].x += 1
        return last, total, wide, all_

    built = build(kernel)
    built(1)
    last, total, wide, all_ = built(0)
    assert (last.item(), total, wide, all_.tolist()) == ((2, -1.0), 5.5, 1 << 82, [(1, 0.0), (1, 0.0)])
    built.reset()
    assert built(1)[1] == 3.5


def test_a_state_given_to_a_kernel() -> None:
    def kernel() -> int32:
        ps: Stateful[PAIR[4]] = 0
        ps[1].x += 1
        return reset_first(ps)

    built = build(kernel)
    assert [built(), built()] == [1, 2]


def product(A: COMPLEX[N, N], B: COMPLEX[N, N], C: COMPLEX[N, N]):
    for i, j in allo.grid(N, N, name="C"):
        C[i, j] = COMPLEX(re=0, im=0)
        for k in range(N):
            C[i, j].re += A[i, k].re * B[k, j].re - A[i, k].im * B[k, j].im
            C[i, j].im += A[i, k].re * B[k, j].im + A[i, k].im * B[k, j].re


def complex_array(seed: int) -> Any:
    chosen = np.random.default_rng(seed)
    array = np.zeros((N, N), np.dtype([("re", "f4"), ("im", "f4")]))
    array["re"], array["im"] = chosen.integers(-5, 5, (2, N, N))
    return array


PRIMITIVES = {
    "none": lambda s: None,
    "split": lambda s: s.split("i", 4),
    "reorder": lambda s: s.reorder("j", "i"),
    "fuse": lambda s: s.fuse("i", "j"),
    "unroll": lambda s: s.unroll("k", 2),
    "parallel": lambda s: s.parallel("i"),
    "pipeline": lambda s: s.pipeline("j"),
    "partition": lambda s: s.partition("C", allo.Partition.Cyclic, dim=2, factor=2),
    "buffer_at_written": lambda s: s.buffer_at("C", "i"),
    "buffer_at_read": lambda s: s.buffer_at("A", "i"),
}


@pytest.mark.parametrize("apply", PRIMITIVES.values(), ids=PRIMITIVES)
def test_primitives_keep_the_meaning(apply: Any) -> None:
    A, B, C = (complex_array(seed) for seed in range(3))
    s = allo.customize(product)
    apply(s)
    s.build()(A, B, C)
    wanted = (A["re"] + 1j * A["im"]) @ (B["re"] + 1j * B["im"])
    assert (C["re"] == wanted.real).all() and (C["im"] == wanted.imag).all()


def test_a_field_carries_a_dependence() -> None:
    def kernel(ps: PAIR[N]):
        for i in range(1, N):
            ps[i].x = ps[i - 1].x + 1

    with pytest.raises(allo.ScheduleError, match="ps"):
        allo.customize(kernel).parallel("i")


def test_other_fields_of_one_element_are_one_place() -> None:
    """A store of a field is a store of the element, so two iterations that set different fields do not commute."""

    def kernel(ps: PAIR[N]):
        for i in range(N - 1):
            ps[i].x = 1
            ps[i + 1].w = 1

    with pytest.raises(allo.ScheduleError, match="ps"):
        allo.customize(kernel).parallel("i")


def test_module() -> None:
    def kernel(ps: PAIR[2]) -> int32:
        ps[0].x = ps[1].x
        return ps[0].x

    lines = str(allo.customize(kernel).module).splitlines()[2:-3]
    assert [line.strip() for line in lines] == [
        "%0 = affine.load %arg0[1] : memref<2x!allo.struct<{x: i32, w: !allo.fixed<8, 4>}>>",
        '%1 = allo.struct_get %0["x"] : !allo.struct<{x: i32, w: !allo.fixed<8, 4>}>',
        "%2 = affine.load %arg0[0] : memref<2x!allo.struct<{x: i32, w: !allo.fixed<8, 4>}>>",
        '%3 = allo.struct_get %2["w"] : !allo.struct<{x: i32, w: !allo.fixed<8, 4>}>',
        "%4 = allo.struct_construct %1, %3 : !allo.struct<{x: i32, w: !allo.fixed<8, 4>}>",
        "affine.store %4, %arg0[0] : memref<2x!allo.struct<{x: i32, w: !allo.fixed<8, 4>}>>",
        "%5 = affine.load %arg0[0] : memref<2x!allo.struct<{x: i32, w: !allo.fixed<8, 4>}>>",
        '%6 = allo.struct_get %5["x"] : !allo.struct<{x: i32, w: !allo.fixed<8, 4>}>',
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Struct takes at least one field: Struct({'x': int32})"),
        ({"a b": int32}, "the name of a field of a Struct must be an identifier, got 'a b'"),
        ({"x": 3}, "field 'x' of a Struct must be a number, a bool or a Struct, got 3"),
        ({"x": int32[4]}, "field 'x' of a Struct must be a number, a bool or a Struct, got int32[4]"),
        ((("x", int32), ("x", int32)), "two fields of a Struct have one name: x, x"),
    ],
)
def test_types_that_are_no_structs(fields: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Struct(fields)
    assert str(caught.value) == message


WEIGHTS = np.array([[0.5, 1, 1.5, 2]] * 4)


def weighted(A: Fixed(8, 4)[4, 4]) -> Fixed(12, 4):
    L: Fixed(8, 4)[4, 4] = WEIGHTS
    S: Stateful[Fixed(12, 4)[4, 4]] = 0
    for i, j in allo.grid(4, 4, name="S"):
        S[i, j] += L[i, j] * A[i, j]
    return S[3, 2]


@pytest.mark.parametrize(
    "apply",
    [
        lambda s: s.reorder("j", "i"),
        lambda s: s.buffer_at("L", "i"),
        lambda s: s.buffer_at("S", "i"),
        lambda s: s.partition("L", dim=1),
        lambda s: s.partition("S", allo.Partition.Cyclic, dim=2, factor=2),
    ],
    ids=["reorder", "buffer_constant", "buffer_state", "partition_constant", "partition_state"],
)
def test_primitives_on_constants_and_states(apply: Any) -> None:
    """Their memory holds integers, which the module sees as fixed-point numbers."""
    s = allo.customize(weighted)
    apply(s)
    built = s.build()
    assert [built(np.ones((4, 4))) for _ in range(2)] == [1.5, 3.0]
