"""What needs PyTorch in the environment of the tests: exports in memory, torch.compile, values of all nodes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.importers import compare_layers, torch_values

torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # exports warn of what they will change


@pytest.fixture(autouse=True, scope="module")
def models() -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
    import export_models

    sys.path.pop(0)
    return export_models


@pytest.mark.parametrize("name", ["Perceptron", "ResNet", "MobileNet", "Llama", "Gpt2", "Elements", "Moves"])
def test_a_module_and_its_layers(models: Any, name: str) -> None:
    from allo.importers.export import exported

    kind = getattr(models, name)
    module = kind()
    kernel = allo.from_pytorch(module, kind.inputs)
    values = torch_values(exported(module, kind.inputs), kind.inputs)
    comparison = compare_layers(kernel, *(i.numpy() for i in kind.inputs), expected=values, tolerance=1e-5)
    assert comparison, str(comparison)


def test_parts_stay_in_their_modes(models: Any) -> None:
    module = models.Perceptron()
    module.layers[0].eval()
    before = [part.training for part in module.modules()]
    allo.from_pytorch(module, models.Perceptron.inputs)
    assert [part.training for part in module.modules()] == before and len(set(before)) == 2


def test_a_compiled_model(models: Any) -> None:
    from allo.importers.compiled import torch_backend

    for kind in (models.ResNet, models.Llama):
        module = kind().eval()
        with torch.no_grad():
            result = torch.compile(module, backend=torch_backend, dynamic=False)(*kind.inputs)
            torch.testing.assert_close(result, module(*kind.inputs), rtol=1e-5, atol=1e-5)


def test_a_compiled_function_of_numbers() -> None:
    from allo.importers.compiled import torch_backend

    def scaled(factor: Any, x: Any) -> Any:
        return factor * x, x.sum() * factor, x.argmax()

    factor, x = torch.tensor(3.0), torch.randn(4)
    with torch.no_grad():
        results = torch.compile(scaled, backend=torch_backend, dynamic=False)(factor, x)
    for result, wanted in zip(results, scaled(factor, x), strict=True):
        torch.testing.assert_close(result, wanted)


@pytest.mark.parametrize("name", ["Rounding", "Extremes", "Images", "Places", "Mixed"])
def test_modules_of_many_operators(models: Any, name: str) -> None:
    from allo.importers.compiled import torch_backend

    kind = getattr(models, name)
    torch._dynamo.reset()
    module = kind().eval()
    with torch.no_grad():
        results = torch.compile(module, backend=torch_backend, dynamic=False)(*kind.inputs)
        for result, wanted in zip(results, module(*kind.inputs), strict=True):
            torch.testing.assert_close(result, wanted, rtol=1e-5, atol=1e-5)


def test_gradients_are_refused(models: Any) -> None:
    from allo.importers.compiled import torch_backend

    torch._dynamo.reset()
    with pytest.raises(Exception, match="AlloError: kernels have no gradients"):
        torch.compile(models.Perceptron(), backend=torch_backend)(*models.Perceptron.inputs)


def test_the_entry_of_published_allo(models: Any) -> None:
    module, (x,) = models.Perceptron().eval(), models.Perceptron.inputs
    with torch.no_grad():
        wanted = module(x).numpy()
    built = allo.frontend.from_pytorch(module, example_inputs=[x])
    np.testing.assert_allclose(built(x.numpy()), wanted, atol=1e-6)
    assert isinstance(allo.frontend.from_pytorch(module, [x], target="mlir"), allo.Schedule)
    assert "void Perceptron" in allo.frontend.from_pytorch(module, [x], target="vhls").hls_code


def test_stored_models_are_those_of_the_script(models: Any) -> None:
    """Exported anew, a model gives the graph that its file gives, but for the lines of the script."""
    from allo.importers.export import exported

    for kind in (models.Llama, models.Moves):
        new = allo.from_pt2(exported(kind(), kind.inputs))
        old = allo.from_pt2(models.MODELS / f"{kind.__name__.lower()}.pt2")
        assert [(n.operator, n.options, n.type) for n in new.graph.layers] == [
            (n.operator, n.options, n.type) for n in old.graph.layers
        ]


def test_a_module_that_was_exported_before_is_taken(models: Any) -> None:
    """Such as those that PyTorch's tools quantise, which refuse `eval()`."""
    module, inputs = models.Perceptron().eval(), models.Perceptron.inputs
    again = torch.export.export(module, inputs).module()
    kernel = allo.from_pytorch(again, *inputs)
    np.testing.assert_allclose(kernel(inputs[0].numpy()), module(*inputs).detach().numpy(), atol=1e-6)
