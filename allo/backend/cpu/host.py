"""Instructions of this machine, as machine code may use them."""

from __future__ import annotations

import re
from functools import cache

from mlir import ir

from ...ir.context import context
from ...ir.passes import run_passes

_FUNCTION = "llvm.func @f() { llvm.return }"


@cache
def host_features() -> frozenset[str]:
    """LLVM's names of what this CPU has, as `avx512f`; none where code is made for what LLVM finds by itself."""
    with context():
        module = ir.Module.parse(_FUNCTION)
    run_passes("builtin.module(allo-host-features)", module.operation)
    return frozenset(re.findall(r'"\+([^"]+)"', str(module)))
