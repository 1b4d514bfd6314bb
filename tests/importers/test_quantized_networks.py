"""Quantised networks of convolutions as accelerators: streams between layers give the bits that NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.importers import ImportedKernel, quantized

from .models import Array, kernel_of, run, stored


def network(name: str, **options: Any) -> tuple[ImportedKernel, tuple[Array, ...]]:
    """A network of integers, and inputs: quantised here, or by torchao."""
    kernel, inputs = kernel_of(name), stored(name).inputs
    return (kernel if name == "torchao" else quantized(kernel, [inputs], **options)), inputs


def accelerator(kernel: ImportedKernel) -> allo.Schedule:
    """Streams between layers, and stages of one speed."""
    s = allo.customize(kernel, lower_linalg=True)
    name = s.top_func_name
    s.interleave_sums(name)
    s.fuse_streams(name)
    for bank in s.unroll_stages(name, dsp=500).banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return s


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vgg", {"weights": 4}),
        pytest.param("resnet", {}, marks=pytest.mark.slow),
        pytest.param("torchao", {}, marks=pytest.mark.slow),
        pytest.param("mobilenet", {}, marks=pytest.mark.slow),
    ],
)
def test_an_accelerator_has_the_bits_of_numpy(name: str, options: dict[str, int]) -> None:
    kernel, inputs = network(name, **options)
    reference = kernel if name != "mobilenet" else allo.customize(kernel).build()  # has means, in floats
    wanted = run(reference, *inputs)
    s = accelerator(kernel)
    for built in (s.build(), s.build(target="simulator")):
        for result, expected in zip(run(built, *inputs), wanted, strict=True):
            assert result.dtype == expected.dtype and np.array_equal(result, expected)


@pytest.mark.parametrize(("name", "sums"), [("resnet", 7), ("mobilenet", 5), ("vgg", 4), ("torchao", 7)])
def test_all_products_are_sums_of_integers(name: str, sums: int) -> None:
    """With strides, borders, dilation and groups, down to one channel each; of all images of a batch."""
    kernel, inputs = network(name)
    products = [layer for layer in kernel.graph.layers if layer.operator in ("conv2d", "linear")]
    assert [repr(layer.type.element) for layer in products] == ["int32"] * sums
    values = kernel.values(*inputs)
    first = products[0]
    x, weights = (values.get(str(name), kernel.graph.constants.get(str(name))) for name in first.inputs[:2])
    assert x is not None and weights is not None
    assert np.array_equal(values[first.name][:, :, 0, 0], corner(x, weights, first.options["padding"]))


def corner(x: Array, weights: Array, padding: tuple[int, int]) -> Array:
    """The first pixel of a convolution without groups, by hand."""
    high, wide = (extent - before for extent, before in zip(weights.shape[2:], padding, strict=True))
    below = weights[:, :, padding[0] :, padding[1] :].astype(np.int64)
    return np.einsum("ncij,ocij->no", x[:, :, :high, :wide].astype(np.int64), below)


def test_what_torchao_has_quantised_has_its_bits() -> None:
    model = stored("torchao")
    assert np.array_equal(allo.customize(kernel_of("torchao")).build()(*model.inputs), model.results[0])


@pytest.mark.parametrize("name", ["resnet", "mobilenet", "vgg"])
def test_the_error_of_layers_grows_with_fewer_bits(name: str) -> None:
    floats, inputs = kernel_of(name), stored(name).inputs
    expected, largest = floats.values(*inputs), []
    for bits in (8, 6, 4):
        found = network(name, weights=bits)[0].values(*inputs)
        apart = {layer.name: np.abs(found[layer.name] - expected[layer.name]).max() for layer in floats.graph.layers}
        largest.append(max(float(one / np.abs(expected[layer]).max()) for layer, one in apart.items()))
        assert min(apart.values()) > 0
    assert 0.005 < largest[0] < 0.02 < largest[1] < 0.1 < largest[2] < 0.25
