"""The kernel language as programs for published Allo use it: values, results, names and branches."""

# ruff: noqa: F821 - kernels declare arrays without a value, and names are found at `customize`

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, Float, Int, Struct, float32, index, int8, int32

from .doors import through_doors

Pair = Struct({"x": int32, "y": int32})
Both = Struct({"first": Pair, "weight": int32})


def test_fields_of_structs_by_name_and_lists_with_computed_elements() -> None:
    def kernel(a: int32, b: int32) -> int32[2, 2]:
        p: Pair = {"x": a, "y": b}
        p["x"] += 3
        p["y"] = p["x"] * 2
        table: int32[2, 2] = [[a, 2], [b - 1, p["x"]]]
        row = [p["y"], 7, a]
        table[0] += row[0]
        pairs: Pair[2] = {"x": 1, "y": 2}
        pairs[1]["y"] = row[2]
        table[1, 0] = pairs[1]["y"] + pairs[0]["y"]
        return table

    assert through_doors(kernel, 5, 9).result.tolist() == [[21, 18], [7, 8]]


def test_a_list_is_computed_before_it_is_assigned() -> None:
    def kernel(A: int32[2]):
        A = [A[1], A[0] + 1]

    assert through_doors(kernel, np.array([3, 8], np.int32)).arguments[0].tolist() == [8, 4]


