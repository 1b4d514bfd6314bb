"""Long sums and long chains of `elif`: as deep as programs are written, at every door, with Python's limit as it is."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo


def kernel_of(folder: Path, body: str) -> Any:
    file = folder / "kernel.py"
    file.write_text(f"from allo.ir.types import float32, int32\n{body}")
    spec = importlib.util.spec_from_file_location("kernel", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def sum_of(terms: int) -> str:
    return f"def kernel(A: float32[8]) -> float32:\n    return {' + '.join(f'A[{n % 8}]' for n in range(terms))}\n"


def chain_of(branches: int) -> str:
    rest = "".join(f"    elif a == {n}:\n        r = {3 * n}\n" for n in range(1, branches))
    return f"def kernel(a: int32) -> int32:\n    r: int32 = -1\n    if a == 0:\n        r = 1\n{rest}    return r\n"


def read_everywhere(s: allo.Schedule) -> None:
    assert s.pseudocode() and s.build(target="vhls").hls_code
    assert str(allo.estimate(s, "u280"))


@pytest.mark.slow
def test_a_sum_of_1500_terms(tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    kernel = kernel_of(tmp_path, sum_of(1500))
    s, A = allo.customize(kernel), np.arange(8, dtype=np.float32)
    assert s.build()(A) == allo.interpret(kernel)(A) == 5242
    read_everywhere(s)
    assert sys.getrecursionlimit() == limit


@pytest.mark.slow
def test_long_sums_are_compared(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, sum_of(1500))
    assert allo.verify(allo.customize(kernel), kernel)


@pytest.mark.slow
def test_299_branches(tmp_path: Path) -> None:
    s = allo.customize(kernel_of(tmp_path, chain_of(299)))
    built = s.build()
    assert [built(a) for a in (0, 7, 298, 299)] == [1, 21, 894, -1]
    read_everywhere(s)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (sum_of(5100), 3, "the expression nests more than 5000 operators"),
        (chain_of(1100), 2001, "blocks are nested more than 1000 deep"),
    ],
)
def test_more_is_refused_at_its_line(tmp_path: Path, body: str, line: int, message: str) -> None:
    with pytest.raises(allo.KernelError, match=message) as caught:
        allo.customize(kernel_of(tmp_path, body))
    place = caught.value.diagnostics[0].at
    assert place is not None and place.line == line
