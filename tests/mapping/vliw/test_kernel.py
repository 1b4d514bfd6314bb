"""GEMM kernels of compute tiles: exact results on the model of slots, cycles beside bounds and the thesis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from allo.errors import ContractionError
from allo.mapping.vliw import (
    GemmShape,
    IssueSlot,
    KernelProgram,
    VliwMachine,
    bounds_of,
    gemm_program,
    simulated,
)

BF16 = ml_dtypes.bfloat16


def tiles(shape: GemmShape, seed: int = 0) -> list[Any]:
    values = np.random.default_rng(seed)
    sizes = ((shape.m, shape.k), (shape.k, shape.n), (shape.m, shape.n))
    return [values.integers(-3, 4, size).astype(BF16) for size in sizes]


def expected(in0: Any, in1: Any, out: Any) -> Any:
    wide = [x.astype(np.float64) for x in (in0, in1, out)]
    return (wide[2] + wide[0] @ wide[1]).astype(np.float32).astype(BF16)


THESIS = {80: 2659 + 71, 64: 2048 / 0.905 - 25}  # section 6.2; for 64 x 64 x 64, 90.5 % with 25 cycles of call


@pytest.mark.parametrize("k", [80, 64])
def test_the_kernels_of_the_thesis_in_fewer_cycles_and_without_conflicts(k: int) -> None:
    shape = GemmShape(64, k, 64)
    program, given = gemm_program(shape), tiles(shape)
    run = simulated(program, *given)
    np.testing.assert_array_equal(run.out, expected(*given))
    assert run.bank_conflicts == 0
    assert program.schedule.interval == bounds_of(shape).interval == 2 * k
    assert bounds_of(shape).total <= run.cycles == program.cycles <= bounds_of(shape).total + 8 < THESIS[k]
    assert program.size < 6000


SHAPES = [(16, 24, 16), (16, 40, 16), (32, 24, 48), (16, 32, 32), (48, 56, 16), (16, 64, 80), (80, 32, 48)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_other_shapes_reach_the_bound_of_their_interval(shape: tuple[int, int, int]) -> None:
    made = GemmShape(*shape)
    program, given = gemm_program(made), tiles(made, 1)
    run = simulated(program, *given)
    np.testing.assert_array_equal(run.out, expected(*given))
    assert program.schedule.interval == bounds_of(made).interval
    assert run.bank_conflicts == 0


OTHER_BANKS = [
    pytest.param((0, 32768, 10240), marks=pytest.mark.slow), (0, 16384, 26624), (32, 20000 // 32 * 32, 45056),
]  # fmt: skip


@pytest.mark.parametrize("addresses", OTHER_BANKS, ids=str)
def test_tiles_in_other_banks(addresses: tuple[int, int, int]) -> None:
    shape = GemmShape(addresses=addresses)
    program, given = gemm_program(shape), tiles(shape)
    run = simulated(program, *given)
    np.testing.assert_array_equal(run.out, expected(*given))
    assert run.bank_conflicts == 0


def test_one_bank_for_both_inputs_bounds_the_interval() -> None:
    shape = GemmShape(32, 64, 32, addresses=(0, 4096, 16384))
    assert bounds_of(shape).banks == bounds_of(shape).interval == 128
    shape = GemmShape(32, 64, 32, addresses=(0, 4096, 8192))
    assert bounds_of(shape).banks == bounds_of(shape).interval == 160
    program, given = gemm_program(shape), tiles(shape)
    run = simulated(program, *given)
    np.testing.assert_array_equal(run.out, expected(*given))
    assert run.bank_conflicts == 0 and program.schedule.interval >= 160


def test_registers_and_slots_are_those_of_the_machine() -> None:
    program = gemm_program()
    assert max(program.schedule.vectors.values()) < 12
    for instruction in program.run():
        assert set(instruction) <= {slot.value for slot in IssueSlot}
        assert all(operation.slot in (slot, "xm") for slot, operation in instruction.items())
        converts = [o for o in instruction.values() if o.kind == "vlda.conv"]
        assert all(o.slot == "a" for o in converts)


def changed(program: KernelProgram, slot: str, kind: str, operands: tuple[Any, ...]) -> KernelProgram:
    """The program with other operands in the first operation of a kind in its body."""
    body = [dict(instruction) for instruction in program.body]
    at = next(k for k, i in enumerate(body) if slot in i and i[slot].kind == kind)
    body[at][slot] = replace(body[at][slot], operands=operands)
    return replace(program, body=tuple(body))


def test_the_model_notices_a_wrong_step_and_a_value_that_comes_late() -> None:
    program, given = gemm_program(), tiles(GemmShape())
    right = expected(*given)
    wrong = changed(program, "b", "vldb", ("p0", 64))
    assert not np.array_equal(simulated(wrong, *given).out, right)
    slower = replace(program, schedule=replace(
        program.schedule, shape=replace(program.shape, machine=VliwMachine(load=12))
    ))  # fmt: skip
    assert not np.array_equal(simulated(slower, *given).out, right)


def test_conflicts_are_counted() -> None:
    program, given = gemm_program(), tiles(GemmShape())
    moved = replace(program.schedule, shape=replace(program.shape, addresses=(0, 10240, 32768)))
    run = simulated(replace(program, schedule=moved), *given)
    np.testing.assert_array_equal(run.out, expected(*given))  # conflicts cost cycles, and change no number
    assert run.bank_conflicts > 300 and run.cycles == program.cycles + run.bank_conflicts


def test_a_table_of_slots() -> None:
    program = gemm_program(GemmShape(32, 24, 48))
    lines = program.table("body", 0, 3).splitlines()
    assert lines[0].split() == ["a", "b", "s", "x", "m", "v"] and len(lines) == 4
    assert all("vmac.f bm" in line for line in lines[1:])
    with pytest.raises(ContractionError) as error:
        program.table("loop")
    assert str(error.value) == "a program has no part 'loop': it has prologue, body, epilogue"


BLOCKS = "blocks of 4 x 4 sub-matrices fill its 16 sums"
OTHERS = "  hint: kernels of the AIE API (contraction_kernels) have edges, and transposed tiles"
REFUSED = [
    ({"m": 20}, f"M = 20: the kernel takes multiples of 16, for {BLOCKS}\n{OTHERS}"),
    ({"n": 0}, f"N = 0: the kernel takes multiples of 16, for {BLOCKS}\n{OTHERS}"),
    ({"k": 12}, f"K = 12: the kernel takes multiples of 8, for a product has 8\n{OTHERS}"),
    ({"k": 16}, f"K = 16: the kernel loads two steps of K ahead, and needs three, 24, at least\n{OTHERS}"),
    ({"addresses": (0, 8192, 32768)}, "two tiles share bytes 8192 to 10240"),
    ({"addresses": (16, 16384, 32768)},
     "in0 lies at 16 to 10256: tiles begin at multiples of 32 and end within 65536 bytes"),
    ({"addresses": (0, 16384, 61440)},
     "out lies at 61440 to 69632: tiles begin at multiples of 32 and end within 65536 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_shapes_that_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractionError) as error:
        GemmShape(**given)
    assert str(error.value) == message


def test_programs_that_are_too_long() -> None:
    with pytest.raises(ContractionError) as error:
        gemm_program(GemmShape(16, 336, 32, addresses=(0, 16384, 40960)))
    assert str(error.value) == (
        "the program has 21504 bytes or more, and program memory 16384\n"
        "  hint: all of K is unrolled: split it in two calls"
    )


def test_matrices_of_other_shapes() -> None:
    program = gemm_program(GemmShape(16, 24, 16))
    with pytest.raises(ContractionError) as error:
        simulated(program, *(np.zeros(shape, np.float32) for shape in ((16, 24), (24, 16), (16, 16))))
    assert str(error.value) == "in0 is a bfloat16 matrix of (16, 24), got float32 of (16, 24)"
