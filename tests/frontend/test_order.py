"""Random statements that call kernels with effects: what is accepted happens in the order of Python."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import numpy as np

import allo
from tests.seeds import sweep

KERNELS = '''
from allo.ir.types import int32


def bump(X: int32[2]) -> int32:
    total: int32 = X[0] * 2 + X[1]
    X[0] += 1
    X[1] = total % 7
    return total % 11


def difference(X: int32[2]) -> int32:
    return X[0] - X[1]


def swapped(X: int32[2]) -> int32[2]:
    Y = int32[2](0)
    Y[0] = X[1] % 5
    Y[1] = X[0] + 1
    return Y


def taken(X: int32[2]) -> int32[2]:
    Y = int32[2](0)
    Y[0] = X[1] % 5
    X[1] = X[1] % 3 + 1
    return Y


def kernel(A: int32[6]):
'''
REFUSALS = ("depends on the order in which this statement", "evaluated only in some cases")


class Program:
    """Random statements on the array `A` of six numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.text = KERNELS + "".join(f"    {self.statement()}\n" for _ in range(3))

    def part(self) -> str:
        first = self.random.randrange(5)
        return f"A[{first}:{first + 2}]"

    def one_of(self, *texts: str) -> str:
        return self.random.choice(texts)

    def vector(self, depth: int) -> str:
        if not depth:
            return self.part()
        left, right = self.vector(depth - 1), self.vector(depth - 1)
        first = f"A[{self.random.randrange(6)}] % 5"
        return self.one_of(
            self.part(),
            f"swapped({left})",
            f"taken({left})",
            f"({left} + {right})",
            f"({left} * {self.scalar(depth - 1)})",
            f"A[{first} : {first} + 2]",
        )

    def scalar(self, depth: int) -> str:
        element = f"A[{self.random.randrange(6)}]"
        if not depth:
            return element
        left, right = self.scalar(depth - 1), self.scalar(depth - 1)
        return self.one_of(
            element,
            f"bump({self.part()})",
            f"difference({self.vector(depth - 1)})",
            f"{self.vector(depth - 1)}[{self.random.randrange(2)}]",
            f"({left} + {right})",
            f"({left} if {right} > 3 else {self.scalar(depth - 1)})",
            f"({left} and {right})",
        )

    def statement(self) -> str:
        first = f"A[{self.random.randrange(6)}] % 5"
        return self.one_of(
            f"A[{self.random.randrange(6)}] = {self.scalar(2)} % 100",
            f"A[{self.random.randrange(6)}] += {self.scalar(2)} % 100",
            f"{self.part()} = {self.vector(2)} % 100",
            f"{self.part()} += {self.vector(2)} % 50",
            f"A[{first}] = {self.scalar(2)} % 90",
            f"A[{first} : {first} + 2] = {self.vector(1)} % 90",
        )


@sweep(32, quick=1)
def test_accepted_statements_agree_with_python(tmp_path: Path, seed: int) -> None:
    accepted = 0
    for number in range(20 * seed, 20 * (seed + 1)):
        path = tmp_path / f"program_{number}.py"
        path.write_text(Program(number).text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            built = allo.customize(module.kernel).build()
        except allo.KernelError as error:
            assert any(text in str(error) for text in REFUSALS), (path.read_text(), str(error))
            continue
        compiled = np.random.default_rng(number).integers(0, 50, 6).astype(np.int32)
        expected = compiled.astype(np.int64)
        built(compiled)
        module.kernel(expected)
        assert np.array_equal(compiled, expected), path.read_text()
        accepted += 1
    assert accepted > 8
