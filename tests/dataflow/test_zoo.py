"""What is said about each wrong design of tasks: one file a design, the whole message beside it."""

from __future__ import annotations

import importlib.util
import inspect
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.errors import AlloError, DataflowError

ZOO = sorted((Path(__file__).parent / "zoo").glob("*.py"))
MESSAGES = {path: path.with_suffix(".txt").read_text() for path in ZOO}


@cache
def design(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def provoke(path: Path) -> None:
    """What the message is about: `provoke()` of the design, else its schedule."""
    module = design(path)
    module.provoke() if hasattr(module, "provoke") else df.customize(module.kernel)


def said(path: Path) -> str:
    with pytest.raises(AlloError) as caught:
        provoke(path)
    return str(caught.value).replace(f"{path.parent}/", "") + "\n"


@pytest.mark.parametrize("path", ZOO, ids=lambda path: path.stem)
def test_message(path: Path) -> None:
    assert said(path) == MESSAGES[path]


def test_the_zoo_is_large() -> None:
    assert len(ZOO) >= 40


def about(*words: str) -> list[Path]:
    """The designs whose messages begin with one of some words, whatever the data are."""
    own = {path: message.splitlines()[0] for path, message in MESSAGES.items() if "provoke" not in path.read_text()}
    return [path for path, head in own.items() if any(w in head for w in words) and "whatever" not in head]


def arguments(kernel: Any) -> list[Any]:
    """Ones for the arguments of a design, which decide nothing where the types refuse."""
    shapes = [parameter.annotation for parameter in inspect.signature(kernel).parameters.values()]
    return [np.ones(kind.shape, np.int32) for kind in shapes]


@pytest.mark.parametrize("path", about("is empty, and nothing"), ids=lambda path: path.stem)
def test_the_reference_waits_for_ever_too(path: Path) -> None:
    kernel = design(path).kernel
    with pytest.raises(DataflowError, match=r"is empty|no depth is enough"):
        allo.interpret(kernel)(*arguments(kernel))


LEFT = [path for path in about("is put into stream", "are put into stream") if "million" not in path.stem]


@pytest.mark.parametrize("path", LEFT, ids=lambda path: path.stem)  # the reference takes its time for millions
def test_the_reference_tells_what_is_left_too(path: Path) -> None:
    kernel = design(path).kernel
    with pytest.raises(DataflowError, match=r"is full|put into stream .* taken out of it"):
        allo.interpret(kernel)(*arguments(kernel))
