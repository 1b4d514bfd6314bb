"""What is said about each design whose tasks would meet or wait for ever: one file a design, the message beside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import allo
import allo.dataflow as df
from allo.errors import DataflowError

ZOO = sorted((Path(__file__).parent / "zoo").glob("*.py"))
# what the reference, whose processes run in one order, cannot see
UNSEEN = ("two_", "positions_", "tasks_", "neighbours_", "replicated_")


@cache
def design(path: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def said(path: Path) -> str:
    with pytest.raises(DataflowError) as caught:
        df.customize(design(path))
    return str(caught.value).replace(f"{path.parent}/", "") + "\n"


@pytest.mark.parametrize("path", ZOO, ids=lambda path: path.stem)
def test_message(path: Path) -> None:
    assert said(path) == path.with_suffix(".txt").read_text()


@pytest.mark.parametrize(
    "path", [p for p in ZOO if not p.stem.startswith(UNSEEN)], ids=lambda path: path.stem
)
def test_the_reference_sees_it_too(path: Path) -> None:
    """It waits for ever, too; what is left in a FIFO stops nobody if there is room."""
    run = allo.interpret(design(path))
    if "elements are left" in path.with_suffix(".txt").read_text():
        try:
            run()
        except DataflowError as error:
            assert "is full" in str(error)
        return
    with pytest.raises(DataflowError, match="is empty"):
        run()
