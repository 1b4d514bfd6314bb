"""Subscripts that are inside whatever the data are: by the types they come from, against all values of the data."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from mlir import ir

from allo import customize, verify
from allo.ir.context import context
from allo.ir.types import UInt, float32
from allo.verify.concrete.ranges import is_inside

WIDTH = 4  # of the data

type Values = Callable[[int], int]  # bits of the data -> bits of a value, without a sign


@dataclass
class Chain:
    """Operations one behind the other, as text and as what they compute."""

    width: int = WIDTH
    lines: list[str] = field(default_factory=list)
    value: Values = lambda bits: bits

    @property
    def name(self) -> str:
        return f"%v{len(self.lines)}" if self.lines else "%x"

    def add(self, operation: str, width: int, compute: Callable[[int], int]) -> Chain:
        before = self.value
        line = f"%v{len(self.lines) + 1} = {operation}"
        return Chain(width, [*self.lines, line], lambda bits: compute(before(bits)) & ((1 << width) - 1))

    def widened(self, width: int, signed: bool) -> Chain:
        kind = "extsi" if signed else "extui"
        text = f"arith.{kind} {self.name} : i{self.width} to i{width}"
        return self.add(text, width, lambda v: self.signed(v) if signed else v)

    def cut(self, width: int) -> Chain:
        return self.add(f"arith.trunci {self.name} : i{self.width} to i{width}", width, lambda v: v)

    def combined(self, operation: str, constant: int) -> Chain:
        constant &= (1 << self.width) - 1
        lines = [*self.lines, f"%c{len(self.lines)} = arith.constant {constant} : i{self.width}"]
        text = f"%v{len(lines) + 1} = arith.{operation} {self.name}, %c{len(self.lines)} : i{self.width}"
        compute = {
            "andi": lambda v: v & constant,
            "minui": lambda v: min(v, constant),
            "remui": lambda v: v % constant if constant else v,
            "addi": lambda v: v + constant,
            "ori": lambda v: v | constant,
            "maxui": lambda v: max(v, constant),
        }[operation]
        before, whole = self.value, (1 << self.width) - 1
        return Chain(self.width, [*lines, text], lambda bits: compute(before(bits)) & whole)

    def signed(self, bits: int) -> int:
        return bits - (1 << self.width) if bits >> (self.width - 1) else bits

    def subscripts(self, cast: str) -> list[int]:
        """All values of the index that it is converted to."""
        values = [self.value(bits) for bits in range(1 << WIDTH)]
        return [self.signed(v) if cast == "index_cast" else v for v in values]

    def inside(self, cast: str, extent: int) -> bool:
        lines = [*self.lines, f"%index = arith.{cast} {self.name} : i{self.width} to index", "return"]
        module = ir.Module.parse(f"func.func @f(%x: i{WIDTH}) {{\n{'\n'.join(lines)}\n}}", context())
        body = module.body.operations[0].regions[0].blocks[0]
        return is_inside(list(body.operations)[-2].results[0], extent)


def drawn(draw: random.Random) -> Chain:
    chain = Chain()
    for _ in range(draw.randrange(4)):
        match draw.randrange(3):
            case 0:
                chain = chain.widened(chain.width + draw.randrange(1, 5), draw.random() < 0.5)
            case 1 if chain.width > 1:
                chain = chain.cut(draw.randrange(1, chain.width))
            case _:
                operation = draw.choice(["andi", "minui", "remui", "addi", "ori", "maxui"])
                chain = chain.combined(operation, draw.randrange(1, 1 << chain.width))
    return chain


def test_what_is_inside_is_so_for_all_data() -> None:
    draw, found = random.Random(3), 0
    for _ in range(400):
        chain, cast = drawn(draw), draw.choice(["index_cast", "index_castui"])
        values = chain.subscripts(cast)
        for extent in {max(values), max(values) + 1, max(values) + 3, 1 << chain.width}:
            inside = chain.inside(cast, extent)
            assert not inside or (min(values) >= 0 and max(values) < extent), (chain.lines, cast, extent)
            found += inside
    assert found > 100


X = Chain()


@pytest.mark.parametrize(
    ("chain", "cast", "extent", "inside"),
    [
        (X, "index_castui", 16, True),
        (X, "index_castui", 15, False),
        (X, "index_cast", 16, False),  # -8 to 7
        (X.widened(5, signed=False), "index_cast", 16, True),
        (X.widened(5, signed=True), "index_cast", 32, False),
        (X.combined("andi", 7), "index_cast", 8, True),
        (X.combined("andi", 8), "index_cast", 9, False),
        (X.combined("minui", 5), "index_castui", 6, True),
        (X.combined("minui", 5), "index_castui", 5, False),
        (X.combined("remui", 6), "index_cast", 6, True),
        (X.combined("remui", 6), "index_cast", 5, False),
        (X.cut(2), "index_castui", 4, True),
        (X.cut(2), "index_cast", 4, False),
        (X.widened(8, signed=False).cut(5), "index_cast", 16, True),
        (X.combined("addi", 1), "index_castui", 15, False),
    ],
)
def test_the_greatest_value_of_each_operation(chain: Chain, cast: str, extent: int, inside: bool) -> None:
    assert chain.inside(cast, extent) is inside


def gathered(index: UInt(4)[4], x: float32[16], y: float32[4]):
    for i in range(4):
        y[i] = x[index[i]]


def backwards(index: UInt(4)[4], x: float32[16], y: float32[4]):
    for i in range(4):
        y[3 - i] = x[index[3 - i]]


def test_subscripts_of_a_narrow_type_need_no_runs() -> None:
    assert verify(customize(gathered), customize(backwards))
