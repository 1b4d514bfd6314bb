"""interleave_sums: an addition need not wait for the last one, and each sum is added up in the same order."""

# ruff: noqa: F821 - kernels declare arrays without a value

import re
from pathlib import Path

import numpy as np
import pytest

import allo
from allo import customize
from allo.ir.types import float32, int32
from tests.backend.hls.cpp_programs import needs_compiler

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


def rows_of_products(A: float32[8, 16], B: float32[16, 8], C: float32[8, 8]):
    X: float32[8, 16]
    for i, k in allo.grid(8, 16, name="scale"):
        X[i, k] = A[i, k] * 2.0
    Y: float32[8, 8]
    for i, j in allo.grid(8, 8, name="zeros"):
        Y[i, j] = 1.0
    for i, j, k in allo.grid(8, 8, 16, name="product"):
        Y[i, j] += X[i, k] * B[k, j]
    for i, j in allo.grid(8, 8, name="store"):
        C[i, j] = max(Y[i, j], 0.0)


def test_rows_take_turns() -> None:
    """Sums of several rows: what comes is taken at first, in its order, and the sums go on in theirs."""
    s = customize(rows_of_products)
    assert str(s.interleave_sums("rows_of_products", turns=32)) == ROWS
    text = s.pseudocode()
    assert text[text.index('    for i in range(8, name="store")') - len(TURNS) :].startswith(TURNS)
    wanted = 'turns=32, loops=["rows_of_products:product.j"], around=["rows_of_products:product.i"], tiles=[4]'
    assert f's.interleave_sums("rows_of_products", {wanted})' in str(s.steps)
    assert_faithful(rows_of_products, s)
    assert allo.verify(customize(rows_of_products), s)


ROWS = """\
1 of 1 nests with sums interleave them
nest     sums along  inside  why not  in turns
-------  ----------  ------  -------  --------
product  k           j                4 of i"""

TURNS = """\
    for i.outer in range(2, name="product"):
        buf_Y: float32[4, 8]
        X_turns: float32[4, 16]
        for i_take in range(4):
            for k_take in range(16):
                X_turns[i_take, k_take] = X[4 * i.outer + i_take, k_take]
        for i.inner_1 in range(4):
            for j_1 in range(8):
                buf_Y[i.inner_1, j_1] = 1.0
        for k in range(16):
            for i.inner in range(4):
                for j in range(8):
                    buf_Y[i.inner, j] += X_turns[i.inner, k] * B[k, j]
        for i.inner_1_back in range(4):
            for j_1_back in range(8):
                Y[i.inner_1_back + 4 * i.outer, j_1_back] = buf_Y[i.inner_1_back, j_1_back]
"""


@pytest.mark.parametrize("size", [2, 8])
def test_tiles_by_hand(size: int) -> None:
    s = customize(rows_of_products)
    s.interleave_sums("rows_of_products", loops=["product.j"], around=["product.i"], tiles=[size])
    assert_faithful(rows_of_products, s)


def norm(A: float32[8, 16], B: float32[8, 16]):
    X: float32[8, 16]
    for i, k in allo.grid(8, 16, name="scale"):
        X[i, k] = A[i, k] * 2.0
    M: float32[8]
    for i in range(8, name="zeros"):
        M[i] = 0.0
    for i, k in allo.grid(8, 16, name="sum"):
        M[i] += X[i, k]
    for i in range(8, name="mean"):
        M[i] = M[i] / 16.0
    V: float32[8]
    for i in range(8, name="no_squares"):
        V[i] = 0.0
    for i, k in allo.grid(8, 16, name="squares"):
        V[i] += (X[i, k] - M[i]) * (X[i, k] - M[i])
    for i in range(8, name="deviation"):
        V[i] = 1.0 / allo.sqrt(V[i] + 1.0)
    for i, k in allo.grid(8, 16, name="store"):
        B[i, k] = (X[i, k] - M[i]) * V[i]


NORM = {"loops": [], "around": ["sum.i", "squares.i"], "tiles": [4, 2]}


