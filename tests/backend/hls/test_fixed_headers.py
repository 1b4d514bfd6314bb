"""`ap_fixed` of the simulation headers against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from allo.frontend.typing.tables import DEFAULT
from allo.ir.quantize import FixedPoint, mantissa
from allo.ir.types import OVERFLOWS, ROUNDINGS, Fixed, Int, UFixed, UInt, wrap
from tests.seeds import rotating

from .cpp_programs import compiled, lines, needs_compiler
from .integer_model import operand

pytestmark = needs_compiler


def cpp(scalar: FixedPoint) -> str:
    sign = "" if isinstance(scalar, Fixed) else "u"
    modes = f"AP_{scalar.rounding.upper()}, AP_{scalar.overflow.upper()}"
    return f"ap_{sign}fixed<{scalar.width}, {scalar.width - scalar.fracs}, {modes}>"


def toward_zero(value: Fraction, fracs: int) -> int:
    return int(value * 2**fracs)


def expected(left: FixedPoint, right: FixedPoint, a: int, b: int, number: float) -> dict[str, int]:
    """The mantissa of every result that programs/fixed.cpp prints."""
    x, y = Fraction(a, 1 << left.fracs), Fraction(b, 1 << right.fracs)
    fracs = max(left.fracs, right.fracs)
    storage = (Int if isinstance(left, Fixed) else UInt)(left.width)
    whole = (Int if isinstance(left, Fixed) else UInt)(max(left.width - left.fracs, 1))
    results = {
        "convert": mantissa(x, right),
        "double": mantissa(number, right),
        "integer": mantissa(a, right),
        "int": mantissa(int(number) if abs(number) < 2e9 else 0, right),
        "+": int((x + y) * 2**fracs),
        "-": int((x - y) * 2**fracs),
        "*": int(x * y * 2 ** (left.fracs + right.fracs)),
        "<": int(x < y),
        "==": int(x == y),
        "neg": -a,
        "to_int": wrap(wrap(toward_zero(x, 0), whole), Int(32)),
        "int+": int((3 + x) * 2**left.fracs),
        "<<": wrap(a << 2, storage),
        ">>": a >> 3,
        "+=": mantissa(x + y, right),
    }
    return results | ({"/": toward_zero(x / y, left.fracs)} if b else {})


def type_of(what: str, left: FixedPoint, right: FixedPoint) -> FixedPoint | None:
    """The type of a result, where it is that of kernels."""
    match what:
        case "+" | "-" | "*" | "/":
            made = DEFAULT.result(what, left, right)
        case "neg":
            made = DEFAULT.unary_result(what, left)
        case "convert" | "double" | "integer" | "int" | "+=":
            made = right
        case _:
            return None
    assert isinstance(made, Fixed | UFixed)
    return made


def number_for(scalar: FixedPoint, rng: random.Random) -> float:
    """Often half between two numbers of the type, or beyond its limits."""
    if rng.random() < 0.5:
        return (rng.getrandbits(scalar.width + 2) - (1 << scalar.width + 1)) * 0.5 ** (scalar.fracs + 1)
    special = (math.inf, -math.inf, math.nan, 1e300, -1e300, 5e-324, 0.0)
    return rng.choice([rng.gauss(0, 1), rng.gauss(0, 1e6), rng.gauss(0, 1e-6), rng.choice(special)])


def check(pairs: list[tuple[FixedPoint, FixedPoint]], folder: Path, repetitions: int, *flags: str) -> None:
    cases = [f"CASE({number}, ({cpp(a)}), ({cpp(b)}))" for number, (a, b) in enumerate(pairs)]
    program = compiled("fixed", folder, *flags, cases=cases)
    rng = random.Random(len(pairs))
    given = []
    for number, (left, right) in enumerate(pairs):
        for _ in range(repetitions):
            values = [operand((Int if isinstance(t, Fixed) else UInt)(t.width), rng) for t in (left, right)]
            given.append((number, *values, number_for(right, rng)))
    printed = lines(program, [f"{which} {a} {b} {x!r}" for which, a, b, x in given])
    assert len(printed) == len(given)
    for (which, *values), line in zip(given, printed, strict=True):
        check_line(*pairs[which], *values, line=line)


def check_line(left: FixedPoint, right: FixedPoint, a: int, b: int, number: float, *, line: str) -> None:
    context = (left, right, a, b, number)
    wanted = expected(left, right, a, b, number)
    results = {item.rsplit(":", 4)[0]: item.rsplit(":", 4)[1:] for item in line.split()}
    assert float.fromhex(results.pop("to_double")[-1]) == a / (1 << left.fracs), context
    assert set(results) == set(wanted)
    for what, (width, fracs, signed, value) in results.items():
        assert (what, int(value)) == (what, wanted[what]), context
        made = type_of(what, left, right)
        if made is not None:
            found = (int(width), int(fracs), signed == "1")
            assert (what, *found) == (what, made.width, made.fracs, isinstance(made, Fixed)), context


def modes() -> list[FixedPoint]:
    """All combinations of modes, over several formats."""
    shapes = ((8, 4), (12, 0), (16, 16), (33, 20))
    kinds = product((Fixed, UFixed), ROUNDINGS, OVERFLOWS)
    return [kind(*shapes[k % 4], rounding=q, overflow=o) for k, (kind, q, o) in enumerate(kinds)]


def test_every_mode_of_conversion(tmp_path: Path) -> None:
    some = modes()[::6]
    check([((Fixed, UFixed)[k % 2](20, 10), target) for k, target in enumerate(some)], tmp_path, 100)


@pytest.mark.parametrize("source", rotating([Fixed(24, 12), UFixed(70, 65), Fixed(130, 40)], slow=True), ids=repr)
def test_every_mode_from_every_form(source: FixedPoint, tmp_path: Path) -> None:
    check([(source, target) for target in modes()], tmp_path, 150, "-O1", "-fsanitize=undefined",
          "-fno-sanitize-recover=all")  # fmt: skip

