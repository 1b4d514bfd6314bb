"""A checked kernel as a function on NumPy arrays that computes what the language says it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.recursion import reads_programs
from ...ir.types import TensorType
from ..typing.nodes import CheckedFunction, Return
from ..typing.writes import writes
from .boundary import argument, bound, bring_back, overlapping, result
from .expressions import Elements
from .processes import Scheduler
from .statements import ProgramCode, Watch, ended
from .streams import Apart
from .subnormals import FLUSHING, KEEPING
from .values import NoValue


@reads_programs
def interpreted(
    top: CheckedFunction, watch: Watch | None = None, apart: Apart = lambda _: {}, flush: bool = False
) -> Callable[..., Any]:
    """A checked kernel as a function; `watch` sees what it does.

    `apart` tells of processes of a region, by the name of its function, which use other elements of the arrays that
    they share, and so need not wait for one another. `flush`: arithmetic takes and makes zeros in the place of
    subnormal numbers.
    """
    program = ProgramCode(watch, apart, FLUSHING if flush else KEEPING)
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
        program.scheduler.demand_empty_fifos()
        found = [result(t, value, leaves) for t, value in zip(top.results, results, strict=True)]
        return tuple(found) if len(found) > 1 else found[0] if found else None

    call.__name__ = call.__qualname__ = top.name
    return call
