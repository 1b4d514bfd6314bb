"""`allo.einsum` computes what `numpy.einsum` does, and refuses what it cannot."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.importers.einsum import EinsumExpression, EinsumProgram, einsum_program
from allo.mapping.teir import Processor
from benchmarks.contractions import CASES, Case
from tests.mapping.teir.evaluation import evaluated
from tests.seeds import sampled, sweep


def arrays(*shapes: tuple[int, ...], seed: int = 0, type: Any = np.float64) -> list[Any]:
    values = np.random.default_rng(seed)
    return [values.normal(size=shape).astype(type) for shape in shapes]


@pytest.mark.parametrize("chosen", sampled(CASES, share=4), ids=lambda case: case.expression)
def test_expressions_of_the_benchmark(chosen: Case) -> None:
    given = arrays(*chosen.shapes(most=5))
    expected = np.einsum(chosen.expression, *given, optimize=True)
    np.testing.assert_allclose(allo.einsum(chosen.expression, *given), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("chosen", CASES, ids=lambda case: case.expression)
def test_expressions_at_their_sizes(chosen: Case, type: Any) -> None:
    given = arrays(*chosen.shapes())
    expected = np.einsum(chosen.expression, *given, optimize=True)
    found = allo.einsum(chosen.expression, *(array.astype(type) for array in given))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-12 if type is np.float64 else 1e-4)


OTHERS = [
    ("ij->ji", (4, 6)), ("ii->i", (5, 5)), ("ii", (5, 5)), ("iij->j", (3, 3, 4)), ("ij->", (4, 6)), ("ij", (4, 6)),
    ("ba", (4, 6)), ("ij,jk", (4, 6), (6, 3)), ("i,i", (7,), (7,)), ("i,j", (3,), (4,)), (",ij", (), (3, 4)),
    ("ij,ij->", (3, 4), (3, 4)), ("ijk,l->j", (2, 3, 4), (5,)), ("ij,jk->", (3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 6)), ("...,...", (3, 4), (4,)), ("i...->...", (3, 4, 5)),
    ("ij,jk->ik", (1, 6), (6, 4)), ("ij,ij->ij", (4, 1), (1, 5)), ("ij,jk->ik", (3, 1), (4, 5)),
    (" i j , j k -> i k ", (3, 4), (4, 5)), ("Ab,bC->AC", (3, 4), (4, 5)), ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("ab,ab,ab->ab", (3, 4), (3, 4), (3, 4)), ("a,b,c,d->dcba", (2,), (3,), (4,), (5,)),
]  # fmt: skip


@pytest.mark.parametrize("given", OTHERS, ids=lambda given: given[0])
def test_forms_of_expressions(given: Any) -> None:
    expression, *shapes = given
    operands = arrays(*shapes)
    expected = np.einsum(expression, *operands)
    found = allo.einsum(expression, *operands)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


SUMS = [("ij,ji->", (6, 4), (4, 6)), ("ij,i->j", (30, 8), (30,)), ("ij,j->i", (8, 30), (30,)), ("ij->", (9, 5)),
        ("ijk->j", (5, 6, 7)), ("a,ai,ai->a", (1,), (1, 24), (1, 24)), ("ii,i->", (24, 24), (24,))]  # fmt: skip


@pytest.mark.parametrize("given", [*SUMS[:2], *(pytest.param(case, marks=pytest.mark.slow) for case in SUMS[2:])],
                         ids=lambda given: given[0])  # fmt: skip
def test_large_sums_are_shared_by_threads(given: Any) -> None:
    expression, *shapes = given
    operands = [np.rint(9 * array) for array in arrays(*shapes)]
    program = einsum_program(expression, *shapes, processor=Processor(cores=2, per_task=1))
    shared = [step for step in program.steps if step.tec.dimensions[0].execution == "shared"]
    assert bool(shared) == (expression != "ii,i->")  # whose label is a diagonal
    assert all(allo.verify(step.plain, step.schedule, reassociate=True) for step in program.steps)
    np.testing.assert_array_equal(program(*operands), np.einsum(expression, *operands))


def test_large_sums_of_one_element_have_parts() -> None:
    lines = str(einsum_program("pq,pq->", (1000, 1000), (1000, 1000), processor=Processor(cores=2))).splitlines()
    assert lines[1:] == [
        "  2 = apq,apq->a of (0, 1): one statement in loops a=8 shared, pq=125000",
        "  3 = a-> of (2,): one statement in loops a=8",
    ]
    for few in ("FP64", "bfloat_16"):
        shapes = ((100, 100) if few == "FP64" else (1000, 1000),) * 2
        assert len(einsum_program("pq,pq->", *shapes, data_type=few, processor=Processor(cores=2)).steps) == 1


def test_special_values_are_those_of_numpy() -> None:
    A, B = arrays((40, 40), (40, 40))
    A[3, 4], A[5, 6], A[5, 7], A[9, 9] = np.nan, np.inf, -np.inf, np.inf
    for expression in ("ij,jk->ik", "ij,ij->i", "ij,ij->ij"):
        for other in (A, B, np.zeros((40, 40))):
            with np.errstate(invalid="ignore"):
                expected = np.einsum(expression, A, other)
            np.testing.assert_allclose(allo.einsum(expression, A, other), expected)


def test_paths_without_steps_and_bytes_in_another_order() -> None:
    A, B = arrays((3, 4), (4, 5))
    for path in ([], ["einsum_path"], ["einsum_path", (0,)], (0,)):
        assert np.array_equal(allo.einsum("ij->ji", A, path=path), A.T)
    assert np.array_equal(allo.einsum("ij->ji", A.astype(">f8")), A.T)
    found = allo.einsum("ij,jk->ik", A.astype(">f8"), B.astype(np.float32))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, A @ B, rtol=1e-6)


def test_arrays_that_are_views_and_lists() -> None:
    A, B = arrays((6, 4), (8, 10))
    np.testing.assert_allclose(allo.einsum("ij,jk->ik", A.T, B[1:7, ::-2]), A.T @ B[1:7, ::-2])
    np.testing.assert_allclose(allo.einsum("ij,j->i", A, [1.0, 2.0, 3.0, 4.0]), A @ [1, 2, 3, 4])
    assert allo.einsum("ij,j->i", A, np.ones(4, np.float32)).dtype == np.float64
    assert np.array_equal(allo.einsum("ij,jk->ik", np.ones((2, 0)), np.ones((0, 3))), np.zeros((2, 3)))


def test_bfloat16_is_rounded_at_the_end_of_a_contraction() -> None:
    A, B = arrays((20, 64), (64, 24), type=ml_dtypes.bfloat16)
    found = allo.einsum("ij,jk->ik", A, B)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(found.astype(np.float64), exact, rtol=2.0**-8, atol=1e-6)


@pytest.mark.parametrize("path", ["greedy", "optimal", ((0, 1), (2, 3)), (((0, 3), 1), 2), [(0, 1), (0, 1), (0, 1)],
                                  ["einsum_path", (1, 2), (0, 2), (0, 1)]], ids=str)  # fmt: skip
def test_paths_and_trees(path: Any) -> None:
    given = arrays((3, 4), (4, 5), (5, 2), (2, 6))
    expected = np.linalg.multi_dot(given)
    np.testing.assert_allclose(allo.einsum("ij,jk,kl,lm->im", *given, path=path), expected)


def test_a_program_says_what_it_does() -> None:
    program = einsum_program("ij,jk,kl->il", (96, 64), (64, 128), (128, 32), path=(0, (1, 2)))
    lines = str(program).splitlines()
    assert lines[0] == "ij,jk,kl->il on FP64: 2 steps, 917,504 operations"
    assert lines[1].startswith("  3 = jk,kl->jl of (1, 2): GEMM M=")
    assert lines[2].startswith("  4 = ij,jl->il of (0, 3): GEMM M=")
    with pytest.raises(allo.ContractionError) as error:
        program(*arrays((96, 64), (64, 128), (128, 30)))
    assert str(error.value) == (
        "the program is for arrays of shapes (96, 64), (64, 128), (128, 32), got (96, 64), (64, 128), (128, 30)"
    )


def test_a_program_takes_arrays_whose_elements_fit() -> None:
    program = einsum_program("ij,jk->ik", (2, 3), (3, 2))
    wrong = {
        "operand 1 is no array of NumPy, but a list\n  hint: use np.asarray()": [[0.0] * 2] * 3,
        "operand 1 has elements of complex128, and the program is for FP64\n  hint: use .astype()":
            np.ones((3, 2), complex),
    }  # fmt: skip
    for message, given in wrong.items():
        with pytest.raises(allo.ContractionError) as error:
            program(np.ones((2, 3)), given)  # type: ignore[arg-type]
        assert str(error.value) == message
    assert (program(np.ones((2, 3), np.float32), np.ones((3, 2), int)) == 3).all()


def random_expression(choice: random.Random) -> tuple[str, list[tuple[int, ...]]]:
    labels = "abcdefg"[: choice.randint(1, 6)]
    sizes = {label: choice.choice((1, 2, 3, 4, 5, 7, 8, 12)) for label in labels}
    inputs = ["".join(choice.choices(labels, k=choice.randint(0, 4))) for _ in range(choice.randint(1, 4))]
    used = sorted(set("".join(inputs)))
    output = "".join(choice.sample(used, choice.randint(0, len(used))))
    shapes = []
    for operand in inputs:
        single = {label: 1 if choice.random() < 0.05 else sizes[label] for label in operand}
        shapes.append(tuple(single[label] for label in operand))
    return f"{','.join(inputs)}->{output}", shapes


@sweep(480, 12)
def test_random_expressions(seed: int) -> None:
    """One as machine code, and some of which NumPy computes what their TECs say: 300 and more in a run."""
    choice = random.Random(seed)
    for number in range(4):
        expression, shapes = random_expression(choice)
        given = arrays(*shapes, seed=seed)
        expected = np.einsum(expression, *given)
        if number == 0:
            found = allo.einsum(expression, *given, threads=choice.choice((1, 2, None)))
        else:
            path = choice.choice(("auto", random_tree(choice, len(shapes))))
            processor = Processor(cores=choice.choice((1, 2, 3)), per_task=choice.choice((1, 30_000)))
            found = by_numpy(einsum_program(expression, *shapes, path=path, processor=processor), given)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def random_tree(choice: random.Random, count: int) -> Any:
    nodes: list[Any] = list(range(count))
    while len(nodes) > 1:
        pair = tuple(nodes.pop(choice.randrange(len(nodes))) for _ in range(2))
        nodes.append(pair)
    return nodes[0] if count > 1 else (0,)


def by_numpy(program: EinsumProgram, given: list[Any]) -> Any:
    """What the steps of a program mean: their TECs, after all that plans have done with them."""
    values = [np.ascontiguousarray(array).reshape(-1) for array in given]
    for step in program.steps:
        inputs = [values[step.inputs[k]] for k in step.order]
        out = np.full(int(np.prod(step.result.shape)), np.nan)
        values.append(evaluated(step.tec, inputs[0], inputs[-1], out))
    return values[-1].reshape(program.steps[-1].result.shape)


WRONG: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("ij,jk->ik", [(2, 3)], {}, "'ij,jk->ik' has 2 operands, and 1 array given"),
    ("ij->ij", [(2, 3), (2, 3)], {}, "'ij->ij' has 1 operands, and 2 arrays given"),
    ("ij,jk->ik", [(2, 3), (4, 5)], {}, "label 'j' of 'ij,jk->ik' has size 3 in operand 0 and 4 in operand 1"),
    ("ii->i", [(2, 3)], {}, "label 'i' of 'ii->i' has sizes 2 and 3 in operand 0, whose diagonal it means"),
    ("ij,jk->ik", [(2, 3, 4), (3, 5)], {},
     "operand 0 of 'ij,jk->ik' has 2 labels, 'ij', and its array 3 dimensions, (2, 3, 4)"),
    ("ij,jk->il", [(2, 3), (3, 5)], {}, "label 'l' of the result of 'ij,jk->il' is in no operand"),
    ("ij,jk->ii", [(2, 3), (3, 5)], {}, "label 'i' occurs 2 times in the result of 'ij,jk->ii'"),
    ("i1,jk->ik", [(2, 3), (3, 5)], {}, "'i1,jk->ik' has '1', which is no label: labels are letters"),
    ("ij->ik->i", [(2, 3)], {}, "'ij->ik->i' has a second '->', which is no label: labels are letters"),
    ("i->-i", [(2,)], {}, "'i->-i' has '-', which is no label: labels are letters"),
    ("ij,jk>ik", [(2, 3), (3, 5)], {}, "'ij,jk>ik' has '>', which is no label: labels are letters"),
    ("i..j->ij", [(2, 3)], {},
     "'i..j->ij' has '.', which is no label: labels are letters\n  hint: an ellipsis is three dots, once an operand"),
    ("...i,i->i", [(2, 3), (3,)], {},
     "the result of '...i,i->i' lacks the ellipsis of its operands\n"
     "  hint: give their dimensions labels to sum over them"),
    ("...ij,j->...i", [(3,), (3,)], {},
     "operand 0 of '...ij,j->...i' has 2 labels, and its array 1 dimensions"),
    ("abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ...->...", [(1,) * 26, (1,) * 27], {},
     "'abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ...->...' has more dimensions than there are letters"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": "fastest"},
     "opt_einsum knows no strategy 'fastest' for paths\n"
     "  hint: try 'auto', 'optimal', 'greedy', 'dp' or 'random-greedy'"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": [(0, 1)]}, "the path leaves 2 operands that have not met"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": [(0, 1, 2)]},
     "entry 0 of the path, (0, 1, 2), is no pair of the 3 operands left\n  hint: contract two operands at a time"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": [(0, 3)]},
     "entry 0 of the path, (0, 3), is no pair of the 3 operands left\n  hint: contract two operands at a time"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": ((0, 1), 1)},
     "the tree has the operands [0, 1, 1]: it has each of 0 to 2 once"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": ((0, 1), "k")},
     "'k' is neither the number of an operand nor a pair of trees\n  hint: a tree is as ((0, 1), 2)"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], {"path": 3},
     "path is a strategy, a list of pairs or a tree of tuples, got int"),
    ("ij,jk->ik", [(2, 3), (3, 4)], {"threads": 0}, "threads is a positive number, got 0"),
    ("ij,jk->ik", [(2, 3), (3, 4)], {"threads": True}, "threads is a positive number, got True"),
    ("ij,jk->ik", [np.ones((2, 3), np.int32), np.ones((3, 4), np.int32)], {},
     "einsum computes float32, float64 and bfloat16, got int32\n  hint: use .astype()"),
    ("ij,jk->ik", [np.ones((2, 3), complex), (3, 4)], {},
     "einsum computes float32, float64 and bfloat16, got complex128, float64\n  hint: use .astype()"),
    ("ij,jk->ik", [np.ones((2, 3), "U4"), (3, 4)], {},
     "einsum computes float32, float64 and bfloat16, got <U4, float64\n  hint: use .astype()"),
    ("i", [], {}, 'einsum has no arrays\n  hint: einsum("ij,jk->ik", A, B)'),
    (["i"], [(2,)], {}, "an einsum expression is a string, got list"),  # type: ignore[list-item]
    ("ii,i->i", [(1, 3), (3,)], {},
     "label 'i' of 'ii,i->i' has sizes 1 and 3 in operand 0, whose diagonal it means"),
    ("ij->ji", [(2, 3)], {"path": "fastest"},
     "opt_einsum knows no strategy 'fastest' for paths\n"
     "  hint: try 'auto', 'optimal', 'greedy', 'dp' or 'random-greedy'"),
    ("ij->ji", [(2, 3)], {"path": {}}, "path is a strategy, a list of pairs or a tree of tuples, got dict"),
    ("ij->ji", [(2, 3)], {"path": [(0, 1)]},
     "entry 0 of the path, (0, 1), is no pair of the 1 operand left\n  hint: contract two operands at a time"),
    ("ij,jk->ik", [(2, 3), (3, 4)], {"path": [(True, False)]},
     "entry 0 of the path, (True, False), is no pair of the 2 operands left\n  hint: contract two operands at a time"),
    ("ij,jk->ik", [(2, 3), (3, 4)], {"path": [([0], 1)]},
     "entry 0 of the path, ([0], 1), is no pair of the 2 operands left\n  hint: contract two operands at a time"),
    ("ij,jk->ik", [(2, 3), (3, 4)], {"path": ([0, 1],)},
     "[0, 1] is neither the number of an operand nor a pair of trees\n  hint: a tree is as ((0, 1), 2)"),
    ("ij->ji", [(2, 3)], {"path": ((((0,),),),)}, "the tree is more than 2 deep, and has 1 operands"),
    ("i->i", [[[1.0, 2.0], [3.0]]], {},
     "operand 0 of einsum is no array: setting an array element with a sequence. The requested array has an"
     " inhomogeneous shape after 1 dimensions. The detected shape was (2,) + inhomogeneous part."),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "given", "options", "message"), WRONG, ids=[str(k) for k in range(len(WRONG))])
def test_refused(expression: str, given: list[Any], options: dict[str, Any], message: str) -> None:
    operands = [np.ones(array) if isinstance(array, tuple) else array for array in given]
    with pytest.raises(allo.ContractionError) as error:
        allo.einsum(expression, *operands, **options)
    assert str(error.value) == message


def test_a_program_for_given_shapes_is_refused_without_elements() -> None:
    with pytest.raises(allo.ContractionError) as error:
        einsum_program("ij,jk->ik", (2, 0), (0, 3), processor=Processor())
    assert str(error.value) == "label 'j' of 'ij,jk->ik' has size 0: there is nothing to contract"
    with pytest.raises(allo.ContractionError) as error:
        einsum_program("ij->ji", (2, 3), data_type="FP8")
    assert str(error.value) == "data_type cannot be 'FP8': it is one of 'FP32', 'FP64', 'bfloat_16'"
    for shape in ("ab", 3, (2.5, 3)):
        with pytest.raises(allo.ContractionError) as error:
            einsum_program("ij->i", shape)  # type: ignore[arg-type]
        assert str(error.value) == f"shape 0 is a sequence of whole numbers, got {shape!r}"
    with pytest.raises(allo.ContractionError) as error:
        EinsumExpression.parse("...j")
    assert str(error.value) == "'...j' has an ellipsis, whose rank follows from arrays only"
