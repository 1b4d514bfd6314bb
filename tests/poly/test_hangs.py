"""Whether all puts and gets happen, which FIFO is full first, what depths would do, and what stays empty."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.cpu import LLVMModule
from allo.errors import DataflowError
from allo.ir.hang import Hang
from allo.ir.module import Module
from allo.ir.types import int32
from allo.poly import Untold, always_ends, hang_of
from tests.seeds import sweep


def region(body: str, depths: dict[str, int], others: str = "", arguments: str = "") -> Module:
    """A dataflow region with streams of these depths; `PUT x` and `GET x` stand for one token."""
    made = [
        f'%{name} = allo.stream_create {{allo.name = "{name}"}} : !allo.stream<i32, {depth}>'
        for name, depth in depths.items()
    ]
    lines = ["%one = arith.constant 1 : i32", *made]
    for number, line in enumerate(body.splitlines()):
        word, _, name = line.strip().partition(" ")
        stream = f"%{name} : !allo.stream<i32, {depths.get(name, 1)}>"
        match word:
            case "PUT":
                lines.append(f"allo.stream_put %{name}, %one : !allo.stream<i32, {depths[name]}>")
            case "GET":
                lines.append(f"%t{number} = allo.stream_get {stream}")
            case _:
                lines.append(line)
    text = "\n".join(lines)
    mark = "attributes {allo.dataflow}"
    return Module.parse(
        f'module attributes {{allo.top = "f"}} {{ {others} func.func @f({arguments}) {mark} {{ {text}\nreturn }} }}'
    )


def loop(variable: str, bounds: str, *body: str) -> str:
    return "\n".join([f"affine.for %{variable} = {bounds} {{", *body, f'}} {{allo.name = "{variable}"}}'])


def agree(module: Module, *, balanced: bool = False) -> Any:
    """What is told, which is what happens on the CPU."""
    found = hang_of(module, balanced=balanced)
    assert not isinstance(found, Untold)
    with pytest.MonkeyPatch.context() as exact:  # FIFOs hold what they are declared to hold, no more
        exact.setattr("allo.backend.cpu.streams.always_ends", lambda module: False)
        built = LLVMModule(module)
    if found is None:
        built()
        return None
    with pytest.raises(DataflowError) as caught:
        built()
    waiting = found.full or found.empty
    assert waiting is not None
    assert f"stream '{waiting.name}'" in str(caught.value)
    return found


def in_turn(depth: int, other: int = 2) -> Module:
    """Puts into both streams in turn; takes all of the first one before something of the second one."""
    body = [
        loop("i", "0 to 8", "PUT a", "PUT b"),
        loop("j", "0 to 8", "GET a"),
        loop("k", "0 to 8", "GET b"),
    ]
    both = loop("t", "0 to 1", body[1], body[2])
    return region("\n".join([body[0], both]), {"a": other, "b": depth})


@pytest.mark.parametrize("depth", range(1, 10))
def test_a_fifo_that_is_emptied_late(depth: int) -> None:
    found = agree(in_turn(depth))
    if depth >= 7:
        assert found is None
        return
    assert (found.full.name, found.full.depth) == ("b", depth)
    assert (found.full.puts, found.full.gets) == (depth, 0)
    assert [(need.name, need.depth) for need in found.needs] == [("b", 7)]
    assert found.empty is None


def test_two_fifos_are_made_deeper_together() -> None:
    """Both are full before something is taken; what the other order needs of each is told."""
    body = "\n".join(
        [
            loop("i", "0 to 4", "PUT a"),
            loop("j", "0 to 4", "PUT b"),
            loop("k", "0 to 4", "PUT c"),
        ]
    )
    taken = "\n".join(
        [loop("l", "0 to 4", "GET c"), loop("m", "0 to 4", "GET b"), loop("n", "0 to 4", "GET a")]
    )
    module = region(
        "\n".join([loop("s", "0 to 1", body), loop("t", "0 to 1", taken)]), {"a": 1, "b": 2, "c": 1}
    )
    found = agree(module)
    assert (found.full.name, found.full.puts) == ("a", 1)
    assert {need.name: need.depth for need in found.needs} == {"a": 4, "b": 4}
    deep = region(
        "\n".join([loop("s", "0 to 1", body), loop("t", "0 to 1", taken)]), {"a": 4, "b": 4, "c": 1}
    )
    assert agree(deep) is None


@pytest.mark.parametrize(("puts", "gets"), [(3, 4), (0, 1), (7, 8)])
def test_a_stream_that_stays_empty(puts: int, gets: int) -> None:
    body = "\n".join([loop("i", f"0 to {puts}", "PUT a"), loop("j", f"0 to {gets}", "GET a")])
    found = agree(region(body, {"a": 2}))
    assert found.full is None and found.needs == ()
    assert (found.empty.name, found.empty.puts, found.empty.gets) == ("a", puts, puts)


def test_one_stream_is_full_and_another_one_empty() -> None:
    body = "\n".join([loop("i", "0 to 5", "PUT a", "PUT b"), loop("j", "0 to 6", "GET b", "GET a")])
    found = agree(region(body, {"a": 1, "b": 1}))
    assert found.full is None and (found.empty.name, found.empty.puts) == ("b", 5)
    wrong = "\n".join([loop("i", "0 to 5", "PUT a", "PUT a", "PUT b"), loop("j", "0 to 5", "GET b", "GET a")])
    found = agree(region(wrong, {"a": 2, "b": 1}))
    assert found.full.name == "a"
    assert [(need.name, need.depth) for need in found.needs] == [("a", 6)]


def test_processes_that_wait_for_one_another() -> None:
    """The first one gets what the second one puts after it has got what the first one puts later."""
    body = "\n".join([loop("i", "0 to 4", "GET b", "PUT a"), loop("j", "0 to 4", "GET a", "PUT b")])
    found = agree(region(body, {"a": 4, "b": 4}))
    assert found.full is None and found.empty.name in ("a", "b")
    turned = "\n".join([loop("i", "0 to 4", "PUT a", "GET b"), loop("j", "0 to 4", "GET a", "PUT b")])
    assert agree(region(turned, {"a": 1, "b": 1})) is None


@pytest.mark.parametrize(("bound", "ends"), [(5, True), (4, False), (6, False)])
def test_bounds_and_steps_of_loops(bound: int, ends: bool) -> None:
    """A triangle of 0 + 1 + ... + 4 tokens, and every other iteration of a loop of 2 * 10."""
    triangle = loop("i", f"0 to {bound}", loop("j", "0 to affine_map<(d0) -> (d0)>(%i)", "PUT a"))
    body = "\n".join([triangle, loop("k", "0 to 20 step 2", "GET a")])
    found = agree(region(body, {"a": 3}))
    assert (found is None) is ends
    if bound == 4:
        assert (found.empty.puts, found.empty.gets) == (6, 6)


@pytest.mark.parametrize(("least", "ends"), [(3, True), (2, False), (4, False)])
def test_conditions_on_loops(least: int, ends: bool) -> None:
    guard = f"affine.if affine_set<(d0) : (d0 - {least} >= 0)>(%i) {{\nPUT a\n}} else {{\nPUT b\n}}"
    body = "\n".join([loop("i", "0 to 8", guard), loop("j", "0 to 5", "GET a"), loop("k", "0 to 3", "GET b")])
    assert (agree(region(body, {"a": 2, "b": 2})) is None) is ends


@pytest.mark.parametrize("gets", [3, 4])
def test_spatial_loops_in_a_loop_over_time_are_elements_with_that_loop(gets: int) -> None:
    """Element 1 puts all of its tokens while element 0 waits; in one process, neither would come to its second one."""
    text = """
      %s = memref.alloc() {allo.name = "lines"} : memref<2x!allo.stream<i32, 1>>
      affine.for %t = 0 to 3 {
        affine.for %p = 0 to 2 {
          %a = affine.load %s[%p] : memref<2x!allo.stream<i32, 1>>
          allo.stream_put %a, %one : !allo.stream<i32, 1>
        } {allo.name = "p", allo.spatial}
      } {allo.name = "t", allo.nest = "PE"}
      affine.for %q = 0 to 2 {
        affine.for %u = 0 to GETS {
          %a = affine.load %s[1 - %q] : memref<2x!allo.stream<i32, 1>>
          %v = allo.stream_get %a : !allo.stream<i32, 1>
        } {allo.name = "u"}
      } {allo.name = "q"}"""
    found = agree(region(text.replace("GETS", str(gets)), {}))
    if gets == 3:
        assert found is None
    else:
        assert (found.empty.index, found.empty.puts, found.empty.gets) == (1, 3, 3)


def test_elements_that_use_no_stream_beside_a_fifo_that_is_full() -> None:
    store = "affine.store %one, %A[%i, %t] : memref<2x3xi32>"
    elements = loop("t", "0 to 3", loop("i", "0 to 2", store))[:-1] + ', allo.nest = "PE"}'
    elements = elements.replace('{allo.name = "i"}', '{allo.name = "i", allo.spatial}')
    taking = loop("b", "0 to 1", *["GET y"] * 3, *["GET x"] * 3)
    body = "\n".join([loop("a", "0 to 3", "PUT x", "PUT y"), elements, taking])
    module = region(body, {"x": 2, "y": 4}, arguments='%A: memref<2x3xi32> {allo.name = "A"}')
    found = hang_of(module)
    assert isinstance(found, Hang) and found.full is not None and found.full.name == "x"


def test_numbers_that_a_subscript_is_made_of() -> None:
    """The stream number 2 * i - 1 + 1 of an array, from arithmetic on the loop variable."""
    text = """
      %two = arith.constant 2 : index
      %s = memref.alloc() {allo.name = "lines"} : memref<4x!allo.stream<i32, 1>>
      affine.for %i = 0 to 2 {
        %n = arith.muli %i, %two : index
        %t = memref.load %s[%n] : memref<4x!allo.stream<i32, 1>>
        allo.stream_put %t, %one : !allo.stream<i32, 1>
      } {allo.name = "i"}
      affine.for %i = 0 to 2 {
        %t = affine.load %s[LAST - 2 * %i] : memref<4x!allo.stream<i32, 1>>
        %v = allo.stream_get %t : !allo.stream<i32, 1>
      } {allo.name = "i"}"""
    assert agree(region(text.replace("LAST", "2"), {})) is None
    found = agree(region(text.replace("LAST", "3"), {}))
    assert found.empty.index in (1, 3)


def test_what_depends_on_data_is_untold() -> None:
    body = loop(
        "i", "0 to 4", "%v = affine.load %A[%i] : memref<4xi1>", "scf.if %v {\nPUT a\n}"
    ) + "\n" + loop("j", "0 to 4", "GET a")  # fmt: skip
    module = region(body, {"a": 4}, arguments='%A: memref<4xi1> {allo.name = "A"}')
    found = hang_of(module)
    assert isinstance(found, Untold) and "whether a stream is used depends on data" in found.reason


CALLED = """
  func.func @some(%n: index, %s: !allo.stream<i32, 8>) {
    %one = arith.constant 1 : i32
    %c = arith.constant 2 : index
    %m = arith.addi %n, %c : index
    affine.for %k = 0 to %m {
      allo.stream_put %s, %one : !allo.stream<i32, 8>
    } {allo.name = "k"}
    return
  }
