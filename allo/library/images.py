"""Layers on images (B, C, H, W): convolution, pooling, batch normalisation."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import allo
from allo.customize import Schedule
from allo.ir.types import ConstExpr, index

from .demands import fractional, lowest, pool_count, sum_type, window_count
from .pipelines import pipelines


def conv2d[
    T,
    B: index,
    Cin: index,
    Cout: index,
    H: index,
    W: index,
    Kh: index,
    Kw: index,
    Oh: index,
    Ow: index,
    S0: index,
    S1: index,
    Pd0: index,
    Pd1: index,
](inp: T[B, Cin, H, W], kernel: T[Cout, Cin, Kh, Kw], bias: T[Cout]) -> T[B, Cout, Oh, Ow]:
    """The convolution of images with filters of Kh x Kw, with strides S0 and S1 and borders of Pd0 and Pd1 zeros."""
    rows: ConstExpr[index] = window_count(H, Kh, S0, Pd0, Oh, "Oh")
    columns: ConstExpr[index] = window_count(W, Kw, S1, Pd1, Ow, "Ow")
    Z: T[B, Cout, Oh, Ow]
    for b, o, y, x in allo.grid(B, Cout, rows, columns, name="window"):
        total: T = bias[o]
        for c, p, q in allo.reduction(Cin, Kh, Kw, name="taps"):
            with allo.meta_if(Pd0 == 0 and Pd1 == 0):
                total += inp[b, c, y * S0 + p, x * S1 + q] * kernel[o, c, p, q]
            with allo.meta_else():
                if 0 <= y * S0 + p - Pd0 < H and 0 <= x * S1 + q - Pd1 < W:
                    total += inp[b, c, y * S0 + p - Pd0, x * S1 + q - Pd1] * kernel[o, c, p, q]
        Z[b, o, y, x] = total
    return Z


def maxpool2d[T, B: index, C: index, H: index, W: index, K: index, OH: index, OW: index, S: index, Pd: index](
    inp: T[B, C, H, W],
) -> T[B, C, OH, OW]:
    """The maximum of each window of K x K with stride S; what lies in the border of Pd elements does not count."""
    rows: ConstExpr[index] = pool_count(H, K, S, Pd, OH, "OH")
    columns: ConstExpr[index] = pool_count(W, K, S, Pd, OW, "OW")
    least: ConstExpr[T] = lowest(T)
    Z: T[B, C, OH, OW]
    for b, c, y, x in allo.grid(B, C, rows, columns, name="window"):
        largest: T = least
        for p, q in allo.reduction(K, K, name="taps"):
            with allo.meta_if(Pd == 0):
                largest = max(largest, inp[b, c, y * S + p, x * S + q])
            with allo.meta_else():
                if 0 <= y * S + p - Pd < H and 0 <= x * S + q - Pd < W:
                    largest = max(largest, inp[b, c, y * S + p - Pd, x * S + q - Pd])
        Z[b, c, y, x] = largest
    return Z


def avgpool2d[T, B: index, C: index, H: index, W: index, K: index, OH: index, OW: index, S: index, Pd: index](
    inp: T[B, C, H, W],
) -> T[B, C, OH, OW]:
    """The mean of each window of K x K with stride S, where the border of Pd elements counts as zeros.

    Means of integers are cut off toward zero.
    """
    rows: ConstExpr[index] = pool_count(H, K, S, Pd, OH, "OH")
    columns: ConstExpr[index] = pool_count(W, K, S, Pd, OW, "OW")
    Z: T[B, C, OH, OW]
    for b, c, y, x in allo.grid(B, C, rows, columns, name="window"):
        total: sum_type(T, K * K) = 0
        for p, q in allo.reduction(K, K, name="taps"):
            with allo.meta_if(Pd == 0):
                total += inp[b, c, y * S + p, x * S + q]
            with allo.meta_else():
                if 0 <= y * S + p - Pd < H and 0 <= x * S + q - Pd < W:
                    total += inp[b, c, y * S + p - Pd, x * S + q - Pd]
        Z[b, c, y, x] = total / (K * K)
    return Z


def batchnorm1d[T, B: index, C: index](
    X: T[B, C], gamma: T[C], beta: T[C], eps: T, running_mean: T[C], running_var: T[C]
) -> T[B, C]:
    """(X - mean) / sqrt(variance + eps) * gamma + beta with the given statistics of each channel."""
    _checked: ConstExpr[index] = fractional(T, "batchnorm1d")
    scale: T[C]
    for ch in range(C, name="scale"):
        scale[ch] = gamma[ch] / allo.sqrt(running_var[ch] + eps)
    Z: T[B, C]
    for b, c in allo.grid(B, C, name="normalise"):
        Z[b, c] = (X[b, c] - running_mean[c]) * scale[c] + beta[c]
    return Z


def batchnorm3d[T, B: index, C: index, D: index, H: index, W: index](
    X: T[B, C, D, H, W], gamma: T[C], beta: T[C], eps: T, running_mean: T[C], running_var: T[C]
) -> T[B, C, D, H, W]:
    """(X - mean) / sqrt(variance + eps) * gamma + beta with the given statistics of each channel."""
    _checked: ConstExpr[index] = fractional(T, "batchnorm3d")
    scale: T[C]
    for ch in range(C, name="scale"):
        scale[ch] = gamma[ch] / allo.sqrt(running_var[ch] + eps)
    Z: T[B, C, D, H, W]
    for b, c, z, y, x in allo.grid(B, C, D, H, W, name="normalise"):
        Z[b, c, z, y, x] = (X[b, c, z, y, x] - running_mean[c]) * scale[c] + beta[c]
    return Z


def batchnorm2d[T, B: index, C: index, H: index, W: index](
    X: T[B, C, H, W], gamma: T[C], beta: T[C], eps: T, running_mean: T[C], running_var: T[C]
) -> T[B, C, H, W]:
    """(X - mean) / sqrt(variance + eps) * gamma + beta with the given statistics of each channel."""
    _checked: ConstExpr[index] = fractional(T, "batchnorm2d")
    scale: T[C]
    for ch in range(C, name="scale"):
        scale[ch] = gamma[ch] / allo.sqrt(running_var[ch] + eps)
    Z: T[B, C, H, W]
    for b, c, y, x in allo.grid(B, C, H, W, name="normalise"):
        Z[b, c, y, x] = (X[b, c, y, x] - running_mean[c]) * scale[c] + beta[c]
    return Z


def schedule_conv2d(s: Schedule, function: str = "") -> Schedule:
    """The taps of one channel at once, a channel in each cycle."""
    name = function or s.top_func_name
    s.unroll(f"{name}:taps.p")
    s.unroll(f"{name}:taps.q")
    s.pipeline(f"{name}:taps.c")
    for dimension in (3, 4):
        s.partition(f"{name}:kernel", dim=dimension)
    return s


def schedule_conv2d_with_reuse(s: Schedule, function: str = "") -> Schedule:
    """As `schedule_conv2d`, behind line and window buffers, so that each element of the image is read once a filter.

    Raises ScheduleError if windows do not overlap.
    """
    name = function or s.top_func_name
    lines = s.reuse_at(f"{name}:inp", f"{name}:window.y", strict=True)
    window = s.reuse_at(lines, f"{name}:window.x", strict=True)
    schedule_conv2d(s, name)
    s.partition(lines, dim=2)
    s.partition(window, dim=2)
    s.partition(window, dim=3)
    return s


def schedule_maxpool2d(s: Schedule, function: str = "") -> Schedule:
    """One window in each cycle."""
    return _windows_in_a_pipeline(s, function)


def schedule_avgpool2d(s: Schedule, function: str = "") -> Schedule:
    """One window in each cycle."""
    return _windows_in_a_pipeline(s, function)


def _windows_in_a_pipeline(s: Schedule, function: str) -> Schedule:
    name = function or s.top_func_name
    s.unroll(f"{name}:taps.p")
    s.unroll(f"{name}:taps.q")
    s.pipeline(f"{name}:window.x")
    return s


def schedule_batchnorm1d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "scale.ch", "normalise.c")


def schedule_batchnorm3d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "scale.ch", "normalise.x")


def schedule_batchnorm2d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "scale.ch", "normalise.x")
