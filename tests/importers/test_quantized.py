"""Quantised models: integers are added up exactly, round as NumPy does, and are as near to floats as bits allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.importers import ImportedKernel, Layer, LayerGraph, LayerOrigin, compare_layers, quantized
from allo.importers.fold import simplified
from allo.ir.types import AlloType, Int, TensorType, float32, float64, int8, int16, int32

from .models import kernel_of, run, stored


def whole(kernel: ImportedKernel, *arrays: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The integers of a kernel, computed by its machine code."""
    layers = [layer for layer in kernel.graph.layers if isinstance(layer.type.element, Int)]
    names = [layer.name for layer in layers if layer.operator in ("quantize", *SUMS)]
    results = run(allo.customize(kernel.with_results(tuple(names))).build(), *arrays)
    return dict(zip(names, results, strict=True))


SUMS = ("linear", "grouped_linear", "conv2d", "matmul")


def test_products_of_a_model_are_sums_of_integers() -> None:
    operators = [(one.operator, repr(one.type.element)) for one in kernel_of("quantized").graph.layers]
    assert [name for name, element in operators if element == "int32"] == ["conv2d", "grouped_linear", "linear"]


@pytest.mark.parametrize("options", [{}, {"weights": 4, "group": 4}])
def test_integers_are_those_of_numpy(options: dict[str, int]) -> None:
    """The first two layers of a perceptron, by hand."""
    floats, (x,) = kernel_of("perceptron"), stored("perceptron").inputs
    kernel = quantized(floats, [(x,)], **options)
    found = whole(kernel, x)
    weights, bias = (floats.graph.constants[f"p_layers_0_{part}"] for part in ("weight", "bias"))
    most, group = 2 ** (options.get("weights", 8) - 1) - 1, options.get("group", 8)
    parts = weights.reshape(16, -1, group)
    scales = np.float32(np.abs(parts).max(-1) / most)
    numbers = np.clip(np.rint(parts / scales[..., None]), -most, most).astype(np.int64)
    scale = np.float32(np.abs(x).max() / 127)
    values = np.clip(np.rint(x * np.float32(1 / scale.item())), -128, 127).astype(np.int64)
    assert np.array_equal(found["x_int8"], values) and np.abs(values).max() == 127
    sums = np.einsum("igk,jgk->ijg", values.reshape(2, -1, group), numbers)
    assert np.array_equal(found["linear_sums"].reshape(sums.shape), sums)
    real = (sums.astype(np.float32) * np.float32(scales.astype(np.float64) * scale)).sum(-1, dtype=np.float32) + bias
    after = np.float32(np.abs(floats.values(x)["relu"]).max() / 127)
    wanted = np.clip(np.rint(np.maximum(real, 0) * np.float32(1 / after.item())), -128, 127)
    assert np.array_equal(found["relu_int8"], wanted)


@pytest.mark.parametrize("name", ["mobilenet", pytest.param("gpt2", marks=pytest.mark.slow)])
def test_integers_of_machine_code_are_those_of_numpy(name: str) -> None:
    inputs = stored(name).inputs
    kernel = quantized(kernel_of(name), [inputs])
    values = kernel.values(*inputs)
    found = whole(kernel, *inputs)
    assert len(found) > 8
    same = True  # until a float in between is rounded in another way
    for value, array in found.items():
        apart = np.abs(array.astype(np.int64) - values[value])
        assert array.dtype == values[value].dtype
        if array.dtype == np.int8:
            assert apart.max() <= 1 and np.mean(apart > 0) < 0.01, value
            same = same and not apart.any()
        elif same:
            assert not apart.any(), value


def largest_error(name: str, **options: Any) -> float:
    floats, inputs = kernel_of(name), stored(name).inputs
    expected, found = floats.values(*inputs), quantized(floats, [inputs], **options).values(*inputs)
    names = [layer.name for layer in floats.graph.layers]
    return max(float(np.abs(found[name] - expected[name]).max() / np.abs(expected[name]).max()) for name in names)


def test_more_bits_and_smaller_groups_are_nearer() -> None:
    kinds: list[dict[str, int]] = [{}, {"weights": 4, "group": 4}, {"weights": 4}]
    eight, grouped, four = (largest_error("perceptron", **options) for options in kinds)
    assert 0 < eight < 0.02 < grouped < four < 0.2


