"""Hardware ports of arguments and results: name, kind, words, bank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

from mlir import ir

from ....errors import Location, TargetError, nearest
from ....ir.effects import Effects
from ....ir.mlir_types import from_mlir
from ....ir.module import Module
from ....ir.partitions import divisions_of
from ....ir.streams import is_stream_type
from ....ir.types import AlloType, Bool, Float, Index, Int, TensorType, UInt
from ....ir.walk import argument_names, buffer_location, entry_block, location_of, string_of
from ....ir.words import container_bits
from ....layout import Banks
from ....poly import overwritten_arguments
from ..text.memory import bound_memory
from ..text.names import identifier
from ..text.vendor import BoundMemory
from .settings import Settings
from .stream_ports import Passed, passed_elements

CHANNEL = "allo.x_channel"  # the attribute of an argument that `place_arguments` has placed
_AXI_BITS = 1024
_REGISTER_BITS = 64


@dataclass(frozen=True, slots=True)
class Port:
    """An argument or a result at the boundary of the hardware.

    One with a `bundle` is an address of memory (`m_axi`), one without is a number in a register (`s_axilite`) or a
    stream (`axis`). Memory
    holds `count` elements of `bits` bits each, as NumPy has them (allo/ir/words.py); one word of the port is `lanes`
    of them. An array `in_place` stays in memory, others are copied to arrays on chip. `label` is the name in Python,
    `name` that in C++.
    """

    label: str
    name: str
    element: AlloType
    shape: tuple[int, ...] | None  # None for a number
    kind: ir.Type
    storage: ir.DictAttr | ir.OpAttributeMap | None
    reads: bool
    writes: bool
    is_result: bool
    bits: int
    is_stream: bool = False  # of `count` elements in each call
    lanes: int = 1
    bundle: str = ""
    bank: str = ""
    in_place: bool = False

    @property
    def count(self) -> int:
        return prod(self.shape or ())

    @property
    def words(self) -> int:
        return self.count // self.lanes

    @property
    def word_bits(self) -> int:
        return self.lanes * self.bits

    @property
    def size(self) -> int:
        """In bytes."""
        return self.count * self.bits // 8

    @property
    def is_array(self) -> bool:
        return bool(self.shape)

    @property
    def memory(self) -> BoundMemory | None:
        """What the user has bound the array to."""
        return bound_memory(self.storage) if self.storage is not None else None

    @property
    def is_rom(self) -> bool:
        """Whether the user has bound the array to a memory that is only read."""
        return self.memory is not None and self.memory.kind.startswith("rom")

    @property
    def is_direct(self) -> bool:
        """Whether a word of the port is an element as C++ has it."""
        if self.lanes > 1:
            return False
        if isinstance(self.element, Int | UInt | Bool):
            return self.bits <= _REGISTER_BITS
        wide = self.bits > 16 or bool(self.bundle)  # programs on the host have no half
        return isinstance(self.element, Float) and not self.element.brain and wide


def ports_of(
    module: Module, taken: Iterable[str], settings: Settings, *, streams: bool = False
) -> tuple[Port, ...]:
    """The ports of the entry, arguments and then results, with names that are not `taken`; `streams` may be ports.

    Settings may call result number n `output_n`. Raises TargetError for what cannot be a port, and for settings that
    name none.
    """
    found = _with_names(_ports(module, streams), set(taken))
    settings = _with_results_named(settings, found)
    for name in ("hbm_mapping", "bundles", "in_place"):
        _check_names(name, getattr(settings, name), found)
    ports = [
        _kept_in_memory(port)
        if port.label in settings.in_place or not (settings.copies or _why_copied(port))
        else _with_lanes(port, settings.word_bits)
        for port in found
    ]
    hbm_mapping, bundles = settings.hbm_mapping, settings.bundles
    placed = []
    number = 0
    for port in ports:
        if port.bundle:
            bundle = bundles.get(port.label)
            if bundle is None:
                while f"gmem{number}" in bundles.values():
                    number += 1
                bundle, number = f"gmem{number}", number + 1
            port = replace(port, bundle=bundle, bank=hbm_mapping.get(port.label) or _channel(port, settings))
        placed.append(port)
    return tuple(placed)


def _channel(port: Port, settings: Settings) -> str:
    """The bank of memory that a step has given an argument. Raises TargetError for one that the device has not."""
    if port.storage is None or CHANNEL not in port.storage:
        return ""
    channel: str = ir.StringAttr(port.storage[CHANNEL]).value
    if channel and settings.device.banks is not None and settings.device.family == "alveo":
        kind, _, numbers = channel.rstrip("]").partition("[")
        if int(numbers.split(":")[-1]) >= settings.device.banks.get(kind, 0):
            raise TargetError(
                f"argument '{port.label}' was placed in {channel}, which device '{settings.device.name}' has not",
                hint="place_arguments() for this device, or give configs['hbm_mapping']",
            )
    return channel


def _ports(module: Module, streams: bool) -> list[Port]:
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    attributes = function.operation.attributes
    given = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    written = Effects(module).written_arguments(module.top)
    overwritten = overwritten_arguments(module, module.top)
    ports = []
    for n, (label, value) in enumerate(zip(argument_names(function), entry.arguments, strict=True)):
        marks = ir.DictAttr(given[n]) if given else None
        what = f"argument '{label}' of '{module.top}'"
        if streams and is_stream_type(value.type) and not isinstance(value.type, ir.MemRefType):
            ports.append(_stream(label, value.type, passed_elements(module, label, value)))
            continue
        port = _port(what, buffer_location(value), label, value.type)
        ports.append(replace(port, storage=marks, writes=n in written, reads=n not in overwritten))
    returned = [view.operation for view in entry.operations][-1]
    at = location_of(function.operation)
    for n, value in enumerate(returned.operands):
        label = _result_label(value, n, len(returned.operands), {port.label for port in ports})
        port = _port(f"result '{label}' of '{module.top}'", at, label, value.type)
        bundle = port.bundle or "memory"  # a register that hardware writes is out of the host's reach
        marks = None if isinstance(value.owner, ir.Block) else value.owner.operation.attributes
        ports.append(replace(port, storage=marks, bundle=bundle, reads=False, writes=True, is_result=True))
    return ports


def _port(what: str, at: Location | None, label: str, kind: ir.Type) -> Port:
    """The port of a value, without lanes and banks."""
    memref = ir.MemRefType(kind) if isinstance(kind, ir.MemRefType) else None
    if is_stream_type(kind) or (memref is not None and is_stream_type(memref.element_type)):
        raise TargetError(
            f"{what} is a stream, and a project connects its kernel to memory",
            at=at, hint="build a kernel that makes the stream itself and calls this one with it",
        )  # fmt: skip
    type_ = from_mlir(kind)
    element = type_.element if isinstance(type_, TensorType) else type_
    bits = container_bits(element)
    element = Int(bits) if isinstance(element, Index) else element  # that is what it is in memory
    if bits > _AXI_BITS:
        raise TargetError(
            f"{what} has elements of {element.bits} bits, which take {bits} in memory; "
            f"a port of AXI has at most {_AXI_BITS}",
            at=at, hint="use two arrays, or fewer fields",
        )  # fmt: skip
    shape = type_.shape if isinstance(type_, TensorType) else None
    in_memory = shape is not None or bits > _REGISTER_BITS
    return Port(label, "", element, shape, kind, None, True, False, False, bits, bundle="memory" * in_memory)


def _stream(label: str, kind: ir.Type, passed: Passed) -> Port:
    puts, shape, bits = passed.is_written, (passed.count,), container_bits(passed.element)
    return Port(label, "", passed.element, shape, kind, None, not puts, puts, False, bits, is_stream=True)


def _result_label(value: ir.Value, position: int, count: int, labels: set[str]) -> str:
    """The name of the array that is returned if it is the kernel's own, else `result`."""
    own = None
    if not isinstance(value.owner, ir.Block) and isinstance(value.type, ir.MemRefType) and value.type.shape:
        own = string_of(value.owner.operation, "allo.name")
    label = own or (f"result{position}" if count > 1 else "result")
    while label in labels:
        label += "_out"
    return label


