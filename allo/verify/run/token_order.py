"""Streams whose elements come in another order: which one, and the first such element."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from mlir import ir

from ...ir.access import accessed, base_of, is_put, stored
from ...ir.arrays import form_dtype
from ...ir.builder import Builder, index_type
from ...ir.context import context, unknown_location
from ...ir.mlir_types import scalar_from_mlir
from ...ir.module import Module
from ...ir.types import Struct
from ...ir.walk import argument_names, entry_block, operations, string_of
from ..deadline import Deadline
from ..program.flatten import write_signature
from ..program.programs import Program
from .inputs import Values
from .runner import Failed, Runner

_TRACED = 4096  # the first elements of a stream

type _Traces = dict[str, list[Any]]


def other_order(one: Program, other: Program, values: Values, runner: Runner, deadline: Deadline) -> str:
    """The stream into which `other` puts the elements that `one` puts, in another order; empty if there is none.

    Streams correspond by their names. The programs are run on `values`, in which elements should differ.
    """
    first = _traces(one, values, runner, deadline)
    second = _traces(other, values, runner, deadline) if first else {}
    for name, tokens in first.items():
        others = second.get(name, [])
        if tokens == others or Counter(tokens) != Counter(others) or len(set(tokens)) < 2:
            continue
        place = next(k for k, (left, right) in enumerate(zip(tokens, others, strict=True)) if left != right)
        return (
            f"order of the elements of stream '{name}': the first program puts {tokens[place]} as element {place}, "
            f"and the second one puts it as element {others.index(tokens[place])}"
        )
    return ""


def _traces(program: Program, values: Values, runner: Runner, deadline: Deadline) -> _Traces:
    """For each stream the first elements that are put into it."""
    module, streams = _traced(program.module)
    if not streams:
        return {}
    arrays = [np.zeros(_TRACED, form_dtype(scalar_from_mlir(kind))) for _, kind in streams]
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    counts = np.zeros(len(streams), np.int64)
    ran = runner.run(runner.prepare(module), (*copies, *arrays, counts), deadline.left, deadline)
    if isinstance(ran, Failed):
        return {}
    *found, numbers = ran.arguments[len(values) :]
    return {
        name: [value.item() for value in array[: min(int(count), _TRACED)]]
        for (name, _), array, count in zip(streams, found, numbers, strict=True)
    }


def _traced(given: Module) -> tuple[Module, list[tuple[str, ir.Type]]]:
    """A copy that also stores the elements put into each stream, with the names of the streams and their types."""
    module = given.clone()
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    names, location = argument_names(function), function.operation.location
    puts = [op for op in operations(entry) if is_put(op) and _is_scalar(stored(op).type)]
    streams = list(dict.fromkeys(base_of(accessed(op)) for op in puts))
    kinds = [next(stored(op).type for op in puts if base_of(accessed(op)) == stream) for stream in streams]
    traces = [entry.add_argument(_memref(_TRACED, kind), location) for kind in kinds]
    counts = entry.add_argument(_memref(max(1, len(streams)), _int64()), location)
    for op in puts:
        position = streams.index(base_of(accessed(op)))
        _record(op, traces[position], counts, position)
    made = [f"trace{k}" for k in range(len(streams))]
    write_signature(function, [*names, *made, "counts"])
    module.verify()
    return module, [(_name(stream), kind) for stream, kind in zip(streams, kinds, strict=True)]


def _record(op: ir.Operation, trace: ir.Value, counts: ir.Value, position: int) -> None:
    builder = Builder.before(op)
    place = builder.constant(index_type(), position)
    count = builder.load(counts, [place])
    next_count = builder.value("arith.addi", _int64(), [count, builder.constant(_int64(), 1)])
    builder.store(next_count, counts, [place])
    last = builder.constant(_int64(), _TRACED - 1)
    kept = builder.value("arith.minsi", _int64(), [count, last])
    at = builder.value("arith.index_cast", index_type(), [kept])
    builder.store(stored(op), trace, [at])


def _is_scalar(kind: ir.Type) -> bool:
    return not isinstance(kind, ir.MemRefType) and not isinstance(scalar_from_mlir(kind), Struct)


def _int64() -> ir.Type:
    return ir.IntegerType.get_signless(64, context())


def _memref(extent: int, element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get([extent], element, loc=unknown_location())


def _name(stream: ir.Value) -> str:
    if isinstance(stream.owner, ir.Block):
        return "an argument"
    return string_of(stream.owner.operation, "allo.name") or "unnamed"
