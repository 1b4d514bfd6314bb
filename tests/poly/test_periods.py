"""Periods that runs of puts and gets skip: what is found is what a run of all steps finds."""

from __future__ import annotations

import random

import pytest

from allo.ir.hang import Hang
from allo.ir.module import Module
from allo.poly import hang_of
from allo.poly.hangs import imbalance_of
from tests.seeds import sweep

from .test_hangs import loop, region

MANY = 1_000_000


def condition(draw: random.Random, loops: list[str], count: int) -> str:
    """A condition on a loop variable, or on two."""
    one = f"%{loops[-1]}"
    which = draw.randrange(5)
    if which == 0:
        return f"affine_set<(d0) : (d0 mod {draw.choice([2, 3, 4])} == 0)>({one})"
    if which == 1:
        return f"affine_set<(d0) : (d0 - {draw.randrange(count)} >= 0)>({one})"
    if which == 2:
        return f"affine_set<(d0) : ({draw.randrange(count)} - d0 == 0)>({one})"
    if which == 3:
        return f"affine_set<(d0) : ((d0 floordiv {draw.choice([2, 5])}) mod 2 == 0)>({one})"
    other = f"%{draw.choice(loops)}"
    return f"affine_set<(d0, d1) : (d0 + d1 - {draw.randrange(2 * count)} >= 0)>({one}, {other})"


def side(draw: random.Random, prefix: str, tokens: list[str], count: int) -> str:
    """One process: its tokens in loops, some under conditions, in an order of its own."""
    inner = draw.choice([1, 1, 2, 3, count // 3])
    loops = [f"{prefix}o"] + ([f"{prefix}n"] if inner > 1 else [])
    body: list[str] = []
    for token in tokens:
        chance = draw.random()
        if chance < 0.3:
            body.append(f"affine.if {condition(draw, loops, count)} {{\n{token}\n}} else {{\n{token}\n}}")
        elif chance < 0.36:
            body.append(f"affine.if {condition(draw, loops, count)} {{\n{token}\n}}")
        else:
            body += [token] * draw.choice([1, 1, 1, 2])
    draw.shuffle(body)
    extent = count // inner
    if inner > 1:
        triangle = f"affine_map<(d0) -> (d0)>(%{loops[0]})"
        body = [loop(loops[1], f"0 to {triangle if draw.random() < 0.1 else inner}", *body)]
    nest = loop(loops[0], f"0 to {extent}", *body)
    if draw.random() < 0.3:
        cut = draw.randrange(extent + 1)
        nest += "\n" + loop(f"{prefix}r", f"0 to {cut}", *tokens)
    return loop(prefix, "0 to 1", nest)


def program(seed: int) -> Module:
    draw = random.Random(f"periods {seed}")
    streams = "abcd"[: draw.choice([2, 2, 3, 4])]
    processes: list[list[str]] = [[] for _ in range(draw.choice([2, 2, 3]))]
    for name in streams:
        one, other = draw.sample(range(len(processes)), 2)
        processes[one].append(f"PUT {name}")
        processes[other].append(f"GET {name}")
    count = draw.choice([60, 120])
    body = "\n".join(side(draw, "xyz"[k], tokens, count) for k, tokens in enumerate(processes))
    return region(body, {name: draw.choice([1, 2, 3, 7, 100]) for name in streams})


@sweep(60, quick=1)
def test_what_is_skipped_is_what_would_have_been_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allo.poly.waiting.periods._FIRST_ROUND", 1)
    modules = [program(number) for number in range(30 * seed, 30 * (seed + 1))]
    found = [(hang_of(module), imbalance_of(module)) for module in modules]
    monkeypatch.setattr("allo.poly.waiting.periods._FIRST_ROUND", 1 << 40)
    assert found == [(hang_of(module), imbalance_of(module)) for module in modules]


def in_order(first: str, second: str) -> str:
    return loop("t", "0 to 1", first, second)


def condition_at(place: int, variable: str, one: str, other: str) -> str:
    return f"affine.if affine_set<(d0) : (d0 - {place} >= 0)>(%{variable}) {{\n{one}\n}} else {{\n{other}\n}}"


PROGRAMS = {
    "fork": (
        [loop("i", f"0 to {MANY}", "PUT a", "PUT b"), loop("j", f"0 to {MANY}", "GET a", "GET b")],
        {"a": 1, "b": 1}, None,
    ),
    "nests": (
        [loop("i", "0 to 1000", loop("k", "0 to 1000", "PUT a", "PUT b")), loop("j", f"0 to {MANY}", "GET a", "GET b")],
        {"a": 4, "b": 7}, None,
    ),
    "emptied late": (
        [
            loop("i", f"0 to {MANY}", "PUT a", "PUT b"),
            in_order(loop("j", f"0 to {MANY}", "GET a"), loop("k", f"0 to {MANY}", "GET b")),
        ],
        {"a": 2, "b": 5}, ("b", 5, 0, MANY - 1, None),
    ),
    "late, and deep": (
        [
            loop("i", f"0 to {MANY}", "PUT a", "PUT b"),
            in_order(loop("j", f"0 to {MANY}", "GET a"), loop("k", f"0 to {MANY}", "GET b")),
        ],
        {"a": 2, "b": MANY}, None,
    ),
    "one get more": (
        [loop("i", f"0 to {MANY}", "PUT a", "PUT b"), loop("j", f"0 to {MANY + 1}", "GET b", "GET a")],
        {"a": 2, "b": 2}, ("b", MANY, MANY, None, "b"),
    ),
    "another order from some iteration on": (
        [
            loop("i", f"0 to {MANY}", condition_at(777_777, "i", "PUT a\nPUT a\nPUT b", "PUT b\nPUT a\nPUT a")),
            loop("j", f"0 to {MANY}", "GET b", "GET a", "GET a"),
        ],
        {"a": 1, "b": 1}, ("a", 2 * 777_777 + 1, 2 * 777_777, 2, None),
    ),
    "far between": (
        [
            loop("i", f"0 to {1000 * MANY}", condition_at(999_999_999, "i", "PUT a\nPUT b", "")),
            loop("j", "0 to 1", "GET b", "GET a"),
        ],
        {"a": 1, "b": 1}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_million_iterations_take_no_longer_than_some(name: str) -> None:
    """What is run is a small part, of which most are the iterations until a loop without a wait pauses."""
    processes, depths, wanted = PROGRAMS[name]
    found = hang_of(region("\n".join(processes), depths), 300_000)
    if wanted is None:
        assert found is None
        return
    assert isinstance(found, Hang)
    first = found.full or found.empty
    assert first is not None
    depth = found.needs[0].depth if found.needs else None
    assert (first.name, first.puts, first.gets, depth, found.empty and found.empty.name) == wanted