def named_as(parameters: tuple[str, ...], ports: tuple[Port, ...]) -> tuple[Port, ...]:
    """The ports with the names of the parameters of an entry; a number that it returns has none."""
    names = (*parameters, *(port.name for port in ports[len(parameters) :]))
    return tuple(replace(port, name=name) for port, name in zip(ports, names, strict=True))


def _with_results_named(settings: Settings, ports: Sequence[Port]) -> Settings:
    """The settings in which results have the names of their arrays instead of `output_0`, `output_1`, ..."""
    labels = {port.label for port in ports}
    results = [port.label for port in ports if port.is_result]
    names = {f"output_{n}": label for n, label in enumerate(results) if f"output_{n}" not in labels}
    return replace(
        settings,
        hbm_mapping={names.get(name, name): bank for name, bank in settings.hbm_mapping.items()},
        bundles={names.get(name, name): bundle for name, bundle in settings.bundles.items()},
        in_place=tuple(names.get(name, name) for name in settings.in_place),
    )


def _with_names(ports: list[Port], taken: set[str]) -> list[Port]:
    return [replace(port, name=identifier(port.label, taken)) for port in ports]


def _with_lanes(port: Port, word_bits: int) -> Port:
    """As many neighbours in a word as the array on chip takes in one cycle: those of different banks."""
    if not port.is_array or not port.bundle:
        return port
    assert port.shape
    lanes = Banks.read(divisions_of(port.kind))[-1].neighbours(port.shape[-1])
    return replace(port, lanes=max(1, min(lanes, word_bits // port.bits)))


def _why_copied(port: Port) -> str:
    """Why the kernel cannot read and write the array in memory; empty if it can."""
    element = port.element
    if not port.is_array:
        return "it is a number"
    if any(kind != "none" for kind, _ in divisions_of(port.kind)):
        return "it is partitioned, and memory has no banks"
    if not port.is_direct or isinstance(element, Bool) or element.bits != port.bits:
        return f"elements {element!r} lie in memory otherwise than in the kernel"
    return ""


def _kept_in_memory(port: Port) -> Port:
    """The port of an array that the kernel itself reads and writes."""
    if why := _why_copied(port):
        raise TargetError(
            f"configs['in_place'] names '{port.label}', which has to be copied to the chip: {why}",
            hint="take the entry out",
        )
    return replace(port, in_place=True)


def _check_names(setting: str, given: Iterable[str], ports: Iterable[Port]) -> None:
    memory = [port.label for port in ports if port.bundle]
    others = {port.label: port.is_stream for port in ports if not port.bundle}
    for name in given:
        if name in others:
            kind = "a stream" if others[name] else "a number and goes through a register"
            raise TargetError(
                f"configs['{setting}'] names '{name}', which is {kind}",
                hint="only arrays and results are in memory; take the entry out",
            )
        if name not in memory:
            listed = f"those in memory: {', '.join(memory) or 'none'}"
            near = nearest(name, memory)
            raise TargetError(
                f"configs['{setting}'] names '{name}', which is no argument or result of the kernel",
                hint=f"{near} {listed}" if near else listed,
            )
