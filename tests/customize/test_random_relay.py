"""relay on random nests: accepted where enumeration finds one order on both sides, or one can be made; then it runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from allo import ScheduleError
from tests.seeds import drawn, sweep

from .checks import parsed

SIZE = 4
LOOPS = ("i", "j", "k")
SUBSCRIPTS = ("%i", "%j", "3 - %i", "3 - %j", "(%i + %j) mod 4", "%i floordiv 2", "%i mod 2", "0", "%i * 2 - %j")


@dataclass(frozen=True)
class Side:
    """A nest of two or three loops from 0 to `extents` that touches one element of a 4 x 4 array in each iteration."""

    extents: tuple[int, ...]
    subscripts: tuple[str, str]

    def element(self, iteration: tuple[int, ...]) -> tuple[int, int]:
        values = dict(zip(LOOPS, iteration, strict=False))
        python = [s.replace("%", "").replace("floordiv", "//").replace("mod", "%") for s in self.subscripts]
        return tuple(eval(text, {}, values) for text in python)  # type: ignore[return-value]

    def elements(self, loops: int) -> list[tuple[int, int]]:
        """What the first `loops` loops touch, in their order."""
        padded = (0,) * (len(LOOPS) - loops)
        return [self.element((*it, *padded)) for it in product(*map(range, self.extents[:loops]))]

    @property
    def needed(self) -> int:
        """How many loops the subscripts tell apart."""
        return max([n + 1 for n, loop in enumerate(LOOPS) if f"%{loop}" in "".join(self.subscripts)], default=0)

    def text(self, name: str, body: str) -> str:
        for loop, extent in reversed(list(zip(LOOPS, self.extents, strict=False))):
            nest = f', allo.nest = "{name}"' if loop == "i" else ""
            body = f'affine.for %{loop} = 0 to {extent} {{\n{body}\n}} {{allo.name = "{loop}"{nest}}}'
        return body


@st.composite
def sides(draw: st.DrawFn, loops: int) -> Side:
    extents = (draw(st.sampled_from([4, 4, 2, 1])), draw(st.sampled_from([4, 4, 2, 1])), draw(st.integers(1, 2)))
    side = Side(extents[:loops], (draw(st.sampled_from(SUBSCRIPTS)), draw(st.sampled_from(SUBSCRIPTS))))
    inside = all(0 <= e < SIZE for element in side.elements(2) for e in element)
    return side if inside else Side(extents[:loops], ("%i", "%j"))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Side, Side]:
    """Two nests; the second is often much like the first."""
    producer, other = draw(sides(2)), draw(sides(draw(st.integers(2, 3))))
    match draw(st.integers(0, 3)):
        case 0:
            return producer, other
        case 1:
            return producer, Side((*producer.extents, 2), producer.subscripts)
        case 2:
            return producer, Side(producer.extents, producer.subscripts[::-1])
        case _:
            return producer, Side(producer.extents, producer.subscripts)


def by_bank(elements: list[tuple[int, int]], dim: int | None) -> dict[int, list[tuple[int, int]]]:
    """The elements of each bank in their order, if dimension `dim` is in banks; else all are in one."""
    banks: dict[int, list[tuple[int, int]]] = {}
    for element in elements:
        banks.setdefault(0 if dim is None else element[dim], []).append(element)
    return banks


@sweep(3, quick=1)
@drawn(50, pairs(), st.sampled_from([None, None, 0, 1]))
def test_accepted_where_the_orders_agree(sides: tuple[Side, Side], dim: int | None) -> None:
    producer, consumer = sides
    written, read = producer.elements(2), consumer.elements(min(consumer.needed, 3))
    is_once = len(set(written)) == len(written)
    expected = is_once and by_bank(written, dim) == by_bank(read, dim)
    used = [element for element in written if element in read]  # only what is read need be put
    possible = len(set(read)) == len(read) and set(read) <= set(written)
    possible = possible and (not is_once or by_bank(used, dim) == by_bank(read, dim))
    out = "x".join(map(str, consumer.extents))
    s = parsed(
        f"""module attributes {{allo.top = "f"}} {{
        func.func @f(%A: memref<4x4xi32> {{allo.name = "A"}}, %B: memref<{out}xi32> {{allo.name = "B"}}) {{
          %T = memref.alloc() {{allo.name = "T"}} : memref<4x4xi32>
          {producer.text("put", f'''%v = affine.load %A[%i, %j] : memref<4x4xi32>
            affine.store %v, %T[{", ".join(producer.subscripts)}] : memref<4x4xi32>''')}
          {consumer.text("get", f'''%v = affine.load %T[{", ".join(consumer.subscripts)}] : memref<4x4xi32>
            affine.store %v, %B[{", ".join(f"%{x}" for x in LOOPS[: len(consumer.extents)])}] : memref<{out}xi32>''')}
          return
        }} }}"""
    )
    if dim is not None:
        s.partition("T", dim=dim + 1)
    note(str(s.module))
    try:
        s.relay("T", "get")
    except ScheduleError as error:
        note(str(error))
        assert not expected
        return
    assert possible
    A, B, T = np.arange(16, dtype=np.int32).reshape(4, 4), np.zeros(consumer.extents, np.int32), {}
    s.build()(A, B)
    for iteration in product(*map(range, producer.extents)):
        T[producer.element(iteration)] = A[iteration]
    for iteration in product(*map(range, consumer.extents)):
        assert B[iteration] == T[consumer.element(iteration)]
