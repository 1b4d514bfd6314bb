"""Contractions on the model of an array: equal to NumPy, with descriptors within their limits, and refusals."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from allo.errors import ContractionError
from allo.importers.einsum import binary_tec, operand
from allo.mapping.teir import DataType, ExecType, Tec, TecPlan
from allo.mapping.teir.npu import (
    NpuArray,
    NpuProgram,
    NpuWait,
    npu_plan,
    npu_program,
    run_on_array,
    timed_on_array,
)
from tests.mapping.teir.evaluation import evaluated
from tests.seeds import sweep

BF16 = ml_dtypes.bfloat16


def tec_of(expression: str, sizes: dict[str, int], prim: str, npu: str, seq: str = "") -> Tec:
    """A GEMM on `prim`, in npu loops, in loops of the host."""
    inputs, output = expression.split("->")
    first, second = (operand(labels, sizes) for labels in inputs.split(","))
    plan = TecPlan.begin(binary_tec(first, second, output, sizes, DataType.BF16))
    plan = plan.primitive("GEMM", *prim).permute(*seq, *npu, *prim)
    for name in npu:
        plan = plan.execute(name, "npu")
    return plan.tec


def check(program: NpuProgram, expression: str, sizes: dict[str, int]) -> None:
    """What the array computes is what NumPy does; integers, so that no order of sums matters."""
    values = np.random.default_rng(0)
    inputs, output = expression.split("->")
    in0, in1 = (
        values.integers(-3, 4, tuple(sizes[k] for k in labels)).astype(BF16) for labels in inputs.split(",")
    )
    out = np.full(tuple(sizes[k] for k in output), 7, BF16)
    run_on_array(program, in0.reshape(-1), in1.reshape(-1), out.reshape(-1))
    expected = np.einsum(expression, in0.astype(np.float32), in1.astype(np.float32)).astype(BF16)
    np.testing.assert_array_equal(out, expected)


SIZES = {"a": 8, "b": 8, "c": 3, "d": 8, "e": 4, "f": 16, "g": 3, "h": 2}
LAYOUTS = [
    ("adcf,cfbe->adbe", "abc", ""),  # the three layouts of section 6.4
    ("acdf,bcfe->adbe", "abc", ""),
    ("acdf,bcfe->abde", "abc", ""),
    ("acdf,bcfe->abde", "bac", ""),
    ("acfd,bcef->abde", "abc", ""),  # transposed tiles
    ("acfd,bcfe->abed", "abc", ""),
    ("acdf,bcef->abed", "bac", ""),
    ("gacdf,gbcfe->gabde", "gabc", ""),  # a dimension of type C
    ("gacdf,gbcfe->gabde", "abc", "g"),
    ("achdf,bchfe->abde", "abch", ""),  # two of type K
    ("adf,bfe->abde", "ab", ""),  # none
    ("df,bfe->bde", "b", ""),
    ("df,fe->de", "", ""),
    ("agcdf,bcfe->agbde", "agbc", ""),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_layouts_and_loops(layout: tuple[str, str, str]) -> None:
    expression, npu, seq = layout
    check(npu_program(tec_of(expression, SIZES, "def", npu, seq)), expression, SIZES)


@pytest.mark.parametrize("size", [(6, 8), (8, 7), (3, 5), (2, 9), (9, 2), (5, 5), (21, 6)], ids=str)
@pytest.mark.parametrize("npu", ["abc", "bac"])
def test_sizes_that_rows_and_columns_do_not_divide(size: tuple[int, int], npu: str) -> None:
    """All four cases of section 5.4."""
    sizes = SIZES | {"a": size[0], "b": size[1]}
    check(npu_program(tec_of("acdf,bcfe->abde", sizes, "def", npu)), "acdf,bcfe->abde", sizes)


@sweep(90, 20)
def test_random_contractions(seed: int) -> None:
    choice = random.Random(seed)
    sizes = {k: choice.randint(2, 9) for k in "abg"} | {"c": choice.randint(2, 4), "h": 2}
    sizes |= {"d": choice.choice((4, 8)), "e": choice.choice((4, 12)), "f": choice.choice((8, 12, 16))}
    outer = [list("acg"), list("bcg")]  # g is of type C, c and h of type K
    more = choice.choice(("", "h"))
    labels = []
    for own, prim in zip(outer, (["df", "fd"], ["fe", "ef"]), strict=True):
        own += more
        choice.shuffle(own)
        labels.append("".join(own) + choice.choice(prim))
    result = list("abg")
    choice.shuffle(result)
    expression = f"{labels[0]},{labels[1]}->{''.join(result)}{choice.choice(('de', 'ed'))}"
    loops = list("abg")
    choice.shuffle(loops)
    array = NpuArray(rows=choice.randint(1, 4), columns=4)
    program = npu_program(tec_of(expression, sizes, "def", "".join(loops) + "c" + more), array)
    check(program, expression, sizes)


@sweep(90, 10)
def test_random_first_and_last_values(seed: int) -> None:
    """Also loops of K in the host, which go on with what is there, and three npu dimensions of type K."""
    choice = random.Random(seed)
    sizes = {k: choice.randint(2, 9) for k in "ab"} | {"c": 2, "h": 2, "k": 3, "e": choice.choice((4, 12))}
    sizes |= {"d": choice.choice((8, 12, 16))}
    sizes["f"] = sizes["d"]
    first, last = choice.choice(("none", "relu", "copy")), choice.choice(("none", "relu"))
    steps = "".join(choice.sample("chk", choice.randint(0, 3)))
    outer = choice.choice(("", "a", "b", "ab", "ba"))
    seq = steps[:1] if (first, last) == ("none", "none") else ""
    one, two = ("".join(k for k in outer if k in own) + steps for own in ("a", "b"))
    expression = f"{one}{choice.choice(('df', 'fd'))},{two}fe->{outer[::-1]}de"
    tec = tec_of(expression, sizes, "def", outer + steps[len(seq) :], seq)
    tec = replace(tec, prim_first=first, prim_last=last)
    program = npu_program(tec, NpuArray(rows=choice.randint(1, 4)))
    values = np.random.default_rng(seed)
    in0, in1, out, init = (values.integers(-1, 2, tec.extent(k)).astype(BF16) for k in (0, 1, 2, 2))
    wide = (array.astype(np.float64) for array in (in0, in1, out, init))
    expected = evaluated(tec, *wide).astype(BF16)
    run_on_array(program, in0, in1, out, init if first == "copy" else None)
    np.testing.assert_array_equal(out, expected)
    assert timed_on_array(program, 400).cycles >= max(program.cycles(400).values())


def test_engines_send_again_in_their_first_dimension_and_move_whole_words() -> None:
    """A descriptor has stride 0 in its first dimension alone, and an engine cannot part two elements of a word."""
    for expression, npu, seq in LAYOUTS:
        program = npu_program(tec_of(expression, SIZES, "def", npu, seq))
        for transfer in program.transfers:
            inner = zip(transfer.sizes[1:], transfer.strides[1:], strict=True)
            assert all(stride > 0 for size, stride in inner if size > 1) and transfer.strides[3] == 1
        for tensor in range(3):
            layout = program.layout(tensor)
            assert layout.strides[-1] == 1 and all(stride % 2 == 0 for stride in layout.strides[:-1])


def test_sums_are_rounded_when_a_call_of_the_kernel_ends() -> None:
    """As those of the thesis's kernel, which reads and writes bfloat16."""
    sizes = SIZES | {"c": 20}
    program = npu_program(tec_of("cdf,cfe->de", sizes, "def", "c"))
    in0, in1 = np.ones(program.tec.extent(0), BF16), np.full(program.tec.extent(1), 3.0625, BF16)
    out = np.empty(program.tec.extent(2), BF16)
    run_on_array(program, in0, in1, out)
    total = BF16(0)
    for _ in range(20):
        total = BF16(np.float32(total) + np.float32(49))
    assert (out == total).all() and total == 968


