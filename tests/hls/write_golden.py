"""Writes the C++ of the designs to `golden/`: python -m tests.hls.write_golden"""

from __future__ import annotations

from pathlib import Path

from .designs import DESIGNS

if __name__ == "__main__":
    for name, design in DESIGNS.items():
        path = Path(__file__).parent / "golden" / f"{name}.cpp"
        path.write_text(design().build(target="vhls").hls_code)
