"""Stencils in place whose time steps are all under way at once: what they do not change is copied through all steps."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from allo import customize
from allo.ir.types import float32, int32, uint8, uint32
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import load

from .programs import mutant

T, N = 3000, 5000


def in_place(A: float32[N]):
    for _ in range(T):
        for i in range(1, N - 1):
            A[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0


def overlapped(A: float32[N]):
    """Step t is at element start - t - 1, between the new value on its left and the old one on its right."""
    line: float32[T + 1]
    west: float32[T]
    here: float32[T]
    for start in range(N + T):
        if start < N:
            line[0] = A[start]
        for t in range(T):
            east: float32 = 0.0
            if start - t < N:
                east = line[t]
            centre: float32 = here[t]
            point: float32 = centre
            if start - t > 1 and start - t < N:
                point = (centre + east + west[t]) / 3.0
            line[t + 1] = point
            west[t] = point
            here[t] = east
        if start >= T:
            A[start - T] = line[T]


def test_copies_through_all_steps() -> None:
    kernel, design = load(customize(in_place)), load(customize(overlapped))
    assert isinstance(prove(kernel, design, reassociate=True), Proof)
    assert not isinstance(prove(kernel, mutant(design, f"%alloc[{T}]", f"%alloc[{T - 1}]"), reassociate=True), Proof)


def handed_on(X: uint32[2], Z: int32[1], B: uint8[1]):
    word: uint32 = X[0] if Z[0] > 0 else X[1]
    steps: uint8[20]
    steps[0] = word[0:8]
    for i in range(19):
        steps[i + 1] = steps[i]
    B[0] = steps[19]


def taken(X: uint32[2], Z: int32[1], B: uint8[1]):
    word: uint32 = X[0] if Z[0] > 0 else X[1]
    B[0] = word[0:8]


def other_bits(X: uint32[2], Z: int32[1], B: uint8[1]):
    word: uint32 = X[0] if Z[0] > 0 else X[1]
    B[0] = word[8:16]


def test_bits_of_a_choice_are_copied_through_all_steps() -> None:
    """The choice depends on data, and its bits are no value of the program: it is not known where they are computed."""
    copied, once, others = (load(customize(kernel)) for kernel in (handed_on, taken, other_bits))
    for left, right in ((copied, once), (once, copied)):
        proof = prove(left, right)
        assert isinstance(proof, Proof)
        assert problems(proof.to_json(), left, right) == ""
    assert not isinstance(prove(copied, others), Proof)
