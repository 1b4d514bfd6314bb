"""Contracts of kernels for products of matrices: shapes that they take, layouts, cycles, and their text in C++."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ....layout import ArrayMove, MovedDigit
from ....target import ProcessorArray

NAMES_OF_ELEMENTS = {"i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "bf16": "bfloat16", "f32": "float"}


@dataclass(frozen=True, slots=True)
class ProductContract:
    """A kernel `c = a * b`, or `c = sums + a * b` with `starts`: `rows x terms` by `terms x columns`.

    Matrices are rows of blocks, each row by row, of a native shape m x k x n: a of m x k, b of k x n, sums and c of
    m x n (Dato paper, section 5.1: admissible shapes, layouts, cost).
    """

    element: str
    result: str
    rows: int
    terms: int
    columns: int
    shape: tuple[int, int, int]
    starts: bool
    turned: bool  # blocks of b are columns one after the other

    @property
    def name(self) -> str:
        """The function of C++."""
        start = ("_on" if self.starts else "") + ("_turned" if self.turned else "")
        return f"product{start}_{self.element}_{self.result}_{self.rows}x{self.terms}x{self.columns}"

    @property
    def text(self) -> str:
        """The file that defines it."""
        kind, result = NAMES_OF_ELEMENTS[self.element], NAMES_OF_ELEMENTS[self.result]
        m, k, n = self.shape
        extents = f"{m}, {k}, {n}, {self.rows}, {self.terms}, {self.columns}"
        start, sums = ("sums", f"const {result} *sums, ") if self.starts else ("zero", "")
        given = "sums" if self.starts else f"static_cast<const {result} *>(nullptr)"
        return (
            f'#include "allo_kernels.h"\n\n'
            f'extern "C" void {self.name}(const {kind} *a, const {kind} *b, {sums}{result} *c) {{\n'
            f"  allo_kernels::set_modes();\n"
            f"  allo_kernels::product<{extents}, allo_kernels::Start::{start}, {str(self.turned).lower()}>"
            f"(a, b, {given}, c);\n}}\n"
        )

    def cycles(self, array: ProcessorArray) -> int:
        """Cycles of a call: an instruction for each product of blocks, and one more for each block of results."""
        return product_cycles(array, self.element, self.rows, self.terms, self.columns, (self.shape,))

    def first(self, strides: tuple[int, int]) -> ArrayMove:
        """How `a`, of rows and terms with these strides, becomes blocks."""
        return _blocked((self.rows, self.terms), self.shape[:2], strides)

    def second(self, strides: tuple[int, int]) -> ArrayMove:
        """How `b`, of terms and columns with these strides, becomes blocks."""
        blocked = _blocked((self.terms, self.columns), self.shape[1:], strides)
        if not self.turned:
            return blocked
        *around, inner, innermost = blocked.digits
        k, n = self.shape[1:]
        return ArrayMove((*around, MovedDigit(n, innermost.source, k), MovedDigit(k, inner.source, 1)))

    def third(self, strides: tuple[int, int]) -> ArrayMove:
        """How sums, of rows and columns with these strides, become blocks."""
        return _blocked((self.rows, self.columns), self.shape[::2], strides)


def product_cycles(
    array: ProcessorArray, element: str, rows: int, terms: int, columns: int,
    shapes: tuple[tuple[int, int, int], ...],
) -> int:  # fmt: skip
    """The cycles of one product in blocks of the best of these shapes, with the call."""
    rate, timing = array.products[element].rate, array.timing
    return timing.call + min(
        ceil(rows / m) * ceil(columns / n) * (ceil(terms / k) + timing.block) * ceil(m * k * n / rate)
        for m, k, n in shapes
    )


def contract_for(
    array: ProcessorArray, element: str, result: str, extents: tuple[int, int, int], *, starts: bool, turned: bool
) -> ProductContract | str:
    """The kernel for a product of `extents`, rows, terms and columns; why there is none, if so."""
    if element not in array.products or result not in NAMES_OF_ELEMENTS:
        return f"the vector unit of {array.part} has no products of {element} that are summed in {result}"
    rows, terms, columns = extents
    shapes = [
        (m, k, n) for m, k, n in array.products[element].shapes
        if not (rows % m or terms % k or columns % n)
    ]  # fmt: skip
    if not shapes:
        listed = ", ".join("x".join(map(str, shape)) for shape in array.products[element].shapes)
        return f"{rows}x{terms}x{columns} of {element} is not made of blocks of {listed}"
    best = min(shapes, key=lambda shape: product_cycles(array, element, rows, terms, columns, (shape,)))
    return ProductContract(element, result, rows, terms, columns, best, starts, turned)


def _blocked(extents: tuple[int, int], block: tuple[int, ...], strides: tuple[int, int]) -> ArrayMove:
    (m, n), (a, b) = extents, block
    loops = (m // a, n // b, a, b)
    source = (a * strides[0], b * strides[1], strides[0], strides[1])
    return ArrayMove.of(loops, source, (n * a, a * b, b, 1))
