"""Exported models compute what PyTorch has computed: in NumPy, in machine code, interpreted, in C simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import allo
from allo.importers import compare_layers
from allo.importers.operators import OPERATORS, LayerCall

from .models import MODELS, NAMES, Array, check, kernel_of, run, stored
from .test_refusals import symbol


@pytest.mark.parametrize("name", NAMES)
def test_a_model_computes_what_it_did_in_pytorch(name: str) -> None:
    check(run(kernel_of(name), *stored(name).inputs), stored(name).results)


SLOW = ("resnet", "vgg", "gemma", "gpt2", "torchao")  # others have all of their layers


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in NAMES]
)
def test_machine_code_computes_it_too(name: str) -> None:
    check(run(allo.customize(kernel_of(name)).build(), *stored(name).inputs), stored(name).results)


def test_a_cache_is_an_argument_that_is_changed_in_place() -> None:
    kernel, model = kernel_of("decode"), stored("decode")
    assert [(name, kind.shape) for name, kind in list(kernel.arguments.items())[2:]] == [
        ("b_keys", (1, 4, 8, 4)), ("b_values", (1, 4, 8, 4)), ("b_count", (1,))
    ]  # fmt: skip
    for function in (kernel, allo.customize(kernel).build(), allo.interpret(kernel)):
        count, *caches = np.zeros(1, np.int64), *(np.zeros((1, 4, 8, 4), np.float32) for _ in range(2))
        result, before = run(function, *model.inputs, *caches, count)
        check((result,), model.results[:1])
        check(tuple(caches), (model.values["keys"], model.values["values"]))
        assert before == 0 and count == 1 == model.values["count"]
    text = str(allo.customize(kernel).module)
    assert "memref.copy" not in text and text.count('allo.name = "index_put') == 0  # it is written where it is


def decoded(step: Callable[..., Any], first: int) -> tuple[list[int], Array]:
    """The tokens that a model says, each time the most likely one, 32 after the first; the scores of the next."""
    keys, values = (np.zeros((1, 4, 40, 4), np.float32) for _ in range(2))
    said = [first]
    for position in range(33):
        scores = step(np.array(said[-1:]), np.array([position]), keys, values)
        said.append(int(np.argmax(scores)))
    return said[:33], scores


@pytest.mark.parametrize(
    "how",
    [
        "NumPy", pytest.param("machine code", marks=pytest.mark.slow),
        pytest.param("streams", marks=pytest.mark.exhaustive),
    ],
)  # fmt: skip
def test_a_language_model_says_what_it_says_in_pytorch(how: str) -> None:
    """32 tokens with a cache in place, also from an accelerator in which all but three arrays are streams."""
    kernel, values = kernel_of("generator"), np.load(MODELS / "generator.npz")
    schedule = allo.customize(kernel, lower_linalg=True)
    if how == "streams":
        assert schedule.fuse_streams("generator").round_trips == 3
    said, scores = decoded(kernel if how == "NumPy" else schedule.build(), 5)
    assert said == values["said"].tolist() and len(set(said)) > 8
    check((scores,), (values["scores"],))


@pytest.mark.slow
def test_a_block_of_gpt2_streams_on_the_simulator_and_in_rtl() -> None:
    """From PyTorch's file to SystemVerilog: all layers at the same time, none of them by way of memory."""
    schedule = allo.customize(kernel_of("gpt2"), lower_linalg=True)
    assert schedule.fuse_streams(schedule.top_func_name).round_trips == 0
    model = stored("gpt2")
    check(run(schedule.build(), *model.inputs), model.results)
    module = schedule.build(target="rtl")
    check(run(module, *model.inputs), model.results)
    assert module.cycles > 0


def test_a_model_is_read_at_a_length() -> None:
    """Causal attention: its first rows do not depend on how long the input is, but for the second summand."""
    model = stored("lengths")
    (x,), (wanted,) = model.inputs, model.results
    check(run(allo.customize(kernel_of("lengths", sizes={symbol(): 3})).build(), x), (wanted,))
    longer = kernel_of("lengths", sizes={symbol(): 5})
    assert {name: kind.shape for name, kind in longer.arguments.items()} == {"x": (1, 10, 8)}
    whole = np.concatenate([x, np.zeros((1, 4, 8), np.float32)], 1)
    own, more = wanted - np.roll(x, 3, 1) * 3, np.roll(whole, 5, 1) * 5
    np.testing.assert_allclose(longer(whole)[:, :6], (own + more[:, :6]), atol=1e-5)


