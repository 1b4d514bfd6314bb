"""What is said about each mistake in a kernel: one file a mistake, the whole message beside it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import allo
from allo.errors import KernelError
from allo.frontend.library.call import OperatorCall
from allo.frontend.typing.convert import NotExpressible
from allo.frontend.typing.scope import Scope

CASES = Path(__file__).parent / "cases"
FRONTEND = Path(allo.__file__).parent / "frontend"
REPORTERS = {"error", "error_at", "KernelError", "NotExpressible"}
# every two types that kernels have today can be compared; defaults of type parameters need Python 3.13; what
# `instantiate` must be is no mistake of a kernel (tests/frontend/test_templates.py), nor is what only a run shows
# (tests/dataflow), nor what is asked of a model that was imported (tests/importers)
NOT_YET_REACHED = (
    "have no common type", "the default of", "is not defined for {lhs.type!r} and {rhs.type!r}')",
    "instantiate is a list", "{kernel.__name__}' is no template", "_hang(", "EndOfTwo(", "AllLeftOver(",
)  # fmt: skip


@cache
def reported(path: Path) -> tuple[str, frozenset[tuple[str, int]]]:
    """The whole text of the error of the kernel in `path`, with file names in place of paths, and who reported it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    reached: set[tuple[str, int]] = set()

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def report(*args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            reached.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
            return original(*args, **kwargs)

        return report

    owners = (KernelError, "__init__"), (NotExpressible, "__init__")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KernelError) as caught:
        for owner, name in ((Scope, "error"), (Scope, "error_at"), (OperatorCall, "error"), *owners):
            patch.setattr(owner, name, watched(getattr(owner, name)))
        allo.customize(module.kernel)
    return str(caught.value).replace(f"{path.parent}/", "") + "\n", frozenset(reached)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_message(path: Path) -> None:
    assert reported(path)[0] == path.with_suffix(".txt").read_text()


def test_every_message_has_a_mistake_that_shows_it() -> None:
    reached = {line for path in sorted(CASES.glob("*.py")) for line in reported(path)[1]}
    assert [place for place in _message_places() if not any(_within(place, line) for line in reached)] == []


def _message_places() -> list[tuple[str, int, int]]:
    """The calls in the front end that report a mistake: file, first and last line."""
    places = []
    for path in sorted(FRONTEND.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in REPORTERS and not any(text in ast.unparse(node) for text in NOT_YET_REACHED):
                places.append((path.name, node.lineno, node.end_lineno or node.lineno))
    return places


def _within(place: tuple[str, int, int], line: tuple[str, int]) -> bool:
    file, first, last = place
    return file == line[0] and first <= line[1] <= last
