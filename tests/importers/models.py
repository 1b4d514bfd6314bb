"""The models that scripts/export_models.py has exported, with what PyTorch computed."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo.importers import ImportedKernel

MODELS = Path(__file__).parent / "models"
NAMES = (
    "perceptron", "resnet", "mobilenet", "vgg", "llama", "gemma", "gpt2", "cacheasargument", "elements", "moves",
    "odd", "quantized", "torchao", "rounding", "extremes", "images", "places",
    "mixed",
)  # fmt: skip
TOLERANCE = 2e-6  # times the largest element: sums in another order

type Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stored:
    """Inputs and results of a model, and the values of its nodes."""

    inputs: tuple[Array, ...]
    results: tuple[Array, ...]
    values: dict[str, Array]


@cache
def stored(name: str) -> Stored:
    with np.load(MODELS / f"{name}.npz") as file:
        found = dict(file)
    inputs, results = (
        tuple(found[f"{kind}{number}"] for number in range(len(found)) if f"{kind}{number}" in found)
        for kind in ("in", "out")
    )
    values = {key.partition("_")[2]: array for key, array in found.items() if key.startswith(("value_", "state_"))}
    return Stored(inputs, results, values)


def kernel_of(name: str, **options: Any) -> ImportedKernel:
    return allo.from_pt2(MODELS / f"{name}.pt2", **options)


def onnx_bytes(name: str) -> bytes:
    return gzip.decompress((MODELS / f"{name}.onnx.gz").read_bytes())


def run(function: Any, *arguments: Array) -> tuple[Array, ...]:
    results = function(*arguments)
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def check(results: tuple[Array, ...], wanted: tuple[Array, ...]) -> None:
    """Shapes and types are the same, and elements as good as."""
    assert [(r.shape, r.dtype) for r in results] == [(w.shape, w.dtype) for w in wanted]
    for result, expected in zip(results, wanted, strict=True):
        largest = float(np.abs(expected.astype(np.float64)).max())
        np.testing.assert_allclose(
            result.astype(np.float64), expected.astype(np.float64), rtol=0, atol=TOLERANCE * largest
        )
