"""Random kernels full of what rewrites look for: sums of copies, elements that stay, guards, quotients, constants."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

from allo.ir import types

TYPES = ("int8", "int16", "int32", "int32", "uint8", "int33", "float32", "Fixed(16, 6)")
EXTENT = 24  # of each array; no subscript reaches it


class _Sums:
    def __init__(self, seed: int) -> None:
        self.choose = random.Random(f"sums {seed}")
        self.element = self.choose.choice(TYPES)
        self.loops: list[str] = []
        self.scalars: list[str] = []

    def subscript(self) -> str:
        choose = self.choose
        loops = choose.sample(self.loops, min(len(self.loops), choose.choice([0, 1, 1, 2])))
        text = " + ".join([*loops, *([str(choose.randrange(5))] if choose.random() < 0.5 or not loops else [])])
        kind = choose.random()
        if kind < 0.1:
            return f"({text}) // {choose.choice([2, 3])}"
        return f"({text}) % {choose.choice([2, 3, 5])}" if kind < 0.2 else text

    def place(self) -> str:
        choose = self.choose
        if self.scalars and choose.random() < 0.3:
            return choose.choice(self.scalars)
        array = choose.choice("ABCC")
        return f"A[{self.subscript()}, {self.subscript()}]" if array == "A" else f"{array}[{self.subscript()}]"

    def value(self, depth: int = 2) -> str:
        choose = self.choose
        kind = choose.random()
        if depth == 0 or kind < 0.4:
            return self.place()
        if kind < 0.5 and self.element != "float32":
            return f"{self.value(depth - 1)} * {choose.choice([3, 5, 6, 7, 15, 23, -3, 100])}"
        if kind < 0.6 and self.element.startswith(("int", "uint")):
            return f"{self.value(depth - 1)} {choose.choice(['//', '%'])} {choose.choice([self.place(), '3', '5'])}"
        if kind < 0.7:
            return f"({self.value(depth - 1)} if {self.test()} else {self.value(depth - 1)})"
        return f"({self.value(depth - 1)} {choose.choice('++-*')} {self.value(depth - 1)})"

    def test(self) -> str:
        choose = self.choose
        if self.loops and choose.random() < 0.5:
            return f"{choose.choice(self.loops)} {choose.choice(['<', '>', '=='])} {choose.randrange(4)}"
        return f"{self.place()} {choose.choice(['<', '>', '!='])} {choose.choice(['1', '2', self.place()])}"

    def block(self, depth: int, indent: int) -> list[str]:
        choose = self.choose
        pad = "    " * indent
        lines: list[str] = []
        for _ in range(choose.choice([1, 1, 2, 3])):
            kind = choose.random()
            if depth > 0 and kind < 0.55:
                lines += self.loop(depth, indent)
            elif kind < 0.7 and depth > -2:
                lines += [f"{pad}if {self.test()}:", *self.inside(depth, indent)]
                if choose.random() < 0.4:
                    lines += [f"{pad}else:", *self.inside(depth, indent)]
            elif kind < 0.78:
                name = f"s{len(self.scalars)}_{indent}_{choose.randrange(1000)}"
                lines.append(f"{pad}{name}: {self.element} = {self.value(1)}")
                self.scalars.append(name)
            else:
                sign = choose.choice(["=", "+=", "+=", "+=", "-=", "*="])
                lines.append(f"{pad}{self.place()} {sign} {self.value()}")
        return lines

    def inside(self, depth: int, indent: int) -> list[str]:
        """A branch; its variables are not known behind it."""
        known = len(self.scalars)
        lines = self.block(min(depth, 1) - 1, indent + 1)
        del self.scalars[known:]
        return lines

    def loop(self, depth: int, indent: int) -> list[str]:
        choose = self.choose
        name = f"{'ijkl'[len(self.loops)]}{choose.randrange(100)}"
        bounds = choose.choice(["2", "3", "4", "5", "7", "1, 6", "0, 6, 2", "3, 3", "n"])
        if self.loops and choose.random() < 0.15:
            bounds = choose.choice([f"{self.loops[-1]}", f"{self.loops[-1]}, 5", f"{self.loops[-1]} + 1"])
        known = len(self.scalars)
        self.loops.append(name)
        lines = [f"{'    ' * indent}for {name} in range({bounds}):", *self.block(depth - 1, indent + 1)]
        self.loops.pop()
        del self.scalars[known:]
        return lines

    def text(self) -> str:
        array = f"{self.element}[{EXTENT}]"
        square = f"{self.element}[{EXTENT}, {EXTENT}]"
        lines = [f"def kernel(A: {square}, B: {array}, C: {array}, n: index):"]
        for _ in range(self.choose.choice([1, 1, 2])):
            lines += self.loop(3, 1)
        return "\n".join(lines) + "\n"


def sums_kernel(seed: int) -> tuple[str, Callable[..., Any]]:
    """The text and the kernel of a seed."""
    text, file = _Sums(seed).text(), f"<sums {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = dict(vars(types))
    exec(compile(text, file, "exec"), scope)
    return text, scope["kernel"]
