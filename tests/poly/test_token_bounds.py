"""Bounds on what passes through a stream where data decide: branches, calls, arrays of streams, unknown loops."""

from __future__ import annotations

from itertools import count

import pytest

from allo.ir.walk import operations
from allo.poly.token_bounds import Amount, TokenBounds, token_bounds

from .test_token_counts import CALL, DECLARED, FEED, GET, MAKE, PUT, RECURSIVE, module_of, repeat

NUMBERS = count()


def bounds(body: str, others: str = FEED) -> TokenBounds:
    module = module_of(body, others, '%A: memref<4xi1>, %n: index')
    block = module.function("f").operation.regions[0].blocks[0]
    return token_bounds(module, operations(block, "allo.stream_create", "memref.alloc")[0].results[0])


def choose(one: str, other: str = "") -> str:
    name = f"%v{next(NUMBERS)}"
    return f"{name} = affine.load %A[0] : memref<4xi1> scf.if {name} {{ {one} }} else {{ {other} }}"


def again(times: str, body: str) -> str:
    return f"affine.for %r{next(NUMBERS)} = 0 to {times} {{ {body} }}"


@pytest.mark.parametrize(
    ("body", "puts"),
    [
        (repeat("3", PUT), Amount(3, 3)),
        (repeat("3", choose(PUT)), Amount(0, 3)),
        (repeat("3", choose(PUT, PUT)), Amount(3, 3)),
        (repeat("3", choose(f"{PUT} {PUT}", PUT)), Amount(3, 6)),
        (repeat("3", choose(choose(PUT), again("4", PUT))), Amount(0, 12)),
        (choose(CALL, PUT), Amount(1, 6)),
        (again("%n", PUT), Amount(0, None)),
        (repeat("2", choose(again("%n", PUT), f"{PUT} {PUT}")), Amount(0, None)),
        (repeat("0", again("%n", PUT)), Amount(0, 0)),
        ("%full = allo.stream_full %s : !allo.stream<i32, 4>", Amount(0, 0)),
        (repeat("3", "%done = allo.stream_try_put %s, %one : !allo.stream<i32, 4>"), Amount(0, 3)),
    ],
)  # fmt: skip
def test_puts(body: str, puts: Amount) -> None:
    assert bounds(f"{MAKE} {body} {repeat('2', choose(GET))}") == TokenBounds(puts, Amount(0, 2))


@pytest.mark.parametrize("others", [RECURSIVE, DECLARED])
def test_of_what_is_not_known_there_may_be_any_number(others: str) -> None:
    assert bounds(f"{MAKE} {PUT} {CALL}", others).puts == Amount(1, None)


def test_streams_of_an_array_are_counted_together() -> None:
    array = "%t = memref.alloc() : memref<3x!allo.stream<i32, 4>>"
    one = "%s = affine.load %t[%r] : memref<3x!allo.stream<i32, 4>>"
    found = bounds(f"{array} {repeat('3', f'{one} {PUT} {choose(PUT)}')}")
    assert found == TokenBounds(Amount(3, 6), Amount(0, 0))
    assert (str(found.puts), str(found.gets), str(Amount(1, None))) == ("3 to 6", "0", "1 or more")
