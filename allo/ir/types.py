"""The types a kernel may name, as plain frozen values without any MLIR in them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .memory import Memory
from .qualified import Placed, Qualified, Qualifier

MAX_BITS = 1024
DYNAMIC = -1  # the extent of a dimension that is known at run time only


class AlloType:
    """Base of all scalar types; `T[M, N]` makes the tensor type of that shape."""

    __slots__ = ()

    @property
    def bits(self) -> int:
        """The width in bits."""
        raise NotImplementedError

    @property
    def fracs(self) -> int:
        """The bits behind the binary point: those of the mantissa of a float, 0 for integers."""
        return 0

    @property
    def exponent(self) -> int:
        """The bits in front of those: the exponent of a float, without the sign; all bits of an integer."""
        return self.bits - self.fracs

    def __getitem__(self, shape: Any) -> TensorType:
        extents = shape if isinstance(shape, tuple) else (shape,)
        return TensorType(self, tuple(DYNAMIC if extent is ... else extent for extent in extents))

    def __matmul__(self, other: Any) -> Qualified:
        if isinstance(other, Qualifier):
            return Qualified(other.name, self)
        return NotImplemented

    def __call__(self, value: Any = 0) -> Any:
        """`value` as a variable of this type holds it, in kernels that run as plain Python."""
        from .arrays import python_value

        return python_value(self, value)


def _check_width(name: str, bits: int) -> None:
    if isinstance(bits, int) and 1 <= bits <= MAX_BITS:
        return
    raise TypeError(f"{name} takes a width from 1 to {MAX_BITS} bits, got {bits!r}")


@dataclass(frozen=True, slots=True, repr=False)
class Int(AlloType):
    """Signed integer of `width` bits, two's complement."""

    width: int

    def __post_init__(self) -> None:
        _check_width("Int", self.width)

    @property
    def bits(self) -> int:
        return self.width

    def __repr__(self) -> str:
        return f"int{self.width}"


@dataclass(frozen=True, slots=True, repr=False)
class UInt(AlloType):
    """Unsigned integer of `width` bits."""

    width: int

    def __post_init__(self) -> None:
        _check_width("UInt", self.width)

    @property
    def bits(self) -> int:
        return self.width

    def __repr__(self) -> str:
        return f"uint{self.width}"


def wrap(value: int, scalar: Int | UInt) -> int:
    """`value` modulo the range of `scalar`."""
    value &= (1 << scalar.width) - 1
    if isinstance(scalar, Int) and value >> (scalar.width - 1):
        value -= 1 << scalar.width
    return value


@dataclass(frozen=True, slots=True, repr=False)
class Bool(AlloType):
    """Truth value; behaves as `UInt(1)` in arithmetic."""

    @property
    def bits(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True, repr=False)
class Index(AlloType):
    """Type of loop variables and subscripts; behaves as `Int(32)` in arithmetic."""

    @property
    def bits(self) -> int:
        return 32

    def __repr__(self) -> str:
        return "index"


@dataclass(frozen=True, slots=True, repr=False)
class Float(AlloType):
    """IEEE 754 binary floating point of 16, 32 or 64 bits, or bfloat16 (`brain=True`)."""

    width: int
    brain: bool = False

    def __post_init__(self) -> None:
        if self.width not in (16, 32, 64) or (self.brain and self.width != 16):
            raise TypeError(f"Float takes 16, 32 or 64 bits, got {self.width!r}")

    @property
    def bits(self) -> int:
        return self.width

    @property
    def fracs(self) -> int:
        return 7 if self.brain else {16: 10, 32: 23, 64: 52}[self.width]

    @property
    def exponent(self) -> int:
        return self.width - self.fracs - 1

    def __repr__(self) -> str:
        return "bfloat16" if self.brain else f"float{self.width}"


ROUNDINGS = ("trn", "trn_zero", "rnd", "rnd_zero", "rnd_min_inf", "rnd_inf", "rnd_conv")
OVERFLOWS = ("wrap", "sat", "sat_zero", "sat_sym")


