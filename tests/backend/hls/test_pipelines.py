"""Pragmas of pipelines: on loops of one iteration, which tools drop, and on loops that use streams."""

# ruff: noqa: B007, F821 - loops of one iteration; kernels declare arrays without a value

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import int32


def summed(A: int32[8, 4], B: int32[8]):
    for i in range(8):
        for one in range(1):
            for j in range(4):
                B[i] += A[i, j]


def apart(A: int32[8, 4], B: int32[8]):
    for i in range(8):
        B[i] = 1
        for one in range(1):
            for j in range(4):
                B[i] += A[i, j]


def twice(A: int32[8, 4], B: int32[8]):
    for i in range(8):
        for one in range(1):
            for two in range(3, 4):
                for j in range(4):
                    B[i] += A[i, j]


def pragmas(s: allo.Schedule) -> dict[str, list[str]]:
    """The pragmas of each loop, by the end of its label."""
    found: dict[str, list[str]] = {}
    label = ""
    for line in s.build(target="vhls").hls_code.splitlines():
        if ": for (" in line:
            label = line.split(":")[0].split("_")[-1]
            found[label] = []
        elif line.startswith("#pragma HLS") and label:
            found[label].append(line.removeprefix("#pragma HLS "))
    return found


@pytest.mark.parametrize(("kernel", "loop"), [(summed, "one"), (twice, "one"), (twice, "two")])
def test_the_loop_around_is_pipelined(kernel: object, loop: str) -> None:
    s = allo.customize(kernel)
    s.pipeline(loop, initiation_interval=3)
    found = pragmas(s)
    assert found["i"] == ["pipeline II=3"] and found[loop] == []


def test_rewind_moves_along() -> None:
    s = allo.customize(summed)
    s.pipeline("one", rewind=True)
    assert pragmas(s) == {"i": ["pipeline II=1 rewind"], "one": [], "j": []}


def test_nothing_to_overlap_is_unrolled() -> None:
    s = allo.customize(apart)
    s.pipeline("one")
    assert pragmas(s) == {"i": [], "one": [], "j": ["unroll"]}


def test_what_the_user_says_of_other_loops_stays() -> None:
    s = allo.customize(apart)
    s.pipeline("one")
    s.unroll("j", 2)
    assert pragmas(s) == {"i": [], "one": [], "j": ["unroll factor=2"]}
    s = allo.customize(summed)
    s.pipeline("one")
    s.pipeline("i", initiation_interval=5)
    assert pragmas(s) == {"i": ["pipeline II=5"], "one": [], "j": []}


def test_the_schedule_itself_does_not_change() -> None:
    s = allo.customize(summed)
    s.pipeline("one")
    before = str(s.module)
    assert s.build(target="vhls") and str(s.module) == before
    A, B = np.arange(32, dtype=np.int32).reshape(8, 4), np.zeros(8, np.int32)
    s.build(target="vitis_hls", mode="csim")(A, B)
    assert B.tolist() == A.sum(axis=1).tolist()


def passed_on(A: int32[16], B: int32[16], C: int32[16], D: int32[16]):
    T: int32[16]
    for i in range(16):
        T[i] = A[i] * 2
    for j in range(16):
        B[j] = T[j] + 1
    for k in range(16):
        C[k] = D[k] * D[k]


@pytest.mark.parametrize(
    ("target", "style"), [("vhls", " style=flp"), ("vivado_hls", " enable_flush"), ("catapult", None)]
)
def test_pipelines_that_wait_for_streams_go_on_with_what_is_in_them(target: str, style: str | None) -> None:
    """As estimates assume; a pipeline that stops keeps results back that others wait for."""
    s = allo.customize(passed_on)
    for loop in "ik":
        s.pipeline(loop)
    s.pipeline("j", rewind=target != "catapult")
    s.relay("T", "S_j_1", depth=2)
    found = [line.strip() for line in s.build(target=target).hls_code.splitlines()]
    found = [line for line in found if line.startswith("#pragma") and "pipeline" in line]
    if style is None:
        assert found == ["#pragma hls_pipeline_init_interval 1"] * 3
    else:
        plain = "#pragma HLS pipeline II=1"
        assert found.count(f"{plain}{style}") == found.count(f"{plain} rewind") == 1
        assert plain in found