def test_norms_take_turns() -> None:
    """What follows a sum joins its nest, which has another name then; each operand is taken by loops of its own."""
    s = customize(norm)
    s.interleave_sums("norm", **NORM)
    text = s.pseudocode()
    assert text[text.index('    for i.outer in range(2, name="mean")') :].startswith(MEAN)
    taken = text[text.index('    for i.outer in range(4, name="deviation")') :]
    assert re.findall(r"for (\S+) in range", taken)[:4] == ["i.outer", "i_take", "k_take", "i_take_1"]
    assert_faithful(norm, s)
    assert allo.verify(customize(norm), s)


MEAN = """\
    for i.outer in range(2, name="mean"):
        buf_M: float32[4]
        X_turns: float32[4, 16]
        for i_take in range(4):
            for k_take in range(16):
                X_turns[i_take, k_take] = X[4 * i.outer + i_take, k_take]
        for i.inner_1 in range(4):
            buf_M[i.inner_1] = 0.0
        for k in range(16):
            for i.inner in range(4):
                buf_M[i.inner] += X_turns[i.inner, k]
        for i.inner_2 in range(4):
            buf_M[i.inner_2] /= 16.0
        for i.inner_1_back in range(4):
            M[i.inner_1_back + 4 * i.outer] = buf_M[i.inner_1_back]
"""


@pytest.mark.parametrize("target", ["simulator", pytest.param("vitis_hls", marks=[needs_compiler, pytest.mark.slow])])
def test_norms_in_turns_have_the_same_bits(target: str) -> None:
    """As stages with streams between them, of which copies run at once."""
    given = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    wanted, found = np.zeros_like(given), np.zeros_like(given)
    customize(norm).build()(given, wanted)
    s = customize(norm)
    s.interleave_sums("norm", **NORM)
    s.fuse_streams("norm")
    for bank in s.unroll_stages("norm", dsp=200, objective="latency").banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    s.build(target=target, **({"mode": "csim"} if target == "vitis_hls" else {}))(given, found)
    np.testing.assert_array_equal(found, wanted)


def test_turns_are_unrolled_further() -> None:
    """With rows that take turns, copies of an adder need not wait, and cycles and DSPs are those that are estimated."""
    cycles = {}
    for turns in (1, 64):
        s = customize(rows_of_products)
        s.interleave_sums("rows_of_products", turns=turns)
        s.fuse_streams("rows_of_products")
        plan = s.unroll_stages("rows_of_products", dsp=100)
        for bank in plan.banks:
            s.partition(bank.array, dim=bank.dim, factor=bank.factor)
        by_nest = {loop.nest: loop.latency for loop in allo.estimate(s).loops if loop.level == 0}
        for stage in plan.stages:
            assert by_nest[stage.name] == pytest.approx(stage.chosen.cycles, abs=2)
        (product,) = (stage for stage in plan.stages if stage.name == "product")
        cycles[turns] = product.chosen.cycles
        assert product.chosen.factor == {1: 1, 64: 8}[turns]
        assert_faithful(rows_of_products, s)
    assert cycles[64] * 3 < cycles[1]


@pytest.mark.parametrize("target", ["simulator", pytest.param("vitis_hls", marks=[needs_compiler, pytest.mark.slow])])
def test_networks_give_the_same_bits(target: str) -> None:
    """Convolutions of one and nine pixels, in groups and along channels, pools and means, whose sums take turns."""
    results = []
    for turns in (None, 64):
        s = customize(allo.from_pt2(MODELS / "mobilenet.pt2"), lower_linalg=True)
        name = s.top_func_name
        if turns is not None:
            s.interleave_sums(name, turns=turns)
            s.fuse_streams(name)
            s.unroll_stages(name, dsp=4000)
        image = np.random.default_rng(0).standard_normal((1, 4, 6, 6)).astype(np.float32)
        options = {} if turns is None else {"target": target, **({"mode": "csim"} if target == "vitis_hls" else {})}
        if target == "vitis_hls" and turns is not None:
            found = tuple(np.zeros_like(array) for array in results[0])
            s.build(**options)(image, *found)
        else:
            found = s.build(**options)(image)
        results.append(found)
    for found in results[1:]:
        for array, wanted in zip(found, results[0], strict=True):
            np.testing.assert_array_equal(array, wanted)


