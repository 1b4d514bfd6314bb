"""Decides which identifiers of C++ the names of kernels become."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
        constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
        export extern false float for friend goto if inline int long mutable namespace new noexcept not
        not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
        signed sizeof static static_assert static_cast struct switch template this thread_local throw true
        try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq half
        std hls main NAN INFINITY NULL EOF errno assert floor_div floor_mod ceil_div absolute reversed
        from_bits fixed_div integer_of bits_of float_of double_of half_of bfloat16 to_signed to_unsigned maximum
        minimum maximum_number minimum_number Word Words call_kernel load_bits store_bits""",
    )
)
# of the C library, which has them in the global namespace
_FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        """abs acos asin atan atan2 ceil cos cosh div exp exp2 fabs floor fmax fmin fmod gamma j0 j1 jn labs
        ldiv lgamma log log10 log1p log2 logb pow remainder remove rename rint round signal sin sinh sqrt
        tan tanh time trunc y0 y1 yn index memcpy memset memmove printf puts read write copy exit abort
        select free malloc""",
    )
)


class Names:
    """Names in use: those of the file, which its functions share, and those of one function."""

    __slots__ = ("_own", "_shared")

    def __init__(self, shared: AbstractSet[str] = frozenset(), own: AbstractSet[str] = frozenset()) -> None:
        self._shared = shared
        self._own = set(own)

    def __contains__(self, name: str) -> bool:
        return name in self._own or name in self._shared

    def add(self, name: str) -> None:
        self._own.add(name)

    def copy(self) -> Names:
        """The same names; what is added to one of the two is not in the other."""
        return Names(self._shared, self._own)


def identifier(name: str, taken: set[str] | Names, *, function: bool = False) -> str:
    """`name` as an identifier that is not in `taken`, which gets it."""
    text = re.sub(r"\W", "_", name)
    text = re.sub(r"__+", "_", text)  # compilers keep names with two underscores to themselves
    if not text or text[0].isdigit():
        text = f"v{text}"
    if (
        text in _KEYWORDS
        or text.startswith(("ap_", "int8_t", "uint8_t"))
        or (function and text in _FUNCTIONS)
    ):
        text += "_"
    found, number = text, 1
    while found in taken:
        found = f"{text}_{number}"
        number += 1
    taken.add(found)
    return found