PLANNED = [
    ("ij,jk->ik", {"i": 192, "j": 160, "k": 128}), ("ij,kj->ik", {"i": 64, "j": 64, "k": 320}),
    ("abcd,dbe->ace", {"a": 12, "b": 8, "c": 6, "d": 16, "e": 24}),
    ("bij,bjk->bik", {"b": 3, "i": 40, "j": 24, "k": 56}), ("ij,jk->ik", {"i": 40, "j": 60, "k": 48}),
    ("aebf,cdef->abcd", {"a": 4, "b": 8, "c": 4, "d": 8, "e": 4, "f": 8}),
]  # fmt: skip


@pytest.mark.parametrize("chosen", PLANNED, ids=lambda chosen: chosen[0])
def test_plans_that_are_chosen(chosen: tuple[str, dict[str, int]]) -> None:
    expression, sizes = chosen
    inputs, output = expression.split("->")
    first, second = (operand(labels, sizes) for labels in inputs.split(","))
    plan = npu_plan(binary_tec(first, second, output, sizes, DataType.BF16))
    assert TecPlan.begin(plan.first).replay(str(plan)) == plan
    check(npu_program(plan.tec), expression, sizes)


def test_plans_with_first_values() -> None:
    sizes = {"i": 64, "j": 64, "k": 32}
    tec = binary_tec(operand("ij", sizes), operand("jk", sizes), "ik", sizes, DataType.BF16)
    plan = npu_plan(replace(tec, prim_first="none"))
    m, _, k = (d.size for d in plan.tec.primitive)
    assert m == k
    values = np.random.default_rng(0)
    in0, in1, out = (values.integers(-1, 2, plan.tec.extent(t)).astype(BF16) for t in range(3))
    wide = [array.reshape(-1, size).astype(np.float32) for array, size in ((in0, 64), (in1, 32), (out, 32))]
    expected = wide[2] + wide[0] @ wide[1]
    run_on_array(npu_program(plan.tec), in0, in1, out)
    np.testing.assert_array_equal(out.reshape(64, 32), expected.astype(BF16))