"""


@pytest.mark.parametrize(("first", "second", "ends"), [(1, 0, True), (2, 0, False), (0, 0, False)])
def test_each_call_has_numbers_of_its_own(first: int, second: int, ends: bool) -> None:
    calls = [
        f"""%n{k} = arith.constant {number} : index
        func.call @some(%n{k}, %a) : (index, !allo.stream<i32, 8>) -> ()"""
        for k, number in enumerate((first, second))
    ]
    both = loop("t", "0 to 1", *calls)
    module = region("\n".join([both, loop("j", "0 to 5", "GET a")]), {"a": 8}, CALLED)
    if first > 1:  # one element more stays in the stream, which only the end of a run tells
        with pytest.raises(DataflowError, match=r"6 elements were put into stream 'a', and 5 were taken out of it"):
            agree(module)
        assert hang_of(module) is None
        return
    found = agree(module)
    if ends:
        assert found is None
    else:
        assert (found.empty.puts, found.empty.gets) == (4, 4)


def test_what_one_call_knows_is_not_known_in_the_next_one() -> None:
    calls = """%n = arith.constant 1 : index
      func.call @some(%n, %a) : (index, !allo.stream<i32, 8>) -> ()
      %v = affine.load %A[0] : memref<4xindex>
      func.call @some(%v, %a) : (index, !allo.stream<i32, 8>) -> ()"""
    body = "\n".join([loop("t", "0 to 1", calls), loop("j", "0 to 5", "GET a")])
    module = region(body, {"a": 8}, CALLED, '%A: memref<4xindex> {allo.name = "A"}')
    assert isinstance(hang_of(module), Untold)


def test_more_steps_than_are_followed_are_untold() -> None:
    """Each iteration of a triangle is another one."""

    def triangle(name: str, *tokens: str) -> str:
        return loop(name, "0 to 40", loop(f"{name}n", f"0 to affine_map<(d0) -> (d0)>(%{name})", *tokens))

    module = region("\n".join([triangle("i", "PUT a", "PUT b"), triangle("j", "GET a", "GET b")]), {"a": 2, "b": 2})
    found = hang_of(module, 100)
    assert isinstance(found, Untold) and found.reason == "its tasks do more than 100 different steps"
    assert hang_of(module, 10_000) is None and always_ends(module)


def test_balanced_trees_need_not_be_run() -> None:
    """One stream between two processes never hangs if as much is put as taken; two may."""
    body = "\n".join([loop("i", "0 to 100", "PUT a"), loop("j", "0 to 100", "GET a")])
    assert hang_of(region(body, {"a": 1}), 1, balanced=True) is None
    assert always_ends(region(body, {"a": 1}))
    assert not always_ends(region(body.replace("100", "102", 1), {"a": 1}))
    assert isinstance(hang_of(in_turn(8), 1, balanced=True), Untold)
    assert agree(in_turn(3), balanced=True) is not None


def random_region(seed: int) -> Module:
    """Processes with loops around puts and gets on a tree of streams, or nearly one, and streams that close circles."""
    draw = random.Random(f"tokens {seed}")
    streams = "abcd"[: draw.choice([1, 2, 3, 4])]
    ends: list[list[str]] = [[] for _ in range(len(streams) + draw.choice([1, 1, 1, 0]))]
    for number, name in enumerate(streams):
        other = draw.randrange(number + 1)
        sides = [f"PUT {name}", f"GET {name}"]
        draw.shuffle(sides)
        ends[min(other, len(ends) - 1)].append(sides[0])
        ends[min(number + 1, len(ends) - 1)].append(sides[1])
    for name in "ef"[: draw.choice([0, 1, 1, 2])] if len(ends) > 1 else "":
        putter, getter = draw.sample(range(len(ends)), 2)
        ends[putter].append(f"PUT {name}")
        ends[getter].append(f"GET {name}")
        streams += name
    processes = []
    for place, tokens in enumerate(ends):
        draw.shuffle(tokens)
        count = draw.choice([4, 4, 4, 4, 3, 6])
        one_by_one = [loop(f"l{place}_{k}", f"0 to {count}", token) for k, token in enumerate(tokens)]
        if draw.random() < 0.6:
            one_by_one = [loop(f"l{place}", f"0 to {count}", *tokens)]
        elif draw.random() < 0.4:
            one_by_one = [loop(f"l{place}_{k}", "0 to 2", loop("m", "0 to 4 step 2", t)) for k, t in enumerate(tokens)]
        processes.append(loop(f"p{place}", "0 to 1", *one_by_one))
    return region("\n".join(processes), {name: draw.choice([1, 1, 2, 3, 4]) for name in streams})


@sweep(3)
def test_what_is_said_to_end_without_being_run_ends(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = [random_region(number) for number in range(100 * seed, 100 * (seed + 1))]
    ending = [module for module in modules if always_ends(module)]
    monkeypatch.setattr("allo.poly.hangs.has_no_circle", lambda *_: False)
    assert [module for module in ending if hang_of(module) is not None] == []
    others = [hang_of(module) for module in modules if module not in ending]
    assert len(ending) > 10 and sum(isinstance(found, Hang) for found in others) > 10


def stages(A: int32[8], B: int32[8]):
    S: int32[8]
    for i in range(8):
        S[i] = A[i] + 1
    for j in range(8):
        B[j] = S[j] * 2


def test_a_schedule_with_a_fifo_of_any_depth_ends() -> None:
    for depth in (1, 2, 8):
        s = allo.customize(stages)
        s.relay("stages:S", "S_j_1", depth=depth)
        assert hang_of(s.ir) is None
        A, B = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
        s.build()(A, B)
        assert B.tolist() == [2 * (a + 1) for a in range(8)]
