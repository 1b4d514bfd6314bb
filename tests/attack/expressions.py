"""Random expressions over what a place of a kernel can read: elements with subscripts inside of their arrays."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

INTEGERS = ("int8", "uint8", "int16", "int32", "uint32", "int7", "uint5", "int33", "UInt(70)", "int3")
FIXED = ("Fixed(12, 4)", "UFixed(9, 3)", 'Fixed(8, 2, rounding="rnd", overflow="sat")')
FLOATS = ("float32", "float64", "float16")


class Draw(random.Random):
    """Random choices for one kernel; a small one has fewer nests, and expressions of less depth."""

    def __init__(self, seed: str, small: bool) -> None:
        super().__init__(seed)
        self.depth = 1 if small else 2
        self.nests = [1, 1, 2] if small else [2, 2, 3]


@dataclass(frozen=True)
class Array:
    """An array in scope: its name, the type of its elements (of its fields, for structs) and its extents."""

    name: str
    kind: str
    shape: tuple[int, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """What a place can name: loops with the least and greatest value of each, arrays, scalar variables."""

    draw: Draw
    arrays: tuple[Array, ...]
    loops: dict[str, tuple[int, int]] = field(default_factory=dict)
    scalars: tuple[tuple[str, str], ...] = ()

    def inside(self, loop: str, low: int, high: int) -> Scope:
        """The scope of the body of a loop."""
        return replace(self, loops={**self.loops, loop: (low, high)})

    def with_scalar(self, name: str, kind: str) -> Scope:
        return replace(self, scalars=(*self.scalars, (name, kind)))

    def with_array(self, array: Array) -> Scope:
        return replace(self, arrays=(*self.arrays, array))

    def without(self, name: str) -> Scope:
        return replace(self, arrays=tuple(a for a in self.arrays if a.name != name))


def subscript(scope: Scope, extent: int) -> str:
    """An affine subscript that stays in 0 .. extent - 1; mostly a loop that fits."""
    draw, loops = scope.draw, scope.loops
    names = list(loops)
    for _ in range(8):
        if not names:
            break
        one = draw.choice(names)
        low, high = loops[one]
        forms = [(one, low, high)] * 4
        forms += [(f"{one} + {k}", low + k, high + k) for k in (1, 2)]
        forms += [
            (f"{one} - 1", low - 1, high - 1),
            (f"{extent - 1} - {one}", extent - 1 - high, extent - 1 - low),
        ]
        forms += [
            (f"2 * {one}", 2 * low, 2 * high),
            (f"{one} // 2", low // 2, high // 2),
            (f"{one} % 3", 0, 2),
        ]
        if len(names) > 1:
            two = draw.choice([n for n in names if n != one])
            first, last = loops[two]
            forms += [(f"{one} + {two}", low + first, high + last)] * 2
            forms += [(f"{one} - {two} + 3", low - last + 3, high - first + 3)]
        text, least, most = draw.choice(forms)
        if least >= 0 and most < extent:
            return text
    return str(draw.randrange(extent))


def element(scope: Scope, array: Array) -> str:
    """`A[...]`, or a field of it."""
    places = ", ".join(subscript(scope, extent) for extent in array.shape)
    return f"{array.name}[{places}]" + (f".{scope.draw.choice(array.fields)}" if array.fields else "")


def leaf(scope: Scope) -> str:
    """An element, a scalar, a loop or a constant."""
    draw = scope.draw
    choice = draw.random()
    if choice < 0.7 and scope.arrays:
        return element(scope, draw.choice(scope.arrays))
    if choice < 0.8 and scope.scalars:
        return draw.choice(scope.scalars)[0]
    if choice < 0.88 and scope.loops:
        return draw.choice(list(scope.loops))
    return str(draw.choice([1, 2, 3, 5, 7, -1, -3]))


def value(scope: Scope, kind: str, depth: int = 2) -> str:
    """An expression that is assigned to a variable of a type."""
    draw = scope.draw
    depth = min(depth, draw.depth)
    if depth == 0 or draw.random() < 0.2:
        return leaf(scope)
    left, right = (
        value(scope, kind, depth - draw.choice([1, 1, 2])) if depth > 1 else leaf(scope) for _ in range(2)
    )
    choice = draw.random()
    if choice < 0.62:
        return f"({left} {draw.choice(['+', '+', '-', '-', '*', '*'])} {right})"
    if choice < 0.7:
        return f"{draw.choice(['min', 'max'])}({left}, {right})"
    if choice < 0.78:
        return f"({left} if {test(scope)} else {right})"
    if choice < 0.82 and kind in INTEGERS:
        return f"{draw.choice(INTEGERS)}({left})"
    if choice < 0.9 and kind in INTEGERS:
        return f"({left} {draw.choice(['//', '%', '>>'])} {draw.choice([2, 3, 5])})"
    if choice < 0.94 and kind in FLOATS:
        return f"({left} / {right})"
    if choice < 0.97:
        return f"(-({left}))"
    return f"({left} + {right})"


def test(scope: Scope) -> str:
    """A condition on data or on loops."""
    sign = scope.draw.choice(["<", "<=", ">", ">=", "==", "!="])
    return f"{leaf(scope)} {sign} {leaf(scope)}"


def affine_test(scope: Scope) -> str:
    """A condition on loops alone, if there are any."""
    draw, names = scope.draw, list(scope.loops)
    if not names:
        return "1 < 2"
    one, two = draw.choice(names), draw.choice(names)
    forms = [
        f"{one} >= 1",
        f"{one} == 2",
        f"{one} < 3",
        f"{one} + {two} < 5",
        f"{one} != {two}",
        f"{one} % 2 == 0",
    ]
    forms += [f"{one} > {two}", f"{one} >= 1 and {two} < 4", f"{one} == 0 or {two} > 2"]
    return draw.choice(forms)