def test_what_does_not_take_turns() -> None:
    def filtered(A: float32[6, 4], W: float32[3, 4], V: float32[16], B: float32[4, 4], P: float32[16], R: float32[1]):
        X: float32[6, 4]
        for y, c in allo.grid(6, 4, name="make"):
            X[y, c] = A[y, c] * 2.0
        for y, k, c in allo.grid(4, 3, 4, name="channels"):
            B[y, c] += X[y + k, c] * W[k, c]
        for i, k in allo.grid(15, 4, name="chained"):
            P[i + 1] += P[i] * V[k]
        for k in range(16, name="whole"):
            R[0] += V[k]

    s = customize(filtered)
    assert str(s.interleave_sums("filtered", turns=16)) == NOT_IN_TURNS
    assert_faithful(filtered, s)


NOT_IN_TURNS = """\
0 of 3 nests with sums interleave them
nest      sums along  inside  why not                                                                in turns
--------  ----------  ------  ---------------------------------------------------------------------  -------------------------------------------
channels  k                   a loop is inside of its sums already                                   each sum takes an element of its own of 'X'
chained   i, k                it has no windows, and each loop around its sums changes all operands  no loop of known trips is around its sums
whole     k                   it has no windows, and each loop around its sums changes all operands  no loop of known trips is around its sums"""  # noqa: E501


def between(A: int32[8], B: int32[8, 8]):
    for i in range(8):
        A[i] = 0
        for j in range(8):
            A[i] += B[i, j]


def prefix(A: float32[8, 8]):
    for i, j in allo.grid(7, 7):
        A[i + 1, j] = A[i, j + 1] * 2.0


def two_sums(A: float32[8, 4], B: float32[8, 4], C: float32[8]):
    S: float32[8]
    for i in range(8, name="zeros"):
        S[i] = 0.0
    for i, k in allo.grid(8, 4, name="first"):
        S[i] += A[i, k]
    for i, k in allo.grid(8, 4, name="second"):
        S[i] += B[i, k]
    for i in range(8, name="store"):
        C[i] = S[i]


def test_one_of_two_sums_of_an_array() -> None:
    for nest in ("first", "second"):
        s = customize(two_sums)
        s.interleave_sums("two_sums", loops=[], around=[f"{nest}.i"], tiles=[4])
        assert_faithful(two_sums, s)
    assert_refused("""
interleave_sums: loops 'two_sums:first.i' and 'two_sums:second.i' cannot both take turns: their nests write one array, \
and become one
  note: loop 'i' is here
    File, line N, column 5
      for i, k in allo.grid(8, 4, name="second"):
      ^
  hint: give only one of them in around=
    """, customize(two_sums), "interleave_sums", "two_sums", loops=[], around=["first.i", "second.i"], tiles=[4, 4])


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


def test_refusals_of_turns() -> None:
    s = customize(rows_of_products)
    assert_refused("""
interleave_sums: turns= are the sums that take turns at least, got 0
  hint: leave it out for one loop of sums
    """, s, "interleave_sums", "rows_of_products", turns=0)
    for given in ({"around": ["product.i"], "tiles": [4]}, {"loops": ["product.j"], "around": ["product.i"]}):
        assert_refused("""
interleave_sums: around= and tiles= are given together, a size for each loop, and with loops=
  hint: s.interleave_sums("f", loops=["f:product.j"], around=["f:product.i"], tiles=[4])
        """, s, "interleave_sums", "rows_of_products", **given)
    assert_refused("""
interleave_sums: tile 3 does not divide the trip count 8 of loop 'i', or is no tile
  note: loop 'i' is here
    File, line N, column 5
      for i, j, k in allo.grid(8, 8, 16, name="product"):
      ^
  hint: give a divisor of at least 2
    """, s, "interleave_sums", "rows_of_products", loops=["product.j"], around=["product.i"], tiles=[3])
    assert_refused("""
interleave_sums: iterations of loop 'k' cannot take turns: iterations of 'k' need one another
  note: loop 'k' is here
    File, line N, column 5
      for i, j, k in allo.grid(8, 8, 16, name="product"):
      ^
  hint: leave it out of around=
    """, s, "interleave_sums", "rows_of_products", loops=["product.j"], around=["product.k"], tiles=[4])
    assert_refused("""
interleave_sums: iterations of loop 'i' cannot take turns: no loop of sums is inside of it
  note: loop 'i' is here
    File, line N, column 5
      for i, k in allo.grid(8, 16, name="scale"):
      ^
  hint: leave it out of around=
    """, s, "interleave_sums", "rows_of_products", loops=["product.j"], around=["scale.i"], tiles=[4])
