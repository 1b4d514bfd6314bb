"""Proofs: what a schedule may not change, how to see it changed, and how CI keeps it so.

Run it: `python docs/tutorials/proofs.py`. Each part says what happens and checks it.
"""

# %% 1. Steps are checked one by one; `verify` looks at the whole, and proves it for all inputs.

import subprocess
import sys
import tempfile
from pathlib import Path

import allo
from allo.ir.types import int32

N = 32


def smooth(A: int32[N + 2], B: int32[N]):
    for i in range(N):
        B[i] = A[i] + 2 * A[i + 1] + A[i + 2]


s = allo.customize(smooth)
outer, inner = s.split("i", 8)
s.unroll(inner)
s.pipeline(outer)
answer = s.verify()
print(answer)
assert answer

# %% 2. Something else is told apart, with inputs that show it. They are as small as was found.


def shifted(A: int32[N + 2], B: int32[N]):
    for i in range(N):
        B[i] = A[i] + A[i + 1] + A[i + 2]


answer = allo.verify(smooth, shifted)
print(answer)
assert not answer
A, B = answer.counterexample.arguments
left, right = B.copy(), B.copy()
allo.interpret(smooth)(A, left)
allo.interpret(shifted)(A, right)
assert (left != right).any()

# %% 3. What cannot be decided is said to be unknown, with the reason: it is no proof.


def halved(A: int32[1], B: int32[1]):
    n: int32 = A[0]
    while n > 1:
        n = n // 2
    B[0] = n


def at_once(A: int32[1], B: int32[1]):
    B[0] = 1 if A[0] > 1 else A[0]


answer = allo.verify(halved, at_once, timeout=2)
print(answer)
assert not answer and not hasattr(answer, "counterexample")

# %% 4. In a test, `assert_equivalent` raises with all that is known.

allo.testing.assert_equivalent(s, smooth)

# %% 5. In CI, `allo check` reads a file with a design; its exit code is the answer.

DESIGN = '''
import allo
from allo.ir.types import int32

def smooth(A: int32[34], B: int32[32]):
    for i in range(32):
        B[i] = A[i] + 2 * A[i + 1] + A[i + 2]

def schedule():
    s = allo.customize(smooth)
    s.pipeline("i")
    return s
'''
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "design.py"
    path.write_text(DESIGN)
    command = [sys.executable, "-m", "allo", "check", f"{path}:schedule"]
    done = subprocess.run(command, capture_output=True, text=True)
print(done.stdout)
assert done.returncode == 0
