"""Random grids of tasks on a torus: what each puts to and gets from its neighbours, in which order, at which depths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from .random_graphs import HEAD, loaded


def text_of(seed: int) -> str:
    """The source of a region `grid(B)` of P x Q tasks."""
    random = Random(seed)
    rows, columns, rounds = random.randint(1, 3), random.randint(2, 4), random.randint(1, 3)
    lines = ["@df.region()", f"def grid(B: int32[{rows}, {columns}]):"]
    body: list[list[str]] = [[], [], []]  # before the loop, in it, after it
    for number in range(random.randint(1, 3)):
        lines.append(f"    s{number}: Stream[int32, {random.randint(1, 3)}][{rows}, {columns}]")
        down, right = random.randrange(rows), random.randrange(columns)
        there = f"s{number}[(i + {down}) % {rows}, (j + {right}) % {columns}]"
        put, get = f"{there}.put(1)", f"t += s{number}[i, j].get()"
        often, at = random.randint(1, 2), random.randint(0, 2)
        if random.random() < 0.4:  # a token that goes round
            body[0].append(put)
            body[2].append(get)
        pair = [put] * often + [get] * often
        if random.random() < 0.2:
            random.shuffle(pair)
        for one in pair:
            body[at].append(one)
        if random.random() < 0.2:
            random.shuffle(body[at])
        if random.random() < 0.05:
            body[at].append(random.choice([put, get]))
    grid = f"{rows}, {columns}"
    lines += ["", f"    @df.kernel(mapping=[{grid}], args=[B])", f"    def task(y: int32[{grid}]):"]
    lines += ["        i, j = df.get_pid()", "        t: int32 = 0"]
    for place, statements in enumerate(body):
        if random.random() < 0.3 and place != 1 and statements:
            lines.append("        for _m in range(2):")
            lines += ["            " + line for line in statements]
        elif place == 1 and statements:
            lines.append(f"        for _k in range({rounds}):")
            lines += ["            " + line for line in statements]
        else:
            lines += ["        " + line for line in statements]
    return HEAD + "\n".join([*lines, "        y[i, j] = t"]) + "\n"


def region_of(seed: int, folder: Path) -> Callable[..., Any]:
    return loaded(text_of(seed), folder / f"grid_{seed}.py", "grid")
