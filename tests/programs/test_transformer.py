"""A transformer block and the network of Fig. 8 of the Allo paper, composed of templates of the library."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int8, int16, int32
from allo.library.systolic import systolic

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transformer.py"


@pytest.fixture
def transformer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("transformer", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "transformer", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("length", "hidden", "heads"), [(16, 64, 4), (12, 96, 2)])
def test_block(transformer: ModuleType, length: int, hidden: int, heads: int) -> None:
    arrays = transformer.operands(length, hidden)
    got = transformer.schedule_block(length, hidden, heads).build()(*arrays)
    np.testing.assert_allclose(got, transformer.expected(arrays, heads), rtol=1e-4, atol=1e-4)


def test_the_program(transformer: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    transformer.main()
    assert "64 x 256, 4 heads, agree with NumPy" in capsys.readouterr().out


def test_block_without_its_schedule(transformer: ModuleType) -> None:
    arrays = transformer.operands(8, 64)
    built = allo.customize(transformer.block, instantiate=[float32, 4, 8, 64, 256, 4, 4]).build()
    np.testing.assert_allclose(built(*arrays), transformer.expected(arrays, 4), rtol=1e-4, atol=1e-4)


def test_schedule_of_the_block_is_short(transformer: ModuleType) -> None:
    assert len(inspect.getsource(transformer.schedule_block).splitlines()) < 50


def test_stages_of_the_block_are_connected(transformer: ModuleType) -> None:
    s = transformer.schedule_block(8, 64, 4)
    top = s.pseudocode()[s.pseudocode().index("def block(") :]
    fifos = ["N1", "N1_1", "N1_2", "Z", "R", "N2", "U", "G", "Y", "R_1"]
    assert [name for name in fifos if f"fifo_{name}: Stream[float32, " not in top] == []
    assert top.splitlines()[0].endswith("# dataflow")


def feed_forward(element: object, weights1: np.ndarray, weights2: np.ndarray, length: int) -> object:
    """Two products on systolic arrays; the sums of the first become 16-bit data of the second."""
    hidden, inner = weights1.shape

    def top(X: int8[length, hidden]) -> int32[length, hidden]:
        Z: element[length, inner]
        Y: int32[length, hidden]
        systolic[int8, int8, element, length, hidden, inner, 8, 4, "FFN1"](X, weights1, Z)
        systolic[element, int8, int32, length, inner, hidden, 8, 4, "FFN2"](Z, weights2, Y)
        return Y

    return top


@pytest.mark.parametrize(("length", "hidden", "inner"), [(16, 12, 20), (8, 64, 256), (13, 6, 10)])
def test_cascade_of_systolic_arrays(length: int, hidden: int, inner: int) -> None:
    """Fig. 8: each instance with its own schedule, and a FIFO between them."""
    random = np.random.default_rng(8)
    first, second = (random.integers(-8, 8, shape, np.int8) for shape in ((hidden, inner), (inner, hidden)))
    s = allo.customize(feed_forward(int16, first, second, length))
    s.compose(systolic, id="FFN1", instantiate=[int8, int8, int16, length, hidden, inner, 8, 4])
    s.compose(systolic, id="FFN2", instantiate=[int16, int8, int32, length, inner, hidden, 8, 4])
    s.relay(s.Z, "systolic_FFN2", depth=64)
    s.dataflow("top")
    assert "fifo_Z: Stream[int16, 64]" in s.pseudocode()
    X = random.integers(-8, 8, (length, hidden), np.int8)
    np.testing.assert_array_equal(s.build()(X), X.astype(np.int32) @ first @ second)


def test_only_the_named_instance_is_changed() -> None:
    weights = np.ones((8, 8), np.int8)
    s = allo.customize(feed_forward(int8, weights, weights, 8))
    s.compose(systolic, id="FFN2", instantiate=[int8, int8, int32, 8, 8, 8, 8, 4])
    changed = {str(step.arguments[0][1]).partition(":")[0] for step in s.steps}
    assert "systolic_FFN1" not in changed and "systolic_FFN2" in changed
    X = np.ones((8, 8), np.int8)
    np.testing.assert_array_equal(s.build()(X), np.full((8, 8), 64, np.int32))
