"""Streams on the CPU: FIFOs of any element type that hold their depth, processes that take turns, errors that name the
stream."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.cpu import LLVMModule
from allo.errors import DataflowError
from allo.ir.module import Module
from allo.ir.types import int32


def built(
    body: str, arguments: str = "", others: str = "", *, region: bool = True, unbounded: bool = False
) -> LLVMModule:
    """The kernel `f(arguments)`, a dataflow region; `A` and `B` are written `%A` and `%B` in its body."""
    mark = "attributes {allo.dataflow}" if region else ""
    text = f'module attributes {{allo.top = "f"}} {{ {others} func.func @f({arguments}) {mark} {{ {body} return }} }}'
    return LLVMModule(Module.parse(text), unbounded=unbounded)


def argument(name: str, memref: str) -> str:
    return f'%{name}: {memref} {{allo.name = "{name}"}}'


def through(element: str, count: int = 20) -> LLVMModule:
    """Puts all elements of A into a stream, then gets them into B."""
    array = f"memref<{count}x{element}>"
    stream = f"!allo.stream<{element}, 2>"
    body = f"""
      %s = allo.stream_create {{allo.name = "pipe"}} : {stream}
      affine.for %i = 0 to {count} {{
        %v = affine.load %A[%i] : {array}
        allo.stream_put %s, %v : {stream}
      }} {{allo.name = "i"}}
      affine.for %i = 0 to {count} {{
        %v = allo.stream_get %s : {stream}
        affine.store %v, %B[%i] : {array}
      }} {{allo.name = "i"}}"""
    return built(body, f"{argument('A', array)}, {argument('B', array)}")


@pytest.mark.parametrize(
    ("element", "dtype", "low", "high"),
    [
        ("i8", np.int8, -128, 128),
        ("i7", np.int8, -64, 64),
        ("ui13", np.uint16, 0, 8192),
        ("si1", np.int8, -1, 1),
        ("i1", np.bool_, 0, 2),
        ("i64", np.int64, -(2**62), 2**62),
        ("index", np.int64, -(2**40), 2**40),
        ("f16", np.float16, -9, 9),
        ("f64", np.float64, -9, 9),
    ],
)
def test_elements_come_out_as_they_went_in(element: str, dtype: Any, low: int, high: int) -> None:
    A = np.random.default_rng(1).integers(low, high, 20).astype(dtype)
    B = np.zeros_like(A)
    through(element)(A, B)
    np.testing.assert_array_equal(B, A)


def test_more_elements_than_any_depth() -> None:
    A = np.arange(100_000, dtype=np.int32)
    B = np.zeros_like(A)
    through("i32", 100_000)(A, B)
    np.testing.assert_array_equal(B, A)


def test_an_array_of_streams() -> None:
    array, streams = "memref<3x4xi32>", "memref<3x4x!allo.stream<i32, 1>>"
    body = f"""
      %s = memref.alloc() {{allo.name = "grid"}} : {streams}
      affine.for %i = 0 to 3 {{ affine.for %j = 0 to 4 {{
        %v = affine.load %A[%i, %j] : {array}
        %t = affine.load %s[2 - %i, %j] : {streams}
        allo.stream_put %t, %v : !allo.stream<i32, 1>
      }} {{allo.name = "j"}} }} {{allo.name = "i"}}
      affine.for %i = 0 to 3 {{ affine.for %j = 0 to 4 {{
        %t = affine.load %s[%i, %j] : {streams}
        %v = allo.stream_get %t : !allo.stream<i32, 1>
        affine.store %v, %B[%i, %j] : {array}
      }} {{allo.name = "j"}} }} {{allo.name = "i"}}"""
    A, B = np.arange(12, dtype=np.int32).reshape(3, 4), np.zeros((3, 4), np.int32)
    built(body, f"{argument('A', array)}, {argument('B', array)}")(A, B)
    np.testing.assert_array_equal(B, A[::-1])


PRODUCER = """
  func.func @produce(%A: memref<8xi32> {allo.name = "A"}, %s: !allo.stream<i32, 2> {allo.name = "s"}) {
    affine.for %i = 0 to 8 {
      %v = affine.load %A[%i] : memref<8xi32>
      allo.stream_put %s, %v : !allo.stream<i32, 2>
    } {allo.name = "i"}
    return
  }
  func.func @consume(%s: !allo.stream<i32, 2> {allo.name = "s"}, %B: memref<8xi32> {allo.name = "B"}) {
    affine.for %i = 0 to 8 {
      %v = allo.stream_get %s : !allo.stream<i32, 2>
      affine.store %v, %B[%i] : memref<8xi32>
    } {allo.name = "i"}
    return
  }
