"""Off-chip arrays and their cost: bursts that copy arguments, or accesses of the kernel itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ..errors import TargetError, nearest
from ..ir.access import base_of, callee_name
from ..ir.effects import Effects
from ..ir.mlir_types import from_mlir
from ..ir.module import Module
from ..ir.partitions import divisions_of, is_partitioned
from ..ir.streams import is_stream_type
from ..ir.types import TensorType
from ..ir.walk import argument_names, entry_block, operations, statements
from ..ir.words import container_bits
from ..layout import Banks
from ..poly import overwritten_arguments
from ..target import External, Fpga, Target
from .report.result import Burst

DEFAULT_WORD_BITS = 512  # the widest word of a port: what Vitis HLS widens ports to (UG1399, max_widen_bitwidth)


@dataclass(frozen=True, slots=True)
class OffChip:
    """The memories of the arguments of the entry that are not on the chip, and of its results; `in_place` stay there.

    `stays` holds the arrays that functions access beside the chip, by function and position of the argument.
    """

    memories: Mapping[str, External] = field(default_factory=dict)
    results: External | None = None
    in_place: tuple[str, ...] = ()
    word_bits: int = DEFAULT_WORD_BITS
    stays: Mapping[str, Mapping[int, External]] = field(default_factory=dict)


def off_chip(
    module: Module, target: Target, memory: str | Mapping[str, str] | None, in_place: Sequence[str], word_bits: int
) -> OffChip:
    """What the user says of memory; raises TargetError for memories and arguments that do not exist."""
    if memory is None:
        if in_place:
            raise TargetError(
                f"in_place names {', '.join(in_place)}, but without memory= all arrays are on the chip",
                hint=f"say which memory it is in: {_known(target)}",
            )
        return OffChip()
    if word_bits < 8 or word_bits & (word_bits - 1):
        raise TargetError(f"word_bits must be a power of two from 8 on, got {word_bits}")
    function = module.function(module.top)
    entry = entry_block(function)
    arguments = dict(zip(argument_names(function), entry.arguments if entry else (), strict=False))
    arrays = [name for name, value in arguments.items() if _is_array(value)]
    wanted = dict.fromkeys(arrays, memory) if isinstance(memory, str) else dict(memory)
    for what, names in (("memory", wanted), ("in_place", in_place)):
        for name in names:
            if name not in arrays:
                raise TargetError(
                    f"{what} names no array of the entry '{module.top}': '{name}'",
                    hint=nearest(name, arrays) or f"its arrays are {', '.join(arrays) or 'none'}",
                )
    for name in in_place:
        if name not in wanted:
            raise TargetError(f"in_place names '{name}', but memory does not say where it is")
        if is_partitioned(arguments[name].type):
            raise TargetError(
                f"'{name}' cannot stay in memory: it is partitioned, and memory has no banks",
                hint="partition an array on the chip that buffer_at makes",
            )
    memories = {name: _external(target, kind) for name, kind in wanted.items()}
    kept = {n: memories[name] for n, name in enumerate(arguments) if name in in_place}
    results = _external(target, memory) if isinstance(memory, str) else None
    return OffChip(memories, results, tuple(in_place), word_bits, _passed_on(module, kept))


def _known(target: Target) -> str:
    return ", ".join(target.external) or "the target describes none"


def _external(target: Target, kind: str) -> External:
    found = target.external.get(kind)
    if found is None:
        raise TargetError(
            f"target '{target.name}' has no memory '{kind}' beside the chip",
            hint=nearest(kind, sorted(target.external)) or f"it has: {_known(target)}",
        )
    return found


def _is_array(value: ir.Value) -> bool:
    kind = value.type
    return isinstance(kind, ir.MemRefType) and kind.rank > 0 and not is_stream_type(kind)


def _passed_on(module: Module, kept: dict[int, External]) -> dict[str, dict[int, External]]:
    """The arrays that stay in memory, followed through calls."""
    found: dict[str, dict[int, External]] = {}
    waiting = [(module.top, kept)]
    while waiting:
        name, positions = waiting.pop()
        known = found.setdefault(name, {})
        fresh = {n: external for n, external in positions.items() if n not in known}
        entry = entry_block(module.function(name))
        if entry is None or not fresh:
            continue
        known.update(fresh)
        arrays = {entry.arguments[n]: external for n, external in fresh.items()}
        for op in operations(entry):
            if op.name == "func.call":
                given = {n: base_of(value) for n, value in enumerate(op.operands)}
                waiting.append((callee_name(op), {n: arrays[v] for n, v in given.items() if v in arrays}))
    return found


# -- bursts ----------------------------------------------------------------------------------------------


def transfers(module: Module, target: Fpga, found: OffChip) -> tuple[Burst, ...]:
    """The copies between memory and chip, before and after the kernel, one behind the other.

    Words are as wide as neighbours lie in different banks, as the interface that `build` writes (docs/fpga.md).
    """
    function = module.function(module.top)
    entry = entry_block(function)
    if entry is None or (not found.memories and found.results is None):
        return ()
    written = Effects(module).written_arguments(module.top)
    overwritten = overwritten_arguments(module, module.top)
    loads, stores = [], []
    for n, (name, value) in enumerate(zip(argument_names(function), entry.arguments, strict=True)):
        if name not in found.memories or name in found.in_place:
            continue
        external = found.memories[name]
        if n not in overwritten:
            loads.append(_transfer("load", name, value.type, external, target, found.word_bits))
        if n in written:
            stores.append(_transfer("store", name, value.type, external, target, found.word_bits))
    returned = statements(entry)[-1].operands if found.results is not None else ()
    for n, value in enumerate(value for value in returned if _is_array(value)):
        assert found.results is not None
        stores.append(_transfer("store", f"result {n}", value.type, found.results, target, found.word_bits))
    return (*loads, *stores)


def _transfer(
    kind: str, name: str, type_: ir.Type, external: External, target: Fpga, word_bits: int
) -> Burst:
    memref = ir.MemRefType(type_)
    tensor = from_mlir(type_)
    assert isinstance(tensor, TensorType)
    bits = container_bits(tensor.element)
    lanes = max(1, min(_neighbours(memref), word_bits // bits))
    if not memref.has_static_shape:
        return Burst(kind, name, external.name, None, lanes * bits, None)
    words = math.prod(memref.shape) // lanes
    each = external.interval(lanes * bits, target.frequency)
    control = target.control
    cycles = math.ceil((words - 1) * each) + external.latency + 1 + control.pipelined_loop + control.call
    return Burst(kind, name, external.name, words, lanes * bits, cycles)


def _neighbours(memref: ir.MemRefType) -> int:
    """How many neighbours the array on the chip takes in one cycle: a power of two that divides its last extent."""
    return Banks.read(divisions_of(memref))[-1].neighbours(memref.shape[-1]) if memref.has_static_shape else 1
