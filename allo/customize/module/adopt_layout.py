"""Removal of the data layouts that other tools write on a module: an index has 64 bits here."""

from __future__ import annotations

import re
from pathlib import Path

from mlir import ir

from ...errors import KernelError
from ...ir.module import Module

_SPEC = "#dlti.dl_spec<"
_INDEX = re.compile(r"(?:dl_entry<\s*index\s*,|\bindex\s*=)\s*(?:dense<\s*)?(\d+)")


def parsed(source: str | Path) -> Module:
    """The module that a text or a file prints, without a data layout; also of older tools, whose layouts MLIR does not
    read any more. Raises mlir.ir.MLIRError, and KernelError for a layout in which an index has not 64 bits."""
    try:
        module = Module.parse(source)
    except ir.MLIRError:
        text = source.read_text() if isinstance(source, Path) else source
        if _SPEC not in text:
            raise
        return Module.parse(_without_layouts(text))
    attributes = module.mlir.operation.attributes
    if "dlti.dl_spec" in attributes:
        _refuse_narrow(str(attributes["dlti.dl_spec"]))
        del attributes["dlti.dl_spec"]
    return module


def _without_layouts(text: str) -> str:
    """The text with layouts that have no entries, all else being where it was."""
    parts: list[str] = []
    while (start := text.find(_SPEC)) >= 0:
        end = _end(text, start + len(_SPEC))
        spec = text[start:end]
        _refuse_narrow(spec)
        parts += [text[:start], _SPEC, "\n" * spec.count("\n"), ">"]
        text = text[end:]
    return "".join([*parts, text])


def _end(text: str, place: int) -> int:
    """The place behind the bracket that closes the one before `place`."""
    depth, quoted = 1, False
    while depth and place < len(text):
        letter = text[place]
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter == "<") - (letter == ">" and text[place - 1] != "-")
        place += 1
    return place


def _refuse_narrow(spec: str) -> None:
    found = _INDEX.search(spec)
    if found is not None and int(found[1]) != 64:
        raise KernelError(
            f"the data layout of the module says that an index has {found[1]} bits, and here it has 64",
            hint="lower the module for 64 bits, or remove dlti.dl_spec if no index leaves its range",
        )
