"""unify: two functions on one piece of hardware."""

from textwrap import dedent

import numpy as np

import allo
from allo import customize
from allo.ir.types import float32, int32
from allo.memory import Memory

from .checks import assert_faithful, assert_refused, refusal


def add(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] += A[i]


def sums(A: int32[8], B: int32[8]):
    first: int32 = A[0]
    for i in range(8):
        for k in range(2):
            B[i] = B[i] * first + k
    A[0] = 1


def floats(A: float32[8], B: float32[8]):
    for i in range(8):
        B[i] = A[i]


def short(A: int32[8], B: int32[8]):
    for i in range(4):
        B[i] = A[i]


def calls_add(A: int32[8], B: int32[8]):
    for _i in range(8):
        add(A, B)


def top(A: int32[8], B: int32[8]):
    add(A, B)
    sums(B, A)
    add(B, A)


BOTH = """
def add_sums(A: int32[8], B: int32[8], control: bool):
    first: int32
    t = control ^ True
    if t:
        first = A[0]
    for i in range(8):
        if control:
            B[i] += A[i]
        else:
            for k in range(2):
                B[i] = B[i] * first + k
    if t:
        A[0] = 1
"""


def test_shared_loops():
    s = customize(top)
    both = s.unify("add", "sums", 1)
    assert both.name == "add_sums" and [f.name.value for f in s.ir.functions()] == ["add_sums", "top"]
    assert s.pseudocode().split("def top")[0].strip() == dedent(BOTH).strip()
    s.pipeline("add_sums:i")
    assert_faithful(top, s)
    assert s.verify()


def test_whole_bodies_and_results():
    def scaled(A: float32[4], x: float32) -> (float32[4], float32):
        Z: float32[4] = 0
        for i in range(4):
            Z[i] = A[i] * x
        return Z, x + 1

    def moved(A: float32[4], x: float32) -> (float32[4], float32):
        Z: float32[4] = 1
        for i in range(4):
            Z[i] = Z[i] + A[i] + x
        return Z, x * 2

    def chain(A: float32[4], x: float32) -> (float32[4], float32):
        B, y = scaled(A, x)
        C, z = moved(B, y)
        return C, z

    for count in (0, 1):
        s = customize(chain)
        assert str(s.unify("scaled", "moved", count, name="both")) == "both"
        assert s.verify()
        found, number = s.build()(np.arange(4, dtype=np.float32), 3.0)
        assert found.tolist() == [5, 8, 11, 14] and number == 8


def divided(A: int32[8], n: int32) -> int32:
    d: int32 = 100 // n
    B = moved_on(A)
    for i in range(8):
        A[i] += B[i] + d
    return A[0] + d


def moved_on(A: int32[8]) -> int32[8]:
    R: int32[8] = 0
    for i in range(8):
        R[i] = A[i]
        A[i] += 1
    return R


def counted_down(A: int32[8], n: int32) -> int32:
    k: int32 = A[1]
    while k > 3:
        k -= 1
    for i in range(n):
        A[i] += 1
    return k


def turns(A: int32[8]) -> (int32, int32, int32):
    a = counted_down(A, 0)
    b = divided(A, 5)
    c = counted_down(A, 2)
    return a, b, c


def test_the_other_body_does_nothing():
    """It would divide by 0, and call what changes its argument."""
    s = customize(turns)
    s.unify("divided", "counted_down")
    assert_faithful(turns, s)


def test_one_unit_in_hardware():
    s = customize(top)
    s.unify("add", "sums", 1)
    code = s.build(target="vhls").hls_code
    assert "#pragma HLS allocation function instances=add_sums limit=1" in code
    A, B = np.arange(8, dtype=np.int32), np.ones(8, np.int32)
    wanted = [A.copy(), B.copy()]
    customize(top).build()(*wanted)
    s.build(target="vitis_hls", mode="csim")(A, B)
    np.testing.assert_array_equal([A, B], wanted)


def test_written_as_operation_and_text():
    s = customize(top)
    s.pipeline(f"{s.unify('add', 'sums', loop_num=1)}:i")
    assert str(s.steps[0]) == 's.unify("add", second="sums", loop_num=1)'
    assert str(type(s).from_mlir(s.to_mlir()).module) == str(s.module)


def pair(one, two) -> allo.Schedule:
    def both(A: int32[8], B: int32[8], C: float32[8]):
        one(A, B)
        two(A, B)
        floats(C, C.copy())

    return customize(both)


def shifted(A: int32[8], n: int32) -> int32:
    for i in range(8):
        A[i] += n
    return n


def pair_of_numbers() -> allo.Schedule:
    def both(A: int32[8]) -> int32:
        return divided(A, 3) + shifted(A, 2)

    return customize(both)


def test_refusals():
    message = "unify: 'top' is the kernel, which nothing in the module calls"
    assert_refused(message, customize(top), "unify", "top", "add")
    assert "unify: 'add' is one function, and two are made one" in refusal_of(customize(top), "add", "add")
    text = refusal_of(pair(add, sums), "add", "floats")
    assert "'add' and 'floats' have other types of arguments and results: (memref<8xi32>" in text
    assert "one of 'add' and 'calls_add' calls the other" in refusal_of(pair(add, calls_add), "add", "calls_add")
    text = refusal_of(pair(add, sums), "add", "sums", 2)
    assert "the last nest of 'add' has 1 loop without statements between them, not 2" in text
    assert "loop 0 of 'add' and 'short' has other bounds" in refusal_of(pair(add, short), "add", "short", 1)
    s = pair(add, sums)
    s.pipeline("add:i")
    assert "loop 0 of 'add' and 'sums' has other annotations" in refusal_of(s, "add", "sums", 1)
    s = pair(add, sums)
    s.bind("add:A", Memory("URAM"))
    assert "arguments of 'add' and 'sums' are bound to other memories" in refusal_of(s, "add", "sums")
    text = refusal_of(customize(turns), "divided", "moved_twice")
    assert "there is no function 'moved_twice'" in text
    text = refusal_of(pair_of_numbers(), "divided", "shifted", 1)
    assert "'divided' or 'shifted' computes a value outside of the shared loops that is used elsewhere" in text
    s = pair(add, sums)
    s.dataflow("add")
    assert "the statements of 'add' run at once, by dataflow" in refusal_of(s, "add", "sums")
    assert "'short' is the name of a function already" in refusal_of(pair(add, short), "add", "short", 0, "short")
    assert "loop_num must be at least 0, got -1" in refusal_of(pair(add, short), "add", "short", -1)


def refusal_of(s: allo.Schedule, *arguments) -> str:
    return refusal(s, "unify", *arguments)
