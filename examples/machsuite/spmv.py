"""Products of a sparse matrix and a vector: compressed rows, and rows filled up to one length."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index, int32

ROWS, NONZEROS = 494, 1666


def compressed[N: index, Z: index](
    values: float64[Z], columns: int32[Z], starts: int32[N + 1], x: float64[N], y: float64[N]
):
    """Row i has the entries from starts[i] on below starts[i + 1]."""
    for i in range(N):
        total: float64 = 0.0
        for entry in range(starts[i], starts[i + 1]):
            total += values[entry] * x[columns[entry]]
        y[i] = total


def ellpack[N: index, L: index](values: float64[N, L], columns: int32[N, L], x: float64[N], y: float64[N]):
    """Each row has L entries, some of which are zero."""
    for i in range(N):
        total: float64 = 0.0
        for k in range(L):
            total += values[i, k] * x[columns[i, k]]
        y[i] = total


def problem(rows: int, nonzeros: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with `nonzeros` random entries, and a vector."""
    generator = np.random.default_rng(10)
    matrix = np.zeros(rows * rows)
    matrix[generator.choice(rows * rows, nonzeros, replace=False)] = generator.uniform(0.5, 1.5, nonzeros)
    return matrix.reshape(rows, rows), generator.standard_normal(rows)


def check_compressed(rows: int = ROWS, nonzeros: int = NONZEROS) -> None:
    matrix, x = problem(rows, nonzeros)
    row, column = np.nonzero(matrix)
    starts = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
    y = np.zeros(rows)
    module = allo.customize(compressed, instantiate=[rows, nonzeros]).build()
    module(matrix[row, column], column.astype(np.int32), starts, x, y)
    np.testing.assert_allclose(y, matrix @ x, atol=1e-12)


def check_ellpack(rows: int = ROWS, nonzeros: int = NONZEROS) -> None:
    matrix, x = problem(rows, nonzeros)
    length = int((matrix != 0).sum(axis=1).max())
    columns = np.argsort(matrix == 0, axis=1, kind="stable")[:, :length].astype(np.int32)
    y = np.zeros(rows)
    module = allo.customize(ellpack, instantiate=[rows, length]).build()
    module(np.take_along_axis(matrix, columns, axis=1), columns, x, y)
    np.testing.assert_allclose(y, matrix @ x, atol=1e-12)


def main() -> None:
    check_compressed()
    check_ellpack()
    print(f"spmv: {ROWS} rows with {NONZEROS} entries, in both formats, agree with NumPy")


if __name__ == "__main__":
    main()
