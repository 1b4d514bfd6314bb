"""Kernels of TECs: each is proved to be the plain loops, faults are found, and other first and last values work."""

from __future__ import annotations

import random
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.importers.einsum import (
    einsum_program,
    hardware_schedule,
    kernel_text,
    plain_schedule,
    systolic_schedule,
    tec_schedule,
)
from allo.mapping.teir import WIDE, Processor, Tec, TecPlan
from tests.mapping.teir.evaluation import evaluated
from tests.mapping.teir.test_plan import random_tec
from tests.seeds import sweep

PROVED = [
    ("ij,jk->ik", (20, 24), (24, 16), "FP64"), ("ij,kj->ik", (13, 24), (10, 24), "FP32"),
    ("abc,dbc->ad", (8, 4, 6), (12, 4, 6), "FP64"), ("bij,bjk->bik", (2, 16, 16), (2, 16, 16), "bfloat_16"),
    ("ij,j->i", (13, 24), (24,), "FP32"),
]  # fmt: skip


@pytest.mark.parametrize("chosen", PROVED, ids=lambda chosen: chosen[0])
def test_what_is_run_is_proved_to_be_the_loops_of_the_contraction(chosen: tuple[str, ...]) -> None:
    expression, *shapes, data_type = chosen
    program = einsum_program(expression, *shapes, data_type=data_type, processor=Processor(cores=2))
    step = program.steps[0]
    assert allo.verify(step.plain, step.schedule)


@pytest.mark.slow
def test_sums_over_two_dimensions_in_another_order_are_proved_up_to_that() -> None:
    step = einsum_program("aebf,dfce->abcd", (6, 8, 6, 4), (8, 4, 6, 8)).steps[0]
    assert step.tec.prim_main == "BRGEMM"
    assert allo.verify(step.plain, step.schedule, reassociate=True)


def test_threads_share_the_packing_before_their_loop() -> None:
    processor = replace(WIDE, cores=2, per_task=1)
    step = einsum_program("ij,kj->ik", (32, 24), (152, 24), processor=processor).steps[0]
    text = kernel_text(step.tec, step.extents(step.order), processor)
    assert [loop.split(".")[0] for loop in text.parallel] == ["panels1", "main"]
    assert "group" in str(text)  # panels of 24 columns, whose rows are transposed eight at a time
    A, B = (np.random.default_rng(1).integers(-9, 9, shape).astype(float) for shape in ((32, 24), (152, 24)))
    out = np.full(32 * 152, np.nan)
    step.run(*([A.reshape(-1), B.reshape(-1)][k] for k in step.order), out)
    np.testing.assert_array_equal(out.reshape(32, 152), A @ B.T)


def test_a_wrong_stride_is_found() -> None:
    step = einsum_program("ij,jk->ik", (2, 4), (4, 4)).steps[0]
    k = step.tec["k"]
    wrong = step.tec.with_dimensions(
        [replace(d, strides=(0, 2, 1)) if d is k else d for d in step.tec.dimensions]
    )
    extents = (8, 23, 8)
    found = allo.verify(plain_schedule(wrong, extents), tec_schedule(step.tec, extents))
    assert type(found).__name__ == "Different"


@sweep(60, 8)
def test_kernels_of_random_tecs(seed: int) -> None:
    choice = random.Random(seed)
    tec = random_tec(choice)
    processor = Processor(cores=choice.randint(1, 2), vector_bytes=choice.choice((32, 64)))
    tec = replace(tec, prim_first=choice.choice(("none", "zero", "relu", "copy")),
                  prim_last=choice.choice(("none", "relu")))  # fmt: skip
    largest = {t: max((d for d in tec if d.type == t), key=lambda d: d.size).name for t in "MNK"}
    plan = TecPlan.begin(tec).primitive("GEMM", *(largest[t] for t in "MNK"))
    batch = [d.name for d in tec if d.type == "K" and d.name != largest["K"]]
    if batch:
        plan = TecPlan.begin(tec).primitive("BRGEMM", batch[0], *(largest[t] for t in "MNK"))
    values = np.random.default_rng(seed)
    in0, in1, out, init = (values.integers(-9, 9, plan.tec.extent(k)).astype(float) for k in (0, 1, 2, 2))
    expected = evaluated(plan.tec, in0, in1, out, init)
    given = [in0, in1, init] if tec.prim_first == "copy" else [in0, in1]
    for made in (plan.tec, tec):
        result = out.copy()
        tec_schedule(made, processor=processor).build(contract=True)(*given, result)
        np.testing.assert_array_equal(result, expected)


