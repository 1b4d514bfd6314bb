"""Random small affine kernels as Python source, and random arguments for primitives."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from allo import Partition, Schedule

EXTENT = 12  # of every dimension; loop variables are from 0 to 5, and a subscript adds at most two of them
ARRAYS = {"A": 2, "B": 2, "V": 1}
HEADER = """from allo.ir.types import int32


def kernel(A: int32[12, 12], B: int32[12, 12], V: int32[12]):
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel with its text and the names of the loops of each nest, outer to inner."""

    function: Callable[..., Any]
    source: str
    nests: tuple[tuple[str, ...], ...]


def subscript(draw: st.DrawFn, variables: list[str]) -> str:
    one, two = (draw(st.sampled_from(variables)) for _ in range(2))
    forms = [one, one, f"{one} + 1", f"{one} + 2", f"5 - {one}", "3", f"2 * {one}"]
    return draw(st.sampled_from([*forms, f"{one} + {two}", f"{one} - {two} + 5"] if one != two else forms))


def element(draw: st.DrawFn, variables: list[str], arrays: dict[str, int] = ARRAYS) -> str:
    array = draw(st.sampled_from(list(arrays)))
    return f"{array}[{', '.join(subscript(draw, variables) for _ in range(arrays[array]))}]"


def statement(draw: st.DrawFn, variables: list[str], conditions: bool, arrays: dict[str, int] = ARRAYS) -> list[str]:
    target, left, right = (element(draw, variables, arrays) for _ in range(3))
    value = draw(st.sampled_from([f"{left} + 1", f"{left} * 3 + {right}", f"{left} - {variables[-1]}", "7"]))
    lines = [f"{target} {draw(st.sampled_from(['=', '+=']))} {value}"]
    if draw(st.integers(0, 4)) == 0:
        lines = [f"t: int32 = {left}", f"{target} = t + {variables[0]}"]
    tests = [f"{variables[-1]} + {variables[0]} < 5", f"{variables[0]} >= 2"]
    if conditions:
        tests.append(f"{right} > 3")
    if draw(st.integers(0, 4)) == 0:
        lines = [f"if {draw(st.sampled_from(tests))}:", *(f"    {line}" for line in lines)]
    return lines


def bounds(draw: st.DrawFn, outer: list[str], run_time: bool = False) -> str:
    """The arguments of `range`; with `run_time` they may be a variable `n`, or data."""
    if run_time and draw(st.integers(0, 7)) == 0:
        return draw(st.sampled_from(["n", "1, n", "n, 6, 2", "V[2] % 6", *(f"{variable}, n" for variable in outer)]))
    if outer and draw(st.integers(0, 3)) == 0:
        variable = draw(st.sampled_from(outer))
        return draw(st.sampled_from([f"{variable} + 1", f"{variable}, 6", f"{variable}"]))
    lower = draw(st.integers(0, 2))
    upper = draw(st.integers(lower, 6)) if draw(st.integers(0, 9)) == 0 else draw(st.integers(lower + 2, 6))
    return draw(st.sampled_from([f"{lower}, {upper}"] * 4 + [f"{lower}, {upper}, 2"]))


@st.composite
def sources(draw: st.DrawFn, conditions: bool = True) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The text of a kernel of two or three nests, and the loops of each."""
    lines: list[str] = []
    nests: list[tuple[str, ...]] = []
    for _ in range(draw(st.integers(2, 3))):
        names = ["i", "j", "k"][: draw(st.sampled_from([1, 2, 2, 3, 3]))]
        for depth, name in enumerate(names):
            indent = "    " * (depth + 1)
            if depth and draw(st.integers(0, 5)) == 0:
                lines.extend(indent + line for line in statement(draw, names[:depth], conditions))
            lines.append(f"{indent}for {name} in range({bounds(draw, names[:depth])}):")
        for _ in range(draw(st.integers(1, 2))):
            indent = "    " * (len(names) + 1)
            lines.extend(indent + line for line in statement(draw, names, conditions))
        nests.append(tuple(names))
    return HEADER + "\n".join(lines) + "\n", tuple(nests)


def load(text: tuple[str, tuple[tuple[str, ...], ...]], directory: Path) -> Kernel:
    """Import the kernel from a file, where its source can be read."""
    source, nests = text
    path = directory / f"kernel_{len(list(directory.iterdir()))}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Kernel(module.kernel, source, nests)


