"""Identifiers of C++ for the names of kernels."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
        constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
        export extern false float for friend goto if inline int long mutable namespace new noexcept not
        not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
        signed sizeof static static_assert static_cast struct switch template this thread_local throw true
        try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
        char8_t char16_t char32_t concept consteval constinit co_await co_return co_yield requires half size_t
        std hls ihls tapa ac component main NAN SNAN INFINITY MAXFLOAT NULL EOF EDOM ERANGE BUFSIZ TMP_MAX WEOF
        errno assert alloca offsetof stdin stdout stderr linux unix math_errhandling
        BIG_ENDIAN LITTLE_ENDIAN BYTE_ORDER CHAR_BIT LONG_BIT WORD_BIT floor_div floor_mod ceil_div absolute reversed
        from_bits fixed_div integer_of bits_of float_of double_of half_of bfloat16 to_signed to_unsigned maximum
        minimum maximum_number minimum_number Word Words call_kernel load_bits store_bits
        allo_sim allo_csim""",
    )
)
# names of types and of vendors, structs of the code, macros of the C library (M_PI, INT8_MAX, FLT_EPSILON, FP_NAN, ...)
_RESERVED = re.compile(
    r"""u?int(8|16|32|64)_t | ALLO_SIM_.* | (ap|ac|hls|AP|HLS)_.* | struct_\d+(_of)? | _[A-Z].*
    | M_(E|PI|[12]_|SQRT|LN|LOG).* | ((FP|MATH|EXIT|SEEK|FD)_|HUGE_VAL|SNAN).*
    | (U?(INT|CHAR|SHRT|LONG|LLONG)|SCHAR|PTRDIFF|S?SIZE|SIG_ATOMIC|WCHAR|WINT|RAND|FLT|L?DBL|DECIMAL)
      (8|16|32|64|MAX|PTR|_FAST\d+|_LEAST\d+)?_(C|MAX|MIN|WIDTH|EPSILON|DIG|RADIX|.*_DIG|.*_EXP|TRUE_MIN)""",
    re.VERBOSE,
)
# of the C library, which has them in the global namespace; those of numbers also with an f or l behind them
_MATHEMATICS = re.findall(
    r"\w+",
    """acos acosh asin asinh atan atan2 atanh canonicalize cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2
    expm1 fabs fadd fdim fdiv ffma finite floor fma fmax fmaximum fmaximum_num fmaxmag fmin fminimum fminimum_num
    fminmag fmod fmul frexp fromfp fromfpx fsqrt fsub daddl ddivl dfmal dmull dsqrtl dsubl gamma getpayload hypot
    ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint llround log log10 log1p log2 logb lrint lround modf nan
    nearbyint nextafter nextdown nexttoward nextup pow remainder remquo rint round roundeven scalb scalbln scalbn
    significand sin sincos sinh sqrt tan tanh tgamma totalorder trunc ufromfp y0 y1 yn""",
)
_OTHERS = re.findall(
    r"\w+",
    """abort abs accept alarm atexit atof atoi atol atoll basename bcmp bcopy bind bsearch bzero calloc clock close
    connect copy div drand48 dup erand48 exit ffs ffsl ffsll fork fpclassify free getenv index isfinite isgreater
    isless isnormal isunordered kill labs ldiv link listen llabs lldiv malloc memchr memcmp memcpy memmove memset
    mktemp nice open pause pipe pread printf puts putenv pwrite qsort raise rand random read realloc recv remove
    rename rindex seed48 select send setenv setstate signal signbit sleep socket srand srandom stat strcat strchr
    strcmp strcpy strdup strlen strncmp strncpy strsep strstr strtod strtok strtol swab sync system time toupper
    truncate unlink valloc wait write
    blkcnt_t blksize_t caddr_t clock_t clockid_t daddr_t dev_t div_t double_t float_t fsid_t gid_t id_t ino_t
    int_fast16_t
    int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t intmax_t intptr_t key_t
    ldiv_t lldiv_t locale_t loff_t max_align_t mode_t nlink_t off_t pid_t ptrdiff_t quad_t sigset_t ssize_t suseconds_t
    time_t timer_t u_char u_int u_long u_short uid_t uint uint_fast16_t uint_fast32_t uint_fast64_t uint_fast8_t
    uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong useconds_t ushort""",
)
_FUNCTIONS = frozenset([name + suffix for name in _MATHEMATICS for suffix in ("", "f", "l")] + _OTHERS)


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
    text = _spelled(name, function)
    found, number = text, 1
    while found in taken:
        found = f"{text}_{number}"
        number += 1
    taken.add(found)
    return found


@lru_cache(maxsize=1 << 12)
def _spelled(name: str, function: bool) -> str:
    """`name` with letters that C++ has, and no name of its own."""
    text = re.sub(r"[^\x00-\x7f]", lambda letter: f"u{ord(letter[0]):x}", name)  # as Verilog has no such letters
    text = re.sub(r"\W", "_", text)
    text = re.sub(r"__+", "_", text)  # compilers keep names with two underscores to themselves
    if not text or text[0].isdigit():
        text = f"v{text}"
    if text in _KEYWORDS or _RESERVED.fullmatch(text) or (function and text in _FUNCTIONS):
        text += "_"
    return text
