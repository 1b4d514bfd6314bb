"""Words in streams: packed elements and bits of wide integers, behind all doors."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import allo.dataflow as df
from allo.ir.types import Stream, index, int8, int32, uint8
from tests.dataflow import packed as p

from .doors import in_c
from .test_polling import asked

DTYPES = {"int8": np.int8, "uint5": np.uint8, "bfloat16": ml_dtypes.bfloat16, "bool": np.bool_}
IN_CPP = ("fixed", "bfloat16")
SLOWLY = [pytest.param(name, True, marks=pytest.mark.slow) for name in IN_CPP]


def rows(dtype: type) -> np.ndarray:
    return (np.arange(p.M * p.P).reshape(p.M, p.P) * 3 % 17).astype(dtype)


@pytest.mark.parametrize(("name", "csim"), [*((name, False) for name in p.KINDS), *SLOWLY])
def test_elements_side_by_side(name: str, csim: bool) -> None:
    dtype = DTYPES.get(name, np.float32)
    A = -rows(dtype) if name in ("int8", "fixed", "float32") else rows(dtype)
    found = asked(p.scaled(p.KINDS[name]), A, np.zeros_like(A), csim=csim).arguments[1]
    np.testing.assert_array_equal(found, A)


def test_one_word_a_row() -> None:
    s = df.customize(p.scaled(int8))
    assert str(s.ir.mlir).count("!allo.stream<ui32, 2>") > 0
    code = s.build(target="vhls").hls_code
    assert "hls::stream<uint32_t> pipe;\n#pragma HLS stream variable=pipe depth=2" in code
    assert code.count(".write(") == code.count(".read(") == 1
    assert s.verify()


@in_c
def test_words_are_tried(csim: bool) -> None:
    A = rows(np.int16)
    found = asked(p.tried, A, np.zeros_like(A), csim=csim).arguments[1]
    assert sorted(map(tuple, found)) == sorted(map(tuple, A + 1))


def test_words_are_looked_at() -> None:
    A = rows(np.int16)
    found = asked(p.looked, A, np.zeros_like(A), csim=False).arguments[1]
    np.testing.assert_array_equal(found, np.where(A[:, :1] % 2 == 0, A, 2 * A))


@in_c
def test_structs_side_by_side(csim: bool) -> None:
    A = rows(np.int8)[:, :2].copy()
    found = asked(p.pairs, A, np.zeros_like(A), csim=csim).arguments[1]
    np.testing.assert_array_equal(found, 2 * A)


def test_bits_of_words_of_320_bits() -> None:
    random = np.random.default_rng(3)
    rows_of_bytes = random.integers(0, 256, (p.M, 40)).astype(np.uint8)
    A = np.array([int.from_bytes(row.tobytes(), "little") for row in rows_of_bytes], dtype=object)
    _, B, C = asked(p.words, A, np.zeros(p.M, object), np.zeros((p.M, 40), np.int8)).arguments
    np.testing.assert_array_equal(C.view(np.uint8), rows_of_bytes)
    assert [int(b) for b in B] == [int.from_bytes(row[::-1].tobytes(), "little") | 8 for row in rows_of_bytes]


def test_types() -> None:
    kind = Stream[uint8, 8, 4][2]
    assert repr(kind) == "Stream[uint8, 8, 4][2]" and (kind.holds, kind.moved.bits) == (2, 32)
    assert Stream[uint8, 8, 1] == Stream[uint8, 8]
    for parameters, message in (
        ((int32, 6, 4), "the depth of a stream counts elements, and 6 is no multiple of the 4 packed"),
        ((int32, 64, 64), "64 elements of 32 bits are 2048 bits, and a word has 1024 at most"),
        ((int32, 4, 0), "the number of elements that are packed must be a positive integer, got 0"),
        ((int32[2], 4, 2), "blocks are not packed: a stream packs numbers and structs of known width"),
        ((index, 4, 2), "index is not packed: a stream packs numbers and structs of known width"),
        ((int32, 4, 2, 1), "Stream takes an element type, a depth, and how many elements are packed, got 4 parameters"),
    ):
        with pytest.raises(TypeError) as caught:
            Stream[parameters]
        assert str(caught.value) == message