def test_states_change_places_behind_what_reads_them() -> None:
    kernel, model = kernel_of("swap"), stored("swap")
    for function in (kernel, allo.customize(kernel).build()):
        states = [np.zeros((2, 3), np.float32) for _ in range(3)]
        check(run(function, *model.inputs, *states), model.results)
        names = [kernel.graph.targets[name] for name in list(kernel.arguments)[2:]]
        check(tuple(states), tuple(model.values[name] for name in names))


def test_a_kernel_is_interpreted() -> None:
    kernel, model = kernel_of("perceptron"), stored("perceptron")
    check(run(allo.interpret(kernel), *model.inputs), model.results)


@pytest.mark.parametrize("name", ["perceptron", pytest.param("mobilenet", marks=pytest.mark.slow)])
def test_a_schedule_is_verified(name: str) -> None:
    kernel = kernel_of(name)
    schedule = allo.customize(kernel, lower_linalg=True)
    loops = schedule.get_loops()["linear" if name == "perceptron" else "conv2d_1"]
    schedule.reorder(*(loops[loop] for loop in (("k", "j") if name == "perceptron" else ("kh", "kw", "ow"))))
    assert allo.verify(schedule, kernel) and schedule.verify()


def test_a_product_that_streams_reads_its_input_over_many_cycles_in_rtl() -> None:
    schedule = allo.customize(kernel_of("perceptron"), lower_linalg=True)
    schedule.pipeline("linear.j")  # eight products at once, of one bank
    schedule.fuse_streams("perceptron")
    built, model = schedule.build(target="rtl"), stored("perceptron")
    check(run(built, *model.inputs), model.results)
    assert built.cycles == built.predicted_cycles


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perceptron", "resnet", "llama"])
def test_c_simulation(name: str) -> None:
    model = stored(name)
    built = allo.customize(kernel_of(name)).build(target="vhls", mode="csim")
    check(run(built, *model.inputs), model.results)


def test_weights_can_be_arguments() -> None:
    kernel, model = kernel_of("perceptron", weights_as_arguments=True), stored("perceptron")
    assert list(kernel.weights) == [f"p_layers_{layer}_{part}" for layer in (0, 3, 5) for part in ("weight", "bias")]
    weights = [array.copy() for array in kernel.weights.values()]
    schedule = allo.customize(kernel)
    assert "memref.global" not in str(schedule.module)
    built = schedule.build()
    check(run(built, *model.inputs, *weights), model.results)
    weights[-1] += 1  # a bias of all outputs in front of a softmax changes nothing
    check(run(built, *model.inputs, *weights), model.results)
    weights[-1][0] += 10
    assert run(built, *model.inputs, *weights)[0][:, 0].min() > 0.9


def test_batch_norms_become_part_of_convolutions() -> None:
    operators = [layer.operator for layer in kernel_of("resnet").graph.layers]
    assert operators.count("conv2d") == 6 and not {"batch_norm", "mul"} & set(operators)
    alone = kernel_of("mobilenet").graph.layers
    assert [layer.operator for layer in alone[-3:]] == ["mul", "add", "mean"]  # behind an average: one number each


def test_norms_and_attention_are_one_layer_each() -> None:
    operators = [layer.operator for layer in kernel_of("gemma").graph.layers]
    assert operators.count("rms_norm") == 2 and operators.count("attention") == 1
    assert not {"pow", "rsqrt", "softmax"} & set(operators)


def test_every_layer_is_what_it_was_in_pytorch() -> None:
    kernel, model = kernel_of("resnet"), stored("resnet")
    comparison = compare_layers(kernel, *model.inputs, expected=model.values, tolerance=1e-5)
    assert comparison and len(comparison.layers) == len(kernel.graph.layers)
    assert str(comparison).splitlines()[-1] == "all 17 layers are within 1e-05 of their largest element"


