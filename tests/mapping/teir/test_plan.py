"""Steps on TECs: what they make, what they record, and that what they make means the same."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from allo.errors import ContractionError
from allo.mapping.teir import (
    WIDE,
    DataType,
    DimType,
    Processor,
    Tec,
    TecCost,
    TecPlan,
    chosen_plan,
    fused,
    registers_for,
    shared_cycles,
)
from tests.seeds import sweep

from .evaluation import evaluated

PLAIN = Tec.of("MNK", ["seq"] * 3, (20, 40, 30), (30, 0, 1), (0, 1, 40), (40, 1, 0), "FP64", names="ikj")
STEPS = """\
p.split("i", 4)
p.split("k", 8)
p.permute("i.outer", "k.outer", "i.inner", "k.inner", "j")
p.primitive("GEMM", "i.inner", "k.inner", "j")
p.execute("i.outer", "shared")"""


def test_steps_are_recorded_and_replayed() -> None:
    plan = TecPlan.begin(PLAIN).split("i", 4).split("k", 8)
    plan = plan.permute("i.outer", "k.outer", "i.inner", "k.inner", "j").primitive("GEMM", "i.inner", "k.inner", "j")
    plan = plan.execute("i.outer", "shared")
    assert str(plan) == STEPS
    assert plan.tec == Tec.of(
        "MNMNK", ["shared", "seq", "prim", "prim", "prim"], (5, 5, 4, 8, 30), (120, 0, 30, 0, 1), (0, 8, 0, 1, 40),
        (160, 8, 40, 1, 0), "FP64", prim_main="GEMM",
        names=("i.outer", "k.outer", "i.inner", "k.inner", "j"),
    )  # fmt: skip
    assert TecPlan.begin(PLAIN).replay(STEPS) == plan
    assert TecPlan.begin(PLAIN).replay(plan.steps) == plan


def test_fuse_takes_back_a_split() -> None:
    assert TecPlan.begin(PLAIN).split("j", 6).fuse("j.outer", "j.inner", "j").tec == PLAIN


def test_swap_makes_rows_of_columns() -> None:
    plan = TecPlan.begin(PLAIN).primitive("GEMM", "i", "k", "j").swap()
    assert "".join(plan.tec.dim_types) == "MNK" and [d.name for d in plan.tec] == ["k", "i", "j"]
    assert plan.swap().tec == TecPlan.begin(PLAIN).primitive("GEMM", "i", "k", "j").tec


def test_a_dimension_that_a_primitive_lacks_has_size_1() -> None:
    vector = Tec.of("MK", ["seq"] * 2, (20, 30), (30, 1), (0, 1), (1, 0), "FP64")
    made = TecPlan.begin(vector).primitive("GEMM", "d0", "1", "d1").tec
    assert [(d.type, d.size) for d in made] == [("M", 20), ("N", 1), ("K", 30)]


REFUSED = [
    ('p.split("i", 3)', "3 does not divide the size 20 of dimension 'i'\n  hint: the nearest size that does is 2"),
    ('p.split("i", 0)', "dimension 'i' cannot be split by 0: a size is a positive integer"),
    ('p.split("l", 2)', "the TEC has no dimension 'l'\n  hint: the dimensions are i, k, j"),
    ('p.split(2, 2)', "split: a dimension is given by its name, got 2"),
    ('p.fuse("i", "k")', "dimensions 'i' and 'k' have types M and N and cannot be fused"),
    ('p.fuse("i", "i")', "dimension 'i' cannot be fused with itself"),
    ('p.split("j", 6)\np.fuse("j.inner", "j.outer")',
     "dimensions 'j.inner' and 'j.outer' cannot be fused: in in0, a step of 'j.inner' is 1 elements and all of"
     " 'j.outer' 30\n  hint: try fuse('j.outer', 'j.inner'), or permute the tensor before"),
    ('p.split("i", 4)\np.execute("i.outer", "shared")\np.fuse("i.outer", "i.inner")',
     "dimensions 'i.outer' and 'i.inner' are shared and seq and cannot be fused"),
    ('p.permute("i", "j")',
     "permute names each dimension once: the order lacks 'k'\n  hint: the dimensions are i, k, j"),
    ('p.permute("i", "j", "k", "k")',
     "permute names each dimension once: the order has 'k'\n  hint: the dimensions are i, k, j"),
    ('p.permute("i", "j", 3)',
     "permute names each dimension once: the order lacks 'k' and has 3\n  hint: the dimensions are i, k, j"),
    ('p.split("i")', "the step 'split' is not given what it takes: missing a required argument: 'size'"),
    ('p.swap(1)', "the step 'swap' is not given what it takes: too many positional arguments"),
    ('p.execute("i", "prim")', "dimension 'i' is made prim by the step primitive, which says of which"),
    ('p.execute("i", "fast")', "execution cannot be 'fast': it is one of 'seq', 'shared', 'npu', 'prim'"),
    ('p.execute("j", "shared")',
     "dimension 'j' of type K cannot be shared: threads would add to the same elements\n"
     "  hint: make it seq, or share a dimension of type C, M or N"),
    ('p.primitive("GEMM", "i", "j")', "a GEMM has dimensions of types M, N, K: got 2 names"),
    ('p.primitive("GEMM", "k", "i", "j")',
     "a GEMM has prim dimensions of types M, N, K, in this order; got of types N, M, K"),
    ('p.primitive("copy", "i")', "the primitive cannot be 'copy': the TEC has two inputs"),
    ('p.primitive("GEMM", "i", "k", "j")\np.split("i", 4)',
     "split: dimension 'i' is inside of the primitive\n"
     '  hint: take primitive("none") first, or do this before the primitive is chosen'),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "message"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_refused(steps: str, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        TecPlan.begin(PLAIN).replay(steps)
    last = steps.count("\n")
    assert str(error.value) == f"step {last}, {steps.splitlines()[-1]}: {message}"


WRONG_TEXTS = [
    ("split(i, 4)", "line 1: 'split(i, 4)' is no step\n  hint: a step is written as p.split(\"i\", 8)"),
    ('p.tile("i", 4)',
     "line 1: 'p.tile('i', 4)': there is no step 'tile'\n"
     "  hint: steps are split, fuse, permute, execute, primitive, swap"),
    ('p.split("i", 2 + 2)', "line 1: 'p.split('i', 2 + 2)': arguments of steps are names and numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG_TEXTS, ids=["call", "name", "argument"])
def test_texts_that_are_no_steps(text: str, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        TecPlan.begin(PLAIN).replay(text)
    assert str(error.value) == message


def test_nothing_of_a_text_is_run() -> None:
    with pytest.raises(ContractionError, match=r"^the text is not that of steps: "):
        TecPlan.begin(PLAIN).replay("p.split(")


def test_all_that_lies_behind_each_other_is_fused() -> None:
    tec = Tec.of("MMNKK", ["seq"] * 5, (4, 5, 6, 2, 3), (30, 6, 0, 3, 1), (0, 0, 6, 3, 1), (30, 6, 1, 0, 0), "FP32",
                 names="abcde")  # fmt: skip
    assert [(d.name, d.size) for d in fused(TecPlan.begin(tec)).tec] == [("ab", 20), ("c", 6), ("de", 6)]


def test_large_products_get_blocks_that_caches_keep() -> None:
    size = 1024
    plain = Tec.of("MNK", ["seq"] * 3, (size,) * 3, (size, 0, 1), (0, 1, size), (size, 1, 0), "FP64", names="ikj")
    plan = chosen_plan(plain, Processor(cores=2))
    cost = TecCost(plan.tec, Processor(cores=2))
    assert plan.tec.prim_main == "GEMM" and plan.tec.dimensions[0].execution == "shared"
    assert cost.total < TecCost(TecPlan.begin(plain).primitive("GEMM", "i", "k", "j").tec, Processor(cores=2)).total
    assert str(cost).startswith("GEMM ") and str(cost).endswith("estimated)")


def test_blocks_have_vectors_that_columns_fill() -> None:
    blocks = [registers_for(WIDE, DataType.FP64, 12, n) for n in (12, 16, 48)]
    assert [(block.lanes, block.columns) for block in blocks] == [(4, 12), (8, 16), (8, 24)]


def test_threads_begin_late_and_take_parts() -> None:
    """Two of four parts each: the second thread begins after 100 cycles, and takes a quarter longer."""
    processor = Processor(cores=2, per_task=100)
    assert shared_cycles(processor, 4000, 4) == 100 + 2 * 1250
    assert shared_cycles(processor, 4000, 2) == 100 + 2500
    assert shared_cycles(processor, 40, 4) == 100  # the first has done all by then
    assert shared_cycles(processor, 8000, 8) == 100 + 4 * 1250


def test_threads_share_packing_that_wakes_them_before_their_loop() -> None:
    """What takes more than a fifth of the time until a thread has begun."""
    plain = Tec.of("MNK", ["seq"] * 3, (256,) * 3, (256, 0, 1), (0, 1, 256), (256, 1, 0), "FP64", names="ikj")
    for per_task, is_shared in ((1_000_000, False), (150_000, True)):
        processor = replace(WIDE, cores=2, per_task=per_task)
        cost = TecCost(chosen_plan(plain, processor).tec, processor)
        assert cost.packed[1] and cost.level(1) == 0 and cost.shared is not None
        assert cost.packed_by_threads(1) is is_shared


def random_tec(choice: random.Random) -> Tec:
    """A contraction of dense tensors, whose dimensions are in any order."""
    types = ["M", "N", "K", *choice.choices("CMNK", k=choice.randint(0, 3))]
    sizes = [choice.choice((1, 2, 3, 4, 6)) for _ in types]
    strides = []
    for tensor in range(3):
        there = [k for k, t in enumerate(types) if t not in ("N", "M", "K")[tensor]]
        own, step = [0] * len(types), 1
        for k in choice.sample(there, len(there)):
            own[k], step = step, step * sizes[k]
        strides.append(own)
    return Tec.of(types, ["seq"] * len(types), sizes, *strides, "FP64", prim_first=choice.choice(("zero", "none")))


def random_step(plan: TecPlan, choice: random.Random) -> TecPlan:
    names = [d.name for d in plan.tec]
    match choice.randint(0, 3):
        case 0:
            return plan.split(choice.choice(names), choice.choice((1, 2, 3)))
        case 1:
            return plan.fuse(*choice.sample(names, 2))
        case 2:
            return plan.permute(*choice.sample(names, len(names)))
        case _:
            return plan.swap()


@sweep(90, 20)
def test_steps_keep_what_a_tec_means(seed: int) -> None:
    choice = random.Random(seed)
    plan = TecPlan.begin(random_tec(choice))
    for _ in range(8):
        try:
            plan = random_step(plan, choice)
        except ContractionError:
            continue
    chosen = chosen_plan(plan.tec, Processor(cores=choice.randint(1, 3)))
    values = np.random.default_rng(seed)
    given = [values.integers(-9, 9, plan.first.extent(k)).astype(float) for k in range(3)]
    expected = evaluated(plan.first, *given)
    for made in (plan, chosen):
        is_swapped = plan.is_swapped != (made is chosen and chosen.is_swapped)
        inputs = given[1::-1] if is_swapped else given[:2]
        np.testing.assert_array_equal(evaluated(made.tec, *inputs, given[2]), expected)
    assert TecPlan.begin(plan.first).replay(str(plan)).tec == plan.tec
    assert Tec.parse(str(chosen.tec)) == chosen.tec
    assert all(d.type in DimType for d in chosen.tec)


def test_one_input_is_not_swapped() -> None:
    plan = TecPlan.begin(Tec.of("M", ["seq"], (3,), (4,), (0,), (1,), "FP32", prim_main="copy"))
    with pytest.raises(ContractionError, match=r"^a TEC of a copy has one input, which cannot be swapped$"):
        plan.swap()
