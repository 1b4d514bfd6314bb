"""Writes the folders of the stored projects to `golden_projects/`: python -m tests.backend.hls.write_golden_projects"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from .designs import DESIGNS

FOLDER = Path(__file__).parent / "golden_projects"
# design, target, configs
PROJECTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemm_u280": (
        "scheduled_gemm",
        "vitis_hls",
        {"hbm_mapping": {"A": "HBM[0]", "B": 1, "C": "HBM[2:3]"}, "frequency": 250},
    ),
    "points_pynq": ("points", "pynq", {"bundles": {"ps": "gmem0", "result": "gmem0"}}),
    "chain_tapa": ("chain", "tapa", {"hbm_mapping": {"A": 0}}),
    "bits_ihls": ("bits", "ihls", {"device": "stratix10"}),
    "gemm_catapult": ("scheduled_gemm", "catapult", {"frequency": 500}),
}


def texts(name: str) -> dict[str, str]:
    """The files of a project by their names; without a mode no tool is run."""
    design, target, configs = PROJECTS[name]
    with tempfile.TemporaryDirectory() as folder:
        DESIGNS[design]().build(target=target, project=folder, configs=configs)
        files = (path for path in Path(folder).rglob("*") if path.is_file() and path.suffix != ".bin")
        return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(files)}


if __name__ == "__main__":
    for name in PROJECTS:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        for file, text in texts(name).items():
            path = FOLDER / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
