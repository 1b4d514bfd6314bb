"""Elements that pass through a stream among the arguments of an entry, and which way."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....errors import TargetError
from ....ir.mlir_types import scalar_from_mlir
from ....ir.module import Module
from ....ir.types import AlloType, Float, Int, UInt
from ....ir.walk import buffer_location, location_of
from ....poly.token_counts import Uncounted, tokens_of

_HINT = "let constants and loop variables decide where puts and gets run, or let the kernel make the stream itself"
_WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Passed:
    """`count` elements go into the kernel, or come out of it if `is_written`."""

    element: AlloType
    count: int
    is_written: bool


def passed_elements(module: Module, label: str, value: ir.Value) -> Passed:
    """What passes through the stream `value`, called `label`, in one call of the entry.

    Raises TargetError where that is not the same in each call, and for elements that have another form on the host.
    """
    what = f"argument '{label}' of '{module.top}'"
    element = scalar_from_mlir(value.type.element_type)
    number = isinstance(element, Int | UInt) and element.bits in _WIDTHS
    if not (number or (isinstance(element, Float) and not element.brain and element.bits > 16)):
        raise TargetError(
            f"{what} is a stream of {element!r}, and a program on the host puts plain numbers into streams",
            at=buffer_location(value),
            hint="use integers of 8, 16, 32 or 64 bits, float32 or float64",
        )
    found = tokens_of(module, value)
    if isinstance(found, Uncounted):
        raise TargetError(
            f"{what} is a stream, and how many elements pass through it depends on {found.on}",
            at=location_of(found.op),
            hint=_HINT,
        )
    puts, gets = found.puts, found.gets
    if bool(puts) == bool(gets):
        does = "is put into and taken from" if puts else "is not used"
        raise TargetError(
            f"{what} is a stream that {does}; a port goes one way",
            at=buffer_location(value),
            hint="use a stream for each way" if puts else "take the argument out",
        )
    return Passed(element, puts or gets, bool(puts))
