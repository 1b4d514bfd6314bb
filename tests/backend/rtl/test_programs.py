"""All programs of the repository and its library: what runs on the CPU gives the same in simulated hardware, in the
cycles that were predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backend.twin import simulated
from tests.seeds import rotating

ROOT = Path(__file__).parents[3]
FILES = sorted(
    str(path.relative_to(ROOT)) for folder in ("programs", "library") for path in ROOT.glob(f"tests/{folder}/test_*.py")
)
# Tests with kernels that are refused, by file, with the reason.
REFUSED: dict[str, dict[str, str]] = {
    "tests/programs/test_published_library.py": {"test_shape_known_at_run_time": "extents are not known"},
}
# Tests of which some designs are not simulated: more lines or more cycles than `tests.backend.twin` allows.
LARGE: dict[str, tuple[str, ...]] = {
    "tests/programs/test_examples.py": ("test_demo_schedules_are_right", "test_gemm_cpu_is_right"),
    "tests/programs/test_gemm_designs.py": ("test_design",),
    "tests/programs/test_machsuite.py": ("test_agrees_with_reference",),
    "tests/programs/test_polybench.py": (
        "test_as_written", "test_as_written_in_single_precision", "test_gramschmidt_gives_factors_of_its_input",
        "test_integers_by_default", "test_same_as_in_c", "test_schedule_that_keeps_the_order_of_sums_is_exact",
        "test_scheduled",
    ),
    "tests/programs/test_table3.py": (
        "test_same_as_the_benchmark", "test_same_as_without_schedule", "test_sums_of_integers_are_the_same",
    ),
    "tests/programs/test_transformer.py": (
        "test_block", "test_block_without_its_schedule", "test_cascade_of_systolic_arrays", "test_the_program",
    ),
}  # fmt: skip
LEFT_OUT = {"tests/programs/test_systolic.py": ("test_a_large_array",)}  # 4,096 elements are minutes of text
NO_CALLS = ("tests/library/test_templates.py",)


LONG = "tests/programs/test_table3.py"  # three minutes


@pytest.mark.parametrize(
    "file",
    [
        *rotating([file for file in FILES if file != LONG], 4, slow=True),
        pytest.param(LONG, marks=pytest.mark.exhaustive),
    ],
)
def test_hardware_agrees(file: str, tmp_path: Path) -> None:
    found = simulated(file, tmp_path, *LEFT_OUT.get(file, ()), marks="not exhaustive and not slow", target="rtl")
    assert (found["equal"] == 0) == (file in NO_CALLS), found
    named = {kind: {name.partition("[")[0] for name in found[kind]} for kind in ("refused", "large")}
    assert named == {"refused": set(REFUSED.get(file, ())), "large": set(LARGE.get(file, ()))}
