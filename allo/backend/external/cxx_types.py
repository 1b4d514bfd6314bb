"""Types of C++ and the types of kernels that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...ir.types import (
    MAX_BITS,
    OVERFLOWS,
    ROUNDINGS,
    AlloType,
    Fixed,
    Int,
    UFixed,
    UInt,
    bfloat16,
    float16,
    float32,
    float64,
)
from ...ir.types import bool as bool_type
from .constants import integer_of
from .declarations import Declarations, Tokens, split
from .tokens import Token, text_of

_FIXED_WIDTH: Mapping[str, AlloType] = {
    f"{'' if signed else 'u'}int{width}_t": Int(width) if signed else UInt(width)
    for width in (8, 16, 32, 64)
    for signed in (True, False)
} | {"size_t": UInt(64)}
_FLOATS: dict[str, AlloType] = {"float": float32, "double": float64, "_Float16": float16}
_CLASSES: dict[str, AlloType] = {"half": float16, "bfloat16": bfloat16}  # of headers of tools for hardware
_WORDS = frozenset({"unsigned", "signed", "int", "short", "long", "char", "bool", *_FLOATS})
_IGNORED = frozenset(
    {"volatile", "register", "static", "struct", "typename", "__restrict__", "__restrict", "restrict"}
)
_VENDOR_INTEGERS = {"ap_int": Int, "ap_uint": UInt}
_VENDOR_FIXED = {"ap_fixed": Fixed, "ap_ufixed": UFixed}


class UnsupportedType(Exception):
    """A type that kernels have not; the text says which and why, and `hint` what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class CxxType:
    """The type of a parameter or a result; `element` is None for void.

    `extents` begins with None if the first extent is not written. `spelling` is the element in C++, `stream` the type
    of a FIFO of such elements.
    """

    element: AlloType | None
    spelling: str
    const: bool = False
    pointer: bool = False  # `T *` and `T (*)[8]`
    reference: bool = False
    extents: tuple[int | None, ...] = ()
    name: str = ""
    stream: str = ""

    @property
    def is_vendor(self) -> bool:
        """Whether it is a class of an HLS tool, whose objects may lie in memory in any way."""
        return "<" in self.spelling


