"""Operations of one iteration of the fused M-N loop of a GEMM kernel, and in which order they depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from ...errors import ContractionError
from .machine import XDNA1, IssueSlot, VliwMachine

_OTHERS = "kernels of the AIE API (contraction_kernels) have edges, and transposed tiles"
LOADS = (IssueSlot.LOAD_B, IssueSlot.LOAD_A)


@dataclass(frozen=True, slots=True)
class GemmShape:
    """A GEMM of bfloat16 on tiles as `mkrs,knst->mnrt`, blocks of 4 x 8 and 8 x 4, and where they lie, in bytes.

    The tile of the output is read, added to, and written: `addresses` are those of in0, in1 and out.
    """

    m: int = 64
    k: int = 80
    n: int = 64
    addresses: tuple[int, int, int] = (0, 16384, 32768)
    machine: VliwMachine = XDNA1

    def __post_init__(self) -> None:
        for name, size, unit in (("M", self.m, 16), ("N", self.n, 16), ("K", self.k, 8)):
            if isinstance(size, bool) or not isinstance(size, int) or size < unit or size % unit:
                why = "blocks of 4 x 4 sub-matrices fill its 16 sums" if unit == 16 else "a product has 8"
                message = f"{name} = {size!r}: the kernel takes multiples of {unit}, for {why}"
                raise ContractionError(message, hint=_OTHERS)
        if self.k < 24:
            message = f"K = {self.k}: the kernel loads two steps of K ahead, and needs three, 24, at least"
            raise ContractionError(message, hint=_OTHERS)
        limit = self.machine.banks * self.machine.bank_bytes
        ends = [(a, a + size) for a, size in zip(self.addresses, self.bytes, strict=True)]
        for name, (start, end) in zip(("in0", "in1", "out"), ends, strict=True):
            if start < 0 or start % 32 or end > limit:
                message = f"{name} lies at {start} to {end}: tiles begin at multiples of 32"
                raise ContractionError(f"{message} and end within {limit} bytes")
        for (a, b), (x, y) in ((ends[0], ends[1]), (ends[0], ends[2]), (ends[1], ends[2])):
            if a < y and x < b:
                raise ContractionError(f"two tiles share bytes {max(a, x)} to {min(b, y)}")

    @property
    def bytes(self) -> tuple[int, int, int]:
        """The sizes of the tiles."""
        return 2 * self.m * self.k, 2 * self.k * self.n, 2 * self.m * self.n

    @property
    def steps(self) -> int:
        """Blocks along K."""
        return self.k // 8

    @property
    def iterations(self) -> int:
        """Blocks of 16 x 16 of the output."""
        return self.m * self.n // 256

    @property
    def products(self) -> int:
        """Instructions that multiply: no kernel of this shape has fewer."""
        return self.m * self.k * self.n // 128

    def banks(self, tensor: int) -> frozenset[int]:
        """The banks that a tile lies in."""
        first = self.addresses[tensor]
        last = first + self.bytes[tensor] - 1
        size = self.machine.bank_bytes
        return frozenset(self.machine.bank(a) for a in range(first - first % size, last + 1, size))


@dataclass(frozen=True, slots=True)
class TileOperation:
    """An operation on blocks: `kind` of load A, load B, load C, multiply, store C; a load has half of a block.

    `step` is the block of K, `row` and `column` those of the 4 x 4 blocks of the output.
    """

    kind: str
    step: int = 0
    row: int = 0
    column: int = 0
    half: int = 0

    @property
    def tensor(self) -> int | None:
        """The tensor that it moves, if any."""
        return {"load A": 0, "load B": 1, "load C": 2, "store C": 2}.get(self.kind)


type Product = tuple[int, int, int]  # the block of K, the row and the column of the blocks of the output


def product_orders(shape: GemmShape) -> dict[str, list[Product]]:
    """Orders of the products of an iteration, by name.

    `"steps"`: all 16 blocks of the output for one step of K after the other, as in the thesis. `"pairs"`: for two
    steps of K at a time, first the upper half of the blocks, then the lower half. There, the sums of a half are ready
    16 products before those of the other, so that what is read and written of the output spreads over more cycles
    than it has accesses, and no two of them meet in its bank.
    """
    square = sorted(product(range(4), repeat=2), key=lambda at: (max(at), min(at), at))
    halves = [[(2 * half + r, c) for c in range(4) for r in range(2)] for half in range(2)]
    pairs: list[Product] = []
    middle = shape.steps // 4 * 2  # where a step that is left over stands alone
    sizes = [1 if shape.steps % 2 and k == middle // 2 else 2 for k in range((shape.steps + 1) // 2)]
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    for start, size in zip(starts, sizes, strict=True):
        group = range(start, start + size)
        pairs += [(k, r, c) for half in halves for k in group for r, c in half]
    return {"pairs": pairs, "steps": [(k, r, c) for k in range(shape.steps) for r, c in square]}


def iteration(shape: GemmShape, order: list[Product]) -> dict[str, list[TileOperation]]:
    """The operations of one iteration by kind, each in the order in which it is needed."""
    firsts = [at for at in order if at[0] == 0]
    lasts = [at for at in order if at[0] == shape.steps - 1]
    rows = dict.fromkeys((k, r) for k, r, _ in order)
    columns = dict.fromkeys((k, c) for k, _, c in order)
    return {
        "multiply": [TileOperation("multiply", k, r, c) for k, r, c in order],
        "load A": [TileOperation("load A", k, row=r, half=h) for k, r in rows for h in (0, 1)],
        "load B": [TileOperation("load B", k, column=c, half=h) for k, c in columns for h in (0, 1)],
        "load C": [TileOperation("load C", row=r, column=c) for _, r, c in firsts],
        "store C": [TileOperation("store C", row=r, column=c) for _, r, c in lasts],
    }
