"""Delays of integers and clocks of float units on ECP5, placed and routed by nextpnr: what targets/ecp5.toml is set by.

python scripts/rtl_ecp5.py             (integers; some minutes)
python scripts/rtl_ecp5.py --floats    (units of float32; minutes for each, no page quotes them)
python scripts/rtl_ecp5.py --designs   (whole kernels, beside the estimate for UltraScale+: a table of docs/rtl.md)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import allo
from allo.backend.rtl.library import library_files, library_module
from allo.backend.rtl.synthesise import PlacedDesign, placed
from allo.ir.types import float32, int8, int32
from allo.target import Fpga, load_target

OPERATORS = {
    "add": ("a + b", (8, 16, 32, 64)),
    "compare": ("{W{a < b}}", (8, 16, 32, 64)),
    "logic": ("a ^ b", (8, 32)),
    "select": ("s[0] ? a : b", (8, 32)),
    "shift": ("a << b[W-1:0]", (8, 16, 32)),
    "choice of 4": ("s[1] ? (s[0] ? a : b) : (s[0] ? ~a : {b[0], b[W-1:1]})", (8, 32)),
    "remainder by 3": ("a % W'(3)", (4, 8, 16)),
}
FLOATS = (
    ("allo_fadd", {}), ("allo_fmul", {}), ("allo_fdiv", {}), ("allo_fsqrt", {}), ("allo_fcmp", {"PRED": 4}),
    ("allo_itof", {}), ("allo_ftoi", {}),
)  # fmt: skip


def device() -> Fpga:
    """The device in a package with pins for all operands."""
    found = load_target("ecp5")
    assert isinstance(found, Fpga) and found.place_and_route is not None
    return replace(found.at(300), place_and_route=replace(found.place_and_route, package="CABGA756"))


def between_registers(text: str, width: int) -> PlacedDesign:
    """An expression of `a`, `b` and `s`, W bits each."""
    source = f"""
module unit #(parameter int W = {width}) (input logic clk, input logic [W-1:0] x, z, t, output logic [W-1:0] y);
  logic [W-1:0] a, b, s;
  always_ff @(posedge clk) begin
    a <= x; b <= z; s <= t; y <= {text};
  end
endmodule
"""
    return placed({"unit.sv": source}, "unit", device())


def of_library(name: str, parameters: dict[str, int]) -> PlacedDesign:
    """A unit at its default latency, between registers."""
    ports = [port for port in library_module(name).ports(parameters) if port.name not in ("clk", "en")]
    pins = [f"{'input' if p.is_input else 'output'} logic [{p.width - 1}:0] {p.name}_pin" for p in ports]
    wires = "".join(f"  logic [{p.width - 1}:0] {p.name};\n" for p in ports)
    moves = " ".join(f"{p.name} <= {p.name}_pin;" if p.is_input else f"{p.name}_pin <= {p.name};" for p in ports)
    values = ", ".join(f".{key}({value})" for key, value in parameters.items())
    text = f"module unit (input logic clk, {', '.join(pins)});\n{wires}  always_ff @(posedge clk) begin {moves} end\n"
    text += f"  {name} #({values}) one (.clk, .en(1'b1), {', '.join(f'.{p.name}' for p in ports)});\nendmodule\n"
    return placed({**library_files([name]), "unit.sv": text}, "unit", device())


def integers() -> None:
    wire = 1e6 / between_registers("a", 32).clock
    print(f"{'a register to another one':28}{wire:7.0f} ps")
    for name, (text, widths) in OPERATORS.items():
        found = [1e6 / between_registers(text, width).clock - wire for width in widths]
        slope, start = np.polyfit(widths, found, 1)
        shown = ", ".join(f"{width}: {delay:.0f}" for width, delay in zip(widths, found, strict=True))
        print(f"{name:28}{start:7.0f} ps + {slope:5.1f} ps a bit   ({shown})", flush=True)


def floats() -> None:
    print("| unit | latency | LUT | FF | DSP | MHz |\n|---|--:|--:|--:|--:|--:|")
    for name, parameters in FLOATS:
        found, latency = of_library(name, parameters), library_module(name).latency(parameters)
        print(f"| `{name}` | {latency} | {found.lut:,} | {found.ff:,} | {found.dsp} | {found.clock:.0f} |", flush=True)


def gemm8(A: int8[32, 32], B: int8[32, 32], C: int32[32, 32]):
    for i, j in allo.grid(32, 32):
        for k in allo.reduction(32):
            C[i, j] += A[i, k] * B[k, j]


def gemm32(A: float32[32, 32], B: float32[32, 32], C: float32[32, 32]):
    for i, j in allo.grid(32, 32):
        for k in allo.reduction(32):
            C[i, j] += A[i, k] * B[k, j]


def jacobi(A: int32[30, 30], B: int32[30, 30]):
    for i in range(1, 29):
        for j in range(1, 29):
            B[i, j] = (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j]) >> 2


def total(x: int32[256]) -> int32:
    found: int32 = 0
    for i in range(256):
        found += x[i] * x[i]
    return found


def histogram(x: int8[256], count: int32[128]):
    for i in range(256):
        if x[i] >= 0:
            count[x[i]] += 1


def product(kernel: Callable[..., None], lanes: int) -> allo.Schedule:
    s = allo.customize(kernel)
    s.reorder("k", "j")
    if lanes > 1:
        s.split("j", lanes)
        s.pipeline("j.outer")
        s.partition("B", dim=2, factor=lanes)
        s.partition("C", dim=2, factor=lanes)
    else:
        s.pipeline("j")
    return s


def pipelined(kernel: Callable[..., object], loop: str) -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline(loop)
    return s


DESIGNS: dict[str, Callable[[], allo.Schedule]] = {
    "sum of squares, int32": lambda: pipelined(total, "i"),
    "histogram, int8": lambda: pipelined(histogram, "i"),
    "Jacobi, int32": lambda: pipelined(jacobi, "j"),
    "matrix product, int8": lambda: product(gemm8, 1),
    "the same in 8 lanes": lambda: product(gemm8, 8),
    "matrix product, float32": lambda: product(gemm32, 1),
}


def designs() -> None:
    heads = ["kernel", "UltraScale+: LUT", "FF", "DSP", "MHz, *estimated*", "ECP5: LUT", "FF", "DSP", "MHz, *measured*"]
    print("|", " | ".join([*heads, "ratio"]), "|")
    print("|---|" + "--:|" * len(heads))
    for name, schedule in DESIGNS.items():
        built = schedule().build(target="rtl")
        one, other = built.synthesise(), built.synthesise(target="ecp5")
        cells = [f"{n:,}" for n in (one.lut, one.ff, one.dsp)] + [f"{one.clock:.0f}"]
        cells += [f"{n:,}" for n in (other.lut, other.ff, other.dsp)] + [f"{other.clock:.1f}"]
        print(f"| {name} | {' | '.join(cells)} | {one.clock / other.clock:.2f} |", flush=True)


if __name__ == "__main__":
    {"--floats": floats, "--designs": designs}.get("".join(sys.argv[1:]), integers)()
