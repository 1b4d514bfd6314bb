"""dataflow: stages that hand data on forwards, each array from one producer."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

from textwrap import dedent

import pytest

import allo
from allo import Schedule, customize
from allo.errors import KernelError, ScheduleError
from allo.ir.types import int32

from .checks import assert_faithful, assert_refused, ir_text, parsed, refusal


def produce(A: int32[8], T: int32[8]):
    for i in range(8):
        T[i] = A[i] * 3


def consume(T: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = T[i] + 1


def chain(A: int32[8], B: int32[8]):
    T: int32[8]
    produce(A, T)
    consume(T, B)


def filled(A: int32[8], B: int32[8]):
    T: int32[8] = 0
    for i in range(8):
        T[i] += A[i]
    consume(T, B)


def filled_twice(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(8):
        T[i] = A[7 - i]
    for j in range(8):
        T[j] += A[j]
    consume(T, B)


def products(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]) -> int32[4, 4]:
    T: int32[4, 4] = 0
    for i, j, k in allo.grid(4, 4, 4):
        T[i, j] += A[i, k] * B[k, j]
    s: int32 = 3
    D: int32[4, 4] = 1
    for k, i, j in allo.grid(4, 4, 4):
        D[i, j] += T[i, k] * C[k, j] + s
        s += 1
    return D


def overwritten_first_values(A: int32[8], B: int32[8]):
    T: int32[8] = 0
    for i in range(8):
        T[i] = A[i] + 1
    consume(T, B)


def first_values_of_a_call(A: int32[8], B: int32[8]):
    T: int32[8] = 0
    consume(A, T)
    consume(T, B)


def may_not_run(A: int32[8], B: int32[8], n: int32):
    T: int32[8] = 0
    for i in range(n):
        T[i] += A[i]
    consume(T, B)


def backwards(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i]
    for i in range(8):
        A[i] = 0


def tiles(A: int32[4, 8], B: int32[4, 8]):
    for t in range(4):
        T: int32[8]
        for i in range(8):
            T[i] = A[t, i] * 2
        for i in range(8):
            B[t, i] = T[i] + 1


def shared(A: int32[4, 8], B: int32[4, 8]):
    T: int32[8]
    for t in range(4):
        for i in range(8):
            T[i] = A[t, i] * 2
        for i in range(8):
            B[t, i] = T[i] + 1


def indirect(A: int32[8, 8], P: int32[8], B: int32[8, 8]):
    for t in range(8):
        for i in range(8):
            A[P[i], i] = t
        for i in range(8):
            B[t, i] = A[P[i], i]


def dynamic(A: int32[8], n: int32):
    for i in range(n, 8, n):
        A[i] = 0


def test_a_function():
    s = customize(chain)
    s.dataflow("chain")
    assert "attributes {allo.dataflow}" in ir_text(s).splitlines()[0]
    assert str(s.steps[0]) == 's.dataflow("chain")'
    assert_faithful(chain, s)


def test_a_loop():
    s = customize(tiles)
    s.dataflow("t")
    assert str(s.get_loops()).splitlines()[2] == "    t  (dataflow)"
    assert_faithful(tiles, s)


def test_a_kernel_object():
    s = customize(chain)
    s.dataflow(chain)
    s.dataflow(produce)
    assert_faithful(chain, s)


def test_two_producers():
    assert_refused(
        """
        dataflow: function 'filled_twice' cannot become a dataflow region: 'T' has two producers, the statement at line N writes T[i] and the statement at line N writes T[j]
          note: the statement is here
            File, line N, column 9
              T[i] = A[7 - i]
              ^
          note: the statement is here
            File, line N, column 9
              T[j] += A[j]
              ^
        """,
        customize(filled_twice),
        "dataflow",
        "filled_twice",
    )


def test_nests_begin_with_first_values():
    s = customize(products)
    s.dataflow("products")
    assert s.pseudocode() == dedent(
        """\
        def products(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4]) -> int32[4, 4]:  # dataflow
            T: int32[4, 4]
            for i in range(4):
                for j in range(4):
                    T[i, j] = 0
                    for k in range(4):
                        T[i, j] += A[i, k] * B[k, j]
            s: int32
            D: int32[4, 4]
            for k in range(4):
                if k == 0:
                    for D_init_0 in range(4):
                        for D_init_1 in range(4):
                            D[D_init_0, D_init_1] = 1
                if k == 0:
                    s = 3
                for i in range(4):
                    for j in range(4):
                        D[i, j] += T[i, k] * C[k, j] + s
                        s += 1
            return D"""
    )
    assert_faithful(products, s)
    assert s.verify()


def test_first_values_that_are_overwritten_are_gone():
    s = customize(overwritten_first_values)
    s.dataflow("overwritten_first_values")
    assert "T_init" not in s.pseudocode()
    assert_faithful(overwritten_first_values, s)


@pytest.mark.parametrize("kernel", [first_values_of_a_call, may_not_run])
def test_first_values_that_nothing_can_begin_with(kernel):
    message = refusal(customize(kernel), "dataflow", kernel.__name__)
    assert "'T' has two producers, the statement at line N writes T[T_init_0]" in message


def test_data_that_flow_backwards():
    assert_refused(
        """
        dataflow: function 'backwards' cannot become a dataflow region: data flow backwards, the statement at line N writes A[i], and the statement at line N in an earlier stage reads A[i]
          note: the statement is here
            File, line N, column 16
              B[i] = A[i]
                     ^
          note: the statement is here
            File, line N, column 9
              A[i] = 0
              ^
        """,
        customize(backwards),
        "dataflow",
        "backwards",
    )


def test_an_array_that_the_next_iteration_overwrites():
    assert_refused(
        """
        dataflow: the stages of loop 't' cannot run at the same time: the statement at line N reads T[i_1] and the statement at line N writes T[i]: iteration (t=0, i_1=0) must run before iteration (t=1, i=0)
          note: the statement is here
            File, line N, column 23
              B[t, i] = T[i] + 1
                        ^
          note: the statement is here
            File, line N, column 13
              T[i] = A[t, i] * 2
              ^
        """,
        customize(shared),
        "dataflow",
        "t",
    )


def test_what_cannot_be_decided():
    s = customize(indirect)
    assert_refused(
        """
        dataflow: the stages of loop 't' cannot run at the same time, because it cannot be decided: the statement at line N reads A[?, i_1], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 23
              B[t, i] = A[P[i], i]
                        ^
          hint: if you know that it is safe, pass assume_safe=True
        """,
        s,
        "dataflow",
        "t",
    )
    s.dataflow("t", assume_safe=True)


def test_a_stream_with_two_producers():
    s = parsed(
        """
        module attributes {allo.top = "f"} {
          func.func @f(%a: i8) {
            %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i8, 2>
            affine.for %i = 0 to 2 {
              allo.stream_put %s, %a : !allo.stream<i8, 2>
            } {allo.name = "i", allo.nest = "one"}
            affine.for %i = 0 to 2 {
              allo.stream_put %s, %a : !allo.stream<i8, 2>
            } {allo.name = "i", allo.nest = "two"}
            return
          }
        }"""
    )
    assert_refused(
        """
        dataflow: function 'f' cannot become a dataflow region: nest 'two' puts into stream 'pipe', and so does nest 'one'
          note: this process is here
            File, line N, column 13
          note: this process is here
            File, line N, column 13
        """,
        s,
        "dataflow",
        "f",
    )


def test_run_time_bounds():
    assert_refused(
        """
        dataflow: loop 'i' has run-time bounds
          note: loop 'i' is here
            File, line N, column 5
              for i in range(n, 8, n):
              ^
        """,
        customize(dynamic),
        "dataflow",
        "i",
    )


def test_nothing_of_that_name():
    assert_refused(
        """
        dataflow: there is no function or loop 'chian'
          hint: did you mean 'chain'?
        """,
        customize(chain),
        "dataflow",
        "chian",
    )


def test_a_function_without_a_body():
    s = parsed(
        'module attributes {allo.top = "f"} { func.func private @g(memref<4xi32>)\n func.func @f(%a: memref<4xi32>) '
        "{ func.call @g(%a) : (memref<4xi32>) -> () return } }"
    )
    assert_refused(
        """
        dataflow: the body of 'g' is not in the module
        """,
        s,
        "dataflow",
        "g",
    )


def streams(first: str, second: str) -> str:
    """A module whose two nests put into elements of one array of streams."""
    nests = "".join(
        f"""affine.for %i = 0 to 3 {{
              %t = affine.load %s[{place}] : memref<4x!allo.stream<i8, 2>>
              allo.stream_put %t, %a : !allo.stream<i8, 2>
            }} {{allo.name = "i", allo.nest = "{name}"}}
            """
        for name, place in (("one", first), ("two", second))
    )
    return f"""
        module attributes {{allo.top = "f"}} {{
          func.func @f(%a: i8) {{
            %s = memref.alloc() {{allo.name = "pipes"}} : memref<4x!allo.stream<i8, 2>>
            {nests}return
          }}
        }}"""


def test_stages_at_different_streams_of_an_array():
    s = parsed(streams("0", "%i + 1"))
    s.dataflow("f")
    assert "allo.dataflow" in str(s.module)


def test_stages_at_one_stream_of_an_array():
    assert_refused(
        """
        dataflow: function 'f' cannot become a dataflow region: nest 'two' puts into stream 'pipes', and so does nest 'one'
          note: this process is here
            File, line N, column 13
          note: this process is here
            File, line N, column 13
        """,
        parsed(streams("2", "%i")),
        "dataflow",
        "f",
    )


def test_a_module_from_text_whose_processes_share_an_end():
    text = """module attributes {allo.top = "f"} {
      func.func @f(%a: i8) attributes {allo.dataflow} {
        %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i8, 9>
        affine.for %i = 0 to 2 {
          allo.stream_put %s, %a : !allo.stream<i8, 9>
        } {allo.name = "i", allo.nest = "one"}
        affine.for %i = 0 to 2 {
          allo.stream_put %s, %a : !allo.stream<i8, 9>
        } {allo.name = "i", allo.nest = "two"}
        affine.for %i = 0 to 4 {
          %t = allo.stream_get %s : !allo.stream<i8, 9>
        } {allo.name = "i", allo.nest = "three"}
        return
      }
    }"""
    with pytest.raises(KernelError) as caught:
        Schedule.from_mlir(text)
    assert str(caught.value) == (
        'File "-", line 7, column 9: two processes would share an end of a stream, in no order: nest \'two\' puts into '
        "stream 'pipe', and so does nest 'one'\n"
        "  note: this process is here\n"
        '    File "-", line 4, column 9\n'
        "  note: this process is here\n"
        '    File "-", line 7, column 9'
    )
    assert Schedule.from_mlir(text.replace(" attributes {allo.dataflow}", "")).build()(3) is None


def in_turns(A: int32[8, 8], X: int32[8], B: int32[8, 8]):
    for i in range(8):
        for j in range(8):
            B[i, j] = X[j] + A[i, j]
            X[j] = B[i, j] * 2


def test_steps_that_make_other_stages_of_a_region():
    s = customize(in_turns)
    s.dataflow("i")  # one stage: the loop j
    assert_refused(
        """
        reorder: loop 'i' cannot be a dataflow region then: data flow backwards, the statement at line N writes X[j], and the statement at line N in an earlier stage reads X[j]
          note: the statement is here
            File, line N, column 23
              B[i, j] = X[j] + A[i, j]
                        ^
          note: the statement is here
            File, line N, column 13
              X[j] = B[i, j] * 2
              ^
        """,
        s,
        "reorder",
        "j",
        "i",
    )
    two = customize(chain)
    two.dataflow("chain")
    two.inline("produce")  # as many stages as before
    assert_refused(
        """
        peel: function 'chain' cannot be a dataflow region then: 'T' has two producers, the statement at line N writes T[i.front] and the statement at line N writes T[i.rest]
          note: the statement is here
            File, line N, column 9
              T[i] = A[i] * 3
              ^
        """,
        two,
        "peel",
        "S_i_0.i",
        1,
    )


def forwards(A: int32[8, 8], X: int32[8], B: int32[8, 8]):
    for i in range(8):
        for j in range(8):
            X[j] = A[i, j]
            B[i, j] = X[j] * 2


def gathered(A: int32[8, 8], P: int32[8], X: int32[8, 8], B: int32[8, 8]):
    for i in range(8):
        for j in range(8):
            X[i, j] = A[i, j]
            B[i, j] = X[P[i], j] * 2


def test_steps_that_make_stages_wait_for_those_of_later_iterations():
    s = customize(forwards)
    s.dataflow("i")  # one stage: the loop j
    assert_refused(
        """
        reorder: the stages of loop 'i' cannot run at the same time then: the statement at line N reads X[j] and the statement at line N writes X[j]: iteration (j=0, i=0) must run before iteration (j=0, i=1)
          note: the statement is here
            File, line N, column 23
              B[i, j] = X[j] * 2
                        ^
          note: the statement is here
            File, line N, column 13
              X[j] = A[i, j]
              ^
        """,
        s,
        "reorder",
        "j",
        "i",
    )


def test_steps_that_make_stages_of_which_that_is_not_decided():
    s = customize(gathered)
    s.dataflow("i")
    assert_refused(
        """
        reorder: the stages of loop 'i' cannot run at the same time then, because it cannot be decided: the statement at line N reads X[?, j], but it has a subscript that is not affine
          note: the statement is here
            File, line N, column 23
              B[i, j] = X[P[i], j] * 2
                        ^
          hint: do this first, and make the dataflow region then, with assume_safe=True if you know that it is safe
        """,
        s,
        "reorder",
        "j",
        "i",
        assume_safe=True,
    )


def vouched(A: int32[8, 8], P: int32[8], C: int32[8, 8], B: int32[8, 8]):
    for t in range(8):
        U: int32[8]
        V: int32[8]
        X: int32[8]
        for c in range(8):
            C[t, c] = A[t, c] + 1
        for u in range(8):
            U[u] = A[t, u] * 2
        for v in range(8):
            V[v] = U[v]
        produce(V, X)
        for b in range(8):
            B[t, b] = X[b] + C[P[t], b]


def test_steps_that_make_other_stages_where_a_user_vouches_for_them():
    s = customize(vouched)
    with pytest.raises(ScheduleError, match="cannot run at the same time, because it cannot be decided"):
        s.dataflow("t")
    s.dataflow("t", assume_safe=True)
    s.compute_at("u", "v")  # one stage less; the others are looked at with what `produce` does
    assert len(s.ir.loops("vouched")) == 4 and "allo.dataflow" in str(s.module)


def test_a_module_from_text_whose_stages_cannot_run_at_once():
    text = str(customize(shared).module).replace('allo.name = "t"', 'allo.dataflow, allo.name = "t"', 1)
    with pytest.raises(KernelError, match="the stages of loop 't' cannot run at the same time then: the statement at"):
        Schedule.from_mlir(text)
    text = str(customize(tiles).module).replace('allo.name = "t"', 'allo.dataflow, allo.name = "t"', 1)
    assert "allo.dataflow" in str(Schedule.from_mlir(text).module)
    text = str(customize(indirect).module).replace('allo.name = "t"', 'allo.dataflow, allo.name = "t"', 1)
    assert "allo.dataflow" in str(Schedule.from_mlir(text).module)  # not decided: who wrote it vouches for it


def test_an_unfolded_loop():
    s = customize(tiles)
    s.unfold("S_t_0", axes=[0])
    assert_refused(
        """
        dataflow: loop 't' is unfolded: its iterations are processing elements, which run at the same time
          note: loop 't' is here
            File, line N, column 5
              for t in range(4):
              ^
          hint: make a function of what an element does, and that a dataflow region
        """,
        s,
        "dataflow",
        "t",
    )
