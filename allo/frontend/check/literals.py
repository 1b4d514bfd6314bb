"""Note on literals that are written as bits of a signed type, whose highest bit makes them negative."""

from __future__ import annotations

import linecache
import warnings

from ...errors import Diagnostic, KernelNote
from ...ir.types import AlloType, Int, wrap
from ..typing.convert import convert
from ..typing.nodes import Const, Expr
from ..typing.scope import Scope

_PREFIXES = (b"0x", b"0b", b"0o")


def stored(scope: Scope, value: Expr, target: AlloType) -> Expr:
    """`value` as an assignment converts it; `0xABCD0123` is negative in an `int32`, which a warning says."""
    if isinstance(value, Const) and isinstance(target, Int) and (text := _pattern(scope, value, target.width)):
        location = scope.source.location(value.at)
        told = Diagnostic(
            f"`{text}` is {value.value}, which {target!r} holds as {wrap(int(value.value), target)}",
            location,
            f"declare it uint{target.width}, or write the negative number",
        )
        warnings.warn_explicit(told.render(), KernelNote, location.file, location.line)
    return convert(value, target)


def _pattern(scope: Scope, value: Const, width: int) -> str:
    """The literal as it is written, if its digits are bits of which the highest one is that of the sign."""
    if not value.literal or type(value.value) is not int or value.value >> (width - 1) != 1:
        return ""
    line, start, end = value.at
    text = linecache.getline(scope.source.file, line).encode()[start:end]
    return text.decode() if text[:2].lower() in _PREFIXES and text.isalnum() else ""
