"""HLS C++ for TAPA: tasks that are started by the entry, streams with two ends, ports of memory."""

from __future__ import annotations

from dataclasses import replace

from ..text.dialect import AMD_DIALECT
from ..text.vendor import VITIS, Host, Streams

TAPA = replace(
    VITIS,
    name="TAPA",
    dataflow="",
    streams=Streams(
        source="tapa::istream<{element}> {reference}",
        sink="tapa::ostream<{element}> {reference}",
        made='tapa::stream<{element}, {depth}> {name}("{name}");',
        pragma="",
        empty="{name}.empty()",
        full="{name}.full()",
        try_put="{name}.try_write({value})",
        try_get="{done} = {name}.try_read({into});",
        peek="while (!{name}.try_peek({into})) {{}}",
        array='tapa::streams<{element}, {count}, {depth}> {name}("{name}");',
    ),
    dialect=replace(AMD_DIALECT, streams="", always=("tapa.h",)),
    tasks_only=True,
    canonical=False,
    memory_ports=True,
    host=Host(
        argument="tapa::{access}_mmap<{element}>(reinterpret_cast<{element} *>({pointer}), {count})",
        call="const int64_t nanoseconds = tapa::invoke(::{top}, binary{rest})",
        block="std::vector<{element}, tapa::aligned_allocator<{element}>>",
        header="tapa/call.h",
    ),
    hints={"arrays of streams between kernels": "unfold the nest, so that each element takes its own streams"},
)
