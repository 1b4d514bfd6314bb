"""Hardware: a kernel as SystemVerilog, its cycles, what binds them, and a design that is a hundred times as fast.

Run it: `python docs/tutorials/hardware.py`. It needs the extra `rtl`: `pip install 'allo[rtl]'`.
"""

# %% 1. `build(target="rtl")` makes SystemVerilog and runs it cycle by cycle, on NumPy arrays.

import numpy as np

import allo
from allo.ir.types import float32

N = 64


def matvec(A: float32[N, N], x: float32[N], y: float32[N]):
    for i in range(N):
        total: float32 = 0.0
        for j in range(N):
            total += A[i, j] * x[j]
        y[i] = total


generator = np.random.default_rng(0)
A, x = generator.standard_normal((N, N), np.float32), generator.standard_normal(N, np.float32)


def cycles(s: allo.Schedule) -> int:
    """The cycles of one run, which has the bits of the reference."""
    found, wanted = np.zeros(N, np.float32), np.zeros(N, np.float32)
    module = s.build(target="rtl", random_state=0)  # registers begin with random bits
    module(A, x, found)
    allo.interpret(matvec)(A, x, wanted)
    assert found.tobytes() == wanted.tobytes()
    assert module.cycles == module.predicted_cycles
    return module.cycles


plain = cycles(allo.customize(matvec))
print(f"without a schedule: {plain} cycles")

# %% 2. A pipeline starts an iteration before the last one has ended. The report tells what it waits for.

s = allo.customize(matvec)
s.pipeline("j")
report = s.report("u280", profile="rtl", rewritten=True)
print(report.loop("j").interval, report.loop("j").reason)
piped = cycles(s)
print(f"with a pipeline: {piped} cycles")
assert piped < plain

# %% 3. A sum waits for itself: an addition takes several cycles. So let rows take turns.
#
# The sum of each row lies in an array then. Each row still adds its terms in their order, so that the results have the
# same bits: `verify` proves it for all inputs.


def in_turns(A: float32[N, N], x: float32[N], y: float32[N]):
    for i in range(N):
        y[i] = 0.0
    for j in range(N):
        for i1 in range(N):
            y[i1] += A[i1, j] * x[j]


s = allo.customize(in_turns)
assert allo.verify(matvec, in_turns)
s.pipeline("i")
s.pipeline("i1")
turns = cycles(s)
print(f"with rows in turn: {turns} cycles")

# %% 4. Eight rows at once: eight multipliers, and eight banks that feed them.

outer, inner = s.split("i1", 8)
s.unroll(inner)
s.pipeline(outer)
s.partition(s.A, dim=1, factor=8, partition_type=allo.Partition.Cyclic)
s.partition(s.y, dim=1, factor=8, partition_type=allo.Partition.Cyclic)
lanes = cycles(s)
print(f"with eight lanes: {lanes} cycles, {plain / lanes:.0f} times as fast as at first")
assert lanes < N * N / 8 + 200
s.draw_banks("y")

# %% 5. What it costs, estimated, and the text for synthesis tools.

print(s.report("u280", profile="rtl", rewritten=True).dsp, "DSPs")
print(*s.build(target="rtl").code.splitlines()[:12], sep="\n")