def test_the_error_of_each_layer_is_told() -> None:
    floats, inputs = kernel_of("perceptron"), stored("perceptron").inputs
    comparison = compare_layers(
        quantized(floats, [inputs]), *inputs, expected=floats.values(*inputs), tolerance=0.02
    )
    assert comparison and [one.layer.name for one in comparison.layers] == [one.name for one in floats.graph.layers]
    assert all(one.difference > 0 for one in comparison.layers)


def test_layers_can_stay_floats() -> None:
    kernel = quantized(kernel_of("perceptron"), [stored("perceptron").inputs], skip={"linear", "linear_2"})
    kinds = [repr(layer.type.element) for layer in kernel.graph.layers if layer.operator == "linear"]
    assert kinds == ["float32", "int32", "float32"]


def test_weights_can_be_arguments() -> None:
    (x,) = stored("perceptron").inputs
    floats = kernel_of("perceptron", weights_as_arguments=True)
    kernel = quantized(floats, [(x,)])
    assert {array.dtype for name, array in kernel.weights.items() if name.endswith("integers")} == {np.dtype(np.int8)}
    result = allo.customize(kernel).build()(x, *kernel.weights.values())
    np.testing.assert_allclose(result, stored("perceptron").results[0], atol=0.02)


def graph_of(layers: list[tuple[str, str, tuple[Any, ...], AlloType, tuple[int, ...], dict[str, Any]]], x: TensorType,
             **constants: np.ndarray[Any, Any]) -> LayerGraph:  # fmt: skip
    made = tuple(
        Layer(name, operator, inputs, options, TensorType(element, shape), LayerOrigin())
        for name, operator, inputs, element, shape, options in layers
    )
    return LayerGraph("graph", {"x": x}, constants, made, (made[-1].name,))


def test_halves_are_rounded_to_even_and_others_stay_inside() -> None:
    x = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 1e30, -1e30, np.inf, -128.6, 0.49999997])
    options = {"low": -128, "high": 127, "divides": False}
    graph = graph_of([("q", "quantize", ("x", 1.0, 0), int8, (12,), options)], TensorType(float32, (12,)))
    for function in (ImportedKernel(graph), allo.customize(ImportedKernel(simplified(graph))).build()):
        assert function(x).tolist() == [0, 2, 2, 0, -2, 126, 127, 127, -128, 127, -128, 0]


@pytest.mark.parametrize("element", [float32, float64])
def test_a_zero_moves_what_stays_inside(element: AlloType) -> None:
    """Halves are rounded in front of it, and the ends are those of the integers."""
    x = np.array([0.5, 1.5, -0.5, -1.5, 121.6, 300, -133.6, -300, 0.75])
    options = {"low": -128, "high": 127, "divides": False}
    layers: list[Any] = [("q", "quantize", ("x", 1.0, 5), int8, x.shape, options)]
    graph = graph_of(layers, TensorType(element, x.shape))
    for function in (ImportedKernel(graph), allo.customize(ImportedKernel(graph)).build()):
        found = function(x.astype("float64" if element is float64 else "float32"))
        assert found.tolist() == [5, 7, 5, 3, 127, 127, -128, -128, 6]


@pytest.mark.parametrize(("columns", "operator"), [(255, "dequantize"), (512, "linear")])
def test_sums_that_32_bits_may_not_hold_stay_floats(columns: int, operator: str) -> None:
    weights = np.full((1, columns), 127, np.int8)
    layers: list[Any] = [
        ("a", "dequantize", ("x", 0.5, 0), float32, (1, columns), {}),
        ("b", "dequantize", ("w", 0.5, 0), float32, (1, columns), {}),
        ("y", "linear", ("a", "b"), float32, (1, 1), {}),
    ]
    graph = simplified(graph_of(layers, TensorType(int16, (1, columns)), w=weights))
    assert graph.layers[-1].operator == operator
    result = allo.customize(ImportedKernel(graph)).build()(np.full((1, columns), 1000, np.int16))
    np.testing.assert_allclose(result, 1000 * 127 * columns / 4, rtol=1e-5)


