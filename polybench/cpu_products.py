"""Products of matrices on one core of a CPU: passes over rows, for several terms and rows at once."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable

import allo
from allo.ir.types import AlloType, float32

from . import correlation, covariance, doitgen, gemm, symm, syr2k, syrk, three_mm, trmm, two_mm
from .benchmark import Design
from .lanes import divisor

ROWS, STEPS = 4, 5  # most rows of a result, and terms of its sums, in one pass


def by_rows(s: allo.Schedule, row: str, step: str, column: str, extents: tuple[int, int]) -> None:
    """Each pass over the columns adds several terms to several rows."""
    _, some = s.split(row, divisor(extents[0], ROWS))
    terms, few = s.split(step, divisor(extents[1], STEPS))
    s.reorder(terms, column, some, few)
    s.unroll(some)
    s.unroll(few)


def gemm_by_rows(s: allo.Schedule, size: str) -> None:
    """One product."""
    NI, _, NK = gemm.SIZES[size]
    by_rows(s, "i", "k", "j1", (NI, NK))


def two_by_rows(s: allo.Schedule, size: str) -> None:
    """Both products."""
    NI, NJ, NK, _ = two_mm.SIZES[size]
    by_rows(s, "product:i", "product:k", "product:j", (NI, NK))
    by_rows(s, "update:i", "update:k", "update:j", (NI, NJ))


def three_by_rows(s: allo.Schedule, size: str) -> None:
    """All three products."""
    NI, NJ, NK, _, NM = three_mm.SIZES[size]
    stages = (("product", (NI, NK)), ("product_1", (NJ, NM)), ("product_2", (NI, NJ)))
    for stage, extents in stages:
        by_rows(s, f"{stage}:i", f"{stage}:k", f"{stage}:j", extents)


def doitgen_by_rows(s: allo.Schedule, size: str) -> None:
    """Each pass over p adds several terms."""
    terms, few = s.split("s", divisor(doitgen.SIZES[size][2], STEPS))
    s.reorder(terms, "p", few)
    s.unroll(few)


def upper_by_rows(s: allo.Schedule, stage: str, observations: int) -> None:
    """Each pass over a row of the upper triangle adds several observations; those of a row come together."""
    s.reorder("means:i", "means:j")
    terms, few = s.split(f"{stage}:k", divisor(observations, STEPS))
    s.reorder(terms, f"{stage}:j", few)
    s.unroll(few)


def correlation_by_rows(s: allo.Schedule, size: str) -> None:
    """Statistics of all columns at once, then the product."""
    s.reorder("deviations:i", "deviations:j")
    upper_by_rows(s, "correlate", correlation.SIZES[size][1])


def covariance_by_rows(s: allo.Schedule, size: str) -> None:
    """Means of all columns at once, then the product."""
    upper_by_rows(s, "covary", covariance.SIZES[size][1])


def whole_symm(size: str, T: AlloType = float32) -> Callable[..., None]:
    """symm as the product with the whole symmetric matrix."""
    M, N = symm.SIZES[size]

    def symm_(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        whole: T[M, M]
        for r in range(M):
            for c in range(r + 1):
                whole[r, c] = alpha * A[r, c]
                whole[c, r] = alpha * A[r, c]
        for i in range(M):
            for j in range(N):
                C[i, j] *= beta
            for k in range(M):
                for j1 in range(N):
                    C[i, j1] += whole[i, k] * B[k, j1]

    return symm_


def symm_by_rows(s: allo.Schedule, size: str) -> None:
    """One product."""
    M, _ = symm.SIZES[size]
    by_rows(s, "i", "k", "j1", (M, M))


def trmm_by_rows(s: allo.Schedule, size: str) -> None:
    """Passes over rows of B; those of a triangle are taken together as the compiler sees fit."""
    s.reorder("k", "j")


def transposed_syrk(size: str, T: AlloType = float32) -> Callable[..., None]:
    """syrk by blocks of rows, with a copy of A whose rows are the columns."""
    M, N = syrk.SIZES[size]
    BLOCK = divisor(N, ROWS)

    def syrk_(alpha: T, beta: T, C: T[N, N], A: T[N, M]):
        columns: T[M, N]
        for r, c in allo.grid(N, M):
            columns[c, r] = A[r, c]
        for b in range(N // BLOCK):
            S: T[BLOCK, N] = 0
            for k in range(M):
                for j in range(BLOCK * b + BLOCK):
                    for i in range(BLOCK):
                        S[i, j] += alpha * A[BLOCK * b + i, k] * columns[k, j]
            for i1 in range(BLOCK):
                for j1 in range(BLOCK * b + i1 + 1):
                    C[BLOCK * b + i1, j1] = beta * C[BLOCK * b + i1, j1] + S[i1, j1]

    return syrk_


def syrk_by_rows(s: allo.Schedule, size: str) -> None:
    """Each pass over a row of columns adds several terms to a block of rows."""
    terms, few = s.split("k", divisor(syrk.SIZES[size][0], STEPS))
    s.reorder(terms, "j", "i", few)
    s.unroll("i")
    s.unroll(few)


def transposed_syr2k(size: str, T: AlloType = float32) -> Callable[..., None]:
    """syr2k by blocks of rows, with copies of A and B whose rows are the columns."""
    M, N = syr2k.SIZES[size]
    BLOCK = divisor(N, ROWS)

    def syr2k_(alpha: T, beta: T, C: T[N, N], A: T[N, M], B: T[N, M]):
        of_a: T[M, N]
        of_b: T[M, N]
        for r, c in allo.grid(N, M):
            of_a[c, r] = A[r, c]
            of_b[c, r] = B[r, c]
        for b in range(N // BLOCK):
            S: T[BLOCK, N] = 0
            for k in range(M):
                for j in range(BLOCK * b + BLOCK):
                    for i in range(BLOCK):
                        S[i, j] += of_a[k, j] * (alpha * B[BLOCK * b + i, k])
                        S[i, j] += of_b[k, j] * (alpha * A[BLOCK * b + i, k])
            for i1 in range(BLOCK):
                for j1 in range(BLOCK * b + i1 + 1):
                    C[BLOCK * b + i1, j1] = beta * C[BLOCK * b + i1, j1] + S[i1, j1]

    return syr2k_


def syr2k_by_rows(s: allo.Schedule, size: str) -> None:
    """As in syrk, with half as many terms."""
    terms, few = s.split("k", divisor(syr2k.SIZES[size][0], STEPS // 2))
    s.reorder(terms, "j", "i", few)
    s.unroll("i")
    s.unroll(few)


PRODUCTS = {
    "gemm": Design(gemm.kernel, gemm_by_rows),
    "two_mm": Design(two_mm.kernel, two_by_rows),
    "three_mm": Design(three_mm.kernel, three_by_rows),
    "doitgen": Design(doitgen.kernel, doitgen_by_rows),
    "correlation": Design(correlation.kernel, correlation_by_rows),
    "covariance": Design(covariance.kernel, covariance_by_rows),
    "symm": Design(whole_symm, symm_by_rows, reassociated=True),
    "trmm": Design(trmm.kernel, trmm_by_rows),
    "syrk": Design(transposed_syrk, syrk_by_rows, reassociated=True),
    "syr2k": Design(transposed_syr2k, syr2k_by_rows, reassociated=True),
}
