"""ONNX models compute what PyTorch has computed; what cannot be read is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.importers.onnx_operators import READERS

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


@pytest.mark.parametrize("options", [
    {"is_causal": 1}, {"softcap": 2.0, "scale": 0.5}, {"is_causal": 1, "left_window_size": 2},
    {"left_window_size": 3, "right_window_size": 1},
])  # fmt: skip
@pytest.mark.parametrize("masked", ["", "float", "bool"])
def test_attention_with_a_cache(options: dict[str, Any], masked: str) -> None:
    """Three tokens behind five; keys and values come back with the cache in front; a row may be hidden."""
    random = np.random.default_rng(0)
    shapes = {"q": [1, 4, 3, 8], "k": [1, 2, 3, 8], "v": [1, 2, 3, 6], "keys": [1, 2, 5, 8], "values": [1, 2, 5, 6]}
    seen = random.random((3, 8)) < 0.7
    seen[1] = False
    mask = seen if masked == "bool" else np.where(seen, random.random((3, 8)), -np.inf).astype(np.float32)
    made = node("Attention", f"q k v {'mask' if masked else ''} keys values", "y next_keys next_values", **options)
    outputs = {"y": 4, "next_keys": 4, "next_values": 4}
    model = model_of([made], shapes, outputs, {"mask": mask} if masked else {}, 25)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in shapes.values()))


def test_attention_of_tokens_whose_heads_are_one_dimension() -> None:
    """Decoding by version 24: rotary positions, a cache that is written from a place on, and its length as a mask."""
    random = np.random.default_rng(1)
    shapes = {"q": [1, 2, 32], "k": [1, 2, 16], "v": [1, 2, 16], "keys": [1, 2, 7, 8], "values": [1, 2, 7, 8]}
    arrays = {"place": np.array([3]), "length": np.array([5]), "at": np.array([[3, 4]]),
              "cos": random.random((9, 3)).astype(np.float32), "sin": random.random((9, 3)).astype(np.float32),
              "split": np.array([1, 2, 2, 8])}  # fmt: skip
    nodes = [
        node("RotaryEmbedding", "q cos sin at", "turned", num_heads=4, rotary_embedding_dim=6, interleaved=1),
        node("RotaryEmbedding", "k cos sin at", "new", num_heads=2, rotary_embedding_dim=6),
        *(part for name in ("new", "v", "turned") for part in (
            node("Reshape", f"{name} {'more' if name == 'turned' else 'split'}", f"{name}_heads"),
            node("Transpose", f"{name}_heads", f"{name}_first", perm=[0, 2, 1, 3]),
        )),
        node("TensorScatter", "keys new_first place", "held"),
        node("TensorScatter", "values v_first place", "worth"),
        node("Attention", "turned_first held worth    length", "y", is_causal=1),
        node("Attention", "turned new v", "z", q_num_heads=4, kv_num_heads=2, is_causal=1),
    ]  # fmt: skip
    arrays["more"] = np.array([1, 2, 4, 8])
    model = model_of(nodes, shapes, {"y": 4, "held": 4, "z": 3}, arrays, 24)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in shapes.values()))


def test_attention_that_is_not_read() -> None:
    shapes = {"q": [1, 2, 3, 4], "k": [1, 2, 3, 4], "v": [1, 2, 3, 4], "keys": [1, 2, 5, 4]}
    for inputs, outputs, reason in (
        ("q k v  keys", "y", "its cache has one half"), ("q k v", "y a b scores", "it gives its scores"),
        ("q k v short", "y", "its mask is shorter than the keys"),
    ):  # fmt: skip
        arrays = {"short": np.zeros((3, 2), np.float32)}
        names = {name: shape for name, shape in shapes.items() if name in inputs.split(" ")}
        with pytest.raises(allo.ModelError) as error:
            allo.from_onnx(model_of([node("Attention", inputs, outputs)], names, {"y": 4}, arrays, 23))
        assert str(error.value) == f"the operator Attention of module 'y' cannot be imported: {reason}"


def test_attributes_that_no_layer_means_are_told() -> None:
    made = node("Relu", "x", "y")
    model = onnx.load_from_string(model_of([made], {"x": [2]}, {"y": 1}, {}))
    kernel = from_onnx_unchecked(model, onnx.helper.make_attribute("sharpness", 2.0))
    assert kernel == "the operator Relu of module 'y' cannot be imported: no layer means its attribute 'sharpness'"


def from_onnx_unchecked(model: Any, attribute: Any) -> str:
    """What is said of a model of a later version of ONNX, which has one attribute more."""
    from allo.importers.onnx_file import _layers_of
    from allo.importers.onnx_nodes import read_onnx

    program = read_onnx(model.SerializeToString(), {})
    program.nodes[0].attributes[attribute.name] = attribute.f
    with pytest.raises(allo.ModelError) as error:
        _layers_of(program)
    return str(error.value)


def test_activations_sums_and_images() -> None:
    random = np.random.default_rng(6)
    unary = ("Elu", "Celu", "Selu", "Softplus", "Softsign", "Mish", "ThresholdedRelu", "LogSoftmax")
    nodes = [
        *(node(operator, "x", operator.lower()) for operator in unary),
        node("PRelu", "x slope", "prelu"), node("Swish", "x", "swish", alpha=1.7),
        node("Sum", "x x slope", "sum"), node("Max", "x slope half", "max"), node("Mean", "x slope", "mean"),
        *(node(f"Reduce{name}", "x axes", name, keepdims=n % 2)
          for n, name in enumerate(("Min", "L1", "L2", "SumSquare", "LogSumExp"))),
        node("Gemm", "x weights slope", "gemm", alpha=0.5, beta=2.0, transB=1),
        node("LayerNormalization", "image scale", "normal", axis=-2), node("Trilu", "image two", "triangle", upper=0),
        node("Pad", "image pads half", "padded"), node("DepthToSpace", "image", "spread", blocksize=2),
        node("SpaceToDepth", "image", "packed", blocksize=2),
        node("Resize", "image  sizes", "resized", nearest_mode="floor", coordinate_transformation_mode="asymmetric"),
        node("Conv", "image kernel", "convolved", auto_pad="SAME_LOWER", strides=[2, 1]),
        node("MaxPool", "image", "largest", kernel_shape=[2, 2], auto_pad="SAME_UPPER"),
        node("GlobalMaxPool", "image", "one"),
    ]  # fmt: skip
    arrays: dict[str, Any] = {
        "slope": random.random(5), "half": np.array(0.5), "weights": random.normal(size=(5, 5)),
        "scale": random.random((6, 4)), "kernel": random.normal(size=(2, 4, 2, 3)), "sizes": np.array([1, 1, 1.5, 2.0]),
    }  # fmt: skip
    arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    arrays |= {"axes": np.array([1]), "two": np.array(1), "pads": np.array([0, 0, 1, 2, 0, 1, 0, 1])}
    ranks = {"LogSumExp": 2, "Min": 1, "L2": 1, "sum": 2, "max": 2, "mean": 2, "prelu": 2, "swish": 2, "gemm": 2}
    ranks |= {operator.lower(): 2 for operator in unary} | {"L1": 2, "SumSquare": 2, "LogSumExp": 1}
    images = ("normal", "triangle", "padded", "spread", "packed", "resized", "convolved", "largest", "one")
    model = model_of(nodes, {"x": [3, 5], "image": [1, 4, 6, 4]}, ranks | dict.fromkeys(images, 4), arrays, 24)
    agrees(model, *(random.normal(size=shape).astype(np.float32) for shape in ([3, 5], [1, 4, 6, 4])))


def test_padding_that_takes_elements_away() -> None:
    """The evaluator of onnx 1.23 cannot."""
    model = model_of([node("Pad", "x pads", "y")], {"x": [3, 4]}, {"y": 2}, {"pads": np.array([-1, 2, 0, -3])})
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    wanted = [[0, 0, 4], [0, 0, 8]]
    kernel = allo.from_onnx(model)
    assert np.array_equal(run(kernel, x)[0], wanted) and np.array_equal(allo.customize(kernel).build()(x), wanted)


def test_dynamically_quantised_products() -> None:
    """A linear layer as ONNX Runtime quantises it: values when the model runs, weights before."""
    random = np.random.default_rng(2)
    arrays: dict[str, Any] = {
        "w": random.integers(0, 256, (16, 6)).astype(np.uint8), "wz": np.uint8(127), "ws": np.float32(0.01),
        "bias": random.normal(size=6).astype(np.float32),
    }  # fmt: skip
    nodes = [
        node("DynamicQuantizeLinear", "x", "q scale zero"),
        node("MatMulInteger", "q w zero wz", "sums"),
        node("Cast", "sums", "real", to=1),
        node("Mul", "scale ws", "both"),
        node("Mul", "real both", "product"),
        node("Add", "product bias", "y"),
        node("Identity", "scale", "step"),
    ]
    model = model_of(nodes, {"x": [2, 3, 16]}, {"y": 3, "step": 0}, arrays)
    for shift, spread in ((0, 1), (2, 0.1), (0, 0)):
        agrees(model, (shift + spread * random.normal(size=(2, 3, 16))).astype(np.float32))


def test_convolutions_of_integers_have_one_zero_for_all_weights() -> None:
    arrays = {"k": np.ones((3, 2, 3, 3), np.int8), "xz": np.uint8(3), "kz": np.arange(3, dtype=np.int8)}
    nodes = [
        node("QuantizeLinear", "x xs xz", "q"),
        node("ConvInteger", "q k xz kz", "sums"),
        node("Cast", "sums", "y", to=1),
    ]
    with pytest.raises(allo.ModelError) as error:
        allo.from_onnx(model_of(nodes, {"x": [1, 2, 5, 5]}, {"y": 4}, {"xs": np.float32(0.5), **arrays}))
    assert str(error.value) == (
        "the operator ConvInteger of module 'sums' cannot be imported: its weights have several zeros"
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of onnx, which makes its cases
def test_what_onnx_tests_its_operators_with() -> None:
    """No test of one operator that onnx brings along is computed wrongly; what is not computed is refused."""
    from onnx.backend.test.case.node import collect_testcases

    passed, operators = 0, {*READERS, "Identity", "Dropout", "Constant", "Shape", "Size", "ConstantOfShape", "Range"}
    for case in collect_testcases(None):
        if case.model is None or len(case.model.graph.node) != 1 or case.model.graph.node[0].op_type not in operators:
            continue
        inputs, wanted = ([onnx.numpy_helper.to_array(value) if hasattr(value, "data_type") else np.asarray(value)
                           for value in values] for values in case.data_sets[0])  # fmt: skip
        if (kernel := imported(case.model, inputs)) is None:
            continue
        results = run(kernel[0], *kernel[1])
        for result, expected in zip(results, wanted, strict=True):
            assert np.shape(result) in (expected.shape, (1,)), case.name
            coarse = expected.dtype.name in ("float16", "bfloat16")  # products are rounded elsewhere
            np.testing.assert_allclose(
                np.float64(result), np.float64(expected), 2e-2 if coarse else 1e-3, 2e-3 if coarse else 1e-6,
                err_msg=case.name,
            )  # fmt: skip
        passed += 1
    assert passed >= 550


def imported(model: Any, inputs: list[Any]) -> tuple[Any, list[Any]] | None:
    """The kernel and its arguments, as which numbers and short arrays come only if they need not be known."""
    for fixes in (False, True):
        own, left = onnx.ModelProto(), []
        own.CopyFrom(model)
        given = list(own.graph.input)
        del own.graph.input[:]
        for number, (value, array) in enumerate(zip(given, inputs, strict=False)):
            if fixes and number and array.ndim < 2:
                own.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
            else:
                own.graph.input.append(value)
                left.append(array)
        try:
            return allo.from_onnx(own.SerializeToString()), left
        except allo.AlloError:
            continue
    return None
