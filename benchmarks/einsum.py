"""Times of `allo.einsum` beside `numpy.einsum(optimize=True)`, in pairs: `python -m benchmarks.einsum`.

Each expression is timed in rounds of one call of either, in turns, so that what else the machine does meets both; the
ratio of an expression is the median of the ratios of its rounds. A call takes what the user waits for: arguments,
intermediate results, the new array. Machine code is made before.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import allo


@dataclass(frozen=True)
class Case:
    """An expression, and the size of each label; `group` says where it comes from."""

    group: str
    expression: str
    sizes: dict[str, int]

    def shapes(self, most: int | None = None) -> list[tuple[int, ...]]:
        """The shapes of its operands, with no size above `most`."""
        inputs = self.expression.split("->")[0].split(",")
        return [tuple(min(self.sizes[k], most or self.sizes[k]) for k in labels) for labels in inputs]


def case(group: str, expression: str, *sizes: int) -> Case:
    """Sizes are those of the labels in alphabetical order; a single one is that of all."""
    labels = sorted(set(expression) - set(",->"))
    given = sizes * len(labels) if len(sizes) == 1 else sizes
    return Case(group, expression, dict(zip(labels, given, strict=True)))


CASES = (
    # Tab. 1 of Steinert (2025), after Breuer et al. (2025)
    case("thesis", "pq,qr->pr", 384),
    case("thesis", "qp,qr->pr", 384),
    case("thesis", "pq,pq->pq", 1000),
    case("thesis", "pq,pq->", 1000),
    case("thesis", "pq,qr->pqr", 100),
    case("thesis", "pq,rs->pqrs", 32),
    # its three layouts of tiles, section 6.4
    case("thesis", "adcf,cfbe->adbe", 4, 4, 4, 64, 64, 64),
    case("thesis", "acdf,bcfe->adbe", 4, 4, 4, 64, 64, 64),
    case("thesis", "acdf,bcfe->abde", 4, 4, 4, 64, 64, 64),
    # contractions as in the benchmark of Springer and Bientinesi (2018)
    case("tccg", "efbad,cf->abcde", 24, 16, 16, 24, 16, 24),
    case("tccg", "dbea,ec->abcd", 48, 32, 24, 32, 48),
    case("tccg", "dega,gfbc->abcdef", 12, 12, 12, 12, 12, 12, 16),
    case("tccg", "ebad,ce->abcd", 32, 32, 24, 48, 48),
    case("tccg", "bda,dc->abc", 96, 96, 64, 96),
    case("tccg", "aebf,dfce->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "aebf,fdec->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "aecf,bfde->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "eafb,fdec->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "cad,dcb->ab", 192, 192, 32, 48),
    case("tccg", "acd,db->abc", 96, 96, 64, 96),
    # attention and layers of networks
    case("network", "bqhd,bkhd->bhqk", 2, 64, 8, 128, 128),
    case("network", "bhqk,bkhd->bqhd", 2, 64, 8, 128, 128),
    case("network", "bsd,dhe->bshe", 2, 256, 64, 8, 128),
    case("network", "bshe,hed->bsd", 2, 256, 64, 8, 128),
    case("network", "bi,oi->bo", 64, 512, 512),
    case("network", "bij,bjk->bik", 64, 48, 48, 48),
    # several operands: bilinear forms, a factor model, a chain, a small network of tensors
    case("path", "bi,oij,bj->bo", 64, 64, 64, 32),
    case("path", "ir,jr,kr->ijk", 64, 64, 64, 32),
    case("path", "ij,jk,kl,lm->im", 200, 100, 300, 50, 200),
    case("path", "abc,bde,cdf,efa->", 20),
)


def rounds(ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float) -> list[tuple[float, float]]:
    """Times of both, in turns."""
    found: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 9:
        pair = []
        for call in (ours, theirs) if len(found) % 2 else (theirs, ours):
            start = time.perf_counter()
            call()
            pair.append(time.perf_counter() - start)
        found.append((pair[0], pair[1]) if len(found) % 2 else (pair[1], pair[0]))
    return found


def main() -> None:
    """Print a line an expression, and how many are within 1.2 times NumPy's time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--type", default="float64", choices=("float64", "float32"))
    parser.add_argument("--threads", type=int, help="of allo.einsum; NumPy's library asks the environment")
    parser.add_argument("--seconds", type=float, default=1.0, help="an expression")
    parser.add_argument("--only", default="", help="a part of the expression")
    options = parser.parse_args()
    ratios = []
    print(f"{'expression':28}{'first ms':>10}{'allo us':>10}{'numpy us':>10}{'ratio':>7}")
    for chosen in CASES:
        if options.only not in chosen.expression:
            continue
        random = np.random.default_rng(0)
        arrays = [random.normal(size=shape).astype(options.type) for shape in chosen.shapes()]
        start = time.perf_counter()
        allo.einsum(chosen.expression, *arrays, threads=options.threads)
        first = time.perf_counter() - start
        times = rounds(
            lambda e=chosen.expression, a=arrays: allo.einsum(e, *a, threads=options.threads),
            lambda e=chosen.expression, a=arrays: np.einsum(e, *a, optimize=True),
            options.seconds,
        )
        ratio = statistics.median(a / b for a, b in times)
        ratios.append(ratio)
        ours, theirs = (statistics.median(pair[k] for pair in times) for k in (0, 1))
        print(f"{chosen.expression:28}{first * 1e3:10.0f}{ours * 1e6:10.0f}{theirs * 1e6:10.0f}{ratio:7.2f}")
    within = sum(ratio <= 1.2 for ratio in ratios)
    mean = statistics.geometric_mean(ratios)
    print(f"{within} of {len(ratios)} within 1.2 of NumPy's time, geometric mean {mean:.2f}")


if __name__ == "__main__":
    main()
