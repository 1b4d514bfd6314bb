"""The input of cholesky, lu and ludcmp: a symmetric positive definite matrix with a known factor."""

from typing import Any

import numpy as np

from allo.ir.types import AlloType


def positive_definite(n: int, T: AlloType) -> Any:
    """L L^T, where L is lower triangular with ones on its diagonal and 1 - j / n in column j below it."""
    row, column = np.ogrid[:n, :n]
    factor = np.where(column < row, 1 - column / n, 0) + np.eye(n)
    return T[n, n](factor @ factor.T)


def cholesky_factor(A: Any) -> Any:
    """The lower triangular L of A = L L^T, in float64."""
    return np.linalg.cholesky(A.astype(np.float64))


def lu_factors(A: Any) -> tuple[Any, Any]:
    """The unit lower triangular L and the upper triangular U of A = L U for a symmetric positive definite A."""
    factor = cholesky_factor(A)
    diagonal = np.diag(factor)
    return factor / diagonal, diagonal[:, None] * factor.T