@dataclass(frozen=True, slots=True, repr=False)
class _FixedPoint(AlloType):
    """Common part of the fixed-point types: `width` bits, `fracs` of them fractional.

    `rounding` and `overflow` say what a conversion to the type does with numbers that it does not hold, by the names
    of the modes of `ap_fixed<W, I, Q, O>`: the defaults drop digits toward minus infinity, and wrap.
    """

    width: int
    fracs: int
    rounding: str = "trn"
    overflow: str = "wrap"

    def __post_init__(self) -> None:
        _check_width(type(self).__name__, self.width)
        if not isinstance(self.fracs, int) or not 0 <= self.fracs <= self.width:
            raise TypeError(
                f"{type(self).__name__} takes 0 to {self.width} fractional bits, got {self.fracs!r}"
            )
        for what, value, known in (
            ("rounding", self.rounding, ROUNDINGS),
            ("overflow", self.overflow, OVERFLOWS),
        ):
            if value not in known:
                raise TypeError(f"{type(self).__name__} takes {what} {', '.join(map(repr, known))}, got {value!r}")

    @property
    def bits(self) -> int:
        return self.width

    def __repr__(self) -> str:
        modes = "" if self.rounding == "trn" else f", rounding={self.rounding!r}"
        modes += "" if self.overflow == "wrap" else f", overflow={self.overflow!r}"
        return f"{type(self).__name__}({self.width}, {self.fracs}{modes})"


class Fixed(_FixedPoint):
    """Signed fixed point: value = integer of `width` bits / 2**fracs."""

    __slots__ = ()


class UFixed(_FixedPoint):
    """Unsigned fixed point: value = unsigned integer of `width` bits / 2**fracs."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, repr=False)
class Struct(AlloType):
    """Named fields, the first in the low bits of the packed form."""

    fields: tuple[tuple[str, AlloType], ...]

    def __init__(self, fields: Mapping[str, AlloType] | tuple[tuple[str, AlloType], ...]) -> None:
        pairs = tuple(fields.items()) if isinstance(fields, Mapping) else tuple(fields)
        if not pairs:
            raise TypeError("Struct takes at least one field: Struct({'x': int32})")
        for name, field in pairs:
            if not isinstance(name, str) or not name.isidentifier():
                raise TypeError(f"the name of a field of a Struct must be an identifier, got {name!r}")
            if not isinstance(field, Int | UInt | Bool | Float | _FixedPoint | Struct):
                raise TypeError(f"field '{name}' of a Struct must be a number, a bool or a Struct, got {field!r}")
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise TypeError(f"two fields of a Struct have one name: {', '.join(names)}")
        object.__setattr__(self, "fields", pairs)

    @property
    def bits(self) -> int:
        return sum(field.bits for _, field in self.fields)

    def field(self, name: str) -> AlloType | None:
        """The type of field `name`, if there is one."""
        return next((field for given, field in self.fields if given == name), None)

    def __call__(self, value: Any = None, /, **fields: Any) -> Any:
        """`P(x=1, w=0.5)` or `P({"x": 1, "w": 0.5})`: in Python a NumPy record, in kernels a value of the struct.

        Raises TypeError or ValueError unless every field has a value that fits.
        """
        from .words import pack, unpack

        return unpack(self, pack(self, fields if value is None else value, f"a value of {self!r}"))

    def __repr__(self) -> str:
        return "Struct({" + ", ".join(f"'{name}': {field!r}" for name, field in self.fields) + "})"


def extent_text(extent: int) -> str:
    """An extent as kernels write it."""
    return "..." if extent == DYNAMIC else str(extent)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape for messages."""
    return f"({', '.join(map(extent_text, shape))}{',' if len(shape) == 1 else ''})"


@dataclass(frozen=True, slots=True, repr=False)
class TensorType:
    """A dense array `element[shape]`; an extent may be DYNAMIC, which a kernel writes as `...`."""

    element: AlloType
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"{self.element!r}[{', '.join(map(extent_text, self.shape))}]"

    @property
    def is_static(self) -> builtins.bool:
        """Whether all extents are known when the kernel is compiled."""
        return DYNAMIC not in self.shape

    def __call__(self, value: Any = 0) -> Any:
        """An array of this type filled with `value`, in kernels that run as plain Python and in those compiled."""
        from .arrays import python_array

        return python_array(self, value)

    def __matmul__(self, other: Any) -> Qualified | Placed:
        if isinstance(other, Memory):
            return Placed(self, other)
        if isinstance(other, Qualifier):
            return Qualified(other.name, self)
        return NotImplemented


