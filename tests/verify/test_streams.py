"""Streams in runs: what is left in them, external kernels at their ends, and what no run can decide."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.ir.module import Module
from allo.ir.types import Stream, int32
from allo.verify import Different, Equivalent, Unknown

SOURCE = """
#include <hls_stream.h>
static int calls = 0;
void counted(int a[8], int b[8]) { for (int i = 0; i < 8; ++i) b[i] = a[i] + calls; ++calls; }
void passed(hls::stream<int> &in, hls::stream<int> &out) { for (int i = 0; i < 8; ++i) out.write(in.read()); }
void shorter(hls::stream<int> &in, hls::stream<int> &out) { for (int i = 0; i < 7; ++i) out.write(in.read()); }
void taken(hls::stream<int> &in, int b[8]) { for (int i = 0; i < 8; ++i) b[i] = in.read(); }
"""


def copied(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i]


FRAME = """
module attributes {{allo.top = "copied"}} {{
  func.func @copied(%A: memref<8xi32> {{allo.name = "A"}}, %B: memref<8xi32> {{allo.name = "B"}})
      attributes {{allo.dataflow}} {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %pipe = allo.stream_create {{allo.name = "pipe"}} : !allo.stream<i32, 4>
    %back = allo.stream_create {{allo.name = "back"}} : !allo.stream<i32, 4>
    %pipes = memref.alloc() {{allo.name = "pipes"}} : memref<2x!allo.stream<i32, 4>>
{0}
    return
  }}
}}
"""


def program(*nests: str) -> Module:
    return Module.parse(FRAME.format("\n".join(nests)))


def loop(*body: str) -> str:
    lines = "\n".join(body).replace("STREAM", "!allo.stream<i32, 4>")
    return f'affine.for %i = 0 to 8 {{\n{lines}\n}} {{allo.name = "i"}}'


READ, WRITE = "%x = affine.load %A[%i] : memref<8xi32>", "affine.store %y, %B[%i] : memref<8xi32>"
PUT, GET = loop(READ, "allo.stream_put %pipe, %x : STREAM"), loop("%y = allo.stream_get %pipe : STREAM", WRITE)


def end(position: str) -> str:
    return f"%s = affine.load %pipes[{position}] : memref<2xSTREAM>"


def through_pair(one: str, other: str) -> Module:
    put = loop(READ, end(one), "allo.stream_put %s, %x : STREAM")
    return program(put, loop(end(other), "%y = allo.stream_get %s : STREAM", WRITE))


LEFT_EACH_TIME = loop(
    '%p = allo.stream_create {allo.name = "p"} : STREAM',
    READ,
    "allo.stream_put %p, %x : STREAM\nallo.stream_put %p, %x : STREAM",
    "%y = allo.stream_get %p : STREAM",
    WRITE,
)
POSITIVE = f"{READ}\n%c = arith.cmpi sgt, %x, %zero : i32"
PUT_IF = loop(POSITIVE, "scf.if %c {\nallo.stream_put %pipe, %x : STREAM\n}")
GET_IF = loop(
    POSITIVE,
    f"scf.if %c {{\n%y = allo.stream_get %pipe : STREAM\n{WRITE}\n}} else {{",
    "affine.store %zero, %B[%i] : memref<8xi32>\n}",
)


def turns(change: str) -> Module:
    """Two tasks that wait for each other in every iteration."""
    first = loop(READ, "allo.stream_put %pipe, %x : STREAM", "%y = allo.stream_get %back : STREAM", WRITE)
    second = loop("%y = allo.stream_get %pipe : STREAM", change, "allo.stream_put %back, %w : STREAM")
    return program(first, second)


def positive_part(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] if A[i] > 0 else 0


def test_equal() -> None:
    assert isinstance(allo.verify(copied, program(GET, PUT)), Equivalent)
    assert isinstance(allo.verify(copied, through_pair("%i mod 2", "%i mod 2")), Equivalent)


MORE = "%z = allo.stream_get %pipe : !allo.stream<i32, 4>"
NO_MORE = "is empty, and nothing will be put into it any more"


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (program(PUT, PUT, GET), "counts: 8 elements put into 'pipe' and never taken out"),
        (program(PUT, GET, MORE), f"deadlock: stream 'pipe' {NO_MORE}"),
        (program(LEFT_EACH_TIME), "counts: 8 elements put into 'p' and never taken out"),
        (program(PUT_IF, GET), f"deadlock: stream 'pipe' {NO_MORE}"),
        (through_pair("0", "%i mod 2"), f"deadlock: stream 'pipes[1]' {NO_MORE}"),
    ],
)
def test_counts_that_differ(module: Module, reason: str) -> None:
    result = allo.verify(copied, module)
    assert isinstance(result, Different)
    assert result.counterexample.reason.startswith(reason)


def test_what_is_put_and_taken_under_a_condition_on_data_is_run() -> None:
    module = program(PUT_IF, GET_IF)
    assert isinstance(allo.verify(positive_part, module), Unknown)
    assert isinstance(allo.verify(copied, module), Different)


@pytest.mark.parametrize(("change", "answer"), [("%zero", Equivalent), ("%one", Different)])
def test_tasks_that_take_turns_are_put_in_the_order_of_a_run(change: str, answer: type) -> None:
    module = turns(f"%w = arith.addi %y, {change} : i32")
    assert isinstance(allo.verify(copied, module), answer)
    assert isinstance(allo.verify(module, module), Equivalent)


def test_tasks_that_never_take_turns_never_end() -> None:
    first = loop("%y = allo.stream_get %back : STREAM", WRITE, READ, "allo.stream_put %pipe, %x : STREAM")
    second = loop("%y = allo.stream_get %pipe : STREAM", "allo.stream_put %back, %y : STREAM")
    result = allo.verify(copied, program(first, second))
    assert not isinstance(result, Equivalent)
    assert "tasks wait for each other in a cycle" in str(result)


def test_what_is_found_in_a_stream_is_a_matter_of_time() -> None:
    """The CPU runs one task after the other, so that it finds the stream full."""
    asked = loop(
        "%e = allo.stream_empty %pipe : STREAM",
        "scf.if %e {\naffine.store %zero, %B[%i] : memref<8xi32>\n} else {",
        f"%y = allo.stream_get %pipe : STREAM\n{WRITE}\n}}",
    )
    for first, second in ((copied, program(PUT, asked)), (program(PUT, asked), positive_part)):
        result = allo.verify(first, second)
        assert isinstance(result, Unknown)
        assert any("what is found in a stream depends on when tasks run" in line for line in result.tried)


@pytest.fixture(scope="module")
def external(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if shutil.which(os.environ.get("CXX", "g++").split()[0]) is None:
        pytest.skip("there is no C++ compiler")
    source: Path = tmp_path_factory.mktemp("external") / "streams.cpp"
    source.write_text(SOURCE)
    return {name: allo.IPModule(name, source) for name in ("counted", "passed", "taken", "shorter")}


def relayed(external: dict[str, Any], more: int = 0) -> allo.Schedule:
    passed = external["passed"]

    def kernel(A: int32[8], B: int32[8]):
        C: int32[8]
        D: int32[8]
        for i in range(8, name="first"):
            C[i] = A[i] + more
        passed(C, D)
        for i in range(8, name="last"):
            B[i] = D[i]

    s = allo.customize(kernel)
    s.relay("D", "last")
    s.relay("C", "passed")
    return s


def test_a_fifo_to_an_external_kernel_is_emptied_by_it(external: dict[str, Any]) -> None:
    """C++ takes the elements out, which only what is left at the end can tell."""
    result = relayed(external).verify()
    assert isinstance(result, Unknown)
    assert result.reason == "the body of 'passed' is not known here; 12 inputs agreed"
    assert isinstance(allo.verify(copied, relayed(external, 1)), Different)


def test_an_external_kernel_that_takes_too_few(external: dict[str, Any]) -> None:
    module = Module.parse(str(relayed(external).module).replace('top = "passed"', 'top = "shorter"'))
    result = allo.verify(copied, module)
    assert isinstance(result, Different)
    assert result.counterexample.reason.startswith(f"deadlock: stream 'fifo_D' {NO_MORE}")


def test_what_an_external_kernel_leaves_is_counted(external: dict[str, Any]) -> None:
    taken = external["taken"]

    def kernel(A: int32[8], B: int32[8]):
        C: int32[8]
        for i in range(8, name="first"):
            C[i] = A[i]
        taken(C, B)

    s = allo.customize(kernel)
    s.relay("C", "taken")
    assert isinstance(allo.verify(copied, s), Unknown)
    text = str(s.module)
    kind = "!allo.stream<i32, 8>"
    order = "!allo.itensor<1xi32, [8] * [1], (d0) -> (d0)>"
    assert f"allo.stream_create {{allo.itensor = {order}, allo.name = \"fifo_C\"}} : {kind}" in text
    more = text.replace("= 0 to 8", "= 0 to 9", 1).replace("%arg0[%arg2]", "%arg0[%arg2 mod 8]", 1)
    result = allo.verify(copied, Module.parse(more))
    assert isinstance(result, Different)
    assert result.counterexample.reason == "counts: 1 element put into 'fifo_C' and never taken out"


def test_an_external_kernel_with_a_state_decides_nothing(external: dict[str, Any]) -> None:
    """Each of its calls gives something else, also of one program."""
    counted = external["counted"]

    def kernel(A: int32[8], B: int32[8]):
        counted(A, B)

    def buffered(A: int32[8], B: int32[8]):
        C: int32[8]
        for i in range(8):
            C[i] = A[i]
        counted(C, B)

    assert isinstance(allo.verify(kernel, buffered), Unknown)
    result = allo.verify(copied, kernel)
    assert isinstance(result, Different)
    reason = "the second program uses an element that it has not written, or a C++ function of it gives something else"
    assert result.counterexample.reason == f"{reason} each time"


def chosen(A: int32[8], B: int32[8]):
    for i in range(8):
        if A[i] > 0:
            B[i] = A[i]
        else:
            B[i] = 0


@df.region()
def puts_in_branches(A: int32[8], B: int32[8]):
    s: Stream[int32, 2]

    @df.kernel(args=[A])
    def source(x: int32[8]):
        for i in range(8):
            if x[i] > 0:
                s.put(x[i])
            else:
                s.put(0)

    @df.kernel(args=[B])
    def sink(y: int32[8]):
        for i in range(8):
            y[i] = s.get()


@df.region()
def gets_in_branches(A: int32[8], B: int32[8]):
    s: Stream[int32, 2][2]

    @df.kernel(args=[A])
    def source(x: int32[8]):
        for i in range(8):
            s[0].put(x[i])
            s[1].put(0)

    @df.kernel(args=[A, B])
    def sink(x: int32[8], y: int32[8]):
        for i in range(8):
            if x[i] > 0:
                y[i] = s[0].get()
                s[1].get()
            else:
                s[0].get()
                y[i] = s[1].get()


@df.region()
def another_value(A: int32[8], B: int32[8]):
    s: Stream[int32, 2]

    @df.kernel(args=[A])
    def source(x: int32[8]):
        for i in range(8):
            if x[i] > 0:
                s.put(x[i])
            else:
                s.put(x[0])

    @df.kernel(args=[B])
    def sink(y: int32[8]):
        for i in range(8):
            y[i] = s.get()


@df.region()
def another_order(A: int32[8], B: int32[8]):
    s: Stream[int32, 4][2]

    @df.kernel(args=[A])
    def source(x: int32[8]):
        for i in range(8):
            if x[i] > 0:
                s[0].put(x[i])
                s[1].put(0)
            else:
                s[1].put(0)
                s[0].put(0)

    @df.kernel(args=[B])
    def sink(y: int32[8]):
        for i in range(8):
            y[i] = s[0].get() + s[1].get()


@pytest.mark.parametrize("region", [puts_in_branches, gets_in_branches])
def test_what_both_branches_do_at_a_stream_is_one_put_or_get(region: Any) -> None:
    assert isinstance(allo.verify(df.customize(region), chosen), Equivalent)
    assert isinstance(allo.verify(df.customize(region), df.customize(another_value)), Different)


def test_branches_that_use_streams_in_another_order_are_left() -> None:
    result = allo.verify(df.customize(another_order), chosen)
    assert isinstance(result, Unknown) and "under a condition that is not affine" in str(result)
