"""What the tests of the dialect share: a context per test, and the diagnostics of a module."""

from collections.abc import Iterator

import pytest
from mlir import ir

from allo import _mlir


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with ir.Context() as made, ir.Location.unknown():
        _mlir.load(made)
        yield made
