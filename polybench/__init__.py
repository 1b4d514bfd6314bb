"""PolyBench/C 4.2.1 as Allo kernels; `polybench.load("gemm")` gives one benchmark.

Each nest of a kernel that consists of several is a kernel of its own. Each benchmark has `designs`: the kernel, in
stages where that helps, with a schedule for hardware; `polybench.load("atax").designs["best"].customized("MEDIUM")`
applies it. `python -m polybench run` checks, verifies and estimates them.
Annotations name the extents and the element type of the function around them: these files do without
`from __future__ import annotations`, which would hide those names.
"""

from .benchmark import Benchmark, Design
from .suite import NAMES, SIZES, load

__all__ = ["NAMES", "SIZES", "Benchmark", "Design", "load"]
