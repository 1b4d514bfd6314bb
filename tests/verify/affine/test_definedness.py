"""Which values may depend on elements that nothing has written, and whether these can be taken to have a value."""

from __future__ import annotations

import islpy as isl
import pytest

from allo.verify.affine.definedness import are_one_choice, defined_by, may_be_undefined
from allo.verify.affine.nodes import Kind, ValueNode

UNDEFINED = ValueNode("u", Kind.UNDEFINED, 1)
INPUT = ValueNode("x", Kind.INPUT, 1)
OTHER = ValueNode("y", Kind.INPUT, 1)
POINTS = isl.Set("{ [i] : 0 <= i < 8 }")
SAME = isl.Map("{ [i] -> [i] }")


def no_origins(node: ValueNode) -> list[tuple[ValueNode, isl.Map]]:
    raise AssertionError(f"{node.id} is no read")


@pytest.mark.parametrize("kind", [Kind.UNDEFINED, Kind.PART, Kind.OPAQUE])
def test_what_may_be_undefined(kind: Kind) -> None:
    total = ValueNode("t", Kind.OPERATION, 1, operands=(INPUT, ValueNode("u", kind, 1)))
    assert may_be_undefined(no_origins, total, POINTS)


@pytest.mark.parametrize("kind", [Kind.INPUT, Kind.INDEX])
def test_what_is_defined(kind: Kind) -> None:
    total = ValueNode("t", Kind.OPERATION, 1, operands=(INPUT, ValueNode("v", kind, 1)))
    assert not may_be_undefined(no_origins, total, POINTS)


def test_values_without_iterations_do_not_matter() -> None:
    assert not may_be_undefined(no_origins, UNDEFINED, isl.Set("{ [i] : i < 0 and i > 0 }"))


def read(boundary: int) -> tuple[ValueNode, dict[ValueNode, list[tuple[ValueNode, isl.Map]]]]:
    """A read of an input below the boundary, of what nothing has written from there on."""
    node = ValueNode("r", Kind.READ, 1)
    below, above = (isl.Set(f"{{ [i] : i {sign} {boundary} }}") for sign in ("<", ">="))
    return node, {node: [(INPUT, SAME.intersect_domain(below)), (UNDEFINED, SAME.intersect_domain(above))]}


@pytest.mark.parametrize(("boundary", "undefined"), [(7, True), (8, False), (0, True)])
def test_only_the_origins_of_these_iterations_matter(boundary: int, undefined: bool) -> None:
    node, origins = read(boundary)
    assert may_be_undefined(origins.__getitem__, node, POINTS) is undefined


@pytest.mark.parametrize(("boundary", "undefined"), [(7, True), (8, False)])
def test_only_the_case_that_is_taken_matters(boundary: int, undefined: bool) -> None:
    cases = (isl.Set(f"{{ [i] : i < {boundary} }}"), isl.Set(f"{{ [i] : i >= {boundary} }}"))
    choice = ValueNode("c", Kind.CHOICE, 1, operands=(INPUT, UNDEFINED), cases=cases)
    assert may_be_undefined(no_origins, choice, POINTS) is undefined


def test_iterations_of_one_value_add_up() -> None:
    """The first look at the read is at defined elements, the second one is not."""
    node, origins = read(4)
    first = ValueNode("a", Kind.READ, 1)
    second = ValueNode("b", Kind.READ, 1)
    origins[first] = [(node, isl.Map("{ [i] -> [0] }"))]
    origins[second] = [(node, isl.Map("{ [i] -> [5] }"))]
    for operands in ((first, second), (second, first)):
        total = ValueNode("t", Kind.OPERATION, 1, operands=operands)
        assert may_be_undefined(origins.__getitem__, total, POINTS)
    assert not may_be_undefined(origins.__getitem__, first, POINTS)


def test_a_value_that_depends_on_itself_is_looked_at_in_all_iterations_at_last() -> None:
    scan = ValueNode("s", Kind.READ, 1)
    back, start = isl.Map("{ [i] -> [i - 1] : i > 0 }"), isl.Map("{ [i] -> [0] : i <= 0 }")
    one_point = isl.Set("{ [100] }")
    assert not may_be_undefined({scan: [(scan, back), (INPUT, start)]}.__getitem__, scan, one_point)
    assert may_be_undefined({scan: [(scan, back), (UNDEFINED, start)]}.__getitem__, scan, one_point)


def test_what_a_value_depends_on() -> None:
    node, origins = read(8)
    found = defined_by(origins.__getitem__, node, POINTS)
    assert found is not None and set(found) == {node, INPUT}
    assert found[INPUT].is_equal(POINTS)


def test_each_undefined_element_has_one_value() -> None:
    assert are_one_choice([])
    assert are_one_choice([(UNDEFINED, INPUT, SAME), (UNDEFINED, INPUT, SAME)])
    apart = [isl.Map("{ [i] -> [0] : i < 4 }"), isl.Map("{ [i] -> [1] : i >= 4 }")]
    assert are_one_choice([(UNDEFINED, INPUT, one) for one in apart])


def test_two_values_for_one_element_are_two_choices() -> None:
    assert not are_one_choice([(UNDEFINED, INPUT, SAME), (UNDEFINED, OTHER, SAME)])
    assert not are_one_choice([(UNDEFINED, INPUT, isl.Map("{ [i] -> [j] : 0 <= j < 2 }"))])
    shifted = isl.Map("{ [i] -> [i + 1] : i = 3 }")
    assert not are_one_choice([(UNDEFINED, INPUT, SAME), (UNDEFINED, INPUT, shifted)])


def test_dimensions_of_loops_inside_do_not_count() -> None:
    """Both values are of the first loop only."""
    inner = isl.Map("{ [i, k] -> [i, l] : 0 <= k, l < 3 }")
    assert are_one_choice([(UNDEFINED, INPUT, inner)])
