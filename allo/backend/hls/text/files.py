"""Sources of a kernel in a project: `kernel.h` with the types and the entry, `kernel.cpp` with the rest."""

from __future__ import annotations

from .module import Emitted


def header_text(emitted: Emitted) -> str:
    """`kernel.h`: the types and the prototype of the entry."""
    return f"#pragma once\n\n{emitted.preamble.rstrip()}\n\n{emitted.prototype};\n"


def kernel_text(emitted: Emitted) -> str:
    """`kernel.cpp`: the code, with the types in `kernel.h`."""
    rest = emitted.code.removeprefix(emitted.preamble.rstrip()).lstrip("\n")
    return f'#include "kernel.h"\n\n{rest}'
