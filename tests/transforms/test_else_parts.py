"""Loops and statements in else parts, as machine code: MLIR's domains take them to be under the condition itself."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import allo
from allo.ir.types import int32
from tests.seeds import sweep

MOST = 4  # loops and branches around a statement


def repeated(c: int32[8]):
    for _r in range(2):
        for i in range(1, 8, 3):
            if i % 2 >= 5:
                c[i // 2] = c[i] + 5
            else:
                for j in range(8):
                    c[j] = c[i] + 4
                c[i] = c[i] + 5


class Statements:
    """A random kernel of two arrays: loops, branches and stores."""

    def __init__(self, seed: int) -> None:
        self.chosen = random.Random(seed)
        self.loops = 1
        self.lines = ["from allo.ir.types import int32", "", "", "def kernel(a: int32[8], b: int32[8]):"]
        self.lines += ["    for r0 in range(2):", *self.block(1, ["r0"])]

    def block(self, depth: int, variables: list[str]) -> list[str]:
        """Some statements."""
        chosen, indent, lines = self.chosen, "    " * (depth + 1), []
        for _ in range(chosen.randrange(1, 3)):
            kind = chosen.choice(["for", "if", "if", "store"]) if depth < MOST else "store"
            if kind == "for":
                name, self.loops = f"i{self.loops}", self.loops + 1
                bounds = f"{chosen.randrange(2)}, {chosen.randrange(3, 9)}, {chosen.choice([1, 1, 2, 3])}"
                lines += [f"{indent}for {name} in range({bounds}):", *self.block(depth + 1, [*variables, name])]
            elif kind == "if":
                one, other = chosen.choice(variables), chosen.choice(variables)
                number = chosen.randrange(9)
                asked = [f"{one} >= {number}", f"{one} % 2 == {number % 2}", f"{one} + {other} < {number + 3}"]
                lines += [f"{indent}if {chosen.choice(asked)}:", *self.block(depth + 1, variables)]
                lines += [f"{indent}else:", *self.block(depth + 1, variables)]
            else:
                left, right = (f"{chosen.choice('ab')}[{self.place(variables)}]" for _ in range(2))
                lines.append(f"{indent}{left} {chosen.choice(['=', '=', '+='])} {right} + {chosen.randrange(9)}")
        return lines

    def place(self, variables: list[str]) -> str:
        """A subscript."""
        name, number = self.chosen.choice(variables), self.chosen.randrange(8)
        forms = [f"({name} * 3 + {number}) % 8", f"{name} % 8", f"{number}", f"({name} // 2) % 8"]
        return self.chosen.choice(forms)


def test_loops_that_overwrite_what_others_read() -> None:
    found = np.arange(8, dtype=np.int32)
    wanted = found.copy()
    allo.customize(repeated).build()(found)
    repeated(wanted)
    np.testing.assert_array_equal(found, wanted)


def written(text: str, path: Path) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same_as_python(seed: int, tmp_path: Path) -> None:
    kernel = written("\n".join([*Statements(seed).lines, ""]), tmp_path / f"kernel{seed}.py").kernel
    numbers = np.random.default_rng(seed)
    found = [numbers.integers(-50, 50, 8).astype(np.int32) for _ in range(2)]
    wanted = [array.copy() for array in found]
    allo.customize(kernel).build()(*found)
    with np.errstate(over="ignore"):  # sums of sums wrap
        kernel(*wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@sweep(600, 10)
def test_random_branches(seed: int, tmp_path: Path) -> None:
    same_as_python(seed, tmp_path)


@pytest.mark.parametrize("seed", [103, 121])
def test_branches_that_once_were_wrong(seed: int, tmp_path: Path) -> None:
    same_as_python(seed, tmp_path)
