"""Programs in the manner of published Allo: loops, conditions, variables and constants of the surrounding Python."""

import math

import numpy as np
import pytest

import allo
from allo.ir.types import ConstExpr, float32, index, int32, uint8, uint32


def same_as_python(kernel, *arguments) -> None:
    """The built kernel and the kernel run as Python leave the same arrays and results."""
    compiled = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    plain = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    got, wanted = allo.customize(kernel).build()(*compiled), allo.interpret(kernel)(*plain)
    for ours, theirs in zip([got, *compiled], [wanted, *plain], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_ranges_with_one_two_and_three_arguments() -> None:
    def kernel(A: int32[20]):
        for i in range(10):
            A[i] = i
        for i in range(10, 20):
            A[i] = i
        for i in range(0, 20, 2):
            A[i] = i * 2
        for i in range(19, 0, -5):
            A[i] -= 1

    same_as_python(kernel, np.zeros(20, np.int32))


def test_variable_bounds() -> None:
    def kernel(A: int32[10]):
        for i in range(10):
            for j in range(i + 1, 10):
                for k in range(j - i):
                    A[k] += i - j

    same_as_python(kernel, np.zeros(10, np.int32))


def test_bounds_and_steps_from_memory() -> None:
    def kernel(A: int32[10], B: int32[10]):
        for i in range(10):
            for j in range(A[i], 10, A[i]):
                for k in range(A[i] - 1, A[i] + 2):
                    B[k] += i - j

    same_as_python(kernel, np.arange(10, dtype=np.int32) % 4 + 1, np.zeros(10, np.int32))


def test_bound_is_an_argument() -> None:
    def kernel(A: float32[16], n: int32) -> float32:
        total: float32 = 0.0
        for i in range(n):
            total += A[i]
        return total

    same_as_python(kernel, np.arange(16, dtype=np.float32), 5)


@pytest.mark.parametrize(("a", "b"), [(0, 2), (1, 2), (1, 1), (5, 5)])
def test_nested_if(a: int, b: int) -> None:
    def kernel(a: int32, b: int32) -> int32:
        r: int32 = 0
        if a == 0:
            r = 1
        elif a == 1:
            r = 2
            if b == 2:
                r = 3
        else:
            r = 4
        return r

    same_as_python(kernel, a, b)


def test_conditions_of_loop_variables() -> None:
    def kernel(A: int32[8, 8]):
        for i, j in allo.grid(8, 8):
            if i == 0 or j == 7:
                A[i, j] = 1
            elif 2 <= i < 5 and not (j > 3):
                A[i, j] = -1
            else:
                A[i, j] += i * 8 + j

    same_as_python(kernel, np.ones((8, 8), np.int32))


def test_while_counts() -> None:
    def kernel(A: int32[10]):
        i: index = 0
        while i < 10:
            A[i] = i
            i += 1

    same_as_python(kernel, np.zeros(10, np.int32))


def test_while_until_equal() -> None:
    def gcd(a: int32, b: int32) -> int32:
        while a != b:
            if a > b:
                a -= b
            else:
                b -= a
        return a

    same_as_python(gcd, 84, 36)


def test_ternary() -> None:
    def kernel(A: int32[32], B: int32[32]):
        for i in range(32):
            B[i] = 1 if A[i] % 2 == 0 else (A[i] if A[i] > 0 else 0)

    same_as_python(kernel, np.arange(-16, 16, dtype=np.int32), np.zeros(32, np.int32))


def test_minimum_and_maximum() -> None:
    def kernel(A: int32[8], B: int32[8]):
        for i in range(8):
            low: int32 = min(A[i], B[i])
            B[i] = max(low, 3, A[7 - i])

    same_as_python(kernel, np.arange(8, dtype=np.int32), np.full(8, 4, np.int32))


def test_scalar_without_initial_value() -> None:
    def kernel(A: int32[4]) -> int32:
        i: index
        s: int32
        s = 0
        i = 0
        while i < 4:
            s += A[i]
            i = i + 1
        return s

    assert allo.customize(kernel).build()(np.arange(4, dtype=np.int32)) == 6


def test_constant_on_the_left() -> None:
    def kernel(v: int32) -> int32[10]:
        r: int32[10] = 0
        r[0] = 1 + v
        r[1] = 1 - v
        r[2] = v * 3
        r[3] = 52 // v
        r[4] = 6 // v
        r[5] = 6 % v
        r[6] = 1 << v
        r[7] = 64 >> v
        r[8] = 1 & v
        r[9] = 1 | v
        return r

    assert allo.customize(kernel).build()(5).tolist() == [6, -4, 15, 10, 1, 1, 32, 2, 1, 5]


def test_augmented_assignments() -> None:
    def kernel(A: int32[4]):
        for i in range(4):
            A[i] += 5
            A[i] -= 1
            A[i] *= 3
            A[i] //= 2
            A[i] %= 7
            A[i] <<= 2
            A[i] >>= 1
            A[i] |= 8
            A[i] &= 11
            A[i] ^= 1

    same_as_python(kernel, np.array([1, 20, 300, 4000], np.int32))


def test_several_values_at_once() -> None:
    def fibonacci(n: int32, A: int32[4]) -> int32:
        a, b = 0, 1
        for _i in range(n):
            a, b = b, a + b
        A[0], A[3] = A[3], A[0]
        j: int32 = 0
        j, A[j + 1] = 1, A[j] + a
        return a

    same_as_python(fibonacci, 20, np.arange(4, dtype=np.int32))


def test_numbers_and_arrays_of_the_surrounding_program() -> None:
    size = np.int64(4)
    table = np.array([[1, 2], [3, 4]])  # of int64, as NumPy makes it
    factor = np.float32(0.5)

    class Config:
        offset = 10

    def kernel(A: float32[size]) -> float32[size]:
        B: float32[size] = 0
        start: int32[2, 2] = table
        for i in range(size):
            B[i] = A[i] * factor + start[i // 2, i % 2] + Config.offset + table[1, 1]
        return B

    got = allo.customize(kernel).build()(np.ones(4, np.float32))
    np.testing.assert_array_equal(got, [15.5, 16.5, 17.5, 18.5])


def test_sizes_in_tuples_and_dictionaries() -> None:
    shape, config = (4, 8), {"columns": 3, "taps": [1, 10, 100]}

    def kernel(A: int32[shape[0], 3]):
        for i in range(shape[0]):
            for j in range(config["columns"]):
                A[i, j] = shape[1] * i + config["taps"][1]

    A = np.zeros((4, 3), np.int32)
    allo.customize(kernel).build()(A)
    np.testing.assert_array_equal(A, 8 * np.arange(4)[:, None] + np.full((4, 3), 10))


def test_functions_of_python_on_constants() -> None:
    points, sizes = 16, [2, 4]

    def kernel(A: float32[points]) -> float32:
        for i in range(int(math.log2(points))):
            A[i] = 1 / math.sqrt(points) + round(2.6) + sum(sizes)
        for i in range(math.ceil(points / 3), int(np.prod(sizes)) + 1):
            A[i] = np.log2(8)
        return A[0] * math.pi * np.float32(2)

    A = np.zeros(points, np.float32)
    np.testing.assert_allclose(allo.customize(kernel).build()(A), 18.5 * np.pi, rtol=1e-6)
    assert A.tolist() == [9.25] * 4 + [0.0] * 2 + [3.0] * 3 + [0.0] * 7


def test_arrays_from_lists() -> None:
    def kernel(k: int32) -> int32:
        x: int32[2] = [5, 7]
        y: int32[2, 2] = [[1, 2], [3, 4]]
        return x[1] + y[1, 0] + x[k] + y[0, k]

    assert allo.customize(kernel).build()(1) == 7 + 3 + 7 + 2


def test_constant_expressions_call_python() -> None:
    def double_plus_one(n):
        return 2 * n + 1

    def kernel(A: int32[9]) -> int32[9]:
        n: ConstExpr[index] = double_plus_one(4)
        B: int32[n] = 0
        for i in range(n):
            B[i] = A[i] + n
        return B

    np.testing.assert_array_equal(
        allo.customize(kernel).build()(np.arange(9, dtype=np.int32)), np.arange(9) + 9
    )


def test_loops_and_branches_of_the_compiler() -> None:
    lanes = 4

    def kernel(A: int32[16]):
        with allo.meta_for(lanes) as i:  # noqa: SIM117
            with allo.meta_for(0, lanes, 2) as j:
                k: ConstExpr[int32] = i * lanes + j
                with allo.meta_if(i == 0):
                    A[k] = -1
                with allo.meta_elif(j == 2):
                    A[k] = k
                with allo.meta_else():
                    A[k] = 100

    got = np.zeros(16, np.int32)
    allo.customize(kernel).build()(got)
    assert got.tolist() == [-1, 0, -1, 0, 100, 0, 6, 0, 100, 0, 10, 0, 100, 0, 14, 0]


def test_lengths_and_names_made_by_python() -> None:
    table = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int32)

    def kernel(A: int32[8, 3]) -> int32:
        total: int32 = 0
        with allo.meta_for(len(table)) as u:
            for i in range(len(table[0]), name=f"row_{u}"):
                total += table[u, i]
        for i in range(len(A)):
            A[i, len(A[0]) - 1] = len(A) - i
        return total

    s = allo.customize(kernel)
    assert [band.name for band in s.get_loops()][:2] == ["row_0", "row_1"]
    A = np.zeros((8, 3), np.int32)
    assert s.build()(A) == 21
    assert A[:, 2].tolist() == [8, 7, 6, 5, 4, 3, 2, 1]


def test_binary_search() -> None:
    def search(A: int32[16], key: int32) -> int32:
        low: int32 = 0
        high: int32 = 15
        found: int32 = -1
        while low <= high and found < 0:
            middle: int32 = (low + high) // 2
            if A[middle] == key:
                found = middle
            elif A[middle] < key:
                low = middle + 1
            else:
                high = middle - 1
        return found

    module = allo.customize(search).build()
    A = np.arange(0, 48, 3, dtype=np.int32)
    assert [module(A, key) for key in (0, 45, 21, 22, -1, 99)] == [0, 15, 7, -1, -1, -1]


def test_bubble_sort() -> None:
    def sort(A: int32[16]):
        for i in range(16):
            for j in range(15 - i):
                if A[j] > A[j + 1]:
                    A[j], A[j + 1] = A[j + 1], A[j]

    same_as_python(sort, np.random.default_rng(3).integers(-50, 50, 16, dtype=np.int32))


def test_checksum() -> None:
    def crc32(data: uint8[9]) -> uint32:
        crc: uint32 = 0xFFFFFFFF
        for i in range(9):
            crc ^= data[i]
            for _k in range(8):
                crc = (crc >> 1) ^ 0xEDB88320 if crc[0] == 1 else crc >> 1
        return ~crc

    assert allo.customize(crc32).build()(np.frombuffer(b"123456789", np.uint8)) == 0xCBF43926


def test_triangular_solve() -> None:
    def solve(L: float32[8, 8], b: float32[8], x: float32[8]):
        for i in range(8):
            x[i] = b[i]
            for j in range(i):
                x[i] -= L[i, j] * x[j]
            x[i] /= L[i, i]

    L = np.tril(np.random.default_rng(4).random((8, 8), dtype=np.float32)) + 4 * np.eye(8, dtype=np.float32)
    b, x = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    allo.customize(solve).build()(L, b, x)
    np.testing.assert_allclose(L @ x, b, atol=1e-4)


def test_edges_of_an_image() -> None:
    taps = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=np.int32)

    def sobel(A: uint8[16, 16], B: uint8[16, 16]):
        for y, x in allo.grid(14, 14):
            gx: int32 = 0
            gy: int32 = 0
            for i, j in allo.reduction(3, 3):
                gx += A[y + i, x + j] * taps[i, j]
                gy += A[y + i, x + j] * taps[j, i]
            size: int32 = abs(gx) + abs(gy)
            B[y + 1, x + 1] = 255 if size > 255 else size

    A = np.random.default_rng(5).integers(0, 90, (16, 16), dtype=np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(A.astype(np.int32), (3, 3))
    gx, gy = (np.einsum("yxij,ij->yx", windows, t) for t in (taps, taps.T))
    wanted = np.zeros((16, 16), np.uint8)
    wanted[1:-1, 1:-1] = np.minimum(abs(gx) + abs(gy), 255)
    B = np.zeros((16, 16), np.uint8)
    allo.customize(sobel).build()(A, B)
    np.testing.assert_array_equal(B, wanted)


def test_histogram() -> None:
    def kernel(A: uint8[500], H: int32[256]):
        for i in range(500):
            H[A[i]] += 1

    A = np.random.default_rng(0).integers(0, 256, 500, dtype=np.uint8)
    H = np.zeros(256, np.int32)
    allo.customize(kernel).build()(A, H)
    np.testing.assert_array_equal(H, np.bincount(A, minlength=256))


def test_average_pooling() -> None:
    n, c, size, stride = 2, 3, 8, 2

    def avgpool_nchw(A: float32[n, c, size, size]) -> float32[n, c, size // stride, size // stride]:
        B: float32[n, c, size // stride, size // stride] = 0.0
        step: index = stride
        count: float32 = stride * stride
        for b, ch, h, w in allo.grid(n, c, size // stride, size // stride):
            accum: float32 = 0.0
            for rh, rw in allo.reduction(stride, stride):
                accum += A[b, ch, h * step + rh, w * step + rw]
            B[b, ch, h, w] = accum / count
        return B

    A = np.random.default_rng(1).random((n, c, size, size), dtype=np.float32)
    wanted = A.reshape(n, c, 4, 2, 4, 2).mean(axis=(3, 5))
    np.testing.assert_allclose(allo.customize(avgpool_nchw).build()(A), wanted, rtol=1e-6)
