"""What is read of kernels: forms that tile programs may have, and those that are refused, with the whole message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo import tile
from allo.errors import TargetError
from allo.ir.types import float32, index, int4, int32, uint8
from tests.mapping.tiles.test_space import small_mesh

N = 16
TABLE = np.arange(N, dtype=np.float32)


def doubled(x: float32[4]) -> float32[4]:
    y: float32[4] = x * 2.0
    return y


@tile.kernel
def constants(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        w: float32[4] = [1.0, 2.0, 3.0, 4.0]
        acc: float32[4] = 0
        for _ in range(3):
            t: float32[4] = A[m * 4 : (m + 1) * 4]
            acc += t * w
        for i in range(4):
            B[m * 4 + i] = acc[i] * TABLE[m * 4 + i]


@tile.kernel
def calls(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = A[m * 4 : (m + 1) * 4]
        B[m * 4 : (m + 1) * 4] = doubled(x)


@tile.kernel
def steps(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        acc: float32[4] = 0
        for k in range(0, 16, 4):
            y: float32[4] = A[k : k + 4]
            acc += y
        B[m * 4 : (m + 1) * 4] = acc


@tile.kernel
def scalars(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        s: float32 = 0.0
        for k in range(4):
            t: float32[4] = A[k * 4 : (k + 1) * 4]
            for i in range(4):
                s += t[i]
        B[m * 4 : (m + 1) * 4] = s


@tile.kernel
def branches(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = A[m * 4 : (m + 1) * 4]
        if m == 0:
            y: float32[4] = A[4:8]
            x += y
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def triangles(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = 1.0
        for k in range(m):
            for j in range(k, m + 1):
                y: float32[4] = A[j * 4 : (j + 1) * 4]
                x += y
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def several_stores(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        for k in range(2):
            x: float32[4] = A[m * 4 : (m + 1) * 4] + k
            B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def bytes_of_bits(A: uint8[N], B: uint8[N]):
    for m in tile.programs(4):
        x: uint8[4] = A[m * 4 : (m + 1) * 4]
        for i in range(4):
            x[i] = x[i] & 3
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def nested(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        for n in tile.programs(4):
            B[m * 4 + n] = A[m * 4 + n]


@tile.kernel
def whole_operands(A: float32[N, 3], W: float32[3, 4], B: float32[N, 4]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = allo.matmul(A[m * 4 : (m + 1) * 4], W)


READ = [constants, calls, steps, scalars, branches, triangles, several_stores, bytes_of_bits, nested, whole_operands]


@pytest.mark.parametrize("function", READ, ids=[f.__name__ for f in READ])
def test_forms_that_are_read(function: Any) -> None:
    """The plan that is found computes what the kernel does, on two meshes."""
    for mesh in (small_mesh(2, 2), small_mesh(1, 3)):
        allo.map(function, mesh, k=1).check()


def test_tile_programs_are_kernels() -> None:
    """The CPU, the reference and plain Python run them."""
    A = np.random.default_rng(0).integers(0, 100, N).astype(np.uint8)
    made = []
    for run in (allo.customize(bytes_of_bits).build(), allo.interpret(bytes_of_bits), bytes_of_bits):
        B = np.zeros(N, np.uint8)
        run(A.copy(), B)
        made.append(B)
    assert all(np.array_equal(B, A & 3) for B in made)


def test_loops_with_steps_are_printed() -> None:
    assert str(tile.plan(steps, small_mesh()).program).splitlines()[1:3] == [
        "  for k in range(0, 16, 4):",
        "    load A[k:+4]: 16 bytes",
    ]


def test_trip_counts_that_differ() -> None:
    """The last of four programs has most to do; a core that runs it alone is the busiest."""
    plan = tile.plan(triangles, small_mesh(2, 2))
    loops = plan.program.segments[1][1]
    assert [(loop.name, loop.most) for loop in loops] == [("k", 3), ("j", 4)]
    single = tile.plan(triangles, small_mesh(1, 3))
    assert plan.estimate.compute <= single.estimate.compute


@tile.kernel
def in_place(A: float32[N]):
    for m in tile.programs(4):
        A[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4] * 2.0


@tile.kernel
def shared(A: float32[N], B: float32[N]):
    for m in tile.programs(3):
        x: float32[8] = A[m * 4 : m * 4 + 8]
        B[m * 4 : m * 4 + 8] = x


@tile.kernel
def while_data(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = A[m * 4 : (m + 1) * 4]
        i: int32 = 0
        while i < 4:
            x[i] = x[i] * 2.0
            i += 1
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def quotients(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = A[m // 2 * 4 : m // 2 * 4 + 4]
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def small_integers(A: int4[N], B: int4[N]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]


@tile.kernel
def before(A: float32[N], B: float32[N]):
    c: float32 = 2.0
    for m in tile.programs(4):
        for n in range(4):
            B[m * 4 + n] = A[m * 4 + n] * c


@tile.kernel
def results(A: float32[N]) -> float32[N]:
    B: float32[N] = 0
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]
    return B


@tile.kernel
def never(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = 1.0
        for k in range(m, m):
            y: float32[4] = A[k * 4 : (k + 1) * 4]
            x += y
        B[m * 4 : (m + 1) * 4] = x


@tile.kernel
def run_time(n: index, A: float32[N]):
    for m in tile.programs(n):
        A[m] = 1.0


@tile.kernel
def gaps(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        for i in range(0, 4, 2):
            B[m * 4 + i] = A[m * 4 + i]


@tile.kernel
def halves(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        for i in range(4):
            if i < m:
                B[m * 4 + i] = A[m * 4 + i]


@tile.kernel
def some(A: float32[N], B: float32[N]):
    for m in tile.programs(4):
        if m > 1:
            B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]


@tile.kernel
def no_programs(A: float32[N], B: float32[N]):
    for m, n in tile.programs(4, 0):
        B[m * 4 + n] = A[m * 4 + n]


@tile.kernel
def no_result(A: float32[N]):
    for m in tile.programs(4):
        x: float32[4] = A[m * 4 : (m + 1) * 4]
        x[0] = 1.0


WHOLE = "compute the whole tile in an array of the program, and assign it at once"
AFFINE = "let addresses be sums of program ids and loop variables times constants: `A[m * BM:(m + 1) * BM]`"
REFUSED = [
    (in_place, "A[m", "programs read and write 'A': its tiles may be loaded before they are stored",
     "read another array; compute what is assigned in an array of the program"),
    (shared, "for m",
     "programs are not independent: the statement at line {line} writes B[4*m + B_set_0] and writes B[4*m + B_set_0]: "
     "iteration (m=0, B_set_0=4) must run before iteration (m=1, B_set_0=0)",
     "let each program write a part of its own; add parts up in a second kernel"),
    (while_data, "while i", "how often a loop runs is decided by data", "give it a bound"),
    (quotients, "A[m", "the address `A[x_init_0 + 4*(m // 2)]` is not affine: it divides", AFFINE),
    (before, "c: float32", "'before' does something beside its loop over programs",
     "move it into the loop, or to a kernel of its own"),
    (results, "B: float32", "'results' does something beside its loop over programs",
     "move it into the loop, or to a kernel of its own"),
    (gaps, "B[m", "`B[4*m + i]` does not write its whole tile: where m = 0, B[1] is left out", WHOLE),
    (halves, "B[m", "`B[4*m + i]` does not write its whole tile: where m = 0, B[0] is left out", WHOLE),
    (some, "B[m", "`B[4*m + B_set_0]` does not write its whole tile: where m = 0, B[0] is left out", WHOLE),
    (no_programs, "for m", "the grid of 'no_programs' has no programs: 4 x 0", "give extents of at least 1"),
    (never, "A[k", "the extents of the tile `A[4*k + y_init_0]` are not known", AFFINE),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "message", "hint"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_forms_that_are_refused(function: Any, at: str, message: str, hint: str) -> None:
    lines = Path(__file__).read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {function.__name__}("))
    number = next(k for k in range(start, len(lines)) if at in lines[k])
    text = lines[number].strip()
    with pytest.raises(TargetError) as caught:
        tile.plan(function, small_mesh())
    shown = str(caught.value).splitlines()
    place = f'File "{__file__}", line {number + 1}, column {lines[number].index(at) + 1}: '
    assert shown[0] == place + message.format(line=start + 4)
    assert shown[1].strip() == text and shown[-1] == f"  hint: {hint}"


def test_elements_that_do_not_move() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(small_integers, small_mesh())
    assert str(caught.value) == (
        "elements of 'A' are int4, which transfers on a mesh do not move\n"
        "  hint: use floats, or integers of 8, 16, 32 or 64 bits"
    )


def test_programs_without_results() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(no_result, small_mesh())
    text = "programs of 'no_result' write no array\n  hint: assign what they compute to an argument"
    assert str(caught.value) == text


def test_grids_of_run_time() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(run_time, small_mesh())
    assert str(caught.value) == "'n' of 'run_time' is no array\n  hint: make it a constant of the kernel"
