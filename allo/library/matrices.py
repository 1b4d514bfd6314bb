"""Layers of neural networks on matrices.

A layer here takes and gives one row after the other, each element once, so that the result of one can be relayed to
the next. Parameters are laid out as in PyTorch; sums have the element type of the layer.
"""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import allo
from allo.customize import Partition, Schedule
from allo.ir.types import ConstExpr, index

from .demands import fractional
from .pipelines import pipelines


def linear2d[TyX, TyW, TyO, M: index, N: index, K: index](
    X: TyX[M, K], W: TyW[N, K], b: TyO[N]
) -> TyO[M, N]:
    """X @ W.T + b. Each element of X meets a column of W, so that no sum waits for its last addition."""
    Z: TyO[M, N]
    for i in range(M, name="row"):
        sums: TyO[N]
        for j_start in range(N, name="start"):
            sums[j_start] = b[j_start]
        for k in range(K, name="product"):
            x: TyX = X[i, k]
            for j in range(N):
                sums[j] += x * W[j, k]
        for j_end in range(N, name="end"):
            Z[i, j_end] = sums[j_end]
    return Z


def linear3d[T, B: index, L: index, D: index, M: index](X: T[B, L, D], W: T[M, D], b: T[M]) -> T[B, L, M]:
    """X @ W.T + b for each matrix of X."""
    Z: T[B, L, M]
    for n, i in allo.grid(B, L, name="row"):
        sums: T[M]
        for j_start in range(M, name="start"):
            sums[j_start] = b[j_start]
        for k in range(D, name="product"):
            x: T = X[n, i, k]
            for j in range(M):
                sums[j] += x * W[j, k]
        for j_end in range(M, name="end"):
            Z[n, i, j_end] = sums[j_end]
    return Z


def relu2d[T, H: index, W: index](X: T[H, W]) -> T[H, W]:
    """The larger of x and 0."""
    Z: T[H, W]
    for h, w in allo.grid(H, W, name="relu"):
        Z[h, w] = max(X[h, w], 0)
    return Z


def relu3d[T, B: index, L: index, D: index](X: T[B, L, D]) -> T[B, L, D]:
    """The larger of x and 0."""
    Z: T[B, L, D]
    for b, i, j in allo.grid(B, L, D, name="relu"):
        Z[b, i, j] = max(X[b, i, j], 0)
    return Z


def relu4d[T, N: index, C: index, H: index, W: index](X: T[N, C, H, W]) -> T[N, C, H, W]:
    """The larger of x and 0."""
    Z: T[N, C, H, W]
    for n, c, h, w in allo.grid(N, C, H, W, name="relu"):
        Z[n, c, h, w] = max(X[n, c, h, w], 0)
    return Z


def residual_add[T, L: index, D: index](X1: T[L, D], X2: T[L, D]) -> T[L, D]:
    """X1 + X2."""
    Z: T[L, D]
    for i, j in allo.grid(L, D, name="add"):
        Z[i, j] = X1[i, j] + X2[i, j]
    return Z


