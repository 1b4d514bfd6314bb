"""Tables of polynomials by pieces, computed in decimal numbers, which all machines round the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

type Function = Callable[[Decimal], Decimal]
type Pieces = Sequence[tuple[Decimal, Decimal]]  # where each begins, and how wide it is

DIGITS, _GUARD = 40, 32
# Chebyshev's nodes between 0 and 1: a polynomial through them is close to the best one
_NODES = {
    3: ("0.0669872981077806766", "0.5", "0.9330127018922193234"),
    4: ("0.0380602337443566302", "0.3086582838174551115", "0.6913417161825448885", "0.9619397662556433698"),
    6: ("0.0170370868554658", "0.1464466094067262", "0.3705904774487396", "0.6294095225512604", "0.8535533905932738",
        "0.9829629131445342"),
    7: ("0.0125360439090882", "0.1090842587659851", "0.2830581304412209", "0.5", "0.7169418695587791",
        "0.8909157412340149", "0.9874639560909118"),
    8: ("0.0096073597983848", "0.0842651938487273", "0.2222148834901989", "0.4024548389919359", "0.5975451610080641",
        "0.7777851165098011", "0.9157348061512727", "0.9903926402016152"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordTable:
    """A constant array of integers."""

    name: str
    words: tuple[int, ...]

    @property
    def is_signed(self) -> bool:
        return min(self.words) < 0

    @property
    def bits(self) -> int:
        """The width of an element."""
        most = max(word.bit_length() if word >= 0 else (-word - 1).bit_length() for word in self.words)
        return max(1, most) + self.is_signed


@cache
def powers_of_two() -> tuple[WordTable, ...]:
    """2 ** f in 256 pieces of 0 <= f < 1."""
    with localcontext(prec=DIGITS):
        ln2 = Decimal(2).ln()
        return tables("exp", lambda f: (f * ln2).exp(), even(0, 256, Decimal(1) / 256), (36, 36, 34))


@cache
def logarithms(base: int | None) -> tuple[WordTable, ...]:
    """log(1 + d) / d in 384 pieces of -1/4 <= d < 1/2; None: the natural logarithm."""
    return _logarithms(f"log{base or ''}", base, (36, 40, 40))


@cache
def exact_logarithms() -> tuple[WordTable, ...]:
    """Those to the base 2 with more digits, for powers."""
    return _logarithms("power", 2, (44, 46, 46, 46))


def _logarithms(name: str, base: int | None, digits: Sequence[int]) -> tuple[WordTable, ...]:
    with localcontext(prec=DIGITS):
        factor = scale(base)
        pieces = even(Decimal(-1) / 4, 384, Decimal(1) / 512)
        return tables(name, lambda d: (1 + d).ln() * factor / d if d else factor, pieces, digits)


@cache
def hyperbolic_tangents() -> tuple[WordTable, ...]:
    """tanh(x) / x: 32 pieces of 0 <= x < 1/16, then 64 from each power of two to the next, up to 16."""
    with localcontext(prec=DIGITS):
        pieces = even(0, 32, Decimal(1) / 512)
        for power in range(-4, 4):
            pieces += even(Decimal(2) ** power, 64, Decimal(2) ** (power - 6))
        return tables("tanh", tanh_by_x, pieces, (38, 40, 40, 40))


@cache
def sines() -> tuple[WordTable, ...]:
    """sin(r * pi / 2) / r in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return tables("sin", sine_by_r, even(0, 256, Decimal(1) / 512), (36, 36, 34))


@cache
def cosines() -> tuple[WordTable, ...]:
    """cos(r * pi / 2) in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return tables("cos", cosine, even(0, 256, Decimal(1) / 512), (36, 36, 34))


@cache
def tangents() -> tuple[WordTable, ...]:
    """tan(r * pi / 2) / r in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return tables("tan", lambda r: sine_by_r(r) / cosine(r), even(0, 256, Decimal(1) / 512), (36, 40, 40, 40))


