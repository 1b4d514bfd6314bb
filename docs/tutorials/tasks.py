"""Tasks and streams: a design whose parts run at the same time, a FIFO that is too shallow, and depths that do.

Run it: `python docs/tutorials/tasks.py`. Each part says what happens and checks it.
"""

# ruff: noqa: F821 - kernels declare streams without a value

# %% 1. A region is a function whose tasks run at the same time, with streams between them.
#
# Each line of an image is read once: one task sums it up, the next one subtracts its mean. The elements have to wait
# for the mean, in a FIFO of their own.

import numpy as np

import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32

ROWS, N = 8, 32


@df.region()
def centred(A: float32[ROWS, N], B: float32[ROWS, N]):
    kept: Stream[float32, 4]
    means: Stream[float32, 2]

    @df.kernel(args=[A])
    def read(A: float32[ROWS, N]):
        for i in range(ROWS):
            total: float32 = 0.0
            for j in range(N):
                kept.put(A[i, j])
                total += A[i, j]
            means.put(total / N)

    @df.kernel(args=[B])
    def subtract(B: float32[ROWS, N]):
        for i in range(ROWS):
            mean: float32 = means.get()
            for j in range(N):
                B[i, j] = kept.get() - mean


s = df.customize(centred)
s.draw()

# %% 2. This design would hang in hardware: the fifth element of a line does not fit, and its mean never comes.
#
# No simulation is needed to see that, and no run is started.

A = np.arange(ROWS * N, dtype=np.float32).reshape(ROWS, N)
B = np.zeros_like(A)
try:
    s.build()(A, B)
except allo.AlloError as error:
    print(error)
    assert "'kept'" in str(error)
else:
    raise AssertionError("a design that hangs was run")

# %% 3. `size_fifos` computes the least depths with which no cycle is lost, and says why no less would do.

s.pipeline("read:j")
s.pipeline("subtract:j")
sizes = s.size_fifos()
print(sizes)
depth = {fifo.fifo: fifo.depth for fifo in sizes.fifos}
assert depth["centred:kept"] >= N
s.draw(s.report("u280"))

# %% 4. The same program on a CPU, in the simulation of its C++ for HLS tools, and as SystemVerilog: the same bits.

results = []
for run in (s.build(), s.build(target="vhls", mode="csim"), s.build(target="rtl")):
    B = np.zeros_like(A)
    run(A, B)
    results.append(B.tobytes())
assert len(set(results)) == 1 and np.allclose(B, A - A.mean(1, keepdims=True))

# %% 5. The cycles of the hardware are those that were predicted.

hardware = s.build(target="rtl")
hardware(A, np.zeros_like(A))
print(hardware.cycles, hardware.predicted_cycles)
assert hardware.cycles == hardware.predicted_cycles

# %% 6. And a proof, for all inputs, that the tasks compute what one loop nest would.


def one_after_the_other(A: float32[ROWS, N], B: float32[ROWS, N]):
    for i in range(ROWS):
        total: float32 = 0.0
        for j in range(N):
            total += A[i, j]
        mean: float32 = total / N
        for j in range(N):
            B[i, j] = A[i, j] - mean


answer = allo.verify(s, one_after_the_other)
print(answer)
assert answer
