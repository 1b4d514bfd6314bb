"""The CPU backend: LLVM's just-in-time compiler, called with NumPy arrays."""

from __future__ import annotations

from typing import Any

from ...ir.module import Module
from ..manifest import Manifest, ToolPart, flushes, seconds
from .module import LLVMModule

__all__ = ["MANIFEST", "LLVMModule"]


def _build(module: Module, mode: str | None, options: dict[str, Any]) -> LLVMModule:
    fastmath, contract = bool(options.get("fastmath", False)), bool(options.get("contract", False))
    unbounded, check = bool(options.get("unbounded", False)), bool(options.get("check", False))
    return LLVMModule(
        module, fastmath=fastmath, contract=contract, unbounded=unbounded, check=check,
        timed=options.get("timed", False), timeout=seconds(options), threads=options.get("threads", 1),
        flush=flushes(options), rolled=bool(options.get("rolled", False)),
    )  # fmt: skip


def _compiler() -> str:
    from ..external.compiler import compiler_name  # which most programs never need

    return compiler_name()


MANIFEST = Manifest(
    names=("llvm", "simulator"),
    modes=(),
    options=("fastmath", "contract", "unbounded", "check", "timed", "timeout", "threads", "subnormals", "rolled"),
    build=_build,
    parts=(ToolPart("kernels in C++", _compiler),),
)
