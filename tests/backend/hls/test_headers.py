"""The simulation headers of HLS types against exact models."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from allo.ir.types import Int, UInt
from tests.seeds import rotating

from .cpp_programs import compiled, lines, needs_compiler
from .integer_model import Integer, expected, is_signed, operand

pytestmark = needs_compiler

WIDTHS = (1, 2, 3, 7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 128, 129, 512, 1024)


def cpp(scalar: Integer) -> str:
    return f"ap_{'' if is_signed(scalar) else 'u'}int<{scalar.width}>"


def check_integers(pairs: list[tuple[Integer, Integer]], folder: Path, repetitions: int, *flags: str) -> None:
    cases = [f"CASE({number}, {cpp(a)}, {cpp(b)})" for number, (a, b) in enumerate(pairs)]
    program = compiled("integers", folder, *flags, cases=cases)
    rng = random.Random(len(pairs))
    given = []
    for number, (left, right) in enumerate(pairs):
        for _ in range(repetitions):
            far = left.width + 2
            values = operand(left, rng), operand(right, rng), rng.randint(-far, far), *rng.sample(range(1024), 2)
            given.append((number, *values))
    printed = lines(program, [" ".join(map(str, values)) for values in given])
    assert len(printed) == len(given)
    for (number, *values), line in zip(given, printed, strict=True):
        check_line(pairs[number], values, line)


def nearest_float(value: int) -> float:
    """As C converts: what rounds to 2**1024 is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_line(pair: tuple[Integer, Integer], values: list[int], line: str) -> None:
    model = expected(*pair, *values)
    results = [item.rsplit(":", 3) for item in line.split()]
    assert {what for what, *_ in results} == set(model)
    for what, width, signed, value in results:
        if what == "double":
            assert float.fromhex(value) == nearest_float(values[0]), (pair, values)
            continue
        scalar, wanted = model[what]
        found_type = (0, 0) if scalar is None else (scalar.width, int(is_signed(scalar)))
        assert (what, int(width), int(signed), int(value)) == (what, *found_type, wanted), (pair, values)


def test_integers(tmp_path: Path) -> None:
    kinds = [(Int, Int), (Int, UInt), (UInt, Int), (UInt, UInt)]
    pairs: list[tuple[Integer, Integer]] = [
        (kinds[k % 4][0](a), kinds[k % 4][1](b))
        for k, (a, b) in enumerate([(1, 8), (7, 3), (8, 16), (33, 31), (64, 64), (65, 32), (100, 129), (512, 63)])
    ]
    check_integers(pairs, tmp_path, 60)


OPTIMIZED = ("-O2",)
CHECKED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
SIGNS = [(Int, UInt), (Int, Int), (UInt, Int), (UInt, UInt)]
COMPILED = [(*signs, flags) for flags in (CHECKED, OPTIMIZED) for signs in SIGNS]


@pytest.mark.parametrize(("left", "right", "flags"), rotating(COMPILED, 8, slow=True))
def test_integers_of_all_widths(
    left: type[Int | UInt], right: type[Int | UInt], flags: tuple[str, ...], tmp_path: Path
) -> None:
    others = random.Random(1).sample(WIDTHS, len(WIDTHS))
    pairs = [(left(a), right(b)) for a, b in zip(WIDTHS, others, strict=True)]
    pairs += [(left(width), right(width)) for width in (1, 8, 32, 64, 65, 128, 129, 1024)]
    check_integers(pairs, tmp_path, 100, *flags)


def half_results(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)
        fused = product.astype(np.float16)
        return [a + b, a - b, a * b, a / b, np.sqrt(a), -a, c.astype(np.float16), fused, a + b]


def test_half(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 16, (2, 4000), dtype=np.uint16)
    bits[:, :6] = [[0, 0x8000, 0x7C00, 1, 0x3FF, 0x7BFF]] * 2
    c = rng.normal(size=4000) * 2.0 ** rng.integers(-28, 18, 4000)
    program = compiled("half", tmp_path, "-O2")
    given = [f"{a} {b} {number!r}" for a, b, number in zip(*bits.tolist(), c.tolist(), strict=True)]
    printed = [line.split() for line in lines(program, given)]
    a, b = bits.view(np.float16)
    for column, wanted in enumerate(half_results(a, b, c)):
        found = np.array([row[column] for row in printed], dtype=np.uint16).view(np.float16)
        np.testing.assert_array_equal(found, wanted, err_msg=f"result {column}")
    truths = np.array([row[9:12] for row in printed], dtype=int).T
    np.testing.assert_array_equal(truths, [a < b, a == b, a >= b])


@pytest.mark.slow
def test_kernels_as_users_write_them(tmp_path: Path) -> None:
    a = np.array([100 + i for i in range(16)], dtype=np.int64).reshape(4, 4)
    b = np.array([i * (8 if i % 2 else -8) for i in range(16)]).astype(np.int8).astype(np.int64).reshape(4, 4)
    product = (a @ b)[3, 1]
    total = 3 * sum(range(16)) + 16 * 3
    filtered = 0.25 * 4.5 + 0.5 * 3 + 0.25 * 1.5
    wanted = f"{product} {filtered:g} 12341234 10203 9 32 {total} 3.14159"
    for flags in ((), ("-O2",)):
        assert lines(compiled("kernels", tmp_path, *flags)) == [wanted]


def test_mistakes_of_kernels_throw(tmp_path: Path) -> None:
    late = "its writer puts too few, or comes later than its reader"
    assert lines(compiled("mistakes", tmp_path)) == [
        f"the stream 'weights' is empty where it is read, after 1 elements; {late}",
        f"the stream without name is empty where it is read, after 0 elements; {late}",
        "division by zero",
        "division by zero",
        "there is no bit 8 in a number of 8 bits",
        "there is no bit 9 in a number of 8 bits",
        '"12a" is not an integer in base 10',
        '"0xfg" is not an integer in base 16',
        "there is no element 2 in an hls::vector of 2",
        "an hls::vector of 2 elements is made from 3",
        "01 01 10 1",
    ]
