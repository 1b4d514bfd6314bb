"""The C++ that is emitted compiles without a warning and computes what the CPU computes, bit for bit."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import Stateful, UInt, float16, float32, float64, int8, int16, int32, uint8, uint32, uint64
from allo.utils import get_np_struct_type

from .designs import DESIGNS

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
RECORD = np.dtype([("x", np.int32), ("weight", np.float64)])


def same(first: Any, second: Any) -> bool:
    if isinstance(first, tuple):
        return all(map(same, first, second))
    if isinstance(first, np.ndarray) and first.dtype == object:
        return bool(first.tolist() == second.tolist())
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and first.tobytes() == second.tobytes()
    return bool(first == second)


def assert_same(s: allo.Schedule, calls: list[tuple[Any, ...]], target: str = "vitis_hls") -> None:
    """The simulation of `s` and its CPU build return the same and leave the same in the arguments."""
    simulated, built = s.build(target=target, mode="csim"), s.build()
    for arguments in calls:
        mine, others = copy.deepcopy(arguments), copy.deepcopy(arguments)
        assert same(simulated(*mine), built(*others))
        assert all(map(same, mine, others))


def inputs(name: str) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(7)
    whole = rng.integers(-(2**31), 2**31, (3, 10, 10), dtype=np.int64).astype(np.int32)
    match name:
        case "gemm" | "scheduled_gemm":
            return [tuple(rng.standard_normal((2, 8, 8)).astype(np.float32))]
        case "blur":
            return [(whole[0],)]
        case "chain":
            return [(whole[0, :8, :8].copy(), whole[1, :8, :8].copy())]
        case "bits":
            return [(a, w, n) for a, w, n in ((9, -5, 3), (31, 127, -(2**31)), (0, -128, 2**31 - 1))]
        case "systolic":
            return [(whole[0, :2, :4] % 9, whole[1, :4, :2] % 7, whole[2, :2, :2].copy())]
        case "dot":
            return [(whole[0, 0, :8].astype(np.int8).view(np.uint32), 5)]
        case "floats":
            x = rng.standard_normal(8).astype(np.float32)
            edges = np.array([np.nan, np.inf, -np.inf, 0, 1e30, 2.5, -1, 9], np.float32)
            return [(x, 1.5), (x * 1e3, -0.25), (edges, 2)]
        case "histogram":
            return [(whole[0, :2, :8].reshape(16).astype(np.uint8), wanted) for wanted in (0, 7, 99)]
    ps = np.zeros(4, RECORD)
    ps["x"], ps["weight"] = whole[2, 0, :4], [1.5, -2.25, 7.9375, -8]
    return [(ps, 1.5), (ps, 7.875)]


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_designs(name: str) -> None:
    assert_same(DESIGNS[name](), inputs(name))


def test_what_was_compiled_before_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library for each kernel, and an object that all of them share."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("gemm", "histogram", "gemm"):
        assert_same(DESIGNS[name](), inputs(name)[:1])
    made = [path.suffix for path in (tmp_path / "allo" / "csim").iterdir()]
    assert (made.count(".so"), made.count(".o")) == (2, 1)


def test_headers_are_compiled_the_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One simulation does not wait for what saves time for those after it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = []
    for number in range(3):

        def add[N](A: int32[4]):
            for i in range(4):
                A[i] = A[i] + N

        A = np.arange(4, dtype=np.int32)
        allo.customize(add, instantiate=[number]).build(target="vitis_hls", mode="csim")(A)
        assert A.tolist() == [number, number + 1, number + 2, number + 3]
        made = [path.suffix for path in (tmp_path / "allo" / "csim").iterdir()]
        found.append((made.count(".so"), made.count(".h"), made.count(".gch")))
    assert found == [(1, 1, 0), (2, 1, 1), (3, 1, 1)]


PROGRAM = """\
import numpy as np, allo
from allo.ir.types import int32

def add(A: int32[4]):
    for i in range(4):
        A[i] += 1

A = np.arange(4, dtype=np.int32)
allo.customize(add).build(target="vitis_hls", mode="csim")(A)
print(*A)
"""


@pytest.mark.slow
def test_processes_share_what_was_compiled(tmp_path: Path) -> None:
    """The one that comes later needs no compiler; those that come at once compile once."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "CXX": str(compiler)}
    command = [sys.executable, str(program)]
    several = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)
    ]
    assert [process.communicate()[0] for process in several] == ["1 2 3 4\n"] * 2
    assert subprocess.check_output(command, text=True, env=environment) == "1 2 3 4\n"
    calls = [line for line in (tmp_path / "calls").read_text().splitlines() if "--version" not in line]
    assert len(calls) == 2  # the kernel, and what all simulations share


def test_scheduled_gemm() -> None:
    assert_same(DESIGNS["scheduled_gemm"](), inputs("scheduled_gemm"))


@pytest.mark.slow
@pytest.mark.parametrize("name", polybench.NAMES)
def test_polybench(name: str) -> None:
    benchmark = polybench.load(name)
    assert_same(allo.customize(benchmark.kernel("MINI")), [benchmark.arguments("MINI")])


def widths(a: UInt(100)[3], b: int16, c: uint8, n: int32) -> (UInt(100)[3], int32, uint64):
    B: UInt(100)[3] = 0
    for i in range(3):
        B[i] = (a[i] << 3) * b + (a[i] >> 7) - (a[i] % 1000)
    x: int32 = (b // c if c > 0 else -b) * n
    y: uint64 = (n ^ 1234567) * (b % 7) + (c << n)
    return B, x, y


@pytest.mark.slow
def test_wide_and_mixed_integers() -> None:
    a = np.array([1, 2**99 + 12345, 2**100 - 1], object)
    assert get_np_struct_type(100).itemsize == 13
    calls = [(a, b, c, n) for b, c, n in ((-32768, 255, 7), (123, 0, -1), (-1, 3, 2**31 - 1))]
    assert_same(allo.customize(widths), calls)


def floats(x: float32[6], h: float16[6], n: int8) -> (float64, float16[6], uint32):
    total: float64 = 0.0
    H: float16[6] = 0.0
    for i in range(6):
        total += allo.exp(x[i]) / 3 - x[i] % 0.7 + max(x[i], 0.5)
        H[i] = h[i] * h[i] + n
    return total, H, x[1].bitcast()


@pytest.mark.slow
def test_floats() -> None:
    x = np.random.default_rng(3).standard_normal(6).astype(np.float32)
    assert_same(allo.customize(floats), [(x, x.astype(np.float16), 3)])


def counter(n: int32) -> int32:
    total: Stateful[int32] = 5
    total += n
    return total


@pytest.mark.slow
def test_states_are_kept_and_reset() -> None:
    first, second = (allo.customize(counter).build(target="vitis_hls", mode="csim") for _ in range(2))
    assert [first(1), first(2), second(1)] == [6, 8, 6]
    first.reset()
    assert first(0) == 5


def test_a_result_that_nobody_writes() -> None:
    def kernel(n: int32) -> (int32[4], int32):
        made: int32[4]
        return made, n  # noqa: F821

    shape, last = allo.customize(kernel).build(target="vitis_hls", mode="csim")(3)
    assert shape.shape == (4,) and last == 3
