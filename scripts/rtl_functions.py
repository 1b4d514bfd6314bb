"""Elementary functions in hardware: the tables of docs/rtl.md, synthesised by Yosys, beside estimates.

python scripts/rtl_functions.py [--double]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import allo
from allo.ir.types import float32, float64

N = 1024


def exponential[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.exp(x[i])


def logarithm[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.log(x[i])


def tangent[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.tanh(x[i])


def sine[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.sin(x[i])


def tangent_of_angle[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.tan(x[i])


def power[T](x: T[N], y: T[N]):
    for i in range(N):
        y[i] = allo.power(x[i], 1.7)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": exponential, "log, log2, log10": logarithm, "tanh": tangent, "sin, cos": sine,
    "tan": tangent_of_angle, "power": power,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--double", action="store_true", help="those of float64")
    kind = float64 if parser.parse_args().double else float32
    print("| function | cycles | LUT | FF | DSP | BRAM |\n|---|--:|--:|--:|--:|--:|")
    for name, kernel in FUNCTIONS.items():
        s = allo.customize(kernel, instantiate=[kind])
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
