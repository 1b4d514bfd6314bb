"""Writes the C++ of the designs to `golden/`: python -m tests.backend.hls.write_golden"""

from __future__ import annotations

from pathlib import Path

from .designs import DESIGNS, WANTED

GOLDEN = Path(__file__).parent / "golden"

if __name__ == "__main__":
    for name, design in DESIGNS.items():
        (GOLDEN / f"{name}.cpp").write_text(design().build(target="vhls").hls_code)
    for target, names in WANTED.items():
        (GOLDEN / target).mkdir(exist_ok=True)
        for name in names:
            (GOLDEN / target / f"{name}.cpp").write_text(DESIGNS[name]().build(target=target).hls_code)
