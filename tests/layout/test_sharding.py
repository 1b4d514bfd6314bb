"""Sharded arrays: laws over random meshes and layouts, the meaning of the typing rules on NumPy arrays, the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allo.layout import Layout, Pending, ShardedArray, replicated
from allo.layout.sharding import Shape, Shard, positions

S, R = Layout.Shard, Layout.Replicate
SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=40)
MESHES = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@st.composite
def sharded(draw: st.DrawFn, rank: int | None = None) -> ShardedArray:
    """An array that divides over a mesh, with axes in either way of counting."""
    mesh = draw(MESHES)
    rank = draw(st.integers(1, 3)) if rank is None else rank
    free = list(draw(st.permutations(range(len(mesh)))))
    placements: list[Any] = []
    for _ in range(rank):
        shards = bool(free) and draw(st.booleans())
        placements.append(S(free.pop() - draw(st.sampled_from([0, len(mesh)]))) if shards else R)
    layout = Layout(placements)
    shape = tuple(count * draw(st.integers(1, 3)) for count in layout.parts(mesh))
    return ShardedArray(shape, layout, mesh)


def split(array: np.ndarray[Any, Any], over: ShardedArray) -> dict[Shape, np.ndarray[Any, Any]]:
    """What each processing element has."""
    return {p: array[over.layout.slices(over.shape, over.mesh, p)] for p in positions(over.mesh)}


def gathered(parts: dict[Shape, np.ndarray[Any, Any]], over: ShardedArray) -> np.ndarray[Any, Any]:
    """The whole array; processing elements with the same part agree."""
    whole = np.full(over.shape, -1)
    for position, part in parts.items():
        place = over.layout.slices(over.shape, over.mesh, position)
        assert (whole[place] == -1).all() or (whole[place] == part).all()
        whole[place] = part
    return whole


def combined(parts: dict[Shape, Any], axes: tuple[int, ...], operator: Callable[[Any], Any]) -> dict[Shape, Any]:
    """An allreduce: all along `axes` of the mesh get what `operator` makes of their parts."""
    return {
        here: operator([parts[p] for p in parts if all(p[a] == here[a] for a in range(len(here)) if a not in axes)])
        for here in parts
    }


def array_of(shape: Shape) -> np.ndarray[Any, Any]:
    return np.random.default_rng(prod(shape)).integers(0, 9, shape)


@SETTINGS
@given(sharded())
def test_shards_cover_the_array(over: ShardedArray) -> None:
    array = np.arange(prod(over.shape)).reshape(over.shape)
    parts = split(array, over)
    assert {part.shape for part in parts.values()} == {over.local_shape}
    np.testing.assert_array_equal(gathered(parts, over), array)
    owners = np.zeros(over.shape, int)
    for position in parts:
        owners[over.layout.slices(over.shape, over.mesh, position)] += 1
    assert (owners == over.layout.copies(over.mesh)).all()
    assert prod(over.local_shape) * prod(over.layout.parts(over.mesh)) == prod(over.shape)


@SETTINGS
@given(sharded())
def test_placements_name_all_processing_elements_once(over: ShardedArray) -> None:
    placement = over.layout.get_placement(over.mesh)
    assert sorted(p for found in placement.values() for p in found) == list(positions(over.mesh))
    assert {len(found) for found in placement.values()} == {over.layout.copies(over.mesh)}
    assert all(over.layout.tile(over.mesh, p) == tile for tile, found in placement.items() for p in found)


@SETTINGS
@given(sharded())
def test_counting_axes_from_the_end_changes_nothing(over: ShardedArray) -> None:
    again = Layout([p if p is R else Shard(p.axis - len(over.mesh)) for p in over.layout.placements])
    assert again.on(over.mesh) == over.layout and over.layout.on(over.mesh) == over.layout


@SETTINGS
@given(sharded(), st.data())
def test_reductions_wait_for_what_other_processing_elements_have(over: ShardedArray, data: st.DataObject) -> None:
    dimension = data.draw(st.integers(0, len(over.shape) - 1))
    for name, local, among in (("+", np.sum, np.sum), ("max", np.max, np.max)):
        array = array_of(over.shape)
        result = over.reduce(name, dimension)
        parts = {p: local(part, axis=dimension) for p, part in split(array, over).items()}
        assert result.is_complete != over.is_cut(dimension)
        if not result.is_complete:
            parts = combined(parts, result.axes_of(name), lambda found, f=among: f(found, axis=0))
            result = result.allreduce(name)
        np.testing.assert_array_equal(gathered(parts, result), local(array, axis=dimension))


@SETTINGS
@given(sharded(2), st.data())
def test_products_of_shards(left: ShardedArray, data: st.DataObject) -> None:
    """Any layout of the columns of the right side that is free, and the rule for the dimension that is summed up."""
    rows, inner = left.layout.placements
    free = [axis for axis in range(len(left.mesh)) if axis not in left.layout.shard_axes(left.mesh)]
    column = data.draw(st.sampled_from([R, *map(S, free)]))
    count = 1 if column is R else left.mesh[column.axis]
    right = ShardedArray((left.shape[1], 2 * count), Layout([inner, column]), left.mesh)
    A, B = array_of(left.shape), array_of(right.shape)
    result = left.matmul(right)
    a, b = split(A, left), split(B, right)
    parts = {p: a[p] @ b[p] for p in a}
    if not result.is_complete:
        parts = combined(parts, result.axes_of("+"), lambda found: np.sum(found, axis=0))
        result = result.allreduce("+")
    assert result.layout == Layout([rows, column]).on(left.mesh)
    np.testing.assert_array_equal(gathered(parts, result), A @ B)


@SETTINGS
@given(sharded(), st.data())
def test_elementwise_results_are_sharded_where_an_operand_is(one: ShardedArray, data: st.DataObject) -> None:
    kept = [data.draw(st.booleans()) for _ in one.shape]
    pairs = zip(one.layout.placements, kept, strict=True)
    two = ShardedArray(one.shape, Layout([p if keep else R for p, keep in pairs]), one.mesh)
    result = one.elementwise(two)
    assert result == two.elementwise(one) == result.elementwise(result) == one.elementwise(result)
    assert result.layout == one.layout


def test_the_product_of_the_paper() -> None:
    """Fig. 7a: S0, S1, S2 are the last, the middle and the first axis of the mapping [Pk, Pm, Pn]."""
    mesh, M, K, N = (2, 3, 4), 6, 8, 12
    A = ShardedArray((M, K), Layout("S1S2"), mesh)
    B = ShardedArray((K, N), Layout("S2S0"), mesh)
    C = A.matmul(B)
    assert (A.local_shape, B.local_shape, C.local_shape) == ((2, 4), (4, 3), (2, 3))
    assert C.pending == {Pending("+", 0)} and C.layout == Layout("S1S0").on(mesh) == Layout([S(1), S(2)])
    assert C.allreduce("+").is_complete


def test_layouts_as_text() -> None:
    assert Layout("S1R").on((4, 2)) == Layout([S(0), R]) and Layout("RS0").on((4, 2)) == Layout([R, S(1)])
    assert Layout("SR").on((4,)) == Layout("S0R").on((4,)) and Layout("SS").on((4, 2)) == Layout([S(0), S(1)])
    assert repr(Layout("S0R")) == 'Layout("S0R")' and repr(Layout("SR")) == "Layout([Shard(0), Replicate])"
    assert Layout("S0R") == Layout([S(-1), R]) != Layout("S1R") and hash(Layout("RR")) == hash(Layout([R, R]))
    assert eval(repr(Layout("S1RS0"))) == Layout("S1RS0")
    assert Layout("S1R").get_placement((2, 2)) == {(0, 0): [(0, 0), (0, 1)], (1, 0): [(1, 0), (1, 1)]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Layout("X"), 'a layout is written with R and S, such as "S1R" or "RS0", got \'X\''),
        (lambda: Layout(None), "a layout is a text or a list with one entry a dimension, got None"),
        (lambda: Layout("S0S"), "give each S of 'S0S' the number of an axis, or none"),
        (lambda: Layout([0]), "a dimension is Layout.Shard(axis) or Layout.Replicate, got 0"),
        (lambda: Layout([S("x")]), "Layout.Shard takes the number of an axis of the mesh, got 'x'"),
        (
            lambda: Layout([S(2)]).on((2, 2)),
            "Layout([Shard(2)]) needs axis 2 of the mesh [2, 2], whose axes are 0, 1",
        ),
        (
            lambda: Layout("S9R").on((2, 2)),
            'Layout("S9R") needs S9 of the mesh [2, 2], whose axes are S1, S0',
        ),
        (
            lambda: Layout([S(0), S(-2)]).on((2, 2)),
            "Layout([Shard(0), Shard(-2)]) cuts two dimensions along axis 0 of the mesh",
        ),
        (
            lambda: Layout("SR").local_shape((5, 2), (2,)),
            "dimension 0 of [5, 2] does not divide into 2 equal parts",
        ),
        (
            lambda: Layout("SR").local_shape((4,), (2,)),
            "Layout([Shard(0), Replicate]) is of arrays with 2 dimensions, not of [4]",
        ),
        (
            lambda: ShardedArray((4, 4), Layout("RS"), (2,)).matmul(ShardedArray((4, 4), Layout("RR"), (2,))),
            "the dimension that is summed up is Shard(0) on the left and Replicate on the right",
        ),
        (
            lambda: ShardedArray((4,), Layout([S(0)]), (2, 2)).elementwise(ShardedArray((4,), Layout([S(1)]), (2, 2))),
            "one side is cut along axis 0 of the mesh and the other along axis 1",
        ),
        (
            lambda: ShardedArray((4,), Layout("S"), (2,)).reduce("+", 0).allreduce("max"),
            "the array does not wait for 'max', but for +",
        ),
        (
            lambda: ShardedArray((4,), Layout("S"), (2,)).reduce("+", 1),
            "an array of shape (4,) has no dimension 1",
        ),
        (
            lambda: ShardedArray((4, 4), Layout("RR"), (2,)).matmul(ShardedArray((3, 4), Layout("RR"), (2,))),
            "matrices of shapes (4, 4) and (3, 4) have no product",
        ),
        (
            lambda: ShardedArray((4,), Layout("R"), (2,)).elementwise(ShardedArray((3,), Layout("R"), (2,))),
            "arrays of shapes (4,) and (3,) have no elements in common places",
        ),
    ],
)
def test_what_does_not_fit(make: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value) == message


# -- partial results, which mean what complete ones would ---------------------------------------------------------


@st.composite
def partial(draw: st.DrawFn) -> tuple[ShardedArray, dict[Shape, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """A product whose inner dimension is cut, what each processing element has of it, and the whole of it."""
    mesh = draw(MESHES)
    axes = draw(st.permutations(range(len(mesh))))
    rows = S(axes[1]) if len(mesh) > 1 and draw(st.booleans()) else R
    inner = S(axes[0])
    shape = (mesh[rows.axis] if rows is not R else 1) * 2, mesh[inner.axis] * draw(st.integers(1, 2))
    left = ShardedArray(shape, Layout([rows, inner]), mesh)
    right = ShardedArray((shape[1], 4), Layout([inner, R]), mesh)
    A, B = array_of(shape), array_of((shape[1], 4))
    a, b = split(A, left), split(B, right)
    return left.matmul(right), {p: a[p] @ b[p] for p in a}, A @ B


@SETTINGS
@given(partial(), st.data())
def test_what_may_be_done_to_partial_results(made: Any, data: st.DataObject) -> None:
    """Whatever is not refused is, when it has been combined, what it is of complete results."""
    result, parts, whole = made
    factor = ShardedArray(whole.shape, data.draw(st.sampled_from([result.layout, Layout("RR")])), result.mesh)
    other = array_of(whole.shape) + 1
    others = split(np.broadcast_to(other, whole.shape), ShardedArray(whole.shape, result.layout, result.mesh))
    scaled = result.combined(factor, "*")
    assert scaled == factor.combined(result, "*")
    twice = scaled.combined(scaled, "+")
    mine = {p: 2 * parts[p] * others[p] for p in parts}
    sums = combined(mine, twice.axes_of("+"), lambda found: np.sum(found, axis=0))
    np.testing.assert_array_equal(gathered(sums, twice.allreduce("+")), 2 * whole * other)


@SETTINGS
@given(partial())
def test_scattered_sums_are_gathered_again(made: Any) -> None:
    result, parts, whole = made
    (axis,) = result.axes_of("+")
    if whole.shape[1] % result.mesh[axis]:
        return
    cut = result.reduce_scatter("+", axis, 1)
    sums = combined(parts, (axis,), lambda found: np.sum(found, axis=0))
    width = cut.local_shape[1]
    mine = {p: sums[p][:, p[axis] * width : (p[axis] + 1) * width] for p in sums}
    np.testing.assert_array_equal(gathered(mine, cut), whole)
    assert cut.all_gather(1) == result.allreduce("+")


def test_transposed_layouts() -> None:
    over = ShardedArray((4, 6), Layout("S1S0"), (2, 3))
    assert over.transposed() == ShardedArray((6, 4), Layout("S0S1"), (2, 3)) and over.transposed().transposed() == over
    vector = ShardedArray((6,), Layout("S0"), (2, 3))
    assert vector.in_more_dimensions((4, 6)) == replace(over, shape=(4, 6), layout=Layout("RS0").on((2, 3)))


def partial_sum() -> ShardedArray:
    return ShardedArray((4, 4), Layout("RS0"), (2, 2)).matmul(ShardedArray((4, 4), Layout("S0R"), (2, 2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: partial_sum().combined(replicated((4, 4), (2, 2)), "+"),
            "'+' of partial results is no part of the result: positions have yet to combine it by '+' along axis 1",
        ),
        (
            lambda: partial_sum().combined(partial_sum(), "*"),
            "'*' of partial results is no part of the result: positions have yet to combine it by '+' along axis 1",
        ),
        (
            lambda: partial_sum().combined(ShardedArray((4, 4), Layout("RS0"), (2, 2)), "*"),
            "'*' of partial results is no part of the result: positions have yet to combine it by '+' along axis 1",
        ),
        (
            lambda: partial_sum().mapped("exp"),
            "exp of a partial result is no part of the result: positions have yet to combine it by '+' along axis 1",
        ),
        (
            lambda: ShardedArray((4, 4), Layout("RS0"), (2, 2)).mapped("softmax", 1),
            "softmax needs all of dimension 1, which is cut along axis 1",
        ),
        (
            lambda: replicated((4, 4), (2, 2)).all_gather(0),
            "dimension 0 is not cut, so that nothing can be gathered",
        ),
        (
            lambda: partial_sum().reduce_scatter("+", 0, 1),
            "the array does not wait for '+' along axis 0, but for +",
        ),
        (
            lambda: ShardedArray((4, 4), Layout("S1S0"), (2, 2))
            .matmul(ShardedArray((4, 4), Layout("S0R"), (2, 2)))
            .reduce_scatter("+", 1, 0),
            "dimension 0 is cut already",
        ),
    ],
)
def test_what_partial_results_do_not_allow(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message
