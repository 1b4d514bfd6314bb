"""The kernels of examples/machsuite, examples/nn and examples/bconv agree with their references."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import allo
from allo.ir.types import uint32, uint64

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = [path for folder in ("machsuite", "nn", "bconv") for path in sorted((EXAMPLES / folder).glob("*.py"))]


def load(name: str) -> ModuleType:
    """An example as a module with a name of its own: `sort` and others are names of other modules as well."""
    spec = importlib.util.spec_from_file_location(
        f"example_{name.replace('/', '_')}", EXAMPLES / f"{name}.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKS = [
    ("machsuite/aes", "check", {}),
    ("machsuite/backprop", "check", {"examples": 20, "hidden": 16}),
    ("machsuite/bfs", "check", {}),
    ("machsuite/bfs", "check", {"nodes": 64, "edges": 200}),
    ("machsuite/fft", "check_strided", {"points": 8}),
    ("machsuite/fft", "check_strided", {}),
    ("machsuite/fft", "check_transposed", {}),
    ("machsuite/gemm", "check_blocked", {}),
    ("machsuite/gemm", "check_blocked", {"size": 30, "block": 5}),
    ("machsuite/gemm", "check_ncubed", {}),
    ("machsuite/kmp", "check", {"pattern": b"abaab", "length": 3000}),
    ("machsuite/kmp", "check", {"pattern": b"aaa", "length": 100}),
    ("machsuite/md", "check_grid", {}),
    ("machsuite/md", "check_knn", {}),
    ("machsuite/nw", "check", {"length_a": 40, "length_b": 33}),
    ("machsuite/sort", "check_merge", {}),
    ("machsuite/sort", "check_merge", {"length": 100}),
    ("machsuite/sort", "check_radix", {}),
    ("machsuite/spmv", "check_compressed", {}),
    ("machsuite/spmv", "check_ellpack", {}),
    ("machsuite/stencil", "check_plane", {}),
    ("machsuite/stencil", "check_volume", {}),
    ("machsuite/viterbi", "check", {"states": 10, "tokens": 12, "observations": 30}),
    ("nn/lenet", "check", {"batch": 2, "side": 20, "channels": (2, 3), "widths": (8, 7), "classes": 5}),
    ("nn/mlp", "check", {"batch": 3, "inputs": 50, "hidden": 20}),
    ("bconv/bconv", "check", {"word": uint32, "how": 0, "side": 8}),
    ("bconv/bconv", "check", {"word": uint32, "how": 1, "side": 8, "outputs": 64}),
    ("bconv/bconv", "check", {"word": uint32, "how": 2, "side": 8, "taps": 5}),
    ("bconv/bconv", "check", {"word": uint64, "how": 0, "side": 8, "words": 1, "outputs": 64}),
]


@pytest.mark.parametrize(("name", "check", "sizes"), CHECKS, ids=lambda value: str(value))
def test_agrees_with_reference(name: str, check: str, sizes: dict[str, object]) -> None:
    getattr(load(name), check)(**sizes)


def test_all_files_are_checked() -> None:
    assert {name for name, _, _ in CHECKS} == {
        path.relative_to(EXAMPLES).with_suffix("").as_posix() for path in FILES
    }


def test_checks_find_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check fails if the kernel computes something else."""
    fft = load("machsuite/fft")
    monkeypatch.setattr(fft, "ROOT_HALF", 0.7)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        fft.check_transposed()


@pytest.mark.parametrize("how", [0, 1, 2])
def test_ones_are_counted(how: int) -> None:
    bconv = load("bconv/bconv")
    kernels = [bconv.count_by_bits, bconv.count_by_halves, bconv.count_by_table]
    module = allo.customize(kernels[how], instantiate=[uint32] if how == 0 else None).build()
    words = [0, 1, 2**31, 2**32 - 1, *np.random.default_rng(0).integers(0, 2**32, 20).tolist()]
    assert [module(word) for word in words] == [word.bit_count() for word in words]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_program_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example runs as a program, with its realistic sizes, and says so in one line."""
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.startswith(f"{path.stem}: ") and printed.count("\n") == 1