def test_dimensions_may_have_any_names() -> None:
    tec = Tec.of("MNK", ["prim"] * 3, (3, 4, 5), (5, 0, 1), (0, 1, 4), (4, 1, 0), "FP32", prim_main="GEMM",
                 names=("for", "in0", "3.x"))  # fmt: skip
    A, B, C = np.ones(15, np.float32), np.ones(20, np.float32), np.empty(12, np.float32)
    tec_schedule(tec).build()(A, B, C)
    assert (C == 5).all()


def test_arrays_that_are_too_small() -> None:
    tec = Tec.of("MNK", ["seq"] * 3, (3, 4, 5), (5, 0, 1), (0, 1, 4), (4, 1, 0), "FP32")
    with pytest.raises(allo.ContractionError, match=r"^the TEC uses 20 elements of in1, which has 19$"):
        kernel_text(tec, (15, 19, 12))


def test_tensors_that_subscripts_do_not_reach() -> None:
    tec = Tec.of("MNK", ["seq"] * 3, (2**40, 4, 5), (5, 0, 1), (0, 1, 4), (4, 1, 0), "FP32")
    for make in (kernel_text, plain_schedule, hardware_schedule):
        with pytest.raises(allo.ContractionError) as error:
            make(tec)
        assert str(error.value) == "a tensor of the TEC has 5497558138880 elements: subscripts have 32 bits"


BLOCKS = Tec.of("MNK", ["seq"] * 3, (8, 16, 12), (12, 0, 1), (0, 1, 16), (16, 1, 0), "FP32", names="ikj")


def blocks() -> Tec:
    plan = TecPlan.begin(BLOCKS).split("i", 4).split("j", 6)
    return plan.primitive("GEMM", "i.inner", "k", "j.inner").tec


def test_sums_that_end_in_another_loop_go_on_with_what_they_were() -> None:
    values = np.random.default_rng(4)
    A, B = values.integers(-9, 9, (8, 12)).astype(np.float32), values.integers(-9, 9, (12, 16)).astype(np.float32)
    C = np.full(128, 7, np.float32)
    tec_schedule(blocks()).build()(A.reshape(-1), B.reshape(-1), C)
    np.testing.assert_array_equal(C.reshape(8, 16), A @ B)


@pytest.mark.parametrize("lanes", [1, 2])
def test_pipelines_for_hardware_make_a_step_a_cycle(lanes: int) -> None:
    schedule = hardware_schedule(blocks(), lanes=lanes)
    assert allo.verify(plain_schedule(BLOCKS), schedule)
    loops = {loop.name: loop for loop in allo.estimate(schedule).loops}
    name = "column.outer" if lanes > 1 else "column"
    assert loops[name].interval == 1


@pytest.mark.slow
def test_hardware_computes_what_numpy_does() -> None:
    product_of(hardware_schedule(blocks(), lanes=4), "csim", sides=(8, 16), steps=12)
    product_of(hardware_schedule(small_blocks()[1], lanes=2), "rtl")


@pytest.mark.exhaustive
def test_more_lanes_in_hardware() -> None:
    product_of(hardware_schedule(blocks(), lanes=4), "rtl", sides=(8, 16), steps=12)


def small_blocks(data_type: str = "FP32", batch: bool = False) -> tuple[Tec, Tec]:
    plain = Tec.of("MNK", ["seq"] * 3, (4, 4, 6), (6, 0, 1), (0, 1, 4), (4, 1, 0), data_type, names="ikj")
    plan = TecPlan.begin(plain).split("i", 2).split("k", 2)
    if not batch:
        return plain, plan.primitive("GEMM", "i.inner", "k.inner", "j").tec
    return plain, plan.split("j", 3).primitive("BRGEMM", "j.outer", "i.inner", "k.inner", "j.inner").tec


