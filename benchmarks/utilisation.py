"""Contractions of the thesis on the model of the array, beside its measurements: `python -m benchmarks.utilisation`.

Source: Steinert (2025), section 6.4. Its text has the expressions and tiles of Fig. 13, and of the four contractions of
Fig. 14 only the arithmetic intensity of their kernels: so all tiles of that intensity that its rules allow are asked
what cores and streams leave at most, and the best of them is simulated. So are the four contractions themselves, with
the sizes that their benchmark is known to give them. What a kernel takes is known from one core: the
AIE API kernel of 64 x 64 x 64 reaches 87.3 % of peak (section 6.3), and blocks of 16 x 16 have the rest in equal parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from allo.importers.einsum import binary_tec, operand
from allo.mapping.teir import DataType, TecPlan
from allo.mapping.teir.npu import NpuProgram, npu_program, timed_on_array

ROWS, TILES, ALL_TILES = "adcf,cfbe->adbe", "acdf,bcfe->adbe", "acdf,bcfe->abde"  # the layouts of Fig. 13
CLOCKS = {"powersaver": 790, "balanced": 1020, "turbo": 1790}
KERNEL = 2346  # cycles of 64 x 64 x 64: 87.3 % of peak
ROOM = 32256  # bytes of the three tiles of one set
Tile = tuple[int, int, int]

# Fig. 14 in the order of the thesis: intensity of the kernel in operations per byte, layout, utilisation.
PUBLISHED = (
    ((5.85, 5.95), TILES, "36"), ((14.5, 15.5), TILES, "56"), ((22.0, 99.0), ROWS, "70"), ((22.0, 99.0), TILES, "78.5"),
)  # fmt: skip

# The members of Springer and Bientinesi's benchmark with the highest arithmetic intensity, and M, N and K of the labels
# that tiles cut there: ab-ac-cb with sizes of 5136, 5120 and 5136, and three with 72 for each label (abcd-aebf-fdec,
# abcd-eafd-fbec, abcd-aebf-dfce), which are the same if inputs lie in tiles. From memory: the thesis has no sizes.
SHAPES = {"ab-ac-cb": ((5136, 5120, 5136), (1, 1, 1)), "abcd-aebf-dfce": ((72, 72, 72), (72, 72, 72))}
MOST_LOOPS = 32  # iterations of each loop that are simulated; more of them change nothing


def program_of(expression: str, tile: Tile, a: int = 8, b: int = 8, c: int = 64) -> NpuProgram:
    """The contraction with the loops of Fig. 13 around a tile: one unrolled loop, as its descriptors allow."""
    sizes = dict(zip("abcdef", (a, b, c, *tile), strict=True))
    inputs, output = expression.split("->")
    first, second = (operand(labels, sizes) for labels in inputs.split(","))
    plan = TecPlan.begin(binary_tec(first, second, output, sizes, DataType.BF16))
    plan = plan.primitive("GEMM", "d", "e", "f").permute(*"abcdef")
    for name in "abc":
        plan = plan.execute(name, "npu")
    return npu_program(plan.tec)


def kernel_cycles(tile: Tile) -> int:
    """Cycles of the kernel of a tile (M, N, K), an estimate: products, loads or waits for sums, and ends of blocks.

    A step of K in a block of i x j sub-matrices has i * j products, i + j pairs of loads, and sums that wait for the
    product before, of 6 cycles.
    """
    m, n, k = tile
    per_block = (KERNEL - 64**3 // 128) / 16
    blocks = product(range(0, m, 16), range(0, n, 16))
    sides = ((min(16, m - row) // 4, min(16, n - column) // 4) for row, column in blocks)
    return round(sum(max(i * j, i + j, 6) * k // 8 + per_block for i, j in sides))


def bound(tile: Tile) -> float:
    """The most that cores and streams of four bytes a cycle leave of the peak."""
    m, n, k = tile
    return m * n * k / 128 / max(kernel_cycles(tile), m * k / 2, k * n / 2)


def tiles_of(least: float, most: float) -> Iterator[Tile]:
    """Tiles that a core has room for, whose products need between `least` and `most` operations per byte."""
    for m, n in product(range(4, 512, 4), repeat=2):
        for k in range(8, min(512, (ROOM // 2 - m * n) // (m + n) + 1), 8):
            if least <= intensity((m, n, k)) < most:
                yield m, n, k


def tiles_bound_near(least: float, most: float, utilisation: float) -> list[Tile]:
    """Tiles of an intensity whose bound is within a point of `utilisation`."""
    return [tile for tile in tiles_of(least, most) if abs(bound(tile) - utilisation) <= 0.01]


def dividing_tile(sizes: Tile) -> Tile:
    """The tile without edges of which cores and streams leave most."""
    sides = (range(unit, min(size, 256) + 1, unit) for size, unit in zip(sizes, (4, 4, 8), strict=True))
    tiles = product(*([k for k in side if size % k == 0] for side, size in zip(sides, sizes, strict=True)))
    return max(((m, n, k) for m, n, k in tiles if 2 * (m * k + k * n + m * n) <= ROOM), key=bound)


def intensity(tile: Tile) -> float:
    """Operations per byte of one call of the kernel."""
    m, n, k = tile
    return m * n * k / (m * k + k * n + m * n)


def shown(program: NpuProgram, kernel: int) -> str:
    """Utilisation in the three power modes."""
    return "".join(f"{timed_on_array(program, kernel, clock).utilisation:>12.1%}" for clock in CLOCKS.values())


def fig_13() -> None:
    """The three layouts, and the contraction with the most operations a second."""
    print(f"{'Fig. 13, tiles of 64 x 64 x 64':34}" + "".join(f"{mode:>12}" for mode in CLOCKS))
    for layout in (ROWS, TILES, ALL_TILES):
        print(f"{layout:34}{shown(program_of(layout, (64, 64, 64)), KERNEL)}")
    largest = timed_on_array(program_of(TILES, (64, 64, 64), 64, 64, 80), KERNEL, CLOCKS["turbo"])
    print(f"{'the largest, in turbo':34}{largest.gflops(CLOCKS['turbo']):,.0f} GFLOPS, published: 5,790")


def fig_14() -> None:
    """The best tile of each published intensity, and those that divide sizes of the benchmark."""
    print(f"{'Fig. 14, op/byte: best tile':34}" + "".join(f"{mode:>12}" for mode in CLOCKS) + "   bound  published")
    for (least, most), layout, published in PUBLISHED:
        best = max(tiles_of(least, most), key=bound)
        what = f"{least:g} to {most:g}: " + " x ".join(map(str, best))
        print(f"{what:34}{shown(program_of(layout, best), kernel_cycles(best))}{bound(best):8.1%}{published:>10}%")
        if least < 22:  # what streams bound; else, cores do
            near = tiles_bound_near(least, most, float(published) / 100)
            sides = ", ".join(map(str, sorted({min(tile[:2]) for tile in near})))
            count = sum(1 for _ in tiles_of(least, most))
            print(f"    {len(near)} of {count} tiles are bound within a point of that: their least sides are {sides}")
    for (name, (sizes, outer)), layout in product(SHAPES.items(), (TILES, ROWS)):
        tile = dividing_tile(sizes)
        loops = (min(MOST_LOOPS, size * times // k) for size, times, k in zip(sizes, outer, tile, strict=True))
        print(f"{name}, {intensity(tile):.1f} op/byte: {' x '.join(map(str, tile))} in {layout}")
        print(f"{'':34}{shown(program_of(layout, tile, *loops), kernel_cycles(tile))}{bound(tile):8.1%}")


def main() -> None:
    """Print both figures."""
    fig_13()
    fig_14()


if __name__ == "__main__":
    main()
