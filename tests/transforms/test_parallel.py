"""Parallel loops and the thread pool: same results as in sequence, from any thread and after fork."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from .compiled import LIBRARY, Compiled, run_passes

PARALLEL = "allo-outline-parallel,func.func(allo-place-buffers)"
ROWS, COLUMNS = 37, 50
TEXT = f"""
func.func @f(%A: memref<{ROWS}x{COLUMNS}xf32>, %B: memref<{ROWS}x{COLUMNS}xf32>) {{
  %three = arith.constant 3.0 : f32
  affine.for %i = 1 to {ROWS} step 2 {{
    %row = memref.alloc() {{allo.name = "row"}} : memref<{COLUMNS}xf32>
    affine.for %j = 0 to {COLUMNS} {{
      %a = affine.load %A[%i, %j] : memref<{ROWS}x{COLUMNS}xf32>
      %b = arith.mulf %a, %three : f32
      affine.store %b, %row[%j] : memref<{COLUMNS}xf32>
    }} {{allo.parallel}}
    affine.for %j = 0 to {COLUMNS} {{
      %a = affine.load %row[{COLUMNS - 1} - %j] : memref<{COLUMNS}xf32>
      affine.store %a, %B[%i, %j] : memref<{ROWS}x{COLUMNS}xf32>
    }}
  }} {{allo.parallel, allo.name = "i"}}
  return
}}"""


def data() -> np.ndarray:
    return np.random.default_rng(1).random((ROWS, COLUMNS), dtype=np.float32)


def check(kernel: Compiled) -> None:
    source, result = data(), np.zeros((ROWS, COLUMNS), np.float32)
    kernel(source, result)
    wanted = np.zeros_like(result)
    wanted[1::2] = (source * np.float32(3))[1::2, ::-1]
    assert np.array_equal(result, wanted)


def test_outlined_function() -> None:
    text = """
    func.func @f(%n: index, %A: memref<64xf32>) {
      %one = arith.constant 1.0 : f32
      affine.for %i = 0 to %n step 4 {
        affine.store %one, %A[%i] : memref<64xf32>
      } {allo.parallel, allo.name = "i"}
      return
    }"""
    assert str(run_passes(text, "allo-outline-parallel,canonicalize")).splitlines()[1:-1] == [
        "  func.func private @f_par0(%arg0: index, %arg1: index, %arg2: memref<64xf32> {llvm.noalias}) "
        "attributes {llvm.linkage = #llvm.linkage<internal>} {",
        "    %cst = arith.constant 1.000000e+00 : f32",
        "    affine.for %arg3 = %arg0 to %arg1 step 4 {",
        "      affine.store %cst, %arg2[%arg3] : memref<64xf32>",
        '    } {allo.name = "i"}',
        "    return",
        "  }",
        "  func.func private @f_par0_fork(index, index, memref<64xf32>) attributes "
        "{allo.x_fork = @f_par0, allo.x_step = 4 : i64}",
        "  func.func @f(%arg0: index, %arg1: memref<64xf32>) {",
        "    %c0 = arith.constant 0 : index",
        "    call @f_par0_fork(%c0, %arg0, %arg1) : (index, index, memref<64xf32>) -> ()",
        "    return",
        "  }",
    ]


def test_only_the_outermost_loop_forks() -> None:
    text = str(run_passes(TEXT, "allo-outline-parallel"))
    assert text.count("call @") == 1
    assert "allo.parallel" not in text


def test_loops_that_carry_values_run_in_sequence() -> None:
    text = """
    func.func @f(%A: memref<64xf32>) -> f32 {
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %i = 0 to 64 iter_args(%s = %zero) -> f32 {
        %a = affine.load %A[%i] : memref<64xf32>
        %t = arith.addf %s, %a : f32
        affine.yield %t : f32
      } {allo.parallel}
      return %sum : f32
    }"""
    assert "fork" not in str(run_passes(text, "allo-outline-parallel"))


def test_equal_to_sequential() -> None:
    check(Compiled(TEXT, "func.func(allo-place-buffers)"))
    check(Compiled(TEXT, PARALLEL))


def test_bounds_that_depend_on_an_outer_loop() -> None:
    text = """
    func.func @f(%A: memref<40x40xf32>) {
      %one = arith.constant 1.0 : f32
      affine.for %t = 0 to 3 {
        affine.for %i = affine_map<(d0) -> (d0, 1)>(%t) to affine_map<(d0) -> (d0 + 30, 35)>(%t) {
          affine.for %j = affine_map<(d0) -> (d0)>(%i) to 40 {
            %a = affine.load %A[%i, %j] : memref<40x40xf32>
            %b = arith.addf %a, %one : f32
            affine.store %b, %A[%i, %j] : memref<40x40xf32>
          }
        } {allo.parallel}
      }
      return
    }""".replace("affine.for %i = affine_map", "affine.for %i = max affine_map").replace(
        "to affine_map", "to min affine_map"
    )
    results = []
    for passes in ("", PARALLEL):
        array = np.zeros((40, 40), np.float32)
        Compiled(text, passes)(array)
        results.append(array)
    assert results[0].any()
    assert np.array_equal(*results)


def test_many_threads() -> None:
    kernel = Compiled(TEXT, PARALLEL)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                check(kernel)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@pytest.mark.parametrize(
    ("lo", "hi", "step"), [(0, 0, 1), (5, 3, 2), (0, 1, 7), (-9, 100, 7), (0, 3, 1), (0, 64, 64)]
)
def test_intervals_cover_each_iteration_once(lo: int, hi: int, step: int) -> None:
    seen: list[int] = []

    def task(_: int | None, first: int, last: int) -> None:
        seen.extend(range(first, last, step))

    ctypes.CDLL(str(LIBRARY)).allo_parallel_for(TASK(task), None, *map(ctypes.c_int64, (lo, hi, step)))
    assert sorted(seen) == list(range(lo, hi, step))


def run_python(program: str, **environment: str) -> str:
    """Standard output of a process of its own: it may fork, and its pool starts anew."""
    prelude = f"import ctypes\nfrom allo import _mlir\nlib = ctypes.CDLL({str(LIBRARY)!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", prelude + program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


COUNT = """
import os, threading
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
def parts():
    seen = []
    lib.allo_parallel_for(TASK(lambda _, lo, hi: seen.append((lo, hi))), None, *map(ctypes.c_int64, (0, 12, 1)))
    return sorted(seen)
