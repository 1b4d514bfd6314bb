"""pack: consecutive elements in one wide word."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mlir import ir

import allo
from allo import customize
from allo.customize.array.constant_bits import element_bits
from allo.ir.context import context
from allo.ir.types import Fixed, Int, UInt, bool, float16, float32, float64, index, int8, int16, int32, uint8

from .checks import assert_faithful, assert_ir, assert_refused, ir_text, parsed

WEIGHTS = np.arange(-16, 16, dtype=np.int16).reshape(4, 8)
SCALES = np.linspace(-2, 2, 8, dtype=np.float32)
QUARTERS = np.array([1.5, -2.25, 3.0, 0.5, -8.0, 7.75, 0.0, 1.0])
FLAGS = np.array([True, False, False, True])


def mirrored(element: Any) -> Callable[..., None]:
    """A kernel that reads and writes all elements of arrays of a type, in different places of their words."""

    def kernel(A: element[4, 8], B: element[4, 8]):
        for i, j in allo.grid(4, 8):
            B[i, 7 - j] = A[3 - i, j]

    return kernel


def add(A: int8[4, 8], B: int32[8]):
    for i, j in allo.grid(4, 8):
        B[j] += A[i, j]


def fill(A: int32[8]):
    T: uint8[8]
    for i in range(8):
        T[i] = i * 40
    for i in range(8):
        A[i] = T[7 - i]


def gather(A: int8[8], P: int32[8], B: int8[8]):
    for i in range(8):
        B[P[i]] = A[P[7 - i]]


def weigh(A: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        A[i, j] = A[i, j] * WEIGHTS[i, j]


def scale(A: float32[8]):
    for i in range(8):
        A[i] = A[i] * SCALES[i]


def choose(A: int32[4]):
    for i in range(4):
        if FLAGS[i]:
            A[i] = 0


def weigh_fixed(A: int32[8]):
    W: Fixed(8, 4)[8] = QUARTERS
    for i in range(8):
        A[i] = A[i] * W[7 - i]


def double(X: int16[8]) -> int16[8]:
    Y: int16[8]
    for i in range(8):
        Y[i] = X[i] * 2
    return Y


def chain(A: int16[8]) -> int16[8]:
    T: int16[8] = double(A)
    U: int16[8] = double(T)
    return U


def wide(A: float64[32], B: float64[32]):
    T: float64[32]
    for i in range(32):
        T[i] = A[i] + 1.0
    for i in range(32):
        B[i] = T[31 - i]


def run_time_extent(A: int8[...], B: int32[8]):
    for i in range(8):
        B[i] = A[i]


def scalar(A: int32[8]):
    t: int32 = A[0]
    for i in range(8):
        A[i] = t


def positions(A: int32[8]):
    T: index[8]
    for i in range(8):
        T[i] = i
    for i in range(8):
        A[i] = T[i]


def packed(array: np.ndarray[Any, Any], axis: int, factor: int, bits: int) -> np.ndarray[Any, Any]:
    """The words that `pack` makes of the elements of `array` along `axis`, in the smallest container."""
    raw = array.view(f"u{array.dtype.itemsize}").astype(np.uint64) & np.uint64((1 << bits) - 1)
    lanes = np.moveaxis(raw, axis, -1)
    lanes = lanes.reshape(*lanes.shape[:-1], -1, factor)
    words = sum(lanes[..., k] << np.uint64(k * bits) for k in range(factor))
    container = max(8, 1 << (factor * bits - 1).bit_length())
    return np.ascontiguousarray(np.moveaxis(words, -1, axis)).astype(f"u{container // 8}")


def test_argument():
    s = customize(add)
    assert s.pack("A", dim=2, factor=4) is None
    assert_ir(
        s,
        """
        func.func @add(%arg0: memref<4x2xui32> {allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          affine.for %arg2 = 0 to 4 {
            affine.for %arg3 = 0 to 8 {
              %0 = affine.load %arg1[%arg3] : memref<8xi32>
              %1 = arith.extsi %0 : i32 to i33
              %2 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%arg3)
              %c8 = arith.constant 8 : index
              %3 = arith.muli %2, %c8 : index
              %4 = arith.addi %3, %c8 : index
              %5 = affine.load %arg0[%arg2, %arg3 floordiv 4] : memref<4x2xui32>
              %6 = allo.sign_cast %5 : ui32 to i32
              %7 = allo.get_slice %6[%4, %3] : i32 -> i8
              %8 = arith.extsi %7 : i8 to i33
              %9 = arith.addi %1, %8 : i33
              %10 = arith.trunci %9 : i33 to i32
              affine.store %10, %arg1[%arg3] : memref<8xi32>
            } {allo.name = "j"}
          } {allo.name = "i", allo.nest = "S_i_j_0"}
          return
        }
        """,
    )
    assert str(s.steps[0]) == 's.pack("add:A", dim=2, factor=4)'


def test_store_replaces_a_part_of_the_word():
    s = customize(fill)
    s.pack("T", 1, 2)
    assert_ir(
        s,
        """
        func.func @fill(%arg0: memref<8xi32> {allo.name = "A"}) {
          %alloc = memref.alloc() {allo.name = "T"} : memref<4xui16>
          affine.for %arg1 = 0 to 8 {
            %0 = arith.index_cast %arg1 : index to i38
            %c40_i38 = arith.constant 40 : i38
            %1 = arith.muli %0, %c40_i38 : i38
            %2 = arith.trunci %1 : i38 to i8
            %3 = allo.sign_cast %2 : i8 to ui8
            %4 = affine.apply affine_map<(d0) -> (d0 mod 2)>(%arg1)
            %c8 = arith.constant 8 : index
            %5 = arith.muli %4, %c8 : index
            %6 = arith.addi %5, %c8 : index
            %7 = affine.load %alloc[%arg1 floordiv 2] : memref<4xui16>
            %8 = allo.sign_cast %7 : ui16 to i16
            %9 = allo.sign_cast %3 : ui8 to i8
            %10 = allo.set_slice %8[%6, %5], %9 : i16, i8
            %11 = allo.sign_cast %10 : i16 to ui16
            affine.store %11, %alloc[%arg1 floordiv 2] : memref<4xui16>
          } {allo.name = "i", allo.nest = "S_i_0"}
          affine.for %arg1 = 0 to 8 {
            %0 = affine.apply affine_map<(d0) -> (-d0 - ((-d0 + 7) floordiv 2) * 2 + 7)>(%arg1)
            %c8 = arith.constant 8 : index
            %1 = arith.muli %0, %c8 : index
            %2 = arith.addi %1, %c8 : index
            %3 = affine.load %alloc[(-%arg1 + 7) floordiv 2] : memref<4xui16>
            %4 = allo.sign_cast %3 : ui16 to i16
            %5 = allo.get_slice %4[%2, %1] : i16 -> i8
            %6 = allo.sign_cast %5 : i8 to ui8
            %7 = allo.sign_cast %6 : ui8 to i8
            %8 = arith.extui %7 : i8 to i32
            affine.store %8, %arg0[%arg1] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_1"}
          return
        }
        """,
    )
    assert_faithful(fill, s)


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        (int8, np.int8), (uint8, np.uint8), (int16, np.int16), (int32, np.int32), (Int(7), np.int8), (UInt(3), np.uint8),
        (Int(1), np.int8), (UInt(1), np.uint8), (bool, np.bool_), (float16, np.float16), (float32, np.float32),
    ],
)  # fmt: skip
def test_words_hold_the_elements(element, dtype):
    kernel = mirrored(element)
    s = customize(kernel)
    s.pack("A", dim=1, factor=2)
    s.pack("B", dim=2, factor=2)
    random = np.random.default_rng(3)
    low, high = (-100, 100) if dtype().dtype.kind == "f" else (0, 2**element.bits)
    a = random.integers(low, high, (4, 8)).astype(f"i{max(4, dtype().dtype.itemsize)}")
    if dtype().dtype.kind == "i":
        a -= (a >= 2 ** (element.bits - 1)) * 2**element.bits
    a = a.astype(dtype)
    b = np.zeros_like(a)
    customize(kernel).build()(a, b)
    words = np.zeros_like(packed(b, 1, 2, element.bits))
    s.build()(packed(a, 0, 2, element.bits), words)
    np.testing.assert_array_equal(words, packed(b, 1, 2, element.bits))


def test_fixed_point():
    kernel = mirrored(Fixed(8, 4))
    s = customize(kernel)
    s.pack("A", dim=2, factor=8)
    text = ir_text(s)
    assert "memref<4x1xui64>" in text and ": i8 to !allo.fixed<8, 4>" in text


def test_long_words_of_a_local_array():
    s = customize(wide)
    s.pack("T", 1, 16)
    assert "memref<2xui1024>" in ir_text(s)
    a, b = np.arange(32) / 3, np.zeros(32)
    s.build()(a, b)
    np.testing.assert_array_equal(b, (a + 1)[::-1])


def test_subscripts_computed_at_run_time():
    s = customize(gather)
    s.pack("B", 1, 8)
    a, order, b, words = (
        np.arange(-4, 4, dtype=np.int8),
        np.array([3, 1, 7, 0, 5, 2, 6, 4], np.int32),
        np.zeros(8, np.int8),
        np.zeros(1, np.uint64),
    )
    customize(gather).build()(a, order, b)
    s.build()(a, order, words)
    np.testing.assert_array_equal(words, packed(b, 0, 8, 8))


@pytest.mark.parametrize(
    ("kernel", "name", "dim", "factor"),
    [
        (weigh, "WEIGHTS", 1, 4),
        (weigh, "WEIGHTS", 2, 8),
        (scale, "SCALES", 1, 2),
        (choose, "FLAGS", 1, 4),
        (weigh_fixed, "W", 1, 4),
    ],
)
def test_constant(kernel, name, dim, factor):
    s = customize(kernel)
    s.pack(name, dim, factor)
    assert_faithful(kernel, s)


CONSTANTS = [
    ("bf16", [1.0, -2.5, 3.0, 0.15625], [0x3F80, 0xC020, 0x4040, 0x3E20]),
    ("f16", [1.0, -2.5, 3.0, 65504.0], [0x3C00, 0xC100, 0x4200, 0x7BFF]),
    ("f64", [1.0, -2.5, 3.0, 0.5], [0x3FF0 << 48, 0xC004 << 48, 0x4008 << 48, 0x3FE0 << 48]),
    ("i7", [1, -2, 63, -64], [1, 126, 63, 64]),
    ("ui12", [1, 4095, 7, 0], [1, 4095, 7, 0]),
    ("i1", ["true", "false", "true", "true"], [1, 0, 1, 1]),
]


@pytest.mark.parametrize("repeat", [1, 40])
@pytest.mark.parametrize(("element", "values", "bits"), CONSTANTS)
def test_bits_of_a_constant(element, values, bits, repeat):
    text = ", ".join(map(str, values * repeat))
    attribute = ir.Attribute.parse(f"dense<[{text}]> : tensor<{4 * repeat}x{element}>", context())
    width = int("".join(character for character in element if character.isdigit()))
    assert element_bits(attribute, width).tolist() == bits * repeat


def test_bits_of_a_constant_of_equal_elements():
    attribute = ir.Attribute.parse("dense<-1> : tensor<2x3xi4>", context())
    assert element_bits(attribute, 4).tolist() == [[15] * 3] * 2


def test_array_in_several_functions():
    s = customize(chain)
    s.pack("T", 1, 4)
    assert "(memref<2xui64>) -> memref<2xui64>" in ir_text(s)
    a = np.arange(-4, 4, dtype=np.int16)
    np.testing.assert_array_equal(s.build()(a.view(np.uint64)).view(np.int16), a * 4)


def test_after_reshape_where_subscripts_start_above_zero():
    """MLIR takes (i mod 4) floordiv 2 for 1 if i goes from 2 to 5; so the subscripts divide first."""

    def kernel(A: int32[12], B: int32[4]):
        for i in range(2, 6):
            B[i - 2] = A[i]

    s = customize(kernel)
    s.reshape("A", (3, 4))
    s.pack("A", 2, 2)
    assert "affine.load %arg0[%arg2 floordiv 4, (%arg2 floordiv 2) mod 2]" in ir_text(s)
    a, b = np.arange(12, dtype=np.int32), np.zeros(4, np.int32)
    s.build()(a.view(np.uint64).reshape(3, 2), b)
    np.testing.assert_array_equal(b, [2, 3, 4, 5])


def test_after_buffer_at():
    s = customize(add)
    s.pack(s.buffer_at("A", "i"), 1, 8)
    assert_faithful(add, s)


def test_parallel_loop_over_other_words():
    s = customize(mirrored(int8))
    s.parallel("i")
    s.pack("B", 2, 4)
    assert "allo.parallel" in ir_text(s)


def declared():
    return parsed(
        """
        module attributes {allo.top = "g"} {
          func.func private @f(memref<4xi8>)
          func.func @g(%A: memref<4xi8> {allo.name = "A"}) {
            call @f(%A) : (memref<4xi8>) -> ()
            return
          }
        }
        """
    )


def spread():
    s = customize(mirrored(int8))
    s.parallel("j")
    return s


def test_dimension_that_the_array_has_not():
    assert_refused(
        """
        pack: dim must be from 1 to 2 for 'A' of 2 dimensions, got 3
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int8[4, 8], B: int32[8]):
                      ^
        """,
        customize(add),
        "pack",
        "A",
        3,
        2,
    )


def test_factor_below_two():
    assert_refused(
        """
        pack: factor must be at least 2, got 1
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int8[4, 8], B: int32[8]):
                      ^
        """,
        customize(add),
        "pack",
        "A",
        1,
        1,
    )


def test_factor_that_does_not_divide():
    assert_refused(
        """
        pack: factor 3 does not divide the extent 8 of dimension 2 of 'A'
          note: 'A' is declared here
            File, line N, column 9
              def add(A: int8[4, 8], B: int32[8]):
                      ^
          hint: pad the array, or pick a divisor of the extent
        """,
        customize(add),
        "pack",
        "A",
        2,
        3,
    )


def test_word_too_long():
    assert_refused(
        """
        pack: 32 elements of 64 bits make a word of 2048 bits, and a word has at most 1024
          note: 'T' is declared here
            File, line N, column 5
              T: float64[32]
              ^
          hint: pack at most 16 elements
        """,
        customize(wide),
        "pack",
        "T",
        1,
        32,
    )


def test_scalar():
    assert_refused(
        """
        pack: 't' is a scalar and has no dimension to pack
          note: 't' is declared here
            File, line N, column 5
              t: int32 = A[0]
              ^
        """,
        customize(scalar),
        "pack",
        "t",
        1,
        2,
    )


def test_elements_without_a_width():
    assert_refused(
        """
        pack: the elements of 'T' are of type index, which has no fixed number of bits
          note: 'T' is declared here
            File, line N, column 5
              T: index[8]
              ^
          hint: pack arrays of integers, floats or fixed-point numbers
        """,
        customize(positions),
        "pack",
        "T",
        1,
        2,
    )


def test_run_time_extent():
    assert_refused(
        """
        pack: the extent of dimension 1 of 'A' is known at run time only
          note: 'A' is declared here
            File, line N, column 21
              def run_time_extent(A: int8[...], B: int32[8]):
                                  ^
          hint: declare the argument with all extents
        """,
        customize(run_time_extent),
        "pack",
        "A",
        1,
        2,
    )


def test_banks_of_whole_words_stay():
    s = customize(add)
    s.partition("A", allo.Partition.Block, dim=2, factor=2)
    s.partition("A", allo.Partition.Cyclic, dim=1, factor=2)
    s.pack("A", dim=2, factor=2)
    assert '%arg0: memref<4x4xui16, #allo.partition<[cyclic 2, block 2]>> {allo.name = "A"}' in ir_text(s)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"factor": 2}, ""),
        ({"factor": 4}, ", #allo.partition<[none, cyclic 2]>"),
        ({"factor": 3}, ", #allo.partition<[none, cyclic 2]>"),
        ({}, ", #allo.partition<[none, complete]>"),
        ({"partition_type": allo.Partition.Block, "factor": 4}, ", #allo.partition<[none, complete]>"),
    ],
)
def test_banks_become_banks_of_words(asked, wanted):
    s = customize(add)
    s.partition("A", dim=2, **asked)
    s.pack("A", dim=2, factor=2)
    assert f"%arg0: memref<4x4xui16{wanted}>" in ir_text(s)
    s.undo()
    assert "memref<4x8xi8, #allo.partition" in ir_text(s)


def test_function_without_a_body():
    assert_refused(
        """
        pack: 'A' cannot be packed: 'f', which it is passed to, has no body here
          note: the statement is here
            File, line N, column 13
        """,
        declared(),
        "pack",
        "A",
        1,
        2,
    )


def test_parallel_loop_over_parts_of_a_word():
    assert_refused(
        """
        pack: loop 'j' runs in parallel and could no longer do so: the statement at line N writes B[i, (-j + 7) // 4] and reads B[i, (-j + 7) // 4]: iteration (i=0, j=0) must run before iteration (i=0, j=1)
          note: the statement is here
            File, line N, column 13
              B[i, 7 - j] = A[3 - i, j]
              ^
        """,
        spread(),
        "pack",
        "B",
        2,
        4,
    )


def elements() -> allo.Schedule:
    def gemm(A: int8[2, 4], B: int8[4, 2], C: int8[2, 2]):
        for i, j in allo.grid(2, 2, name="PE"):
            for k in range(4):
                C[i, j] += A[i, k] * B[k, j]

    s = customize(gemm)
    kept = s.buffer_at(s.A, "j")
    s.relay(kept, s.unfold("PE", axes=[0, 1]), axis=1, depth=1)
    return s


def test_processing_elements_that_share_a_word():
    """Each would read it, change its part and write it back, while others do the same."""
    assert_refused(
        """
        pack: the processing elements of nest 'PE' would no longer be independent: the statement at line N reads C[0, j] and writes C[0, j]: iteration (i=0, j=0, k=0) must run before iteration (i=1, j=0, k=0)
          note: the statement is here
            File, line N, column 17
              C[i, j] += A[i, k] * B[k, j]
              ^
        """,
        elements(),
        "pack",
        "C",
        1,
        2,
    )


def test_processing_elements_that_read_a_word():
    s = elements()
    s.pack("B", dim=1, factor=2)
    A, B = (np.arange(8, dtype=np.int8).reshape(shape) for shape in ((2, 4), (4, 2)))
    C = np.zeros((2, 2), np.int8)
    words = B.astype(np.uint16)
    s.build()(A, words[0::2] | words[1::2] << 8, C)
    assert np.array_equal(C, A @ B)
