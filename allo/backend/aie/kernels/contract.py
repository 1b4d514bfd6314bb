"""Contracts of kernels for products of matrices: shapes that they take, layouts, cycles, and their text in C++."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ....layout import ArrayMove, MovedDigit
from ....target import ProcessorArray

PAIRED = "i4"
NAMES_OF_ELEMENTS = {"i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "bf16": "bfloat16", "f32": "float"}


@dataclass(frozen=True, slots=True)
class ProductContract:
    """A kernel `c = a * b`, or `c = sums + a * b` with `starts`: `rows x terms` by `terms x columns`.

    Matrices are rows of blocks, each row by row, of a native shape m x k x n: a of m x k, b of k x n, sums and c of
    m x n (Dato paper, section 5.1: admissible shapes, layouts, cost).
    """

    element: str
    second_element: str  # of b; numbers of "i4" are two in a byte
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
        return f"product{start}_{self.product}_{self.result}_{self.rows}x{self.terms}x{self.columns}"

    @property
    def product(self) -> str:
        """The name of the target's products that it is made of."""
        return product_name(self.element, self.second_element)

    @property
    def text(self) -> str:
        """The file that defines it."""
        kind, result = NAMES_OF_ELEMENTS[self.element], NAMES_OF_ELEMENTS[self.result]
        second = "int4" if self.takes_pairs else kind
        m, k, n = self.shape
        extents = f"{m}, {k}, {n}, {self.rows}, {self.terms}, {self.columns}"
        start, sums = ("sums", f"const {result} *sums, ") if self.starts else ("zero", "")
        given = "sums" if self.starts else f"static_cast<const {result} *>(nullptr)"
        return (
            f'#include "allo_kernels.h"\n\n'
            f'extern "C" void {self.name}(const {kind} *a, const {kind} *b, {sums}{result} *c) {{\n'
            f"  allo_kernels::set_modes();\n"
            f"  allo_kernels::product<{extents}, allo_kernels::Start::{start}, {str(self.turned).lower()}, {second}>"
            f"(a, b, {given}, c);\n}}\n"
        )

    @property
    def takes_pairs(self) -> bool:
        """Whether two numbers of b are in a byte."""
        return self.second_element == PAIRED

    def cycles(self, array: ProcessorArray) -> int:
        """Cycles of a call: an instruction for each product of blocks, and one more for each block of results."""
        return product_cycles(array, self.product, self.rows, self.terms, self.columns, (self.shape,))

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


def product_name(element: str, second: str) -> str:
    """The name of products of two elements in files of targets."""
    return element if element == second else f"{element}x{second}"


def product_cycles(
    array: ProcessorArray, product: str, rows: int, terms: int, columns: int,
    shapes: tuple[tuple[int, int, int], ...],
) -> int:  # fmt: skip
    """The cycles of one product in blocks of the best of these shapes, with the call."""
    rate, timing = array.products[product].rate, array.timing
    return timing.call + min(
        ceil(rows / m) * ceil(columns / n) * (ceil(terms / k) + timing.block) * ceil(m * k * n / rate)
        for m, k, n in shapes
    )


def contract_for(
    array: ProcessorArray, elements: tuple[str, str], result: str, extents: tuple[int, int, int], *, starts: bool,
    turned: bool,
) -> ProductContract | str:  # fmt: skip
    """The kernel for a product of `extents`, rows, terms and columns, of these elements; why there is none, if so."""
    product = product_name(*elements)
    if product not in array.products or result not in NAMES_OF_ELEMENTS:
        return f"the vector unit of {array.part} has no products of {product} that are summed in {result}"
    rows, terms, columns = extents
    shapes = [
        (m, k, n) for m, k, n in array.products[product].shapes
        if not (rows % m or terms % k or columns % n)
    ]  # fmt: skip
    if not shapes:
        listed = ", ".join("x".join(map(str, shape)) for shape in array.products[product].shapes)
        return f"{rows}x{terms}x{columns} of {product} is not made of blocks of {listed}"
    best = min(shapes, key=lambda shape: product_cycles(array, product, rows, terms, columns, (shape,)))
    return ProductContract(*elements, result, rows, terms, columns, best, starts, turned)


def _blocked(extents: tuple[int, int], block: tuple[int, ...], strides: tuple[int, int]) -> ArrayMove:
    (m, n), (a, b) = extents, block
    loops = (m // a, n // b, a, b)
    source = (a * strides[0], b * strides[1], strides[0], strides[1])
    return ArrayMove.of(loops, source, (n * a, a * b, b, 1))
