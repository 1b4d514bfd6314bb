"""Layers on batches of sequences (B, L, D): positions, modulation, repetition, joining."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import allo
from allo.customize import Schedule
from allo.ir.types import ConstExpr, index

from .demands import fractional, quotient
from .pipelines import pipelines


def RoPE[T, H: index, L: index, D: index](X: T[H, L, D], cos: T[L, D // 2], sin: T[L, D // 2]) -> T[H, L, D]:
    """Rotary embedding of positions: in each head, elements d and d + D / 2 of position l turn by one angle.

    `cos` and `sin` are those of l / 10000 ** (2 d / D). Source: Su et al., RoFormer, with the halves of LLaMA.
    """
    _checked: ConstExpr[index] = fractional(T, "RoPE")
    half: ConstExpr[index] = quotient(D, 2, "D")
    Z: T[H, L, D]
    for h, i, j in allo.grid(H, L, half, name="rotate"):
        low: T = X[h, i, j]
        high: T = X[h, i, j + half]
        Z[h, i, j] = low * cos[i, j] - high * sin[i, j]
        Z[h, i, j + half] = high * cos[i, j] + low * sin[i, j]
    return Z


def modulate_fused[T, B: index, L: index, D: index](X: T[B, L, D], shift: T[B, D], scale: T[B, D]) -> T[B, L, D]:
    """X * (1 + scale) + shift, with one scale and shift for all positions of a sequence (Peebles and Xie, DiT)."""
    Z: T[B, L, D]
    for b, i, j in allo.grid(B, L, D, name="modulate"):
        Z[b, i, j] = X[b, i, j] * (1 + scale[b, j]) + shift[b, j]
    return Z


def repeat_batch3d[T, B: index, L: index, D: index](X: T[1, L, D]) -> T[B, L, D]:
    """B copies of one sequence."""
    Z: T[B, L, D]
    for b, i, j in allo.grid(B, L, D, name="repeat"):
        Z[b, i, j] = X[0, i, j]
    return Z


def concat[T, B: index, L0: index, L1: index, D: index](X0: T[B, L0, D], X1: T[B, L1, D]) -> T[B, L0 + L1, D]:
    """The positions of X1 behind those of X0."""
    Z: T[B, L0 + L1, D]
    for b, i0, j0 in allo.grid(B, L0, D, name="first"):
        Z[b, i0, j0] = X0[b, i0, j0]
    for b1, i1, j1 in allo.grid(B, L1, D, name="second"):
        Z[b1, L0 + i1, j1] = X1[b1, i1, j1]
    return Z


def schedule_RoPE(s: Schedule, function: str = "") -> Schedule:
    """One pair of elements in each cycle."""
    return pipelines(s, function, "rotate.j")


def schedule_modulate_fused(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "modulate.j")


def schedule_repeat_batch3d(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "repeat.j")


def schedule_concat(s: Schedule, function: str = "") -> Schedule:
    """One element in each cycle."""
    return pipelines(s, function, "first.j0", "second.j1")
