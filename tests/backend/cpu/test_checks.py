"""`build(check=True)`: what has no meaning ends the call with its line, on the CPU and in C simulation alike."""

# ruff: noqa: F821 - a declaration without a value, which is what this is about, is none for ruff

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import CheckError, DataflowError
from allo.ir.types import Fixed, Stateful, Struct, float32, int32, uint8
from allo.library.systolic import schedule_systolic, systolic

SIMULATION = {"target": "vitis_hls", "mode": "csim"}
ON = [pytest.param({}, id="cpu"), pytest.param(SIMULATION, id="csim")]
POINT = Struct({"x": int32, "y": int32})


def filled(X: int32[4], n: int32):
    for i in range(n):
        X[i] = i  # line: callee writes


def total(X: int32[4]) -> int32:
    s: int32 = 0
    for i in range(4):
        s += X[i]
    return s  # line: callee reads


def half(n: int32) -> int32[4]:
    made: int32[4]
    for i in range(n):
        made[i] = 7
    return made  # line: made


def wrong(what: int32, n: int32, A: int32[2, 4], bits: uint8) -> int32:
    r: int32 = 0
    if what == 0:
        r = A[n % 2, n]  # line: read outside
    elif what == 1:
        A[n, 1] = 5  # line: write outside
    elif what == 2:
        local: int32[2, 4]
        for i in range(n):
            local[1, i] = i
        r = local[1, 3]  # line: element
    elif what == 3:
        x: int32
        if n > 0:
            x = n
        r = x  # line: scalar
    elif what == 4:
        r = 7 // n if n < 5 else 0  # line: division
    elif what == 5:
        r = bits % n  # line: remainder
    elif what == 6:
        r = bits[n]  # line: bit
    elif what == 7:
        part: uint8
        part[n : n + 2] = 1  # line: bits
        r = part
    elif what == 8:
        T: int32[4]
        filled(T, n)
        r = total(T)
    elif what == 9:
        H: int32[4] = half(n)
        r = H[2]  # line: result
    elif what == 10:
        C: int32[4]
        C[0] = 1
        D: int32[4] = 0
        D[1] = C[n]
        r = D[1]  # line: moved
    return r


CASES = {
    "read outside": (0, 5, "subscript 5 is outside of dimension 1 of 'A', which has 4 elements"),
    "write outside": (1, -1, "subscript -1 is outside of dimension 0 of 'A', which has 2 elements"),
    "element": (2, 3, "element [1, 3] of 'local' has no value where it is read"),
    "scalar": (3, 0, "'x' has no value where it is read"),
    "division": (4, 0, "division of integers by zero"),
    "remainder": (5, 0, "remainder of a division of integers by zero"),
    "bit": (6, 8, "there is no bit 8 in a number of 8 bits"),
    "bits": (7, 7, "there are no bits 7:9 in a number of 8 bits"),
    "callee reads": (8, 3, "'s' has no value where it is read"),
    "callee writes": (8, 5, "subscript 4 is outside of dimension 0 of 'X', which has 4 elements"),
    "result": (9, 2, "element [2] of 'H' has no value where it is read"),
    "moved": (10, 3, "element [1] of 'D' has no value where it is read"),
}
RIGHT = [
    (0, 1, 5),
    (1, 1, 0),
    (2, 4, 3),
    (3, 2, 2),
    (4, 2, 3),
    (4, 9, 0),
    (5, 5, 3),
    (6, 0, 1),
    (8, 4, 6),
    (9, 4, 7),
    (10, 0, 1),
]