class TypeReader:
    """Reads types in a file, where template parameters mean `types` and `values`."""

    def __init__(
        self, declarations: Declarations, types: Mapping[str, Tokens], values: Mapping[str, int]
    ) -> None:
        self.types = {**declarations.types, **types}
        self.constants = declarations.constants
        self.values = values

    def read(self, tokens: Tokens, pending: tuple[str, ...] = ()) -> CxxType:
        """The type that a declaration of a parameter, perhaps without a name, gives it; raises UnsupportedType."""
        default = next((k for k, t in enumerate(tokens) if t.text == "="), len(tokens))
        words = [token for token in tokens[:default] if token.text not in _IGNORED]
        position, base = self._base(words, pending)
        while position < len(words) and words[position].text in ("*", "&", "const"):
            text = words[position].text
            if text == "*" and (base.pointer or base.extents or base.reference):
                raise UnsupportedType(f"`{text_of(tokens)}` is a pointer to a pointer")
            if text == "&" and position + 1 < len(words) and words[position + 1].text == "&":
                raise UnsupportedType(f"`{text_of(tokens)}` is a reference to a temporary value")
            if text == "const":
                base = base if base.pointer else replace(base, const=True)
            else:
                base = replace(base, pointer=base.pointer or text == "*", reference=text == "&")
            position += 1
        return self._declarator(tuple(words[position:]), base, tokens)

    def _declarator(self, words: Tokens, base: CxxType, whole: Tokens) -> CxxType:
        """The name and what stands around it: `A[8][8]`, `(&A)[8]`, `(*A)[8]`."""
        position, leading = 0, list[int | None]()
        if words and words[0].text == "(":
            inner = [
                token.text
                for token in words[: next((k for k, t in enumerate(words) if t.text == ")"), 0) + 1]
            ]
            if inner[1:2] not in (["*"], ["&"]) or len(inner) not in (3, 4) or base.pointer:
                raise UnsupportedType(f"`{text_of(whole)}` is not a number or an array")
            base = replace(base, reference=inner[1] == "&", name="" if len(inner) == 3 else inner[2])
            leading = [None] if inner[1] == "*" else []
            position = len(inner)
        elif words and words[0].text.isidentifier():
            base, position = replace(base, name=words[0].text), 1
        extents: list[int | None] = []
        while position < len(words):
            end = next((k for k in range(position, len(words)) if words[k].text == "]"), None)
            if words[position].text != "[" or end is None:
                raise UnsupportedType(f"`{text_of(whole)}` is not a number or an array")
            extents.append(self._extent(words[position + 1 : end], not extents and not leading))
            position = end + 1
        if base.pointer and extents:
            raise UnsupportedType(f"`{text_of(whole)}` is an array of pointers")
        return replace(base, extents=(*leading, *extents, *base.extents))

    def _extent(self, tokens: Tokens, first: bool) -> int | None:
        if not tokens and first:
            return None
        try:
            value = integer_of(tokens, self.constants, self.values)
        except ValueError as error:
            raise UnsupportedType(f"the extent `{error}` is not an integer constant") from None
        if value < 1:
            raise UnsupportedType(
                f"the extent `{text_of(tokens)}` is {value}, and arrays have at least one element"
            )
        return value

    def _base(self, words: list[Token], pending: tuple[str, ...]) -> tuple[int, CxxType]:
        """The type in front of the declarator, and where that begins."""
        const, position = False, 0
        builtin: list[str] = []
        while position < len(words) and (words[position].text in _WORDS or words[position].text == "const"):
            const |= words[position].text == "const"
            builtin += [words[position].text] if words[position].text != "const" else []
            position += 1
        if builtin:
            return position, replace(_builtin(builtin), const=const)
        while position + 1 < len(words) and words[position + 1].text == "::":
            position += 2  # namespaces
        if position >= len(words):
            raise UnsupportedType(f"`{text_of(words)}` names no type")
        name = words[position].text
        position += 1
        if position < len(words) and words[position].text == "<":
            end = _closing_angle(words, position)
            named = self._vendor(name, split(words[position + 1 : end], ","), tuple(words[: end + 1]))
            position = end + 1
        else:
            named = self._named(name, pending)
        return position, replace(named, const=const or named.const, name="")

    def _named(self, name: str, pending: tuple[str, ...]) -> CxxType:
        if name in self.types and name not in pending:
            return self.read(self.types[name], (*pending, name))
        if name in _FIXED_WIDTH:
            return CxxType(_FIXED_WIDTH[name], name if name == "size_t" else f"std::{name}")
        if name in _CLASSES:
            return CxxType(_CLASSES[name], name)
        if name == "void":
            return CxxType(None, "void")
        raise UnsupportedType(f"kernels have no type `{name}`")

    def _vendor(self, name: str, arguments: tuple[Tokens, ...], whole: Tokens) -> CxxType:
        """`ap_int<W>`, `ap_fixed<W, I, Q, O>`, `hls::stream<T>`, and their unsigned forms."""
        try:
            if name == "stream" and len(arguments) in (1, 2):
                element = self.read(arguments[0])
                depth = [integer_of(argument, self.constants, self.values) for argument in arguments[1:]]
                if element.pointer or element.reference or element.extents or element.stream:
                    raise UnsupportedType(f"`{text_of(whole)}` is a stream of something else than numbers")
                inner = ", ".join([element.spelling, *map(str, depth)])
                return replace(element, stream=f"hls::stream<{inner}>", const=False)
            if name in _VENDOR_INTEGERS and len(arguments) == 1:
                width = integer_of(arguments[0], self.constants, self.values)
                if 1 <= width <= MAX_BITS:
                    return CxxType(_VENDOR_INTEGERS[name](width), f"{name}<{width}>")
            if name in _VENDOR_FIXED and 2 <= len(arguments) <= 4 and all(arguments):
                return self._fixed(name, arguments)
        except ValueError as error:
            raise UnsupportedType(f"`{error}` is not an integer constant") from None
        raise UnsupportedType(f"kernels have no type `{text_of(whole)}`")

    def _fixed(self, name: str, arguments: tuple[Tokens, ...]) -> CxxType:
        width, whole = (integer_of(argument, self.constants, self.values) for argument in arguments[:2])
        modes = [argument[-1].text for argument in arguments[2:]]
        rounding, overflow = (
            mode.lower().removeprefix("ap_") for mode in (*modes, *("AP_TRN", "AP_WRAP")[len(modes) :])
        )
        spelling = f"{name}<{', '.join([str(width), str(whole), *modes])}>"
        if (
            rounding not in ROUNDINGS
            or overflow not in OVERFLOWS
            or not 0 <= whole <= width <= MAX_BITS
            or width < 1
        ):
            raise UnsupportedType(f"kernels have no type `{spelling}`")
        return CxxType(_VENDOR_FIXED[name](width, width - whole, rounding, overflow), spelling)


def _builtin(words: list[str]) -> CxxType:
    """The type of keywords such as `unsigned long long`."""
    spelling = " ".join(words)
    kinds = set(words)
    if len(words) == 1 and words[0] in _FLOATS:
        return CxxType(_FLOATS[words[0]], words[0])
    if words == ["bool"]:
        return CxxType(bool_type, "bool")
    if kinds & {"bool", *_FLOATS}:
        raise UnsupportedType(f"kernels have no type `{spelling}`")
    if "char" in kinds:
        width, size = 8, "char"
    elif "short" in kinds:
        width, size = 16, "short"
    else:
        width, size = (64, " ".join(["long"] * words.count("long"))) if "long" in kinds else (32, "int")
    if "unsigned" in kinds:
        return CxxType(UInt(width), f"unsigned {size}")
    return CxxType(Int(width), "signed char" if size == "char" and "signed" in kinds else size)


def _closing_angle(words: list[Token], position: int) -> int:
    depth = angles = 0
    for k in range(position, len(words)):
        depth += (words[k].text in "([") - (words[k].text in ")]")
        if depth == 0:
            angles += (words[k].text == "<") - (words[k].text == ">")
            if angles == 0:
                return k
    return len(words) - 1
