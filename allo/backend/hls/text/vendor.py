"""Differences between vendors of HLS tools: pragmas, arrays, streams, bits, the names of types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import prod
from typing import Protocol

from ....errors import Location, TargetError
from .dialect import AMD_DIALECT, AMD_WORDS, Dialect, Words

type Banks = Sequence[tuple[str, int]]  # for each dimension: none, complete, cyclic or block, with its factor


class Place(Enum):
    """Where the pragmas of a loop stand: in its body, or in front of it, behind or before its label."""

    INSIDE = "inside"
    BEHIND_LABEL = "behind label"
    BEFORE_LABEL = "before label"


@dataclass(frozen=True, slots=True)
class BoundMemory:
    """What the user has bound an array to, in small letters; "auto" is left to the tool: both of them, or the resource.

    `depth` is in elements, of a FIFO or of what an argument or a result points to.
    """

    kind: str
    resource: str
    latency: int | None
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array to declare; `is_argument` says that it comes from outside of the function."""

    name: str
    shape: tuple[int, ...]
    bits: int
    is_argument: bool
    at: Location | None = None


class Arrays(Protocol):
    """How banks and kinds of memory are asked for: in front of a declaration, or in lines behind it."""

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str: ...

    def partition(self, array: Array, banks: Banks) -> list[str]: ...

    def storage(self, array: Array, memory: BoundMemory) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Streams:
    """Patterns of FIFOs. `element`, `name`, `depth` and `extents` are filled in; None is refused.

    Those of what does not wait also get `value`, and `done` or `into`, variables that they set.
    """

    source: str | None  # as an argument that is read
    sink: str | None  # as an argument that is written
    made: str | None
    pragma: str
    empty: str | None
    full: str | None
    port: str = ""  # what an argument of the entry gets
    try_put: str | None = None  # an expression: whether there was room
    try_get: str | None = None  # a statement
    peek: str | None = None  # a statement, which waits
    array: str | None = None  # of several FIFOs, where it is not `made`: with the number of them, subscripts are one

    def argument(self, element: str, name: str, extents: str, *, is_read: bool) -> str | None:
        pattern = self.source if is_read else self.sink
        if pattern is None:
            return None
        reference = f"{name}{extents}" if extents else f"&{name}"
        return pattern.format(element=element, reference=reference)


