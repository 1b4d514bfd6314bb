"""Times of `allo.einsum` beside `numpy.einsum(optimize=True)`, in pairs: `python -m benchmarks.einsum`.

Each expression is timed in rounds, in turns, so that what else the machine does meets both; the ratio of an expression
is that of the least times of both, of which other programs make none less. A call takes what the user waits for:
arguments, intermediate results, the new array. Machine code is made before, in seconds of one core.

With one thread (`--threads 1`, and `OPENBLAS_NUM_THREADS=1`), a round is a call of either. With more, threads of
NumPy's library keep a core busy for some time after its last call, while they wait for the next one; so each has some
calls behind each other, after a rest in which the others fall asleep. `--cpu` counts seconds of the processor, not of
the clock, for machines on which others work; with one thread only.

NumPy may give a view of what its library has computed, whose dimensions are not in the order of memory; `allo.einsum`
puts each element at its place. With `--order C`, NumPy does so too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import allo

from .contractions import CASES

REST, CALLS = 0.05, 4  # seconds until the threads of a library sleep (OpenBLAS: 2^26 cycles), calls behind each other


def rounds(
    ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float, rest: float, clock: Callable[[], float]
) -> tuple[float, float]:
    """The least times of both, of calls in turns."""
    least = [float("inf")] * 2
    end, done = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or done < 9:
        for k in (0, 1) if done % 2 else (1, 0):
            time.sleep(rest)
            for _ in range(CALLS if rest else 1):
                start = clock()
                (ours, theirs)[k]()
                least[k] = min(least[k], clock() - start)
        done += 1
    return least[0], least[1]


def main() -> None:
    """Print a line an expression, and how many are within 1.2 times NumPy's time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--type", default="float64", choices=("float64", "float32"))
    parser.add_argument("--threads", type=int, help="of allo.einsum; NumPy's library asks the environment")
    parser.add_argument("--seconds", type=float, default=1.0, help="an expression")
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor, with one thread")
    parser.add_argument("--order", default="K", choices=("K", "C"), help="of NumPy's result in memory (K: any)")
    parser.add_argument("--only", default="", help="a part of the expression")
    options = parser.parse_args()
    clock, rest = (time.thread_time if options.cpu else time.perf_counter), (0.0 if options.threads == 1 else REST)
    if options.cpu and rest:
        parser.error("--cpu is for --threads 1")
    allo.einsum("ij->ji", np.ones((2, 3)))  # loads the compiler
    ratios, compiled = [], []
    print(f"{'expression':28}{'first ms':>10}{'allo us':>10}{'numpy us':>10}{'ratio':>7}")
    for chosen in CASES:
        if options.only not in chosen.expression:
            continue
        random = np.random.default_rng(0)
        arrays = [random.normal(size=shape).astype(options.type) for shape in chosen.shapes()]
        start = time.process_time()
        allo.einsum(chosen.expression, *arrays, threads=options.threads)
        first = time.process_time() - start
        compiled.append(first / max(len(arrays) - 1, 1))
        ours, theirs = rounds(
            lambda e=chosen.expression, a=arrays: allo.einsum(e, *a, threads=options.threads),
            lambda e=chosen.expression, a=arrays: np.einsum(e, *a, optimize=True, order=options.order),
            options.seconds, rest, clock,
        )  # fmt: skip
        ratio = ours / theirs
        ratios.append(ratio)
        print(f"{chosen.expression:28}{first * 1e3:10.0f}{ours * 1e6:10.0f}{theirs * 1e6:10.0f}{ratio:7.2f}")
    within = sum(ratio <= 1.2 for ratio in ratios)
    mean = statistics.geometric_mean(ratios)
    print(f"a contraction compiles in {statistics.median(compiled):.2f} s of a core (most: {max(compiled):.2f})")
    print(f"{within} of {len(ratios)} within 1.2 of NumPy's time, geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
