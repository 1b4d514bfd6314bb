"""ONNX models compute what PyTorch has computed; what cannot be read is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo

from .models import check, onnx_bytes, run, stored

onnx = pytest.importorskip("onnx", reason="the extra `onnx` is not installed")


@pytest.mark.parametrize("name", ["resnet", "mobilenet", "llama", "cacheasargument", "elements"])
def test_a_model_computes_what_it_did_in_pytorch(name: str) -> None:
    kernel, model = allo.from_onnx(onnx_bytes(name)), stored(name)
    check(run(kernel, *model.inputs), model.results)
    if name in ("mobilenet", "cacheasargument"):
        check(run(allo.customize(kernel).build(), *model.inputs), model.results)


def test_norms_and_attention_are_recognised() -> None:
    layers = allo.from_onnx(onnx_bytes("llama")).graph.layers
    assert [layer.operator for layer in layers].count("rms_norm") == 2
    attention = next(layer for layer in layers if layer.operator == "attention")
    assert attention.origin.module == "attention" and attention.options["causal"]


def test_operators_that_are_missing_are_told() -> None:
    with pytest.raises(allo.ModelError) as error:
        allo.from_onnx(onnx_bytes("moves"))
    place, text = str(error.value).split(": ", 1)
    assert place.startswith('File "export_models.py", line ')
    assert text == "the operator GatherND cannot be imported: no layer means it"


def model_of(
    nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, int], arrays: dict[str, Any], version: int = 21
) -> bytes:
    """A model with results of given ranks."""
    helper, kinds = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, kinds.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, kinds.FLOAT, [None] * rank) for name, rank in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    made: bytes = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)]).SerializeToString()
    return made


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return onnx.helper.make_node(operator, inputs.split(" "), outputs.split(" "), **attributes)


def agrees(model: bytes, *inputs: np.ndarray[Any, Any], **options: Any) -> None:
    """The kernel computes what the reference evaluator of ONNX does."""
    from onnx.reference import ReferenceEvaluator

    session = ReferenceEvaluator(onnx.load_from_string(model))
    wanted = session.run(None, dict(zip(session.input_names, inputs, strict=True)))
    kernel = allo.from_onnx(model, **options)
    for results in (run(kernel, *inputs), run(allo.customize(kernel).build(), *inputs)):
        for result, expected in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-6)


def test_operators_that_exporters_of_pytorch_do_not_write() -> None:
    random = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "w": random.normal(size=(4, 5)), "c": random.normal(size=(1, 5)), "k": random.normal(size=(6, 2, 3, 3)),
        "scale": random.random(6), "offset": random.random(6), "mean": random.random(6), "variance": random.random(6),
    }  # fmt: skip
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    arrays |= {"starts": np.array([1, -3]), "ends": np.array([4, 99]), "axes": np.array([0, 1])}
    arrays |= {"rows": np.array([1, -1]), "sizes": np.array([2, 1, 1]), "one": np.array(1)}
    nodes = [
        node("Gemm", "x w c", "product", transA=1),
        node("Slice", "product starts ends axes", "part"),
        node("Transpose", "part", "turned"),
        node("Gather", "product rows", "gathered", axis=0),
        node("Gather", "product one", "row", axis=1),
        node("Split", "x sizes", "a b d", axis=0),
        node("Identity", "b", "e"),
        node("Max", "e d", "larger"),
        node("Softmax", "turned", "chosen", axis=0),
        node("Conv", "image k", "convolved", group=2, strides=[2, 1], pads=[1, 0, 1, 0]),
        node("BatchNormalization", "convolved scale offset mean variance", "normal"),
        node("GlobalAveragePool", "normal", "average"),
        node("Shape", "average", "size"),
        node("ConstantOfShape", "size", "zeros"),
        node("Add", "average zeros", "sum"),
        node("Tile", "a times", "tiled"),
    ]
    arrays["times"] = np.array([2, 3])
    outputs = {"chosen": 2, "gathered": 2, "row": 1, "larger": 2, "sum": 4, "tiled": 2}
    model = model_of(nodes, {"x": [4, 6], "image": [1, 4, 8, 8]}, outputs, arrays)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in ((4, 6), (1, 4, 8, 8))))


@pytest.mark.parametrize("counted", [0, 1])
def test_average_of_windows_with_padding(counted: int) -> None:
    attributes = {"kernel_shape": [3, 2], "pads": [1, 1, 1, 1], "strides": [2, 1], "count_include_pad": counted}
    model = model_of([node("AveragePool", "x", "y", **attributes)], {"x": [2, 3, 5, 4]}, {"y": 4}, {})
    agrees(model, np.random.default_rng(3).normal(size=(2, 3, 5, 4)).astype(np.float32))


@pytest.mark.parametrize(("border", "width"), [(0, 7), (1, 6)])
def test_largest_of_windows_that_reach_behind_the_image(border: int, width: int) -> None:
    attributes = {"kernel_shape": [3, 2], "pads": [border] * 4, "strides": [3, 3], "ceil_mode": 1, "dilations": [2, 1]}
    model = model_of([node("MaxPool", "x", "y", **attributes)], {"x": [2, 3, 9, width]}, {"y": 4}, {})
    agrees(model, np.random.default_rng(5).normal(size=(2, 3, 9, width)).astype(np.float32))


@pytest.mark.parametrize("counted", [0, 1])
def test_average_pools_that_reach_behind_the_image(counted: int) -> None:
    """What is behind the image is never counted; the evaluator of onnx 1.23 counts it."""
    attributes = {"kernel_shape": [3, 3], "strides": [3, 3], "ceil_mode": 1, "count_include_pad": counted}
    nodes = [node("AveragePool", "x", "y", **attributes)]
    kernel = allo.from_onnx(model_of(nodes, {"x": [1, 1, 8, 4]}, {"y": 4}, {}))
    x = np.arange(32, dtype=np.float32).reshape(1, 1, 8, 4)
    wanted = [[x[0, 0, i : i + 3, j : j + 3].mean() for j in (0, 3)] for i in (0, 3, 6)]
    assert np.allclose(run(kernel, x), wanted) and np.allclose(run(allo.customize(kernel).build(), x), wanted)



@pytest.mark.parametrize(("operator", "attributes"), [("Group", {"num_groups": 2}), ("Instance", {})])
def test_norms_of_groups_of_channels(operator: str, attributes: dict[str, int]) -> None:
    random = np.random.default_rng(4)
    arrays = {name: random.normal(size=6).astype(np.float32) for name in ("scale", "bias")}
    nodes = [
        node(f"{operator}Normalization", "x scale bias", "inside", epsilon=1e-3, **attributes),
        node("Relu", "inside", "y"),
    ]
    agrees(model_of(nodes, {"x": [2, 6, 3, 5]}, {"y": 4}, arrays), random.normal(3, 2, (2, 6, 3, 5)).astype(np.float32))


def test_extents_that_have_names_are_given() -> None:
    model = model_of([node("Relu", "x", "y")], {"x": ["batch", 4]}, {"y": 2}, {})
    agrees(model, np.float32([[-1, 2, -3, 4]] * 2), sizes={"batch": 2})
    with pytest.raises(allo.AlloError) as error:
        allo.from_onnx(model)
    assert str(error.value) == (
        "kernels have no type for the arguments 'x' of 'model'\n"
        "  hint: give extents that have names: from_onnx(path, sizes={'batch': 1}); elements are floats, integers or "
        "truth values"
    )


def test_files_that_are_no_models() -> None:
    with pytest.raises(allo.AlloError) as error:
        allo.from_onnx(b"\x0a\xff text")
    assert str(error.value).startswith("'model' is no valid ONNX model: ")
    model = onnx.load_from_string(model_of([node("Relu", "x", "y")], {"x": [4]}, {"y": 1}, {}))
    model.opset_import[0].version = 11
    with pytest.raises(allo.AlloError) as error:
        allo.from_onnx(model.SerializeToString())
    assert str(error.value) == (
        "'model' has operators of version 11, and 13 is the least\n  hint: convert it with onnx.version_converter"
    )


def test_attention_with_a_cache() -> None:
    """Three tokens, of which each sees those before it; keys and values come back with the cache in front."""
    random = np.random.default_rng(0)
    shapes = {"q": [1, 4, 3, 8], "k": [1, 2, 3, 8], "v": [1, 2, 3, 6], "keys": [1, 2, 5, 8], "values": [1, 2, 5, 6]}
    mask = np.where(np.tri(3, 8, 5, dtype=np.bool_), 0, -np.inf).astype(np.float32)
    made = node("Attention", "q k v mask keys values", "y next_keys next_values")
    outputs = {"y": 4, "next_keys": 4, "next_values": 4}
    model = model_of([made], shapes, outputs, {"mask": mask}, 23)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in shapes.values()))
    made.attribute.append(onnx.helper.make_attribute("is_causal", 1))
    with pytest.raises(allo.ModelError) as error:
        allo.from_onnx(model_of([made], shapes, outputs, {"mask": mask}, 23))
    assert str(error.value) == (
        "the operator Attention of module 'y' cannot be imported: its cache has one half, or a causal mask, whose "
        "place depends on the version: give a mask"
    )


def test_quantised_operators() -> None:
    random = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "xs": np.float32(0.02), "xz": np.uint8(117), "ws": random.uniform(0.01, 0.03, 5).astype(np.float32),
        "w": random.integers(-127, 128, (6, 5)).astype(np.int8), "wz": np.zeros(5, np.int8),
        "ys": np.float32(0.1), "yz": np.int8(-3), "k": random.integers(-127, 128, (4, 2, 3, 3)).astype(np.int8),
        "ks": random.uniform(0.01, 0.03, 4).astype(np.float32), "kz": np.zeros(4, np.int8),
        "b": random.integers(-900, 900, 4).astype(np.int32), "k0": np.int8(2), "uz": np.uint8(20),
        "rows": np.float32([[0.1, 0.2], [0.3, 0.4]]),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", "x xs xz", "q"),
        node("QLinearMatMul", "q xs xz w ws wz ys yz", "product"),
        node("DequantizeLinear", "product ys yz", "real"),
        node("MatMulInteger", "q w xz k0", "sums"),
        node("Cast", "sums", "total", to=1),
        node("QuantizeLinear", "image xs xz", "p"),
        node("QLinearConv", "p xs xz k ks kz ys uz b", "convolved", pads=[1, 1, 1, 1], strides=[2, 1]),
        node("DequantizeLinear", "convolved ys uz", "picture"),
        node("ConvInteger", "p k xz", "whole"),
        node("Cast", "whole", "picture_sums", to=1),
        node("QuantizeLinear", "real ws wz", "each", axis=1),
        node("DequantizeLinear", "each ws wz", "again", axis=1),
        node("QuantizeLinear", "square rows", "grouped", axis=1, block_size=2, output_dtype=3),
        node("DequantizeLinear", "grouped rows", "squared", axis=1, block_size=2),
    ]
    outputs = {"real": 2, "total": 2, "picture": 4, "picture_sums": 4, "again": 2, "squared": 2}
    shapes = {"x": [3, 6], "image": [1, 2, 5, 5], "square": [2, 4]}
    model = model_of(nodes, shapes, outputs, arrays)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in shapes.values()))
    operators = [(one.operator, repr(one.type.element)) for one in allo.from_onnx(model).graph.layers]
    assert {("matmul", "int32"), ("conv2d", "int32")} <= set(operators) and ("conv2d", "float32") not in operators
