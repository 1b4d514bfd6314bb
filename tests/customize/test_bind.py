"""bind: the kind of memory of an array, in the module and checked."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest

import allo
from allo import Schedule, customize
from allo.errors import KernelError
from allo.ir.module import Module
from allo.ir.types import Fixed, int32
from allo.memory import Memory

from .checks import assert_faithful, assert_ir, assert_refused, ir_text, parsed

WEIGHTS = np.arange(8, dtype=np.int32)
QUARTERS = np.arange(8) / 4


def weigh(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(8):
        T[i] = A[i] * WEIGHTS[i]
    for i in range(8):
        B[i] = T[7 - i]


def weigh_fixed(A: int32[8]):
    W: Fixed(8, 4)[8] = QUARTERS
    for i in range(8):
        A[i] = A[i] * W[7 - i]


def made(A: int32[8]) -> int32[8]:
    B: int32[8]
    for i in range(8):
        B[i] = A[i]
    return B


def uses_made(A: int32[8]):
    C: int32[8] = made(A)
    for i in range(8):
        A[i] = C[i]


def increment(X: int32[8]):
    for i in range(8):
        X[i] = X[i] + 1


def calls(A: int32[8]):
    increment(A)


def scalar(A: int32[8]):
    t: int32 = A[0]
    for i in range(8):
        A[i] = t


def test_argument_local_array_and_constant():
    s = customize(weigh)
    assert s.bind("A", Memory(resource="URAM", depth=64)) is None
    s.bind(s.T, Memory(resource="BRAM", storage_type="RAM_2P", latency=2))
    s.bind("WEIGHTS", Memory(resource="LUTRAM", storage_type="ROM_1P"))
    assert_ir(
        s,
        """
        func.func @weigh(%arg0: memref<8xi32> {allo.memory = {depth = 64 : i32, resource = "URAM"}, allo.name = "A"}, %arg1: memref<8xi32> {allo.name = "B"}) {
          %0 = memref.get_global @weigh_WEIGHTS : memref<8xi32> {allo.memory = {resource = "LUTRAM", storage_type = "ROM_1P"}, allo.name = "WEIGHTS"}
          %alloc = memref.alloc() {allo.memory = {latency = 2 : i32, resource = "BRAM", storage_type = "RAM_2P"}, allo.name = "T"} : memref<8xi32>
          affine.for %arg2 = 0 to 8 {
            %1 = affine.load %arg0[%arg2] : memref<8xi32>
            %2 = arith.extsi %1 : i32 to i64
            %3 = affine.load %0[%arg2] : memref<8xi32>
            %4 = arith.extsi %3 : i32 to i64
            %5 = arith.muli %2, %4 : i64
            %6 = arith.trunci %5 : i64 to i32
            affine.store %6, %alloc[%arg2] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_0"}
          affine.for %arg2 = 0 to 8 {
            %1 = affine.load %alloc[-%arg2 + 7] : memref<8xi32>
            affine.store %1, %arg1[%arg2] : memref<8xi32>
          } {allo.name = "i", allo.nest = "S_i_1"}
          return
        }
        """,
    )
    assert str(s.steps[1]) == (
        "s.bind(\"weigh:T\", memory=Memory(resource='BRAM', storage_type='RAM_2P', latency=2))"
    )
    assert_faithful(weigh, s)


def test_second_bind_replaces_the_first():
    s = customize(weigh)
    s.bind("T", Memory("URAM", latency=3))
    s.bind("T", Memory())
    assert 'allo.memory = {resource = "AUTO"}, allo.name = "T"' in ir_text(s)


def test_constant_of_fixed_point_numbers():
    s = customize(weigh_fixed)
    s.bind("W", Memory("BRAM", "ROM_2P"))
    assert "memref.get_global @weigh_fixed_W : memref<8xi8> {allo.memory" in ir_text(s)
    assert_faithful(weigh_fixed, s)


def test_array_of_a_callee():
    s = customize(uses_made)
    s.bind("made:B", Memory("URAM"))
    assert 'allo.memory = {resource = "URAM"}' in ir_text(s, "made")
    assert_faithful(uses_made, s)


def test_stays_when_the_array_changes():
    s = customize(weigh)
    s.bind("T", Memory("URAM"))
    s.bind("A", Memory("BRAM"))
    s.partition("T", factor=2)
    s.reshape("A", (2, 4))
    assert ir_text(s).count("allo.memory") == 2


def test_printed_module_parses():
    s = customize(weigh)
    s.bind("B", Memory("BRAM_ECC", "RAM_S2P"))
    assert str(Schedule(Module.parse(str(s.module))).module) == str(s.module)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resource": "DRAM"}, "resource must be one of AUTO, BRAM, BRAM_ECC, LUTRAM, SRL, URAM, URAM_ECC, got 'DRAM'"),
        ({"storage_type": "RAM"}, "storage_type must be one of FIFO, RAM_1P, RAM_1WNR, RAM_2P, RAM_S2P, RAM_T2P, ROM_1P, ROM_2P, ROM_NP, got 'RAM'"),
        ({"resource": "LUTRAM", "storage_type": "RAM_T2P"}, "RAM_T2P cannot be made of LUTRAM, only of AUTO, BRAM, URAM"),
        ({"resource": "BRAM", "latency": -1}, "latency must be an integer of at least 0, got -1"),
        ({"resource": "BRAM", "latency": 4}, "the latency of BRAM is at most 3, got 4"),
        ({"latency": 1}, "a latency needs a resource of BRAM, BRAM_ECC, LUTRAM, URAM, URAM_ECC, got AUTO"),
        ({"depth": 0}, "depth must be an integer of at least 1, got 0"),
        ({"depth": True}, "depth must be an integer of at least 1, got True"),
    ],
)  # fmt: skip
def test_memory_that_does_not_exist(given, message):
    with pytest.raises(ValueError) as caught:
        Memory(**given)
    assert str(caught.value) == message


def test_memory_prints_as_python():
    memory = Memory("URAM", "RAM_2P", latency=4, depth=16)
    assert eval(repr(memory), {"Memory": Memory}) == memory
    assert allo.memory.Memory is Memory


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


def test_scalar():
    assert_refused(
        """
        bind: 't' is a scalar and has no memory to choose
          note: 't' is declared here
            File, line N, column 5
              t: int32 = A[0]
              ^
        """,
        customize(scalar),
        "bind",
        "t",
        Memory(),
    )


def test_rom_that_is_written():
    assert_refused(
        """
        bind: 'T' is written, and ROM_1P is a memory that is only read
          note: 'T' is declared here
            File, line N, column 5
              T: int32[8]
              ^
          note: it is written here
            File, line N, column 9
              T[i] = A[i] * WEIGHTS[i]
              ^
        """,
        customize(weigh),
        "bind",
        "T",
        Memory(storage_type="ROM_1P"),
    )


def test_rom_that_a_callee_writes():
    assert_refused(
        """
        bind: 'A' is written, and ROM_1P is a memory that is only read
          note: 'A' is declared here
            File, line N, column 11
              def calls(A: int32[8]):
                        ^
          note: it is written here
            File, line N, column 5
              increment(A)
              ^
        """,
        customize(calls),
        "bind",
        "A",
        Memory(storage_type="ROM_1P"),
    )


def test_rom_that_an_unknown_function_may_write():
    assert_refused(
        """
        bind: 'A' is written, and ROM_1P is a memory that is only read
          note: 'A' is declared here
            File, line N, column 24
          note: it is written here
            File, line N, column 13
        """,
        declared(),
        "bind",
        "A",
        Memory(storage_type="ROM_1P"),
    )


def test_result_of_a_call():
    assert_refused(
        """
        bind: 'C' is the result of a call, and is kept where the callee keeps it
          note: 'C' is declared here
            File, line N, column 5
              C: int32[8] = made(A)
              ^
          hint: bind the array of the callee: s.bind("callee:name", ...)
        """,
        customize(uses_made),
        "bind",
        "C",
        Memory("BRAM"),
    )


def test_memory_that_is_a_string():
    assert_refused(
        """
        bind: memory must be an allo.memory.Memory(...), got 'BRAM'
        """,
        customize(weigh),
        "bind",
        "A",
        "BRAM",
    )


def test_module_from_text_that_writes_a_rom():
    text = """func.func @f(%A: memref<8xi32> {allo.name = "A", allo.memory = {resource = "BRAM", storage_type = "ROM_1P"}}) {
      %v = arith.constant 0 : i32
      %a = memref.subview %A[2] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 2>>
      affine.store %v, %a[0] : memref<4xi32, strided<[1], offset: 2>>
      return
    }"""
    with pytest.raises(KernelError) as caught:
        Schedule.from_mlir(text)
    assert str(caught.value) == (
        'File "-", line 1, column 14: \'A\' is written, and ROM_1P is a memory that is only read\n'
        "  note: it is written here\n"
        '    File "-", line 4, column 7'
    )
