"""Numbers of tokens through calls, triangles and conditions, and what they depend on where they are not known."""

from __future__ import annotations

import pytest

from allo.ir.module import Module
from allo.ir.walk import operations
from allo.poly import always_ends
from allo.poly.token_counts import TokenCount, Uncounted, is_balanced, tokens_of

PUT = "allo.stream_put %s, %one : !allo.stream<i32, 4>"
GET = "%got = allo.stream_get %s : !allo.stream<i32, 4>"
MAKE = "%s = allo.stream_create : !allo.stream<i32, 4>"
ONE = "%one = arith.constant 1 : i32"
TRIANGLE = """affine.for %i = 0 to 5 {
  affine.for %j = affine_map<(d0) -> (d0)>(%i) to 5 { affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) { AGAIN } }
}"""
FEED = f"func.func private @feed(%s: !allo.stream<i32, 4>) {{ {ONE} {TRIANGLE.replace('AGAIN', PUT)} return }}"
CALL = "func.call @feed(%s) : (!allo.stream<i32, 4>) -> ()"


def module_of(body: str, others: str = FEED, arguments: str = "") -> Module:
    dataflow = "attributes {allo.dataflow}"
    return Module.parse(
        f'module attributes {{allo.top = "f"}} {{ {others} '
        f"func.func @f({arguments}) {dataflow} {{ {ONE}\n{body}\nreturn }} }}"
    )


def count(module: Module) -> TokenCount | Uncounted:
    """The tokens of the stream that the entry makes."""
    block = module.function("f").operation.regions[0].blocks[0]
    return tokens_of(module, operations(block, "allo.stream_create")[0].results[0])


def repeat(times: str, body: str) -> str:
    return f"affine.for %r = 0 to {times} {{ {body} }}"


def test_counts_go_through_calls_and_follow_bounds_and_conditions() -> None:
    assert count(module_of(f"{MAKE} {repeat('2', CALL)} {repeat('13', GET)}")) == TokenCount(12, 13)


def test_a_look_takes_nothing() -> None:
    look = "%seen = allo.stream_peek %s : !allo.stream<i32, 4>"
    assert count(module_of(f"{MAKE} {PUT} {look} {GET}")) == TokenCount(1, 1)


def test_trees_of_processes_that_pass_triangles_need_not_be_run() -> None:
    balanced = module_of(f"{MAKE} {CALL} {TRIANGLE.replace('AGAIN', GET)}")
    assert count(balanced) == TokenCount(6, 6) and always_ends(balanced)
    assert not always_ends(module_of(f"{MAKE} {CALL} {repeat('7', GET)}"))


def test_a_stream_of_an_iteration_has_the_tokens_of_that_iteration() -> None:
    """However many iterations there are."""
    body = f"affine.for %t = 0 to %n {{ {MAKE} {repeat('3', PUT)} {repeat('3', GET)} }}"
    module = module_of(body, arguments="%n: index")
    made = operations(module.function("f").operation.regions[0].blocks[0], "allo.stream_create")[0].results
    assert count(module) == TokenCount(3, 3) and is_balanced(module, made)


RECURSIVE = f"func.func private @feed(%s: !allo.stream<i32, 4>) {{ {CALL} return }}"
DECLARED = "func.func private @feed(!allo.stream<i32, 4>)"


@pytest.mark.parametrize(
    ("body", "others", "on"),
    [
        (CALL, RECURSIVE, "how often 'feed' calls itself"),
        (CALL, DECLARED, "an external kernel"),
        (repeat("%n", PUT), FEED, "data or arguments of the call"),
        ("%full = allo.stream_full %s : !allo.stream<i32, 4>", FEED, "whether it is empty or full"),
    ],
    ids=["recursive", "external", "run time", "asked"],
)
def test_what_is_not_known(body: str, others: str, on: str) -> None:
    module = module_of(f"{MAKE} {body}", others, "%n: index")
    found = count(module)
    made = operations(module.function("f").operation.regions[0].blocks[0], "allo.stream_create")[0].results
    assert isinstance(found, Uncounted) and found.on == on and not is_balanced(module, made)
