"""Sizes of units of the RTL library, synthesised by Yosys, beside those that the profile `rtl` states.

python scripts/rtl_units.py [KIND|TYPE ...]     (add, mul, div, sqrt, compare, convert; f16, bf16, f32, f64)
python scripts/rtl_units.py --integers          (integers, choices and memories: the table of docs/rtl-library.md)

A unit takes some seconds, a division of f64 some minutes.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from allo.backend.rtl.library import library_files, library_module
from allo.backend.rtl.synthesise import Utilization, synthesised
from allo.estimate.report.result import Resources
from allo.estimate.resources import array_resources, fifo_resources
from allo.layout import NONE
from allo.target import Fpga, MemoryKind, Operator, load_target
from allo.timing.problem.memory import ArrayMemory, Ports

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


def measured(kind: str, form: str, latency: int, *, flush: bool = False) -> Utilization:
    """What a unit of floats takes; `flush`: one that knows no subnormal numbers."""
    name, given = UNITS[kind]
    exponent, fraction = FORMATS[form]
    more = {"FLUSH": 1} if flush else {}
    return alone(name, {**given, "EXP": exponent, "MAN": fraction, **more, "LAT": latency})


def alone(name: str, parameters: Mapping[str, int]) -> Utilization:
    """What a module of the library takes, alone in a module of its own."""
    ports = library_module(name).ports(parameters)
    wires = [f"{'input' if p.is_input else 'output'} logic [{p.width - 1}:0] {p.name}" for p in ports]
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    text = f"module unit ({', '.join(wires)});\n  {name} #({values}) one (.*);\nendmodule\n"
    return synthesised({**library_files([name]), "unit.sv": text}, "unit")


def expression(text: str, width: int, result: int) -> Utilization:
    """What an expression of `a`, `b` and `s` takes."""
    operands = ", ".join(f"input logic [{width - 1}:0] {name}" for name in "ab")
    source = (
        f"module unit ({operands}, input logic [15:0] s, output logic [{result - 1}:0] y);\n"
        f"  assign y = {text};\nendmodule\n"
    )
    return synthesised({"unit.sv": source}, "unit")


type _Counted = Callable[[], Utilization]


def integers(target: Fpga) -> Iterator[tuple[str, _Counted, Operator | Resources]]:
    """Units, what counts them, and what the model of estimates says."""
    for width in (8, 32, 64):
        yield f"sum of {width} bits", partial(expression, "a + b", width, width), target.integer("add", width)
        yield f"comparison of {width} bits", partial(expression, "a < b", width, 1), target.integer("compare", width)
        one_of = partial(expression, "s[0] ? a : b", width, width)
        yield f"choice of two, {width} bits", one_of, target.integer("select", width)
    for width in (8, 16, 32, 64):
        given = {"WA": width, "WB": width, "WO": 2 * width, "LAT": target.product(width, width, 2 * width).latency}
        yield f"product of {width} bits", partial(alone, "allo_mul", given), target.product(width, width, 2 * width)
    for width in (8, 32):
        stated = target.integer("div", width)
        yield f"quotient of {width} bits", partial(alone, "allo_divmod", {"W": width, "LAT": stated.latency}), stated
    yield "shift of 32 bits", partial(alone, "allo_shift", {"W": 32, "WB": 32, "LAT": 0}), target.integer("shift", 32)
    for inputs in (4, 16, 64):
        taken = partial(expression, f"a[8 * s[{inputs.bit_length() - 2}:0] +: 8]", 8 * inputs, 8)
        yield f"choice of {inputs}, 8 bits", taken, target.multiplexer.of(inputs, 8)
    memories = (("LUTRAM", "allo_lutram", 32), ("LUTRAM", "allo_lutram", 64), ("BRAM", "allo_ram_sdp", 1024))
    for kind, name, depth in memories:
        array, taken = _array(target.memories[kind], depth), partial(alone, name, {"W": 16, "DEPTH": depth})
        yield f"{kind}, {depth} words of 16 bits", taken, array_resources(array)
    for depth in (2, 32, 1024):
        taken = partial(alone, "allo_fifo", {"W": 16, "DEPTH": depth})
        yield f"FIFO, {depth} words of 16 bits", taken, fifo_resources(16, depth, target)


def _array(kind: MemoryKind, depth: int) -> ArrayMemory:
    return ArrayMemory("array", kind, Ports(kind.ports), kind.read, (depth,), 16, (NONE,), 1)


def table() -> None:
    """The table of docs/rtl-library.md."""
    print("| unit | LUT | FF | DSP | BRAM |\n|---|--:|--:|--:|--:|")
    target = load_target("u280")
    assert isinstance(target, Fpga)
    for name, count, stated in integers(target.under("rtl")):
        found = count()
        blocks = stated.bram18 if isinstance(stated, Resources) else 0
        counted = (found.lut, found.ff, found.dsp, found.bram18 + 2 * found.bram36)
        known = (stated.lut, stated.ff, stated.dsp, blocks)
        print(f"| {name} |", " | ".join(f"{one} -> {other}" for one, other in zip(counted, known, strict=True)), "|")


def operators() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(PROFILE.read_text())["operator"]
    return [operator for operator in found if operator["kind"] in UNITS]


def main(wanted: list[str]) -> None:
    print(f"{'unit':18}{'latency':>8}{'LUT':>7}{'stated':>8}{'FF':>7}{'stated':>8}{'DSP':>5}{'stated':>8}")
    for stated in operators():
        kind, form, latency = stated["kind"], stated["type"], stated["latency"]
        if wanted and not {kind, form} & set(wanted):
            continue
        flush = stated.get("implementation") == "flush"
        found = measured(kind, form, latency, flush=flush)
        pairs = [(found.lut, stated["lut"], 7), (found.ff, stated["ff"], 7), (found.dsp, stated["dsp"], 5)]
        counts = "".join(f"{number:>{width}}{known:>8}" for number, known, width in pairs)
        name = f"{kind} {form}{' flush' if flush else ''}"
        print(f"{name:18}{latency:>8}{counts}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--integers"]:
        table()
    else:
        main(sys.argv[1:])
