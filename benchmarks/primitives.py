"""Measures every primitive on every PolyBench kernel (LARGE size), on a function of 200 loops, and on 200 functions.

    python benchmarks/primitives.py [--repeat 5]

CPU time of this process, warm; a time is a median. Each line shows the kernel that takes longest.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # polybench lies beside the package
import allo
import polybench
from allo.memory import Memory

SIZE = "LARGE"
MANY_LOOPS = 200
LIMIT_MS = 30.0
MANY_LOOPS_LIMIT_MS = 100.0
MANY_FUNCTIONS = (2, 200)
FEW_FUNCTIONS_LIMIT_MS = 100.0
FUNCTIONS_LIMIT = 2.0  # 100 steps on the larger module cost at most so many times those on the smaller one


type Action = Callable[[allo.Schedule], Any]


def primitives(kernel: Callable[..., None]) -> dict[str, Action]:
    """One application of each primitive to `kernel`: to a nest of two loops, and to a buffer that the nest touches.

    A primitive that the kernel has no place for is refused, which takes its time too.
    """
    plain = allo.customize(kernel)
    loops = _nests(plain)
    outer, inner = next(_pairs(loops, kernel), (loops[-1][-1], None))
    buffer = next((name for name in plain.buffers if _works(kernel, name, outer)), None)
    function, nest = outer.function, f"{outer.function}:{outer.nest}"
    own = [found for found in loops if found[0].function == function]
    position = next(k for k, found in enumerate(own) if found[0].nest == outer.nest)
    later = [found[-1] for found in own[position + 1 :]]
    shape = None if buffer is None else _shape(plain, buffer)
    of_loops: dict[str, Action] = {
        "split": lambda s: s.split(outer, 4),
        "peel": lambda s: s.peel(outer, front=1),
        "unroll": lambda s: s.unroll(inner or outer, 4),
        "pipeline": lambda s: s.pipeline(inner or outer),
        "parallel": lambda s: s.parallel(outer),
        "unfold": lambda s: s.unfold(nest, axes=[0]),
        "dataflow": lambda s: s.dataflow(function),
    }
    of_pairs: dict[str, Action] = {
        "reorder": lambda s: s.reorder(inner, outer),
        "fuse": lambda s: s.fuse(outer, inner),
        "skew": lambda s: s.skew(outer, inner, 1),
    }
    of_buffers: dict[str, Action] = {
        "partition": lambda s: s.partition(buffer, allo.Partition.Cyclic, dim=1, factor=4),
        "buffer_at": lambda s: s.buffer_at(buffer, axis=outer),
        "reuse_at": lambda s: s.reuse_at(buffer, axis=outer, strict=True),
        "reshape": lambda s: s.reshape(buffer, shape),
        "pack": lambda s: s.pack(buffer, dim=len(shape or ()), factor=2),
        "bind": lambda s: s.bind(buffer, Memory(resource="BRAM")),
        "relay": lambda s: s.relay(buffer, nest),
    }
    of_nests: dict[str, Action] = {f"compute_at {k}": _compute(outer, target) for k, target in enumerate(later[:3])}
    return of_loops | of_nests | (of_pairs if inner else {}) | (of_buffers if shape else {})


def _compute(outer: Any, target: Any) -> Action:
    return lambda s: s.compute_at(outer, target)


def _shape(schedule: allo.Schedule, buffer: str) -> list[int]:
    """The shape of a buffer with one dimension more."""
    types = {f"{row.function}:{row.name}": row.type for row in schedule.report().buffers}
    size = re.search(r"\[([\d, ]+)\]", types.get(str(schedule.buffers[buffer]), ""))
    return [*map(int, size[1].split(",")), 1] if size else []


def _nests(schedule: allo.Schedule) -> list[list[Any]]:
    """The loops of each nest of each function."""
    functions = dict.fromkeys(name.partition(":")[0] for name in schedule.buffers if ":" in name)
    return [list(nest) for function in functions for nest in schedule.get_loops(function)]


def _pairs(loops: list[list[Any]], kernel: Callable[..., None]) -> Iterator[tuple[Any, Any]]:
    """Pairs of neighbouring loops that can be exchanged, else those that cannot."""
    pairs = [pair for nest in loops for pair in itertools.pairwise(nest)]
    yield from (pair for pair in pairs if _accepted(kernel, lambda s, pair=pair: s.reorder(pair[1], pair[0])))
    yield from pairs


def _works(kernel: Callable[..., None], buffer: str, loop: Any) -> bool:
    return _accepted(kernel, lambda s: s.buffer_at(buffer, axis=loop))


def _accepted(kernel: Callable[..., None], action: Callable[[allo.Schedule], Any]) -> bool:
    try:
        action(allo.customize(kernel))
    except allo.ScheduleError:
        return False
    return True


def attempt(action: Callable[[allo.Schedule], Any], schedule: allo.Schedule) -> None:
    """Apply a primitive; a refusal takes its time too."""
    with contextlib.suppress(allo.ScheduleError):
        action(schedule)


def milliseconds(kernel: Callable[..., None], action: Action, repeat: int) -> float:
    """The time of one primitive on fresh schedules of a kernel."""
    samples = []
    for _ in range(repeat):
        schedule = allo.customize(kernel)
        start = time.process_time()
        attempt(action, schedule)
        samples.append(time.process_time() - start)
    return statistics.median(samples) * 1e3


def many_loops() -> str:
    """The source of a kernel of 200 loops in 100 nests, of which each reads what the one before has written."""
    parts = ["from allo.ir.types import float32", "", "", "def many(A: float32[64, 64], B: float32[64, 64]):"]
    for n in range(MANY_LOOPS // 2):
        target, source = ("A", "B") if n % 2 else ("B", "A")
        parts += [
            f"    for i{n} in range(1, 63):",
            f"        for j{n} in range(1, 63):",
            f"            {target}[i{n}, j{n}] = 0.5 * ({source}[i{n}, j{n} - 1] + {source}[i{n} - 1, j{n}])",
        ]
    return "\n".join(parts) + "\n"


def many_functions(count: int) -> str:
    """The source of a kernel that calls all other functions of its module, `count` with itself."""
    parts = ["from allo.ir.types import float32", ""]
    for n in range(count - 1):
        parts += [
            f"def stage_{n}(A: float32[64, 64], B: float32[64, 64]):",
            "    for i in range(64):",
            "        for j in range(64):",
            "            B[i, j] = 2.0 * A[i, j] + 1.0",
            "",
        ]
    calls = [f"    stage_{n}({'A, B' if n % 2 else 'B, A'})" for n in range(count - 1)]
    return "\n".join([*parts, "def many(A: float32[64, 64], B: float32[64, 64]):", *calls]) + "\n"


def hundred_steps_ms(functions: int, folder: Path, repeat: int) -> float:
    """The time of 100 steps on one schedule of that many functions; each step changes one of them."""
    kernel = kernel_of(f"many_{functions}", many_functions(functions), folder)
    samples = []
    for _ in range(repeat):
        schedule = allo.customize(kernel)
        stages = sorted({name.partition(":")[0] for name in schedule.buffers if name.startswith("stage_")})
        start = time.process_time()
        for step in range(0, 100, 4):
            stage = stages[step % len(stages)]
            schedule.pipeline(f"{stage}:j", initiation_interval=1 + step)
            schedule.unroll(f"{stage}:j", 2 + step // 4)
            schedule.bind(f"{stage}:B", Memory(resource="URAM"))
            schedule.bind(f"{stage}:B", Memory(resource="BRAM"))
        samples.append(time.process_time() - start)
    return statistics.median(samples) * 1e3


def kernel_of(name: str, source: str, folder: Path) -> Callable[..., None]:
    """The kernel `many` of a source, which is put into a file of that name."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Callable[..., None] = module.many
    return kernel


