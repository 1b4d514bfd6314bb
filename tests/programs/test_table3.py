"""The five designs of Table 3 of the Allo paper, in no more lines of schedule than there."""


import numpy as np
import pytest

import allo
import polybench
from allo.ir.types import int32
from tests.work import calls_of

from .designs import assert_loops, assert_same_results, assert_steps_make_it_again, results

PUBLISHED_LINES = {"atax": 9, "correlation": 19, "jacobi_2d": 17, "symm": 15, "trmm": 12}
NAMES = list(PUBLISHED_LINES)


def design(name):
    return polybench.load(name).designs["table3"]


def inputs(name, size):
    """PolyBench's, but for jacobi-2d, where each point is the mean of its neighbours already."""
    arguments = polybench.load(name).arguments(size)
    if name == "jacobi_2d":
        random = np.random.default_rng(31)
        return tuple(random.random(array.shape, np.float32) for array in arguments)
    return arguments


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("name", NAMES)
def test_same_as_without_schedule(name, size):
    assert_same_results(design(name).customized(size), design(name).kernel(size), inputs(name, size))


@pytest.mark.parametrize("size", ["SMALL", pytest.param("MEDIUM", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_same_as_the_benchmark(name, size):
    """The stages compute what the kernel of the benchmark computes, as NumPy does it."""
    arguments = inputs(name, size)
    wanted = tuple(np.copy(argument) if np.ndim(argument) else argument for argument in arguments)
    polybench.load(name).reference(size, *wanted)
    for found, expected in zip(
        results(design(name).customized(size).build(), arguments), wanted, strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["atax", "symm", "trmm"])
def test_sums_of_integers_are_the_same(name):
    """Bit for bit what the kernel of the benchmark gives."""
    benchmark = polybench.load(name)
    random = np.random.default_rng(32)
    arguments = benchmark.arguments("SMALL", int32)
    arguments = [random.integers(-9, 9, a.shape, np.int32) if np.ndim(a) else 3 for a in arguments]
    if name == "trmm":
        np.fill_diagonal(arguments[1], 1)
    assert_same_results(design(name).customized("SMALL", int32), benchmark.kernel("SMALL", int32), arguments)


@pytest.mark.parametrize("size", ["MINI", "MEDIUM"])
@pytest.mark.parametrize("name", NAMES)
def test_steps_make_it_again(name, size):
    assert_steps_make_it_again(design(name).customized(size), design(name).kernel(size))


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_schedule(name):
    assert design(name).lines() <= PUBLISHED_LINES[name]


@pytest.mark.parametrize("name", NAMES)
def test_text_grows_with_the_program_only(name):
    """It has twice the lines at most, as a large design has lanes for rows, too, and trees of more levels."""
    small, large = (design(name).customized(size).pseudocode() for size in ("MINI", "EXTRALARGE"))
    assert large.count("\n") <= 2 * small.count("\n")


@pytest.mark.parametrize("name", NAMES)
def test_extents_do_not_change_the_work(name):
    """The calls for a step; `python -m benchmarks.primitives` has milliseconds."""
    calls = {}
    for size in ("MEDIUM", "EXTRALARGE"):
        steps = design(name).customized(size).steps
        s = allo.customize(design(name).kernel(size))
        calls[size] = calls_of(lambda s=s, steps=steps: s.replay(steps)) / len(steps)
    assert calls["EXTRALARGE"] <= 1.3 * calls["MEDIUM"]


def test_loops_of_atax() -> None:
    assert_loops(
        design("atax").customized("MEDIUM"),
        """
        atax
          S_jo_0:
            jo
              i.outer  (pipeline=1)
                i.inner
                  c
                  pair
          S_io_0:
            io
              j.outer  (pipeline=1)
                j.inner
                  r
                  pair
                  pair_1
                  pair_2
                  pair_3
                  pair_4
                  pair_5
        """,
    )


def test_loops_of_correlation() -> None:
    """Means, deviations (each with a division of few elements), standardised data, products, diagonal."""
    assert_loops(
        design("correlation").customized("MEDIUM"),
        """
        correlation
          S_io_0:
            io
              j.outer  (pipeline=1)
                j.inner
                  r
                  pair
                  pair_1
                  pair_2
                  pair_3
          S_j1_1:
            j1.outer  (pipeline=1)
              j1.inner
          S_io_0_1:
            io
              j.outer  (pipeline=1)
                j.inner
                  r
                  pair
                  pair_1
                  pair_2
                  pair_3
          S_j1_1_1:
            j1.outer  (pipeline=1)
              j1.inner
          S_io_0_2:
            io
              j.outer  (pipeline=1)
                j.inner
                  r
          S_i_j_0_1:
            i.outer
              j.outer  (pipeline=1)
                i.inner
                  j.inner
          S_i_j_0:
            k.outer
              i.outer
                j.outer  (pipeline=1)
                  i.inner
                    j.inner
                      k.inner
          S_j_0:
            j.outer  (pipeline=1)
              j.inner
        """,
    )


def test_loops_of_jacobi_2d() -> None:
    assert_loops(
        design("jacobi_2d").customized("MEDIUM"),
        """
        jacobi_2d
          S_t_0:
            t
              i.outer  (pipeline=1)
                j_fill
                  i.outer_shift
                i.inner
                  j
              p.outer  (pipeline=1)
                q_fill
                  p.outer_shift
                p.inner
                  q
        """,
    )


def test_loops_of_symm() -> None:
    assert_loops(
        design("symm").customized("MEDIUM"),
        """
        symm
          S_i_j_0_1:
            i.outer
              j.outer  (pipeline=1)
                i.inner
                  j.inner
          S_i_j_0:
            k
              i.outer
                j.outer  (pipeline=1)
                  i.inner
                    j.inner
          S_i_j_0_2:
            i.outer
              j.outer  (pipeline=1)
                i.inner
                  j.inner
        """,
    )


def test_loops_of_trmm() -> None:
    assert_loops(
        design("trmm").customized("MEDIUM"),
        """
        trmm
          S_b_0:
            b
              i0
                j0.outer  (pipeline=1)
                  j0.inner
              k
                i
                  j.outer  (pipeline=1)
                    j.inner
              i1
                j1.outer  (pipeline=1)
                  j1.inner
        """,
    )


def test_jacobi_2d_reads_each_row_once() -> None:
    s = design("jacobi_2d").customized("MEDIUM")
    text = s.ir.function("jacobi_2d").operation.get_asm(use_local_scope=True)
    assert text.count("affine.load %arg0[") == 1 and text.count("affine.load %arg1[") == 1


def test_divisor_leaves_no_tail() -> None:
    assert [polybench.lanes.divisor(extent, 41) for extent in (124, 410, 43, 1)] == [31, 41, 1, 1]
