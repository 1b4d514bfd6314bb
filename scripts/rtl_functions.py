"""Elementary functions in hardware: the table of docs/rtl.md, synthesised by Yosys, beside estimates.

python scripts/rtl_functions.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import allo
from allo.ir.types import float32

N = 1024


def exponential(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.exp(x[i])


def logarithm(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.log(x[i])


def tangent(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.tanh(x[i])


def sine(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.sin(x[i])


def tangent_of_angle(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.tan(x[i])


def power(x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = allo.power(x[i], 1.7)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": exponential, "log, log2, log10": logarithm, "tanh": tangent, "sin, cos": sine,
    "tan": tangent_of_angle, "power": power,
}  # fmt: skip


def main() -> None:
    print("| function | cycles | LUT | FF | DSP | BRAM |\n|---|--:|--:|--:|--:|--:|")
    for name, kernel in FUNCTIONS.items():
        s = allo.customize(kernel)
        s.pipeline("i")
        built = s.build(target="rtl")
        found, stated = built.synthesise(), allo.estimate(s, profile="rtl", rewritten=True)
        own = stated.resources
        counted = (found.lut, found.ff, found.dsp, found.bram18 + 2 * found.bram36)
        known = (own.lut, own.ff, own.dsp, own.bram18)
        pairs = (f"{one:,} -> {other:,}" for one, other in zip(counted, known, strict=True))
        print(f"| {name} | {built.predicted_cycles - N} |", " | ".join(pairs), "|", flush=True)


if __name__ == "__main__":
    main()