"""


def test_number_of_threads_is_fixed_by_the_environment() -> None:
    """Each has four chunks to take in the mean."""
    two = "[(0, 2), (2, 4), (4, 6), (6, 8), (8, 9), (9, 10), (10, 11), (11, 12)]\n"
    assert run_python(COUNT + "print(parts())", ALLO_NUM_THREADS="2") == two
    assert run_python(COUNT + "print(parts())", ALLO_NUM_THREADS="1") == "[(0, 12)]\n"


def test_child_of_fork_has_a_pool_of_its_own() -> None:
    program = COUNT + "a = parts()\nif os.fork() == 0:\n    os._exit(parts() != a)\nprint(os.wait()[1])"
    assert run_python(program, ALLO_NUM_THREADS="3") == "0\n"


PROCESSORS = COUNT + """
def workers(mine):
    os.sched_setaffinity(0, mine)
    parts()
    own = threading.get_native_id()
    return [os.sched_getaffinity(int(tid)) for tid in os.listdir("/proc/self/task") if int(tid) != own]
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1, reason="Linux, 2 cores")
def test_workers_keep_off_the_processor_of_the_thread_that_waits_for_them() -> None:
    """Woken there, they would take turns with it, while another processor idles."""
    program = PROCESSORS + "every = os.sched_getaffinity(0)\nprint([len(every - one) for one in workers(every)])"
    assert run_python(program, ALLO_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1") == "[1]\n"
    pinned = PROCESSORS + "one = {min(os.sched_getaffinity(0))}\nprint(workers(one) == [one])"
    assert run_python(pinned, ALLO_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1") == "True\n"


def test_nested_calls_run_in_place() -> None:
    program = COUNT + (
        "inner = []\n"
        "def task(_, lo, hi):\n    inner.append(parts())\n"
        "lib.allo_parallel_for(TASK(task), None, *map(ctypes.c_int64, (0, 2, 1)))\n"
        "print(inner)"
    )
    assert run_python(program, ALLO_NUM_THREADS="2") == "[[(0, 12)], [(0, 12)]]\n"
