"""Output arguments: arrays of which each call of a function writes all elements and reads none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir import ir

from ..ir.access import is_load, is_store
from ..ir.module import Module
from ..ir.walk import entry_block
from .extract import model_of
from .linear import Row, variable
from .model import Access, Model, ModelBuffer
from .sources import SeenWrites, writes_seen
from .systems import set_of

_MOST_PIECES = 64  # of writes that cover an array only together; more are taken not to


def overwritten_arguments(module: Module, name: str) -> frozenset[int]:
    """The positions of arguments of a function that are surely overwritten; what is not seen to be is left out."""
    entry = entry_block(module.function(name))
    wanted = [value for value in entry.arguments if _may_be(value)] if entry is not None else []
    if not wanted:
        return frozenset()
    model = model_of(module, name)
    return frozenset(value.arg_number for value in wanted if _is_overwritten(model, value))


def begins_anew(module: Module, name: str, argument: int) -> bool:
    """Whether a function overwrites all of an argument, and reads of it only what it has written itself."""
    entry = entry_block(module.function(name))
    assert entry is not None
    value = entry.arguments[argument]
    users = [use.owner.operation for use in value.uses]
    if not isinstance(value.type, ir.MemRefType) or not value.type.has_static_shape or not any(map(is_store, users)):
        return False
    model = model_of(module, name)
    buffer = model.buffer(value)
    if buffer is None or buffer.is_stream or not all(is_store(op) or is_load(op) for op in users):
        return False
    seen = (writes_seen(model, op) for op in users if is_load(op))
    writes = [access for access in model.accesses if access.op in users and access.is_write and access.exact]
    return _cover_soon(writes, buffer) and all(isinstance(one, SeenWrites) and not one.unwritten for one in seen)


def _may_be(value: ir.Value) -> bool:
    """Whether it is an array of known extents that the function itself stores into and does not load from."""
    users = [use.owner.operation for use in value.uses]
    shaped = isinstance(value.type, ir.MemRefType) and value.type.has_static_shape and value.type.rank > 0
    return bool(shaped and any(map(is_store, users)) and not any(map(is_load, users)))


def _is_overwritten(model: Model, value: ir.Value) -> bool:
    buffer = model.buffer(value)
    if buffer is None or buffer.is_stream:
        return False
    accesses = [access for access in model.accesses if access.buffer.label == buffer.label]
    known = [access.op for access in accesses]
    if not all(access.is_write for access in accesses) or any(use.owner.operation not in known for use in value.uses):
        return False
    return _cover_soon([access for access in accesses if access.exact], buffer)


def _cover_soon(writes: Sequence[Access], buffer: ModelBuffer) -> bool:
    """Whether writes leave no element of an array out, if that is soon seen."""
    if any(_cover([access], buffer) for access in writes):
        return True
    return len(writes) > 1 and sum(len(access.pieces) for access in writes) <= _MOST_PIECES and _cover(writes, buffer)


def _cover(writes: Iterable[Access], buffer: ModelBuffer) -> bool:
    """Whether writes leave no element of an array out, for all parameters."""
    dims = tuple(-1 - d for d in range(len(buffer.shape)))
    inside = [row for d, extent in zip(dims, buffer.shape, strict=True) for row in _within(d, extent or 0)]
    parameters: tuple[int, ...] = ()
    written = []
    for access in writes:
        parameters = tuple(parameter.variable for parameter in access.parameters)
        elements = [Row(variable(d) - form, True) for d, form in zip(dims, access.subscripts, strict=True)]
        written += [[*piece, *access.rows, *elements] for piece in access.pieces]
    return bool(set_of(parameters, dims, [inside]).is_subset(set_of(parameters, dims, written)))


def _within(dimension: int, extent: int) -> tuple[Row, Row]:
    return Row(variable(dimension)), Row(variable(dimension).scaled(-1).plus(extent - 1))
