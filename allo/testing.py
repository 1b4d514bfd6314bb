"""Assertions for the tests of users: that programs are equivalent."""

from __future__ import annotations

from typing import Any

from .equivalence import verify
from .errors import VerificationError
from .verify import Result, Subject

__all__ = ["assert_equivalent"]


def assert_equivalent(a: Subject, b: Subject, **options: Any) -> Result:
    """The answer of `allo.verify(a, b, **options)` if it is Equivalent.

    Raises VerificationError with the text of the answer, which has the counterexample, if it is Different or Unknown.
    """
    __tracebackhide__ = True
    result = verify(a, b, **options)
    if not result:
        raise VerificationError(str(result))
    return result
