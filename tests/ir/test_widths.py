"""Ranges and needed bits of integers, against random straight code that is computed with all bits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from mlir import ir

from allo.ir.context import context
from allo.ir.walk import entry_block, operations
from allo.ir.widths import Widths

from ..seeds import sweep

_CONSTANTS = (0, 1, -1, 2, 3, 7, 10, -4, 16, 255)
_WIDTHS = (1, 3, 8, 16, 33, 64, 70)


def signed(number: int, bits: int) -> int:
    number &= (1 << bits) - 1
    return number - ((number >> (bits - 1)) << bits)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def unsigned(a: int, bits: int) -> int:
    return a & ((1 << bits) - 1)


type Rule = Callable[[int, int, int], int]
_BINARY: dict[str, Rule] = {
    "addi": lambda a, b, n: a + b,
    "subi": lambda a, b, n: a - b,
    "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b,
    "ori": lambda a, b, n: a | b,
    "xori": lambda a, b, n: a ^ b,
    "minsi": lambda a, b, n: min(a, b),
    "maxsi": lambda a, b, n: max(a, b),
}
# with a second operand that is a constant above 0, and for shifts below the width
_DIVIDING: dict[str, Rule] = {
    "divsi": lambda a, b, n: truncated(a, b),
    "remsi": lambda a, b, n: a - b * truncated(a, b),
    "floordivsi": lambda a, b, n: a // b,
    "divui": lambda a, b, n: unsigned(a, n) // b,
    "remui": lambda a, b, n: unsigned(a, n) % b,
}
_SHIFTING: dict[str, Rule] = {
    "shli": lambda a, b, n: a << b,
    "shrsi": lambda a, b, n: a >> b,
    "shrui": lambda a, b, n: unsigned(a, n) >> b,
}


class Code:
    """Random operations as text, and how each is computed from the values before it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.widths = [rng.choice(_WIDTHS) for _ in range(4)]
        self.lines: list[str] = []
        self.used: set[int] = set()
        self.steps: list[tuple[int, Callable[[list[int]], int]]] = []  # width of the result
        for _ in range(16):
            self.operation()
        kinds = [f"i{width}" for width in self.widths]
        self.kept = rng.sample([k for k in range(4, len(kinds)) if k not in self.used], 4)
        results = [f"i{rng.randint(1, self.widths[k])}" for k in self.kept]
        ends = []
        for number, (k, result) in enumerate(zip(self.kept, results, strict=True)):
            same = result == kinds[k]
            ends.append(f"%v{k}" if same else f"%r{number}")
            if not same:
                self.lines.append(f"%r{number} = arith.trunci %v{k} : {kinds[k]} to {result}")
        arguments = ", ".join(f"%v{k}: {kinds[k]}" for k in range(4))
        self.result_bits = [int(text[1:]) for text in results]
        self.text = "\n".join(
            [f"func.func @f({arguments}) -> ({', '.join(results)}) {{", *self.lines,
             f"return {', '.join(ends)} : {', '.join(results)}", "}"]
        )  # fmt: skip

    def value(self, line: str, width: int, step: Callable[[list[int]], int]) -> int:
        self.lines.append(f"%v{len(self.widths)} = {line}")
        self.used.update(map(int, re.findall(r"%v(\d+)", line)))
        self.widths.append(width)
        self.steps.append((width, step))
        return len(self.widths) - 1

    def constant(self, width: int, number: int) -> int:
        held = signed(number, width)
        text = f"{held} : i{width}" if width > 1 else str(bool(held)).lower()
        return self.value(f"arith.constant {text}", width, lambda _: held)

    def operation(self) -> None:
        rng = self.rng
        a = rng.randrange(max(0, len(self.widths) - 9), len(self.widths))
        width = self.widths[a]
        what = rng.random()
        if what < 0.3 and width < 80:
            wider = rng.choice([w for w in (*_WIDTHS, 80) if w > width])
            name = rng.choice(("extsi", "extui"))
            self.value(
                f"arith.{name} %v{a} : i{width} to i{wider}", wider,
                lambda v: v[a] if name == "extsi" else unsigned(v[a], width),
            )  # fmt: skip
        elif what < 0.4 and width > 1:
            narrower = rng.randint(1, width - 1)
            self.value(f"arith.trunci %v{a} : i{width} to i{narrower}", narrower, lambda v: v[a])
        elif what < 0.6 and width > 4:
            name = rng.choice([*_DIVIDING, *_SHIFTING])
            rule = {**_DIVIDING, **_SHIFTING}[name]
            b = self.constant(width, rng.choice((1, 2, 3, 4, 7)) if name in _DIVIDING else rng.randrange(min(width, 5)))
            self.binary(name, rule, a, b)
        elif what < 0.7:
            b = self.constant(width, rng.choice(_CONSTANTS))
            self.binary(rng.choice([*_BINARY]), None, a, b)
        else:
            b = rng.choice([k for k, w in enumerate(self.widths) if w == width])
            ones = [k for k, w in enumerate(self.widths) if w == 1]
            if ones and what > 0.9:
                c = rng.choice(ones)
                self.value(f"arith.select %v{c}, %v{a}, %v{b} : i{width}", width, lambda v: v[a] if v[c] else v[b])
            else:
                self.binary(rng.choice([*_BINARY]), None, a, b)

    def binary(self, name: str, rule: Rule | None, a: int, b: int) -> None:
        width, compute = self.widths[a], rule or _BINARY[name]
        self.value(f"arith.{name} %v{a}, %v{b} : i{width}", width, lambda v: compute(v[a], v[b], width))

    def run(self, arguments: list[int], change: Callable[[int, int], int]) -> tuple[list[int], list[int]]:
        """All values, each of which `change` may alter when it is made, and the results."""
        values = [change(k, number) for k, number in enumerate(arguments)]
        for width, step in self.steps:
            values.append(change(len(values), signed(step(values), width)))
        results = [signed(values[k], n) for k, n in zip(self.kept, self.result_bits, strict=True)]
        return values, results


