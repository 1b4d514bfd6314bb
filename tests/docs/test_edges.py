"""The table of docs/types.md on missing numbers: each example is true at every door, and between the examples too."""

from __future__ import annotations

import linecache
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import CheckError, KernelError
from allo.ir.types import Fixed, float64, int4, int8, int32, uint8
from allo.verify import Different, Equivalent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "types.md"
EXAMPLE = re.compile(r"`((?:\w+: [\w(), ]+? = [-\w.]+(?:, )?)+): ([^`]+?) == ([^`]+)`")
ARGUMENT = re.compile(r"(\w+): ([\w(), ]+?) = ([-\w.]+)")


def examples() -> list[tuple[str, str, str]]:
    section = PAGE.read_text().split("## Where a number is missing")[1].split("\n## ")[0]
    return EXAMPLE.findall(section)


def kernels(folder: Path) -> Callable[..., Any]:
    """All examples as one kernel, with a result in float64 for each."""
    lines = ["from allo.ir.types import *", "", f"def kernel(A: float64[{len(examples())}]):"]
    for number, (arguments, expression, _) in enumerate(examples()):
        names = {}
        for name, kind, _ in ARGUMENT.findall(arguments):
            names[name] = f"{name}{number}"
            lines += [f"    {names[name]}: {kind} = V[{number}, {len(names) - 1}]"]
        renamed = re.sub(r"\b[xy]\b", lambda found: names[found[0]], expression)  # noqa: B023
        lines.append(f"    A[{number}] = {renamed}")
    lines[2] = f"def kernel(V: float64[{len(examples())}, 2], A: float64[{len(examples())}]):"
    path = folder / "edges.py"
    path.write_text("\n".join(lines) + "\n")
    linecache.checkcache(str(path))
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["kernel"]


def values() -> np.ndarray[Any, Any]:
    found = np.zeros((len(examples()), 2))
    for number, (arguments, _, _) in enumerate(examples()):
        for place, (_, _, value) in enumerate(ARGUMENT.findall(arguments)):
            found[number, place] = float(value)
    return found


def check(built: Callable[..., Any]) -> None:
    results = np.full(len(examples()), math.nan)
    built(values(), results)
    told = {f"{a}: {e}": float(r) for (a, e, _), r in zip(examples(), results, strict=True)}
    assert told == {f"{a}: {e}": float(r) for a, e, r in examples()}


def test_there_are_examples() -> None:
    section = PAGE.read_text().split("## Where a number is missing")[1].split("\n## ")[0]
    assert len(examples()) == section.count(" == ") == 13


def test_on_the_cpu_and_interpreted(tmp_path: Path) -> None:
    kernel = kernels(tmp_path)
    check(allo.customize(kernel).build())
    check(allo.interpret(kernel))


N = 512
Q = Fixed(8, 4)


def everything(A: int8[N], B: int8[N], U: uint8[N], X: Q[N], Y: Q[N], K: int32[N, 10], F: float64[N, 5]):
    for i in range(N):
        a: int8 = A[i]
        b: int8 = B[i]
        u: uint8 = U[i]
        x: Q = X[i]
        y: Q = Y[i]
        K[i, 0] = a / b
        K[i, 1] = a // b
        K[i, 2] = a % b
        K[i, 3] = u / b
        K[i, 4] = u % b
        K[i, 5] = a << b
        K[i, 6] = a >> b
        K[i, 7] = u << b
        K[i, 8] = u >> b
        K[i, 9] = x // y
        F[i, 0] = x / y
        F[i, 1] = x % y
        F[i, 2] = x << b
        F[i, 3] = x >> b
        F[i, 4] = F[i, 0] / y


def inputs() -> list[Any]:
    random = np.random.default_rng(7)
    a, u = random.integers(-128, 128, N).astype(np.int8), random.integers(0, 256, N).astype(np.uint8)
    b = random.integers(-10, 11, N).astype(np.int8)
    x, y = (random.integers(-128, 128, N) / 16 for _ in range(2))
    b[::4], y[::3], a[:2], b[:2] = 0, 0, -128, (-1, -128)
    return [a, b, u, x, y, np.zeros((N, 10), np.int32), np.zeros((N, 5))]


