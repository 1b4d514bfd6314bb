"""Sets of contractions on the CPU and on the model of an array of XDNA: equal to NumPy, and to each other."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.importers.einsum import Operand, array_contraction, einsum_on_array, einsum_program
from allo.mapping.teir.npu import NpuArray
from benchmarks.contractions import NETWORKS, TCCG, THESIS, Case
from tests.seeds import rotating, sweep

BF16 = ml_dtypes.bfloat16
ALL = (*TCCG, *NETWORKS, *THESIS)


def check(expression: str, shapes: list[tuple[int, ...]], seed: int = 0, array: NpuArray | None = None) -> None:
    """Whole numbers: sums of one step are exact in any order, and only rounding between steps is left."""
    values = np.random.default_rng(seed)
    given = [values.integers(-2, 3, shape).astype(BF16) for shape in shapes]
    wide = [operand.astype(np.float64) for operand in given]
    expected = np.einsum(expression, *wide, optimize=True)
    np.testing.assert_array_equal(allo.einsum(expression, *wide), expected)
    program = einsum_program(expression, *shapes, data_type="bfloat_16")
    found = einsum_on_array(program, *given, array=array or NpuArray())
    np.testing.assert_array_equal(found.result, program(*given))
    assert len(found.programs) == len(program.steps)
    if len(program.steps) == 1:
        np.testing.assert_array_equal(found.result, expected.astype(np.float32).astype(BF16))
    else:  # each step rounds to 8 bits
        largest = np.einsum(expression, *map(np.abs, wide), optimize=True)
        error = np.abs(found.result.astype(np.float64) - expected)
        assert (error <= len(program.steps) * largest / 128).all()


@pytest.mark.parametrize("chosen", rotating(ALL, share=12), ids=lambda case: case.expression)
def test_sets_of_contractions(chosen: Case) -> None:
    check(chosen.expression, chosen.shapes(most=12))


@sweep(60, 4)
def test_random_contractions_with_edges(seed: int) -> None:
    choice = random.Random(seed)
    sizes = {label: choice.choice((1, 2, 3, 5, 6, 9, 13)) for label in "abcdefgh"}
    of = ("ab", "cd", "ef", "gh")  # types C, M, N and K
    some = ["".join(choice.sample(labels, choice.randint(0, 2))) for labels in of]
    orders = ["".join(choice.sample(t, len(t))) for t in (some[0] + some[1] + some[3], some[0] + some[2] + some[3])]
    output = "".join(choice.sample(some[0] + some[1] + some[2], len(some[0] + some[1] + some[2])))
    shapes = [tuple(sizes[label] for label in labels) for labels in orders]
    array = NpuArray(rows=choice.randint(1, 4))
    check(f"{','.join(orders)}->{output}", shapes, seed, array)


@pytest.mark.parametrize("sizes", [(70, 1, 3, 5), (1, 270, 1, 9), (2, 3, 2100, 9)], ids=str)
def test_more_tiles_than_a_descriptor_repeats(sizes: tuple[int, int, int, int]) -> None:
    c, m, n, k = sizes
    check("cmk,ckn->cmn", [(c, m, k), (c, k, n)], array=NpuArray(rows=2, tile_bytes=2048, stack_bytes=512))


@pytest.mark.parametrize("sizes", [(5, 6, 5003), (9, 300, 104), (300, 70, 9), (9, 70, 1009)], ids=str)
def test_sums_and_strides_that_one_descriptor_does_not_reach(sizes: tuple[int, int, int]) -> None:
    """Few elements are not 0, so that sums, which are rounded after each tile, are exact."""
    m, n, k = sizes
    small = NpuArray(tile_bytes=2048, stack_bytes=512, wrap=48, stride_words=2048)
    values = np.random.default_rng(0)
    A, B = values.integers(-2, 3, (m, k)), values.integers(-2, 3, (k, n))
    A[:, values.permutation(k)[30:]] = 0
    program = einsum_program("ij,jk->ik", (m, k), (k, n), data_type="bfloat_16")
    found = einsum_on_array(program, A.astype(BF16), B.astype(BF16), array=small)
    np.testing.assert_array_equal(found.result.astype(int), A @ B)
    tec = found.programs[0].tec  # type: ignore[union-attr]
    assert [d.name for d in tec.outer if d.name.endswith("outer")]


def test_tiles_are_as_large_as_they_can_be_and_even() -> None:
    sizes = {"i": 300, "j": 200, "k": 300}
    made = array_contraction(Operand("ij", (300, 200)), Operand("jk", (200, 300)), "ik", sizes)
    assert made.tile == (76, 76, 40) and made.program.tec.dim_sizes[:3] == (4, 4, 5)


@pytest.mark.parametrize("expression", ["abh,bc->c", "ab,bch->ac", "hab,bch->ca"])
def test_labels_of_one_element_may_be_in_one_operand_only(expression: str) -> None:
    sizes = {"a": 3, "b": 5, "c": 6, "h": 1}
    first, second = expression.split("->")[0].split(",")
    check(expression, [tuple(sizes[label] for label in labels) for labels in (first, second)])


def test_the_set_of_tccg_is_whole() -> None:
    assert len({chosen.expression for chosen in TCCG}) == 48


def test_steps_without_products_of_matrices_are_those_of_the_host() -> None:
    program = einsum_program("ij,jk,k->ij", (3, 4), (4, 5), (5,), data_type="bfloat_16", path=((1, 2), 0))
    found = einsum_on_array(program, *(np.ones(shape, BF16) for shape in program.shapes))
    assert [made is not None for made in found.programs] == [True, False]
    assert (found.result == 5).all()


def test_refused() -> None:
    program = einsum_program("ij,jk->ik", (3, 4), (4, 5))
    with pytest.raises(allo.ContractionError) as error:
        einsum_on_array(program, np.ones((3, 4)), np.ones((4, 5)))
    assert str(error.value) == "an array of XDNA computes bfloat_16, and the program is for FP64"
    with pytest.raises(allo.ContractionError) as error:
        array_contraction(Operand("ij", (3, 4)), Operand("jk", (4, 5)), "k", {"i": 3, "j": 4, "k": 5})
    assert str(error.value) == "label 'i' is in one operand only\n  hint: sum the operand over it before"
    small = NpuArray(tile_bytes=2048, stack_bytes=512, wrap=48, repeat=2)
    with pytest.raises(allo.ContractionError) as error:
        array_contraction(Operand("ij", (4, 6000)), Operand("jk", (6000, 4)), "ik", {"i": 4, "j": 6000, "k": 4}, small)
    assert str(error.value) == (
        "K of the contraction is 6,000: descriptors of an array reach 3,840 in tiles of 40\n"
        "  hint: split the sum in parts, and add their results"
    )
