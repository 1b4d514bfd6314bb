"""Expressions with equal normal forms have equal values for all inputs; and which expressions have equal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from allo.verify.concrete.engine import UNDEFINED, ExpressionGraph
from allo.verify.concrete.execute import leaf_of
from allo.verify.concrete.operators import (
    F32,
    OpKind,
    ScalarOperator,
    ScalarType,
    comparison,
    extension,
    integer_operator,
    select_of,
)
from tests.seeds import sweep

from .random_expressions import RandomExpressions


def forms(graph: ExpressionGraph, ids: Sequence[int], reassociate: bool = False) -> list[int]:
    found = graph.normal_forms(np.array(ids, dtype=np.uint32), reassociate, 10_000_000)
    assert found is not None
    return [int(form) for form in found]


class Terms:
    """Builds expressions: integers by default of 8 bits."""

    def __init__(self) -> None:
        self.graph = ExpressionGraph(1_000_000)

    def leaf(self, number: int, width: int = 8) -> int:
        return self.graph.node(leaf_of(number, ScalarType(0, width)), 0, 0)

    def real(self, number: int) -> int:
        return self.graph.node(leaf_of(number, F32), 0, 0)

    def constant(self, value: int, width: int = 8) -> int:
        return self.graph.constant(ScalarType(0, width), value)

    def apply(self, name: str, a: int, b: int, width: int = 8) -> int:
        return self.graph.node(integer_operator(f"arith.{name}", width), a, b)

    def resize(self, a: int, source: int, result: int, signed: bool = True) -> int:
        return self.graph.node(extension(ScalarType(0, source), ScalarType(0, result), signed), a)

    def real_operator(self, name: str, a: int, b: int) -> int:
        kinds = {"addf": OpKind.ADDF, "mulf": OpKind.MULF, "subf": OpKind.SUBF}
        operator = ScalarOperator(f"arith.{name}", kinds[name], 2, F32, "f32", name != "subf")
        return self.graph.node(operator, a, b)


@sweep(60, quick=2)
def test_equal_forms_have_equal_values(seed: int) -> None:
    expressions = RandomExpressions(seed, leaves=(3, 2, 1))
    choose = expressions.random.choice
    roots = [expressions.integer(int(choose([1, 2, 2, 3])), int(choose([1, 2, 4]))) for _ in range(600)]
    groups: dict[tuple[int, int], set[int]] = {}
    for root, form in zip(roots, forms(expressions.graph, roots), strict=True):
        groups.setdefault((form, expressions.width(root)), set()).add(root)
    pairs = 0
    for group in groups.values():
        first, *others = sorted(group)
        for other in others:
            sides = zip(expressions.values(first), expressions.values(other), strict=True)
            told = f"{expressions.told(first)}  and  {expressions.told(other)}"
            assert all(a == b for a, b in sides if a is not None and b is not None), told
            pairs += 1
    assert pairs > 20


def test_sums_have_neither_order_nor_brackets() -> None:
    t = Terms()
    a, b, c = (t.leaf(k) for k in range(3))
    left = t.apply("addi", t.apply("addi", a, b), c)
    right = t.apply("addi", a, t.apply("addi", c, b))
    other = t.apply("addi", a, t.apply("addi", c, c))
    first, second, third = forms(t.graph, [left, right, other])
    assert first == second != third


def test_factors_are_modulo_two_to_the_width() -> None:
    t = Terms()
    a = t.leaf(0)
    doubled = t.apply("shli", a, t.constant(1))
    once = t.apply("addi", t.apply("muli", doubled, t.constant(128)), a)
    assert len(set(forms(t.graph, [once, a]))) == 1


def test_an_extension_goes_through_what_does_not_overflow() -> None:
    t = Terms()
    a, b = t.leaf(0), t.leaf(1)
    wide = [t.resize(x, 8, 16) for x in (a, b)]
    inside = t.resize(t.apply("muli", *wide, 16), 16, 32)
    outside = t.apply("muli", *(t.resize(x, 8, 32) for x in (a, b)), 32)
    narrow = t.resize(t.apply("muli", a, b), 8, 32)
    first, second, third = forms(t.graph, [inside, outside, narrow])
    assert first == second != third


def test_shifts_masks_and_powers_of_two_are_bits() -> None:
    t = Terms()
    a = t.leaf(0)
    shifted = t.apply("shrui", a, t.constant(3))
    divided = t.apply("divui", a, t.constant(8))
    masked = t.apply("andi", a, t.constant(7))
    rest = t.apply("remui", a, t.constant(8))
    floor = t.apply("floordivsi", a, t.constant(8))
    one, two, three, four, five = forms(t.graph, [shifted, divided, masked, rest, floor])
    assert one == two and three == four and five not in (one, three)


def test_negated_comparisons_and_swapped_choices() -> None:
    t = Terms()
    a, b = t.leaf(0), t.leaf(1)
    less, not_greater = (t.graph.node(comparison(p), a, b) for p in (2, 3))
    select = select_of(ScalarType(0, 8))
    one = t.graph.node(select, less, a, b)
    other = t.graph.node(select, t.graph.node(comparison(5), a, b), b, a)
    wrong = t.graph.node(select, not_greater, a, b)
    first, second, third = forms(t.graph, [one, other, wrong])
    assert first == second != third


def test_floats_commute_and_reassociate_only_if_asked() -> None:
    t = Terms()
    a, b, c = (t.real(k) for k in range(3))
    add: Callable[[int, int], int] = lambda x, y: t.real_operator("addf", x, y)  # noqa: E731
    assert add(a, b) == add(b, a)
    left, right = add(add(a, b), c), add(a, add(b, c))
    assert len(set(forms(t.graph, [left, right]))) == 2
    assert len(set(forms(t.graph, [left, right], reassociate=True))) == 1
    twice = add(left, a)
    assert len(set(forms(t.graph, [left, twice], reassociate=True))) == 2
    assert t.real_operator("subf", a, b) != t.real_operator("subf", b, a)
    differences = [t.real_operator("subf", a, b), t.real_operator("subf", b, a)]
    assert len(set(forms(t.graph, differences, reassociate=True))) == 2


def test_what_is_undefined_has_no_form() -> None:
    t = Terms()
    unknown = t.apply("subi", UNDEFINED, UNDEFINED)
    assert forms(t.graph, [t.apply("addi", t.leaf(0), unknown)]) == [0]


def test_forms_have_a_limit() -> None:
    t = Terms()
    total, partial = t.leaf(0), []
    for k in range(1, 300):
        total = t.apply("addi", total, t.leaf(k))
        partial.append(t.apply("xori", total, t.leaf(k)))
    assert t.graph.normal_forms(np.array(partial, dtype=np.uint32), False, 1000) is None
