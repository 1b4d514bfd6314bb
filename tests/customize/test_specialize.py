"""specialize: some callers get a copy of a function."""

from allo import customize
from allo.ir.types import int32

from .checks import assert_faithful, assert_refused


def inner(A: int32[8]):
    for i in range(8):
        A[i] = A[i] + 1


def left(A: int32[8]):
    inner(A)
    inner(A)


def right(A: int32[8]):
    inner(A)


def top(A: int32[8], B: int32[8]):
    left(A)
    right(B)


def test_all_calls_of_a_caller_go_to_the_copy():
    s = customize(top)
    copy = s.specialize("inner", ["left"], "inner_left")
    s.pipeline(f"{copy}:i")
    text = str(s.module)
    assert (text.count("call @inner_left("), text.count("call @inner(")) == (2, 1)
    assert [f.name.value for f in s.ir.functions()] == ["inner", "inner_left", "left", "right", "top"]
    assert str(s.steps[0]) == 's.specialize("inner", callers=["left"], name=\'inner_left\')'
    assert_faithful(top, s)


def test_written_as_operation_and_text():
    s = customize(top)
    s.pipeline(f'{s.specialize("inner", ["left"], "own")}:i')
    assert 'allo.step "specialize"(%0) {callers = ["left"], name = "own"}' in s.to_mlir()
    assert str(type(s).from_mlir(s.to_mlir()).module) == str(s.module)
    fresh = customize(top)
    fresh.replay(str(s.steps))
    assert str(fresh.module) == str(s.module)


def test_the_kernel():
    message = "specialize: 'top' is the kernel, which nothing in the module calls"
    assert_refused(message, customize(top), "specialize", "top", [], "own")


def test_a_name_that_is_taken():
    message = """
        specialize: 'right' is the name of a function already
          hint: the functions are inner, left, right, top
        """
    assert_refused(message, customize(top), "specialize", "inner", ["left"], "right")
    message = """
        specialize: 'a b' is not a name
          hint: the functions are inner, left, right, top
        """
    assert_refused(message, customize(top), "specialize", "inner", ["left"], "a b")


def test_a_caller_that_does_not_call_it():
    assert_refused(
        """
        specialize: 'top' does not call 'inner'
          note: 'inner' is declared here
            File, line N, column 1
              def inner(A: int32[8]):
              ^
          hint: it is called by left, right
        """,
        customize(top),
        "specialize",
        "inner",
        ["top"],
        "own",
    )


def test_all_callers_or_none():
    message = """
        specialize: a copy of 'inner' is for some of its callers, and all of them are given
          note: 'inner' is declared here
            File, line N, column 1
              def inner(A: int32[8]):
              ^
          hint: customize 'inner' itself
        """
    assert_refused(message, customize(top), "specialize", "inner", ["left", "right"], "own")
    message = """
        specialize: a copy of 'inner' is for some of its callers, and no callers are given
          note: 'inner' is declared here
            File, line N, column 1
              def inner(A: int32[8]):
              ^
          hint: it is called by left, right
        """
    assert_refused(message, customize(top), "specialize", "inner", [], "own")