@cache
def cotangents() -> tuple[WordTable, ...]:
    """r / tan(r * pi / 2) in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return tables("cot", lambda r: cosine(r) / sine_by_r(r), even(0, 256, Decimal(1) / 512), (36, 40, 40, 40))


@cache
def quarter_turns() -> tuple[WordTable, WordTable]:
    """2 ** k * 2 / pi modulo 4 for k from -35 to 104, 80 digits behind the point: the upper and the lower 41 digits."""
    digits = 80 + 104
    quotient = (1 << (digits + 1 + _GUARD + digits)) // pi(digits + _GUARD)
    words = [(quotient >> (digits - 80 - k)) % (1 << 82) for k in range(-35, 105)]
    low = (1 << 41) - 1
    upper, lower = tuple(word >> 41 for word in words), tuple(word & low for word in words)
    return WordTable("turn_1", upper), WordTable("turn_0", lower)


def log2_of_e(bits: int) -> int:
    """The logarithm of e to the base 2, with so many binary digits behind the point."""
    with localcontext(prec=DIGITS):
        return int((scale(2) * 2**bits).to_integral_value())


def log_of_2(base: int | None, bits: int) -> int:
    """The logarithm of 2, with so many binary digits behind the point."""
    with localcontext(prec=DIGITS):
        return int((Decimal(2).ln() * scale(base) * 2**bits).to_integral_value())


def scale(base: int | None) -> Decimal:
    """Logarithms to a base divided by natural ones."""
    return Decimal(1) if base is None else 1 / Decimal(base).ln()


def tanh_by_x(x: Decimal) -> Decimal:
    """tanh(x) / x."""
    power = (2 * x).exp()
    return (power - 1) / (power + 1) / x


@cache
def pi(digits: int) -> int:
    """pi with so many binary digits behind the point, by Machin's formula."""

    def arctangent(x: int) -> int:  # of 1 / x
        total, term, n = 0, (1 << digits + 32) // x, 1
        while term:
            total += term // n if n % 4 == 1 else -(term // n)
            term, n = term // (x * x), n + 2
        return total

    return (16 * arctangent(5) - 4 * arctangent(239)) >> 32


def sine_by_r(r: Decimal) -> Decimal:
    """sin(r * pi / 2) / r, by its series."""
    angle = r * Decimal(pi(160)) / (1 << 161)
    total, term, n = Decimal(0), angle, 1
    while total + term != total:
        total, term, n = total + term, -term * angle * angle / ((n + 1) * (n + 2)), n + 2
    return total / r


def cosine(r: Decimal) -> Decimal:
    """cos(r * pi / 2) = 1 - 2 * sin(half the angle) ** 2."""
    sine = sine_by_r(r / 2) * r / 2
    return 1 - 2 * sine * sine


def even(start: Decimal | int, count: int, width: Decimal) -> list[tuple[Decimal, Decimal]]:
    """So many neighbours."""
    return [(start + k * width, width) for k in range(count)]


def tables(name: str, function: Function, pieces: Pieces, digits: Sequence[int]) -> tuple[WordTable, ...]:
    """For each power of t, which goes from 0 to 1 in a piece, its coefficients with `digits` behind the point."""
    nodes = [Decimal(node) for node in _NODES[len(digits)]]
    rows = [_through(nodes, [function(start + node * width) for node in nodes]) for start, width in pieces]
    return tuple(
        WordTable(f"{name}_{power}", tuple(int((row[power] * 2**bits).to_integral_value()) for row in rows))
        for power, bits in enumerate(digits)
    )


def _through(nodes: Sequence[Decimal], values: Sequence[Decimal]) -> list[Decimal]:
    """The coefficients of the polynomial with these values, by divided differences."""
    differences = list(values)
    for depth in range(1, len(nodes)):
        for k in reversed(range(depth, len(nodes))):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - depth])
    made: list[Decimal] = [Decimal(0)]
    for difference, node in zip(reversed(differences), reversed(nodes), strict=True):
        made = [Decimal(0), *made]  # times t
        for power in range(len(made) - 1):
            made[power] -= node * made[power + 1]
        made[0] += difference
    return made[: len(nodes)]
