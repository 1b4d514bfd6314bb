"""Gemm three ways and a blur: what schedules make of two kernels that are not rewritten.

Run it: `python docs/tutorials/gemm_and_blur.py`. Each part says what happens and checks it.
"""

# ruff: noqa: F821 - kernels declare arrays without a value

# %% 1. The kernel: a matrix product as in a textbook.

import numpy as np

import allo
from allo.ir.types import int32

M, N, K = 16, 24, 32


def gemm(A: int32[M, K], B: int32[K, N], C: int32[M, N]):
    for i, j in allo.grid(M, N, name="PE"):
        for k in range(K):
            C[i, j] += A[i, k] * B[k, j]


generator = np.random.default_rng(0)
A = generator.integers(-9, 9, (M, K), np.int32)
B = generator.integers(-9, 9, (K, N), np.int32)


def product_of(schedule: allo.Schedule) -> np.ndarray:
    C = np.zeros((M, N), np.int32)
    schedule.build()(A, B, C)
    return C


# %% 2. Inner products: K products at once.
#
# Hardware that is pipelined over j computes an element of C each cycle if it can read a row of A and a column of B
# at once: `partition` puts each into a bank of its own. The cost is K multipliers, and a sum of K terms.

inner = allo.customize(gemm)
inner.pipeline("j")
inner.unroll("k")
inner.partition(inner.A, dim=2)
inner.partition(inner.B, dim=1)
print(inner.get_loops())
assert np.array_equal(product_of(inner), A @ B)

# %% 3. Row-wise products: no sum has to wait for its last term.
#
# With k outside of j, consecutive iterations add to different elements of C. `buffer_at` keeps the row of C that
# an iteration of i works on; the memory outside sees each element once. Four lanes make it four times as fast.

row_wise = allo.customize(gemm)
j, lane = row_wise.split("j", 4)
row_wise.reorder("k", j, lane)
row = row_wise.buffer_at(row_wise.C, axis="i")
row_wise.pipeline(j)
row_wise.partition(row, allo.Partition.Cyclic, dim=1, factor=4)
row_wise.partition(row_wise.B, allo.Partition.Cyclic, dim=2, factor=4)
print(row_wise.pseudocode())
assert np.array_equal(product_of(row_wise), A @ B)

# The order matters: a row is in use during all of k, so k cannot run in parallel.
try:
    row_wise.parallel("k")
except allo.ScheduleError as error:
    print(error)
    assert "writes buf_C[4*j.outer + j.inner]" in str(error)

# %% 4. A systolic array: every element of C is a processing element.
#
# `unfold` makes hardware of the iterations of i and j, `relay` lets neighbours pass on the rows of A and the columns
# of B. Only the elements at the border read memory. These are the eight lines of Fig. 5 of the Allo paper.

array = allo.customize(gemm)
buf_A = array.buffer_at(array.A, "j")
buf_B = array.buffer_at(array.B, "j")
pe = array.unfold("PE", axes=[0, 1])
array.partition(array.C, dim=0)
array.partition(array.A, dim=1)
array.partition(array.B, dim=2)
array.relay(buf_A, pe, axis=1, depth=M + 1)
array.relay(buf_B, pe, axis=0, depth=N + 1)
print(array.get_loops())
assert np.array_equal(product_of(array), A @ B)
assert "Stream[int32, 17]" in array.pseudocode()

# %% 5. A blur in two passes, over the rows and over the columns of an image.

H, W = 20, 24


def rows(A: int32[H, W], T: int32[H, W - 2]):
    for y, x in allo.grid(H, W - 2):
        T[y, x] = A[y, x] + 2 * A[y, x + 1] + A[y, x + 2]


def columns(T: int32[H, W - 2], B: int32[H - 2, W - 2]):
    for y, x in allo.grid(H - 2, W - 2):
        B[y, x] = (T[y, x] + 2 * T[y + 1, x] + T[y + 2, x]) // 16


def blur(A: int32[H, W], B: int32[H - 2, W - 2]):
    T: int32[H, W - 2]
    rows(A, T)
    columns(T, B)


def blurred(image: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    return (windows * np.outer([1, 2, 1], [1, 2, 1])).sum((2, 3)) // 16


# %% 6. A window for the rows, a line buffer for the columns: each value is read once.
#
# `reuse_at` keeps what later iterations of a loop read again. On an inner loop that is a window that moves along a row,
# on an outer one a few whole rows. The loops start early, at -2, to fill the buffers.

s = allo.customize(blur)
window = s.reuse_at("rows:A", axis="rows:x")
lines = s.reuse_at("columns:T", axis="columns:y")
s.partition(window)  # three registers
s.partition(lines, dim=1)  # three pixels of a column at once
for loop in ("rows:x", "columns:x_fill", "columns:x"):
    s.pipeline(loop)
print(s.pseudocode())

# %% 7. A stream instead of an image between the passes.
#
# Now the first pass computes each element of T once, and the second reads each once, in the same order: T can be a
# FIFO of two elements, and both passes run at the same time. Without the line buffer it would have been refused.

plain = allo.customize(blur)
try:
    plain.relay(plain.T, "columns")
except allo.ScheduleError as error:
    print(error)
    assert "'T' cannot become a FIFO" in str(error)

s.relay(s.T, "columns", depth=2)
s.dataflow("blur")
image = generator.integers(0, 256, (H, W), np.int32)
result = np.zeros((H - 2, W - 2), np.int32)
s.build()(image, result)
assert np.array_equal(result, blurred(image))

# %% 8. What did a step change, and what does the design look like now?
#
# `diff` shows the functions before and after a step, `report` counts from the text of the program.

print(s.diff(0))
assert "+        A_reuse: int32[3]" in s.diff(0)
print(s.report())
assert [array.name for array in s.report().buffers if array.kind == "local"] == ["A_reuse", "T_reuse"]

# %% 9. The same steps blur an image of another size.

H, W = 64, 48
larger = allo.customize(blur)
larger.replay(s.steps)
image = generator.integers(0, 256, (H, W), np.int32)
result = np.zeros((H - 2, W - 2), np.int32)
larger.build()(image, result)
assert np.array_equal(result, blurred(image))
