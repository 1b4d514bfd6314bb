"""Random pipelines with intervals of 1 to 8 in hardware, whose operations share units: bits, cycles, how many units."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import numpy as np

import allo
from allo.backend.rtl import RTLModule
from tests.seeds import sweep

from .counted import assert_as_estimated
from .shelf import shelve
from .simulated import assert_in_hardware

BATCH, N = 8, 6
HEAD = "from allo.ir.types import float32, int16, int32\n\n\ndef kernel(A: {0}[6, 6], B: {0}[6, 6], C: {0}[6, 6]):\n"
CONSTANTS = {"float32": ("1.5", "0.3"), "int32": ("3", "-5"), "int16": ("7", "-3")}


def value(draw: random.Random, names: list[str], kind: str, depth: int) -> str:
    """A sum, difference or product of values."""
    if not depth or draw.random() < 0.15:
        return draw.choice(names if draw.random() < 0.85 else CONSTANTS[kind])
    left, right = (value(draw, names, kind, depth - 1) for _ in range(2))
    return f"({left} {draw.choice('+-**')} {right})"


def body(draw: random.Random, at: str, kind: str) -> list[str]:
    """Statements of an iteration, some of them under a condition."""
    names, lines = [f"{array}[{at}]" for array in "ABC"], []
    for number in range(draw.randint(1, 3)):
        found, target = value(draw, names, kind, draw.choice((2, 3))), f"{draw.choice('BC')}[{at}]"
        match draw.choice(("name", "condition", "sum")):
            case "name":
                lines.append(f"t{number}: {kind} = {found}")
                names.append(f"t{number}")
            case "condition":
                lines += [f"if A[{at}] > B[{at}]:", f"    {target} = {found}", "else:"]
                lines += [f"    {target} = {value(draw, names, kind, 2)}"]
            case "sum":
                lines.append(f"{target} += {found}")
    return [*lines, f"C[{at}] = {value(draw, names, kind, 2)}"]


def schedule_of(draw: random.Random, path: Path, kind: str) -> tuple[str, allo.Schedule]:
    """One to three loops or nests in turn, most of them pipelines."""
    text, steps = HEAD.format(kind), {}
    for n in range(draw.randint(1, 3)):
        is_nest, indent = draw.random() < 0.5, "    "
        if is_nest:
            text, indent = f"{text}    for i{n} in range(6):\n", "        "
        text += f"{indent}for j{n} in range(6):\n"
        at = f"i{n}, j{n}" if is_nest else f"{draw.randrange(N)}, j{n}"
        text += "".join(f"{indent}    {line}\n" for line in body(draw, at, kind))
        if draw.random() < 0.85:
            steps[f"j{n}"] = draw.randint(1, 8)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    s = allo.customize(made.kernel)
    for loop, interval in steps.items():
        s.pipeline(loop, initiation_interval=interval)
    return f"{text}{steps}", s


@sweep(24, quick=1)
def test_units_that_are_shared_compute_the_same(seed: int, tmp_path: Path) -> None:
    designs: list[tuple[str, str, allo.Schedule, RTLModule]] = []
    for number in range(BATCH):
        kind = ("float32", "int32", "float32", "int16")[number % 4]
        text, s = schedule_of(random.Random(BATCH * seed + number), tmp_path / f"kernel_{seed}_{number}.py", kind)
        assert_as_estimated(s)
        built = s.build(target="rtl", limit=200_000)
        assert isinstance(built, RTLModule)
        designs.append((kind, text, s, built))
    shelve([built for *_, built in designs])
    numbers, wrong = np.random.default_rng(seed), []
    for kind, text, s, built in designs:
        scale = 1 if kind == "float32" else 50
        given = [(scale * numbers.uniform(-1, 1, (N, N))).astype(kind) for _ in range(3)]
        try:
            assert_in_hardware(s, built, *given)
        except AssertionError as error:
            wrong.append(f"{text}\n{error}")
    assert not wrong, "\n\n".join(wrong)
