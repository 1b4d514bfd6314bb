"""Random graphs of layers: machine code computes what NumPy does, through all views, fusions and copies."""

from __future__ import annotations

import math

import numpy as np

import allo
from allo.importers import ImportedKernel, Layer, LayerGraph, LayerOrigin
from allo.importers.fold import simplified
from allo.ir.types import TensorType, float32
from tests.seeds import sweep

from .models import run


class RandomGraph:
    """Layers of values that may be read again, with small extents."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.shapes: dict[str, tuple[int, ...]] = {"x": (2, 3, 4), "y": (4, 6), "z": (3,)}
        self.layers: list[Layer] = []
        self.constants: dict[str, np.ndarray] = {}
        while len(self.layers) < 12:
            source = self.pick()
            getattr(self, self.random.choice(METHODS))(source, self.shapes[source])

    def pick(self) -> str:
        """A value; the last ones more often."""
        names = list(self.shapes)
        return names[-1 - min(int(self.random.geometric(0.35)) - 1, len(names) - 1)]

    def add(self, operator: str, inputs: tuple[object, ...], shape: tuple[int, ...], **options: object) -> str:
        name = f"v{len(self.layers)}"
        kind = TensorType(float32, tuple(map(int, shape)))
        self.layers.append(Layer(name, operator, inputs, options, kind, LayerOrigin()))
        self.shapes[name] = kind.shape
        return name

    def constant(self, shape: tuple[int, ...]) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = self.random.normal(size=shape).astype(np.float32)
        return name

    def unary(self, source: str, shape: tuple[int, ...]) -> None:
        self.add(self.random.choice(["relu", "silu", "tanh", "sigmoid", "gelu", "neg", "hardswish"]), (source,), shape)

    def binary(self, source: str, shape: tuple[int, ...]) -> None:
        operator = self.random.choice(["add", "sub", "mul", "maximum"])
        others = [name for name, own in self.shapes.items() if own == shape] + [0.5, 2]
        other = others[self.random.integers(len(others))]
        if self.random.random() < 0.3 and shape:
            other = self.constant(tuple(1 if self.random.random() < 0.5 else extent for extent in shape))
        inputs = (source, other) if self.random.random() < 0.5 else (other, source)
        self.add(operator, inputs, shape)

    def reshape(self, source: str, shape: tuple[int, ...]) -> None:
        size, wanted = math.prod(shape), []
        while size > 1 and len(wanted) < 3:
            factor = int(self.random.choice([d for d in range(1, size + 1) if size % d == 0]))
            wanted.append(factor)
            size //= factor
        self.add("reshape", (source,), (*wanted, size))

    def permute(self, source: str, shape: tuple[int, ...]) -> None:
        order = tuple(int(d) for d in self.random.permutation(len(shape)))
        self.add("permute", (source,), tuple(shape[d] for d in order), order=order)

    def slice(self, source: str, shape: tuple[int, ...]) -> None:
        d = int(self.random.integers(len(shape)))
        start, step = int(self.random.integers(shape[d])), int(self.random.integers(1, 3))
        own = (*shape[:d], len(range(start, shape[d], step)), *shape[d + 1 :])
        self.add("slice", (source,), own, dimension=d, start=start, step=step)

    def select(self, source: str, shape: tuple[int, ...]) -> None:
        if len(shape) > 1:
            d = int(self.random.integers(len(shape)))
            index = int(self.random.integers(shape[d]))
            self.add("select", (source,), (*shape[:d], *shape[d + 1 :]), dimension=d, index=index)

    def concat(self, source: str, shape: tuple[int, ...]) -> None:
        d = int(self.random.integers(len(shape)))
        if math.prod(shape) < 60:
            self.add("concat", (source, source), (*shape[:d], 2 * shape[d], *shape[d + 1 :]), dimension=d)

    def expand(self, source: str, shape: tuple[int, ...]) -> None:
        if math.prod(shape) < 40 and len(shape) < 4:
            self.add("expand", (source,), (2, *shape))

    def sums(self, source: str, shape: tuple[int, ...]) -> None:
        if len(shape) < 2:
            return
        count = int(self.random.integers(1, len(shape)))
        dimensions = tuple(sorted(int(d) for d in self.random.choice(len(shape), count, replace=False)))
        keeps = bool(self.random.random() < 0.5)
        kept = tuple(1 if d in dimensions else e for d, e in enumerate(shape) if keeps or d not in dimensions)
        self.add(self.random.choice(["sum", "mean", "amax"]), (source,), kept, dimensions=dimensions)

    def rows(self, source: str, shape: tuple[int, ...]) -> None:
        self.add("softmax", (source,), shape)

    def norm(self, source: str, shape: tuple[int, ...]) -> None:
        options = {"eps": 1e-5, "weighted": True} if (centred := self.random.random() < 0.5) else {"eps": 1e-5}
        weights = tuple(self.constant(shape[-1:]) for _ in range(2 if centred else 1))
        self.add("layer_norm" if centred else "rms_norm", (source, *weights), shape, **options)

    def product(self, source: str, shape: tuple[int, ...]) -> None:
        width = int(self.random.integers(1, 5))
        if self.random.random() < 0.5:
            weights = self.constant((width, shape[-1])), self.constant((width,))
            self.add("linear", (source, *weights), (*shape[:-1], width))
        elif len(shape) > 1:
            order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            turned = self.add("permute", (source,), tuple(shape[d] for d in order), order=order)
            self.add("matmul", (source, turned), (*shape[:-1], shape[-2]))


METHODS = ["unary", "unary", "binary", "binary", "reshape", "permute", "slice", "select", "concat", "expand", "sums",
           "rows", "norm", "product", "product"]  # fmt: skip


@sweep(90, 6)
def test_machine_code_computes_what_numpy_does(seed: int) -> None:
    made = RandomGraph(seed)
    arguments = {name: TensorType(float32, made.shapes[name]) for name in ("x", "y", "z")}
    results = tuple(layer.name for layer in made.layers[-3:])
    graph = simplified(LayerGraph("random", arguments, made.constants, tuple(made.layers), results))
    kernel = ImportedKernel(graph)
    inputs = [made.random.normal(size=kind.shape).astype(np.float32) for kind in arguments.values()]
    wanted = run(kernel, *inputs)
    for result, expected in zip(run(allo.customize(kernel).build(), *inputs), wanted, strict=True):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=2e-4, atol=2e-5 * (1 + np.abs(expected).max()))
