"""Published designs, written again: schedules whose structure follows from published DSPs and cycles.

Cycles are those of simulated RTL, with DSPs, LUTs and FFs, from the Stream-HLS artifact (results/data/compare.csv;
Vitis HLS 2023.2, MEDIUM, float32, 300 MHz, arrays on the chip). The sources of the designs are not here: which loops
there are, what is unrolled and which intervals are asked for is inferred, and said in `structure`. Those of Table 3 of
the Allo paper (PLDI 2024) are cycles of synthesis, rounded to hundreds, with DSPs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import allo

from . import loop_nests as nests
from . import stream_hls, table_3, three_products

PROFILE = "vitis_hls_2023.2"


@dataclass(frozen=True, slots=True)
class Design:
    """A design of a tool for a kernel, with what was published of it; `cause` is the rule behind an error above 2 %."""

    kernel: str
    tool: str
    cycles: int
    resources: tuple[int, ...]  # DSP, LUT and FF, or DSP alone
    make: Callable[[], allo.Schedule]
    structure: str
    unsafe_math: bool = False
    cause: str = ""

    def estimate(self) -> allo.Estimate:
        """Our estimate of it."""
        return allo.estimate(self.make(), profile=PROFILE, unsafe_math=self.unsafe_math)


def _stream(
    kernel: str, budget: int, cycles: int, resources: tuple[int, int, int], make: Callable[[], allo.Schedule], how: str
) -> Design:
    return Design(kernel, f"Stream-HLS {budget}", cycles, resources, make, how, unsafe_math=True)


DESIGNS: tuple[Design, ...] = (
    Design("gemm", "Allo", 238_622, (175, 59_330, 64_281), nests.gemm_allo, "a row of sums in registers"),
    Design("gemm", "HeteroCL", 236_034, (175, 50_348, 47_581), nests.gemm_heterocl, "the same in one nest"),
    Design("gemm", "POM", 1_331_076, (55, 4_154, 6_851), nests.gemm_pom, "8 lanes"),
    Design("3mm", "POM", 2_034_985, (92, 8_483, 12_638), three_products.three_mm, "8 lanes, two nests at once"),
    Design("bicg", "Allo", 1_651, (603, 123_868, 180_156), partial(nests.bicg, 1), "all sums in registers"),
    Design("bicg", "HeteroCL", 2_883, (575, 63_781, 159_273), partial(nests.bicg, 7), "the same, II 7"),
    Design("gesummv", "Allo", 1_538, (393, 76_467, 106_439), nests.gesummv_allo, "all sums in registers"),
    Design("gesummv", "HeteroCL", 1_787, (393, 76_116, 98_044), nests.gesummv_heterocl, "the same, set to 0 before"),
    Design("gesummv", "POM", 6_580, (101, 7_600, 13_352), nests.gesummv_pom, "10 terms a cycle"),
    Design("gesummv", "HIDA", 6_316, (181, 10_928, 21_209), nests.gesummv_in_one_nest, "one nest, 10 terms a cycle"),
    Design("gesummv", "ScaleHLS", 6_324, (141, 11_358, 21_274), nests.gesummv_in_one_nest, "the same"),
    Design(
        "mvt", "Allo", 468, (4_000, 253_748, 537_116), nests.mvt_allo, "a sum an iteration, in a tree", unsafe_math=True
    ),
    Design("mvt", "HIDA", 10_060, (162, 23_429, 25_090), partial(nests.mvt_in_turn, 8, 4, 1), "tiles of 8 x 4"),
    Design(
        "mvt", "ScaleHLS", 15_076, (112, 24_995, 30_195), partial(nests.mvt_in_turn, 16, 4, 3), "tiles of 16 x 4, II 3"
    ),
    Design("mvt", "POM", 40_036, (42, 7_611, 6_169), nests.mvt_pom, "4 lanes of both products"),
    _stream("gemm", 220, 330_053, (194, 12_580, 24_058), partial(stream_hls.gemm, (1, 4, 8)), "tile 1 x 4 x 8"),
    _stream("gemm", 2560, 24_051, (2552, 150_848, 288_381), partial(stream_hls.gemm, (4, 11, 10)), "tile 4 x 11 x 10"),
    _stream("gemm", 9024, 7_100, (8304, 492_884, 943_498), partial(stream_hls.gemm, (5, 20, 15)), "tile 5 x 20 x 15"),
    _stream(
        "2mm", 220, 378_254, (222, 15_949, 31_026),
        partial(stream_hls.two_mm, (1, 19, 1), (1, 2, 10)), "tiles 1 x 19 x 1, 1 x 2 x 10",
    ),
    _stream(
        "2mm", 2560, 36_352, (1942, 159_805, 238_058),
        partial(stream_hls.two_mm, (4, 5, 10), (4, 11, 5)), "tiles 4 x 5 x 10, 4 x 11 x 5",
    ),
    _stream(
        "2mm", 9024, 11_832, (7435, 640_788, 950_665),
        partial(stream_hls.two_mm, (6, 5, 21), (6, 22, 5)), "tiles 6 x 5 x 21, 6 x 22 x 5",
    ),
    _stream(
        "3mm", 220, 601_511, (227, 17_477, 31_684),
        partial(stream_hls.three_mm, (1, 18, 1), (1, 15, 1), (2, 6, 1)), "tiles 1 x 18 x 1, 1 x 15 x 1, 2 x 6 x 1",
    ),
    _stream(
        "3mm", 2560, 49_092, (2507, 159_905, 294_780),
        partial(stream_hls.three_mm, (5, 3, 10), (5, 10, 4), (3, 10, 5)), "tiles 5 x 3 x 10, 5 x 10 x 4, 3 x 10 x 5",
    ),
    _stream(
        "3mm", 9024, 14_357, (8026, 602_569, 998_884),
        partial(stream_hls.three_mm, (5, 5, 20), (5, 3, 44), (5, 21, 5)), "tiles 5 x 5 x 20, 5 x 3 x 44, 5 x 21 x 5",
    ),
    _stream("atax", 220, 15_855, (202, 17_037, 30_518), partial(nests.atax_stages, 2, 10), "tiles of 2 x 10"),
    _stream("atax", 2560, 2_180, (1502, 105_642, 183_301), partial(nests.atax_stages, 30, 5), "tiles of 30 x 5"),
    _stream("bicg", 220, 8_033, (201, 12_977, 25_383), partial(nests.bicg_tiled, 2, 10), "tiles of 2 x 10"),
    _stream("bicg", 2560, 1_112, (1501, 89_711, 162_553), partial(nests.bicg_tiled, 5, 30), "tiles of 5 x 30"),
    _stream("gesummv", 220, 3_177, (218, 14_714, 27_435), partial(stream_hls.gesummv, 2, 10), "tiles of 2 x 10"),
    _stream("gesummv", 2560, 673, (922, 75_784, 119_977), partial(stream_hls.gesummv, 10, 10), "tiles of 10 x 10"),
    _stream("mvt", 220, 8_041, (202, 17_188, 30_917), partial(nests.mvt_tiled, 2, 10), "tiles of 2 x 10"),
    _stream("mvt", 2560, 667, (2306, 197_761, 321_710), partial(nests.mvt_tiled, 50, 5), "tiles of 50 x 5"),
)  # fmt: skip

TABLE_3: tuple[Design, ...] = (
    Design("trmm", "Allo", 492_600, (101,), table_3.trmm, "20 lanes, all terms visited"),
    Design("jacobi-2d", "Allo", 58_800, (3_968,), table_3.jacobi_2d, "a row a cycle, with a division"),
)
