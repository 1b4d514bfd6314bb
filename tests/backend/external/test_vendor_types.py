"""Integers of HLS tools: they lie in memory in their own way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.external import compiler
from allo.backend.external.source import vendor_folders
from allo.errors import ToolError
from allo.ir.types import Int, int5, int7, uint12


def module(top: str, sources: Path) -> allo.IPModule:
    return allo.IPModule(top, sources / "narrow.cpp", include_paths=[sources.parent / "include"])


def test_arrays_references_and_wide_numbers(sources: Path) -> None:
    A = np.array([[-3, 2, 7], [-8, 9, -16]], np.int8)
    B, C, wide = np.zeros((2, 3), np.int8), np.array([0, 4095, 7], np.uint16), np.array([1 << 80], object)
    module("double_all", sources)(A, B, C, wide, 1)
    assert B.tolist() == [[-6, 4, 14], [-16, -14, 0]]  # as int5
    assert C.tolist() == [1, 0, 8]
    assert wide.tolist() == [-3 << 80]


@pytest.mark.skipif(not vendor_folders(), reason="there are no headers of HLS types")
def test_headers_that_are_found_without_being_named(sources: Path) -> None:
    assert allo.IPModule("sum", sources / "narrow.cpp")(np.array([60, 3], np.int8), 1) == -64  # wraps, as in C++


def test_in_a_kernel(sources: Path) -> None:
    double_all = module("double_all", sources)
    wide = Int(100)

    def kernel(A: int5[2, 3], C: uint12[3], W: wide[1]) -> int5[2, 3]:
        B: int5[2, 3] = 0
        double_all(A, B, C, W, 0)
        return B

    C, W = np.array([0, 4095, 7], np.uint16), np.array([-(1 << 98)], object)
    A = np.array([[-3, 2, 7], [-8, 9, -16]], np.int8)
    assert allo.customize(kernel).build()(A, C, W).tolist() == [[-6, 4, 14], [-16, -14, 0]]
    assert C.tolist() == [1, 0, 8] and W.tolist() == [-(1 << 98)]


def test_result_and_pointer(sources: Path) -> None:
    total = module("sum", sources)

    def kernel(A: int7[2], start: int7) -> int7:
        return total(A, start)

    A = np.array([1, -60], np.int8)
    assert total(A, -3) == -62
    assert allo.customize(kernel).build()(A, -7) == 62  # wraps, as in C++


def test_copies_that_share_memory_are_refused(sources: Path) -> None:
    A = np.zeros((2, 3), np.int8)
    with pytest.raises(ValueError, match=r"^arguments 'A' and 'B' share memory, and the kernel"):
        module("double_all", sources)(A, A, np.zeros(3, np.uint16), np.array([0], object), 1)


def test_header_that_is_not_there(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "vendor_folders", lambda: ())
    with pytest.raises(ToolError) as caught:
        allo.IPModule("sum", sources / "narrow.cpp")
    text = str(caught.value)
    assert text.startswith(f"the external kernel 'sum' does not compile:\n{sources / 'narrow.cpp'}:1:10: fatal error: ")
    assert text.endswith(
        "  hint: 'ap_int.h' is a header of an HLS tool, and none is installed here: pass its folder in "
        "include_paths=[...], or set XILINX_HLS"
    )
