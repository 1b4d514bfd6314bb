"""Measures what `compose` costs beside its steps, and the steps: a transformer block, one kernel with many steps.

    python benchmarks/composition.py [--repeat 7]

The same steps are composed from schedules of the callees, and applied to the caller directly (`s.replay`). CPU time of
this process, warm; medians.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
import transformer

import allo
from allo.ir.types import float32, int32
from allo.library import nn

LIMIT = 1.5
STEP_LIMIT_MS = 30.0
LENGTH, HIDDEN, HEADS = 64, 256, 4

type Parts = list[allo.Schedule]


def block() -> allo.Schedule:
    """The block of examples/transformer.py without a step."""
    size = [float32, HEADS, LENGTH, HIDDEN, 4 * HIDDEN, *transformer.ARRAY]
    return allo.customize(transformer.block, instantiate=size)


def templates() -> Parts:
    """The schedules of the templates that it calls."""
    size = [float32, LENGTH, HIDDEN]
    instances = (
        (nn.layer_norm, nn.schedule_layer_norm, size),
        (
            nn.multi_head_attention,
            nn.schedule_multi_head_attention,
            [float32, HEADS, *size[1:], *transformer.ARRAY],
        ),
        (nn.residual_add, nn.schedule_residual_add, size),
        (nn.ffn, nn.schedule_ffn, [*size, 4 * HIDDEN]),
    )
    found = []
    for kernel, schedule, types in instances:
        part = allo.customize(kernel, instantiate=types)
        schedule(part)
        found.append(part)
    return found


def work(A: int32[64, 64], B: int32[64, 64]):
    for i, j in allo.grid(64, 64, name="first"):
        B[i, j] = A[i, j] * 2
    for i, j in allo.grid(64, 64, name="second"):
        B[i, j] = B[i, j] + 1


def caller(A: int32[64, 64], B: int32[64, 64], C: int32[64, 64]):
    work(A, B)
    work(B, C)


def splits(count: int) -> Parts:
    """A schedule of `count` steps on one kernel."""
    part = allo.customize(work)
    for number in range(count):
        part.unroll(f"{('first', 'second')[number % 2]}.j", factor=2 + number % 7)
    return [part]


def seconds(
    fresh: Callable[[], allo.Schedule], parts: Callable[[], Parts], repeat: int
) -> tuple[float, float, int]:
    """The times of `compose` and of the steps alone, and the number of steps."""
    composed, applied, steps = [], [], 0
    for _ in range(repeat):
        schedule, given = fresh(), parts()
        gc.collect()  # of what made them
        start = time.process_time()
        for part in given:
            schedule.compose(part)
        composed.append(time.process_time() - start)
        direct, steps = fresh(), len(schedule.steps)
        gc.collect()
        start = time.process_time()
        direct.replay(schedule.steps)
        applied.append(time.process_time() - start)
    return statistics.median(composed), statistics.median(applied), steps


def slowest(repeat: int) -> tuple[float, str]:
    """The milliseconds of the step of the transformer block that takes longest, and the step."""
    steps = transformer.schedule_block(LENGTH, HIDDEN, HEADS).steps
    samples: dict[int, list[float]] = {}
    for _ in range(repeat):
        schedule = block()
        for number, step in enumerate(steps):
            start = time.process_time()
            schedule.replay([step])
            samples.setdefault(number, []).append(time.process_time() - start)
    return max((statistics.median(times) * 1e3, str(steps[number])) for number, times in samples.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="samples of each median (default 7)")
    repeat = parser.parse_args().repeat
    rows: list[tuple[str, Callable[[], allo.Schedule], Callable[[], Parts]]] = [
        ("transformer block", block, templates)
    ]
    for count in (10, 40, 160):
        rows.append((f"{count} steps", lambda: allo.customize(caller), lambda count=count: splits(count)))
    milliseconds, step = slowest(repeat)
    verdict = "ok" if milliseconds <= STEP_LIMIT_MS else "ABOVE"
    print(f"slowest step of the block: {milliseconds:.1f} ms   limit {STEP_LIMIT_MS:.0f} ms   {verdict}   {step}")
    for name, fresh, parts in rows:
        composed, applied, steps = seconds(fresh, parts, repeat)
        ratio = composed / applied
        verdict = "ok" if ratio <= LIMIT else "ABOVE"
        print(
            f"{name:18s} {steps:4d} steps   composed {composed * 1e3:7.1f} ms   applied {applied * 1e3:7.1f} ms   "
            f"ratio {ratio:4.2f}   limit {LIMIT}   {verdict}"
        )


if __name__ == "__main__":
    main()
