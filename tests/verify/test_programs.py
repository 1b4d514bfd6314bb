"""What a program is to the verifier: one function that computes the same, with the interface of the kernel."""

from __future__ import annotations

import numpy as np
import pytest

import allo
import polybench
from allo.backend.cpu import LLVMModule
from allo.errors import VerificationError
from allo.ir.types import Stateful, float32, int8, int32
from allo.ir.walk import operations
from allo.verify import Different, Unknown, load, other_interface


def doubled(x: int32[8, 4], y: int32[8, 4]):
    for i, j in allo.grid(8, 4):
        y[i, j] = x[i, j] * 2


def chained(x: int32[8, 4]) -> int32[8, 4]:
    y: int32[8, 4] = 0
    z: int32[8, 4] = 0
    doubled(x, z)
    doubled(z, y)
    return y


def product(A: float32[4, 6], B: float32[6, 5]) -> float32[4, 5]:
    C = allo.matmul(A, B)
    return allo.add(C, C)


def counted(x: int32[4]) -> int32:
    total: int32 @ Stateful = 3
    for i in range(4):
        total += x[i]
    return total


def bytes_added(x: int8[8, 4], y: int8[8, 4]):
    for i, j in allo.grid(8, 4):
        y[i, j] += x[i, j]


def names(subject, **options):
    program = load(subject, **options)
    return {op.name for op in operations(program.entry)}


def outcome(module, *arguments):
    copies = [a.copy() for a in arguments]
    returned = LLVMModule(module)(*copies)
    return [*copies, returned]


def assert_same(subject, *arguments):
    """The one function computes what a build of the subject computes."""
    program = load(subject)
    for one, other in zip(outcome(program.original, *arguments), outcome(program.module, *arguments), strict=True):
        np.testing.assert_array_equal(one, other)


def test_calls_are_inlined():
    assert "func.call" not in names(chained)
    assert_same(chained, np.arange(32, dtype=np.int32).reshape(8, 4))


def test_operators_are_loops():
    assert not any(name.startswith("linalg.") for name in names(product))
    random = np.random.default_rng(1)
    assert_same(product, random.random((4, 6), np.float32), random.random((6, 5), np.float32))


def test_partitions_are_gone_and_the_schedule_stays():
    s = allo.customize(chained)
    s.partition(s.y, dim=1)
    text = str(s.module)
    assert "#allo.partition" not in str(load(s).module) and str(s.module) == text


def test_stateful_variables_are_arguments():
    program = load(counted)
    assert [(a.name, a.is_state, a.is_written) for a in program.arguments] == [
        ("x", False, False),
        ("total", True, True),
    ]
    x, total = np.arange(4, dtype=np.int32), np.array(10, np.int32)
    assert LLVMModule(program.module)(x, total) == 16 and total == 16


def test_reshaped_arguments_have_their_shape_again():
    s = allo.customize(chained)
    s.reshape(s.x, [32])
    s.reshape(s.y, [2, 16])
    program, x = load(s), np.arange(32, dtype=np.int32).reshape(8, 4)
    assert not other_interface(load(chained), program)
    np.testing.assert_array_equal(LLVMModule(program.module)(x), 4 * x)


def test_packed_arguments_have_their_elements_again():
    s = allo.customize(bytes_added)
    s.pack(s.x, 2, 4)
    s.reshape(s.y, [4, 8])
    s.pack(s.y, 1, 2)
    program = load(s)
    x, y = np.arange(32, dtype=np.int8).reshape(8, 4), np.full((8, 4), 3, np.int8)
    LLVMModule(program.module)(x, y)
    np.testing.assert_array_equal(y, x + 3)


def test_a_module_without_steps_may_have_another_shape():
    s = allo.customize(chained)
    s.reshape(s.x, [32])
    assert not other_interface(load(chained), load(str(s.module), like=load(chained)))


def test_while_is_named():
    def halved(x: int32[1]):
        while x[0] > 1:
            x[0] = x[0] // 2

    (opaque,) = load(halved).opaque
    assert opaque.what == "a `while` loop" and opaque.at.line > 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            doubled,
            "the first has 1 argument and the second has 2 arguments",
        ),
        (
            bytes_added,
            "argument 'x' of the first is int32[8, 4], and 'x' of the second is int8[8, 4]",
        ),
    ],
)
def test_interfaces_that_do_not_match(other, message):
    answer = allo.verify(chained, other)
    assert isinstance(answer, Different) and not answer
    assert str(answer).splitlines()[1:] == [message]


def test_stateful_variables_that_do_not_match():
    def one(x: int32) -> int32:
        total: Stateful[int32] = 0
        total += x
        return total

    def two(x: int32) -> int32:
        total: Stateful[int32] = 0
        calls: Stateful[int32] = 0
        total += x
        calls += 1
        return total

    answer = allo.verify(one, two)
    assert isinstance(answer, Unknown)
    assert answer.reason == (
        "the first has 1 Stateful variable and the second has 2 Stateful variables; their values are inputs and "
        "outputs: 'total' and 'calls', 'total'"
    )


def test_what_is_no_program():
    with pytest.raises(VerificationError) as caught:
        allo.verify(chained, 3)
    assert str(caught.value) == (
        "a program is a schedule, a kernel or a module, got int\n"
        "  hint: pass allo.customize(kernel), the kernel itself, or the text of a module"
    )


@pytest.mark.parametrize("name", ["atax", "durbin", "nussinov", "heat_3d"])
def test_polybench_computes_the_same(name):
    benchmark = polybench.load(name)
    assert_programs_agree(benchmark)


@pytest.mark.slow
@pytest.mark.parametrize("name", polybench.NAMES)
def test_all_of_polybench_computes_the_same(name):
    assert_programs_agree(polybench.load(name))


def assert_programs_agree(benchmark):
    for design in benchmark.designs.values() or ():
        program, found = load(design.customized("MINI")), []
        for module, unbounded in ((program.original, False), (program.module, True)):  # one function: in a row
            arguments = benchmark.arguments("MINI")
            LLVMModule(module, unbounded=unbounded)(*arguments)
            found.append(arguments)
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)
