"""Rewrites of graphs, and layers on odd values: what is simplified computes what the graph does as it is written."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.importers import ImportedKernel, Layer, LayerGraph, LayerOrigin
from allo.importers.fold import simplified
from allo.ir.types import AlloType, TensorType, float32, int64
from allo.ir.types import bool as bool_

from .models import run

type Given = tuple[str, tuple[object, ...], tuple[int, ...], dict[str, object]]


def graph_of(
    arguments: dict[str, tuple[int, ...]], layers: dict[str, Given], *results: str, element: AlloType = float32,
    **constants: np.ndarray,
) -> LayerGraph:  # fmt: skip
    made = tuple(
        Layer(name, operator, inputs, options, TensorType(element, shape), LayerOrigin())
        for name, (operator, inputs, shape, options) in layers.items()
    )
    kinds = {name: TensorType(float32, shape) for name, shape in arguments.items()}
    return LayerGraph("graph", kinds, constants, made, results)


def same(graph: LayerGraph, *inputs: np.ndarray) -> LayerGraph:
    """The simplified graph, whose machine code computes what NumPy does layer by layer before."""
    after = simplified(graph)
    wanted = run(ImportedKernel(graph), *inputs)
    for results in (run(ImportedKernel(after), *inputs), run(allo.customize(ImportedKernel(after)).build(), *inputs)):
        for result, expected in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    return after


def normed(*results: str, **arguments: tuple[int, ...]) -> LayerGraph:
    """A convolution with two norms behind it, and a sum of both with arguments."""
    random = np.random.default_rng(0)
    weights = {"w": random.normal(size=(3, 2, 1, 1)).astype(np.float32)}
    weights |= {f"n{number}": random.uniform(0.5, 2, 3).astype(np.float32) for number in range(8)}
    shape, eps = (1, 3, 2, 2), {"eps": 1e-5}
    window = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    layers: dict[str, Given] = {
        "conv2d": ("conv2d", ("x", "w"), shape, window),
        "norm": ("batch_norm", ("conv2d", "n0", "n1", "n2", "n3"), shape, eps),
        "again": ("batch_norm", ("norm", "n4", "n5", "n6", "n7"), shape, eps),
        "sum": ("add", ("again", "norm" if "sum" in results else next(iter(arguments))), shape, {}),
    }
    return graph_of({"x": (1, 2, 2, 2), **arguments}, layers, *results, **weights)


def test_a_norm_that_is_read_twice_stays_what_it_is() -> None:
    image = np.random.default_rng(1).normal(size=(1, 2, 2, 2)).astype(np.float32)
    after = same(normed("sum"), image)
    assert [layer.operator for layer in after.layers] == ["conv2d", "mul", "add", "add"]


def test_weights_of_joined_norms_have_names_of_their_own() -> None:
    random = np.random.default_rng(1)
    graph = normed("again", "more", conv2d_weight=(1, 3, 2, 2))
    graph = graph_of(
        {name: kind.shape for name, kind in graph.arguments.items()},
        {
            **{one.name: (one.operator, one.inputs, one.type.shape, dict(one.options)) for one in graph.layers[:3]},
            "more": ("add", ("again", "conv2d_weight"), (1, 3, 2, 2), {}),
        },
        "more",
        **graph.constants,
    )
    arrays = (random.normal(size=kind.shape).astype(np.float32) for kind in graph.arguments.values())
    after = same(graph, *arrays)
    assert [layer.operator for layer in after.layers] == ["conv2d", "add"]


def test_a_model_without_layers() -> None:
    constant = np.arange(6, dtype=np.float32).reshape(2, 3)
    same(graph_of({"x": (2, 3)}, {}, "x", "c", "x", c=constant), -constant)


def test_what_is_no_number_stays_so() -> None:
    nan = np.float32([np.nan, 1, -2, np.nan, -0.0, np.inf])
    layers: dict[str, Given] = {
        "high": ("maximum", ("x", "y"), (6,), {}),
        "low": ("minimum", ("x", "y"), (6,), {}),
        "size": ("abs", ("x",), (6,), {}),
        "positive": ("relu", ("x",), (6,), {}),
        "bounded": ("clamp", ("x",), (6,), {"low": -1.0, "high": 2.0}),
    }
    graph = graph_of({"x": (6,), "y": (6,)}, layers, *layers)
    same(graph, nan, nan[::-1].copy())
    size = run(allo.customize(ImportedKernel(graph)).build(), nan, nan)[2]
    assert not np.signbit(size).any()


def test_subscripts_that_are_known_are_inside() -> None:
    places = np.array([2, -1, -4])
    layers: dict[str, Given] = {"part": ("index", ("x", "i"), (2, 3), {"dimension": 1, "wraps": True})}
    same(graph_of({"x": (2, 4)}, layers, "part", i=places), np.float32([[1, 2, 3, 4], [5, 6, 7, 8]]))
    for number in (4, -5):
        with pytest.raises(allo.ModelError) as error:
            simplified(graph_of({"x": (2, 4)}, layers, "part", i=np.array([0, number, 1])))
        assert str(error.value) == (
            f"the layer 'part', index, cannot be imported: its subscript {number} is outside of 4 elements"
        )


def test_places_that_are_known_together_are_those_of_one_dimension() -> None:
    options: dict[str, object] = {"dimensions": (0, 2)}
    layers: dict[str, Given] = {"part": ("gather", ("x", "i", "j"), (2, 3, 4), options)}
    x = np.arange(120, dtype=np.float32).reshape(5, 4, 6)
    rows, columns = np.array([[4], [-5]]), np.array([0, 5, -1])
    after = same(graph_of({"x": (5, 4, 6)}, layers, "part", i=rows, j=columns), x)
    assert [layer.operator for layer in after.layers] == ["permute", "reshape", "index", "reshape"]
    with pytest.raises(allo.ModelError) as error:
        simplified(graph_of({"x": (5, 4, 6)}, layers, "part", i=rows, j=columns + 1))
    assert str(error.value) == (
        "the layer 'part', gather, cannot be imported: its subscript 6 is outside of 6 elements"
    )


def test_constants_have_a_size_that_fits_into_memory() -> None:
    layers: dict[str, Given] = {"all": ("full", (), (1 << 29,), {"value": 1})}
    with pytest.raises(allo.ModelError) as error:
        simplified(graph_of({"x": (1,)}, layers, "all", element=int64))
    assert str(error.value) == (
        "the layer 'all', full, cannot be imported: it is a constant of 536870912 elements, and 268435456 are the most"
    )


def test_infinities_are_rounded_to_themselves() -> None:
    values = np.array([np.inf, -np.inf, 2.5, -0.5], np.float32)
    names = ("floor", "ceil", "trunc", "round")
    layers: dict[str, Given] = {name: (name, ("x",), (4,), {}) for name in names}
    kernel = ImportedKernel(simplified(graph_of({"x": (4,)}, layers, *names)))
    for function in (kernel, allo.customize(kernel).build()):
        for name, result in zip(names, run(function, values), strict=True):
            assert np.array_equal(result, getattr(np, name)(values))


def test_numbers_are_compared_as_pytorch_does() -> None:
    """A number has the type of the array that it is compared with, or is a float if that is the larger kind."""
    kinds = {"a": TensorType(int64, (3,)), "b": TensorType(bool_, (3,))}
    truth = TensorType(bool_, (3,))
    layers = [Layer("less", "lt", ("a", 0.5), {}, truth, LayerOrigin())]
    layers += [Layer("one", "eq", ("b", 1), {}, truth, LayerOrigin())]
    layers += [Layer("half", "eq", ("a", 0.5), {}, truth, LayerOrigin())]
    graph = LayerGraph("graph", kinds, {}, tuple(layers), ("less", "one", "half"))
    kernel = ImportedKernel(simplified(graph))
    for function in (kernel, allo.customize(kernel).build()):
        less, one, half = run(function, np.array([-1, 0, 1]), np.array([True, False, True]))
        assert less.tolist() == [True, True, False] and one.tolist() == [True, False, True] and not half.any()