SHAPES = {  # of the operand, the weights, and scales of them along the outputs
    "linear": ((2, 4), (3, 4), (3, 1)), "matmul": ((2, 4), (4, 3), (1, 3)),
    "conv2d": ((1, 2, 5, 5), (3, 2, 2, 2), (3, 1, 1, 1)),
}  # fmt: skip


def product(operator: str, x: TensorType, w: np.ndarray[Any, Any], scales: Any, zeros: Any) -> LayerGraph:
    """A product of dequantised values; the zero of the first operand is -7."""
    options: dict[str, Any] = {}
    shape: tuple[int, ...] = (x.shape[0], w.shape[0] if operator == "linear" else w.shape[-1])
    if operator == "conv2d":
        options = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
        shape = (x.shape[0], w.shape[0], *(n - k + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True)))
    layers: list[Any] = [
        ("a", "dequantize", ("x", 0.5, -7), float32, x.shape, {}),
        ("b", "dequantize", ("w", "scales", "zeros"), float32, w.shape, {}),
        ("y", operator, ("a", "b"), float32, shape, options),
    ]
    return graph_of(layers, x, w=w, scales=np.asarray(scales, np.float32), zeros=np.asarray(zeros, w.dtype))


@pytest.mark.parametrize("operator", SHAPES)
def test_zeros_and_scales_of_weights_are_those_of_floats(operator: str) -> None:
    """Also at the ends: integers less their zeros take more bits than integers."""
    rng, (shape, of_weights, of_scales) = np.random.default_rng(1), SHAPES[operator]
    x, w = rng.integers(-30000, 30000, shape).astype(np.int16), rng.integers(-9, 9, of_weights).astype(np.int8)
    x.reshape(-1)[:2], w.reshape(-1)[:2] = (-32768, 32767), (127, -127)
    scales = np.arange(1, 4).reshape(of_scales) / 8
    graph = product(operator, TensorType(int16, shape), w, scales, np.full(of_scales, -1))
    made = ImportedKernel(simplified(graph))
    assert int32 in {layer.type.element for layer in made.graph.layers}
    wanted = ImportedKernel(graph)(x)
    np.testing.assert_allclose(made(x), wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(("operator", "shape"), [("linear", (1, 4)), ("matmul", (4, 1))])
def test_scales_along_the_sum_stay_in_it(operator: str, shape: tuple[int, int]) -> None:
    w, x = np.arange(16, dtype=np.int8).reshape(4, 4), np.arange(4, dtype=np.int16).reshape(1, 4)
    graph = product(operator, TensorType(int16, (1, 4)), w, np.arange(1, 5).reshape(shape), np.zeros(shape))
    np.testing.assert_array_equal(ImportedKernel(simplified(graph))(x), ImportedKernel(graph)(x))


def test_all_terms_of_a_convolution_count() -> None:
    w, x = np.full((1, 4, 16, 16), 127, np.int8), np.full((1, 4, 16, 16), 32000, np.int16)
    graph = product("conv2d", TensorType(int16, x.shape), w, np.ones((1, 1, 1, 1)), np.zeros((1, 1, 1, 1)))
    np.testing.assert_allclose(ImportedKernel(simplified(graph))(x), ImportedKernel(graph)(x), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"weights": 9}, "weights of 9 bits in groups of None cannot be quantised\n"
         "  hint: weights=2 to 8, and group=None or a number of columns, such as 32"),
        ({"skip": {"lin"}}, "'perceptron' has no layer 'lin'\n  hint: print(kernel) shows the layers"),
        ({"group": 3}, "groups of 3 do not divide the 8 columns of 'linear'\n"
         "  hint: another group, or skip={'linear'}"),
    ],
)  # fmt: skip
def test_what_cannot_be_quantised(options: dict[str, Any], text: str) -> None:
    with pytest.raises(allo.AlloError) as error:
        quantized(kernel_of("perceptron"), [stored("perceptron").inputs], **options)
    assert str(error.value) == text


def test_samples_are_needed_and_finite() -> None:
    with pytest.raises(allo.AlloError) as error:
        quantized(kernel_of("perceptron"), [])
    assert str(error.value).splitlines()[0] == "scales of values are found in samples, and there are none"
    with pytest.raises(allo.AlloError) as error:
        quantized(kernel_of("perceptron"), [(np.full((2, 8), np.inf, np.float32),)])
    assert str(error.value).splitlines()[0] == "'x' is not finite in the samples"
