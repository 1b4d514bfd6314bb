"""Checks of a debug build: the operation of one, its number, and the error when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ...errors import CheckError, InternalError, Location, Note
from ...ir.builder import Builder, i64_attr, index_type, string_attr
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations, string_of

CHECK = "allo.assert"
SITE = "allo.x_site"  # the number of a check
MOST_VALUES = 4
REQUIRE = "allo_sim::require"  # what a check calls in a simulation


class CheckFailed(Exception):
    """The check `site` has failed; `values` are those that its message shows, `task` is where in a dataflow region."""

    def __init__(self, site: int, values: tuple[int, ...]) -> None:
        super().__init__(site, values)
        self.site = site
        self.values = values
        self.task: str | None = None


def require(builder: Builder, holds: ir.Value, message: str, values: Sequence[ir.Value] = ()) -> None:
    """End the call with `message` unless `holds`; `{n}` in it stands for the n-th of the `values`."""
    shown = [_as_index(builder, value) for value in values]
    builder.op(CHECK, (), [holds, *shown], {"message": string_attr(message)})


def _as_index(builder: Builder, value: ir.Value) -> ir.Value:
    if isinstance(value.type, ir.IndexType):
        return value
    return builder.value("arith.index_cast", index_type(), [value])


@dataclass(frozen=True, slots=True)
class Check:
    """What a check says when it fails, and the line that it belongs to."""

    message: str
    at: Location | None
    hint: str | None


class Checks(tuple[Check, ...]):
    """The checks of a module by number."""

    __slots__ = ()

    def error(self, failed: CheckFailed) -> CheckError:
        """What a check says that has failed."""
        check = self[failed.site]
        notes = [] if failed.task is None else [Note(f"in task '{failed.task}'")]
        return CheckError(check.message.format(*failed.values), at=check.at, hint=check.hint, notes=notes)


def checks_of(module: Module) -> Checks:
    """Number the checks of `module`, in place."""
    found: list[Check] = []
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry, CHECK) if entry is not None else ():
            message = string_of(op, "message")
            if message is None:
                raise InternalError("a check says nothing")
            op.attributes[SITE] = i64_attr(len(found))
            text, _, hint = message.partition("\n")
            found.append(Check(text, location_of(op), hint or None))
    return Checks(found)
