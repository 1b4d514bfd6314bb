"""Dialects of vendors: names of types, bits and functions, which the printer writes as AMD's tools have them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ....errors import TargetError
from .escape import uncommented

_INTEGER = re.compile(r"\bap_(u?)int<([^<>]+)>")
_FIXED = re.compile(r"\bap_(u?)fixed<([^<>,]+,[^<>]+)>")
_NUMBER = re.compile(r'\bap_(u?)int<(\d+)>\("(-?\d+)", 10\)')
_FLOAT = re.compile(r"\b(float|double)\b")
_FUNCTION = re.compile(r"\bhls::(?=\w+\()")
_INLINE = re.compile(r"^#pragma HLS inline\n", re.MULTILINE)
_UNROLLED = re.compile(r"^( *)(for \(.*\n)#pragma HLS unroll\n", re.MULTILINE)


class Words(Protocol):
    """How bits of an integer are read and replaced."""

    def part(self, word: str, high: str, low: str, width: int) -> str: ...

    def change(self, high: str, low: str, value: str) -> str:
        """What stands behind the name of the integer, without the semicolon."""
        ...


@dataclass(frozen=True, slots=True)
class AmdWords:
    """`word.range(high, low)`."""

    def part(self, word: str, high: str, low: str, width: int) -> str:
        return f"{word}.range({high}, {low})"

    def change(self, high: str, low: str, value: str) -> str:
        return f".range({high}, {low}) = {value}"


@dataclass(frozen=True, slots=True)
class AcWords:
    """`word.slc<width>(low)`, `word.set_slc(low, value)`."""

    def part(self, word: str, high: str, low: str, width: int) -> str:
        return f"{word}.slc<{width}>({low})"

    def change(self, high: str, low: str, value: str) -> str:
        return f".set_slc({low}, {value})"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The headers, each with what occurs in code that needs it; types without a header are refused.

    `folder` has the functions of the prelude that are written otherwise; `respell` changes the names in the whole file.
    """

    integers: str
    fixed: str
    half: str
    mathematics: str
    streams: str
    folder: str = ""
    always: tuple[str, ...] = ()
    respell: Callable[[str], str] | None = None
    has_floats: bool = True
    standard: tuple[str, ...] = ("algorithm", "cmath", "cstdint", "cstring")

    def checked(self, text: str, vendor: str) -> str:
        """The text in the names of this vendor; TargetError for a type that it lacks."""
        if not self.half and re.search(r"\bhalf\b", uncommented(text)):
            raise TargetError(f"{vendor} has no type for float16", hint="use bfloat16 or float32")
        if not self.has_floats and (found := _FLOAT.search(uncommented(text))):
            raise TargetError(f"{vendor} computes with integers only, and the code has a {found[0]}", hint="use Fixed")
        return self.respell(text) if self.respell is not None else text


def _ac_fixed(found: re.Match[str]) -> str:
    width, whole, *modes = (part.strip().replace("AP_", "AC_") for part in found[2].split(","))
    return f"ac_fixed<{', '.join([width, whole, _sign(found), *modes])}>"


def _sign(found: re.Match[str]) -> str:
    return "false" if found[1] else "true"


def _ac_number(found: re.Match[str]) -> str:
    """Numbers beyond 64 bits are given by their bits."""
    width = int(found[2])
    bits = int(found[3]) & ((1 << width) - 1)
    return f'ac::bit_fill_hex<ac_int<{width}, {_sign(found)}>>("{bits:0{-(-width // 4)}x}")'


def ac_names(unroll: str) -> Callable[[str], str]:
    """The names of the Algorithmic C data types, and of functions of the standard library."""

    def respell(text: str) -> str:
        text = _NUMBER.sub(_ac_number, text)
        text = _INTEGER.sub(lambda found: f"ac_int<{found[2]}, {_sign(found)}>", text)
        text = _FIXED.sub(_ac_fixed, text)
        text = _UNROLLED.sub(rf"{unroll}\n\1\2", _INLINE.sub("", text))
        return _FUNCTION.sub("std::", text)

    return respell


AMD_WORDS = AmdWords()
AMD_DIALECT = Dialect("ap_int.h", "ap_fixed.h", "hls_half.h", "hls_math.h", "hls_stream.h")