def product_of(
    schedule: allo.Schedule, target: str | None = None, sides: tuple[int, int] = (4, 4), steps: int = 6
) -> None:
    values = np.random.default_rng(3)
    A, B = (values.integers(-9, 9, shape).astype(np.float32) for shape in ((sides[0], steps), (steps, sides[1])))
    C = np.zeros(sides, np.float32)
    made = schedule.build(target="vhls", mode="csim") if target == "csim" else schedule.build(target=target)
    made(A.reshape(-1), B.reshape(-1), C.reshape(-1))
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize("batch", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_systolic_arrays_are_proved(batch: bool) -> None:
    plain, tec = small_blocks(batch=batch)
    schedule = systolic_schedule(tec)
    assert allo.verify(plain_schedule(plain), schedule)
    product_of(schedule)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["csim", "rtl"])
def test_a_systolic_array_in_hardware(target: str) -> None:
    """One block of 2 x 2 cores, without loops around it."""
    plain = Tec.of("MNK", ["seq"] * 3, (2, 2, 6), (6, 0, 1), (0, 1, 2), (2, 1, 0), "FP32", names="ikj")
    product_of(systolic_schedule(TecPlan.begin(plain).primitive("GEMM", "i", "k", "j").tec), target, sides=(2, 2))


@pytest.mark.exhaustive
def test_systolic_arrays_in_hardware() -> None:
    product_of(systolic_schedule(small_blocks()[1]), "rtl")


def test_systolic_arrays_with_outer_sums_and_other_ends() -> None:
    """Sums go on in another loop; elements are bfloat16; values come first and last."""
    plain, _ = small_blocks("bfloat_16")
    plan = TecPlan.begin(plain).split("i", 2).split("k", 2).split("j", 3)
    tec = replace(plan.primitive("GEMM", "i.inner", "k.inner", "j.inner").tec, prim_first="copy", prim_last="relu")
    values = np.random.default_rng(3)
    in0, in1, out, init = (values.integers(-9, 9, tec.extent(k)).astype(np.float32) for k in (0, 1, 2, 2))
    expected = evaluated(tec, in0, in1, out, init)
    narrow = [array.astype(ml_dtypes.bfloat16) for array in (in0, in1)]
    systolic_schedule(tec).build()(*narrow, init, out)
    np.testing.assert_array_equal(out, expected)


def test_systolic_arrays_that_are_refused() -> None:
    with pytest.raises(allo.ContractionError) as error:
        systolic_schedule(BLOCKS)
    assert str(error.value) == "a systolic array is the primitive of a GEMM or BRGEMM, and prim_main is none"
    with pytest.raises(allo.ContractionError) as error:
        systolic_schedule(TecPlan.begin(BLOCKS).primitive("GEMM", "i", "k", "j").tec)
    assert str(error.value) == (
        "the primitive has 8 x 16 elements, and an array 64 at most\n  hint: split a prim dimension"
    )


def test_plans_with_swapped_inputs_are_proved() -> None:
    """Against the loops with inputs in the same order; those before the swap take other arrays."""
    plan = TecPlan.begin(Tec.of("MNK", ["seq"] * 3, (6, 4, 10), (10, 0, 1), (0, 1, 4), (4, 1, 0), "FP64", names="ikj"))
    plan = plan.split("j", 5).swap().primitive("GEMM", "k", "i", "j.inner")
    assert allo.verify(plain_schedule(plan.meaning), tec_schedule(plan.tec))
    assert plan.is_swapped and plan.swap().meaning == plan.first


def test_a_kernel_has_three_extents() -> None:
    with pytest.raises(allo.ContractionError) as error:
        plain_schedule(BLOCKS, (96, 384))
    assert str(error.value) == "extents are three numbers of elements, of in0, in1 and out, got 2"


def test_plain_loops_are_pipelines_too() -> None:
    schedule = hardware_schedule(BLOCKS)
    assert str(schedule.get_loops()).count("pipeline=1") == 2
    with pytest.raises(allo.ContractionError, match=r"^a TEC whose prim_main is none has one lane, got 2$"):
        hardware_schedule(BLOCKS, lanes=2)


def test_lanes_divide_the_columns() -> None:
    with pytest.raises(allo.ContractionError) as error:
        hardware_schedule(blocks(), lanes=3)
    assert str(error.value) == "3 lanes do not divide the 16 columns of the primitive\n  hint: N is dimension 'k'"
