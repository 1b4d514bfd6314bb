"""`allo.interpret`: what a kernel means, with processes that take turns as in the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .errors import KernelError
from .frontend.program import checked_program, compile_kernel
from .frontend.reference.interpret import interpreted
from .frontend.typing.tables import rule_set
from .poly.apart import Apart, apart_processes


def interpret(
    kernel: Callable[..., Any],
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    typing_rule_set: str = "default",
    subnormals: str = "keep",
) -> Callable[..., Any]:
    """`kernel` as a Python function that takes and gives what the built kernel does, and computes the same bits.

    It is the reference of the language: integers of every width, fixed point and structs are exact, each operation on
    floats is rounded once to its type, elementary functions have the bits that all builds give. It is made of the
    checked kernel, without MLIR and machine code, for small sizes: about 100,000 iterations of a small loop a second.
    Which tasks that share an array run at the same time is asked of the module, as for machine code. Stateful
    variables keep their values from call to call, external kernels run as they are. A template needs `instantiate`, as
    in `customize`. With `subnormals="flush"` arithmetic, roots, elementary functions and conversions between floats
    take and make zeros in the place of subnormal numbers, as builds with this option do.

    Raises KernelError with all mistakes of the kernel. A call raises CheckError, with the line of the kernel, at a
    subscript outside of its array, a bit that a number does not have, and a value that was never given.
    """
    if subnormals not in ("keep", "flush"):
        raise KernelError(f'subnormals must be "keep" or "flush", got {subnormals!r}')
    rules = rule_set(typing_rule_set)
    top = checked_program(kernel, instantiate, rules).top

    @cache
    def known() -> Mapping[str, Apart]:
        return apart_processes(compile_kernel(kernel, instantiate, rules).emitted())

    return interpreted(top, apart=lambda function: known().get(function, {}), flush=subnormals == "flush")