def random_step(draw: st.DrawFn, s: Schedule) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """A call of a primitive with loops and buffers that exist; it may still be refused."""
    name = draw(
        st.sampled_from(
            [
                "split",
                "split",
                "reorder",
                "reorder",
                "buffer_at",
                "buffer_at",
                "reuse_at",
                "reuse_at",
                "fuse",
                "unroll",
                "parallel",
                "partition",
            ]
        )
    )
    nest = draw(st.sampled_from(list(s.get_loops())))
    loop = draw(st.sampled_from(list(nest)))
    buffer = draw(st.sampled_from([s.buffers[name] for name in ARRAYS]))
    if name == "split":
        return name, (loop, draw(st.integers(1, 4))), {}
    if name in ("reorder", "fuse"):
        start = draw(st.integers(0, max(0, len(nest) - 2)))
        loops = list(nest)[start : start + draw(st.integers(2, 3))]
        return name, tuple(draw(st.permutations(loops)) if name == "reorder" else loops), {}
    if name == "buffer_at":
        return name, (buffer, loop), {}
    if name == "reuse_at":  # on arguments, and on buffers that earlier steps have made
        return name, (draw(st.sampled_from(sorted(set(s.buffers.values()), key=str))), loop), {"strict": True}
    if name == "unroll":
        return name, (loop, draw(st.integers(0, 4))), {}
    if name == "partition":
        kind = draw(st.sampled_from(list(Partition)))
        return (
            name,
            (buffer, kind),
            {"dim": draw(st.integers(0, 2)), "factor": 0 if kind is Partition.Complete else 2},
        )
    return name, (loop,), {}


LOCAL = {**ARRAYS, "L": 2}
RUN_TIME = "    n: int32 = V[1] % 7"
DECLARED = "A: int32[12, 12], B: int32[12, 12], V: int32[12]"


def nest(draw: st.DrawFn, names: list[str], arrays: dict[str, int], run_time: bool) -> list[str]:
    """The lines of a loop nest with statements inside, and sometimes between its loops."""
    lines: list[str] = []
    for depth, name in enumerate(names):
        indent = "    " * (depth + 1)
        if depth and draw(st.integers(0, 3)) == 0:
            lines.extend(indent + line for line in statement(draw, names[:depth], True, arrays))
        lines.append(f"{indent}for {name} in range({bounds(draw, names[:depth], run_time)}):")
    indent = "    " * (len(names) + 1)
    for _ in range(draw(st.integers(1, 2))):
        lines.extend(indent + line for line in statement(draw, names, True, arrays))
    if draw(st.integers(0, 5)) == 0:
        target, value = (element(draw, names, arrays) for _ in range(2))
        updates = [f"max({target}, {value})", f"{target} + {value} + 1", f"{value} - 2 + {target}"]
        lines.append(f"{indent}{target} = {draw(st.sampled_from(updates))}")
    return lines


def stages(draw: st.DrawFn) -> list[str]:
    """A nest that fills the local array P, and a nest that reads it in some window."""
    source = draw(st.sampled_from(["A[x, y]", "A[x + 1, y] * 3", "V[x] + B[y, x]", "L[x, y] - x"]))
    body = draw(
        st.sampled_from(
            [
                [f"P[x, y] = {source}"],
                [f"t: int32 = {source}", "P[x, y] = t * 2 + y"],
                ["P[x, y] = 1", "for z in range(3):", f"    P[x, y] += {source} + z"],
                [f"P[x, y] = {source}", "if x < 7:", "    P[x + 1, y] = 4"],
            ]
        )
    )
    windows = ["P[u, v]", "P[u, v]", "P[u - 1, v]", "P[u + 1, v] + P[u, v]", "P[u, v] * P[u + 1, v + 1]", "P[v, u]"]
    read = draw(st.sampled_from(windows))
    target = draw(st.sampled_from(["B[u, v] += ", "B[u, v] = ", "L[u, v] = ", "V[u] += ", "A[u, v] = "]))
    low, high = (0, 8) if read == "P[u, v]" and draw(st.booleans()) else (1, draw(st.integers(3, 7)))
    lines = ["for x in range(8):", "    for y in range(8):", *(f"        {line}" for line in body)]
    lines += [f"for u in range({low}, {high}):", f"    for v in range({low}, {high}):", f"        {target}{read} + 1"]
    return ["    P: int32[12, 12]", *(f"    {line}" for line in lines)]


@st.composite
def programs(draw: st.DrawFn, run_time: bool = True) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """A kernel with a local array; some of its nests may stand in a function that it calls.

    With `run_time` some bounds are known at run time only.
    """
    loops = [["i", "j", "k"][: draw(st.sampled_from([1, 2, 2, 3, 3]))] for _ in range(draw(st.integers(2, 3)))]
    called = draw(st.integers(0, 2)) == 0
    lines = ["from allo.ir.types import int32", "", ""]
    given = [RUN_TIME] if run_time else []
    if called:
        lines += [f"def helper({DECLARED}, L: int32[12, 12]):", *given, *nest(draw, loops[0], LOCAL, run_time), "", ""]
    lines += [f"def kernel({DECLARED}):", *given, "    L: int32[12, 12] = 0"]
    if called:
        lines.append("    helper(A, B, V, L)")
    for position, names in enumerate(loops[1:] if called else loops):
        if position == 0 and draw(st.booleans()):
            lines += stages(draw)
            continue
        lines += nest(draw, names, LOCAL, run_time)
    lines += ["    for p in range(12):", "        for q in range(12):", "            B[p, q] += 5 * L[p, q]"]
    return "\n".join(lines) + "\n", tuple(map(tuple, loops))