@dataclass(frozen=True, slots=True, repr=False)
class ChannelType:
    """FIFOs of at most `depth` elements, each a scalar, or an array of the shape `block`; `shape` of them.

    Blocks that are `packed` go through as one word each.
    """

    element: AlloType
    depth: int
    block: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    packed: builtins.bool = False

    def __getitem__(self, shape: Any) -> ChannelType:
        """An array of such FIFOs: `Stream[T, 4][P0, P1]`."""
        extents = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        if self.shape:
            raise TypeError("an array of streams has one list of extents: `Stream[T, 4][M, N]`")
        if not all(isinstance(extent, int) and extent > 0 for extent in extents):
            raise TypeError(f"the extents of an array of streams must be positive integers, got {shape!r}")
        return ChannelType(self.element, self.depth, self.block, tuple(map(int, extents)), self.packed)

    @property
    def moved(self) -> AlloType:
        """What goes through it at once: an element, or the word of a packed block."""
        return UInt(self.block[0] * self.element.bits) if self.packed else self.element

    @property
    def holds(self) -> int:
        """How many of these it holds."""
        return self.depth * (1 if self.packed else math.prod(self.block))

    def __repr__(self) -> str:
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        if self.packed:
            return f"Stream[{self.element!r}, {self.depth * self.block[0]}, {self.block[0]}]{shape}"
        block = f"[{', '.join(map(str, self.block))}]" if self.block else ""
        return f"Stream[{self.element!r}{block}, {self.depth}]{shape}"


class StreamTypes:
    """Makes types of streams: `Stream[T, depth]`, `Stream[T[h, w], depth]` of blocks; `[P0, P1]` behind it an array.

    `Stream[T, depth, P]` moves `P` elements at once, packed into one word; `depth` counts elements and is a multiple of
    `P`. Without a depth a stream holds two elements. Source: Dato, section 3.3.
    """

    DEFAULT_DEPTH = 2

    def __class_getitem__(cls, parameters: Any) -> ChannelType:
        given = parameters if isinstance(parameters, tuple) else (parameters,)
        if len(given) > 3:
            message = "Stream takes an element type, a depth, and how many elements are packed"
            raise TypeError(f"{message}, got {len(given)} parameters")
        element, depth = given[0], given[1] if len(given) > 1 else cls.DEFAULT_DEPTH
        tensor = element if isinstance(element, TensorType) and element.is_static else None
        block = () if tensor is None else tensor.shape
        element = element if tensor is None else tensor.element
        if not isinstance(element, AlloType):
            raise TypeError(f"the elements of a stream are numbers, structs, or arrays of known shape, got {element!r}")
        if not isinstance(depth, int) or isinstance(depth, builtins.bool) or depth < 1:
            raise TypeError(f"the depth of a stream must be a positive integer, got {depth!r}")
        kind = ChannelType(element, depth, block)
        return kind if len(given) < 3 else _packed(kind, given[2])


def _packed(kind: ChannelType, count: Any) -> ChannelType:
    """Streams of `count` elements a transfer; as they are for 1. Raises TypeError if a word cannot hold them."""
    if not isinstance(count, int) or isinstance(count, builtins.bool) or count < 1:
        raise TypeError(f"the number of elements that are packed must be a positive integer, got {count!r}")
    if count == 1:
        return kind
    if kind.block or isinstance(kind.element, Index):
        what = "blocks are" if kind.block else "index is"
        raise TypeError(f"{what} not packed: a stream packs numbers and structs of known width")
    if kind.depth % count:
        raise TypeError(f"the depth of a stream counts elements, and {kind.depth} is no multiple of the {count} packed")
    if count * kind.element.bits > MAX_BITS:
        bits = f"{count} elements of {kind.element.bits} bits"
        raise TypeError(f"{bits} are {count * kind.element.bits} bits, and a word has {MAX_BITS} at most")
    return ChannelType(kind.element, kind.depth // count, (count,), packed=True)


# what `from allo.ir.types import *` gives: the names that kernels are written with
CLASSES = ("AlloType", "Fixed", "Float", "Index", "Int", "Struct", "UFixed", "UInt")
__all__ = ["AlloType", "Fixed", "Float", "Index", "Int", "Struct", "UFixed", "UInt"]

if TYPE_CHECKING:
    from . import type_names
    from .type_names import *  # noqa: F403 - so that checkers take `float32[M, N]` for the type of a parameter

    __all__ += type_names.__all__
else:
    Stateful = Qualifier("Stateful")  # a variable that keeps its value between calls
    ConstExpr = Qualifier("ConstExpr")  # a value computed when the kernel is compiled
    Stream = StreamTypes
    index = Index()
    bool = Bool()
    float16 = Float(16)
    float32 = Float(32)
    float64 = Float(64)
    bfloat16 = Float(16, brain=True)
    _INTEGERS = {f"{prefix}{w}": kind(w) for prefix, kind in (("int", Int), ("uint", UInt)) for w in range(1, 513)}
    globals().update(_INTEGERS)
    __all__ += ["ConstExpr", "Stateful", "Stream", "bfloat16", "bool", "float16", "float32", "float64", "index"]
    __all__ += _INTEGERS
