"""Systolic array: a grid of tasks that multiplies matrices, from a small one that runs to a larger one, in cycles.

Run it: `python docs/tutorials/systolic_array.py`. Each part says what happens and checks it.
"""

# ruff: noqa: B007, F821, F841 - kernels declare streams without a value

# %% 1. One task, at each position of a grid. A comes from the left, B from above; each element keeps one sum.
#
# The positions at the edges feed the array: `meta_if` on the position is decided when the region is compiled.

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int8, int32


def array(M, N, K):
    @df.region()
    def systolic(A: int8[M, K], B: int8[K, N], C: int32[M, N]):
        right: Stream[int8, 2][M + 1, N + 2]
        down: Stream[int8, 2][M + 2, N + 1]

        @df.kernel(mapping=[M + 2, N + 2], args=[A, B, C])
        def element(A: int8[M, K], B: int8[K, N], C: int32[M, N]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, M + 1} and j in {0, N + 1}):
                pass
            with allo.meta_elif(j == 0):
                for k in range(K):
                    right[i, 1].put(A[i - 1, k])
            with allo.meta_elif(i == 0):
                for k in range(K):
                    down[1, j].put(B[k, j - 1])
            with allo.meta_elif(j == N + 1):
                for k in range(K):
                    a: int8 = right[i, N + 1].get()
            with allo.meta_elif(i == M + 1):
                for k in range(K):
                    b: int8 = down[M + 1, j].get()
            with allo.meta_else():
                total: int32 = 0
                for k in range(K):
                    x: int8 = right[i, j].get()
                    y: int8 = down[i, j].get()
                    total += x * y
                    right[i, j + 1].put(x)
                    down[i + 1, j].put(y)
                C[i - 1, j - 1] = total

    return systolic


# %% 2. It runs as any kernel does, and its text does not grow with the grid: there is one function for all elements.

M, N, K = 4, 4, 16
generator = np.random.default_rng(0)
A = generator.integers(-128, 128, (M, K), dtype=np.int8)
B = generator.integers(-128, 128, (K, N), dtype=np.int8)
C = np.zeros((M, N), np.int32)
s = df.customize(array(M, N, K))
s.build()(A, B, C)
assert np.array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
larger = df.customize(array(16, 16, K))
print(len(str(s.module)), len(str(larger.module)))
assert len(str(larger.module)) < 1.2 * len(str(s.module))

# %% 3. As hardware, each element multiplies in each cycle, once it has begun. Rows and columns get banks of their own.

print(s.get_loops("element"))
for nest in range(5):  # one for each branch
    s.pipeline(f"element:S_k_{nest}.k")
s.partition("systolic:A", dim=1)
s.partition("systolic:B", dim=2)
s.partition("systolic:C")
C[...] = 0
hardware = s.build(target="rtl")
hardware(A, B, C)
assert np.array_equal(C, A.astype(np.int32) @ B.astype(np.int32))
print(f"{hardware.cycles} cycles simulated, {hardware.predicted_cycles} predicted; {K} products for each element")
assert hardware.cycles == hardware.predicted_cycles < K + M + N + 8

# %% 4. Edges of the wrong count would leave elements waiting: that is found before anything runs.


@df.region()
def stuck(A: int8[8], B: int8[8]):
    pipe: Stream[int8, 2][2]

    @df.kernel(mapping=[2], args=[A, B])
    def ring(A: int8[8], B: int8[8]):
        p = df.get_pid()
        for k in range(8):
            with allo.meta_if(p == 0):
                B[k] = pipe[1].get()
                pipe[0].put(A[k])
            with allo.meta_else():
                x: int8 = pipe[0].get()
                pipe[1].put(x)


try:
    df.build(stuck)
except allo.AlloError as error:
    print(error)
else:
    raise AssertionError("two tasks that wait for each other were built")
