"""Library of an external kernel: the machine code that runs it, and the exceptions that it throws."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from allo import _mlir

from ...errors import DataflowError, ToolError
from ...ir.types import AlloType, TensorType
from .compiler import Compiler, content_key, library_of
from .signature import Signature
from .source import ExternalSource
from .stream_wrapper import FIFOS, STREAM_MARK, FifoType
from .wrapper import ENTRY_PLACE, FAILURE, wrapper_text

_MESSAGE_SIZE = 1024


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library that holds the external kernel `top` as the function `entry`."""

    path: Path
    entry: str
    top: str

    def function(self) -> Any:
        """The entry, which takes the address of each argument and of the result."""
        return getattr(_loaded(self.path), self.entry)

    def raise_failure(self) -> None:
        """Raise RuntimeError if the kernel has thrown an exception since the last call, DataflowError for a stream."""
        text = ctypes.create_string_buffer(_MESSAGE_SIZE)
        failure = getattr(_loaded(self.path), self.entry + FAILURE)
        failure.restype = ctypes.c_bool
        if not failure(text, ctypes.c_size_t(_MESSAGE_SIZE)):
            return
        message = text.value.decode(errors="replace")
        if message.startswith(STREAM_MARK):
            raise DataflowError(
                f"the external kernel '{self.top}': {message.removeprefix(STREAM_MARK)}",
                hint="it must get all elements that it is given, and put as many as are taken",
            )
        raise RuntimeError(f"the external kernel '{self.top}' threw: {message}")


@cache
def _fifo_addresses() -> tuple[ctypes.c_void_p, ...]:
    """The functions of the run-time library that put into a FIFO, get from it, and tell whether it is empty."""
    library = ctypes.CDLL(_mlir.runtime_library())
    names = ("allo_stream_put", "allo_stream_get", "allo_stream_empty")
    return tuple(ctypes.cast(getattr(library, name), ctypes.c_void_p) for name in names)


@cache
def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise ToolError(
            f"the library of an external kernel cannot be loaded: {error}",
            hint="an undefined symbol is a function whose file is missing: pass impls=[...] with all files",
        ) from None


def compiled(
    compiler: Compiler,
    source: ExternalSource,
    signature: Signature,
    types: Sequence[AlloType | TensorType | FifoType],
) -> Library:
    """The library of a kernel for arguments of `types`; compiled unless the cache has it."""
    include, wrapper = wrapper_text(signature, tuple(types))
    key = content_key(compiler, [*signature.texts, wrapper])
    entry = f"allo_external_{key}"
    text = include + wrapper.replace(ENTRY_PLACE, entry)
    others = [file for file in source.implementations if file != signature.file]
    library = Library(library_of(compiler, source, key, text, others), entry, source.top)
    library.function()
    if any(isinstance(kind, FifoType) for kind in types):
        getattr(_loaded(library.path), entry + FIFOS)(*_fifo_addresses())
    return library
