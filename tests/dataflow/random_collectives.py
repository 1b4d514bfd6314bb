"""Random collectives over random grids, and random products over random layouts, with what NumPy says of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

HEAD = """import allo
import allo.dataflow as df
from allo.ir.types import float32, int8, int16, int32, uint8
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
"""
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "max": np.maximum,
    "min": np.minimum,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
TYPES = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "float32": np.float32}


@dataclass(frozen=True, slots=True)
class Design:
    """The text of a region `design`, its arguments, and what they are after a call."""

    text: str
    arguments: list[np.ndarray[Any, Any]]
    wanted: list[np.ndarray[Any, Any]]

    def region(self, folder: Path) -> Callable[..., Any]:
        """The region, in a file of its own."""
        path = folder / f"design_{abs(hash(self.text))}.py"
        path.write_text(self.text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.design


def mesh_of(random: Random) -> tuple[int, ...]:
    """The extents of a grid of at most 16 positions."""
    while True:
        mesh = tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))
        if 1 < prod(mesh) <= 16:
            return mesh


def listed(*extents: int) -> str:
    return f"[{', '.join(map(str, extents))}]"


# -- collectives ------------------------------------------------------------------------------------------------------


def collectives_of(seed: int) -> Design:
    """Some collectives, one after the other, of an array or a number that each position has."""
    random = Random(seed)
    mesh, kind = mesh_of(random), random.choice(list(TYPES))
    shape = tuple(random.choice([2, 3, 4]) for _ in range(random.randint(0, 2)))
    rng = np.random.default_rng(seed)
    A = rng.integers(0 if kind[0] == "u" else -4, 5, (*mesh, *shape)).astype(TYPES[kind])
    values = {p: A[p] if kind == "float32" else A[p].astype(object) for p in product(*map(range, mesh))}
    lines, name = [], "A[" + ", ".join(f"p{k}" for k in range(len(mesh))) + "]"
    for number in range(random.randint(1, 3)):
        call, values = _collective(random, mesh, values, kind, name)
        name = f"x{number}"
        local = next(iter(values.values())).shape if hasattr(next(iter(values.values())), "shape") else ()
        declared = random.random() < 0.5
        of_kind = f"{kind}{listed(*local)}" if local else kind
        lines.append(f"{name}{f': {of_kind}' if declared else ''} = {call}")
        if declared and kind != "float32":
            values = {p: wrapped(v, TYPES[kind]) for p, v in values.items()}
    local = np.shape(next(iter(values.values())))
    out = kind if kind == "float32" else "int32"
    B = np.array([values[p] for p in product(*map(range, mesh))]).reshape(*mesh, *local)
    wanted = B if kind == "float32" else wrapped(B, np.int32).astype(np.int32)
    places = ", ".join([f"p{k}" for k in range(len(mesh))] + [":"] * len(local))
    positions = ", ".join(f"p{k}" for k in range(len(mesh)))
    params = f"A: {kind}{listed(*A.shape)}, B: {out}{listed(*B.shape)}"
    body = [f"{positions} = df.get_pid()", *lines, f"B[{places}] = {name}"]
    return Design(_text(params, "A, B", mesh, params, body), [A, np.zeros(B.shape, TYPES[out])], [A, wanted])


def wrapped(value: Any, kind: Any) -> Any:
    """Integers as a type holds them."""
    bits, low = np.iinfo(kind).bits, int(np.iinfo(kind).min)
    found = np.vectorize(lambda v: (int(v) - low) % (1 << bits) + low, otypes=[object])(value)
    return found if np.shape(value) else found.item()


def _collective(random: Random, mesh: tuple[int, ...], values: dict[Any, Any], kind: str, name: str) -> Any:
    local = np.shape(next(iter(values.values())))
    op = random.choice(["+", "+", "max", "min", "*"] if kind == "float32" else list(FOLDS))
    which = random.choice(["allreduce"] * 2 + (["reduce_scatter", "all_gather"] if local else []))
    axes = [random.randrange(len(mesh))]
    dim = random.randrange(len(local)) if local else 0
    if which == "reduce_scatter" and (local[dim] % mesh[axes[0]] or local[dim] == mesh[axes[0]]):
        which = "allreduce"
    if which == "allreduce" and random.random() < 0.3:
        axes = random.sample(range(len(mesh)), random.randint(1, len(mesh)))
    if which == "all_gather" and local[dim] * mesh[axes[0]] > 12:
        which = "allreduce"
    axis = axes[0] - random.choice([0, len(mesh)]) if len(axes) == 1 else axes
    found = {}
    if which == "all_gather":
        for p in values:
            line = [values[(*p[: axes[0]], k, *p[axes[0] + 1 :])] for k in range(mesh[axes[0]])]
            found[p] = np.concatenate(line, dim)
        return f"allo.all_gather({name}, axis={axis}, dim={dim})", found
    found = values
    for a in sorted(axes):
        before = found
        found = {
            p: reduce(FOLDS[op], [before[(*p[:a], k, *p[a + 1 :])] for k in range(mesh[a])]) for p in values
        }
    if which == "reduce_scatter":
        width = local[dim] // mesh[axes[0]]
        found = {
            p: v[(slice(None),) * dim + (slice(p[axes[0]] * width, (p[axes[0]] + 1) * width),)]
            for p, v in found.items()
        }
        return f"allo.reduce_scatter({name}, {op!r}, {axis}, {dim})", found
    return f"allo.allreduce({name}, op={op!r}, axis={axis})", found


def _text(params: str, args: str, mesh: tuple[int, ...], inner: str, body: list[str]) -> str:
    lines = [f"def design({params}):", f"    @df.kernel(mapping={listed(*mesh)}, args=[{args}])"]
    lines += [f"    def task({inner}):", *(f"        {line}" for line in body)]
    return HEAD + "\n".join(lines) + "\n"


# -- layouts ----------------------------------------------------------------------------------------------------------


def products_of(seed: int) -> Design:
    """A product of cut matrices, combined if its inner dimension is cut, with something added, and stored."""
    random = Random(seed)
    mesh = mesh_of(random)
    free = list(range(len(mesh)))
    random.shuffle(free)
    rows, inner, columns = (free.pop() if free and random.random() < 0.7 else None for _ in range(3))
    M, K, N = (random.choice([1, 2]) * (1 if a is None else mesh[a]) for a in (rows, inner, columns))
    rng = np.random.default_rng(seed)
    A, B, b = (rng.integers(-9, 9, shape).astype(np.int16) for shape in ((M, K), (K, N), (N,)))
    keeps = random.random() < 0.5
    kept = [axis if axis is not None and keeps else None for axis in (rows, columns)]
    bias = random.choice([columns, None]) if kept == [rows, columns] else None
    value, wanted = random.choice(["A @ B", "allo.matmul(A, B)", "(A @ B) * 3"]), A.astype(np.int32) @ B
    wanted = wanted * 3 if value.endswith("3") else wanted
    body = [f"x = {value}"]
    if inner is not None:
        body.append("x = allo.allreduce(x)" if random.random() < 0.5 else f"x = allo.allreduce(x, '+', {inner})")
        body[-1] = body[-1].replace("x = ", "y = ")
    name = "x" if inner is None else "y"
    for dim, (have, want) in enumerate(zip((rows, columns), kept, strict=True)):
        if have is not None and want is None:
            body.append(f"z{dim} = allo.all_gather({name}, dim={dim})")
            name = f"z{dim}"
    if random.random() < 0.6:
        name, wanted = f"{name} + b", wanted + b
    body.append(f"C[:, :] = {name}")
    args = f"A: int16[{M}, {K}]", f"B: int16[{K}, {N}]", f"b: int16[{N}]", f"C: int32[{M}, {N}]"
    layouts = [rows, inner], [inner, columns], [bias], kept
    cut = [
        f"{argument} @ [{', '.join('R' if p is None else f'S({p})' for p in layout)}]"
        for argument, layout in zip(args, layouts, strict=True)
    ]
    text = _text(", ".join(args), "A, B, b, C", mesh, ", ".join(cut), body)
    return Design(text, [A, B, b, np.zeros((M, N), np.int32)], [A, B, b, wanted.astype(np.int32)])
