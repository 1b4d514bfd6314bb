"""Random graphs of tasks: trees, forks, joins and circles of streams with random depths and orders."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

N = 6
HEAD = "import allo\nimport allo.dataflow as df\nfrom allo.ir.types import Stream, int16, int32\n\n\n"


def text_of(seed: int) -> str:
    """The source of a region `graph(A, B0, ...)`: A are N numbers that all tasks read, and each has a result."""
    random = Random(seed)
    count = random.randint(2, 5)
    edges = _edges(random, count)
    rounds = [random.choice([1, 1, 1, 2]) for _ in edges]  # elements an iteration
    results = ", ".join(f"B{task}: int32[{N}]" for task in range(count))
    lines = ["@df.region()", f"def graph(A: int32[{N}], {results}):"]
    lines += [f"    s{k}: Stream[int32, {random.randint(1, 4)}]" for k in range(len(edges))]
    for task in range(count):
        lines += _task(random, task, edges, rounds)
    return HEAD + "\n".join(lines) + "\n"


def _edges(random: Random, count: int) -> list[tuple[int, int]]:
    """Streams from one task to another: mostly to later ones, sometimes back."""
    found = [(random.randrange(task), task) for task in range(1, count)]
    for _ in range(random.randint(0, 2)):
        one, other = random.sample(range(count), 2)
        found.append((min(one, other), max(one, other)) if random.random() < 0.75 else (one, other))
    return found


def _task(random: Random, task: int, edges: list[tuple[int, int]], rounds: list[int]) -> list[str]:
    lines = ["", f"    @df.task(mapping=[1], args=[A, B{task}])", f"    def t{task}(A: int32[{N}], B: int32[{N}]):"]
    body = ["x: int32 = A[i]"]
    steps: list[list[str]] = []
    for k, (source, sink) in enumerate(edges):
        if sink == task:
            steps.append([f"x = x * 3 + s{k}.get()"] * rounds[k])
        if source == task:
            steps.append([f"s{k}.put(x + {random.randint(-4, 4)})"] * rounds[k])
    first = [step for step in steps if "get" in step[0]]
    if random.random() < 0.8:  # what comes in is first
        steps = first + [step for step in steps if step not in first]
    else:
        random.shuffle(steps)
    for step in steps:
        if random.random() < 0.15:  # as much, but later: in a loop of its own
            late = [line.replace("x = x * 3", "y = y * 7").replace("put(x", "put(j") for line in step]
            lines += ["        y: int32 = 1", f"        for j in range({N}):"]
            lines += [f"            {line}" for line in late]
            lines.append("        B[0] = y")
            continue
        body += step
    lines.append(f"        for i in range({N}):")
    lines += [f"            {line}" for line in body]
    lines.append("            B[i] = x")
    return lines


def region_of(seed: int, folder: Path) -> Callable[..., Any]:
    """The region, read from a file in `folder`."""
    path = folder / f"graph_{seed}.py"
    path.write_text(text_of(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.graph  # type: ignore[no-any-return]
