"""Which loop orders a dependence forbids, and with which pair of iterations."""

from __future__ import annotations

import pytest

from allo.poly import Undecided, Violation, extract, order_violation, preserved

HEAD = """func.func @f(%A: memref<9x9xf32> {allo.name = "A"}, %B: memref<9x9xf32> {allo.name = "B"},
             %V: memref<9xf32> {allo.name = "V"}, %I: memref<9xindex> {allo.name = "I"}, %n: index {allo.name = "n"}) {
  %c = arith.constant 0.0 : f32
"""


def loop(name, bounds, *body):
    return f"affine.for %{name} = {bounds} {{\n" + "\n".join(body) + f'\n}} {{allo.name = "{name}"}}'


def load(number, element, kind="9x9xf32"):
    return f"%{number} = affine.load %{element} : memref<{kind}>"


def store(element, kind="9x9xf32", number="c"):
    return f"affine.store %{number}, %{element} : memref<{kind}>"


def ask(parse, body, old, new):
    function = parse(f"{HEAD}{body}\nreturn\n}}")
    loops = function.loops
    return order_violation(extract(function.op), [loops[n] for n in old], [loops[n] for n in new])


def test_gemm_in_every_order(parse):
    body = loop("i", "0 to 8", loop("j", "0 to 8", loop(
        "k", "0 to 8", load("a", "A[%i, %k]"), load("b", "B[%i, %j]"), store("B[%i, %j]"))))
    for order in ("ikj", "jik", "jki", "kij", "kji"):
        assert ask(parse, body, "ijk", order) is None


def test_trmm(parse):
    """B[i, j] += A[k, i] * B[k, j] for k > i: row k is read for i before it changes for i = k, in any order."""
    body = loop("i", "0 to 8", loop("j", "0 to 8", loop(
        "k", "affine_map<(d0) -> (d0 + 1)>(%i) to 8",
        load("a", "A[%k, %i]"), load("b", "B[%k, %j]"), load("d", "B[%i, %j]"), store("B[%i, %j]"))))
    for order in ("ikj", "jik", "jki", "kij", "kji"):
        assert ask(parse, body, "ijk", order) is None


def test_solver_with_a_diagonal(parse):
    """A[i, j] of the triangle j < i needs A[j, j], which the row j makes last."""
    body = loop("i", "0 to 8", loop(
        "j", "0 to affine_map<(d0) -> (d0 + 1)>(%i)", load("a", "A[%j, %j]"), store("A[%i, %j]")))
    assert ask(parse, body, "ij", "ji") is None
    other = body.replace("A[%j, %j]", "A[%i - 1, %i - 1]").replace("0 to 8", "1 to 8")
    answer = ask(parse, other, "ij", "ji")
    assert isinstance(answer, Violation)
    assert (answer.source_iteration, answer.sink_iteration) == ((("i", 1), ("j", 1)), (("i", 2), ("j", 0)))


def stencil(read, written, i, j):
    return loop(i, "1 to 8", loop(j, "1 to 8", *(
        load(f"v{k}", f"{read}[%{i} + {di}, %{j} + {dj}]")
        for k, (di, dj) in enumerate([(0, 0), (0, -1), (0, 1), (1, 0), (-1, 0)])
    ), store(f"{written}[%{i}, %{j}]")))


JACOBI = loop("t", "0 to 3", stencil("A", "B", "i", "j"), stencil("B", "A", "i2", "j2"))


def test_jacobi_time_stays_outside(parse):
    assert ask(parse, JACOBI, "ij", "ji") is None
    answer = ask(parse, JACOBI, "tij", "itj")
    assert isinstance(answer, Violation)
    source, sink = dict(answer.source_iteration), dict(answer.sink_iteration)
    assert (source, sink) == ({"t": 0, "i2": 1, "j2": 1}, {"t": 1, "i": 1, "j": 1})
    # By hand: the second nest writes A[1, 1] at t = 0, the first one reads it at t = 1; with i outside of t the
    # second nest, which i does not enclose, comes after all of the first.
    touched = [(source["i2"], source["j2"]), (sink["i"], sink["j"])]
    assert touched[0] == touched[1] and source["t"] < sink["t"]


def test_in_place_stencil_with_a_diagonal(parse):
    """Reading A[i - 1, j + 1] forbids the interchange; A[i - 1, j - 1] does not."""
    body = loop("i", "1 to 8", loop("j", "1 to 8", load("a", "A[%i - 1, %j + 1]"), store("A[%i, %j]")))
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Violation)
    assert answer.describe() == (
        "the statement at line 7 writes A[i, j] and the statement at line 6 reads A[i - 1, j + 1]: "
        "iteration (i=1, j=2) must run before iteration (i=2, j=1)"
    )
    assert ask(parse, body.replace("%j + 1", "%j - 1"), "ij", "ji") is None


