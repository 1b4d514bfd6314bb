"""Integers and arrays with no more bits than results depend on."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.linalg import with_loops
from allo.ir.module import Module
from allo.ir.narrowing import narrow_integers
from allo.ir.passes import run_passes
from allo.ir.types import int8, int16, int32, uint8  # noqa: F401 - kernels made here use them
from tests.seeds import sweep


def native(bits: int) -> int:
    return next(width for width in (8, 16, 32, 64, 128, 256) if bits <= width)


def narrowed(kernel: Callable[..., Any]) -> Module:
    """The module of a kernel with loops for operators on arrays, narrow."""
    module = with_loops(Module.parse(str(allo.customize(kernel).module))).clone()
    narrow_integers(module.function(module.top), native)
    run_passes("builtin.module(canonicalize)", module.mlir.operation)
    return module


def product(A: int16[8, 8], B: int16[8, 8], C: int16[8, 8]):
    C[:, :] = allo.add(allo.matmul(A, B), A)


def test_a_product_that_is_cut_has_16_bits() -> None:
    text = str(narrowed(product).mlir)
    assert "memref<8x8xi16>" in text and "arith.muli" in text
    assert not [word for word in text.split() if word.startswith(("i3", "i6"))]


def compared(A: int8[8], B: int8[8], C: int8[8]):
    for i in range(8):
        t: int32 = A[i] * 100
        C[i] = t if t > B[i] * 50 else t >> 3


def test_what_is_compared_or_shifted_right_keeps_its_bits() -> None:
    module = narrowed(compared)
    A, B = np.arange(-64, 64, 16, np.int8), np.arange(100, -28, -16, np.int8)
    C, expected = np.zeros(8, np.int8), np.zeros(8, np.int8)
    allo.customize(compared).build()(A, B, expected)
    allo.Schedule.from_mlir(str(module.mlir)).build()(A, B, C)
    np.testing.assert_array_equal(C, expected)


def expression(choose: random.Random, names: list[str], depth: int = 0) -> str:
    if depth > 3 or choose.random() < 0.2:
        return choose.choice([*names, str(choose.randint(-9, 99))])
    left, right = (expression(choose, names, depth + 1) for _ in range(2))
    form = choose.choice(
        ["({} + {})", "({} - {})", "({} * {})", "({} & {})", "({} | {})", "({} ^ {})",
         "({} if {} > 3 else a[i])", "(({} - {}) >> 2)", "(({} + {}) // 7)", "(({} - {}) << 3)"]
    )  # fmt: skip
    return form.format(left, right)


@sweep(60, quick=8)
def test_random_kernels(seed: int) -> None:
    choose = random.Random(seed)
    kinds = [choose.choice(["int8", "int16", "int32", "uint8"]) for _ in range(4)]
    lines = [f"def kernel(a: {kinds[0]}[6], b: {kinds[1]}[6], c: {kinds[2]}[6]):", f"    t: {kinds[3]}[6] = 1"]
    for target, names in (("t", ["a[i]", "b[i]"]), ("t", ["t[i]", "a[5 - i]", "i"]), ("c", ["t[i]", "b[i]", "c[i]"])):
        lines += ["    for i in range(6):", f"        {target}[i] {choose.choice(['=', '+='])} "
                  f"{expression(choose, names)}"]  # fmt: skip
    text = "\n".join(lines) + "\n"
    file = f"<narrowing {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = dict(globals())
    exec(compile(text, file, "exec"), scope)
    kernel = scope["kernel"]
    numbers = np.random.default_rng(seed)
    given = [numbers.integers(0, 256, 6).astype(kind) for kind in kinds[:3]]
    expected = [array.copy() for array in given]
    allo.customize(kernel).build()(*expected)
    allo.Schedule.from_mlir(str(narrowed(kernel).mlir)).build()(*given)
    for found, wanted in zip(given, expected, strict=True):
        np.testing.assert_array_equal(found, wanted, text)
