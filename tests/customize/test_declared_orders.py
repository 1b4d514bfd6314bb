"""Orders of FIFOs in the IR: what loops put and take, as `!allo.itensor`; wrong ones are refused."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import random
import re
from math import prod

import numpy as np
import pytest
from hypothesis import strategies as st
from mlir import ir

import allo
from allo._mlir.dialects import allo as allo_d
from allo.customize.module.declared_orders import declared, order_of, type_of
from allo.ir.context import context
from allo.ir.stream_facts import made_streams
from allo.ir.types import Fixed, Stream, int32, uint8
from allo.layout import ITensor
from tests.seeds import drawn, sweep

from .checks import assert_refused
from .test_convert import blocks, product, transposed
from .test_random_convert import nest

TYPE = re.compile(r"!allo\.itensor<.*?\)>")


def orders_in(s: allo.Schedule) -> dict[str, str]:
    """The declared orders of FIFOs, by their names."""
    made = [op for function in s._state.functions() for op in made_streams(function)]
    return {ir.StringAttr(op.attributes["allo.name"]).value: str(declared(op)) for op in made}


@st.composite
def any_order(draw: st.DrawFn) -> ITensor:
    rank, loops = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    element, trips, steps = (
        tuple(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))) for n in (rank, loops, loops)
    )
    rows = tuple(
        tuple(draw(st.lists(st.integers(-3, 3), min_size=loops, max_size=loops))) for _ in range(rank)
    )
    last = [sum(min(0, f * s * (t - 1)) for f, s, t in zip(row, steps, trips, strict=True)) for row in rows]
    offset = tuple(draw(st.integers(0, 2)) - low for low in last)
    kind = draw(st.sampled_from(["f32", "ui8", "index", "!allo.fixed<8, 3>", "!allo.struct<{a: i3, b: bf16}>"]))
    return ITensor(element, trips, steps, rows, offset, kind)


@sweep(60, 4)
@drawn(30, any_order())
def test_one_text(order: ITensor) -> None:
    """A value and a type print as the same text, which both parse to what it was."""
    with context():
        kind = type_of(order, ir.Type.parse(order.kind))
        assert str(kind) == str(order)
        assert ir.Type.parse(str(order)) == kind
    assert order_of(kind) == order
    assert ITensor.parse(str(kind)) == order


def test_sums_in_any_order() -> None:
    """A map has one text, however it is written."""
    with context():
        kind = ir.Type.parse("!allo.itensor<1xi8, [4, 2] * [1, 1], (a, b) -> (2 * (b + a) + 3 - b * 3 + 0)>")
    assert str(kind) == "!allo.itensor<1xi8, [4, 2] * [1, 1], (d0, d1) -> (d0 * 2 - d1 + 3)>"
    assert isinstance(kind, allo_d.ITensorType)


def gathered(A: int32[4, 6], B: int32[4, 6]):
    C: int32[4, 6]
    D: int32[4, 6]
    for i, j in allo.grid(4, 6, name="produce"):
        C[i, j] = A[i, j] + 1
    for j, i in allo.grid(6, 4, name="turn"):
        D[i, j] = C[i, j] * 2
    for i, j in allo.grid(4, 6, name="consume"):
        B[i, j] = D[i, j]


def test_fused_graph() -> None:
    """The module of a fused graph says of each FIFO in which order its elements pass."""
    s = allo.customize(gathered)
    s.fuse_streams("gathered", reorder=False)
    rows, columns = (
        f"!allo.itensor<1x1xi32, {trips} * [1, 1], (d0, d1) -> ({to})>"
        for trips, to in (("[4, 6]", "d0, d1"), ("[6, 4]", "d1, d0"))
    )
    assert orders_in(s) == {
        "fifo_C": rows, "fifo_C_in_order": columns, "fifo_D": columns, "fifo_D_in_order": rows
    }  # fmt: skip
    assert f'%0 = allo.stream_create {{allo.itensor = {rows}, allo.name = "fifo_C"}} : !allo.stream<i32, 24>' in str(s.module)
    assert str(allo.Schedule.from_mlir(str(s.module)).module) == str(s.module)


def test_columns_of_blocks() -> None:
    """Fig. 5 of StreamTensor: what a nest of blocks takes, in elements."""
    s = allo.customize(blocks)
    s.convert("C", "consume", itensor="!allo.itensor<4x2xi32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>")
    assert orders_in(s) == {
        "fifo_C": "!allo.itensor<1x1xi32, [4, 2, 4, 2] * [1, 1, 1, 1], (d0, d1, d2, d3) -> (d1 * 4 + d2, d0 * 2 + d3)>",
        "fifo_C_in_order": "!allo.itensor<4x2xi32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>",
    }
    assert allo.verify(allo.customize(blocks), s)


def simple(A: int32[4, 6], B: int32[4, 6]):
    C: int32[4, 6]
    for i, j in allo.grid(4, 6, name="produce"):
        C[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 6, name="consume"):
        B[i, j] = C[i, j] * 2


def triangle(A: int32[4, 4], B: int32[4, 4]):
    C: int32[4, 4]
    for i in range(4, name="produce"):
        for j in range(i + 1):
            C[i, j] = A[i, j] + 1
    for i in range(4, name="consume"):
        for j in range(i + 1):
            B[i, j] = C[i, j] * 2


def test_expected_order() -> None:
    s = allo.customize(simple)
    s.relay("C", "consume", itensor="!allo.itensor<2x6xi32, [2] * [2], (d0) -> (d0, 0)>")
    assert orders_in(s) == {"fifo_C": "!allo.itensor<2x6xi32, [2] * [2], (d0) -> (d0, 0)>"}
    again = allo.customize(simple)
    again.replay(list(s.steps))
    assert str(again.module) == str(s.module)


def test_no_order() -> None:
    """Loops with bounds that are no constants have no type, and what passes is right all the same."""
    s = allo.customize(triangle)
    s.relay("C", "consume")
    assert orders_in(s) == {"fifo_C": "None"}
    assert allo.verify(allo.customize(triangle), s)


def test_widened() -> None:
    """FIFOs that are used in turn have the order of all that passes through them."""
    s = allo.customize(simple)
    s.relay("C", "consume")
    before = orders_in(s)
    s.widen("fifo_C", 2)
    assert orders_in(s) == before
    assert str(allo.Schedule.from_mlir(str(s.module)).module) == str(s.module)
    text = str(s.module).replace("[4, 6] * [1, 1]", "[4, 5] * [1, 1]")
    with pytest.raises(allo.KernelError, match="24 elements are put into 'fifo_C', but 20 pass by its order"):
        allo.Schedule.from_mlir(text)


def sorted_out(A: int32[4], B: int32[4]):
    signs: Stream[int32, 8][2]
    for i in range(4):
        if A[i] > 0:
            signs[0].put(A[i])
        else:
            signs[1].put(A[i])
    for i in range(4):
        if A[i] > 0:
            B[i] = signs[0].get()
        else:
            B[i] = signs[1].get()


def test_where_data_decide_no_count_is_wrong() -> None:
    text = str(allo.customize(sorted_out).module)
    order = "allo.itensor = !allo.itensor<1xi32, [4] * [1], (d0) -> (d0)>"
    ordered = text.replace('memref.alloc() {allo.name = "signs"}', f'memref.alloc() {{{order}, allo.name = "signs"}}')
    assert ordered != text
    assert str(allo.Schedule.from_mlir(ordered).module) == ordered


@sweep(12, 2)
def test_what_passes(seed: int) -> None:
    """The n-th element that machine code takes is the one that the declared order has there."""
    rng = random.Random(seed)
    shape = tuple(rng.choice([2, 3, 4, 6]) for _ in range(rng.randint(1, 3)))
    make, put, _ = nest(rng, shape, "produce", repeats=False)
    use, get, result = nest(rng, shape, "consume", repeats=True)
    kind = f"int32[{', '.join(map(str, shape))}]"
    kernel = (
        f"def kernel(A: {kind}, n: int32[1], B: int32[{result.count}]):\n    C: {kind}\n"
        f"{make}        C[{put}] = A[{put}]\n{use}        B[n[0]] = C[{get}]\n        n[0] += 1\n"
    )
    s = allo.customize(kernel, global_vars={"allo": allo, "int32": int32})
    s.convert("C", "consume")
    order = ITensor.parse([*orders_in(s).values()][-1])
    assert str(allo.Schedule.from_mlir(str(s.module)).module) == str(s.module)
    found = np.zeros(result.count, np.int32)
    s.build()(np.arange(prod(shape), dtype=np.int32).reshape(shape), np.zeros(1, np.int32), found)
    assert [np.ravel_multi_index(at, shape) for at in order.scalars.places()] == [*found]


def windows(A: int32[5, 6, 2], B: int32[2, 3, 2]):
    C: int32[5, 6, 2]
    for y, x, c in allo.grid(5, 6, 2, name="produce"):
        C[y, x, c] = A[y, x, c] + 1
    for y, x, c, i, j in allo.grid(2, 3, 2, 2, 3, name="consume"):
        B[y, x, c] += C[2 * y + i, x + j, c]


@pytest.mark.parametrize("kernel", [product, transposed, blocks, windows])
@pytest.mark.parametrize("end", [0, 1])
def test_reversed_loops(kernel: object, end: int) -> None:
    """Converters of all kinds are followed to the end, whichever order is wrong."""
    s = allo.customize(kernel)
    s.convert("C", "consume")
    text = str(s.module)
    order = ITensor.parse(TYPE.findall(text)[end])
    rows = tuple(row[::-1] for row in order.map)
    other = ITensor(order.element, order.trips[::-1], order.steps[::-1], rows, order.offset, order.kind)
    assert not other.is_same_order(order)
    with pytest.raises(allo.KernelError, match=r"nest 'convert_C' puts .* into 'fifo_C_in_order' as element \d+, by"):
        allo.Schedule.from_mlir(text.replace(str(order), str(other)))


@sweep(10, 2)
def test_wrong_orders(seed: int) -> None:
    """Another order at one end of a converter is refused just if elements would pass differently."""
    rng = random.Random(seed)
    kernel = rng.choice([product, transposed, blocks, windows])
    s = allo.customize(kernel)
    s.convert("C", "consume")
    text = str(s.module)
    declared_types = TYPE.findall(text)
    assert len(declared_types) == 2
    wrong = rng.choice(declared_types)
    order = ITensor.parse(wrong)
    ways = rng.sample(range(len(order.trips)), len(order.trips))
    rows = tuple(tuple(row[k] for k in ways) for row in order.map)
    other = ITensor(
        order.element, tuple(order.trips[k] for k in ways), tuple(order.steps[k] for k in ways), rows, order.offset, order.kind
    )
    changed = text.replace(wrong, str(other))
    if other.is_same_order(order):
        assert str(allo.Schedule.from_mlir(changed).module) == changed
        return
    with pytest.raises(allo.KernelError, match=r"nest 'convert_C' puts .* into 'fifo_C_in_order' as element \d+, by"):
        allo.Schedule.from_mlir(changed)


REFUSED = {
    "count": (r"\[4, 6\] \* \[1, 1\]", "[4, 5] * [1, 1]", """
