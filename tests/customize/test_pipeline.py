"""pipeline: an annotation with an initiation interval."""

from allo import customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_ir, assert_refused


def scale(A: int32[10]):
    for i in range(10):
        A[i] = A[i] * 3


def dynamic(A: int32[8], n: int32):
    for i in range(n):
        A[i] += 1
    while A[0] > 0:
        A[0] -= 1


def test_interval_of_one():
    s = customize(scale)
    assert s.pipeline("i") is None
    assert_ir(
        s,
        """
        func.func @scale(%arg0: memref<10xi32> {allo.name = "A"}) {
          affine.for %arg1 = 0 to 10 {
            %0 = affine.load %arg0[%arg1] : memref<10xi32>
            %1 = arith.extsi %0 : i32 to i34
            %c3_i34 = arith.constant 3 : i34
            %2 = arith.muli %1, %c3_i34 : i34
            %3 = arith.trunci %2 : i34 to i32
            affine.store %3, %arg0[%arg1] : memref<10xi32>
          } {allo.name = "i", allo.nest = "S_i_0", allo.pipeline = 1 : i32}
          return
        }
        """,
    )
    assert_faithful(scale, s)


def test_interval_and_rewind():
    s = customize(scale)
    s.pipeline("i", initiation_interval=3, rewind=True)
    assert "allo.pipeline = 3 : i32, allo.rewind}" in str(s.module)
    assert str(s.steps[0]) == 's.pipeline("scale:S_i_0.i", initiation_interval=3, rewind=True)'
    assert_faithful(scale, s)


def test_second_call_replaces_the_first():
    s = customize(scale)
    s.pipeline("i", 3, rewind=True)
    s.pipeline("i", 2)
    assert "allo.rewind" not in str(s.module) and "allo.pipeline = 2 : i32" in str(s.module)
    assert_faithful(scale, s)


def test_loops_with_run_time_bounds():
    s = customize(dynamic)
    s.pipeline("i")
    s.pipeline("while", 2)
    assert str(s.get_loops()) == "dynamic\n  S_i_0:\n    i  (pipeline=1)\n  while:\n    while  (pipeline=2)"
    assert_faithful(dynamic, s)


def test_together_with_unroll_and_parallel():
    s = customize(scale)
    outer, inner = s.split("i", 4)
    s.pipeline(inner)
    s.unroll(inner, 2)
    s.parallel(outer)
    assert_faithful(scale, s)


def test_interval_below_one():
    assert_refused(
        """
        pipeline: initiation_interval must be at least 1, got 0
          note: loop 'i' is here
            File, line N, column 5
              for i in range(10):
              ^
        """,
        customize(scale),
        "pipeline",
        "i",
        0,
    )


def test_interval_of_more_than_32_bits():
    message = "pipeline: initiation_interval must fit in 32 bits, got 2147483648"
    assert_refused(message, customize(scale), "pipeline", "i", 2**31)


def test_rewind_is_a_truth_value():
    assert_refused(
        "pipeline: rewind must be True or False, got 'no'", customize(scale), "pipeline", "i", rewind="no"
    )
