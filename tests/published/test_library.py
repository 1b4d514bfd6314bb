"""Templates of the library by the names and parameters of published Allo, called from kernels."""

import numpy as np

import allo
from allo.ir.types import float32, int8, int16, int32
from allo.library import nn, reference, systolic

from .doors import through_doors


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_sequences() -> None:
    def block(
        X: float32[1, 4, 6], cos: float32[4, 3], sin: float32[4, 3], shift: float32[2, 6], scale: float32[2, 6]
    ) -> float32[2, 8, 6]:
        turned = nn.RoPE[float32, 1, 4, 6](X, cos, sin)
        two = nn.repeat_batch3d[float32, 2, 4, 6](turned)
        modulated = nn.modulate_fused[float32, 2, 4, 6](two, shift, scale)
        positive = nn.relu3d[float32, 2, 4, 6](modulated)
        return nn.concat[float32, 2, 4, 4, 6](two, positive)

    s = allo.customize(block)
    s.compose(nn.RoPE, instantiate=[float32, 1, 4, 6])
    s.compose(nn.concat, instantiate=[float32, 2, 4, 4, 6])
    angles = np.arange(4)[:, None] / 10000 ** (np.arange(3) / 3)
    X, cos, sin, shift, scale = floats(1, 4, 6), np.cos(angles), np.sin(angles), floats(2, 6), floats(2, 6)
    arguments = [array.astype(np.float32) for array in (X, cos, sin, shift, scale)]
    two = reference.repeat_batch3d(reference.RoPE(*arguments[:3]), 2)
    wanted = reference.concat(two, reference.relu3d(reference.modulate_fused(two, shift, scale)))
    np.testing.assert_allclose(through_doors(s, *arguments).result, wanted, rtol=1e-5, atol=1e-6)


def test_normalisation() -> None:
    def norms(
        X: float32[4, 3], V: float32[2, 3, 2, 2, 2], g: float32[3], b: float32[3], mean: float32[3], var: float32[3]
    ) -> (float32[4, 3], float32[2, 3, 2, 2, 2], float32[4, 3]):
        one = nn.batchnorm1d[float32, 4, 3](X, g, b, 0.001, mean, var)
        three = nn.batchnorm3d[float32, 2, 3, 2, 2, 2](V, g, b, 0.001, mean, var)
        logs = nn.log_softmax[float32, 4, 3](one)
        return one, three, logs

    X, V, g, b, mean, var = floats(4, 3), floats(2, 3, 2, 2, 2), *(floats(3) + n for n in range(3)), abs(floats(3)) + 1
    one, three, logs = through_doors(norms, X, V, g, b, mean, var).returned
    np.testing.assert_allclose(one, reference.batchnorm1d(X, g, b, 1e-3, mean, var), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(three, reference.batchnorm3d(V, g, b, 1e-3, mean, var), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(logs, reference.log_softmax(one), rtol=1e-4, atol=1e-5)


def test_linear_layers_of_mixed_types() -> None:
    def layer(X: int8[4, 6], W: int16[8, 6], b: int32[8]) -> int32[4, 8]:
        return nn.linear2d[int8, int16, int32, 4, 8, 6](X, W, b)

    s = allo.customize(layer)
    s.compose(nn.linear2d, instantiate=[int8, int16, int32, 4, 8, 6])
    generator = np.random.default_rng(0)
    X, W = generator.integers(-128, 128, (4, 6)).astype(np.int8), generator.integers(-999, 999, (8, 6)).astype(np.int16)
    b = generator.integers(-999, 999, 8).astype(np.int32)
    wanted = X.astype(np.int32) @ W.astype(np.int32).T + b
    np.testing.assert_array_equal(through_doors(s, X, W, b).result, wanted)


def test_packed_systolic_arrays() -> None:
    M, K, N, PP = 4, 3, 4, 2
    s = allo.customize(systolic.packed_int8xint8_systolic, instantiate=[M, K, N, 2, 2, PP])
    systolic.schedule_packed_int8xint8_systolic(s)
    A, B = np.random.default_rng(0).integers(-128, 128, (2, 12)).astype(np.int8)
    A, B = A.reshape(M, K), B.reshape(K, N)
    rows = np.ascontiguousarray(A.reshape(M // PP, PP, K).transpose(0, 2, 1)).view(np.int16)[..., 0]
    seen = through_doors(s, rows, B.view(np.int16), np.zeros((M // PP, N), np.int64)).arguments[2]
    C = seen.view(np.int32).reshape(M // PP, N, PP).transpose(0, 2, 1).reshape(M, N)
    np.testing.assert_array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
