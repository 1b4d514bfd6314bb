"""Ctrl-C in a kernel that runs: KeyboardInterrupt, and a process that goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, signal, sys, threading
import numpy as np
import allo
from allo.ir.types import Stateful, float64, int32

signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells ignore for jobs in the background

def endless(A: int32[4]) -> int32:
    calls: Stateful(int32) = 0
    calls += 1
    while A[0] != 0:
        A[1] = A[1] + 1
    return calls

def shared_out(A: float64[64, 64], rounds: int32):
    for i in range(64):
        for r in range(rounds):
            for j in range(64):
                A[i, j] = A[i, j] * 0.5

def in_libraries(A: float64[64], B: int32[1]):
    while B[0] != 0:
        for i in range(64):
            A[i] = allo.exp(allo.sin(A[i]))

def with_array(A: int32[4]) -> int32:
    B: int32[1500000] = 0  # more than a usual stack
    while A[0] != 0:
        B[A[1]] += 1
    return B[0]

def interrupted(call, *arguments) -> bool:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))  # when the kernel runs
    timer.start()
    try:
        call(*arguments)
    except KeyboardInterrupt:
        return True
    timer.join()
    return False
"""

ON_CPU = """
go, wait = np.zeros(4, np.int32), np.ones(4, np.int32)
f = allo.customize(endless).build()
assert (f(go), f(go)) == (1, 2)
assert interrupted(f, wait)
assert interrupted(f, wait)
assert (f(go), f(go)) == (1, 2)  # states begin anew
s = allo.customize(shared_out)
s.parallel("i")
assert interrupted(s.build(), np.ones((64, 64)), 2**31 - 1)
assert interrupted(allo.customize(in_libraries).build(), np.ones(64), wait[:1])
halved = np.ones((64, 64))
s.build()(halved, 2)
assert (halved == 0.25).all()
# a handler of the program's own runs when the kernel has ended
seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
long = np.ones((64, 64))
assert not interrupted(s.build(), long, 100000) and long[0, 0] == 0
assert seen == [signal.SIGINT]
print("well")
"""

IN_SIMULATION = """
go, wait = np.zeros(4, np.int32), np.ones(4, np.int32)
for kernel in (endless, with_array):
    f = allo.customize(kernel).build(target="vitis_hls", mode="csim")
    first = f(go)
    assert interrupted(f, wait)
    assert f(go) == first
print("well")
"""


def run(folder: Path, program: str) -> None:
    file = folder / "program.py"
    file.write_text(PROGRAM + program)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("well\n", "", 0)


def test_on_the_cpu(tmp_path: Path) -> None:
    run(tmp_path, ON_CPU)


def test_in_c_simulation(tmp_path: Path) -> None:
    run(tmp_path, IN_SIMULATION)
