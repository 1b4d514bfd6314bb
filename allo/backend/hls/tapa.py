"""Decides how HLS C++ for TAPA reads: tasks that are started by the entry, streams with two ends, ports of memory."""

from __future__ import annotations

from dataclasses import replace

from .dialect import AMD_DIALECT
from .vendor import VITIS, Streams

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
        array='tapa::streams<{element}, {count}, {depth}> {name}("{name}");',
    ),
    dialect=replace(AMD_DIALECT, streams="", always=("tapa.h",)),
    tasks_only=True,
    memory_ports=True,
    argument="tapa::mmap<{element}>(reinterpret_cast<{element} *>({pointer}), {count})",
    hints={"arrays of streams between kernels": "unfold the nest, so that each element takes its own streams"},
)
