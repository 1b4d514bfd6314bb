"""Tiled execution configurations (TECs): one tensor contraction with the way in which it is computed, as a value.

Source: the tiled execution intermediate representation (TEIR) of Breuer et al., "Einsum trees" (ASPLOS 2025), as
specified in Fig. 3 and Fig. 6 of Steinert, "Fast Tensor Contractions on an XDNA Neural Processing Unit" (2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod

from ...errors import ContractionError, nearest


class DimType(StrEnum):
    """In which tensors a dimension exists: Tab. 2 of the thesis."""

    C = "C"
    M = "M"
    N = "N"
    K = "K"


class ExecType(StrEnum):
    """How a dimension is run: one index after the other, by threads, by an array of cores, inside of a primitive."""

    SEQ = "seq"
    SHARED = "shared"
    NPU = "npu"
    PRIM = "prim"


class DataType(StrEnum):
    """Elements of the tensors."""

    FP32 = "FP32"
    FP64 = "FP64"
    BF16 = "bfloat_16"

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return {DataType.FP32: 4, DataType.FP64: 8, DataType.BF16: 2}[self]


class PrimFirst(StrEnum):
    """What a block of the output is before its first product: as it was, zeros, max(0, as it was), a third input."""

    NONE = "none"
    ZERO = "zero"
    RELU = "relu"
    COPY = "copy"


class PrimMain(StrEnum):
    """What is done with blocks: products element by element, copies or sums of one input, products of matrices."""

    NONE = "none"
    COPY = "copy"
    ADD = "add"
    GEMM = "GEMM"
    BRGEMM = "BRGEMM"


class PrimLast(StrEnum):
    """What is done with a block of the output behind its last product."""

    NONE = "none"
    RELU = "relu"


UNARY = (PrimMain.COPY, PrimMain.ADD)
TENSORS = ("in0", "in1", "out")


@dataclass(frozen=True, slots=True)
class TecDimension:
    """One loop of a TEC: `size` iterations that are `strides` elements apart in in0, in1 and out (0: not there)."""

    name: str
    type: DimType
    execution: ExecType
    size: int
    strides: tuple[int, int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", word(DimType, "type", self.type))
        object.__setattr__(self, "execution", word(ExecType, "execution", self.execution))


@dataclass(frozen=True, slots=True)
class Tec:
    """One contraction of two tensors (or a copy or sum of one) as nested loops, the outermost first.

    It means: for all indices of `dimensions`, `out[sum(index * stride)] += in0[...] * in1[...]`, on elements of
    `data_type`, where `prim_first` says what a sum starts from and `prim_last` what is done with it. Raises
    ContractionError, which names the rule, for what no domain allows (`allo.mapping.teir.rules`).
    """

    dimensions: tuple[TecDimension, ...]
    data_type: DataType
    prim_first: PrimFirst = PrimFirst.ZERO
    prim_main: PrimMain = PrimMain.NONE
    prim_last: PrimLast = PrimLast.NONE

    def __post_init__(self) -> None:
        from .rules import check_tec

        object.__setattr__(self, "dimensions", tuple(self.dimensions))
        kinds = {"data_type": DataType, "prim_first": PrimFirst, "prim_main": PrimMain, "prim_last": PrimLast}
        for name, kind in kinds.items():
            object.__setattr__(self, name, word(kind, name, getattr(self, name)))
        check_tec(self)

    @classmethod
    def of(
        cls,
        dim_types: Sequence[str],
        exec_types: Sequence[str],
        dim_sizes: Sequence[int],
        strides_in0: Sequence[int],
        strides_in1: Sequence[int],
        strides_out: Sequence[int],
        data_type: str,
        prim_first: str = "zero",
        prim_main: str = "none",
        prim_last: str = "none",
        names: Sequence[str] | None = None,
    ) -> Tec:
        """A TEC in the notation of the thesis: a tuple a property. Raises ContractionError for words it has not."""
        count = len(dim_types)
        given = {
            "exec_types": exec_types, "dim_sizes": dim_sizes, "strides_in0": strides_in0,
            "strides_in1": strides_in1, "strides_out": strides_out,
        } | ({} if names is None else {"names": names})  # fmt: skip
        for what, values in given.items():
            if len(values) != count:
                raise ContractionError(f"dim_types has {count} entries and {what} {len(values)}")
        rows = zip(dim_types, exec_types, dim_sizes, strides_in0, strides_in1, strides_out, strict=True)
        called = [f"d{k}" for k in range(count)] if names is None else names
        dimensions = tuple(
            TecDimension(name, word(DimType, "type", t), word(ExecType, "execution", e), size, (a, b, c))
            for name, (t, e, size, a, b, c) in zip(called, rows, strict=True)
        )
        properties = (
            word(DataType, "data_type", data_type), word(PrimFirst, "prim_first", prim_first),
            word(PrimMain, "prim_main", prim_main), word(PrimLast, "prim_last", prim_last),
        )  # fmt: skip
        return cls(dimensions, *properties)

    @classmethod
    def parse(cls, text: str) -> Tec:
        """The TEC that `str` has printed as `text`. Raises ContractionError with the line that cannot be read."""
        from .text import parse_tec

        return parse_tec(text)

    def __str__(self) -> str:
        from .text import tec_text

        return tec_text(self)

    def __iter__(self) -> Iterator[TecDimension]:
        return iter(self.dimensions)

    def __getitem__(self, name: str) -> TecDimension:
        """The dimension of a name. Raises ContractionError if there is none."""
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        names = [dimension.name for dimension in self.dimensions]
        hint = nearest(str(name), names) or f"the dimensions are {', '.join(names)}"
        raise ContractionError(f"the TEC has no dimension {name!r}", hint=hint)

    @property
    def dim_types(self) -> tuple[DimType, ...]:
        """The types of the dimensions."""
        return tuple(d.type for d in self.dimensions)

    @property
    def exec_types(self) -> tuple[ExecType, ...]:
        """How the dimensions are run."""
        return tuple(d.execution for d in self.dimensions)

    @property
    def dim_sizes(self) -> tuple[int, ...]:
        """The trip counts of the dimensions."""
        return tuple(d.size for d in self.dimensions)

    def strides(self, tensor: int) -> tuple[int, ...]:
        """The strides of tensor 0 (in0), 1 (in1) or 2 (out), in elements."""
        return tuple(d.strides[tensor] for d in self.dimensions)

    def extent(self, tensor: int) -> int:
        """How many elements of a tensor lie between its first and its last one that is used, with both."""
        return 1 + sum((d.size - 1) * d.strides[tensor] for d in self.dimensions)

    @property
    def outer(self) -> tuple[TecDimension, ...]:
        """The loops around the primitive."""
        return tuple(d for d in self.dimensions if d.execution is not ExecType.PRIM)

    @property
    def primitive(self) -> tuple[TecDimension, ...]:
        """The dimensions of the primitive."""
        return tuple(d for d in self.dimensions if d.execution is ExecType.PRIM)

    @property
    def is_unary(self) -> bool:
        """Whether there is one input, which is copied or summed."""
        return self.prim_main in UNARY

    @property
    def operations(self) -> int:
        """Multiplications and additions: two for each index of a contraction, one for that of a sum."""
        return prod(self.dim_sizes) * (1 if self.is_unary else 2)

    def with_dimensions(self, dimensions: Sequence[TecDimension]) -> Tec:
        """The same with other loops."""
        return replace(self, dimensions=tuple(dimensions))


def word[E: StrEnum](kind: type[E], what: str, text: str) -> E:
    """The member of an enumeration that is written `text`. Raises ContractionError that lists them."""
    try:
        return kind(text)
    except ValueError:
        listed = ", ".join(f"'{member}'" for member in kind)
        raise ContractionError(f"{what} cannot be {text!r}: it is one of {listed}") from None
