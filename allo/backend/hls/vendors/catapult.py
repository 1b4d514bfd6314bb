"""HLS C++ for Siemens Catapult: Algorithmic C data types and channels, blocks of a hierarchy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from ....errors import TargetError
from ..text.dialect import AcWords, Dialect, ac_names
from ..text.escape import uncommented
from ..text.vendor import Array, Banks, BoundMemory, Host, Place, Streams, Vendor


@dataclass(frozen=True, slots=True)
class Directives:
    """Arrays are split by directives of the Tcl script, which stand in comments behind the declaration."""

    def attributes(self, array: Array, banks: Banks, memory: BoundMemory | None) -> str:
        return ""

    def partition(self, array: Array, banks: Banks) -> list[str]:
        wanted = [(n, kind, factor) for n, (kind, factor) in enumerate(banks) if kind != "none"]
        if not wanted:
            return []
        if len(wanted) == len(array.shape) and all(kind == "complete" for _, kind, _ in wanted):
            return [f"// directive set {array.name}:rsc -MAP_TO_MODULE {{[Register]}}"]
        dim, kind, factor = wanted[0]
        extent = array.shape[dim]
        if len(wanted) == 1 and dim == len(array.shape) - 1 and kind in ("cyclic", "complete"):
            return [f"// directive set {array.name}:rsc -INTERLEAVE {factor or extent}"]
        if len(wanted) == 1 and dim == 0 and kind in ("block", "complete"):
            size = -(-extent // (factor or extent)) * prod(array.shape[1:])
            return [f"// directive set {array.name}:rsc -BLOCK_SIZE {size}"]
        raise TargetError(
            f"Catapult cannot split '{array.name}' like this: it interleaves the last dimension, cuts the first one "
            "into blocks, or takes registers for all elements",
            at=array.at, hint="partition one dimension, or all completely",
        )  # fmt: skip

    def storage(self, array: Array, memory: BoundMemory) -> list[str]:
        raise TargetError(
            f"Catapult cannot bind '{array.name}' to {memory.resource.upper()}: its memories are those of the library "
            "of the technology",
            at=array.at, hint="map the array in the Tcl script of the project",
        )  # fmt: skip


_DIRECTIVE = re.compile(r" *// directive set (\w+)(:\w+ .+?)(?:  //.*)?")
_FUNCTION = re.compile(r"\w[^;=]*?\b(\w+)\((.*)\) \{")


def directive_lines(code: str, top: str) -> list[str]:
    """The directives in the comments of `code`, each with the path of its array or channel in the design `top`."""
    found: list[str] = []
    name, parameters, is_block = top, "", True
    lines = code.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if head := _FUNCTION.match(uncommented(line)):
            name, parameters, is_block = head[1], head[2], before.startswith("#pragma hls_design")
        elif directive := _DIRECTIVE.fullmatch(line):
            array, rest = directive[1], directive[2]
            inside = not rest.startswith(":cns") and not re.search(rf"\b{array}\b", parameters)
            path = [top] if name == top or not is_block else [top, name]
            path += ["core"] if inside or not is_block else []
            called = array if is_block else f"{name}:{array}"  # what is no block is part of its caller
            found.append(f"directive set /{'/'.join([*path, called])}{rest}")
    return found


CATAPULT = Vendor(
    name="Catapult",
    pipeline="#pragma hls_pipeline_init_interval {interval}",
    rewind=None,
    unroll="#pragma hls_unroll yes",
    unroll_by="#pragma hls_unroll {factor}",
    dataflow="",
    inline_off="",
    allocation="",
    arrays=Directives(),
    streams=Streams(
        source="ac_channel<{element}> {reference}",
        sink="ac_channel<{element}> {reference}",
        made="static ac_channel<{element}> {name}{extents};",
        pragma="// directive set {name}:cns -FIFO_DEPTH {depth}",
        empty="!{name}.available(1)",
        full=None,
        try_put="{name}.nb_write({value})",
        try_get="{done} = {name}.nb_read({into});",
    ),
    place=Place.BEFORE_LABEL,
    words=AcWords(),
    dialect=Dialect(
        integers="ac_int.h",
        fixed="ac_fixed.h",
        half="",
        mathematics="",
        streams="ac_channel.h",
        folder="ac",
        respell=ac_names("#pragma hls_unroll yes"),
    ),
    before_top="#pragma hls_design top",
    before_task="#pragma hls_design",
    tasks_only=True,
    host=Host(call="CCS_DESIGN({top})({arguments})", header="catapult/call.h"),
    hints={
        "'full' of a stream": "let the writer wait, or try: `s.try_put(x)`",
        "'peek' of a stream": "get the element, and keep it in a variable",
        "pipeline(..., rewind=True)": "leave out rewind: a design that is pipelined as a whole starts again by itself",
    },
)
