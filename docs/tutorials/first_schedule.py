"""First schedule: from a Python function to code that runs, one step at a time.

Run it: `python docs/tutorials/first_schedule.py`. Each part says what happens and checks it.
"""

# %% 1. A kernel is a typed Python function.
#
# It means what it says in Python: called as it is, it runs on NumPy arrays.

import numpy as np

import allo
from allo.ir.types import float32

M, N, K = 32, 48, 64


def gemm(A: float32[M, K], B: float32[K, N], C: float32[M, N]):
    for i, j in allo.grid(M, N, name="product"):
        total: float32 = 0.0
        for k in allo.reduction(K):
            total += A[i, k] * B[k, j]
        C[i, j] = total


generator = np.random.default_rng(0)
A = generator.standard_normal((M, K), dtype=np.float32)
B = generator.standard_normal((K, N), dtype=np.float32)
C = np.zeros((M, N), np.float32)
gemm(A, B, C)
assert np.allclose(C, A @ B, atol=1e-4)

# %% 2. `customize` compiles it to MLIR and gives a schedule.
#
# Loops and arrays keep their names; `get_loops()` shows the loop nests, `print(s.module)` the module.

s = allo.customize(gemm)
print(s.get_loops())
assert [loop.name for loop in s.get_loops()["product"]] == ["i", "j", "k"]

# %% 3. `build` makes machine code that is called with the same arguments.
#
# Arrays are changed in place. An argument that does not fit is refused, with its name.

run = s.build()
C[...] = 0
run(A, B, C)
assert np.allclose(C, A @ B, atol=1e-4)

try:
    run(A, B.T, C)
except ValueError as error:
    print(error)
    assert str(error) == "argument 'B' must have shape (64, 48), got (48, 64)"

# %% 4. A primitive rewrites the module and is recorded as a step.
#
# `split` gives the handles of the two new loops; loops are also named by strings.

outer, inner = s.split("j", factor=16)
print(s.get_loops())
assert (outer.name, inner.name) == ("j.outer", "j.inner")
assert str(s.steps[0]) == 's.split("gemm:product.j", factor=16)'
s.draw_loops()  # in a notebook, the last line is shown: the loops before and after

# %% 5. A step that would change the results is refused, and changes nothing.
#
# Here every iteration of k adds to the same total: they cannot run at the same time.

before = str(s.module)
try:
    s.parallel("k")
except allo.ScheduleError as error:
    print(error)
    assert "loop 'k' cannot run in parallel" in str(error)
assert str(s.module) == before

# Rows of C do not depend on each other.
s.parallel("i")

# %% 6. `buffer_at` keeps what one iteration of a loop touches in a small array of its own.
#
# The row of A that an iteration of i reads is copied once; the result is the handle of the new array.

row = s.buffer_at(s.A, axis="i")
print(s.get_loops())
assert row == s.buf_A

# %% 7. Annotations say what the hardware should do; on a CPU `unroll` and `parallel` are carried out.

s.unroll("k", factor=4)
s.pipeline("j.inner")
s.partition(s.B, partition_type=allo.Partition.Cyclic, dim=2, factor=4)

C[...] = 0
s.build()(A, B, C)
assert np.allclose(C, A @ B, atol=1e-4)

# %% 8. Steps are data: they are printed, taken back, and replayed on a kernel of another size.

for step in s.steps:
    print(step)
s.undo(2)
assert [step.name for step in s.steps] == ["split", "parallel", "buffer_at", "unroll"]

M, N, K = 64, 96, 128
larger = allo.customize(gemm)
larger.replay(s.steps)
A = generator.standard_normal((M, K), dtype=np.float32)
B = generator.standard_normal((K, N), dtype=np.float32)
C = np.zeros((M, N), np.float32)
larger.build()(A, B, C)
assert np.allclose(C, A @ B, atol=1e-4)
