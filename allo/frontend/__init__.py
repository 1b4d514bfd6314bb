"""Python kernels to MLIR: syntax tree, types, operations."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from_pytorch: Any


def __getattr__(name: str) -> object:
    """`from_pytorch` of published Allo, which uses what is built on this package."""
    if name == "from_pytorch":
        from ..importers.published import from_pytorch

        return from_pytorch
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
