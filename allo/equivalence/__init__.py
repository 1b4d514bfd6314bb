"""`allo.verify`: the methods of the verifier, with the CPU to run what they suspect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..backend.aie import AIEModule
from ..errors import VerificationError
from ..ir.recursion import reads_programs
from ..messages import working
from ..verify import Deadline, MappedProgram, Result, Subject, check, load
from .runner import shared_runner

__all__ = ["verify"]


@reads_programs
def verify(
    a: Subject | AIEModule | MappedProgram,
    b: Subject | AIEModule | MappedProgram,
    *,
    reassociate: bool = False,
    timeout: float = 60.0,
    method: str = "auto",
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
) -> Result:
    """Whether `a` and `b` compute the same: `Equivalent`, `Different` or `Unknown`; only the first is true.

    Each is a schedule, a kernel (`instantiate` gives the parameters of a template), a module, the text or file of one,
    a program that was built for an array of processors (the model of the array with it), or a plan of `allo.map`, for
    which all of its transfers are simulated too (`plan.verify`). Their arguments and results correspond by position; an
    array that a step reshaped or packed corresponds by its elements. Integers wrap and floats are equal bit for bit
    (all NaN are one); with `reassociate=True` sums and products of floats may have their terms in any order. The answer
    comes within about `timeout` seconds.

    `method` is `"auto"` for all in turn: `"affine"`, a proof for any size of loops by value-based dataflow
    (Verdoolaege, Janssens, Bruynooghe, TOPLAS 2012); `"concrete"`, computation graphs of these sizes (Allo, section
    5.2); `"differential"`, which only runs both and never answers Equivalent. A `Different` was confirmed by running
    both. docs/verification.md says what each guarantees. Programs whose arguments or results do not match are
    Different. Raises VerificationError if `timeout` is no number of seconds.
    """
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not is_number or not timeout >= 0:  # a comparison with NaN does not hold
        raise VerificationError(f"timeout must be a number of seconds, 0 or more, got {timeout!r}")
    for plan, kernel in ((a, b), (b, a)):
        if isinstance(plan, MappedProgram) and instantiate is None and kernel is plan.kernel:
            return plan.verify()
    deadline = Deadline.after(timeout)
    first = load(_model(a), instantiate=instantiate)
    second = load(_model(b), instantiate=instantiate, like=first)
    with working(f"verifying '{second.name}' against '{first.name}'"):
        found = check(first, second, shared_runner(), reassociate=reassociate, deadline=deadline, method=method)
    for given in (a, b):
        if isinstance(given, MappedProgram):
            found = given.joined(found, first=given is a)
    return found


def _model(given: Subject | AIEModule | MappedProgram) -> Subject:
    if isinstance(given, MappedProgram):
        return given.source
    return given.comparable if isinstance(given, AIEModule) else given
