"""Refusals are not lazy: on inputs found here, the rewrites that some refused steps ask for give other results."""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from mlir import ir

from allo import Schedule, ScheduleError, customize
from allo.customize.nest.rewrite import compose_affine, move_body
from allo.customize.step.handles import Loop
from allo.customize.step.resolve import find_loop
from allo.ir.builder import Builder, affine_dim, index_type
from allo.ir.context import context
from allo.ir.walk import constant_bounds, induction_variable
from tests.seeds import drawn, sweep

from .batch import outcomes
from .random_kernels import DECLARED, bounds, element, load

SHARE = 0.8  # of the refused steps


@st.composite
def nests(draw: st.DrawFn) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """One or two nests whose statements leave in an element a trace of all that was written there, in its order."""
    lines = ["from allo.ir.types import int32", "", "", f"def kernel({DECLARED}):"]
    names = ["i", "j", "k"][: draw(st.sampled_from([2, 2, 3]))]
    other = [f"{name}{name}" for name in names]
    several = draw(st.booleans())
    for loops in (names, other) if several else (names,):
        for depth, name in enumerate(loops):
            span = bounds(draw, loops[:depth]) if not several and draw(st.booleans()) else "1, 5"
            lines.append(f"{'    ' * (depth + 1)}for {name} in range({span}):")
        unique = " + ".join(f"{7**k} * {name}" for k, name in enumerate(loops))
        target, value = (element(draw, loops) for _ in range(2))
        lines.append(f"{'    ' * (len(loops) + 1)}{target} = {target} * 5 + {value} + {unique}")
    return "\n".join(lines) + "\n", (tuple(names),)


def candidates(s: Schedule) -> list[tuple[str, tuple[Loop, ...]]]:
    """Steps that may be refused because of a dependence."""
    first, *later = [list(nest) for nest in s.get_loops()]
    found: list[tuple[str, tuple[Loop, ...]]] = [("parallel", (loop,)) for loop in first]
    found += [("reorder", (b, a)) for a, b in pairwise(first)]
    return found + [("compute_at", (first[0], target)) for nest in later for target in nest]


def reversed_loop(s: Schedule, handle: Loop) -> Schedule:
    """What `parallel` permits: the iterations of a loop in the opposite order."""
    module = s.ir.clone()
    loop = find_loop(module, handle).op
    found = constant_bounds(loop)
    if found is None:
        pytest.skip("the bounds of the loop are not constants")
    lower, upper, step = found
    last = lower + (upper - lower - 1) // step * step
    attributes = {key: value for key, value in loop.attributes.items() if key.startswith("allo.")}
    maps = [ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap")]
    builder = Builder.before(loop)
    made = builder.affine_for((maps[0], []), (maps[1], []), step, attributes)
    builder.point = ir.InsertionPoint.at_block_begin(made.regions[0].blocks[0])
    back = ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [affine_dim(0) * -1 + (lower + last)], context()))
    variable = builder.value("affine.apply", index_type(), [induction_variable(made)], {"map": back})
    move_body(loop, made.regions[0].blocks[0], variable)
    compose_affine(module.functions())
    return Schedule(module)


def forced(s: Schedule, name: str, arguments: tuple[Loop, ...]) -> Schedule | None:
    """The rewrite without the question whether it is legal; None if it cannot be made at all."""
    if name == "parallel":
        has_constants = constant_bounds(find_loop(s.ir, arguments[0]).op) is not None
        return reversed_loop(s, arguments[0]) if has_constants else None
    with pytest.MonkeyPatch.context() as patch:
        module = sys.modules[f"allo.customize.{name}"]
        patch.setattr(module, "demand", lambda *_, **__: None)
        if name == "compute_at":
            patch.setattr(module, "merge_violation", lambda *_: None)
            patch.setattr(module, "recompute", lambda *_: None)
        try:
            getattr(s, name)(*arguments)
        except ScheduleError:
            return None
    return s


def differ(found: list[Any], wanted: list[Any]) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@sweep(4, quick=0)
def test_forced_rewrites_give_other_results(tmp_path: Path, seed: int) -> None:
    refused: Counter[str] = Counter()
    exhibited: Counter[str] = Counter()

    @drawn(15, nests())
    def collect(text: tuple[str, tuple[tuple[str, ...], ...]]) -> None:
        kernel = load(text, tmp_path)
        wrong: list[tuple[str, Schedule]] = []
        for name, arguments in candidates(customize(kernel.function)):
            s = customize(kernel.function)
            try:
                getattr(s, name)(*arguments)
            except ScheduleError as error:
                if re.search(r"must run before", str(error)) and (made := forced(s, name, arguments)) is not None:
                    wrong.append((name, made))
        if not wrong:
            return
        random = np.random.default_rng(7)
        inputs = [random.integers(-99, 99, shape).astype(np.int32) for shape in ((12, 12), (12, 12), (12,))]
        wanted, *found = outcomes([customize(kernel.function), *(s for _, s in wrong)], inputs)
        for (name, _), result in zip(wrong, found, strict=True):
            refused[name] += 1
            exhibited[name] += differ(result, wanted)

    collect(seed)
    assert exhibited.total() >= 5, (exhibited, refused)
    for name in refused:
        lazy = refused[name] - exhibited[name]
        assert lazy <= max(1, (1 - SHARE) * refused[name]), (name, exhibited, refused)
