"""`allo.interpret`: a kernel as a function on NumPy arrays that computes what the language says it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.recursion import reads_programs
from ...ir.types import TensorType
from ..program import checked_program
from ..typing.nodes import CheckedFunction, Return
from ..typing.tables import rule_set
from ..typing.writes import writes
from .boundary import argument, bound, bring_back, overlapping, result
from .expressions import Elements
from .processes import Scheduler
from .statements import ProgramCode, Watch, ended
from .values import NoValue


def interpret(
    kernel: Callable[..., Any],
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    typing_rule_set: str = "default",
) -> Callable[..., Any]:
    """`kernel` as a Python function that takes and gives what the built kernel does, and computes the same bits.

    It is the reference of the language: integers of every width, fixed point and structs are exact, each operation on
    floats is rounded once to its type, elementary functions are those of the C library. It is made of the checked
    kernel, without MLIR and machine code, for small sizes: about 100,000 iterations of a small loop a second. Stateful
    variables keep their values from call to call, external kernels run as they are. A template needs `instantiate`,
    as in `customize`.

    Raises KernelError with all mistakes of the kernel. A call raises CheckError, with the line of the kernel, at a
    subscript outside of its array, a bit that a number does not have, and a value that was never given.
    """
    top = checked_program(kernel, instantiate, rule_set(typing_rule_set)).top
    return interpreted(top)


@reads_programs
def interpreted(top: CheckedFunction, watch: Watch | None = None) -> Callable[..., Any]:
    """A checked kernel as a function; `watch` sees what it does."""
    program = ProgramCode(watch)
    code = program.function(top)
    last = top.body[-1] if top.body else None
    leaves = top.source.location(last.at) if isinstance(last, Return) else None

    @reads_programs
    def call(*given: Any, **named: Any) -> Any:
        values = bound(top, given, named)
        shared = overlapping(top, values)
        if shared is not None:
            first, second = shared
            raise ValueError(
                f"arguments '{first}' and '{second}' share memory, and the kernel writes one of them"
            )
        arguments = [argument(top, p, value) for p, value in zip(top.params, values, strict=True)]
        with np.errstate(all="ignore"):
            try:
                program.scheduler = Scheduler()
                results = program.scheduler.run(lambda: code.run(arguments))
            except NoValue as error:
                raise ended(error) from None
        for parameter, value, made in zip(top.params, values, arguments, strict=True):
            if isinstance(made, Elements) and writes(top, parameter):
                assert isinstance(parameter.type, TensorType)
                bring_back(parameter.type, made, value)
        found = [result(t, value, leaves) for t, value in zip(top.results, results, strict=True)]
        return tuple(found) if len(found) > 1 else found[0] if found else None

    call.__name__ = call.__qualname__ = top.name
    return call
