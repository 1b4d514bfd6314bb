"""Types of kernels with what is said beside them: a memory, a qualifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .memory import Memory

if TYPE_CHECKING:
    from .types import AlloType, TensorType


@dataclass(frozen=True, slots=True)
class Placed:
    """An array with the memory it is kept in: `T[M, N] @ Memory(resource="URAM")`."""

    type: TensorType
    memory: Memory

    def __matmul__(self, other: Any) -> Qualified:
        return Qualified(other.name, self.type) if isinstance(other, Qualifier) else NotImplemented


@dataclass(frozen=True, slots=True)
class Qualified:
    """A type with a qualifier: `Stateful[T]` or `ConstExpr[T]`."""

    qualifier: str
    type: AlloType | TensorType

    def __repr__(self) -> str:
        return f"{self.qualifier}[{self.type!r}]"


@dataclass(frozen=True, slots=True)
class Qualifier:
    """Makes qualified types: `Stateful[T]`, `Stateful(T)` and `T @ Stateful` are one."""

    name: str

    def __getitem__(self, inner: AlloType | TensorType) -> Qualified:
        return Qualified(self.name, inner)

    def __repr__(self) -> str:
        return self.name

    __call__ = __getitem__
