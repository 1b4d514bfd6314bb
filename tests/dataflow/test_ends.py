"""Ends of streams in arrays: which positions and tasks meet at one, for subscripts of all kinds."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import allo.dataflow as df
from allo.errors import DataflowError

P = 4
NUMBERS = count()
HEAD = """import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def region(A: int32[4]):
    s: Stream[int32, 8][{streams}]

    @df.task(mapping=[4], args=[A])
    def source(A: int32[4]):
        p = df.get_pid()
{body}

    @df.task(mapping=[{streams}])
    def sink():
        q = df.get_pid()
        for i in range({each}):
            s[q].get()
"""


def region(folder: Path, streams: int, each: str, *body: str) -> Callable[..., Any]:
    """Four positions that put into streams, from each of which so many elements are taken."""
    path = folder / f"region_{next(NUMBERS)}.py"
    path.write_text(HEAD.format(streams=streams, each=each, body="\n".join(f"        {line}" for line in body)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.region  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("streams", "each", "body"),
    [
        (4, "1", ["s[(p + 1) % 4].put(p)"]),
        (4, "1", ["s[(3 * p + 2) % 4].put(p)"]),
        (8, "1", ["for k in range(2):", "    s[2 * p + k].put(k)"]),
        (8, "1", ["for k in range(2):", "    s[p + 4 * k].put(k)"]),
        (4, "1", ["for k in range(4):", "    if k == 3 - p:", "        s[k].put(k)"]),
        (4, "3", ["for k in range(12):", "    if k % 4 == p:", "        s[k % 4].put(k)"]),
        (8, "1", ["for k in range(p, 8, 4):", "    s[k].put(k)"]),
        (2, "2", ["with allo.meta_if(p in {0, 3}):", "    s[p // 2].put(p)", "    s[p // 2].put(p)"]),
        (3, "1", ["with allo.meta_if(p > 0):", "    s[p - 1].put(p)"]),
    ],
)  # fmt: skip
def test_each_stream_has_one_position(tmp_path: Path, streams: int, each: str, body: list[str]) -> None:
    df.customize(region(tmp_path, streams, each, *body))


@pytest.mark.parametrize(
    ("streams", "body", "who", "element"),
    [
        (2, ["s[p % 2].put(p)"], (0, 2), 0),
        (2, ["s[p // 2].put(p)"], (0, 1), 0),
        (4, ["s[(2 * p) % 4].put(p)"], (0, 2), 0),
        (10, ["for k in range(3):", "    s[2 * p + k].put(k)"], (0, 1), 2),
        (8, ["for k in range(p, 8, 3):", "    s[k].put(k)"], (0, 3), 3),
        (4, ["for k in range(4):", "    if k >= p:", "        s[k].put(k)"], (0, 1), 1),
        (4, ["s[p].put(p)", "with allo.meta_if(p == 3):", "    s[1].put(p)"], (3, 1), 1),
        (4, ["s[(p * p) % 4].put(p)"], (0, 2), 0),
    ],
)  # fmt: skip
def test_positions_that_meet_are_named(
    tmp_path: Path, streams: int, body: list[str], who: tuple[int, int], element: int
) -> None:
    with pytest.raises(DataflowError) as caught:
        df.customize(region(tmp_path, streams, "1", *body))
    message = str(caught.value).splitlines()[0]
    assert f"stream 's[{element}]' has two tasks at one end" in message
    assert all(f"position [{position}] of task 'source' puts into it" in message or
               f"so does position [{position}] of task 'source'" in message for position in who)  # fmt: skip


@pytest.mark.parametrize(("subscript", "position", "place"), [("p + 1", 3, 4), ("p - 1", 0, -1), ("2 * p", 2, 4)])
def test_a_stream_that_is_not_there(tmp_path: Path, subscript: str, position: int, place: int) -> None:
    with pytest.raises(DataflowError) as caught:
        df.customize(region(tmp_path, 4, "1", f"s[{subscript}].put(p)"))
    where = f"position [{position}] of task 'source' puts into 's[{place}]'"
    assert f"{where}, which is not there: 's' has 4 streams" in str(caught.value)