def test_parameters_are_part_of_the_witness(parse):
    body = loop("i", "1 to %n", loop("j", "1 to %n", load("a", "A[%i - 1, %j + 1]"), store("A[%i, %j]")))
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Violation)
    assert answer.parameters == (("n", 3),)
    assert answer.describe().endswith("iteration (i=1, j=2) must run before iteration (i=2, j=1) with n=3")


def test_step_makes_it_independent(parse):
    """Even rows are written, odd rows are read."""
    body = loop("i", "0 to 8 step 2", loop("j", "1 to 8", load("a", "A[%i - 1, %j + 1]"), store("A[%i, %j]")))
    assert ask(parse, body, "ij", "ji") is None


def test_divisions_are_exact(parse):
    body = loop("i", "0 to 4", loop("j", "0 to 4", store("V[(%i + %j) floordiv 6]", "9xf32"),
                                    load("a", "V[1]", "9xf32")))
    assert ask(parse, body, "ij", "ji") is not None
    blocked = loop("i", "0 to 8", loop("j", "0 to 4", load("a", "A[%i floordiv 4, %j]"),
                                       store("A[%i floordiv 4, %j]")))
    assert ask(parse, blocked, "ij", "ji") is None


def test_statement_between_the_loops_is_distributed(parse):
    init = loop("i", "0 to 8", store("V[%i]", "9xf32"), loop(
        "j", "0 to 8", load("a", "V[%i]", "9xf32"), store("V[%i]", "9xf32")))
    assert ask(parse, init, "ij", "ji") is None
    shifted = loop("i", "1 to 8", store("V[%i]", "9xf32"), loop("j", "0 to 8", load("a", "V[%i + 1]", "9xf32")))
    answer = ask(parse, shifted, "ij", "ji")
    assert isinstance(answer, Violation)  # V[2] is read for i = 1 before it is written for i = 2
    assert (dict(answer.source_iteration), dict(answer.sink_iteration)) == ({"i": 1, "j": 0}, {"i": 2})


def test_private_scalar_is_no_dependence(parse):
    alloc = '%x = memref.alloc() {allo.name = "x"} : memref<f32>'
    use = [store("x[]", "f32"), load("a", "x[]", "f32"), store("A[%i, %j]")]
    assert ask(parse, loop("i", "0 to 8", loop("j", "0 to 8", alloc, *use)), "ij", "ji") is None
    assert ask(parse, alloc + "\n" + loop("i", "0 to 8", loop("j", "0 to 8", *use)), "ij", "ji") is None
    late = alloc + "\n" + loop("i", "0 to 8", loop("j", "0 to 8", use[1], use[0]))
    assert isinstance(ask(parse, late, "ij", "ji"), Violation)


STAYS = load("a", "A[%i, %j]") + "\n" + store("V[3]", "9xf32", "a")


def test_an_element_that_keeps_its_last_value_may_be_written_in_another_order(parse):
    assert ask(parse, loop("i", "0 to 8", loop("j", "0 to 8", STAYS)), "ij", "ji") is None
    falling = loop("i", "0 to 8", loop("j", "0 to affine_map<(d0) -> (8 - d0)>(%i)", STAYS))
    assert isinstance(ask(parse, falling, "ij", "ji"), Violation)  # A[7, 0] was last, and A[0, 7] would be


def test_a_value_that_is_read_in_between_is_kept_too(parse):
    read = load("b", "V[3]", "9xf32") + "\n" + store("B[%i, %j]", number="b")
    for body, kept in ([STAYS, read], True), ([read, STAYS], False):
        answer = ask(parse, loop("i", "0 to 8", loop("j", "0 to 8", *body)), "ij", "ji")
        assert (answer is None) == kept


def test_a_read_on_which_no_result_depends(parse):
    """V[1] and V[2] get V[j] of all j, and keep what they got last: the other reads need not see what they saw."""
    copy = load("a", "V[%j]", "9xf32") + "\n" + store("V[%i + 1]", "9xf32", "a")
    last = loop("i", "0 to 2", loop("j", "0 to 8", copy))
    assert ask(parse, last, "ij", "ji") is None
    seen = last.replace("0 to 8", "0 to 3")  # V[2] gets V[2] in the end
    assert isinstance(ask(parse, seen, "ij", "ji"), Violation)


def test_a_read_whose_value_is_left_behind_decides_at_once(parse, monkeypatch):
    """V[2] gets V[2] in the end: no closure over what goes on through memory makes that read a dead one."""
    monkeypatch.setattr(preserved, "reaching_reads", None)
    copy = load("a", "V[%j]", "9xf32") + "\n" + store("V[%i + 1]", "9xf32", "a")
    assert isinstance(ask(parse, loop("i", "0 to 2", loop("j", "0 to 3", copy)), "ij", "ji"), Violation)


