"""All programs of the repository and its pages: what runs on the CPU gives the same in the simulation of the C++."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from types import FunctionType

import pytest

from tests.backend.twin import simulated
from tests.library.test_templates import templates
from tests.seeds import rotating

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
ROOT = Path(__file__).parents[3]
TESTS = sorted(
    str(path.relative_to(ROOT)) for folder in ("programs", "library") for path in ROOT.glob(f"tests/{folder}/test_*.py")
)
FILES = [*TESTS, "tests/docs/test_pages.py", "tests/docs/test_tutorials.py"]
# Tests that do not run in the simulation with those of their file, with the reason.
LEFT_OUT: dict[str, dict[str, str]] = {
    "tests/programs/test_polybench.py": {
        "test_medium": "is simulated by test_larger_programs_agree; test_as_written has smaller extents",
    },
    "tests/programs/test_examples.py": {
        "test_gemm_cpu_reaches_half_of_numpy": "measures the time of the CPU build in a process of its own; what that "
        "build computes is simulated by test_gemm_cpu_is_right",
    },
}
# Tests with kernels that the backend refuses, by file, with the reason.
REFUSED: dict[str, dict[str, str]] = {
    "tests/programs/test_systolic.py": {"test_a_large_array": "4,096 banks are more than Vitis HLS makes of an array"},
}
# Files whose tests build nothing that they call, with the reason.
NO_CALLS: dict[str, str] = {
    "tests/library/test_templates.py": "asks about signatures and names; the templates run in the files below",
}
# The templates that the tests of each file simulate.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "tests/library/test_attention.py": ("ffn", "multi_head_attention", "scaled_dot_product_attention"),
    "tests/library/test_images.py": (
        "avgpool2d", "batchnorm1d", "batchnorm2d", "batchnorm3d", "conv2d", "maxpool2d",
    ),
    "tests/library/test_matrices.py": (
        "GeLU", "layer_norm", "linear2d", "linear3d", "log_softmax", "relu2d", "relu3d", "relu4d",
        "residual_add", "softmax", "softmax2d",
    ),
    "tests/library/test_products.py": (
        "doubled_gemv", "doubled_systolic", "doubled_tile", "gemv", "packed_doubled_systolic", "packed_int4xint8_gemv",
        "packed_int4xint8_systolic", "packed_int8xint8_gemv", "packed_int8xint8_systolic",
    ),
    "tests/library/test_sequences.py": ("RoPE", "concat", "modulate_fused", "repeat_batch3d"),
    "tests/library/test_systolic.py": (
        "packed_systolic", "systolic", "systolic_tile", "weight_stationary", "weight_stationary_tile",
    ),
}  # fmt: skip


def place(template: FunctionType) -> str:
    """Where a template is defined, as the plugin writes it."""
    file = inspect.getsourcefile(template)
    assert file is not None
    return f"{Path(file).name}:{inspect.getsourcelines(template)[1]}"


def test_every_template_is_simulated() -> None:
    named = [name for names in TEMPLATES.values() for name in names]
    assert sorted(named) == sorted(template.__name__ for template in templates())
    assert {*TEMPLATES, *NO_CALLS, *LEFT_OUT, *REFUSED} <= set(FILES)


@needs_compiler
@pytest.mark.parametrize("file", rotating(FILES, 6, slow=True))
def test_simulation_agrees(file: str, tmp_path: Path) -> None:
    left_out = LEFT_OUT.get(file, {})
    found = simulated(file, tmp_path, *left_out)
    assert (found["equal"] == 0) == (file in NO_CALLS), found
    assert found["left_out"] == sorted(left_out) and found["refused"] == sorted(REFUSED.get(file, {})), found
    wanted = {place(template): template.__name__ for template in templates()}
    named = {wanted[where] for where in found["functions"] if where in wanted}
    assert set(TEMPLATES.get(file, ())) <= named, found


@needs_compiler
@pytest.mark.exhaustive
def test_larger_programs_agree(tmp_path: Path) -> None:
    found = simulated("tests/programs/test_polybench.py::test_medium", tmp_path)
    assert found["equal"] > 0 and not found["refused"], found
