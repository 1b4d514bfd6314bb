"""interleave_sums: an addition need not wait for the last one, and each sum is added up in the same order."""

# ruff: noqa: F821 - kernels declare arrays without a value

import re
from pathlib import Path

import allo
from allo import customize
from allo.ir.types import float32, int32

from .checks import assert_faithful, assert_refused

MODELS = Path(__file__).parents[1] / "importers" / "models"


def layers(
    X: float32[6, 6, 3], F: float32[8, 3, 3, 3], W: float32[16, 16], P: float32[4, 4], R: float32[16], Y: float32[4, 16]
):
    image: float32[6, 6, 3]
    for h, w, c in allo.grid(6, 6, 3, name="copy"):
        image[h, w, c] = X[h, w, c]
    filtered: float32[8, 4, 4]
    for f, h, w in allo.grid(8, 4, 4, name="zeros"):
        filtered[f, h, w] = 0.0
    for f, h, w, c, kh, kw in allo.grid(8, 4, 4, 3, 3, 3, name="conv"):
        filtered[f, h, w] += image[h + kh, w + kw, c] * F[f, c, kh, kw]
    for h, w, f, kh, kw in allo.grid(2, 2, 8, 2, 2, name="pool"):
        P[h, w] = max(P[h, w], filtered[f, 2 * h + kh, 2 * w + kw])
    for i, j, k in allo.grid(4, 16, 16, name="product"):
        Y[i, j] += P[i, k // 4] * W[k, j]
    for i, j in allo.grid(4, 16, name="rows"):
        R[i] += Y[i, j]
    for i, k, j in allo.grid(4, 16, 16, name="done"):
        Y[i, j] += W[i, k] * W[k, j]


def test_golden() -> None:
    s = customize(layers)
    assert str(s.interleave_sums("layers")) == FOUND
    orders = dict(re.findall(r's\.(\w+)\("layers", (.*)\)', str(s.steps)))
    assert orders == {"interleave_sums": 'loops=["layers:conv.f", "layers:product.j"]'}
    assert s.interleave_sums("layers", loops=["layers:product.j"]) is None
    assert_faithful(layers, s)
    assert allo.verify(customize(layers), s)


FOUND = """\
2 of 5 nests with sums interleave them
nest     sums along  inside  why not
-------  ----------  ------  ---------------------------------------------------------------------
conv     c, kh, kw   f
pool     f, kh, kw           it has no windows, and each loop around its sums changes all operands
product  k           j
rows     j                   it has no windows, and each loop around its sums changes all operands
done     k                   a loop is inside of its sums already"""


def test_converters_stay_small() -> None:
    """First values of sums come in the order of the sums, so that no image waits for them."""
    bits = []
    for interleaved in (False, True):
        s = customize(allo.from_pt2(MODELS / "vgg.pt2"), lower_linalg=True)
        if interleaved:
            s.interleave_sums("vgg")
        bits.append(s.fuse_streams("vgg").after)
    assert bits[1] < bits[0]


def test_first_addition_does_not_wait() -> None:
    def product(A: float32[4, 32], B: float32[32, 32], C: float32[4, 32]):
        for i, j, k in allo.grid(4, 32, 32):
            C[i, j] += A[i, k] * B[k, j]

    cycles = []
    for interleaved in (False, True):
        s = customize(product)
        if interleaved:
            s.interleave_sums("product")
        cycles.append(allo.estimate(s, auto_pipeline=True).cycles)
    assert cycles[1] * 4 < cycles[0]


def between(A: int32[8], B: int32[8, 8]):
    for i in range(8):
        A[i] = 0
        for j in range(8):
            A[i] += B[i, j]


def prefix(A: float32[8, 8]):
    for i, j in allo.grid(7, 7):
        A[i + 1, j] = A[i, j + 1] * 2.0


def test_refusals() -> None:
    assert_refused("""
interleave_sums: loop 'i' is not in a nest of nothing but loops around one body
  note: loop 'i' is here
    File, line N, column 5
      for i in range(8):
      ^
  hint: fission() makes such nests of statements that stand between loops
    """, customize(between), "interleave_sums", "between", loops=["i"])
    assert_refused("""
interleave_sums: the loops cannot run in the order j, i: the statement at line N writes A[i + 1, j] \
and reads A[i, j + 1]: iteration (i=0, j=1) must run before iteration (i=1, j=0)
  note: the statement is here
    File, line N, column 9
      A[i + 1, j] = A[i, j + 1] * 2.0
      ^
  note: the statement is here
    File, line N, column 23
      A[i + 1, j] = A[i, j + 1] * 2.0
                    ^
    """, customize(prefix), "interleave_sums", "prefix", loops=["i"])