def test_a_value_that_more_than_results_depend_on(parse):
    """The root of a number, or a condition, is no part of a result alone; an array without values is not read."""
    copy = [load("a", "V[%j]", "9xf32"), "%r = arith.negf %a : f32", store("V[%i + 1]", "9xf32", "r")]
    last = loop("i", "0 to 2", loop("j", "0 to 8", *copy))
    assert ask(parse, last, "ij", "ji") is None
    assert isinstance(ask(parse, last.replace("arith.negf", "math.sqrt"), "ij", "ji"), Violation)
    both = last.replace("%r = arith.negf %a : f32", "%r = arith.negf %a : f32\n%q = math.sqrt %a : f32")
    assert isinstance(ask(parse, both, "ij", "ji"), Violation)
    alloc = '%x = memref.alloc() {allo.name = "x"} : memref<9xf32>'
    after = load("z", "x[1]", "9xf32") + "\n" + store("V[0]", "9xf32", "z")
    local = f"{alloc}\n{last.replace('V[', 'x[')}\n{after}"
    assert isinstance(ask(parse, local, "ij", "ji"), Violation)


def test_scratch_space_that_is_filled_between_the_loops(parse):
    """x is filled for each j and read for each k; what it holds in the end is read by nobody, unless V[0] gets it."""
    alloc = '%x = memref.alloc() {allo.name = "x"} : memref<f32>'
    use = load("b", "x[]", "f32") + "\n" + store("B[%j, %k]", number="b")
    body = loop("i", "0 to 8", loop("j", "0 to affine_map<(d0) -> (8 - d0)>(%i)", load("a", "A[%i, %j]"),
                                    store("x[]", "f32", "a"), loop("k", "0 to 8", use)))
    after = load("z", "x[]", "f32") + "\n" + store("V[0]", "9xf32", "z")
    assert ask(parse, f"{alloc}\n{body}", "ijk", "jik") is None
    assert isinstance(ask(parse, f"{alloc}\n{body}\n{after}", "ijk", "jik"), Violation)
    assert isinstance(ask(parse, f"{alloc}\n{body}", "ijk", "ikj"), Violation)


def test_scratch_space_that_the_next_iteration_around_reads_first(parse):
    first = "affine.if affine_set<(d0, d1) : (-d0 - d1 >= 0)>(%i, %j) {\n"
    read = first + load("b", "x[]", "f32") + "\n" + store("V[%t]", "9xf32", "b") + "\n}"
    body = loop("t", "0 to 2", loop("i", "0 to 8", loop(
        "j", "0 to affine_map<(d0) -> (8 - d0)>(%i)", read, load("a", "A[%i, %j]"), store("x[]", "f32", "a"))))
    alloc = '%x = memref.alloc() {allo.name = "x"} : memref<f32>'
    assert isinstance(ask(parse, f"{alloc}\n{body}", "ij", "ji"), Violation)


def test_values_are_compared_with_a_limit_of_effort(parse, monkeypatch):
    body = loop("i", "0 to 8", loop("j", "0 to 8", STAYS))
    monkeypatch.setattr(preserved, "_OPERATIONS", 50)
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Violation)
    assert (answer.source_iteration, answer.sink_iteration) == ((("i", 0), ("j", 1)), (("i", 1), ("j", 0)))


def test_scalar_between_the_loops_would_have_to_be_kept(parse):
    body = loop("i", "0 to 8", '%x = memref.alloc() {allo.name = "x"} : memref<f32>', store("x[]", "f32"),
                loop("j", "0 to 8", load("a", "x[]", "f32")))
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Undecided)
    assert answer.reason == (
        "'x' is a new variable in each iteration of 'i', and 'j' inside of that iteration would move out of it"
    )


def test_unknown_subscripts_are_undecided(parse):
    body = loop("i", "0 to 8", loop("j", "0 to 8", load("p", "I[%i]", "9xindex"),
                                    "memref.store %c, %A[%p, %j] : memref<9x9xf32>"))
    answer = ask(parse, body, "ij", "ji")
    assert answer is None  # each j is written for i in order, whatever the row
    body = body.replace("%A[%p, %j]", "%V[%p]").replace("9x9xf32", "9xf32")
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Undecided)
    assert answer.access.text == "V[?]"
    assert answer.describe() == (
        "the statement at line 7 writes V[?], but it has a subscript that is not affine"
    )


def test_unknown_condition_is_undecided(parse):
    body = loop("i", "1 to 8", loop("j", "1 to 8", load("a", "A[%i - 1, %j + 1]"),
                                    "%q = arith.cmpf olt, %a, %c : f32",
                                    "scf.if %q {", store("A[%i, %j]"), "}"))
    answer = ask(parse, body, "ij", "ji")
    assert isinstance(answer, Undecided)
    assert answer.reason == "it is under a condition that is not affine"


def test_loops_must_be_nested(parse):
    body = loop("i", "0 to 8", store("V[%i]", "9xf32")) + loop("j", "0 to 8", store("V[%j]", "9xf32"))
    with pytest.raises(ValueError, match="nested"):
        ask(parse, body, "ij", "ji")
