"""What cannot be imported: one error with all of it, before any work, and no crash for files that are none."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.importers import LayerOrigin
from allo.importers.aten import READERS
from allo.importers.exported import AtenNode, NotImported, TensorName
from allo.ir.types import TensorType, float32
from allo.ir.types import bool as bool_type
from tests.seeds import sweep

from .models import MODELS, kernel_of

_HINT = "\n  hint: export it with torch.export.save(program, path) of PyTorch 2.9 or later"


def changed(name: str, change: Callable[[dict[str, Any]], object], file: str = "models/model.json") -> bytes:
    """An archive with another JSON file."""
    made = io.BytesIO()
    with zipfile.ZipFile(MODELS / f"{name}.pt2") as source, zipfile.ZipFile(made, "w") as target:
        for entry in source.namelist():
            content = source.read(entry)
            if entry.endswith(file):
                value = json.loads(content)
                change(value)
                content = json.dumps(value).encode()
            target.writestr(entry, content)
    return made.getvalue()


def test_all_operators_that_are_missing_are_told() -> None:
    with pytest.raises(allo.ModelError) as error:
        kernel_of("refused")
    lines = [line for line in str(error.value).splitlines() if line]
    places = [line.split(": ", 1) for line in lines]
    assert [text for _, text in places] == [
        "the operator aten.sort.default cannot be imported: no layer means it",
        "the operator aten.cumprod.default cannot be imported: no layer means it",
        "the operator aten.convolution.default of module 'inner.0' cannot be imported: it is a convolution of other "
        "than one or two dimensions",
    ]
    assert all(place.startswith('File "export_models.py", line ') for place, _ in places)


def test_what_elements_decide_is_told_by_operator() -> None:
    """Extents and numbers that nobody can give, since they are known when the model runs."""
    with pytest.raises(allo.ModelError) as error:
        kernel_of("depends")
    lines = [line.split(": ", 1) for line in str(error.value).splitlines() if line]
    assert [text for _, text in lines] == [
        "the operator aten.nonzero.default cannot be imported: no layer means it",
        "the operator aten.add.Tensor cannot be imported: an array has an extent that is not known, or elements that "
        "kernels do not have",
        "the operator aten._local_scalar_dense.default cannot be imported: no layer means it",
        "the operator aten.mul.Tensor cannot be imported: its argument 'other' is neither an array nor a number",
        "the operator aten.index.Tensor cannot be imported: an array has an extent that is not known, or elements that "
        "kernels do not have",
    ]
    assert all(place.startswith('File "export_models.py", line ') for place, _ in lines)


def test_an_operator_with_effects_is_told() -> None:
    """Such as the check of `torch.linalg.inv`, which takes and gives tokens."""

    def change(model: dict[str, Any]) -> None:
        graph, signature = model["graph_module"]["graph"], model["graph_module"]["signature"]
        token = {"token": {"arg": {"name": "token"}}}
        signature["input_specs"].insert(0, token)
        signature["output_specs"].insert(0, token)
        node = next(n for n in graph["nodes"] if n["target"].endswith("relu.default"))
        node["target"] = "torch.ops.higher_order.with_effects"

    text = refusal("perceptron", change).partition(": ")[2]
    assert text == (
        "the operator higher_order.with_effects of module 'layers.1' cannot be imported: no layer means it"
    )


def test_results_have_elements() -> None:
    def change(model: dict[str, Any]) -> None:
        graph = model["graph_module"]["graph"]
        graph["tensor_values"][graph["outputs"][0]["as_tensor"]["name"]]["sizes"][0] = {"as_int": 0}

    text = "a result of 'model' has no elements\n  hint: let the model return others only"
    assert refusal("perceptron", change) == text


@pytest.mark.parametrize("train", [True, None])
def test_values_that_are_dropped_at_random(train: bool | None) -> None:
    def change(model: dict[str, Any]) -> None:
        node = next(n for n in model["graph_module"]["graph"]["nodes"] if n["target"].endswith("relu.default"))
        given = {"as_bool": True} if train else {"as_none": True}
        node["target"] = "torch.ops.aten.native_dropout.default"
        node["inputs"] += [{"name": "p", "arg": {"as_float": 0.5}}, {"name": "train", "arg": given}]

    text = refusal("perceptron", change).partition(": ")[2]
    assert text == (
        "the operator aten.native_dropout.default of module 'layers.1' cannot be imported: it drops values at random "
        "(train)"
    )


def test_a_fast_path_has_a_way_round() -> None:
    def change(model: dict[str, Any]) -> None:
        nodes = model["graph_module"]["graph"]["nodes"]
        nodes[0]["target"] = "torch.ops.aten._transformer_encoder_layer_fwd.default"

    text = refusal("perceptron", change).partition(": ")[2]
    assert text == (
        "the operator aten._transformer_encoder_layer_fwd.default of module 'layers.0' cannot be imported: it is a "
        "fast path that layers of transformers take: call torch.backends.mha.set_fastpath_enabled(False) before"
    )


def refusal(name: str, change: Callable[[dict[str, Any]], object], file: str = "models/model.json") -> str:
    with pytest.raises(allo.AlloError) as error:
        allo.from_pt2(changed(name, change, file))
    return str(error.value)


def test_files_that_are_no_models() -> None:
    with pytest.raises(allo.AlloError) as error:
        allo.from_pt2(b"text")
    assert str(error.value) == f"'model' is no exported model: it is no ZIP file{_HINT}"
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    with pytest.raises(allo.AlloError) as error:
        allo.from_pt2(empty.getvalue())
    assert str(error.value) == f"'model' has 0 models, and one is read{_HINT}"


def test_other_versions_and_pickles_are_not_read() -> None:
    def older(program: dict[str, Any]) -> None:
        program["schema_version"]["major"] = 7

    assert refusal("perceptron", older) == f"'model' has the schema version 7, and version 8 is read{_HINT}"

    def pickled(table: dict[str, Any]) -> None:
        table["config"]["layers.0.bias"]["use_pickle"] = True

    text = refusal("perceptron", pickled, "model_weights_config.json")
    assert text == f"the tensor 'layers.0.bias' of 'model' is pickled, which is never read{_HINT}"


def test_tensors_stay_inside_of_their_files() -> None:
    def longer(table: dict[str, Any]) -> None:
        table["config"]["layers.0.bias"]["tensor_meta"]["storage_offset"]["as_int"] = 1

    text = refusal("perceptron", longer, "model_weights_config.json")
    assert text == "the tensor 'layers.0.bias' of 'model' lies outside of its file"


def test_extents_that_are_not_known() -> None:
    def dynamic(program: dict[str, Any]) -> None:
        values = program["graph_module"]["graph"]["tensor_values"]
        values["x"]["sizes"][0] = {"as_expr": {"expr_str": "s0", "hint": None}}

    assert refusal("perceptron", dynamic) == (
        "the extents s0 of 'model' have no numbers\n"
        "  hint: a kernel has one size: from_pt2(path, sizes={'s0': 8}), once for each that is needed"
    )


def test_elements_that_kernels_do_not_have() -> None:
    def complex_(program: dict[str, Any]) -> None:
        program["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = 10

    assert refusal("perceptron", complex_) == (
        "kernels have no type for the arguments 'x' of 'model'\n"
        "  hint: export the model with floats, integers or truth values, in arrays that are not empty"
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ({}, "the extents {0} of 'lengths.pt2' have no numbers\n"
         "  hint: a kernel has one size: from_pt2(path, sizes={{'{0}': 8}}), once for each that is needed"),
        ({"n": 4}, "'lengths.pt2' has no extent 'n'\n  hint: its extents with names: {0}"),
        ({None: 1}, "'lengths.pt2' was exported for {0} = 2 to 64, and 1 is asked for"),
    ],
)  # fmt: skip
def test_lengths_that_are_not_given(size: dict[str | None, int], text: str) -> None:
    with pytest.raises(allo.AlloError) as error:
        kernel_of("lengths", sizes={name or symbol(): number for name, number in size.items()})
    assert str(error.value) == text.format(symbol())


def symbol() -> str:
    """The name that PyTorch has given the length."""
    with zipfile.ZipFile(MODELS / "lengths.pt2") as file:
        name = next(name for name in file.namelist() if name.endswith("models/model.json"))
        names = json.loads(file.read(name))["range_constraints"]
    return next(name for name in names if name.isidentifier())


@sweep(300, 40)
def test_a_damaged_description_is_an_error_of_ours(seed: int) -> None:
    """Whatever is missing or of another kind in the JSON text, no other exception comes out."""
    random_ = random.Random(seed)

    def damage(value: Any) -> None:
        while True:
            keys = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not keys:
                return
            key = random_.choice(keys)
            if not isinstance(value[key], dict | list) or not value[key] or random_.random() < 0.15:
                if random_.random() < 0.5:
                    del value[key]
                else:
                    value[key] = random_.choice([None, -1, 2, 1.5, True, "x", "relu", [], {}, 10**9])
                return
            value = value[key]

    archive = changed(random_.choice(["perceptron", "decode", "moves", "elements", "vgg", "cacheasargument"]), damage)
    try:
        allo.customize(allo.from_pt2(archive))
    except allo.AlloError as error:
        assert not isinstance(error, allo.errors.InternalError)


@sweep(600, 60)
def test_a_damaged_file_is_an_error_of_ours(seed: int) -> None:
    random_, content = random.Random(seed), bytearray((MODELS / "perceptron.pt2").read_bytes())
    if random_.random() < 0.3:
        del content[random_.randrange(len(content)) :]
    for _ in range(random_.choice([0, 1, 5])):
        content[random_.randrange(len(content))] = random_.randrange(256)
    try:
        allo.from_pt2(bytes(content))
    except allo.AlloError as error:
        assert not isinstance(error, allo.errors.InternalError)


def test_tensors_do_not_grow_out_of_small_files() -> None:
    def repeated(table: dict[str, Any]) -> None:
        meta = table["config"]["layers.0.bias"]["tensor_meta"]
        meta["sizes"], meta["strides"] = [{"as_int": 1 << 40}], [{"as_int": 0}]

    text = refusal("perceptron", repeated, "model_weights_config.json")
    assert text == "the tensor 'layers.0.bias' of 'model' lies outside of its file"


def test_a_second_result_that_no_layer_has() -> None:
    def other(program: dict[str, Any]) -> None:
        outputs = program["graph_module"]["graph"]["nodes"][-1]["outputs"]
        outputs.append({"as_tensor": {"name": "second"}})
        result = program["graph_module"]["signature"]["output_specs"][0]["user_output"]
        result["arg"] = {"as_tensor": {"name": "second"}}

    assert refusal("perceptron", other).splitlines()[0].partition(": ")[2] == (
        "the operator aten.softmax.int of module 'layers.6' cannot be imported: its result 'second' is not computed"
    )


def test_a_model_is_no_template() -> None:
    with pytest.raises(allo.KernelError) as error:
        allo.customize(kernel_of("perceptron"), instantiate=[1])
    assert str(error.value) == "the kernel 'perceptron' is no template\n  hint: leave out `instantiate`"


def test_pytorch_is_asked_for_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    for function in (allo.from_pytorch, allo.frontend.from_pytorch):
        with pytest.raises(allo.errors.ToolError) as error:
            function(object(), ())
        first, hint = str(error.value).splitlines()
        assert first.startswith("from_pytorch needs PyTorch, which cannot be imported: ")
        assert hint == (
            "  hint: pip install 'allo[torch]', or export the model elsewhere and read the file with allo.from_pt2"
        )


def test_leaf_modules_are_refused() -> None:
    with pytest.raises(allo.AlloError) as error:
        allo.frontend.from_pytorch(object(), (), leaf_modules=[])
    assert str(error.value) == (
        "leaf_modules belong to the tracer of published Allo, and exported programs have none\n"
        "  hint: leave them out: norms and attention are one layer each, and all else is exported as it is"
    )


@pytest.mark.parametrize(
    ("target", "shapes", "arguments", "text"),
    [
        ("round.decimals", [(3,), (3,)], {"decimals": 2}, "it keeps decimals"),
        ("elu.default", [(3,), (3,)], {"input_scale": 2.0}, "it scales its operand (input_scale)"),
        ("index_put.default", [(3,), (3,)], {"indices": (TensorName("m"),), "values": TensorName("x")},
         "it sets the elements of a mask to several values"),
        ("var.correction", [(1, 3), (3,)], {"dim": (0,)}, "it divides by no elements (correction)"),
        ("adaptive_max_pool2d.default", [(1, 1, 3, 3), (1, 1, 2, 2)], {},
         "its windows differ in size: the outputs do not divide the image"),
        ("convolution.default", [(1, 1, 3, 3), (1, 1, 1, 1)], {"transposed": True, "padding": (1, 1)},
         "its padding is larger than its window"),
        ("convolution.default", [(1, 1, 3, 3, 3), (1, 1, 3, 3, 3)], {"transposed": True},
         "it is a convolution of other than one or two dimensions"),
    ],
)  # fmt: skip
def test_what_operators_cannot_mean(
    target: str, shapes: list[tuple[int, ...]], arguments: dict[str, object], text: str
) -> None:
    types = {name: TensorType(float32, shape) for name, shape in zip(("x", "y"), shapes, strict=True)}
    types["w"] = TensorType(float32, (1, 1, *(1 for _ in shapes[0][2:])))
    types["m"] = TensorType(bool_type, shapes[0])
    given = {"self": TensorName("x"), "input": TensorName("x"), "weight": TensorName("w"), **arguments}
    node = AtenNode(f"aten.{target}", given, ("y",), types, LayerOrigin())
    with pytest.raises(NotImported) as error:
        list(READERS[target](node))
    assert str(error.value) == text