def test_the_first_layer_that_differs_is_named() -> None:
    kernel, model = kernel_of("resnet"), stored("resnet")
    wrong = dict(model.values)
    wrong["relu_2"] = wrong["relu_2"] + np.float32(0.01)
    comparison = compare_layers(kernel, *model.inputs, expected=wrong)
    assert not comparison and comparison.first is not None and comparison.first.layer.name == "relu_2"
    line = kernel.graph.layers[[layer.name for layer in kernel.graph.layers].index("relu_2")].origin.at
    assert line is not None and str(comparison).splitlines()[-1] == (
        "the first layer that differs is 'relu_2', relu of module 'layer1', "
        f'File "export_models.py", line {line.line}'
    )


def test_the_first_layer_that_machine_code_gets_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A norm of which the code forgets the number under the root."""
    kernel, model = kernel_of("gpt2"), stored("gpt2")
    norm = OPERATORS["layer_norm"]

    def build(call: LayerCall) -> Any:
        options = {**call.layer.options, "eps": 1.0} if call.layer.name == "layer_norm_1" else call.layer.options
        return norm.build(replace(call, layer=replace(call.layer, options=options)))  # type: ignore[misc]

    monkeypatch.setitem(OPERATORS, "layer_norm", replace(norm, build=build))  # type: ignore[arg-type]
    comparison = compare_layers(kernel, *model.inputs)
    assert comparison.first is not None and comparison.first.layer.name == "layer_norm_1"
    assert "'layer_norm_1', layer_norm of module 'norm2', File " in str(comparison)


@pytest.mark.parametrize("how", ["numpy", "machine code"])
def test_floats_of_16_bits_are_added_up_in_32(how: str) -> None:
    """As PyTorch does it, but for a unit in the last place; in 16 bits a sum of 600 ones is 256."""
    kernel, model = kernel_of("sixteen"), stored("sixteen")
    results = run(kernel if how == "numpy" else allo.customize(kernel).build(), *model.inputs)
    half = len(results) // 2
    for number, (result, wanted) in enumerate(zip(results, model.results, strict=True)):
        unit = 2.0**-7 if number < half else 2.0**-10
        assert np.abs(result - wanted).max() <= unit * np.abs(wanted).max()
    assert all((results[number] == 600).all() for number in (0, 2, half, half + 2))


def test_layers_are_compared_with_numpy_where_nothing_is_stored() -> None:
    kernel, model = kernel_of("cacheasargument"), stored("cacheasargument")
    comparison = compare_layers(kernel, *model.inputs)
    assert comparison and [found.layer.operator for found in comparison.layers] == ["concat", "attention"]


def test_layers_have_the_names_of_the_model() -> None:
    schedule = allo.customize(kernel_of("perceptron"), lower_linalg=True)
    assert {"linear", "relu", "gelu", "softmax"} <= set(schedule.buffers)
    assert [str(nest).split(":")[0] for nest in ("linear", "relu")] == ["linear", "relu"]
    assert schedule.get_loops()["relu"] is not None


def test_the_listing_shows_where_layers_come_from() -> None:
    first, second, *_ = str(kernel_of("perceptron")).splitlines()
    assert first == "model perceptron(x: float32[2, 8]):"
    head, _, place = second.partition("  # ")
    assert head == "    linear: float32[2, 16] = linear(x, p_layers_0_weight, p_layers_0_bias)"
    assert place.startswith('module \'layers.0\', File "export_models.py", line ')


def test_an_archive_is_read_from_bytes_and_named() -> None:
    kernel = allo.from_pt2((MODELS / "perceptron.pt2").read_bytes(), name="My model")
    assert kernel.__name__ == "My_model" and repr(kernel) == "<kernel 'My_model' of 6 layers>"


def test_a_kernel_takes_arrays_that_fit() -> None:
    kernel = kernel_of("perceptron")
    with pytest.raises(TypeError) as shape:
        kernel(np.zeros((2, 9), np.float32))
    assert str(shape.value) == "argument 'x' of perceptron() has the shape (2, 8), got (2, 9)"
    with pytest.raises(TypeError) as count:
        kernel()
    assert str(count.value) == "perceptron() takes 1 arguments (x: float32[2, 8]), got 0"
