"""Random graphs of tasks: trees, forks, joins and circles with random depths, orders, rates and conditions."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

N = 6
HEAD = "import allo\nimport allo.dataflow as df\nfrom allo.ir.types import Stream, int16, int32\n\n\n"
# when a stream is used: in which iterations, as both sides say it
AFFINE = ["i % 2 == 0", "i >= 2", "i < 4 or i == 5", "i * i > 7"]
DATA = ["A[i] % 2 == 0", "A[i] > 3"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream, block or pair of streams from one task to another, used `rounds` times an iteration."""

    name: str
    source: int
    sink: int
    depth: int
    rounds: int
    when: str
    kind: str  # "scalar", "block", "pair"
    initial: int  # elements that are put before the first iteration, and taken after the last one
    late: tuple[bool, bool]  # whether the source, or the sink, uses it in a loop of its own

    @property
    def declared(self) -> str:
        kind = "int32[2]" if self.kind == "block" else "int32"
        return f"    {self.name}: Stream[{kind}, {self.depth}]" + ("[2]" if self.kind == "pair" else "")

    def end(self, index: str) -> str:
        return f"{self.name}[{index} % 2]" if self.kind == "pair" else self.name

    def put(self, value: str, index: str) -> list[str]:
        if self.kind == "block":
            return [f"b{self.name}: int32[2] = {value}", f"{self.name}.put(b{self.name})"] * self.rounds
        return [f"{self.end(index)}.put({value})"] * self.rounds

    def get(self, into: str, factor: int, index: str) -> list[str]:
        if self.kind == "block":
            block = f"c{self.name}"
            return [f"{block}: int32[2] = {self.name}.get()", f"{into} = {into} * {factor} + {block}[1]"] * self.rounds
        return [f"{into} = {into} * {factor} + {self.end(index)}.get()"] * self.rounds


def text_of(seed: int) -> str:
    """The source of a region `graph(A0, B0, A1, B1, ...)`: each task reads N numbers, the same, and has a result."""
    random = Random(seed)
    count = random.randint(2, 5)
    edges = _edges(random, count)
    wrong = (random.randrange(len(edges)), random.randrange(2)) if random.random() < 0.12 else None
    results = ", ".join(f"A{task}: int32[{N}], B{task}: int32[{N}]" for task in range(count))
    lines = ["@df.region()", f"def graph({results}):", *(edge.declared for edge in edges)]
    for task in range(count):
        lines += _task(random, task, edges, wrong)
    return HEAD + "\n".join(lines) + "\n"


def _edges(random: Random, count: int) -> list[Edge]:
    """Streams from one task to another: mostly to later ones, sometimes back, and then mostly with elements in it."""
    ends = [(random.randrange(task), task) for task in range(1, count)]
    for _ in range(random.randint(0, 2)):
        one, other = random.sample(range(count), 2)
        ends.append((min(one, other), max(one, other)) if random.random() < 0.65 else (one, other))
    edges = []
    for k, (source, sink) in enumerate(ends):
        kind = random.choice(["scalar", "scalar", "scalar", "block", "pair"])
        initial = random.randint(1, 2) if source > sink and random.random() < 0.75 else 0
        late = random.random() < 0.12, random.random() < 0.12
        rounds = random.choice([1, 1, 1, 2])
        when = random.choice([""] * 8 + AFFINE + DATA * (random.random() < 0.2))
        edges.append(Edge(f"s{k}", source, sink, random.randint(1, 4), rounds, when, kind, initial, late))
    return edges


def _task(random: Random, task: int, edges: list[Edge], wrong: tuple[int, int] | None) -> list[str]:
    lines = ["", f"    @df.task(mapping=[1], args=[A{task}, B{task}])"]
    lines += [f"    def t{task}(A: int32[{N}], B: int32[{N}]):", "        y: int32 = 1"]
    before: list[list[str]] = []
    after: list[list[str]] = []
    steps: list[tuple[bool, list[str]]] = []
    for number, edge in enumerate(edges):
        for is_sink, end in ((False, edge.source), (True, edge.sink)):
            if end != task:
                continue
            value = f"x + {random.randint(-4, 4)}"
            used = edge.get("x", 3, "i") if is_sink else edge.put(value, "i")
            if wrong == (number, int(is_sink)):
                used = used * 2
            if edge.initial:
                index = f"(k + {N})" if is_sink else "k"
                once = edge.get("y", 5, index) if is_sink else edge.put("k", index)
                (after if is_sink else before).append([f"for k in range({edge.initial}):", *_in(once)])
            if edge.late[is_sink]:  # as much, but in a loop of its own
                late = [line.replace("x = x * 3", "y = y * 7").replace(value, "i") for line in used]
                (before if random.random() < 0.5 else after).append(_loop(random, edge, late))
            else:
                steps.append((is_sink, [f"if {edge.when}:", *_in(used)] if edge.when else used))
    if random.random() < 0.8:  # what comes in is first
        steps.sort(key=lambda step: not step[0])
    else:
        random.shuffle(steps)
    body = [line for _, step in steps for line in step]
    lines += [f"        {line}" for part in before for line in part]
    lines += [f"        for i in range({N}):", "            x: int32 = A[i]", *(f"            {line}" for line in body)]
    lines.append("            B[i] = x + y")
    return lines + [f"        {line}" for part in after for line in part] + ["        B[0] = B[0] + y"]


def _loop(random: Random, edge: Edge, used: list[str]) -> list[str]:
    """All that an edge does, in a loop: with the condition, or with a stride that says it."""
    if edge.when == "i % 2 == 0" and random.random() < 0.7:
        return [f"for i in range(0, {N}, 2):", *_in(used)]
    if edge.when == "i >= 2" and random.random() < 0.7:
        return [f"for i in range(2, {N}):", *_in(used)]
    return [f"for i in range({N}):", *_in([f"if {edge.when}:", *_in(used)] if edge.when else used)]


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def region_of(seed: int, folder: Path) -> Callable[..., Any]:
    """The region, read from a file in `folder`."""
    return loaded(text_of(seed), folder / f"graph_{seed}.py", "graph")


def loaded(text: str, path: Path, name: str) -> Callable[..., Any]:
    """What a text calls `name`, read from a file."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)  # type: ignore[no-any-return]