def GeLU[T, L: index, D: index](X: T[L, D]) -> T[L, D]:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))."""
    _checked: ConstExpr[index] = fractional(T, "GeLU")
    Z: T[L, D]
    for i, j in allo.grid(L, D, name="gelu"):
        x: T = X[i, j]
        Z[i, j] = 0.5 * x * (1.0 + allo.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return Z


def softmax2d[T, M: index, N: index](X: T[M, N]) -> T[M, N]:
    """exp(x - m) / sum(exp(x - m)) along rows, where m is the maximum of the row."""
    _checked: ConstExpr[index] = fractional(T, "softmax2d")
    Z: T[M, N]
    for i in range(M, name="row"):
        values: T[N]
        largest: T = 0
        for j_max in range(N, name="largest"):
            x: T = X[i, j_max]
            values[j_max] = x
            if j_max == 0 or x > largest:
                largest = x
        total: T = 0
        for j_exp in range(N, name="exponentials"):
            e: T = allo.exp(values[j_exp] - largest)
            values[j_exp] = e
            total += e
        for j in range(N, name="quotients"):
            Z[i, j] = values[j] / total
    return Z


def log_softmax[T, M: index, N: index](X: T[M, N]) -> T[M, N]:
    """x - m - log(sum(exp(x - m))) along rows, where m is the maximum of the row."""
    _checked: ConstExpr[index] = fractional(T, "log_softmax")
    Z: T[M, N]
    for i in range(M, name="row"):
        values: T[N]
        largest: T = 0
        for j_max in range(N, name="largest"):
            x: T = X[i, j_max]
            values[j_max] = x
            if j_max == 0 or x > largest:
                largest = x
        total: T = 0
        for j_exp in range(N, name="exponentials"):
            total += allo.exp(values[j_exp] - largest)
        shift: T = largest + allo.log(total)
        for j in range(N, name="differences"):
            Z[i, j] = values[j] - shift
    return Z


def softmax[T, L: index](X: T[L, L]) -> T[L, L]:
    """The `softmax2d` of a square matrix."""
    return softmax2d[T, L, L](X)


def layer_norm[T, L: index, D: index](X: T[L, D], gamma: T[D], beta: T[D]) -> T[L, D]:
    """(x - mean) / sqrt(variance + 1e-5) * gamma + beta along rows."""
    _checked: ConstExpr[index] = fractional(T, "layer_norm")
    Z: T[L, D]
    for i in range(L, name="row"):
        values: T[D]
        total: T = 0
        for j_sum in range(D, name="mean"):
            x: T = X[i, j_sum]
            values[j_sum] = x
            total += x
        mean: T = total / D
        spread: T = 0
        for j_var in range(D, name="variance"):
            distance: T = values[j_var] - mean
            spread += distance * distance
        scale: T = 1.0 / allo.sqrt(spread / D + 1e-5)
        for j in range(D, name="normalise"):
            Z[i, j] = (values[j] - mean) * scale * gamma[j] + beta[j]
    return Z


def schedule_linear2d(s: Schedule, function: str = "", lanes: int = 1) -> Schedule:
    """`lanes` products in each cycle; `lanes` divides N."""
    return _linear(s, function or s.top_func_name, lanes)


def schedule_linear3d(s: Schedule, function: str = "", lanes: int = 1) -> Schedule:
    """`lanes` products in each cycle; `lanes` divides M."""
    return _linear(s, function or s.top_func_name, lanes)


def _linear(s: Schedule, name: str, lanes: int) -> Schedule:
    inner = f"{name}:product.j"
    if lanes > 1:
        inner, lane = s.split(inner, lanes)
        s.unroll(lane)
        s.partition(f"{name}:sums", partition_type=Partition.Cyclic, dim=1, factor=lanes)
        s.partition(f"{name}:W", partition_type=Partition.Cyclic, dim=1, factor=lanes)
    s.pipeline(inner)
    return pipelines(s, name, "start.j_start", "end.j_end")


def schedule_relu2d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "relu.w")


def schedule_relu3d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "relu.j")


def schedule_relu4d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "relu.w")


def schedule_residual_add(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "add.j")


def schedule_GeLU(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "gelu.j")


def schedule_softmax2d(s: Schedule, function: str = "") -> Schedule:
    """Three passes over a row, one element in each cycle."""
    return pipelines(s, function, "largest.j_max", "exponentials.j_exp", "quotients.j")


def schedule_log_softmax(s: Schedule, function: str = "") -> Schedule:
    """Three passes over a row, one element in each cycle."""
    return pipelines(s, function, "largest.j_max", "exponentials.j_exp", "differences.j")


def schedule_softmax(s: Schedule) -> Schedule:
    """As `schedule_softmax2d`."""
    return schedule_softmax2d(s, "softmax2d")


def schedule_layer_norm(s: Schedule, function: str = "") -> Schedule:
    """Three passes over a row, one element in each cycle."""
    return pipelines(s, function, "mean.j_sum", "variance.j_var", "normalise.j")