File, line N, column 10: 24 elements are put into 'fifo_C', but 20 pass by its order, !allo.itensor<1x1xi32, [4, 5] * [1, 1], (d0, d1) -> (d0, d1)>
  note: here elements are put into it
    File, line N, column 9
  note: 'fifo_C' is made here
    File, line N, column 10
"""),
    "place": (r"\(d0, d1, d2\) -> \(d0, d2\)", "(d0, d1, d2) -> (d1, d2)", """
File, line N, column 10: nest 'convert_C' puts [0, 0] into 'fifo_C_in_order' as element 6, by the order of 'fifo_C', !allo.itensor<1x1xi32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>, but [1, 0] passes there by that of 'fifo_C_in_order', !allo.itensor<1x1xi32, [4, 3, 6] * [1, 1, 1], (d0, d1, d2) -> (d1, d2)>
  note: the nest is here
    File, line N, column 5
  note: 'fifo_C_in_order' is made here
    File, line N, column 10
"""),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_text(case: str) -> None:
    old, new, message = REFUSED[case]
    s = allo.customize(product)
    s.convert("C", "consume")
    with pytest.raises(allo.KernelError) as caught:
        allo.Schedule.from_mlir(re.sub(old, new, str(s.module), count=1))
    assert re.sub(r'File "[^"]*", line \d+', "File, line N", str(caught.value)) == message.strip("\n")


def test_refused_gets() -> None:
    """A consumer that takes less than its type says."""
    s = allo.customize(simple)
    s.relay("C", "consume")
    first, second = str(s.module).split("allo.nest = \"produce\"")
    with pytest.raises(allo.KernelError, match="18 elements are taken from 'fifo_C', but 24 pass by its order, !allo"):
        allo.Schedule.from_mlir(f'{first}allo.nest = "produce"{second.replace("= 0 to 4", "= 0 to 3")}')


def fixed(A: Fixed(8, 3)[4, 6], B: Fixed(8, 3)[4, 6]):
    C: Fixed(8, 3)[4, 6]
    for i, j in allo.grid(4, 6, name="produce"):
        C[i, j] = A[i, j] + 1
    for j, i in allo.grid(6, 4, name="consume"):
        B[i, j] = C[i, j] * 2


def unsigned(A: uint8[4, 6], B: uint8[4, 6]):
    C: uint8[4, 6]
    for i, j in allo.grid(4, 6, name="produce"):
        C[i, j] = A[i, j] + 1
    for i, j in allo.grid(4, 6, name="consume"):
        B[i, j] = C[i, j] * 2


@pytest.mark.parametrize("kernel", [fixed, unsigned])
def test_lowered_elements(kernel) -> None:
    """Elements of types that machine code has not."""
    s = allo.customize(kernel)
    s.convert("C", "consume")
    assert all("!allo.fixed<8, 3>" in order or "ui8" in order for order in orders_in(s).values())
    if kernel is unsigned:
        s.widen("fifo_C", 2)
    A = np.arange(24).reshape(4, 6)
    A = A.astype(np.uint8) if kernel is unsigned else A / 8
    found, wanted = np.zeros_like(A), np.zeros_like(A)
    s.build()(A, found)
    allo.customize(kernel).build()(A, wanted)
    np.testing.assert_array_equal(found, wanted)
    assert found.any()
    s.build(target="rtl")


EXPECTED = {
    "text": (simple, "relay", "itensor<1xi32>", """
