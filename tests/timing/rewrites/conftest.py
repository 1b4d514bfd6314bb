"""What the tests of rewrites share: bodies of rewritten kernels as text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from allo import Schedule
from allo.target import load_target
from allo.timing.rewrites import Prepared, RewriteOptions, prepared


@pytest.fixture
def after() -> Callable[..., Prepared]:
    """A schedule after some rewrites only, with options."""

    def rewritten(s: Schedule, *names: str, **options: object) -> Prepared:
        given = RewriteOptions(**{"target": load_target("u280"), **options})  # type: ignore[arg-type]
        return prepared(s.ir, given, only=[f"allo-{name}" for name in names])

    return rewritten


@pytest.fixture
def told() -> Callable[[Prepared], list[str]]:
    """The records without the name of the function and of the pass."""
    return lambda made: [str(record).partition(": allo-")[2] for record in made.rewrites]
