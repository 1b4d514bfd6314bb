"""Time to size FIFOs: the designs of polybench with streams by each strategy, and a grid of tasks with 10,000 of them.

python -m benchmarks.fifo_sizes [MINI|SMALL|MEDIUM] [side]
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import allo
import allo.dataflow as df
from polybench.suite import NAMES, load

STRATEGIES = ("exact", "normal", "conservative", "pareto")


GRID = """
import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32

P, K = {side}, 4


@df.region()
def grid(A: int32[P, K], B: int32[P, K]):
    right: Stream[int32, K][P, P + 1]
    down: Stream[int32, K][P + 1, P]

    @df.kernel(mapping=[P, P], args=[A, B])
    def passes(A: int32[P, K], B: int32[P, K]):
        i, j = df.get_pid()
        for k in range(K):
            x: int32 = 0
            with allo.meta_if(j == 0):
                x += A[i, k]
            with allo.meta_else():
                x += right[i, j].get()
            with allo.meta_if(i > 0):
                x += down[i, j].get()
            with allo.meta_if(i < P - 1):
                down[i + 1, j].put(x)
            with allo.meta_if(j < P - 1):
                right[i, j + 1].put(x)
            with allo.meta_else():
                B[i, k] = x
"""


def seconds(schedule: allo.Schedule, strategy: str) -> float:
    """How long a strategy takes on a copy of the schedule."""
    copy = schedule.copy()
    begin = time.perf_counter()
    copy.size_fifos(strategy)
    return time.perf_counter() - begin


def main(size: str, side: int) -> None:
    """Print a row for each design."""
    print(f"{'design':18}{'FIFOs':>8}" + "".join(f"{name:>14}" for name in STRATEGIES))
    for name in NAMES:
        designs = load(name).designs
        if "streams" in designs:
            schedule = designs["streams"].customized(size)
            row(f"{name} {size}", schedule, STRATEGIES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.py"
        path.write_text(GRID.format(side=side))
        spec = importlib.util.spec_from_file_location("grid", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        row(f"grid {side} x {side}", df.customize(module.grid), ("exact", "normal", "conservative"))


def row(name: str, schedule: allo.Schedule, strategies: tuple[str, ...]) -> None:
    """Print the seconds of each strategy."""
    fifos = sum(fifo.count for fifo in schedule.report().fifos)
    times = (f"{seconds(schedule, strategy):12.2f} s" for strategy in strategies)
    print(f"{name:18}{fifos:8}" + "".join(times))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "SMALL", int(sys.argv[2]) if len(sys.argv) > 2 else 71)
