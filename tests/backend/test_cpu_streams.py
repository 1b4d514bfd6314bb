"""Streams on the CPU: FIFOs of any element type, tasks in the order of their data, errors that name the stream."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest

from allo.backend.cpu import LLVMModule
from allo.errors import DataflowError
from allo.ir.module import Module


def built(body: str, arguments: str = "", others: str = "") -> LLVMModule:
    """The kernel `f(arguments)`; `A` and `B` are written `%A` and `%B` in its body."""
    text = f'module attributes {{allo.top = "f"}} {{ {others} func.func @f({arguments}) {{ {body} return }} }}'
    return LLVMModule(Module.parse(text))


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
CREATE = "%{0} = allo.stream_create {{allo.name = \"{0}\"}} : !allo.stream<i32, 2>"


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


def test_a_cycle_of_tasks() -> None:
    exchange = """
      func.func @exchange(%a: !allo.stream<i32, 2>, %b: !allo.stream<i32, 2>) {
        %v = allo.stream_get %a : !allo.stream<i32, 2>
        allo.stream_put %b, %v : !allo.stream<i32, 2>
        return
      }"""
    body = f"""{CREATE.format("there")} {CREATE.format("back")}
      call @exchange(%there, %back) : (!allo.stream<i32, 2>, !allo.stream<i32, 2>) -> ()
      affine.for %i = 0 to 2 {{
        %v = allo.stream_get %back : !allo.stream<i32, 2>
        allo.stream_put %there, %v : !allo.stream<i32, 2>
      }} {{allo.name = "i", allo.nest = "answer"}}"""
    with pytest.raises(DataflowError) as caught:
        built(body, others=exchange)
    assert caught.value.diagnostics[0].message == (
        "tasks wait for each other in a cycle: 'exchange' gets from 'there' and waits for nest 'answer', "
        "nest 'answer' gets from 'back' and waits for 'exchange'"
    )


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
            "stream 'pipe' is empty, and nothing will be put into it any more"
        )
    assert A.tolist() == list(range(8))


def test_the_empty_stream_of_an_array_is_named_with_its_place() -> None:
    body = """
      %s = memref.alloc() {allo.name = "grid"} : memref<2x3x!allo.stream<i32, 1>>
      %t = affine.load %s[1, 2] : memref<2x3x!allo.stream<i32, 1>>
      %v = allo.stream_get %t : !allo.stream<i32, 1>
      affine.store %v, %A[0] : memref<8xi32>"""
    with pytest.raises(DataflowError, match=r"^stream 'grid\[1, 2\]' is empty"):
        built(body, ARRAYS)(np.zeros(8, np.int32), np.zeros(8, np.int32))


def test_an_empty_stream_in_a_parallel_loop() -> None:
    body = f"""{CREATE.format("pipe")}
      affine.for %i = 0 to 8 {{
        %v = allo.stream_get %pipe : !allo.stream<i32, 2>
        affine.store %v, %A[%i] : memref<8xi32>
      }} {{allo.name = "i", allo.parallel}}"""
    with pytest.raises(DataflowError, match=r"^stream 'pipe' is empty"):
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
      affine.store %full, %A[2] : memref<3xi1>"""
    A = np.zeros(3, np.bool_)
    built(body, argument("A", "memref<3xi1>"))(A)
    assert A.tolist() == [True, False, False]


def test_streams_end_with_their_block() -> None:
    """A stream made in each of many iterations, with elements left in it, needs no more memory than one."""
    body = f"""
      %c = arith.constant 7 : i32
      affine.for %t = 0 to 20000 {{
        {CREATE.format("s")}
        affine.for %i = 0 to 1000 {{
          allo.stream_put %s, %c : !allo.stream<i32, 2>
        }} {{allo.name = "i"}}
      }} {{allo.name = "t"}}"""
    kernel = built(body)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kernel()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


def test_a_kernel_with_a_stream_in_its_signature() -> None:
    with pytest.raises(DataflowError) as caught:
        built("", '%s: !allo.stream<i32, 2> {allo.name = "s"}')
    assert caught.value.diagnostics[0].message == (
        "'f' has a stream in its signature (!allo.stream<i32, 2>) and cannot be called from Python"
    )
