"""NPU: a matrix product on an array of processors, mapped by hand and by search, on a model of the array.

Run it: `python docs/tutorials/npu.py`. No device and no vendor tool is needed; nothing here is measured.
"""

# %% 1. A grid of tasks, each with a part of the arguments: layouts say which dimension is divided over which axis.

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import int16, int32
from allo.memory import Layout

M, K, N, P = 64, 64, 64, 2


@df.region()
def product(A: int16[M, K], B: int16[K, N], C: int32[M, N]):
    @df.kernel(mapping=[P, P], args=[A, B, C])
    def gemm(
        a: int16[M, K] @ Layout("S0R"), b: int16[K, N] @ Layout("RS1"), c: int32[M, N] @ Layout("S0S1")
    ):
        c[:, :] = allo.matmul(a, b)


# %% 2. `build(target="aie")` places tasks on cores, routes streams, programs transfers; a call runs on the model.

built = df.build(product, target="aie", kernels="vector")
print(built)
generator = np.random.default_rng(0)
A = generator.integers(-99, 99, (M, K), dtype=np.int16)
B = generator.integers(-99, 99, (K, N), dtype=np.int16)
C = np.zeros((M, N), np.int32)
built(A, B, C)
assert np.array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
built.draw()

# %% 3. Cycles of a call, *simulated*: what the cores do, and what they wait for.

alone = built.timed()
print(alone)

# %% 4. Four virtual cores on two: `bundle` lets positions that are alike take turns on one core.

steps = [("bundle", ["gemm_0_0", "gemm_0_1"]), ("bundle", ["gemm_1_0", "gemm_1_1"])]
fewer = df.build(product, target="aie", kernels="vector", mapping_primitives=steps)
again = np.zeros_like(C)
fewer(A, B, again)
assert np.array_equal(again, C) and len(fewer.plan.mapping.cores) == 2
print(fewer.timed())

# %% 5. What does not fit is refused before anything is emitted, with the limit.


@df.region()
def too_large(A: int16[512, 512], B: int16[512, 512]):
    @df.kernel(mapping=[1], args=[A, B])
    def copy(a: int16[512, 512], b: int16[512, 512]):
        for i, j in allo.grid(512, 512):
            b[i, j] = a[i, j]


try:
    df.build(too_large, target="aie")
except allo.AlloError as error:
    print(error)
else:
    raise AssertionError("half a megabyte was put into a core of 64 KB")