def test_a_large_product_gets_tiles_that_keep_cores_busy() -> None:
    sizes = {"i": 2048, "j": 2048, "k": 2048}
    plan = npu_plan(binary_tec(operand("ij", sizes), operand("jk", sizes), "ik", sizes, DataType.BF16))
    m, n, k = (d.size for d in plan.tec.primitive)
    cycles = npu_program(plan.tec).cycles(m * n * k // 128 + 25)
    assert 2048**3 / 128 / 16 / max(cycles.values()) > 0.95


def test_contractions_that_have_no_plan() -> None:
    sizes = {"i": 20, "j": 14, "k": 20}
    tec = binary_tec(operand("ij", sizes), operand("jk", sizes), "ik", sizes, DataType.BF16)
    with pytest.raises(ContractionError) as error:
        npu_plan(tec)
    assert str(error.value) == (
        "no plan of the contraction fits the array\n"
        "  hint: M, N and K have a divisor of 4, and each tensor a tile with a unit stride"
    )
    with pytest.raises(ContractionError, match=r"^npu_plan takes a contraction as loops, got a GEMM$"):
        npu_plan(program_of({}).tec)
    with pytest.raises(ContractionError, match=r"^an array computes bfloat_16, and the contraction has FP64$"):
        npu_plan(replace(tec, data_type=DataType.FP64))


def program_of(sizes: dict[str, int], array: NpuArray | None = None) -> NpuProgram:
    return npu_program(tec_of("acdf,bcfe->abde", SIZES | sizes, "def", "abc"), array or NpuArray())


def test_descriptors_are_used_again_while_others_are_under_way() -> None:
    sequence = program_of({"a": 64}).sequence
    used = {item.descriptor for item in sequence if not isinstance(item, NpuWait)}
    assert used == set(range(12))
    first = next(k for k, item in enumerate(sequence) if isinstance(item, NpuWait))
    assert [str(item) for item in sequence[:3]] == [
        "transfer in0 of column 0 bd=0 offset=0 sizes=(2, 3, 8, 16) strides=(0, 128, 16, 1)",
        "transfer in1 of column 0 bd=1 offset=0 sizes=(2, 3, 16, 4) strides=(768, 64, 4, 1)",
        "transfer out of column 0 bd=2 offset=0 sizes=(2, 4, 8, 4) strides=(128, 256, 4, 1)",
    ]
    assert first == 4 * 12 and str(sequence[first]) == "wait for out of column 0, rows 0, 1, 2, 3"


def test_cycles_at_least() -> None:
    sizes = {"a": 64, "b": 64, "c": 80, "d": 64, "e": 64, "f": 64}
    program = program_of(sizes)
    assert program.calls == 16 * 16 * 80
    assert program.cycles(2067) == {
        "cores": 20480 * 2067, "in0": 20480 * 2048, "in1": 20480 * 2048, "out": 16 * 16 * 4 * 2048,
    }  # fmt: skip


def broken(program: NpuProgram, change: Any) -> NpuProgram:
    return replace(program, sequence=tuple(change(list(program.sequence))))


def run(program: NpuProgram) -> None:
    arrays = [np.zeros(program.tec.extent(k), BF16) for k in range(3)]
    run_on_array(program, *arrays)


FAULTS: Sequence[tuple[Any, str]] = [
    (lambda s: [i for i in s if isinstance(i, NpuWait) or (i.tensor, i.column) != (0, 1)],
     "core (1, 0) waits for a tile for ever"),
    (lambda s: [i for i in s if not isinstance(i, NpuWait)], "the sequence ends before all transfers have"),
    (lambda s: [i if isinstance(i, NpuWait) else replace(i, descriptor=0) for i in s],
     "descriptor 0 of column 0 is under way"),
    (lambda s: [i if isinstance(i, NpuWait) or i.descriptor != 2 else replace(i, descriptor=16) for i in s],
     "column 0 has no descriptor 16: there are 16, from 0 on"),
    (lambda s: [*(replace(s[0], descriptor=8 + k) for k in range(5)), *s], "more than 4 transfers wait on a channel"),
    (lambda s: [i for i in s if i.column != 3 or (not isinstance(i, NpuWait) and i.tensor != 2)],
     "cores [(0, 3), (1, 3), (2, 3), (3, 3)] have tiles that no transfer takes: the array would wait for ever"),
    (lambda s: [*s, replace(s[2], descriptor=9), next(i for i in s if isinstance(i, NpuWait) and i.column == 0)],
     "transfer out of column 0 bd=9 offset=0 sizes=(2, 4, 8, 4) strides=(128, 256, 4, 1) waits for a tile of row 0"
     " for ever"),
    (lambda s: [*s, s[-1]], "the array would wait for out of column 3, rows 0, 1, 2, 3 for ever: none is under way"),
    (lambda s: [s[0], *s], "descriptor 0 of column 0 is under way"),
    (lambda s: [replace(s[0], sizes=(3, *s[0].sizes[1:])), *s[1:]],
     "core (0, 0) takes [12, 12] tiles of in0 and in1, and is sent [15, 12]"),
    (lambda s: [replace(s[0], offset=4096), *s[1:]],
     "transfer in0 of column 0 bd=0 offset=4096 sizes=(2, 3, 8, 16) strides=(0, 128, 16, 1) leaves its tensor,"
     " which has 3072 elements"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=[str(k) for k in range(len(FAULTS))])
def test_the_model_notices_faults_of_programs(change: Any, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        run(broken(program_of({}), change))
    assert str(error.value) == message


def with_execution(tec: Tec, name: str, execution: str) -> Tec:
    """The TEC with a loop that is run in another way, where it stands."""
    changed = (replace(d, execution=ExecType(execution)) if d.name == name else d for d in tec.dimensions)
    return tec.with_dimensions(list(changed))


REFUSED: Sequence[tuple[Any, str]] = [
    (lambda: npu_program(with_execution(program_of({}).tec, "b", "seq")),
     "dimension 'b' is seq and stands in an npu loop\n  hint: seq dimensions come first"),
    (lambda: program_of({"d": 6}), "prim dimension 'd' of type M has size 6: a multiple of 4 is needed"),
    (lambda: program_of({"f": 14}), "prim dimension 'f' of type K has size 14: a multiple of 4 is needed"),
    (lambda: program_of({"d": 80, "e": 80, "f": 64}),
     "the tiles of the primitive have 33280 bytes, and a core 32256 for each of two sets\n"
     "  hint: split a prim dimension"),
    (lambda: npu_program(replace(program_of({}).tec, data_type=DataType.FP32)),
     "XDNA has no data_type 'FP32'; it has 'bfloat_16'"),
    (lambda: npu_program(replace(program_of({}).tec, prim_first="none")),
     "first values of the output come as tiles of in1 do: M and K of the primitive are 8 and 16\n"
     "  hint: split one so that they are the same"),
    (lambda: npu_program(replace(tec_of("acdf,bcef->abde", SIZES | {"d": 16}, "def", "abc"), prim_first="none")),
     "first values of the output come as tiles of in1 do: N has the unit stride in both\n"
     "  hint: swap the inputs, or lay in1 out with N last"),
    (lambda: run_on_array(program_of({}), *(np.zeros(9000, BF16) for _ in range(4))),
     "prim_first is zero: init is not used"),
    (lambda: run_on_array(npu_program(replace(program_of({"d": 16}).tec, prim_first="copy")),
                          *(np.zeros(9000, BF16) for _ in range(3))),
     "prim_first is copy: init is needed"),
    (lambda: npu_program(tec_of("acghdf,bcghfe->abde", SIZES | {"c": 9}, "def", "abcgh")),
     "an iteration needs 19 descriptors, and a shim has 16"),
    (lambda: npu_program(tec_of("acghdf,bcghfe->abde", SIZES | {"c": 5}, "def", "abcgh")),
     "an iteration has 5 transfers for one channel, and 4 can wait there\n"
     "  hint: fuse npu dimensions of type K, or make the outer ones smaller"),
    (lambda: npu_program(tec_of("acdf,bcfe->abde", SIZES, "def", "acb")),
     "dimension 'c' of type K has loops of the output inside of it\n  hint: npu dimensions of type K come last"),
    (lambda: npu_program(tec_of("acdf,bcfe->abde", SIZES, "def", "ab", "c")),
     "dimension 'c' of type K is seq: sums end in their core\n"
     "  hint: make it npu, or begin with what is there: prim_first none, prim_last none"),
    (lambda: program_of({"b": 300}),
     "in0 in column 0 repeats 75 times: a descriptor does 64\n"
     "  hint: split the last npu dimension of the output, and unroll its outer part"),
    (lambda: program_of({"c": 1200}), "in0 in column 0 wraps after 1200 steps: a descriptor counts to 1023"),
    (lambda: program_of({"b": 16, "c": 1000, "d": 64, "e": 8, "f": 64, "a": 8}).tec and program_of(
        {"b": 16, "c": 1000, "f": 128, "e": 8}),
     "in1 in column 0 steps over 4096000 elements: a descriptor reaches 2097152\n"
     "  hint: lay the tensor out so that tiles lie behind each other"),
    (lambda: program_of({}, NpuArray(rows=4, columns=2)),
     "4 rows get tiles of in0 from 2 columns: too few"),
    (lambda: NpuArray(rows=5), "an array has 1 to 4 rows, got 5"),
    (lambda: run_on_array(program_of({}), *(np.zeros(8, BF16) for _ in range(3))),
     "in0 is a flat bfloat16 array of 3072 elements at least"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(ContractionError) as error:
        make()
    assert str(error.value) == message


def test_odd_strides() -> None:
    sizes = SIZES | {"e": 4, "b": 3}
    with pytest.raises(ContractionError) as error:
        npu_program(tec_of("acdf,cfeb->abde", sizes, "def", "abc"))
    assert str(error.value) == (
        "in1 has no unit stride in the primitive: 'e' and 'f' step over elements\n\n"
        "dimension 'b' has the odd stride 1 in in1\n  hint: engines move words of two elements\n\n"
        "dimension 'e' has the odd stride 3 in in1\n  hint: engines move words of two elements"
    )
