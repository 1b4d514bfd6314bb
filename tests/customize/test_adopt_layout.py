"""Modules with the data layout of another tool, older ones too, mean the same as without."""

import pytest

import allo
from allo import Schedule

BODY = """func.func @f(%A: memref<4xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 4 {
    affine.store %one, %A[%i] : memref<4xi32>
  }
  return
}
}"""
OLDER = """module attributes {dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<!llvm.ptr<272>, dense<64> : vector<4xi32>>,
  #dlti.dl_entry<i64, dense<64> : vector<2xi32>>, #dlti.dl_entry<"dlti.endianness", "lit<tle">>,
  llvm.data_layout = "e-m:e-p270:32:32-i64:64-f80:128-n8:16:32:64-S128", "tool.target-cpu" = "x86-64"} {
"""
NEWER = (
    "module attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i64, i64 = dense<64> : vector<2xi64>>} {\n"
)


@pytest.mark.parametrize("head", [OLDER, NEWER], ids=["older", "newer"])
def test_layouts_are_read_and_dropped(head, tmp_path):
    file = tmp_path / "f.mlir"
    file.write_text(head + BODY)
    for source in (head + BODY, file):
        s = Schedule.from_mlir(source)
        assert "dl_entry" not in str(s.module) and "index" not in str(s.module)
    assert allo.verify(head + BODY, "module {\n" + BODY)


def test_lines_stay_where_they_were():
    with pytest.raises(allo.KernelError, match=r"line 7, column 5: arg0\[i \+ 1\] is outside of the array"):
        Schedule.from_mlir(OLDER + BODY.replace("%A[%i]", "%A[%i + 1]"))


@pytest.mark.parametrize(
    "head",
    [
        OLDER.replace("i64,", "index,", 1).replace("dense<64> : vector<2xi32>", "32 : i32"),
        NEWER.replace("64", "32", 1),
    ],
)
def test_an_index_of_other_widths_is_refused(head):
    with pytest.raises(allo.KernelError) as caught:
        Schedule.from_mlir(head + BODY)
    assert str(caught.value) == (
        "the data layout of the module says that an index has 32 bits, and here it has 64\n"
        "  hint: lower the module for 64 bits, or remove dlti.dl_spec if no index leaves its range"
    )


def test_other_mistakes_are_told_as_before():
    with pytest.raises(allo.KernelError, match="the text is not a valid module: line 5"):
        Schedule.from_mlir(OLDER + BODY.replace("arith.constant", "arith.konstant"))
