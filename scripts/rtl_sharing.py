"""Sizes of pipelines by their interval: what Yosys counts, as operations share units, beside the estimate.

python scripts/rtl_sharing.py     (the table of docs/rtl.md, in some minutes)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import allo
from allo.backend.rtl import RTLModule
from allo.ir.types import float32, int32

INTERVALS = (1, 2, 4, 8)


def floats(x: float32[64], y: float32[64]):
    for i in range(64):
        t: float32 = x[i] * 0.3 + 1.7
        u: float32 = (t * x[i] + 2.5) * t
        y[i] = (u * y[i] + 0.9) * (u * x[i] - t) * y[i]


def integers(x: int32[64], y: int32[64]):
    for i in range(64):
        t: int32 = x[i] * y[i]
        u: int32 = (t * x[i] + 25) * t
        y[i] = (u * y[i] + 9) * (u * x[i] - t) * y[i]


def row(kernel: Callable[..., Any], interval: int) -> list[str]:
    """A row of the table: the units and the sizes, as counted -> as estimated."""
    s = allo.customize(kernel)
    s.pipeline("i", initiation_interval=interval)
    module, stated = s.build(target="rtl"), allo.estimate(s, profile="rtl", rewritten=True).resources
    assert isinstance(module, RTLModule)
    counted = module.synthesise()
    products = module.code.count("allo_fmul #") + module.code.count("allo_mul #")
    sums = module.code.count("allo_fadd #") + module.code.count("allo_fsub #")
    pairs = ((counted.lut, stated.lut), (counted.ff, stated.ff), (counted.dsp, stated.dsp))
    return [kernel.__name__, *map(str, (interval, products, sums)), *(f"{one:,} -> {other:,}" for one, other in pairs)]


def main() -> None:
    print("| pipeline of | interval | multipliers | adders | LUT | FF | DSP |\n|---|--:|--:|--:|--:|--:|--:|")
    for kernel in (floats, integers):
        for interval in INTERVALS:
            print("|", " | ".join(row(kernel, interval)), "|", flush=True)


if __name__ == "__main__":
    main()
