"""Random graphs of tasks: types, simulator and reference agree on what hangs, and on all results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import allo
import allo.dataflow as df
from allo.errors import DataflowError
from tests.seeds import sweep

from .random_graphs import N, region_of, text_of


def told(error: DataflowError) -> tuple[str, list[str]]:
    """What an error says, without places; the depths that do in any order."""
    text = str(error)
    return text.splitlines()[0].split(": ", 1)[1], sorted(re.findall(r"\d+ for '\w+'", text))


@sweep(300, quick=10)
def test_graph(seed: int, tmp_path: Path) -> None:
    graph = region_of(seed, tmp_path)
    outputs = text_of(seed).count("def t")
    given = [np.arange(1, N + 1, dtype=np.int32), *(np.zeros(N, np.int32) for _ in range(outputs))]
    wanted, seen = ([array.copy() for array in given] for _ in range(2))
    hangs: DataflowError | None = None
    try:
        allo.interpret(graph)(*wanted)
    except DataflowError as error:
        hangs = error
    try:
        built = df.customize(graph).build()
    except DataflowError:  # no depth is enough
        assert hangs is not None and ("no depth is enough" in str(hangs) or "is empty" in str(hangs))
        return
    try:
        built(*seen)
    except DataflowError as error:
        assert hangs is not None and told(error) == told(hangs)
        return
    assert hangs is None
    for one, other in zip(seen, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