def row(name: str, kernel: str, time_ms: float, limit: float) -> str:
    verdict = "ok" if time_ms <= limit else "ABOVE"
    return f"{name:14s} {kernel:16s} {time_ms:8.1f} ms   limit {limit:4.0f} ms   {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="samples of each median (default 5)")
    repeat = parser.parse_args().repeat
    slowest: dict[str, tuple[float, str]] = {}
    for name in polybench.NAMES:
        kernel = polybench.load(name).kernel(SIZE)
        for primitive, action in primitives(kernel).items():
            found = (milliseconds(kernel, action, repeat), name)
            slowest[primitive] = max(found, slowest.get(primitive, (0.0, "")))
    for primitive, (time_ms, name) in slowest.items():
        print(row(primitive, name, time_ms, LIMIT_MS))
    with tempfile.TemporaryDirectory() as folder:
        kernel = kernel_of("many_loops", many_loops(), Path(folder))
        for primitive, action in primitives(kernel).items():
            print(row(primitive, f"{MANY_LOOPS} loops", milliseconds(kernel, action, repeat), MANY_LOOPS_LIMIT_MS))
        few, many = (hundred_steps_ms(count, Path(folder), repeat) for count in MANY_FUNCTIONS)
    print(row("100 steps", f"{MANY_FUNCTIONS[0]} functions", few, FEW_FUNCTIONS_LIMIT_MS))
    print(row("100 steps", f"{MANY_FUNCTIONS[1]} functions", many, FUNCTIONS_LIMIT * few))


if __name__ == "__main__":
    main()
