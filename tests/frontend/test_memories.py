"""`T[M] @ Memory(...)` in a declaration says where an array is kept, as `s.bind` does."""

# ruff: noqa: F821 - kernels declare arrays without a value

import numpy as np
import pytest

import allo
from allo.ir.types import ConstExpr, Fixed, Stateful, index, int32
from allo.memory import Memory

URAM = Memory(resource="URAM", latency=2)
ROM = Memory(resource="BRAM", storage_type="ROM_1P")
TABLE = np.array([3, 1, 2, 0], np.int32)


def declared(A: int32[4] @ URAM, B: "int32[4] @ Memory(storage_type='RAM_2P')", C: int32[4]):
    T: int32[4] @ Memory(resource="LUTRAM")
    W: int32[4] @ ROM = TABLE
    S: Stateful[int32[4] @ URAM] = 0
    for i in range(4):
        S[i] += A[i]
        T[i] = S[i] + W[i]
    for i in range(4):
        B[i] = T[i]
        C[i] = T[i]


def plain(A: int32[4], B: int32[4], C: int32[4]):
    T: int32[4]
    W: int32[4] = TABLE
    S: Stateful[int32[4]] = 0
    for i in range(4):
        S[i] += A[i]
        T[i] = S[i] + W[i]
    for i in range(4):
        B[i] = T[i]
        C[i] = T[i]


def test_declarations_are_those_of_bind():
    s = allo.customize(plain)
    for name, memory in {
        "A": URAM,
        "B": Memory(storage_type="RAM_2P"),
        "T": Memory(resource="LUTRAM"),
        "W": ROM,
        "S": URAM,
    }.items():
        s.bind(name, memory)
    found = str(allo.customize(declared).module)
    assert found == str(s.module).replace("plain", "declared") and found.count("allo.memory") == 5


def test_the_meaning_is_the_same():
    A, B, C = np.arange(4, dtype=np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)
    run = allo.customize(declared).build()
    run(A, B, C)
    assert (B == A + TABLE).all()
    run(A, B, C)
    assert (B == 2 * A + TABLE).all() and (C == B).all()
    assert "impl=uram" in allo.customize(declared).build(target="vhls").hls_code


def test_templates_nested_kernels_and_composition():
    def scale[T, N: index](A: "T[N] @ URAM", B: "T[N]"):
        for i in range(N):
            B[i] = A[i] * 2

    size, fast = 4, Memory(resource="LUTRAM")

    def top(A: Fixed(8, 2)[size] @ fast, B: Fixed(8, 2)[size]):
        scale[Fixed(8, 2), 4](A, B)

    part = allo.customize(scale, instantiate=[Fixed(8, 2), 4])
    part.pipeline("i")
    s = allo.compose(top, part)
    text = str(s.module)
    assert text.count('resource = "URAM"') == text.count('resource = "LUTRAM"') == 1


def message(kernel) -> str:
    with pytest.raises(allo.KernelError) as refused:
        allo.customize(kernel)
    return str(refused.value).split(": ", 1)[1]


def test_a_scalar():
    def kernel(A: int32[4]):
        x: int32 @ URAM = 0
        A[0] = x

    assert message(kernel).splitlines()[0] == "'x' is a scalar and has no memory to choose"


def test_an_argument_that_is_a_scalar():
    def kernel(A: int32[4], x: "int32 @ URAM"):
        A[0] = x

    assert message(kernel).splitlines()[0] == "'x' is a scalar and has no memory to choose"


def test_a_value_that_is_computed_now():
    def kernel(A: int32[4]):
        W: ConstExpr[int32[4] @ URAM] = TABLE
        for i in range(4):
            A[i] = W[i]

    assert message(kernel).splitlines()[0] == "'W' is computed when the kernel is compiled and has no memory to choose"


def test_a_memory_that_does_not_exist():
    def kernel(A: int32[4]):
        W: int32[4] @ Memory(resource="DISK") = 0
        A[0] = W[0]

    assert message(kernel).splitlines()[0] == (
        "Unsupported type `int32[4] @ Memory(resource='DISK')`: ValueError: resource must be one of AUTO, BRAM, "
        "BRAM_ECC, LUTRAM, SRL, URAM, URAM_ECC, got 'DISK'"
    )


def test_the_result_of_a_call():
    def make(A: int32[4]) -> int32[4]:
        B: int32[4]
        for i in range(4):
            B[i] = A[i]
        return B

    def kernel(A: int32[4]) -> int32[4]:
        C: int32[4] @ URAM = make(A)
        return C

    text = message(kernel)
    assert text.splitlines()[0] == "'C' is the result of a call, and is kept where the callee keeps it"
    assert text.endswith("hint: give the array of the callee a memory")


def test_a_rom_that_is_written():
    def kernel(A: int32[4] @ ROM):
        A[0] = 1

    text = message(kernel)
    assert text.splitlines()[0] == "'A' is written, and ROM_1P is a memory that is only read"
    assert "note: it is written here" in text