def wrap(value: int, bits: int, signed: bool = True) -> int:
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def expected(a: int, b: int, u: int, x: float, y: float) -> tuple[list[int], list[float]]:
    """The table in Python."""
    least = y or 1 / 16
    far = not 0 <= b < 8
    ints = [
        a if b == 0 else int(a / b),
        a if b == 0 else a // b,
        0 if b == 0 else a % b,
        u if b == 0 else int(u / b),
        0 if b == 0 else u % b,
        0 if far else wrap(a << b, 8),
        -int(a < 0) if far else a >> b,
        0 if far else wrap(u << b, 8, signed=False),
        0 if far else u >> b,
        math.floor(x / least),
    ]
    digits = int(x * 16)
    quotient = math.floor(x / least * 16) / 16
    floats = [
        quotient,
        0.0 if y == 0 else x % y,
        0.0 if far else wrap(digits << b, 8) / 16,
        (-int(digits < 0) if far else digits >> b) / 16,
        float(np.divide(quotient, y)),
    ]
    return ints, floats


def check_everything(built: Callable[..., Any]) -> None:
    given = inputs()
    built(*given)
    with np.errstate(all="ignore"):
        for row in range(N):
            ints, floats = expected(*(column[row].item() for column in given[:3]), *(c[row] for c in given[3:5]))
            assert given[5][row].tolist() == ints, row
            np.testing.assert_array_equal(given[6][row], floats, str(row))


def test_every_row_on_the_cpu_and_interpreted() -> None:
    check_everything(allo.customize(everything).build())
    check_everything(allo.interpret(everything))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="C simulation needs g++")
def test_every_row_in_c_simulation(tmp_path: Path) -> None:
    check_everything(allo.customize(everything).build(target="vitis_hls", mode="csim"))
    check(allo.customize(kernels(tmp_path)).build(target="vitis_hls", mode="csim"))


def quotient(a: int4, b: int4) -> int32:
    return a / b


def left_operand(a: int4, b: int4) -> int32:
    found: int32 = a
    if b != 0:
        found = a / b
    return found


def zero(a: int4, b: int4) -> int32:
    found: int32 = 0
    if b != 0:
        found = a / b
    return found


def shifted(a: int4, b: int4) -> int32:
    return a << b


def shifted_out(a: int4, b: int4) -> int32:
    found: int4 = 0
    if b >= 0 and b < 4:
        found = a << b
    return found


@pytest.mark.slow
def test_proofs_know_the_table() -> None:
    assert isinstance(allo.verify(quotient, left_operand), Equivalent)
    assert isinstance(allo.verify(quotient, zero), Different)
    assert isinstance(allo.verify(shifted, shifted_out), Equivalent)


def steps(step: int32) -> int32:
    count: int32 = 0
    for _i in range(0, 6, step):
        count += 1
    return count


def test_no_iteration_without_a_step() -> None:
    for run in (allo.customize(steps).build(), allo.interpret(steps)):
        assert [run(step) for step in (2, 0, -1)] == [3, 0, 0]


def by_zero(x: int32) -> int32:
    return x / 0


def negative(x: int32) -> int32:
    return x << -1


@pytest.mark.parametrize("kernel", [by_zero, negative])
def test_refused(kernel: Callable[..., Any]) -> None:
    for door in (allo.customize, allo.interpret):
        with pytest.raises(KernelError):
            door(kernel)


def without(n: int32) -> int32:
    x: int32
    if n > 0:
        x = n
    return x


def test_no_meaning() -> None:
    for run in (allo.customize(without).build(check=True), allo.interpret(without)):
        assert run(3) == 3
        with pytest.raises(CheckError, match="'x' has no value where it is read"):
            run(0)
