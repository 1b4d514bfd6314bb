"""Small random kernels with one pipelined loop, as text and as functions."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from allo.ir import types

EXTENT = 160  # of a dimension; no subscript reaches it
DATA = 8  # sets of arguments where data decide what waits for what


@dataclass(frozen=True)
class Kernel:
    """A kernel whose outermost `depth` loops are the pipeline; the innermost of them is `i`."""

    text: str
    function: Callable[..., Any]
    data: list[dict[str, np.ndarray]]  # arguments; several where these decide what waits for what
    depth: int


class _Writer:
    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.element = "float32" if choose.random() < 0.8 else "int32"
        self.rank = choose.choice([1, 1, 1, 2])
        self.depth = choose.choice([1, 1, 2])
        self.uniform = choose.random() < 0.5
        self.shape = {v: choose.randrange(0, 5) if choose.random() < 0.7 else 0 for v in "oiuv"}
        self.updated = choose.random() < 0.3

    def subscript(self, loops: list[str]) -> str:
        """An affine one mostly; a quotient, a remainder or an element of P."""
        choose = self.choose
        kind = choose.random()
        if not self.uniform and kind < 0.1:
            return f"P[{self.affine(loops[:1] or ['i'], 16)}]"
        text = self.affine(loops, choose.choice([1, 2, 8]))
        if not self.uniform and kind < 0.2:
            return f"({text}) // {choose.choice([2, 3])}"
        if not self.uniform and kind < 0.3:
            return f"({text}) % {choose.choice([2, 3, 4])}"
        return text

    def affine(self, loops: list[str], most: int) -> str:
        choose = self.choose
        terms = []
        for loop in loops:
            c = self.shape[loop] if self.uniform else choose.choice([0, 1, 1, 2, 3])
            if c:
                terms.append(f"{c} * {loop}" if c > 1 else loop)
        terms.append(str(choose.randrange(most)))
        return " + ".join(terms)

    def place(self, loops: list[str]) -> str:
        return ", ".join(self.subscript(loops) for _ in range(self.rank))

    def statement(self, loops: list[str]) -> str:
        choose = self.choose
        to = self.place(loops)
        array = choose.choice(["A", "A", "A", "C"])
        source = choose.choice(["A", "A", array])
        at = to if self.updated and source == array and self.element == "float32" else self.place(loops)
        if (source, at) == (array, to) and self.element == "int32":  # sums that are exact may be added in any order
            source = "C" if array == "A" else "A"
        if choose.random() < 0.15:
            return f"{array}[{to}] = B[{self.affine(loops, 4)}]"
        if choose.random() < 0.15:
            return f"B[{self.affine(loops, 4)}] = {array}[{to}]"
        operation = choose.choice("++*") if self.element == "float32" else "+"
        return f"{array}[{to}] = {source}[{at}] {operation} B[{self.affine(loops, 4)}]"

    def block(self, loops: list[str], indent: int, copies: list[str]) -> list[str]:
        choose = self.choose
        pad = "    " * indent
        lines: list[str] = []
        for _ in range(choose.choice([1, 1, 2, 2, 3])):
            kind = choose.random()
            if copies and kind < 0.5:
                lines.append(f"{pad}for {copies[0]} in range({choose.choice([2, 3, 4])}):")
                lines += self.block([*loops, copies[0]], indent + 1, copies[1:])
            elif kind < 0.6:
                at = self.affine(choose.choice([loops[-1:], loops]), 4)
                lines.append(f"{pad}if {at} < {choose.randrange(2, 12)}:")
                lines.append(f"{pad}    {self.statement(loops)}")
            elif kind < 0.65 and self.element == "float32":
                lines.append(f"{pad}if B[{self.affine(loops, 4)}] > 0.5:")
                lines.append(f"{pad}    {self.statement(loops)}")
            else:
                lines.append(pad + self.statement(loops))
        return lines

    def lines(self) -> list[str]:
        choose = self.choose
        array = f"{self.element}[{', '.join([str(EXTENT)] * self.rank)}]"
        head = f"def kernel(A: {array}, C: {array}, B: {self.element}[{EXTENT}], P: int32[{EXTENT}]):"
        around = ["o", "i"][2 - self.depth :]
        lines = [head]
        for n, loop in enumerate(around):
            step = choose.choice(["", "", ", 2"]) if not self.uniform else ""
            bounds = f"0, {choose.choice([4, 5, 6])}{step}" if step else str(choose.choice([3, 4, 5, 6]))
            lines.append("    " * (n + 1) + f"for {loop} in range({bounds}):")
        return lines + self.block(around, self.depth + 1, ["u", "v"])


def random_kernel(seed: int, data: int = DATA) -> Kernel:
    """The kernel of a seed, with so many sets of arguments if these decide what waits for what."""
    writer = _Writer(random.Random(seed))
    lines = writer.lines()
    file, text = f"<random kernel {seed}>", "\n".join(lines) + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = dict(vars(types))
    exec(compile(text, file, "exec"), scope)
    numbers = np.random.default_rng(seed)
    decides = "P[" in "".join(lines[1:]) or "> 0.5" in text
    arguments = [_arguments(writer, numbers, n) for n in range(data if decides else 1)]
    return Kernel(text, scope["kernel"], arguments, writer.depth)


def _arguments(writer: _Writer, numbers: np.random.Generator, which: int) -> dict[str, np.ndarray]:
    """Arguments of a kernel: floats around 0.5, more or less often above it; indices that meet, or lie far apart."""
    dtype = np.float32 if writer.element == "float32" else np.int32
    shape = (EXTENT,) * writer.rank
    above = (0.0, 0.5, -0.5, 0.25, -0.25)[which % 5]
    found = {name: (numbers.random(shape) + above).astype(dtype) for name in "AC"}
    found["B"] = (numbers.random(EXTENT) + above).astype(dtype)
    first, count = (0, numbers.integers(0, 40))[which % 2], (6, 1, 2, 12, 40)[which // 2 % 5]
    found["P"] = numbers.integers(first, first + count, EXTENT).astype(np.int32)
    return found
