"""Elements that differ in numbers alone are written once: the text is that of writing each of them."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.backend.hls.text.module import FileWriter
from allo.backend.hls.text.twins import Twins
from allo.ir.types import Stream, float32, index, int8, int32


def products(A: int8[5, 4], B: int8[4, 5], C: int32[5, 5]):
    for i, j in allo.grid(5, 5, name="PE"):
        for k in range(4):
            C[i, j] += A[i, k] * B[k, j]


def shifted(A: int32[12, 12], B: int32[3, 4, 5], C: int32[3, 4]):
    """Sums of a number and a loop, numbers used twice, and numbers that are values."""
    for i, j in allo.grid(3, 4, name="PE"):
        for k in range(4):
            B[i, j, k + i // 2] = A[i, i] + A[11 - j, k] * A[2 * i + j, 11 - i] + A[k + i, k]
        if A[i, j] > A[j, i]:
            C[i, j] = i - j


def ends(A: float32[6], B: float32[6]):
    """Elements at the ends do something else."""
    for i in allo.grid(6, name="PE"):
        with allo.meta_if(True):
            x: float32 = A[i]
        if i > 0:
            x += A[i - 1]
        if i < 5:
            x += A[i + 1]
        B[i] = x * (i + 0.5)


def called(A: int32[8, 8], B: int32[8, 8]):
    def scale(row: index, X: int32[8, 8], Y: int32[8, 8]):
        for k in range(8):
            Y[row, k] = 3 * X[row, k] + Y[7 - row, 0]

    for i in allo.grid(4, name="PE"):
        scale(i, A, B)


def piped(A: int32[4, 8], B: int32[4, 8]):
    pipe: Stream[int32, 8][5]
    for i in allo.grid(4, name="first"):
        for k in range(8):
            pipe[i].put(A[i, k])
    for j in allo.grid(4, name="second"):
        for m in range(8):
            B[j, m] = pipe[j].get() + A[3 - j, 7 - j]


KERNELS: list[tuple[Callable[..., Any], list[str]]] = [
    (products, ["PE"]),
    (shifted, ["PE"]),
    (ends, ["PE"]),
    (called, ["PE"]),
    (piped, ["first", "second"]),
]


@pytest.mark.parametrize("target", ["vhls", "catapult"])
@pytest.mark.parametrize(("kernel", "nests"), KERNELS, ids=[kernel.__name__ for kernel, _ in KERNELS])
def test_the_text_of_each_element(
    kernel: Callable[..., Any], nests: list[str], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = allo.customize(kernel)
    for nest in nests:
        s.unfold(nest, axes=[0, 1] if kernel in (products, shifted) else [0], assume_safe=True)
    templates = s.build(target=target).hls_code
    with monkeypatch.context() as alone:
        alone.setattr(FileWriter, "_find_families", lambda self: None)
        twins = s.build(target=target).hls_code
        alone.setattr(Twins, "of", lambda self, function: None)
        each = s.build(target=target).hls_code
    assert twins == each
    assert each.isascii()
    assert sorted(instances(templates)) == sorted(instances(each))


def instances(code: str) -> list[str]:
    """Each call with the function that it calls, without its name, and with numbers for parameters of templates."""
    *definitions, top = re.split(r"\n\n(?=#pragma|template |void )", code)
    texts = {}
    for definition in definitions:
        if found := re.match(r"(?:#pragma.*\n)?(?:template <(.*)> )?void (\w+)\((.*)", definition, re.S):
            names = [parameter.removeprefix("int ") for parameter in (found[1] or "").split(", ")]
            texts[found[2]] = names, found[3].strip()
    seen = []
    for name, numbers, arguments in re.findall(r"^  (\w+)(?:<(.*)>)?\((.*)\);", top, re.M):
        names, text = texts[name]
        for parameter, number in zip(names, numbers.split(", "), strict=True):
            text = re.sub(rf"\b{parameter}\b", number, text) if parameter else text
        seen.append(f"({arguments}): {text}")
    return seen
