"""The rewrites as a pipeline: options, names, records, and modules that stay as they are."""

from __future__ import annotations

import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import int32
from allo.timing.rewrites import NAMES, RewriteOptions, prepared
from allo.verify import Equivalent


def kernel(A: int32[4, 8], y: int32[4]):
    for i in range(4):
        for u in range(8):
            v: int32 = A[i, u]
            y[i] += v


def test_the_module_stays_as_it_is() -> None:
    s = allo.customize(kernel)
    before = str(s.module)
    assert str(prepared(s.ir).module) != before
    assert str(s.module) == before


def test_twice_changes_nothing_more() -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    once = prepared(s.ir).module
    assert str(prepared(once).module) == str(once)


def test_each_line_says_what_was_done() -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    lines = str(prepared(s.ir)).splitlines()
    made, used = (kernel.__code__.co_firstlineno + n for n in (3, 4))
    assert lines == [
        f"kernel, line {used}: allo-forward-stores: v is the value that line {made} has stored",
        f"kernel, line {made}: allo-forward-stores: variable 'v' is not needed any more",
        f"kernel, line {used}: allo-reduction-trees: 8 values that copies combine with y[i] are combined in a tree",
    ]


def test_innermost_loops_may_be_pipelined_unasked() -> None:
    s = allo.customize(kernel)
    assert "y_register" in str(prepared(s.ir).module)
    assert "y_register" not in str(prepared(s.ir, RewriteOptions(auto_pipeline=True)).module)


def test_a_name_that_no_pass_has() -> None:
    with pytest.raises(TargetError) as error:
        prepared(allo.customize(kernel).ir, only=["allo-promote"])
    assert str(error.value) == "no rewrite is called 'allo-promote'\n  hint: did you mean 'allo-promote-scalars'?"


def test_operators_on_whole_arrays_become_loops() -> None:
    def product(A: int32[4, 4], B: int32[4, 4]) -> int32[4, 4]:
        return allo.matmul(A, B)

    assert "linalg" not in str(prepared(allo.customize(product).ir).module)


def test_the_verifier_proves_all_that_keep_the_bits() -> None:
    s = allo.customize(kernel)
    s.pipeline("i")
    made = prepared(s.ir, only=[name for name in NAMES if name != "allo-strength-reduce-addresses"])
    assert isinstance(allo.verify(s, str(made.module)), Equivalent)