relay: itensor='itensor<1xi32>': not an itensor: 'itensor<1xi32>'; one is !allo.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
    """),
    "other": (simple, "relay", "!allo.itensor<1x1xi32, [6, 4] * [1, 1], (d0, d1) -> (d1, d0)>", """
relay: the elements of 'C' pass as !allo.itensor<1x1xi32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>, not as !allo.itensor<1x1xi32, [6, 4] * [1, 1], (d0, d1) -> (d1, d0)>
  note: it is written here
    File, line N, column 9
      C[i, j] = A[i, j] + 1
      ^
  note: it is read here
    File, line N, column 19
      B[i, j] = C[i, j] * 2
                ^
  hint: reorder() the loops, or leave itensor= out
    """),
    "none": (triangle, "relay", "!allo.itensor<1xi32, [10] * [1], (d0) -> (d0)>", """
relay: the elements of 'C' pass in no order of one loop nest with constant bounds, not as !allo.itensor<1xi32, [10] * [1], (d0) -> (d0)>
  note: it is written here
    File, line N, column 13
      C[i, j] = A[i, j] + 1
      ^
  note: it is read here
    File, line N, column 23
      B[i, j] = C[i, j] * 2
                ^
  hint: reorder() the loops, or leave itensor= out
    """),
    "convert": (transposed, "convert", "!allo.itensor<1x1xi32, [6, 4] * [1, 1], (d0, d1) -> (d0, d1)>", """
convert: the elements of 'C' pass as !allo.itensor<1x1xi32, [4, 6] * [1, 1], (d0, d1) -> (d1, d0)>, not as !allo.itensor<1x1xi32, [6, 4] * [1, 1], (d0, d1) -> (d0, d1)>
  note: it is read here
    File, line N, column 19
      B[j, i] = C[i, j] * 2
                ^
  hint: reorder() the loops, or leave itensor= out
    """),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPECTED)
def test_not_as_expected(case: str) -> None:
    kernel, verb, text, message = EXPECTED[case]
    s = allo.customize(kernel)
    assert_refused(message, s, verb, "C", "consume", itensor=text)
