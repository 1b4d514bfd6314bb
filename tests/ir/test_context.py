"""One context serves all threads of Python, also those that ask for it first at the same time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import allo
from allo.ir.types import float32


def scaled(A: float32[16, 16], B: float32[16, 16]):
    for i, j in allo.grid(16, 16):
        B[i, j] = 2.0 * A[i, j]


def scheduled(number: int) -> str:
    s = allo.customize(scaled)
    s.split("i", factor=2 + number % 3)
    s.reorder("j", "i.outer")
    s.partition("A", dim=2, factor=4)
    A, B = np.arange(256, dtype=np.float32).reshape(16, 16), np.zeros((16, 16), np.float32)
    s.build()(A, B)
    assert (B == 2 * A).all()
    return str(s.module)


def test_threads_schedule_and_run_at_the_same_time() -> None:
    numbers = range(24)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(scheduled, numbers)) == [scheduled(number) for number in numbers]


def test_threads_that_ask_first_get_the_same() -> None:
    program = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from allo.ir.context import context
sys.setswitchinterval(1e-6)
start = threading.Barrier(8)
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda _: (start.wait(), context())[1], range(8)))
print(all(one is found[0] for one in found))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_a_forked_child_builds_after_its_parent() -> None:
    program = """
import multiprocessing, os, warnings
import numpy as np
import allo
from allo.ir.types import int32

warnings.simplefilter("ignore", DeprecationWarning)  # NumPy has threads

def added(A: int32[4]) -> int32:
    total: int32 = 0
    for i in range(4):
        total += A[i]
    return total

def built(s) -> int:
    s.unroll("i")
    return s.build()(np.arange(4, dtype=np.int32))

if __name__ == "__main__":
    assert built(allo.customize(added)) == 6
    child = os.fork()
    if child == 0:
        os._exit(built(allo.customize(added)))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(built, [allo.customize(added)] * 2))
"""
    with TemporaryDirectory() as folder:
        file = Path(folder, "program.py")
        file.write_text(program)
        run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("6\n[6, 6]\n", "")
