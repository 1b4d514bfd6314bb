"""Random loops whose subscripts and conditions data decide, in hardware: accesses that may be of one element."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.ir.types import int32
from allo.memory import Memory
from tests.seeds import sweep

from .shelf import shelve
from .simulated import assert_in_hardware

BATCH = 10
SUBSCRIPTS = ("i", "7 - i", "K[i]", "L[i]", "0", "K[7 - i]", "i // 2")
VALUES = ("V[i]", "A[{}]", "B[{}]", "A[{}] + V[i]", "B[{}] * 3", "A[{}] - B[{}]")
CONDITIONS = ("V[i] > 3", "A[i] > B[K[i]]", "K[i] == L[i]")
HEAD = """from allo.ir.types import int32


def kernel(A: int32[8], B: int32[8], K: int32[8], L: int32[8], V: int32[8]):
    for i in range(8):
"""


def text_of(draw: random.Random) -> str:
    lines = []
    for _ in range(draw.randint(2, 4)):
        value = draw.choice(VALUES).format(draw.choice(SUBSCRIPTS), draw.choice(SUBSCRIPTS))
        line = f"{draw.choice('AB')}[{draw.choice(SUBSCRIPTS)}] {draw.choice(['=', '+='])} {value}"
        if draw.random() < 0.4:
            lines += [f"if {draw.choice(CONDITIONS)}:", f"    {line}"]
            lines += ["else:", f"    A[{draw.choice(SUBSCRIPTS)}] = i"] if draw.random() < 0.4 else []
        else:
            lines.append(line)
    return HEAD + "".join(f"        {line}\n" for line in lines)


def schedule_of(draw: random.Random, path: Path) -> allo.Schedule:
    path.write_text(text_of(draw))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    s = allo.customize(made.kernel)
    if draw.random() < 0.8:
        s.pipeline("i", initiation_interval=draw.choice((1, 1, 2)))
    elif draw.random() < 0.5:
        s.unroll("i", factor=2)
    banks = draw.random()
    if banks < 0.5:
        s.partition("A", dim=1, **({} if banks < 0.3 else {"factor": 2}))
    if draw.random() < 0.5:
        s.bind(draw.choice("AB"), memory=Memory(resource=draw.choice(("BRAM", "LUTRAM", "URAM"))))
    return s


def designs(seed: int, folder: Path) -> list[tuple[allo.Schedule, RTLModule]]:
    found = []
    for number in range(BATCH):
        s = schedule_of(random.Random(BATCH * seed + number), folder / f"kernel_{seed}_{number}.py")
        built = s.build(target="rtl")
        assert isinstance(built, RTLModule)
        found.append((s, built))
    return found


@sweep(18, quick=0)
def test_same_bits_in_the_predicted_cycles(seed: int, tmp_path: Path) -> None:
    made = designs(seed, tmp_path)
    shelve([built for _, built in made])
    numbers = np.random.default_rng(seed)
    for s, built in made:
        on_cpu = s.build()
        for _ in range(4):
            arguments = tuple(numbers.integers(0, 8, 8).astype(np.int32) for _ in range(5))
            assert_in_hardware(s, built, *arguments, on_cpu=on_cpu)


def updated(A: int32[8], K: int32[8], V: int32[8], Z: int32[8]):
    for i in range(8):
        A[K[i]] += V[i]
        A[K[i]] += V[i]
        Z[K[7 - i]] = A[i]


def guarded(A: int32[8], K: int32[8], V: int32[8], Z: int32[8]):
    for i in range(8):
        A[i] = V[7 - i]
        A[K[i]] += A[K[i]] + V[i]
        if A[i] > V[K[i]]:
            Z[0] = Z[0] * 3 + A[i]


def replaced(A: int32[8], K: int32[8], V: int32[8], Z: int32[8]):
    for i in range(8):
        A[i] = V[i]
        A[K[i]] = 9
        if V[i] > 3:
            A[i] = 11


def test_a_write_between_that_may_be_of_the_element() -> None:
    """Each was wrong once: an interval that let a read overtake a write, and a word that a later write replaces."""
    made = []
    for kernel in (updated, guarded, replaced):
        for pipelined in (False, True):
            s = allo.customize(kernel)
            if pipelined:
                s.pipeline("i")
            made.append((s, s.build(target="rtl")))
    shelve([built for _, built in made])
    numbers = np.random.default_rng(0)
    for s, built in made:
        on_cpu = s.build()
        for _ in range(20):
            assert_in_hardware(s, built, *(numbers.integers(0, 8, 8).astype(np.int32) for _ in range(4)), on_cpu=on_cpu)


def overtaken(A: int32[8], K: int32[8], L: int32[8], V: int32[8], B: int32[8]):
    for i in range(8):
        A[L[i]] = V[i]
        A[i // 2] = A[K[7 - i]] + V[i]
        A[0] += B[K[7 - i]] * 3


def perhaps(A: int32[8], K: int32[8], L: int32[8], V: int32[8], B: int32[8]):
    for i in range(8):
        if K[i] == L[i]:
            A[i] = B[K[i]] * 3
        if A[i] > 3:
            A[K[i]] = V[i]


@pytest.mark.parametrize(("kernel", "interval"), [(overtaken, 1), (perhaps, 2)])
def test_registers_are_read_behind_writes_and_keep_the_last(kernel: Callable[..., None], interval: int) -> None:
    """Each was wrong once: two iterations that write at once, and a read in front of a write under a condition."""
    s = allo.customize(kernel)
    s.partition("A", dim=1)
    s.pipeline("i", initiation_interval=interval)
    built, on_cpu, numbers = s.build(target="rtl"), s.build(), np.random.default_rng(0)
    assert isinstance(built, RTLModule)
    for _ in range(20):
        assert_in_hardware(s, built, *(numbers.integers(0, 8, 8).astype(np.int32) for _ in range(5)), on_cpu=on_cpu)
    assert built.cycles < 2 * 8 * interval  # an iteration begins before the one before has written
