"""All programs of the repository: whatever their tests run on the CPU gives the same in the simulation of the C++."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++"),
]
ROOT = Path(__file__).parents[2]
FILES = sorted(
    str(path.relative_to(ROOT)) for folder in ("programs", "library") for path in ROOT.glob(f"tests/{folder}/test_*.py")
)
# What is not simulated, by the name of the test or a part of it, with the reason.
LEFT_OUT: dict[str, str] = {
    "reaches_half_of_numpy": "measures the time of the CPU build",
    "test_shape_known_at_run_time": "extents of arguments that only run time knows are refused: hardware needs them",
}
# Files whose tests in the default run build nothing that they call.
NO_CALLS: tuple[str, ...] = ()


@pytest.mark.parametrize("file", FILES)
def test_simulation_agrees(file: str, tmp_path: Path) -> None:
    """Runs the tests of `file` with the plugin `tests.hls.twin`."""
    record = tmp_path / "counts.json"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.hls.twin"]
    command += ["-m", "not slow", "-k", " and ".join(f"not {name}" for name in LEFT_OUT), file]
    environment = {**os.environ, "ALLO_TWIN_RECORD": str(record), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert json.loads(record.read_text())["equal"] > 0 or file in NO_CALLS