def line_of(mark: str) -> int:
    """The line of this file with a comment."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()  # type: ignore[arg-type]
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# line: {mark}"))


@pytest.fixture(scope="module", params=ON)
def built(request: pytest.FixtureRequest) -> Any:
    return allo.customize(wrong).build(check=True, **request.param)


def arguments(what: int, n: int) -> tuple[Any, ...]:
    return what, n, np.arange(8, dtype=np.int32).reshape(2, 4), 0b1101


@pytest.mark.parametrize("mark", CASES)
def test_an_error_has_its_line_and_its_numbers(built: Any, mark: str) -> None:
    what, n, message = CASES[mark]
    with pytest.raises(CheckError) as caught:
        built(*arguments(what, n))
    found = caught.value.diagnostics[0]
    assert found.message == message and found.at is not None
    assert (found.at.file, found.at.line) == (__file__, line_of(mark))


@pytest.mark.parametrize(("what", "n", "result"), RIGHT)
def test_what_is_right_is_as_ever(built: Any, what: int, n: int, result: int) -> None:
    assert built(*arguments(what, n)) == result


def run(kernel: Callable[..., Any], *values: Any, **options: Any) -> Any:
    return allo.customize(kernel).build(check=True, **options)(*values)


def test_arrays_are_as_they_were_when_it_failed() -> None:
    def kernel(A: int32[8], n: int32):
        for i in range(n):
            A[2 * i] = 1

    A = np.zeros(8, np.int32)
    with pytest.raises(CheckError, match="subscript 8 is outside"):
        run(kernel, A, 8)
    assert A.tolist() == [1, 0] * 4


def test_parts_of_numbers_and_structs_are_given_one_by_one() -> None:
    def kernel() -> int32:
        word: uint8
        for i in range(8):
            word[i] = i % 2
        p: POINT
        p.x = 3
        p.y = 4
        return word + p.x + p.y

    assert run(kernel) == 0b10101010 + 7


@pytest.mark.parametrize("options", ON)
def test_results_have_all_their_elements(options: dict[str, str]) -> None:
    built = allo.customize(half).build(check=True, **options)
    assert built(4).tolist() == [7] * 4
    with pytest.raises(CheckError) as caught:
        built(3)
    found = caught.value.diagnostics[0]
    assert found.message == "element [3] of a result has no value" and found.at is not None
    assert (found.at.file, found.at.line) == (__file__, line_of("made"))


def test_of_parallel_loops_the_first_failure_is_told() -> None:
    def kernel(A: int32[64], B: int32[64]):
        for i in range(64):
            B[A[i]] = i

    s = allo.customize(kernel)
    s.parallel("i", assume_safe=True)
    built = s.build(check=True)
    A, B = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    built(A, B)
    assert (B == A).all()
    A[[5, 40]] = -7, 100
    with pytest.raises(CheckError, match="subscript -7 is outside"):
        built(A, B)


def test_run_time_extents() -> None:
    def kernel(A: int32[...], n: int32) -> int32:
        s: int32 = 0
        for i in range(n):
            s += A[i]
        return s

    A = np.arange(6, dtype=np.int32)
    assert run(kernel, A, 6) == 15
    with pytest.raises(
        CheckError, match="subscript 6 is outside of dimension 0 of 'A', which has 6 elements"
    ):
        run(kernel, A, 7)


def test_registers_that_shift_need_not_be_full() -> None:
    def kernel(A: int32[8], B: int32[8]):
        window: int32[3]
        for i in range(8):
            for k in range(2):
                window[k] = window[k + 1]
            window[2] = A[i]
            B[i] = window[0] + window[2] if i > 1 else 0

    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    run(kernel, A, B)
    assert B.tolist() == [0, 0, 2, 4, 6, 8, 10, 12]


def test_what_is_computed_of_elements_without_value_counts_where_it_is_used() -> None:
    def kernel(A: int32[4], B: int32[4], n: int32):
        inside: int32[4]
        for i in range(3):
            inside[i] = A[i]
        sums: int32[4]
        for i in range(4):
            total: int32 = 0
            for k in range(2):
                total += inside[i] * k
            sums[i] = total
        for i in range(n):
            B[i] = sums[i]

    A, B = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    run(kernel, A, B, 3)
    assert B.tolist() == [0, 1, 2, 0]
    with pytest.raises(CheckError, match=r"element \[3\] of 'sums' has no value where it is read"):
        run(kernel, A, B, 4)


def test_states_constants_and_fixed_point_have_values() -> None:
    table = np.arange(4, dtype=np.int32)

    def kernel(n: int32) -> int32:
        count: Stateful(int32) = 0
        scale: Fixed(16, 4)[2] = [1.5, 2.5]
        count += table[n]
        y: Fixed(16, 4) = scale[1]
        return count if y > scale[0] else 0

    assert run(kernel, 3) == 3
    with pytest.raises(CheckError, match="subscript 4 is outside"):
        run(kernel, 4)


def test_a_scheduled_kernel_keeps_its_meaning() -> None:
    def kernel(A: float32[16, 16], B: float32[16, 16]):
        T: float32[16, 16]
        for i, j in allo.grid(16, 16):
            T[i, j] = A[i, j] * 2.0
        for i, j in allo.grid(16, 16):
            B[i, j] = T[j, i] + 1.0

    s = allo.customize(kernel)
    s.split("S_i_j_0.j", 4)
    s.partition(s.T, dim=2)
    s.buffer_at(s.B, "S_i_j_1.i")
    A, B = np.arange(256, dtype=np.float32).reshape(16, 16), np.zeros((16, 16), np.float32)
    s.build(check=True)(A, B)
    assert (B == 2 * A.T + 1).all()


def passed_on(stream: str, access: str, count: int) -> str:
    """A dataflow region that puts 8 elements into a FIFO and gets `count` of them."""
    return f"""
