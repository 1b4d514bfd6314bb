"""Estimates against published numbers, and the table of docs/estimator-details.md against what makes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import allo
import polybench
from allo.ir.types import float32
from benchmarks import estimate as comparison
from benchmarks.published import DESIGNS
from examples import transformer
from tests.seeds import rotating, sampled
from tests.work import calls_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "estimator-details.md"


def section(name: str) -> str:
    """What stands on the page between the marks of a table."""
    match = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return match[1]


@pytest.mark.slow
def test_the_page_has_the_table_of_errors() -> None:
    """`python benchmarks/estimate.py` makes it."""
    assert section("error table") == comparison.markdown()


def test_the_constants_explain_the_rows_they_were_fitted_to() -> None:
    rows = [row for row in comparison.rows() if row.fitted]
    assert len(rows) == 6
    assert max(abs(row.error) for row in rows) < 0.1


def test_all_rows_are_within_two_percent() -> None:
    assert max(abs(row.error) for row in comparison.rows()) < 2


def test_the_same_designs_without_rules_are_not() -> None:
    """What the profile is for: 3mm runs nests at once, and bicg of Allo has sums of 4 cycles in two nests at once."""
    assert allo.estimate(comparison.vanilla("three_mm"), auto_pipeline=True).cycles == 160_832_006
    design = next(design for design in DESIGNS if (design.kernel, design.tool) == ("bicg", "Allo"))
    assert (design.cycles, allo.estimate(design.make()).cycles) == (1_651, 5_630)


def speedup(first: allo.Estimate, second: allo.Estimate) -> float:
    assert first.milliseconds is not None and second.milliseconds is not None
    return first.milliseconds / second.milliseconds


def test_the_gemm_of_figure_2() -> None:
    """Vanilla 25,074 ms; inner product II 128, 17,950 ms at 240 MHz; row-wise product II 1, 112 ms: 223 times."""
    vanilla = allo.estimate(allo.customize(comparison.scalar_gemm), auto_pipeline=True)
    inner = allo.estimate(comparison.inner_product(), frequency=240)
    rows = allo.estimate(comparison.row_wise())
    assert vanilla.milliseconds == pytest.approx(25_074, rel=0.01)
    assert inner.milliseconds == pytest.approx(17_950, rel=0.02)
    assert rows.milliseconds == pytest.approx(112, rel=0.01)
    assert (inner.interval, rows.interval) == (130, 1)
    assert speedup(vanilla, rows) == pytest.approx(223, rel=0.01)


def test_why_the_inner_product_is_slow() -> None:
    loop = allo.estimate(comparison.inner_product(), frequency=240).loop("k.outer")
    assert str(loop.reason) == "recurrence through C: 1 read + 32 x 4 add + 1 write over distance 1"


def distances(length: int) -> Callable[..., None]:
    """The row-wise product with rows of `length` sums: each is updated again after `length` iterations."""
    def rows(A: float32[16, 16], B: float32[16, length], C: float32[length]):
        for k in range(16):
            for j in range(length):
                C[j] += A[0, k] * B[k, j]

    return rows


@pytest.mark.parametrize(("length", "interval"), [(1, 8), (2, 4), (3, 3), (4, 2), (7, 2), (8, 1)])
def test_rows_long_enough_hide_the_adder(length: int, interval: int) -> None:
    s = allo.customize(distances(length))
    s.bind("C", allo.Memory(resource="BRAM"))
    s.pipeline("j")
    loop = allo.estimate(s).loop("j")
    assert loop.interval == interval
    if interval > 1:
        words = f"recurrence through C: 1 read + 6 add + 1 write over distance {length}"
        assert str(loop.reason) == words


def work(s: allo.Schedule) -> int:
    """The calls of an estimate."""
    allo.estimate(s, auto_pipeline=True)  # the file of the target is read once
    return calls_of(lambda: allo.estimate(s, auto_pipeline=True))


@pytest.mark.parametrize("name", sampled(polybench.NAMES))
def test_extents_do_not_change_the_work(name: str) -> None:
    """Up to 8000 times as many iterations; of the divisions that advice looks at, some exist for some extents only."""
    small, large = (work(allo.customize(polybench.load(name).kernel(size))) for size in ("MINI", "LARGE"))
    assert 0 < large <= 1.3 * small


def test_copies_do_not_change_the_work() -> None:
    def unrolled(factor: int) -> allo.Schedule:
        def scaled(A: float32[4096], B: float32[4096]):
            for i in range(4096):
                B[i] = 2.0 * A[i]

        s = allo.customize(scaled)
        s.pipeline(s.split("i", factor)[0])
        s.partition("A", factor=factor)
        s.partition("B", factor=factor)
        return s

    assert work(unrolled(1024)) == work(unrolled(16))


@pytest.mark.parametrize("name", rotating(polybench.NAMES, 4, slow=True))
def test_the_work_for_the_designs_of_polybench(name: str) -> None:
    """Vanilla kernels of the suite take 2,300 to 29,000 calls; their designs are no more than three of them."""
    assert max(work(design.customized("MEDIUM")) for design in polybench.load(name).designs.values()) < 80_000


@pytest.mark.slow
def test_a_transformer_block() -> None:
    s = transformer.schedule_block()
    found = allo.estimate(s)
    assert found.cycles is not None and not found.notes
    assert work(s) < 100_000
