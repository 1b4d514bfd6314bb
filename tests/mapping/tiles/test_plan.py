"""Plans: steps that are printed, replayed, made by hand, compared, and refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import allo
from allo import tile
from allo.errors import AlloError, TargetError
from allo.ir.types import float32, index, int32
from tests.mapping.tiles.kernels import CASES, gemm, softmax
from tests.mapping.tiles.test_space import small_mesh
from tests.seeds import sampled

VALUES = {"BM": 8, "BN": 8, "BK": 8}


def plan() -> tile.TilePlan:
    return tile.plan(gemm, small_mesh(2, 3), VALUES)


def test_the_first_plan() -> None:
    assert str(plan()) == (
        "# gemm, BM=8, BN=8, BK=8 on mesh\n"
        'spread(m="x", n="y")\n'
        'waves("m", "n")\n'
        'load("A", "per core", inside="k", buffers=1)\n'
        'load("B", "per core", inside="k", buffers=1)\n'
        'store("C", buffers=1)\n'
        "# 8531 cycles, estimated, 0.023 TFLOP/s of 0.384; binding: memory dram; 768 bytes a core"
    )


def test_a_plan_made_by_hand() -> None:
    made = plan().waves("n", "m").load("A", "broadcast", "v", inside="n", buffers=2)
    made = made.load("B", "broadcast", "h", inside=None).store("C", buffers=2)
    assert [str(step) for step in made.steps] == [
        'spread(m="x", n="y")',
        'waves("n", "m")',
        'load("A", "broadcast", "v", inside="n", buffers=2)',
        'load("B", "broadcast", "h", inside=None, buffers=1)',
        'store("C", buffers=2)',
    ]
    assert made.bytes == 256 + 2 * 16 * 256 + 8 * 256 + 256


@pytest.mark.parametrize("name", sampled(list(CASES)))
def test_plans_of_searches_replay(name: str) -> None:
    case = CASES[name]
    best = allo.map(case.kernel, small_mesh(2, 2), k=3, instantiate=case.values, profile=False)
    first = tile.plan(case.kernel, small_mesh(2, 2), case.values)
    for one in (best, *best.others):
        assert first.replay(str(one)).mapping == one.mapping
        assert first.replay(one.steps) == first.replay(str(one))
    assert len(best.others) <= 2
    cycles = [one.estimate.cycles for one in (best, *best.others)]
    assert cycles == sorted(cycles)


def test_difference_of_plans() -> None:
    before = plan()
    after = before.load("A", "broadcast", "v", inside="k", buffers=2)
    assert before.diff(after).splitlines()[:2] == [
        '- load("A", "per core", inside="k", buffers=1)',
        '+ load("A", "broadcast", "v", inside="k", buffers=2)',
    ]
    assert before.diff(before) == "estimated cycles: 8531 -> 8531 (+0.0%)"


def test_blocks_are_tried() -> None:
    tried = {"BM": [8, 24, 16], "BN": [8], "BK": [16]}
    best = allo.map(gemm, small_mesh(2, 2), blocks=tried, profile=False)
    assert dict(best.values)["BK"] == 16 and dict(best.values)["BM"] in (8, 16)
    sizes = [{"BM": m, "BN": 8, "BK": 16} for m in (8, 16)]
    single = [allo.map(gemm, small_mesh(2, 2), 1, values, profile=False).estimate.cycles for values in sizes]
    assert best.estimate.cycles == pytest.approx(min(single))


def test_a_schedule_is_mapped_too() -> None:
    schedule = allo.customize(gemm, instantiate=VALUES)
    assert tile.plan(schedule, small_mesh(2, 3)).steps == plan().steps


def test_blocks_that_leave_elements_out_are_not_tried() -> None:
    """32 elements of `k` in blocks of 24 are fewer products, and a wrong result."""
    fixed = {"BM": 8, "BN": 8}
    found = allo.map(gemm, small_mesh(2, 2), 1, fixed, {"BK": [24, 8]}, profile=False)
    assert dict(found.values)["BK"] == 8
    with pytest.raises(TargetError) as caught:
        allo.map(gemm, small_mesh(2, 2), 1, fixed, {"BK": [24]})
    assert str(caught.value) == (
        "no blocks can be mapped:\n"
        "    {'BM': 8, 'BN': 8, 'BK': 24}: blocks do not divide 'A': 8 elements of a dimension are left"
    )


def test_values_that_are_none() -> None:
    schedule = allo.customize(gemm, instantiate=VALUES)
    wrong: list[tuple[Any, Any, Any, str]] = [
        (gemm, None, {"BM": 64}, "blocks['BM'] must list values, got 64\n  hint: write `{\"BM\": [32, 64]}`"),
        (gemm, None, {"BM": []}, "blocks['BM'] must list values, got []\n  hint: write `{\"BM\": [32, 64]}`"),
        (gemm, None, 3, "blocks must list values by name, got 3\n  hint: write `{\"BM\": [32, 64]}`"),
        (gemm, {"BM": 8}, {"BM": [8]}, "'BM' is in instantiate and in blocks\n  hint: leave it out of one of them"),
        (gemm, [8, 8, 8], None,
         "instantiate must give values by name, got [8, 8, 8]\n  hint: write `{\"BM\": 64}`"),
        (schedule, {"BM": 16}, None,
         "a schedule has its values already\n  hint: give them to `allo.customize`, or map the kernel"),
    ]  # fmt: skip
    for kernel, fixed, blocks, message in wrong:
        with pytest.raises(TargetError) as caught:
            allo.map(kernel, small_mesh(), 1, fixed, blocks)
        assert str(caught.value) == message


STEPS = [
    ('spread(m="z")', 'spread(m="z"): the cores have no dimension \'z\'\n  hint: they have x, y'),
    ('spread(q="x")', "spread(q=\"x\"): the grid has no dimension 'q'\n  hint: it has m, n"),
    ('spread(m="x", n="x")', "spread(m=\"x\", n=\"x\"): 'x' is given to 'm' and to 'n'"),
    ('waves("m", "m")', 'waves("m", "m"): a dimension is given twice'),
    ('waves("k")', "waves(\"k\"): the grid has no dimension 'k'\n  hint: it has m, n"),
    ('load("D", "per core", inside="k")',
     "load(\"D\", \"per core\", inside=\"k\"): the program has no load 'D'\n  hint: there are A, B"),
    ('load("A", "multicast", inside="k")',
     'load("A", "multicast", inside="k"): say how the tile comes to cores\n'
     "  hint: one of per core, broadcast, broadcast twice, wavefront"),
    ('load("A", "broadcast", "ring", inside="k")',
     "load(\"A\", \"broadcast\", \"ring\", inside=\"k\"): the mesh has no network 'ring'\n  hint: there are h, v"),
    ('load("A", "broadcast", "h", inside="k")',
     'load("A", "broadcast", "h", inside="k"): cores do not share this tile in that way: A[8*m:+8, 8*k:+8] is the same '
     "along 'y' only\n  hint: it can be delivered: per core; broadcast along v"),
    ('load("A", "wavefront", "h", "v", inside="k")',
     'load("A", "wavefront", "h", "v", inside="k"): cores do not share this tile in that way: A[8*m:+8, 8*k:+8] is the '
     "same along 'y' only\n  hint: it can be delivered: per core; broadcast along v"),
    ('load("A", "per core", inside="j")',
     "load(\"A\", \"per core\", inside=\"j\"): no loop 'j' around the load runs more than once\n"
     "  hint: there are m, n, k; inside=None loads once, before all"),
    ('load("A", "per core", inside="k", buffers=3)',
     'load("A", "per core", inside="k", buffers=3): buffers must be 1 or 2, got 3'),
    ('load("A", "per core", inside=None, buffers=2)',
     'load("A", "per core", inside=None, buffers=2): what happens once needs one buffer\n  hint: give buffers=1'),
    ('store("D", buffers=1)', "store(\"D\", buffers=1): the program has no store 'D'\n  hint: there are C"),
    ('spread(m=3)', "spread(m=3): 'm' is spread over dimensions of the cores, got 3"),
    ('spread("x")', 'spread("x"): spread has other arguments\n  hint: write `spread(m="x", n=("y", "z"))`'),
    ('waves(m=1)', "waves(m=1): waves takes no 'm'\n  hint: write `waves(\"n\", \"m\")`"),
    ('waves()', 'waves(): waves has other arguments\n  hint: write `waves("n", "m")`'),
    ('load("A", "per core")',
     "load(\"A\", \"per core\"): load needs 'inside'\n"
     '  hint: write `load("A", "per core", inside="k", buffers=2)`'),
    ('load("A", "per core", inside="k", bufers=2)',
     "load(\"A\", \"per core\", inside=\"k\", bufers=2): load takes no 'bufers'\n"
     '  hint: write `load("A", "per core", inside="k", buffers=2)`'),
    ('store("C")', "store(\"C\"): store needs 'buffers'\n  hint: write `store(\"C\", buffers=2)`"),
    ('store("C", 2, buffers=2)',
     'store("C", 2, buffers=2): store has other arguments\n  hint: write `store("C", buffers=2)`'),
    ('load("A", **{"inside": "k"})',
     'line 1: `load("A", **{"inside": "k"})` is no step of a plan\n'
     '  hint: write `load("A", "per core", inside="k")`'),
    ('lode("A")', "there is no step 'lode'\n  hint: did you mean 'load'?"),
    ("load A", 'line 1: `load A` is no step of a plan\n  hint: write `load("A", "per core", inside="k")`'),
    ('load("A", inside=k)',
     'line 1: `load("A", inside=k)` is no step of a plan\n  hint: write `load("A", "per core", inside="k")`'),
]  # fmt: skip


@pytest.mark.parametrize(("step", "message"), STEPS)
def test_steps_that_are_refused(step: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        plan().replay(step)
    assert str(caught.value) == message


def test_steps_that_are_none() -> None:
    for steps in (3, ["spread()"]):
        with pytest.raises(TargetError) as caught:
            plan().replay(steps)  # type: ignore[arg-type]
        assert str(caught.value) == f"steps are a text or those of a plan, got {steps!r}\n  hint: give `plan.steps`"
    with pytest.raises(TargetError) as caught:
        plan().diff("spread()")  # type: ignore[arg-type]
    assert str(caught.value) == "a plan is compared with a plan, got 'spread()'"


def test_the_verifier_takes_plans() -> None:
    """One answer for both questions: whether another program is the same, and whether transfers change nothing."""

    def plain(A: float32[L], B: float32[L]):
        for i in range(L):
            B[i] = A[i] + A[i]

    def other(A: float32[L]):
        A[0] = 0

    made = tile.plan(doubled, small_mesh())
    assert str(allo.verify(doubled, made)).startswith("Equivalent: doubled and its plan on mesh, by simulation of all ")
    assert "'plain' and its plan on mesh, by array dataflow" in str(allo.verify(plain, made))
    assert str(allo.verify(made, plain)).startswith("Equivalent: its plan on mesh and 'plain', by array dataflow")
    assert not allo.verify(made, other)


def test_waves_that_are_one() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(gemm, small_mesh(2, 6), VALUES).waves("n")
    assert str(caught.value) == "waves(\"n\"): all programs of 'n' run in one wave\n  hint: leave it out"


def test_buffers_that_do_not_fit() -> None:
    with pytest.raises(TargetError) as caught:
        tile.plan(gemm, small_mesh(2, 3, 2000), VALUES).load("A", "per core", inside="m", buffers=2)
    assert str(caught.value) == (
        'a core needs 2560 bytes with load("A", "per core", inside="m", buffers=2), and has 2000:\n'
        "    256 bytes of arrays of the program\n"
        "    2 x 1024 bytes of 'A'\n"
        "    1 x 256 bytes of 'B'\n"
        "  hint: issue loads inside of more loops, with one buffer, or make blocks smaller"
    )


L = 16


def unmarked(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]


@tile.kernel
def doubled(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        a: float32[4] = A[m * 4 : (m + 1) * 4]
        for i in range(4):
            B[m * 4 + i] = a[i] + a[i]


@tile.kernel
def no_programs(A: float32[L], B: float32[L]):
    for m in range(4):
        B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]


@tile.kernel
def beside(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = A[m * 4 : (m + 1) * 4]
    B[0] = 1


@tile.kernel
def dependent(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        for i in range(4):
            B[0] += A[m * 4 + i]


@tile.kernel
def scattered(A: float32[L], I: int32[L], B: float32[L]):  # noqa: E741
    for m in tile.programs(4):
        for i in range(4):
            B[m * 4 + i] = A[I[m * 4 + i]]


@tile.kernel
def with_gaps(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        for i in range(2):
            B[m * 4 + 2 * i] = A[m * 4 + i]


@tile.kernel
def conditional(A: float32[L], B: float32[L]):
    for m in tile.programs(4):
        for i in range(4):
            if A[m * 4 + i] > 0:
                B[m * 4 + i] = 1


@tile.kernel
def scalar(n: index, B: float32[L]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = 1.0


@tile.kernel
def open_extents(A: float32[...], B: float32[L]):
    for m in tile.programs(4):
        B[m * 4 : (m + 1) * 4] = A[0:4]


def line_of(function: Any, text: str) -> str:
    """Where a text stands in a kernel of this file."""
    lines = Path(__file__).read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {function.__name__}("))
    number = next(k for k in range(start, len(lines)) if text in lines[k])
    return f"line {number + 1}, column {lines[number].index(text) + 1}"


KERNELS = [
    (unmarked, None, "'unmarked' is no tile program\n  hint: write `@tile.kernel` above it"),
    (no_programs, None,
     "'no_programs' has no loop over programs\n"
     "  hint: write `for m, n in tile.programs(M // BM, N // BN)` around its statements"),
    (beside, "B[0] = 1", "'beside' does something beside its loop over programs"),
    (dependent, "for m", "programs are not independent: "),
    (scattered, "A[I", "the address `A[?]` is not affine: it has a subscript that is not affine"),
    (with_gaps, "B[m", "`B[4*m + 2*i]` does not write its whole tile: where m = 0, B[1] is left out"),
    (conditional, "B[m", "`B[4*m + i]` is written under a condition of run time: under a condition that is not affine"),
    (scalar, None, "'n' of 'scalar' is no array\n  hint: make it a constant of the kernel"),
    (open_extents, None, "the extents of 'A' must be known\n  hint: give them in the annotation"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "message"), KERNELS, ids=[f.__name__ for f, _, _ in KERNELS])
def test_kernels_that_are_no_tile_programs(function: Any, at: str | None, message: str) -> None:
    with pytest.raises(AlloError) as caught:
        tile.plan(function, small_mesh())
    text = str(caught.value)
    if at is None:
        assert text == message
    else:
        assert f"{line_of(function, at)}: {message}" in text


def test_targets_that_are_no_meshes() -> None:
    with pytest.raises(TargetError) as caught:
        allo.map(softmax, "u280")
    assert str(caught.value) == (
        "'u280' is no mesh of cores: tile programs cannot be mapped on it\n"
        '  hint: give a target of kind "mesh", such as "wormhole_n300d"'
    )


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "5"])
def test_numbers_of_plans(k: Any) -> None:
    with pytest.raises(TargetError) as caught:
        allo.map(softmax, "mesh8x8", k=k)
    assert str(caught.value) == f"k must be a number of plans, at least 1, got {k!r}"


def test_blocks_that_do_not_divide() -> None:
    with pytest.raises(TargetError) as caught:
        allo.map(gemm, small_mesh(), blocks={"BM": [24], "BN": [8], "BK": [8]})
    assert str(caught.value) == (
        "no blocks can be mapped:\n"
        "    {'BM': 24, 'BN': 8, 'BK': 8}: blocks do not divide 'C': a part of it is not written"
    )


def test_blocks_that_are_fixed_too() -> None:
    with pytest.raises(TargetError) as caught:
        allo.map(gemm, small_mesh(), instantiate=VALUES, blocks={"BM": [8]})
    assert str(caught.value) == "'BM' is in instantiate and in blocks\n  hint: leave it out of one of them"


def test_grids_without_extents() -> None:
    with pytest.raises(TypeError) as caught:
        tile.programs()
    assert str(caught.value) == "programs() takes at least one extent"
    assert list(tile.programs(2)) == [0, 1] and list(tile.programs(1, 2)) == [(0, 0), (0, 1)]


def test_runs_that_are_given_up() -> None:
    cycles = plan().simulate().cycles
    run = plan().within(cycles + 1)
    assert run is not None and run.cycles == cycles
    assert plan().within(cycles) is None and plan().within(0) is None


def test_all_plans_are_listed() -> None:
    found = list(tile.plans(softmax, small_mesh(2, 2)))
    assert len({one.mapping for one in found}) == len(found) == 12
    best = allo.map(softmax, small_mesh(2, 2), k=1)
    assert best.simulate().cycles == min(one.simulate().cycles for one in found)
