"""Random designs that poll: sources of all kinds, arbiters that ask, try or look, sinks that lose or wait."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

N = 5
HEAD = "import allo\nimport allo.dataflow as df\nfrom allo.ir.types import Stream, int16, int32, uint8\n\n\n"


def text_of(seed: int) -> str:
    """The source of a region `polling(A, C, told)`: sources send N numbers each, few another number, to an arbiter."""
    random = Random(seed)
    kinds = [random.choice(["int32", "int16", "uint8", "packed"]) for _ in range(random.randint(1, 3))]
    levels, total = random.randint(1, 2), len(kinds) * N
    rows, results = f"int32[{len(kinds)}, {N}]", f"int32[{total}]"
    lines = ["@df.region()", f"def polling(A: {rows}, C: {results}, told: int32[1]):"]
    for k, kind in enumerate(kinds):
        depth = random.randint(1, 3)
        lines.append(f"    s{k}: Stream[" + (f"int16, {2 * depth}, 2]" if kind == "packed" else f"{kind}, {depth}]"))
    lines += [f"    m{level}: Stream[int32, {random.randint(1, 3)}]" for level in range(levels)]
    for k, kind in enumerate(kinds):
        lines += _task(f"source{k}", "A", rows, _source(random, k, kind))
    lines += _task("arbiter", "told", "int32[1]", _arbiter(random, kinds))
    for level in range(1, levels):
        lines += _task(f"relay{level}", "", "", _relay(random, f"m{level - 1}", f"m{level}", total))
    lines += _task("sink", "C", results, _sink(random, f"m{levels - 1}", total))
    return HEAD + "\n".join(lines) + "\n"


def _task(name: str, argument: str, kind: str, body: list[str]) -> list[str]:
    parameter = f"{argument}: {kind}" if argument else ""
    head = ["", f"    @df.task(mapping=[1], args=[{argument}])", f"    def {name}({parameter}):"]
    return [*head, *_inside(body, 2)]


def _inside(lines: list[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def _source(random: Random, k: int, kind: str) -> list[str]:
    count = N if random.random() < 0.95 else random.choice([N - 1, N + 1])
    value = f"A[{k}, i % {N}] + {random.randint(0, 9)}"
    if kind == "packed":
        put = [f"both: int32[2] = {value}", f"while not s{k}.try_put(both):", "    pass"]
    else:
        put = random.choice([
            [f"s{k}.put({value})"],
            [f"while not s{k}.try_put({value}):", "    pass"],
            [f"while s{k}.full():", "    waits += 1", f"s{k}.put({value} + waits * 0)"],
        ])  # fmt: skip
    return ["waits: int32 = 0", f"for i in range({count}):", *_inside(put)]


def _arbiter(random: Random, kinds: list[str]) -> list[str]:
    body: list[str] = []
    for k, kind in enumerate(kinds):
        x = f"x{k}[0] + x{k}[1]" if kind == "packed" else f"x{k}"
        send = random.choice([
            [f"m0.put({x})"],
            [f"while not m0.try_put({x}):", "    asked += 1"],
            ["while m0.full():", "    asked += 1", f"m0.put({x})"],
        ])  # fmt: skip
        step = [*send, "taken += 1", f"n{k} += 1"]
        form = random.random()
        if form < 0.4:
            body += [f"x{k}, ok{k} = s{k}.try_get()", f"if ok{k}:", *_inside(step)]
        elif form < 0.6:
            body += [f"if not s{k}.empty():", *_inside([f"x{k} = s{k}.get()", *step])]
        elif form < 0.8:
            body += [f"while not s{k}.empty() and n{k} < {N}:", *_inside([f"x{k} = s{k}.get()", *step])]
        else:
            body += [f"if n{k} < {N}:", *_inside([f"x{k} = s{k}.peek()", f"y{k} = s{k}.get()", *step])]
    counts = [f"n{k}: int32 = 0" for k in range(len(kinds))]
    whole = [f"while taken < {len(kinds) * N}:", *_inside([*body, "asked += 1"])]
    return ["taken: int32 = 0", "asked: int32 = 0", *counts, *whole, "told[0] = asked"]


def _relay(random: Random, into: str, out: str, total: int) -> list[str]:
    move = random.choice([
        [f"{out}.put({into}.get() * 3)", "i += 1"],
        [f"x, ok = {into}.try_get()", "if ok:", f"    {out}.put(x + 1)", "    i += 1"],
        [f"if not {into}.empty() and not {out}.full():", f"    {out}.put({into}.get())", "    i += 1"],
    ])  # fmt: skip
    return ["i: int32 = 0", f"while i < {total}:", *_inside(move)]


def _sink(random: Random, stream: str, total: int) -> list[str]:
    take = random.choice([
        [f"C[i] = {stream}.get()"],
        [f"x, ok = {stream}.try_get()", "while not ok:", f"    x, ok = {stream}.try_get()", "C[i] = x"],
        [f"C[i] = {stream}.peek()", f"C[i] += 2 * {stream}.get()"],
    ])  # fmt: skip
    return [f"for i in range({total}):", *_inside(take)]


def region_of(seed: int, folder: Path) -> Callable[..., Any]:
    """The region, read from a file in `folder`."""
    path = folder / f"polling_{seed}.py"
    path.write_text(text_of(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.polling  # type: ignore[no-any-return]