module attributes {{allo.top = "f"}} {{
  func.func @f(%A: memref<8xi32>, %B: memref<8xi32>) attributes {{allo.dataflow}} {{
    {stream}
    affine.for %i = 0 to 8 {{
      {access}
      %v = affine.load %A[%i] : memref<8xi32>
      allo.stream_put %t, %v : !allo.stream<i32, 2>
    }} {{allo.name = "i"}}
    affine.for %i = 0 to {count} {{
      {access}
      %v = allo.stream_get %t : !allo.stream<i32, 2>
      affine.store %v, %B[%i] : memref<8xi32>
    }} {{allo.name = "j"}}
    return
  }}
}}"""


ONE = ('%t = allo.stream_create {allo.name = "pipe"} : !allo.stream<i32, 2>', "")
MANY = (
    '%s = memref.alloc() {allo.name = "pipe"} : memref<2x3x!allo.stream<i32, 2>>',
    "%t = affine.load %s[1, 2] : memref<2x3x!allo.stream<i32, 2>>",
)


@pytest.mark.parametrize("options", ON)
@pytest.mark.parametrize(("stream", "name"), [(ONE, "pipe"), (MANY, "pipe[1, 2]")])
def test_elements_that_are_left_in_a_stream(stream: tuple[str, str], name: str, options: dict[str, str]) -> None:
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    allo.Schedule.from_mlir(passed_on(*stream, 8)).build(check=True, **options)(A, B)
    assert (A == B).all()
    for check in (False, True):
        with pytest.raises(DataflowError) as caught:
            allo.Schedule.from_mlir(passed_on(*stream, 7)).build(check=check, **options)(A, B)
        said = f"8 elements were put into stream '{name}', and 7 were taken out of it"
        assert caught.value.diagnostics[0].message == said


def test_tiles_that_are_cut_off_go_through_streams() -> None:
    s = allo.customize(systolic, instantiate=[float32, float32, float32, 5, 3, 7, 4, 4])
    schedule_systolic(s)
    A, B, C = (np.ones(shape, np.float32) for shape in ((5, 3), (3, 7), (5, 7)))
    s.build(check=True)(A, B, C)
    assert (C == 3).all()


def test_it_is_for_what_runs_here() -> None:
    s = allo.customize(filled)
    with pytest.raises(allo.AlloError, match="check=True is for simulations, and text alone is none"):
        s.build(target="vhls", check=True)
    with pytest.raises(allo.AlloError, match="check=True is for simulations"):
        s.build(target="vitis_hls", mode="csyn", project="unused", check=True)
