"""TECs print and parse, infer types, and refuse what the rules of TEIR forbid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from allo.errors import ContractionError
from allo.mapping.teir import (
    ORIGINAL,
    ORIGINAL_NPU,
    PROCESSOR,
    DataType,
    DimType,
    ExecType,
    Processor,
    Tec,
    TecDimension,
    TecDomain,
    inferred_type,
)
from allo.mapping.teir.npu import NpuArray
from allo.mapping.teir.npu.rules import XDNA

GEMM = Tec.of("MNMNK", ["seq"] * 2 + ["prim"] * 3, (5, 5, 4, 8, 30), (120, 0, 30, 0, 1), (0, 8, 0, 1, 40),
              (160, 8, 40, 1, 0), "FP64", prim_main="GEMM", names=("i.outer", "k.outer", "i", "k", "j"))  # fmt: skip

TEXT = """\
tec data_type=FP64 prim_first=zero prim_main=GEMM prim_last=none
  dimension  type  exec  size  in0  in1  out
  i.outer    M     seq      5  120    0  160
  k.outer    N     seq      5    0    8    8
  i          M     prim     4   30    0   40
  k          N     prim     8    0    1    1
  j          K     prim    30    1   40    0"""


def test_a_tec_prints_as_a_table_and_parses_again() -> None:
    assert str(GEMM) == TEXT
    assert Tec.parse(TEXT) == GEMM


def test_properties_are_those_of_the_thesis() -> None:
    assert "".join(GEMM.dim_types) == "MNMNK"
    assert GEMM.exec_types == (ExecType.SEQ,) * 2 + (ExecType.PRIM,) * 3
    assert GEMM.dim_sizes == (5, 5, 4, 8, 30)
    assert GEMM.strides(0) == (120, 0, 30, 0, 1)
    assert [GEMM.extent(k) for k in range(3)] == [600, 1200, 800]
    assert GEMM.operations == 2 * 20 * 40 * 30


def test_types_follow_from_strides_as_in_table_2() -> None:
    assert [inferred_type(s) for s in ((2, 3, 1), (1, 0, 7), (0, 5, 1), (4, 1, 0))] == list("CMNK")
    assert [inferred_type(s) for s in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))] == [None] * 4
    assert [inferred_type(s, unary=True) for s in ((1, 0, 7), (4, 0, 0))] == [DimType.M, DimType.K]


def dimension(name: str, type: str, execution: str, size: Any, *strides: Any) -> TecDimension:
    return TecDimension(name, DimType(type), ExecType(execution), size, strides)  # type: ignore[arg-type]


M, N, K = (dimension(*row) for row in (
    ("i", "M", "prim", 4, 8, 0, 6), ("k", "N", "prim", 6, 0, 1, 1), ("j", "K", "prim", 8, 1, 6, 0)
))  # fmt: skip

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"dimensions": ()}, "a TEC has at least one dimension\n  hint: a scalar has one of size 1"),
    ({"dimensions": (M, replace(M, execution=ExecType.SEQ))}, "two dimensions are called 'i'"),
    ({"dimensions": (replace(M, name="i j"), N, K)},
     "a dimension cannot be called 'i j': names have letters and no blanks"),
    ({"dimensions": (replace(M, size=0), N, K)}, "dimension 'i' has size 0: sizes are positive integers"),
    ({"dimensions": (replace(M, size=True), N, K)}, "dimension 'i' has size True: sizes are positive integers"),
    ({"dimensions": (M, N, replace(K, strides=(-1, 6, 0)))},
     "dimension 'j' has stride -1 in in0: strides are natural numbers\n  hint: turn the dimension around before"),
    ({"dimensions": (M, N, replace(K, type=DimType.N))},
     "dimension 'j' exists in in0 and in1: its type is K, not N\n\n"
     "a GEMM has prim dimensions of types M, N, K, in this order; got of types M, N, N"),
    ({"dimensions": (M, N, replace(K, strides=(1, 0, 0)))},
     "dimension 'j' exists in in0, which is none of the types of Tab. 2\n"
     "  hint: sum in0 over it in a TEC of its own (prim_main 'add') before"),
    ({"dimensions": (replace(M, strides=(0, 0, 6)), N, K)},
     "dimension 'i' exists in out, which is none of the types of Tab. 2\n"
     "  hint: repeat the result along it afterwards"),
    ({"dimensions": (replace(M, strides=(0, 0, 0)), N, K)},
     "dimension 'i' exists in no tensor, which is none of the types of Tab. 2\n  hint: leave it out"),
    ({"dimensions": (N, M, K)}, "a GEMM has prim dimensions of types M, N, K, in this order; got of types N, M, K"),
    ({"prim_main": "BRGEMM"},
     "a BRGEMM has prim dimensions of types K, M, N, K, in this order; got of types M, N, K"),
    ({"dimensions": tuple(replace(d, execution=ExecType.SEQ) for d in (M, N, K))},
     "a GEMM has prim dimensions of types M, N, K, in this order; got none"),
    ({"prim_main": "none"}, "prim_main is none, and there are prim dimensions\n"
                            "  hint: say which primitive they are of"),
    ({"dimensions": (M, N, K, replace(N, name="b", execution=ExecType.SEQ, size=2, strides=(0, 48, 24)))},
     "dimension 'i' is prim, and a loop follows it: prim dimensions come last\n  hint: permute them"),
    ({"dimensions": (dimension("b", "K", "shared", 2, 32, 48, 0), M, N, K)},
     "dimension 'b' of type K cannot be shared: threads would add to the same elements\n"
     "  hint: make it seq, or share a dimension of type C, M or N"),
    ({"dimensions": (dimension("a", "M", "seq", 2, 32, 0, 24), dimension("b", "N", "shared", 2, 0, 48, 48), M, N, K)},
     "dimension 'b' is shared and stands in a loop that is not: shared dimensions come first"),
    ({"dimensions": (replace(M, strides=(8, 0, 5)), N, K)},
     "dimensions 'i' (stride 5) and 'k' may reach the same element of out\n  hint: sum it in another TEC"),
    ({"dimensions": (replace(M, type=DimType.C),), "prim_main": "copy"},
     "dimension 'i' has type C: a copy has the types M and K"),
    ({"dimensions": (M, K), "prim_main": "copy"},
     "dimension 'j' exists in in0 and in1, which is none of the types of Tab. 2\n  hint: leave it out\n\n"
     "dimension 'j' of type K is summed, which a copy does not\n  hint: the primitive is 'add'"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractionError) as error:
        replace(Tec((M, N, K), GEMM.data_type, prim_main=GEMM.prim_main), **changes)
    assert str(error.value) == message


WRONG_TEXTS = [
    ("", "the text of a TEC begins with 'tec'\n  hint: print one to see the form"),
    ("tec type=FP64", "line 1: 'type=FP64' is no property of a TEC"),
    ("tec prim_main=GEMM", "line 1: there is no data_type"),
    ("tec data_type=FP32 data_type=FP64", "line 1: 'data_type' is given twice"),
    (3, "a TEC is parsed from text, got int"),
    (TEXT.replace("FP64", "FP16"), "data_type cannot be 'FP16': it is one of 'FP32', 'FP64', 'bfloat_16'"),
    (TEXT.replace("      5  120", "  120"),
     "line 3: a dimension has the 7 entries dimension, type, exec, size, in0, in1, out; got 6"),
    (TEXT.replace("120", "-120"), "line 3: in0 is a number, got '-120'"),
    (TEXT.replace("N     seq", "L     seq"), "line 4: type cannot be 'L': it is one of 'C', 'M', 'N', 'K'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS, ids=[str(k) for k in range(len(WRONG_TEXTS))])
def test_texts_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        Tec.parse(text)
    assert str(error.value) == message


def test_values_that_are_no_dimensions() -> None:
    wrong: dict[str, Any] = {
        "'a' is no TecDimension with strides in in0, in1, out": "a",
        "TecDimension(name='a', type=<DimType.M: 'M'>, execution=<ExecType.SEQ: 'seq'>, size=4, strides=(1, 0)) is no"
        " TecDimension with strides in in0, in1, out": TecDimension("a", "M", "seq", 4, (1, 0)),  # type: ignore[arg-type]
        "a dimension cannot be called 3: names have letters and no blanks":
            TecDimension(3, DimType.M, ExecType.SEQ, 4, (1, 0, 1)),  # type: ignore[arg-type]
    }  # fmt: skip
    for message, dimension in wrong.items():
        with pytest.raises(ContractionError) as error:
            Tec([dimension], DataType.FP32)  # type: ignore[arg-type]
        assert str(error.value) == message
    listed = replace(GEMM, dimensions=list(GEMM.dimensions))  # type: ignore[arg-type]
    assert listed == GEMM and hash(listed) == hash(GEMM)


def test_tuples_of_other_lengths() -> None:
    with pytest.raises(ContractionError, match=r"^dim_types has 3 entries and strides_in1 2$"):
        Tec.of("MNK", ["seq"] * 3, (2, 2, 2), (2, 0, 1), (0, 1), (2, 1, 0), "FP32")


def test_a_processor_has_no_npu_dimensions() -> None:
    PROCESSOR.check(GEMM)
    npu = replace(GEMM.dimensions[0], execution=ExecType.NPU)
    with pytest.raises(ContractionError, match=r"^a processor has no execution type 'npu' \(dimension 'i.outer'\)$"):
        PROCESSOR.check(GEMM.with_dimensions((npu, *GEMM.dimensions[1:])))


def test_a_dimension_that_is_not_there() -> None:
    with pytest.raises(ContractionError) as error:
        GEMM["i.outr"]
    assert str(error.value) == "the TEC has no dimension 'i.outr'\n  hint: did you mean 'i.outer'?"


def test_processors_and_arrays_have_positive_numbers() -> None:
    with pytest.raises(ContractionError, match=r"^registers of a processor is a whole number from 3 on, got 2$"):
        Processor(registers=2)
    with pytest.raises(ContractionError, match=r"^parts of a processor is a whole number from 1 on, got 0$"):
        Processor(parts=0)
    with pytest.raises(ContractionError, match=r"^per_byte of a processor is a number from 0 on, got nan$"):
        Processor(per_byte=float("nan"))
    with pytest.raises(ContractionError, match=r"^columns of an array is a positive whole number, got '4'$"):
        NpuArray(columns="4")  # type: ignore[arg-type]


FIGURE_6 = """\
domain TEIR for XDNA
  exec_types  seq, npu, prim
  data_type   bfloat_16
  prim_first  zero
  prim_main   GEMM
  prim_last   none"""


def test_domains_print_parse_and_say_what_they_lack() -> None:
    assert str(ORIGINAL_NPU) == FIGURE_6
    for domain in (ORIGINAL, ORIGINAL_NPU, PROCESSOR, XDNA):
        assert TecDomain.parse(str(domain)) == domain
    ORIGINAL.check(GEMM)
    more = replace(GEMM, data_type=DataType.BF16, prim_first="copy")  # type: ignore[arg-type]
    assert ORIGINAL.violations(more) == [
        "TEIR has no data_type 'bfloat_16'; it has 'FP32', 'FP64'",
        "TEIR has no prim_first 'copy'; it has 'none', 'zero', 'relu'",
    ]
    assert ORIGINAL_NPU.violations(replace(GEMM, prim_last="relu")) == [  # type: ignore[arg-type]
        "TEIR for XDNA has no data_type 'FP64'; it has 'bfloat_16'",
        "TEIR for XDNA has no prim_last 'relu'; it has 'none'",
    ]


WRONG_DOMAINS = [
    (3, "the text of a domain begins with 'domain' and its name\n  hint: print one to see"),
    ("domain", "the text of a domain begins with 'domain' and its name\n  hint: print one to see"),
    (FIGURE_6.replace("prim_last", "prim_end"), "line 6: 'prim_end' is no property of a domain"),
    (FIGURE_6.replace("prim_last ", "data_type "), "line 6: 'data_type' is given twice"),
    (FIGURE_6.rpartition("\n")[0], "the domain 'TEIR for XDNA' has no line for 'prim_last'"),
    (FIGURE_6.replace("npu,", "cpu,"),
     "line 2: exec_types cannot be 'cpu': it is one of 'seq', 'shared', 'npu', 'prim'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG_DOMAINS, ids=[str(k) for k in range(len(WRONG_DOMAINS))])
def test_texts_that_are_no_domains(text: str, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        TecDomain.parse(text)
    assert str(error.value) == message
