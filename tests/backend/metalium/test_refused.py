"""What Tensix cores cannot do or have no room for, refused before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import allo
from allo import tile
from allo.backend.metalium import buffers
from allo.errors import TargetError
from allo.ir.types import float32, int8, int32
from tests.backend.metalium import kernels
from tests.backend.metalium.test_project import BLOCKS, CASES, plan_of
from tests.seeds import sampled

N = 64


@tile.kernel
def small_blocks(A: float32[N, N], B: float32[N, N]):
    for m in tile.programs(4):
        B[m * 16 : (m + 1) * 16] = A[m * 16 : (m + 1) * 16]


@tile.kernel
def columns(A: float32[N, 2 * N], B: float32[N, N]):
    for m in tile.programs(2):
        b: float32[32, N] = 0
        for k in range(3):
            a: float32[32, N] = A[m * 32 : (m + 1) * 32, 4 * k : 4 * k + N]
            for i, j in allo.grid(32, N):
                b[i, j] += a[i, j]
        B[m * 32 : (m + 1) * 32] = b


@tile.kernel
def shifted_store(A: float32[N, N], B: float32[N + 1, N]):
    for m in tile.programs(2):
        B[m * 32 + 1 : (m + 1) * 32 + 1] = A[m * 32 : (m + 1) * 32]


@tile.kernel
def bytes_(A: int8[N, N], B: int8[N, N]):
    for m in tile.programs(2):
        B[m * 32 : (m + 1) * 32] = A[m * 32 : (m + 1) * 32]


@tile.kernel
def products(A: int32[N, N], B: int32[N, N], C: int32[N, N]):
    for m in tile.programs(2):
        a: int32[32, N] = A[m * 32 : (m + 1) * 32]
        b: int32[N, N] = B[:, :]
        c: int32[32, N] = 0
        for i, j, k in allo.grid(32, N, N):
            c[i, j] += a[i, k] * b[k, j]
        C[m * 32 : (m + 1) * 32] = c


@tile.kernel
def largest(A: int32[N, N], B: int32[N, N]):
    for m in tile.programs(2):
        a: int32[32, N] = A[m * 32 : (m + 1) * 32]
        s: int32[32] = 0
        for i, j in allo.grid(32, N):
            s[i] = max(s[i], a[i, j])
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = s[i]


@tile.kernel
def rows_of(A: int32[N, N], V: int32[N], B: int32[N, N]):
    for m in tile.programs(2):
        v: int32[N] = V[:]
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = A[m * 32 + i, j] + v[j]


@tile.kernel
def mixed(A: int32[N, N], X: float32[N, N], B: float32[N, N]):
    for m in tile.programs(2):
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = X[m * 32 + i, j] if A[m * 32 + i, j] > 1 else 0.0


@tile.kernel
def wide(A: int32[N, N], X: int32[N, N], B: int32[N, N]):
    for m in tile.programs(2):
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = max(A[m * 32 + i, j] + X[m * 32 + i, j], 0)


@tile.kernel
def low_bits(A: int32[N, N], B: int32[N, N]):
    for m in tile.programs(2):
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = int8(A[m * 32 + i, j]) + 1


@tile.kernel
def changed(A: float32[N, N], B: float32[N, N]):
    for m in tile.programs(2):
        t: float32[32, N] = A[m * 32 : (m + 1) * 32]
        u: float32[32, N] = 0
        for i, j in allo.grid(32, N):
            if t[i, j] > 1.0:
                t[i, j] = 0.5
                u[i, j] = 1.0
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = t[i, j] + u[i, j]


@tile.kernel
def prefixes(A: float32[N, N], B: float32[N, N]):
    for m in tile.programs(2):
        t: float32[32, N] = 0
        s: float32[32] = 0
        for i, j in allo.grid(32, N):
            s[i] += A[m * 32 + i, j]
            t[i, j] = s[i]
        B[m * 32 : (m + 1) * 32] = t


@tile.kernel
def backwards(A: float32[N, N], B: float32[N, N]):
    for m in tile.programs(2):
        t: float32[32, N] = A[m * 32 : (m + 1) * 32]
        for i, j in allo.grid(32, N):
            B[m * 32 + i, j] = t[i, N - 1 - j]


@tile.kernel
def down_and_across(V: float32[N], A: float32[N, N], B: float32[N, N]):
    for _ in tile.programs(1):
        v: float32[N] = V[:]
        for i, j in allo.grid(N, N):
            B[i, j] = A[i, j] * v[i] + v[j]


@tile.kernel
def both_dimensions(A: float32[N, N], B: float32[2, N, N]):
    for m in tile.programs(2):
        s: float32 = 0.0
        for i, j in allo.grid(N, N):
            s += A[i, j]
        for i, j in allo.grid(N, N):
            B[m, i, j] = s


MEANT = "compute with float32, bfloat16 or int32 in loops over elements from 0 on, or with operators of whole arrays"
NARROW = "source registers have 19 bits"
REFUSED: list[tuple[Any, str, str]] = [
    (small_blocks, "A[16*m:+16, 0:+64] does not consist of tiles of 32 x 32",
     "make blocks multiples of 32; conditions may mask what is outside of the array"),
    (columns, "A[32*m:+32, 4*k:+64] begins at columns that are no multiples of 32 bytes, which DRAM is read by",
     "let blocks begin at multiples of 8 columns"),
    (shifted_store, "B[32*m + 1:+32, 0:+64] does not consist of tiles of 32 x 32",
     "make blocks multiples of 32; conditions may mask what is outside of the array"),
    (bytes_, "elements of 'A' are int8, which tiles do not have here", "use float32, bfloat16 or int32"),
    (products, "'c' is int32 and multiplied as matrices: the matrix unit has source registers of 19 bits",
     "use float32 or bfloat16, or elements one by one"),
    (largest, "'s' is int32 and reduced along a dimension: the matrix unit has source registers of 19 bits",
     "use float32 or bfloat16, or elements one by one"),
    (rows_of, f"'V' is int32 and broadcast or transposed: {NARROW}",
     "load it with the dimensions of the result, in their order"),
    (mixed, "'B' is made of floats and of integers ('A')", "convert one of them before the kernel"),
    (wide, "integers of more than 32 bits are compared, which registers do not hold",
     "assign it to an int32 first, if it fits"),
    (low_bits, "a conversion from i32 to i8 is no operation of tiles here", MEANT),
    (changed, "a condition reads what was written under it", "keep the condition in an array"),
    (prefixes, "iterations of 'j' depend on one another by 's'",
     "split the loop, so that each part does one thing with all elements"),
    (backwards, "`t[i, -j + 63]` does not go through a tile in steps of 1 from its start",
     "subscribe arrays with loop variables only; tiles of arguments start at multiples of 32"),
    (down_and_across, "'v' goes down tiles and across tiles", "load it to two arrays"),
    (both_dimensions, "'s' is made in a way that tiles are not reduced in",
     "add up, or take the maximum, along one dimension at a time"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "message", "hint"), sampled(REFUSED), ids=[case[0].__name__ for case in REFUSED])
def test_what_tiles_do_not_do(kernel: Any, message: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        plan_of(kernel, None).build(project=tmp_path / "made")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(message) and lines[-1] == f"  hint: {hint}"
    assert "line" in lines[0] or kernel is bytes_
    assert not (tmp_path / "made").exists()


def refused(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> str:
    monkeypatch.setattr(buffers, limit, value)
    with pytest.raises(TargetError) as caught:
        plan_of(*CASES[1]).build()
    return str(caught.value)


LISTED = (
    "    2 x 2048 bytes of 'A'\n    1 x 2048 bytes of 'B'\n    1 x 2048 bytes of 'C'\n    1 x 4096 bytes of 'acc'\n"
)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a core, made smaller here."""
    with monkeypatch.context() as patch:
        assert refused(patch, "BUFFERS", 3) == (
            f"'gemm' needs 4 circular buffers, and a core has 3:\n{LISTED}"
            "  hint: use fewer arrays in a program, or split it in two kernels"
        )
    with monkeypatch.context() as patch:
        assert refused(patch, "KERNELS_AND_SEMAPHORES", 1499136 - 8192) == (
            f"the circular buffers of 'gemm' take 12288 bytes of a core, which has 8192:\n{LISTED}"
            "  hint: issue loads inside of more loops, with one buffer, or make blocks smaller"
        )
    with monkeypatch.context() as patch:
        assert refused(patch, "SEMAPHORES", 2) == (
            "'gemm' has 2 loads that cores pass on, which need 4 semaphores; a core has 2\n"
            '  hint: deliver some of them "per core"'
        )
    with monkeypatch.context() as patch:
        assert refused(patch, "ARGUMENTS", 30) == (
            "the reader of 'gemm' takes 34 arguments, and a kernel has 30 at most\n"
            '  hint: pass fewer arrays, or deliver them "per core"'
        )


def test_other_meshes_and_targets() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(kernels.gemm, "xdna1_mesh", BLOCKS).build()
    assert str(caught.value) == (
        "'xdna1_mesh' is no Wormhole: projects for TT-Metalium need its grid of 8 x 8 cores and its two NoCs\n"
        '  hint: map the kernel on "wormhole_n300d"'
    )
    with pytest.raises(TargetError) as caught:
        plan_of(kernels.gemm, BLOCKS).build("metal")
    assert str(caught.value) == "there is no target 'metal' for plans\n  hint: there is \"tt-metalium\""
