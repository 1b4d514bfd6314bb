"""Roles of loops: which are pipelined unasked, and which datapaths a function consists of."""

from __future__ import annotations

import allo
from allo.ir.types import float32
from allo.ir.walk import entry_block, loops_of
from allo.timing.roles import Roles


def nests(A: float32[8, 8], B: float32[8]):
    B[0] = 1.0
    for i in range(8):
        for j in range(8):
            A[i, j] = 0.0
    for k in range(8):
        B[k] = B[k] * 2.0
        for m in range(4):
            A[k, m] = B[k]


def paths(s: allo.Schedule, auto: bool) -> list[list[str]]:
    function = s.ir.function(s.ir.top)
    entry = entry_block(function)
    assert entry is not None
    roles = Roles({view.op: view for view in loops_of(function)}, auto)
    return [[view.name for view in path.time] for path in roles.datapaths(entry)]


def test_loops_that_are_not_pipelined_have_a_datapath_each() -> None:
    assert paths(allo.customize(nests), False) == [[], ["j"], [], ["m"]]


def test_nests_are_one_pipeline() -> None:
    assert paths(allo.customize(nests), True) == [[], ["i", "j"], [], ["m"]]


def test_loops_in_a_pipelined_one_are_part_of_its_datapath() -> None:
    s = allo.customize(nests)
    s.pipeline("k")
    assert paths(s, False) == [[], ["j"], ["k"]]


def test_loops_with_marks_are_not_pipelined_unasked() -> None:
    s = allo.customize(nests)
    s.unroll("m", factor=2)
    states = [allo.estimate(s, auto_pipeline=True).loop(name).state for name in ("j", "m")]
    assert states == ["pipelined", "sequential"]
