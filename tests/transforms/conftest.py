"""What the tests of the passes share: a context per test."""

from collections.abc import Iterator

import pytest
from mlir import ir

from allo import _mlir


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with ir.Context() as made, ir.Location.unknown():
        _mlir.load(made)
        yield made