@dataclass(frozen=True, slots=True)
class Host:
    """How a program on the host calls the entry itself: patterns of an array in memory and of the call.

    The latter gets the `arguments`, or the `rest` behind other ones, with a comma in front of each.
    `block` is the type of the copies that arrays are passed in, "" if they are passed where they lie; `header` is the
    template of `call.h`.
    """

    argument: str = "*reinterpret_cast<{element} (*){extents}>({pointer})"
    call: str = "::{top}({arguments})"
    block: str = ""
    header: str = "project/direct.h"


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor. The names in braces of patterns are filled in; nothing is written for "", None is refused by name."""

    name: str
    pipeline: str
    rewind: str | None
    unroll: str
    unroll_by: str | None
    dataflow: str | None
    inline_off: str
    allocation: str
    arrays: Arrays
    streams: Streams
    place: Place = Place.INSIDE
    words: Words = AMD_WORDS
    dialect: Dialect = AMD_DIALECT
    before_top: str = ""  # a line in front of the entry
    before_task: str = ""  # a line in front of a function of a dataflow graph
    top_prefix: str = ""
    array_port: str = ""  # what an array argument or result of the entry gets if the user says its depth
    tasks_only: bool = False  # a dataflow graph is made of calls, not of loops
    canonical: bool = False  # a dataflow region holds declarations and calls; its arrays have one writer and one reader
    memory_ports: bool = False  # the entry takes ports of memory and starts tasks, nothing else
    host: Host = Host()
    hints: Mapping[str, str] = field(default_factory=dict)
    flushing: str = ""  # behind the pragma of a pipeline that goes on with what is in it while it waits for a FIFO
    most_banks: int = 0  # of an array; 0: as many as it has elements
    simulated: bool = False  # the text is compiled here: processes of dataflow regions take turns
    open_arrays: bool = False  # an argument may be a pointer to as many elements as the program on the host has
    plain_loop: str = ""  # what a loop gets that is neither a pipeline nor unrolled
    templates: bool = False  # functions may be templates over integers, of which a dataflow graph calls instances
    room: int = 1  # elements that each FIFO then holds at least; 0: any number

    def known(self, pattern: str | None, what: str, at: Location | None = None) -> str:
        """The pattern; raises TargetError that names the vendor if it has none."""
        if pattern is None:
            raise TargetError(f"{self.name} has no form of {what}", at=at, hint=self.hints.get(what))
        return pattern

    def partition(self, array: Array, banks: Banks) -> list[str]:
        """What cuts an array into banks; raises TargetError for more of them than the tool makes."""
        factors = (min(f or e, e) if kind != "none" else 1 for e, (kind, f) in zip(array.shape, banks, strict=False))
        count = prod(factors)
        if 0 < self.most_banks < count:
            raise TargetError(
                f"'{array.name}' is cut into {count:,} banks, and {self.name} makes {self.most_banks:,} of an array "
                "at most",
                at=array.at,
                hint="partition it by a smaller factor, or in fewer dimensions; tasks may also hand elements on in "
                "streams",
            )  # fmt: skip
        return self.arrays.partition(array, banks)

    def pipeline_text(
        self, interval: int, rewind: bool, at: Location | None = None, *, uses_streams: bool = False
    ) -> str:
        text = self.pipeline.format(interval=interval) + (self.flushing if uses_streams and not rewind else "")
        return text + (self.known(self.rewind, "pipeline(..., rewind=True)", at) if rewind else "")

    def unroll_text(self, factor: int, at: Location | None = None) -> str:
        if not factor:
            return self.unroll
        return self.known(self.unroll_by, "unroll(..., factor=n)", at).format(factor=factor)


@dataclass(frozen=True, slots=True)
class PragmaArrays:
    """Pragmas on the name of an array."""

    banks: str
    banks_by: str
    kind: str
    implementation: str
    latency: str

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str:
        return ""

    def partition(self, array: Array, banks: Banks) -> list[str]:
        patterns = [(self.banks_by if factor else self.banks, n, kind, factor)
                    for n, (kind, factor) in enumerate(banks, 1) if kind != "none"]  # fmt: skip
        return [p.format(name=array.name, dim=n, kind=kind, factor=factor) for p, n, kind, factor in patterns]

    def storage(self, array: Array, memory: BoundMemory) -> list[str]:
        if memory.kind == "auto":
            return fifo_depth(array, memory)
        text = self.kind.format(name=array.name, kind=memory.kind)
        text += self.implementation.format(resource=memory.resource) if memory.resource != "auto" else ""
        text += self.latency.format(latency=memory.latency) if memory.latency is not None else ""
        return [text, *fifo_depth(array, memory)]


def fifo_depth(array: Array, memory: BoundMemory) -> list[str]:
    """The pragma for the depth of an array that is a FIFO; TargetError for a depth that has no meaning, or is wrong."""
    if memory.depth is None:
        return []
    if memory.kind == "fifo":
        return [f"#pragma HLS stream variable={array.name} depth={memory.depth}"]
    if not array.is_argument:
        raise TargetError(
            f"'{array.name}' is bound with depth={memory.depth}, and has its own extents: a depth is that of a FIFO, "
            "or of what an argument points to",
            at=array.at, hint='leave out the depth, or bind it with storage_type="FIFO"',
        )  # fmt: skip
    if memory.depth != prod(array.shape):
        raise TargetError(
            f"'{array.name}' is bound with depth={memory.depth}, and has {prod(array.shape)} elements",
            at=array.at, hint="leave out the depth: it follows from the extents",
        )  # fmt: skip
    return []


_CORES = (
    "RAM_1P", "RAM_1P_BRAM", "RAM_1P_LUTRAM", "RAM_2P", "RAM_2P_BRAM", "RAM_2P_LUTRAM", "RAM_S2P_BRAM",
    "RAM_S2P_LUTRAM", "RAM_T2P_BRAM", "ROM_1P", "ROM_1P_BRAM", "ROM_1P_LUTRAM", "ROM_2P", "ROM_2P_BRAM",
    "ROM_2P_LUTRAM", "FIFO_BRAM", "FIFO_LUTRAM", "FIFO_SRL", "XPM_MEMORY uram",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cores:
    """`#pragma HLS resource`: the kind and the resource are one name, RAM_2P_BRAM."""

    banks: PragmaArrays

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str:
        return ""

    def partition(self, array: Array, banks: Banks) -> list[str]:
        return self.banks.partition(array, banks)

    def storage(self, array: Array, memory: BoundMemory) -> list[str]:
        if memory.kind == "auto":
            return fifo_depth(array, memory)
        core = memory.kind.upper() + ("" if memory.resource == "auto" else f"_{memory.resource.upper()}")
        if memory.resource == "uram":
            core = "XPM_MEMORY uram"
        elif memory.resource == "auto" and core not in _CORES:
            core += "_BRAM"
        if core not in _CORES:
            raise TargetError(
                f"Vivado HLS has no core {core} for '{array.name}'", at=array.at, hint=f"its cores: {', '.join(_CORES)}"
            )
        text = f"#pragma HLS resource variable={array.name} core={core}"
        text += f" latency={memory.latency}" if memory.latency is not None else ""
        return [text, *fifo_depth(array, memory)]


_AMD_ARRAYS = PragmaArrays(
    banks="#pragma HLS array_partition variable={name} {kind} dim={dim}",
    banks_by="#pragma HLS array_partition variable={name} {kind} dim={dim} factor={factor}",
    kind="#pragma HLS bind_storage variable={name} type={kind}",
    implementation=" impl={resource}",
    latency=" latency={latency}",
)
_AMD_STREAMS = Streams(
    source="hls::stream<{element}> {reference}",
    sink="hls::stream<{element}> {reference}",
    made="hls::stream<{element}> {name}{extents};",
    pragma="#pragma HLS stream variable={name} depth={depth}",
    empty="{name}.empty()",
    full="{name}.full()",
    port="#pragma HLS interface axis port={name}",
    try_put="{name}.write_nb({value})",
    try_get="{done} = {name}.read_nb({into});",
)
_HINTS = {"'peek' of a stream": "get the element, and keep it in a variable"}
VITIS = Vendor(
    name="Vitis HLS",
    pipeline="#pragma HLS pipeline II={interval}",
    rewind=" rewind",
    unroll="#pragma HLS unroll",
    unroll_by="#pragma HLS unroll factor={factor}",
    dataflow="#pragma HLS dataflow",
    inline_off="#pragma HLS inline off",
    allocation="#pragma HLS allocation function instances={name} limit=1",
    arrays=_AMD_ARRAYS,
    streams=_AMD_STREAMS,
    flushing=" style=flp",
    most_banks=1024,
    templates=True,
    canonical=True,
    open_arrays=True,
    hints=_HINTS,
)
VIVADO = Vendor(
    name="Vivado HLS",
    pipeline=VITIS.pipeline,
    rewind=VITIS.rewind,
    unroll=VITIS.unroll,
    unroll_by=VITIS.unroll_by,
    dataflow=VITIS.dataflow,
    inline_off=VITIS.inline_off,
    allocation="#pragma HLS allocation instances={name} limit=1 function",
    arrays=Cores(_AMD_ARRAYS),
    streams=_AMD_STREAMS,
    flushing=" enable_flush",
    most_banks=VITIS.most_banks,
    templates=True,
    canonical=True,
    open_arrays=True,
    hints=_HINTS,
)