"""
ARRAYS = f"{argument('A', 'memref<8xi32>')}, {argument('B', 'memref<8xi32>')}"
CREATE = '%{0} = allo.stream_create {{allo.name = "{0}"}} : !allo.stream<i32, 2>'


def test_tasks_run_in_the_order_of_their_data() -> None:
    body = f"""{CREATE.format("s")}
      call @consume(%s, %B) : (!allo.stream<i32, 2>, memref<8xi32>) -> ()
      call @produce(%A, %s) : (memref<8xi32>, !allo.stream<i32, 2>) -> ()"""
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    built(body, ARRAYS, PRODUCER)(A, B)
    np.testing.assert_array_equal(B, A)


def test_arrays_keep_their_order_when_tasks_move() -> None:
    body = f"""{CREATE.format("s")}
      %c = arith.constant 7 : i32
      call @consume(%s, %B) : (!allo.stream<i32, 2>, memref<8xi32>) -> ()
      affine.store %c, %A[0] : memref<8xi32>
      call @produce(%A, %s) : (memref<8xi32>, !allo.stream<i32, 2>) -> ()
      affine.store %c, %B[1] : memref<8xi32>"""
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    built(body, ARRAYS, PRODUCER)(A, B)
    assert B.tolist() == [7, 7, 2, 3, 4, 5, 6, 7]


EXCHANGE = """
  func.func @exchange(%a: !allo.stream<i32, 2>, %b: !allo.stream<i32, 2>) {
    affine.for %i = 0 to 9 {
      %v = allo.stream_get %a : !allo.stream<i32, 2>
      allo.stream_put %b, %v : !allo.stream<i32, 2>
    } {allo.name = "i"}
    return
  }"""


def cycle(first: str, count: int) -> LLVMModule:
    """`exchange` hands back what a nest puts, after the values that are put `first`."""
    body = f"""{CREATE.format("there")} {CREATE.format("back")} %c = arith.constant 7 : i32
      {first}
      call @exchange(%there, %back) : (!allo.stream<i32, 2>, !allo.stream<i32, 2>) -> ()
      affine.for %i = 0 to {count} {{
        %v = allo.stream_get %back : !allo.stream<i32, 2>
        allo.stream_put %there, %v : !allo.stream<i32, 2>
        affine.store %v, %A[%i] : memref<8xi32>
      }} {{allo.name = "i", allo.nest = "answer"}}"""
    return built(body, ARRAYS, EXCHANGE)


def test_a_cycle_of_processes_turns_if_something_is_in_it() -> None:
    A = np.zeros(8, np.int32)
    with pytest.raises(DataflowError, match=r"^[^\n]*9 elements were put into stream 'back', and 8 were taken out"):
        cycle("allo.stream_put %there, %c : !allo.stream<i32, 2>", 8)(A, np.zeros(8, np.int32))
    assert A.tolist() == [7] * 8


def test_a_cycle_of_processes_that_is_empty() -> None:
    with pytest.raises(
        DataflowError, match=r"stream '(there|back)' is empty, and nothing will be put into it"
    ):
        cycle("", 9)(np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_a_get_from_an_empty_stream_ends_the_call() -> None:
    body = f"""{CREATE.format("pipe")}
      affine.for %i = 0 to 8 {{
        %v = allo.stream_get %pipe : !allo.stream<i32, 2>
        affine.store %v, %A[%i] : memref<8xi32>
      }} {{allo.name = "i"}}"""
    kernel = built(body, ARRAYS)
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    for _ in range(3):
        with pytest.raises(DataflowError) as caught:
            kernel(A, B)
        assert caught.value.diagnostics[0].message == (
            "stream 'pipe' is empty, and nothing will be put into it any more: 0 elements have been put and 0 taken"
        )
    assert A.tolist() == list(range(8))


def test_the_empty_stream_of_an_array_is_named_with_its_place() -> None:
    body = """
      %s = memref.alloc() {allo.name = "grid"} : memref<2x3x!allo.stream<i32, 1>>
      %t = affine.load %s[1, 2] : memref<2x3x!allo.stream<i32, 1>>
      %v = allo.stream_get %t : !allo.stream<i32, 1>
      affine.store %v, %A[0] : memref<8xi32>"""
    with pytest.raises(DataflowError, match=r"stream 'grid\[1, 2\]' is empty"):
        built(body, ARRAYS)(np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_an_empty_stream_in_a_parallel_loop() -> None:
    body = f"""{CREATE.format("pipe")}
      affine.for %i = 0 to 8 {{
        %v = allo.stream_get %pipe : !allo.stream<i32, 2>
        affine.store %v, %A[%i] : memref<8xi32>
      }} {{allo.name = "i", allo.parallel}}"""
    with pytest.raises(DataflowError, match=r"stream 'pipe' is empty"):
        built(body, ARRAYS)(np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_questions() -> None:
    body = f"""{CREATE.format("s")}
      %before = allo.stream_empty %s : !allo.stream<i32, 2>
      %c = arith.constant 7 : i32
      allo.stream_put %s, %c : !allo.stream<i32, 2>
      %after = allo.stream_empty %s : !allo.stream<i32, 2>
      %full = allo.stream_full %s : !allo.stream<i32, 2>
      affine.store %before, %A[0] : memref<3xi1>
      affine.store %after, %A[1] : memref<3xi1>
      affine.store %full, %A[2] : memref<3xi1>
      allo.stream_put %s, %c : !allo.stream<i32, 2>
      %last = allo.stream_full %s : !allo.stream<i32, 2>
      affine.store %last, %A[3] : memref<4xi1>""".replace("memref<3x", "memref<4x")
    A = np.zeros(4, np.bool_)
    with pytest.raises(DataflowError, match=r"2 elements were put into stream 's', and 0 were taken out of it"):
        built(body, argument("A", "memref<4xi1>"), region=False)(A)
    assert A.tolist() == [True, False, False, True]


def test_streams_end_with_their_block() -> None:
    """A stream made in each of many iterations, with elements left in it, needs no more memory than one."""
    body = f"""
      %c = arith.constant 7 : i32
      affine.for %t = 0 to 20000 {{
        {CREATE.format("s")}
        affine.for %i = 0 to 1000 {{
          allo.stream_put %s, %c : !allo.stream<i32, 2>
        }} {{allo.name = "i"}}
      }} {{allo.name = "t"}}""".replace("i32, 2>", "i32, 1000>")
    kernel = built(body)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataflowError, match=r"1000 elements were put into stream 's', and 0 were taken out of it"):
        kernel()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


def test_a_kernel_with_a_stream_in_its_signature() -> None:
    with pytest.raises(DataflowError) as caught:
        built("", '%s: !allo.stream<i32, 2> {allo.name = "s"}')
    assert caught.value.diagnostics[0].message == (
        "'f' has a stream in its signature (!allo.stream<i32, 2>) and cannot be called from Python"
    )


def chain(counts: tuple[int, int], depth: int, *, region: bool = True, unbounded: bool = False) -> LLVMModule:
    """A nest that puts and one that gets, so often each."""
    body = f"""
      %s = allo.stream_create {{allo.name = "pipe"}} : !allo.stream<i32, {depth}>
      affine.for %i = 0 to {counts[0]} {{
        %v = affine.load %A[%i] : memref<8xi32>
        allo.stream_put %s, %v : !allo.stream<i32, {depth}>
      }} {{allo.name = "i"}}
      affine.for %i = 0 to {counts[1]} {{
        %v = allo.stream_get %s : !allo.stream<i32, {depth}>
        affine.store %v, %B[%i] : memref<8xi32>
      }} {{allo.name = "i"}}"""
    return built(body, ARRAYS, region=region, unbounded=unbounded)


def test_in_sequence_a_fifo_holds_all_elements_or_the_call_ends() -> None:
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    chain((8, 8), 8, region=False)(A, B)
    np.testing.assert_array_equal(B, A)
    with pytest.raises(DataflowError) as caught:
        chain((8, 8), 7, region=False)(A, B)
    assert str(caught.value) == (
        "File \"-\", line 5, column 9: stream 'pipe' of depth 7 is full, and what would take elements out waits too, "
        "or has ended: 7 elements have been put and 0 taken\n"
        "  note: 'pipe' is made here\n"
        '    File "-", line 2, column 12\n'
        "  note: 'f', in iteration i = 7, waits to put into 'pipe', which is full (7 of 7; 7 put, 0 taken), until it "
        "takes an element out\n"
        '    File "-", line 5, column 9\n'
        "  note: elements are taken out of 'pipe' here\n"
        '    File "-", line 8, column 14\n'
        "  hint: the least depth that does is 8; or let both ends run at the same time: s.dataflow('f')"
    )
    B[:] = 0
    chain((8, 8), 1, region=False, unbounded=True)(A, B)
    np.testing.assert_array_equal(B, A)


def test_what_is_put_and_never_taken_has_to_have_room() -> None:
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    with pytest.raises(DataflowError, match=r"8 elements were put into stream 'pipe', and 5 were taken out of it"):
        chain((8, 5), 3)(A, B)
    with pytest.raises(DataflowError, match=r"of depth 2 is full.*: 7 elements have been put and 5 taken"):
        chain((8, 5), 2)(A, B)


def test_no_depth_is_enough_for_what_is_not_put() -> None:
    with pytest.raises(DataflowError, match=r"'pipe' is empty.*: 5 elements have been put and 5 taken"):
        chain((5, 8), 2)(np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_a_process_that_reads_an_array_begins_when_it_is_complete() -> None:
    """In hardware the second nest waits for T, and the first one for room in the FIFO."""
    body = """
      %T = memref.alloc() {allo.name = "T"} : memref<8xi32>
      %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i32, 4>
      affine.for %i = 0 to 8 {
        %v = affine.load %A[%i] : memref<8xi32>
        affine.store %v, %T[7 - %i] : memref<8xi32>
        allo.stream_put %s, %v : !allo.stream<i32, 4>
      } {allo.name = "i"}
      affine.for %i = 0 to 8 {
        %v = allo.stream_get %s : !allo.stream<i32, 4>
        %t = affine.load %T[%i] : memref<8xi32>
        %w = arith.addi %v, %t : i32
        affine.store %w, %B[%i] : memref<8xi32>
      } {allo.name = "i"}"""
    A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    with pytest.raises(DataflowError, match=r"of depth 4 is full[\s\S]*the least depth that does is 8$"):
        built(body, ARRAYS)(A, B)
    built(body.replace("i32, 4>", "i32, 8>"), ARRAYS)(A, B)
    assert B.tolist() == [7] * 8


def test_processes_of_arrays_with_run_time_extents():
    """A process gets the address and the extents, as functions do."""

    def through_a_fifo(X: int32[...], Y: int32[..., 2]):
        T: int32[8] = 0
        for i in range(8):
            T[i] = X[i] + X.shape[0]
        for j in range(8):
            Y[j, 1] = T[j] * 2

    s = allo.customize(through_a_fifo)
    s.relay("T", "S_j_1", depth=2)
    X, Y = np.arange(9, dtype=np.int32), np.zeros((8, 2), np.int32)
    s.build()(X, Y)
    assert Y.tolist() == [[0, 2 * (i + 9)] for i in range(8)]


def test_processes_look_at_arrays_by_themselves():
    """A look at an array with a stride is made in front of the region, and used in it."""
    kernel = built(
        """
        %odd = memref.subview %A[1] [4] [2] : memref<8xi32> to memref<4xi32, strided<[2], offset: 1>>
        %s = allo.stream_create {allo.name = "pipe"} : !allo.stream<i32, 1>
        affine.for %i = 0 to 4 {
          %v = affine.load %odd[%i] : memref<4xi32, strided<[2], offset: 1>>
          allo.stream_put %s, %v : !allo.stream<i32, 1>
        }
        affine.for %i = 0 to 4 {
          %v = allo.stream_get %s : !allo.stream<i32, 1>
          affine.store %v, %B[%i] : memref<4xi32>
        }""",
        f"{argument('A', 'memref<8xi32>')}, {argument('B', 'memref<4xi32>')}",
    )
    A, B = np.arange(8, dtype=np.int32), np.zeros(4, np.int32)
    kernel(A, B)
    assert B.tolist() == [1, 3, 5, 7]


@pytest.mark.parametrize("narrow", ["i8", "i24", "f32", "i77"])
def test_processes_get_scalars_of_any_width(narrow: str) -> None:
    """Those between streams too: the memory that their arguments need depends on the order of narrow and wide ones."""
    is_float = narrow == "f32"
    kind, narrowed = ("f32", "") if is_float else ("i32", f"%n = arith.trunci %v : {narrow} to i32")
    passed = "%v" if is_float else "%n"
    add = "arith.addf" if is_float else "arith.addi"
    if narrow in ("i8", "i24"):
        narrowed = narrowed.replace("trunci", "extsi")
    body = f"""
      %s = allo.stream_create {{allo.name = "one"}} : !allo.stream<i32, 2>
      %t = allo.stream_create {{allo.name = "two"}} : !allo.stream<i32, 2>
      affine.for %i = 0 to 9 {{
        %e = affine.load %A[%i] : memref<9xi32>
        allo.stream_put %s, %e : !allo.stream<i32, 2>
        allo.stream_put %t, %e : !allo.stream<i32, 2>
      }} {{allo.name = "i"}}
      affine.for %i = 0 to 9 {{
        %a = allo.stream_get %s : !allo.stream<i32, 2>
        %v = arith.addX %x, %x : {narrow}
        {narrowed}
        %b = allo.stream_get %t : !allo.stream<i32, 2>
        %w = arith.addX %y, %x : {narrow}
        NARROW2
        affine.store %a, %B[%i] : memref<9xi32>
        affine.store %b, %C[%i] : memref<9xi32>
        %r = {add} {passed}, PASSED2 : {kind}
        affine.store %r, %D[%i] : memref<9x{kind}>
      }} {{allo.name = "i"}}"""
    body = body.replace("arith.addX", add).replace("NARROW2", narrowed.replace("%n", "%m").replace("%v", "%w"))
    body = body.replace("PASSED2", "%w" if is_float else "%m")
    arrays = [argument(name, "memref<9xi32>") for name in "BAC"] + [argument("D", f"memref<9x{kind}>")]
    scalars = [argument(name, narrow) for name in "xy"]
    kernel = built(body, ", ".join([*scalars, *arrays]))
    A, B, C = np.arange(9, dtype=np.int32), np.zeros(9, np.int32), np.zeros(9, np.int32)
    D = np.zeros(9, np.float32 if is_float else np.int32)
    kernel(2, 5, B, A, C, D)
    assert [array.tolist() for array in (B, C, D)] == [A.tolist(), A.tolist(), [11] * 9]


def test_parallel_loops_wait_at_streams() -> None:
    """Each iteration has a stream of its own, which is soon full: the other stage has to go on."""

    def stages(A: int32[8, 8], B: int32[8, 8]):
        T: int32[8, 8] = 0
        for i in range(8):
            for j in range(8):
                T[i, j] = A[i, j] + 1
        for i in range(8):
            for j in range(8):
                B[i, j] = T[i, j] * 2

    s = allo.customize(stages)
    s.partition("T", dim=2)
    s.relay("T", "S_i_1", depth=1)
    s.parallel("S_i_0.j")
    kernel, A = s.build(), np.arange(64, dtype=np.int32).reshape(8, 8)
    for _ in range(20):
        B = np.zeros((8, 8), np.int32)
        kernel(A, B)
        np.testing.assert_array_equal(B, 2 * (A + 1))
