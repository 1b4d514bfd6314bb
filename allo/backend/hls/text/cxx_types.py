"""Types in C++: those of kernels, and those of the integers of arithmetic."""

from __future__ import annotations

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....errors import TargetError
from ....ir.mlir_types import scalar_from_mlir
from ....ir.types import AlloType, Bool, Fixed, Float, Index, Int, Struct, UFixed, UInt
from .names import identifier

_NATIVE = (8, 16, 32, 64)
_FLOATS = {16: "half", 32: "float", 64: "double"}


def signed_type(width: int) -> str:
    """Of an integer of arithmetic, which has no sign of its own: the signed type of the width; `bool` for one bit."""
    if width == 1:
        return "bool"
    return f"int{width}_t" if width in _NATIVE else f"ap_int<{width}>"


def unsigned_type(width: int) -> str:
    """The unsigned type of the width; `bool` for one bit."""
    if width == 1:
        return "bool"
    return f"uint{width}_t" if width in _NATIVE else f"ap_uint<{width}>"


def is_native(type_text: str) -> bool:
    """Whether C++ itself has the type."""
    return not type_text.startswith("ap_")


def fixed_type(kind: Fixed | UFixed, *, modes: bool) -> str:
    """`ap_fixed<W, I>`, with its rounding and overflow if they are not the default and are wanted."""
    name = "ap_fixed" if isinstance(kind, Fixed) else "ap_ufixed"
    text = f"{kind.width}, {kind.width - kind.fracs}"
    if modes and (kind.rounding, kind.overflow) != ("trn", "wrap"):
        text += f", AP_{kind.rounding.upper()}, AP_{kind.overflow.upper()}"
    return f"{name}<{text}>"


def field_names(struct: Struct) -> dict[str, str]:
    """What the fields are called in C++."""
    taken: set[str] = set()
    return {label: identifier(label, taken) for label, _ in struct.fields}


class TypeNames:
    """The types of one file: structs get their declarations in the order of their first use."""

    def __init__(self) -> None:
        self.structs: dict[Struct, str] = {}
        self._known: dict[ir.Type, str] = {}
        self._elements: dict[ir.Type, tuple[ir.Type, str, int]] = {}

    def of(self, mlir_type: ir.Type) -> str:
        """The C++ type of a value, or of the elements of an array."""
        known = self._known.get(mlir_type)
        if known is None:
            known = self._known[mlir_type] = self.scalar(scalar_from_mlir(mlir_type))
        return known

    def of_elements(self, array: ir.Type) -> tuple[ir.Type, str, int]:
        """Of the elements of an array: their type, that of C++, empty for streams, and the bits of integers, else 0."""
        known = self._elements.get(array)
        if known is None:
            kind = ir.MemRefType(array).element_type
            text = "" if isinstance(kind, allo_d.StreamType) else self.of(kind)
            width = kind.width if isinstance(kind, ir.IntegerType) else 0
            known = self._elements[array] = (kind, text, width)
        return known

    def scalar(self, scalar: AlloType) -> str:
        """The C++ type of a type of kernels."""
        match scalar:
            case Bool():
                return "bool"
            case Index():
                return "int64_t"
            case Int(width=1):
                return "ap_int<1>"
            case UInt(width=1):
                return "ap_uint<1>"
            case Int():
                return signed_type(scalar.width)
            case UInt():
                return unsigned_type(scalar.width)
            case Float(brain=True):
                return "bfloat16"
            case Float():
                return _FLOATS[scalar.width]
            case Fixed() | UFixed():
                return fixed_type(scalar, modes=True)
            case Struct():
                return self._struct(scalar)
        raise TargetError(f"HLS C++ has no type for {scalar!r}")

    def zero(self, mlir_type: ir.Type) -> str:
        """The value of a C++ type whose bits are all 0."""
        return self._zero(scalar_from_mlir(mlir_type))

    def _zero(self, scalar: AlloType) -> str:
        if isinstance(scalar, Struct):
            return f"{self.scalar(scalar)}{{{', '.join(self._zero(field) for _, field in scalar.fields)}}}"
        name = self.scalar(scalar)
        return f"{name}::of(0)" if name == "bfloat16" else f"{name}(0)"

    def _struct(self, struct: Struct) -> str:
        for _, field in struct.fields:
            self.scalar(field)  # inner structs are declared first
        return self.structs.setdefault(struct, f"struct_{len(self.structs)}")

    def declarations(self) -> list[str]:
        """The C++ structs."""
        lines: list[str] = []
        for struct, name in self.structs.items():
            lines.append(f"struct {name} {{")
            labels = field_names(struct).values()
            lines += [f"  {self.scalar(kind)} {label};" for label, (_, kind) in zip(labels, struct.fields, strict=True)]
            lines += ["};", ""]
        return lines
