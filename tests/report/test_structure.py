"""s.report(): the facts of loops and arrays."""

import json

import allo
from allo import Partition
from allo.ir.types import float32, int32


def gemm(A: float32[30, 32], B: float32[32, 8], C: float32[30, 8]):
    for i, j in allo.grid(30, 8, name="PE"):
        for k in range(32):
            C[i, j] += A[i, k] * B[k, j]


def test_loops_count_trips_and_bytes():
    report = allo.customize(gemm).report()
    inner = report.loops[2]
    assert (inner.nest, inner.name, inner.depth, inner.trips.constant) == ("PE", "k", 2, 32)
    assert (inner.bytes_read.value, inner.bytes_written.value) == (3 * 4 * 30 * 8 * 32, 4 * 30 * 8 * 32)
    assert report.loops[0].bytes_read == inner.bytes_read and inner.bytes_read.exact


def test_annotations_and_layouts():
    s = allo.customize(gemm)
    s.pipeline("k", initiation_interval=2)
    s.partition("A", partition_type=Partition.Cyclic, dim=2, factor=4)
    s.partition("C", partition_type=Partition.Complete, dim=0)
    report = s.report()
    assert report.loops[2].annotations == ("pipeline=2",)
    assert [(b.name, b.banks, b.ports, b.bytes) for b in report.buffers] == [
        ("A", 4, 8, 3840),
        ("B", 1, 2, 1024),
        ("C", 240, 480, 960),
    ]


def test_guards_and_run_time_loops_are_bounds():
    def kernel(A: int32[64], n: int32):
        for i in range(64):
            if i > 3:
                for j in range(i):
                    A[i] += A[j]
        for i in range(n):
            A[i] = 0

    report = allo.customize(kernel).report()
    assert [str(row.trips) for row in report.loops] == ["64", "~33.5 (4 to 63)", "?"]
    assert str(report.loops[1].bytes_written) == f"{4 * sum(range(4, 64))}"
    assert str(report.loops[2].bytes_written) == "?"


def test_calls_count_the_bytes_of_the_callee():
    def copy(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i]

    def top(A: int32[8], B: int32[8]):
        for _ in range(5):
            copy(A, B)

    loop = next(row for row in allo.customize(top).report().loops if row.function == "top")
    assert (loop.bytes_read.value, loop.bytes_written.value) == (5 * 32, 5 * 32)


def test_text_and_json():
    report = allo.customize(gemm).report()
    assert str(report).splitlines()[3:6] == [
        "gemm:PE.i  30     -            92160       30720",
        "  j        8      -            92160       30720",
        "    k      32     -            92160       30720",
    ]
    assert json.loads(report.to_json())["loops"][2]["trips"] == {"mean": 32, "least": 32, "greatest": 32}


def square(X: int32[8]):
    for i in range(8):
        X[i] = X[i] * X[i]


def test_partitions_that_meet_and_what_they_cost():
    def top(A: int32[8]):
        square(A)

    s = allo.customize(top)
    s.partition("A", Partition.Cyclic, factor=4)
    assert s.report().meets == ()
    s.partition("square:X", Partition.Block, factor=2)
    (meet,) = s.report().meets
    assert (meet.arrays, meet.layout, meet.banks) == (("square:X", "top:A"), "[complete]", 8)
    assert [(r.buffer, r.layout, r.banks) for r in meet.requests] == [
        ("top:A", "[cyclic 4]", 4),
        ("square:X", "[block 2]", 2),
    ]
    assert str(s.report()).splitlines()[-2] == "partitions that meet in arrays joined by calls"
    assert str(s.report()).splitlines()[-1].endswith("meet in [complete], 8 banks")


def test_a_request_that_serves_the_others_costs_nothing_more():
    def top(A: int32[8]):
        square(A)

    s = allo.customize(top)
    s.partition("A", factor=2)
    s.partition("square:X", factor=4)
    assert s.report().meets == ()


def test_arrays_of_streams_are_no_memories():
    s = allo.customize(gemm)
    rows = s.buffer_at("A", "j")
    s.relay(rows, s.unfold("PE", axes=[1]), axis=1)
    report = s.report()
    assert [b.name for b in report.buffers] == ["A", "B", "C"]
    assert {loop.name: loop.bytes_read.value for loop in report.loops if loop.nest == "load_buf_A"} == {
        "k_init": 3840,
        "i": 3840,
    }