def test_results_given_to_elements_and_to_other_types() -> None:
    def divided(a: int32, b: int32) -> (int32, int32):
        return a // b, a % b

    def kernel(A: int32[4], C: int32[4], D: int8[4]) -> int32:
        last: int8 = 0
        rest: int32 = 0
        i: int32 = 0
        for k in range(4):
            C[k], D[k] = divided(A[k], 5)
            last, rest = divided(A[k] * 100, 7)
        i, C[i] = divided(11, 4)
        return last + rest

    A = np.array([13, 27, 4, 99], np.int32)
    seen = through_doors(kernel, A, np.zeros(4, np.int32), np.zeros(4, np.int8))
    C = A // 5
    C[2] = 3
    assert seen.arguments[1].tolist() == C.tolist() and seen.arguments[2].tolist() == (A % 5).tolist()
    assert seen.result == int(np.array(9900 // 7).astype(np.int8)) + 9900 % 7


def test_one_value_to_several_places() -> None:
    """It is computed once, and each place converts it by itself; subscripts on the left see what is left of them."""

    def kernel(A: int32[6], a: int32) -> (int8, int32, float32):
        x: int8 = 0
        y: float32
        i: int32 = 1
        x = z = a + 250
        A[0] = y = w = A[1] * 3
        i = A[i] = 2
        p = q = 7
        A[3] = A[i + 2] = p + q
        u = v = 2.5
        y += u + v
        return x, z + w, y

    seen = through_doors(kernel, np.arange(1, 7, dtype=np.int32), 100)
    assert seen.returned == (94, 356, 11.0) and seen.arguments[0].tolist() == [6, 2, 2, 14, 14, 6]
    again = np.arange(1, 7, dtype=np.int32)
    assert allo.interpret(kernel)(again, 100) == (94, 356, 11.0) and again.tolist() == [6, 2, 2, 14, 14, 6]


def test_one_array_and_several_values_to_several_places() -> None:
    def kernel(A: int32[3], B: int32[3], C: int8[3]):
        A[:] = B = C
        D = E = A + 100
        B = A[0:3] = D * E
        C = E = E - 97
        a, b = C[0], C[1] = A[2], B[1] + 1
        C[2] = a - b + E[0]

    given = (np.zeros(3, np.int32), np.zeros(3, np.int32), np.array([5, 6, 7], np.int8))
    A, B, C = through_doors(kernel, *given).arguments
    squares = np.array([5, 6, 7], np.int32) + 100
    np.testing.assert_array_equal(A, squares**2)
    np.testing.assert_array_equal(B, A)
    assert C.tolist() == np.array([A[2], B[1] + 1, A[2] - (B[1] + 1) + 8]).astype(np.int8).tolist()


def test_return_converts_to_the_declared_result() -> None:
    def product(A: int32[4, 4], B: int32[4, 4]) -> int32[4, 4]:
        C = allo.matmul(A, B)
        return C

    def kernel(A: int32[4, 4], B: int32[4, 4], scale: float32) -> (float32[4, 4], int32):
        C = product(A, B)
        return C, scale

    A, B = np.random.default_rng(0).integers(-(2**31), 2**31, (2, 4, 4)).astype(np.int32)
    matrix, number = through_doors(kernel, A, B, 2.75).returned
    wanted = (A.astype(object) @ B.astype(object)) % (1 << 32)
    np.testing.assert_array_equal(matrix, wanted.astype(np.uint32).view(np.int32).astype(np.float32))
    assert number == 2


def test_several_results_of_a_call_are_returned() -> None:
    def inner(a: int32, A: int32[4]) -> (int32, int32[4]):
        B: int32[4] = 0
        for i in range(4):
            B[i] = A[i] + a
        return a * 2, B

    def kernel(a: int32, A: int32[4]) -> (int8, float32[4]):
        return inner(a + 1, A)

    def other(a: int32, A: int32[4]) -> (int8, float32[4], int32):
        return inner(a, A)

    number, array = through_doors(kernel, 300, np.arange(4, dtype=np.int32)).returned
    assert number == 602 - 512 and array.tolist() == [301, 302, 303, 304]
    with pytest.raises(allo.KernelError, match="'other' is declared to give 3 results, but returns 2 results of 'inn"):
        allo.customize(other)


def test_return_inside_meta_if() -> None:
    def kernel[T, N: index](A: "T[N]") -> "T[N]":
        B: T[N] = 0
        with allo.meta_if(T == int32):  # noqa: SIM300
            for i in range(N):
                B[i] = A[i] * 2
            return B
        with allo.meta_else():
            for i in range(N):
                B[i] = A[i] + 1
        return B

    A = np.arange(4)
    doubled = through_doors(allo.customize(kernel, instantiate=[int32, 4]), A.astype(np.int32)).result
    more = through_doors(allo.customize(kernel, instantiate=[float32, 4]), A.astype(np.float32)).result
    assert doubled.tolist() == [0, 2, 4, 6] and more.tolist() == [1, 2, 3, 4]


def test_an_argument_is_returned() -> None:
    def kernel(X: int32[4], n: int32) -> (int32[4], int32):
        for i in range(4):
            X[i] += n
        return X, n

    seen = through_doors(kernel, np.arange(4, dtype=np.int32), 5)
    assert seen.returned[0].tolist() == seen.arguments[0].tolist() == [5, 6, 7, 8] and seen.returned[1] == 5


def of_callers(A: "int32[ROWS]") -> "int32[ROWS]":
    B: int32[ROWS] = 0
    for i in range(ROWS):
        B[i] = A[i] * FACTOR
    return B


def scheduled(kernel) -> allo.Schedule:
    FACTOR = 3  # noqa: F841 - the kernel names it
    return allo.customize(kernel)


def test_names_are_found_in_the_callers_of_customize() -> None:
    ROWS = 4
    assert through_doors(scheduled(of_callers), np.arange(ROWS, dtype=np.int32)).result.tolist() == [0, 3, 6, 9]
    with pytest.raises(allo.KernelError, match="name 'FACTOR' is not defined"):
        allo.customize(of_callers)


def test_signatures_bind_their_names_when_bodies_do() -> None:
    T = int8

    def inner(a: T) -> T:
        b: T = a
        return b

    T = int32

    def kernel(a: int32) -> int32:
        return inner(a)

    assert through_doors(kernel, 200).result == 200


def test_bit_patterns_are_integers_with_a_warning() -> None:
    def kernel(word: int32) -> int32:
        fixed: int32 = 0xABCD0123
        word[0:8] = 0xCD
        return word ^ fixed

    with pytest.warns(allo.KernelNote) as noted:
        s = allo.customize(kernel)
    (said,) = noted
    assert str(said.message).splitlines()[0].endswith(
        "column 24: `0xABCD0123` is 2882339107, which int32 holds as -1412628189"
    )
    assert str(said.message).endswith("hint: declare it uint32, or write the negative number")
    with pytest.warns(UserWarning, match=r"^argument 'word': int32 does not hold 0xabcd0123, whose bits are those of"):
        assert through_doors(s, 0xABCD0123).result == 0xCD ^ 0x23


def test_extents_of_run_time_in_hardware() -> None:
    def total(A: float32[...]) -> float32:
        s: float32 = 0
        for i in range(A.shape[0]):
            s += A[i]
        return s

    def kernel(A: float32[...], B: float32[..., 2], n: int32) -> float32:
        for i in range(n):
            for j in range(2):
                B[i, j] = A[i] * (j + 1)
        return total(A) + B.shape[0]

    s = allo.customize(kernel)
    code = s.build(target="vhls").hls_code
    assert "kernel(float A[], float B[][2], int32_t n, int64_t A_extent, int64_t B_extent)" in code
    A = np.arange(5, dtype=np.float32)
    seen = through_doors(s, A, np.zeros((5, 2), np.float32), 4)
    assert seen.result == 15 and seen.arguments[1][:4].tolist() == [[a, 2 * a] for a in A[:4]]


def test_extents_of_inlined_kernels() -> None:
    def doubled(A: int32[...], B: int32[...]):
        for i in range(A.shape[0]):
            B[i] = A[i] * 2

    def kernel(B: int32[...]):
        T: int32[6] = 1
        doubled(T, B)

    s = allo.customize(kernel)
    s.inline("doubled")
    assert through_doors(s, np.zeros(8, np.int32)).arguments[0].tolist() == [2] * 6 + [0] * 2


def test_bounds_of_type_parameters_are_classes() -> None:
    def kernel[T: (Float, Int), N: index](A: "T[N]") -> "T[N]":
        B: T[N] = 0
        for i in range(N):
            B[i] = A[i] + 1
        return B

    s = allo.customize(kernel, instantiate=[int32, 4])
    assert through_doors(s, np.arange(4, dtype=np.int32)).result.tolist() == [1, 2, 3, 4]
    with pytest.raises(allo.KernelError, match=r"'T' must be one of Float, Int, got Fixed\(8, 3\)"):
        allo.customize(kernel, instantiate=[Fixed(8, 3), 4])


def test_dicts_wherever_a_struct_is_wanted() -> None:
    def mirrored(p: Pair) -> Pair:
        return {"y": p["x"], "x": p["y"]}

    def kernel(a: int32, b: int32) -> int32[2, 2]:
        p: Pair = mirrored({"x": a, "y": b})
        p = {"x": p["y"], "y": p["x"] + 1}  # both fields are read before one is written
        pairs: Pair[2] = {"x": 1, "y": 2}
        pairs[1] = {"x": b, "y": pairs[0]["y"] + 5}
        pairs[0] = pairs[1]
        pairs[0], p = {"x": pairs[0]["x"], "y": 7}, {"x": p["x"], "y": p["y"]}
        both: Both = {"first": p, "weight": 3}
        both["first"] = {"x": both["weight"], "y": p["y"]}
        q = both["first"]
        q["x"] += a
        table: int32[2, 2] = [[p["x"], p["y"]], [pairs[0]["x"] + pairs[0]["y"], q["x"] * q["y"]]]
        return table

    assert through_doors(kernel, 5, 9).result.tolist() == [[5, 10], [16, 80]]


def test_several_contexts_in_one_with() -> None:
    def kernel(A: int32[3, 4]) -> int32[3, 4]:
        B: int32[3, 4] = 0
        with allo.meta_for(3) as i, allo.meta_for(i, 4) as j:
            with allo.meta_if(i == j), allo.meta_for(2) as k:
                B[i, j] += A[i, j] + k
            with allo.meta_else():
                B[i, j] = 7
        return B

    A = np.arange(12, dtype=np.int32).reshape(3, 4)
    wanted = np.triu(np.full((3, 4), 7), 1) + (2 * A + 1) * np.eye(3, 4, dtype=int)
    assert through_doors(kernel, A).result.tolist() == wanted.tolist()


@pytest.mark.parametrize("flag", [True, False])
def test_arrays_that_a_constant_chooses(flag: bool) -> None:
    def kernel(A: float32[4, 4], B: float32[4, 4]) -> float32[4, 4]:
        C = allo.matmul(A, B) if flag else allo.add(A, B)
        D: float32[4, 4] = C if flag else A
        return allo.relu(D) if flag else D

    A, B = (np.random.default_rng(k).integers(-3, 4, (4, 4)).astype(np.float32) for k in (1, 2))
    wanted = np.maximum(A @ B, 0) if flag else A
    np.testing.assert_array_equal(through_doors(kernel, A, B).result, wanted)