@sweep(60)
def test_values_are_in_their_ranges_and_results_depend_on_needed_bits_only(seed: int) -> None:
    rng = random.Random(seed)
    code = Code(rng)
    with context():
        module = ir.Module.parse(code.text)
        entry = entry_block(module.body.operations[0])
        assert entry is not None
        widths = Widths(entry)
        made = [*entry.arguments, *(op.results[0] for op in operations(entry) if len(op.results))][: len(code.widths)]
        ranges = [widths.range(value) for value in made]
        needed = [widths.needed(value) for value in made]
    for _ in range(20):
        arguments = [signed(rng.choice((rng.getrandbits(80), rng.randint(-3, 3))), code.widths[k]) for k in range(4)]
        values, results = code.run(arguments, lambda _, number: number)
        for value, held in zip(values, ranges, strict=True):
            assert held.low <= value <= held.high

        def forget(k: int, number: int) -> int:
            """Bits that nothing depends on are random; numbers stay in their ranges, as their forms in hardware do."""
            other = signed((number & ((1 << needed[k]) - 1)) | (rng.getrandbits(90) << needed[k]), code.widths[k])
            return other if ranges[k].low <= other <= ranges[k].high else number

        assert code.run(arguments, forget)[1] == results


def test_widths_of_sums_and_products() -> None:
    """A product of 16 bits, of which 20 are kept: its operands have 16 bits, and so has what is masked by them."""
    text = """
    func.func @f(%a: i16, %b: i16, %c: i64, %d: i64) -> (i20, i64, i20) {
      %0 = arith.extsi %a : i16 to i64
      %1 = arith.extui %b : i16 to i64
      %2 = arith.muli %0, %1 : i64
      %3 = arith.trunci %2 : i64 to i20
      %m = arith.constant 65535 : i64
      %4 = arith.andi %c, %m : i64
      %5 = arith.addi %4, %1 : i64
      %k = arith.constant 3 : i64
      %6 = arith.shli %d, %k : i64
      %7 = arith.trunci %6 : i64 to i20
      return %3, %5, %7 : i20, i64, i20
    }"""
    with context():
        module = ir.Module.parse(text)
        entry = entry_block(module.body.operations[0])
        assert entry is not None
        widths = Widths(entry)
        extended, other, product, _, _, masked, total, *_ = operations(entry)
        assert widths.bits(product.results[0]) == 20
        assert widths.signed_bits(extended.results[0]) == 16 and widths.signed_bits(other.results[0]) == 17
        assert widths.bits(masked.results[0]) == 16 and widths.bits(total.results[0]) == 17
        assert widths.needed(entry.arguments[2]) == 64 and widths.needed(entry.arguments[3]) == 17


def test_constants_of_more_than_64_bits() -> None:
    text = "func.func @f() -> i200 {\n%0 = arith.constant 1180591620717411303424 : i200\nreturn %0 : i200\n}"
    with context():
        module = ir.Module.parse(text)
        entry = entry_block(module.body.operations[0])
        assert entry is not None
        assert Widths(entry).range(operations(entry)[0].results[0]).constant == 2**70
