"""A block of a transformer made of templates: they bring their schedules along, and FIFOs connect them to stages."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import time

import numpy as np

import allo
from allo.ir.types import float32, index
from allo.library import reference
from allo.library.nn import ffn, layer_norm, multi_head_attention, residual_add

LENGTH, HIDDEN, HEADS = 64, 256, 4
ARRAY = (8, 8)  # processing elements of the systolic arrays in the attention


def block[T, H: index, L: index, D: index, F: index, M0: index, M1: index](
    X: T[L, D],
    gamma1: T[D],
    beta1: T[D],
    Wq: T[D, D],
    bq: T[D],
    Wk: T[D, D],
    bk: T[D],
    Wv: T[D, D],
    bv: T[D],
    Wo: T[D, D],
    bo: T[D],
    gamma2: T[D],
    beta2: T[D],
    W1: T[F, D],
    b1: T[F],
    W2: T[D, F],
    b2: T[D],
) -> T[L, D]:
    """Attention and a feed-forward network, each of normalised data, and their results added to the data."""
    data: T[L, D]  # X is read by one stage, which feeds two
    for i, j in allo.grid(L, D, name="enter"):
        data[i, j] = X[i, j]
    N1 = layer_norm[T, L, D, "attention"](data, gamma1, beta1)
    A = multi_head_attention[T, H, L, D, M0, M1](N1, Wq, bq, Wk, bk, Wv, bv, Wo, bo)
    R = residual_add[T, L, D, "attention"](data, A)
    N2 = layer_norm[T, L, D, "ffn"](R, gamma2, beta2)
    F2 = ffn[T, L, D, F](N2, W1, b1, W2, b2)
    return residual_add[T, L, D, "ffn"](R, F2)


def schedule_block(length: int = LENGTH, hidden: int = HIDDEN, heads: int = HEADS) -> allo.Schedule:
    """The schedules of the templates; then one graph of stages, with FIFOs where the order of elements allows them.

    A FIFO beside a path of stages is as deep as what they hold: here some rows, since each waits for one.
    """
    size = [float32, length, hidden]
    s = allo.customize(block, instantiate=[float32, heads, length, hidden, 4 * hidden, *ARRAY])
    s.compose(layer_norm, instantiate=size)
    s.compose(multi_head_attention, instantiate=[float32, heads, length, hidden, *ARRAY])
    s.compose(residual_add, instantiate=size)
    s.compose(ffn, instantiate=[*size, 4 * hidden])
    s.inline("multi_head_attention")
    s.inline("ffn")
    s.relay("data", "layer_norm_attention", depth=2)
    s.relay("data", "residual_add_attention", depth=length * hidden)
    for layer in ("linear2d_Q", "linear2d_K", "linear2d_V"):
        s.relay("N1", layer, depth=2)
    s.relay("Z", "residual_add_attention", depth=2)
    s.relay("R", "layer_norm_ffn", depth=2)
    s.relay("N2", "linear2d_up", depth=2)
    s.relay("Y", "residual_add_ffn", depth=2)
    s.relay("R", "residual_add_ffn", depth=4 * hidden)
    s.dataflow("block")
    return s


def operands(length: int, hidden: int, seed: int = 30) -> list[np.ndarray]:
    """Random data and parameters, in the order of `block`."""
    generator = np.random.default_rng(seed)

    def array(*shape: int) -> np.ndarray:
        return (generator.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)

    inner = 4 * hidden
    attention = [array(*shape) for _ in range(4) for shape in ((hidden, hidden), (hidden,))]
    norms = [[1 + array(hidden), array(hidden)] for _ in range(2)]
    network = [array(inner, hidden), array(inner), array(hidden, inner), array(hidden)]
    return [10 * array(length, hidden), *norms[0], *attention, *norms[1], *network]


def expected(arrays: list[np.ndarray], heads: int) -> np.ndarray:
    """What the block computes, by NumPy in float64."""
    X, gamma1, beta1, *weights = (array.astype(np.float64) for array in arrays)
    attention, (gamma2, beta2), network = weights[:8], weights[8:10], weights[10:]
    normal = reference.layer_norm(X, gamma1, beta1)
    R = X + reference.multi_head_attention(normal, *attention, heads=heads)
    return R + reference.ffn(reference.layer_norm(R, gamma2, beta2), *network)


def main() -> None:
    start = time.perf_counter()
    module = schedule_block().build()
    seconds = time.perf_counter() - start
    arrays = operands(LENGTH, HIDDEN)
    np.testing.assert_allclose(module(*arrays), expected(arrays, HEADS), rtol=1e-4, atol=1e-4)
    print(
        f"transformer: {LENGTH} x {HIDDEN}, {HEADS} heads, agree with NumPy; from Python to LLVM in {seconds:.1f} s"
    )


if __name__ == "__main__":
    main()
