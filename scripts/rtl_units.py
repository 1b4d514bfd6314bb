"""Sizes of the float units of the RTL library, synthesised by Yosys, beside those that the profile `rtl` states.

python scripts/rtl_units.py [KIND|TYPE ...]     (add, mul, div, sqrt, compare, convert; f16, bf16, f32, f64)

A unit takes some seconds, a division of f64 some minutes.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from allo.backend.rtl.library import library_files, library_module
from allo.backend.rtl.synthesise import Utilization, synthesised

PROFILE = Path(__file__).parents[1] / "targets" / "profiles" / "rtl.toml"
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
UNITS: dict[str, tuple[str, dict[str, int]]] = {
    "add": ("allo_fadd", {}),
    "mul": ("allo_fmul", {}),
    "div": ("allo_fdiv", {}),
    "sqrt": ("allo_fsqrt", {}),
    "compare": ("allo_fcmp", {"PRED": 4}),  # ordered and less
    "convert": ("allo_itof", {"W": 32, "SIGNED": 1}),
}


def measured(kind: str, form: str, latency: int) -> Utilization:
    """What a unit takes, alone in a module of its own."""
    name, given = UNITS[kind]
    exponent, fraction = FORMATS[form]
    parameters = {**given, "EXP": exponent, "MAN": fraction, "LAT": latency}
    ports = library_module(name).ports(parameters)
    wires = [f"{'input' if p.is_input else 'output'} logic [{p.width - 1}:0] {p.name}" for p in ports]
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    text = f"module unit ({', '.join(wires)});\n  {name} #({values}) one (.*);\nendmodule\n"
    return synthesised({**library_files([name]), "unit.sv": text}, "unit")


def operators() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(PROFILE.read_text())["operator"]
    return [operator for operator in found if operator["kind"] in UNITS]


def main(wanted: list[str]) -> None:
    print(f"{'unit':14}{'latency':>8}{'LUT':>7}{'stated':>8}{'FF':>7}{'stated':>8}{'DSP':>5}{'stated':>8}")
    for stated in operators():
        kind, form, latency = stated["kind"], stated["type"], stated["latency"]
        if wanted and not {kind, form} & set(wanted):
            continue
        found = measured(kind, form, latency)
        pairs = [(found.lut, stated["lut"], 7), (found.ff, stated["ff"], 7), (found.dsp, stated["dsp"], 5)]
        counts = "".join(f"{number:>{width}}{known:>8}" for number, known, width in pairs)
        print(f"{kind + ' ' + form:14}{latency:>8}{counts}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
