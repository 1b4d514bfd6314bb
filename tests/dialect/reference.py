"""Fixed-point and integer formats in exact Python arithmetic: what the compiled code must agree with."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allo.ir.quantize import mantissa
from allo.ir.types import Fixed, UFixed


@dataclass(frozen=True, slots=True)
class Format:
    """An integer of `width` bits, divided by 2**frac; `modes` are the words for rounding and overflow."""

    signed: bool
    width: int
    frac: int = 0
    modes: tuple[str, str] = ("trn", "wrap")

    @property
    def type(self) -> str:
        """The fixed-point type in MLIR."""
        words = "".join(f", {mode}" for mode in self.modes)
        return f"!allo.{'' if self.signed else 'u'}fixed<{self.width}, {self.frac}{words}>"

    @property
    def container(self) -> np.dtype:
        width = max(8, 1 << (self.width - 1).bit_length())
        return np.dtype(f"{'i' if self.signed else 'u'}{width // 8}")

    @property
    def least(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << (self.width - (1 if self.signed else 0))) - 1

    def wrap(self, mantissa: int) -> int:
        """The mantissa with the same low bits that is in range."""
        low = mantissa & ((1 << self.width) - 1)
        return low - (1 << self.width) if self.signed and low > self.greatest else low

    def value(self, mantissa: int) -> Fraction:
        return Fraction(int(mantissa), 1 << self.frac)

    def convert(self, value: Fraction | float) -> int:
        """The mantissa of `value`."""
        return mantissa(value, (Fixed if self.signed else UFixed)(self.width, self.frac, *self.modes))

    def samples(self, count: int, seed: int) -> np.ndarray:
        """Mantissas: the edges of the range, numbers about zero, and random ones."""
        edges = [self.least, self.least + 1, self.greatest, self.greatest - 1, 0, 1, self.greatest // 2, -1, -2]
        generator = np.random.default_rng(seed)
        random = [self.wrap(int.from_bytes(generator.bytes(16), "little")) for _ in range(count - len(edges))]
        return np.array([*map(self.wrap, edges), *random], dtype=self.container)


def expected(function: Callable[..., int], target: Format, *columns: np.ndarray) -> np.ndarray:
    """`function` applied to Python integers, row by row."""
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return np.array([function(*row) for row in rows], dtype=target.container)
