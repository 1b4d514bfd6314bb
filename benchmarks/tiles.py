"""Tile programs on the Wormhole: GEMM and attention in the shapes of the TL paper (nothing here is measured).

    python -m benchmarks.tiles [sizes ...]      square GEMMs of table 1, HiFi4 at 1 GHz; up to 2048 simulated too
    python -m benchmarks.tiles shapes           140 shapes of GEMM, estimated
    python -m benchmarks.tiles attention        FlashAttention, estimated
    python -m benchmarks.tiles whole [file]     searches against the whole space in the simulator, plan by plan
    python -m benchmarks.tiles computing [file] the same, without the bound on bytes
    python -m benchmarks.tiles model            the model against the simulator, on shapes that it was not fitted to

Table 1 of the paper measured 2.12 (1024), 2.03 (2048), 1.76 (4096), 1.42 (5120) and 1.51 (6144) times the throughput of
loads by every core, and 70 % less DRAM accesses. Its figure 6 sweeps M and N from 1024 to 16384 in 140 configurations,
of which the text gives no list: those here are 28 pairs with five depths. Its figure 8 has 64 and 128 heads, a hidden
dimension of 2048, sequences of 512 to 8192, and 8192 tokens in all. Against each plan stands the one in which every
core loads its tiles itself, with two buffers each. Tables of the whole space take a quarter of an hour, the second one
hours: with a file, lines go to it, and those that it has already are not made again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import exp, log
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import allo
from allo import tile
from allo.ir.types import bfloat16, float32, index

TARGET = "wormhole_n300d"
SIDES = (1024, 2048, 3072, 4096, 6144, 8192, 16384)
DEPTHS = (512, 1024, 2048, 4096, 8192)
TOKENS, HIDDEN = 8192, 2048
SIMULATED = 2048  # the largest size that is simulated: larger ones take minutes
TABLE_1 = {1024: (23.70, 11.15, 2.12), 2048: (33.96, 16.77, 2.03), 4096: (40.44, 22.96, 1.76),
           5120: (41.61, 29.19, 1.42), 6144: (42.47, 28.22, 1.51)}  # of the paper: TL, loads by every core, speedup


@tile.kernel
def gemm[M: index, BM: index, BK: index](A: bfloat16[M, M], B: bfloat16[M, M], C: bfloat16[M, M]):
    for m, n in tile.programs(M // BM, M // BM):
        acc: float32[BM, BM] = 0
        for k in range(M // BK):
            a: bfloat16[BM, BK] = A[m * BM : (m + 1) * BM, k * BK : (k + 1) * BK]
            b: bfloat16[BK, BM] = B[k * BK : (k + 1) * BK, n * BM : (n + 1) * BM]
            part: float32[BM, BM] = allo.matmul(a, b)
            acc += part
        C[m * BM : (m + 1) * BM, n * BM : (n + 1) * BM] = acc


@tile.kernel
def any_gemm[M: index, N: index, K: index, BM: index, BN: index, BK: index](
    A: bfloat16[M, K], B: bfloat16[K, N], C: bfloat16[M, N]
):
    for m, n in tile.programs(M // BM, N // BN):
        acc: float32[BM, BN] = 0
        for k in range(K // BK):
            a: bfloat16[BM, BK] = A[m * BM : (m + 1) * BM, k * BK : (k + 1) * BK]
            b: bfloat16[BK, BN] = B[k * BK : (k + 1) * BK, n * BN : (n + 1) * BN]
            part: float32[BM, BN] = allo.matmul(a, b)
            acc += part
        C[m * BM : (m + 1) * BM, n * BN : (n + 1) * BN] = acc


@tile.kernel
def attention[H: index, L: index, D: index, B: index](
    Q: bfloat16[H, L, D],
    K: bfloat16[H, L, D],
    V: bfloat16[H, L, D],
    O: bfloat16[H, L, D],  # noqa: E741
):
    for h, m in tile.programs(H, L // B):
        q: bfloat16[B, D] = Q[h, m * B : (m + 1) * B]
        acc: float32[B, D] = 0
        largest: float32[B] = -1e30
        total: float32[B] = 0
        for n in range(L // B):
            k: bfloat16[B, D] = K[h, n * B : (n + 1) * B]
            v: bfloat16[B, D] = V[h, n * B : (n + 1) * B]
            s: float32[B, B] = allo.matmul(q, k.T)
            for i in range(B):
                new: float32 = largest[i]
                for j in range(B):
                    new = max(new, s[i, j])
                scale: float32 = allo.exp(largest[i] - new)
                largest[i] = new
                total[i] *= scale
                for j in range(B):
                    s[i, j] = allo.exp(s[i, j] - new)
                    total[i] += s[i, j]
                for j in range(D):
                    acc[i, j] *= scale
            part: float32[B, D] = allo.matmul(s, v)
            acc += part
        for i, j in allo.grid(B, D):
            acc[i, j] /= total[i]
        O[h, m * B : (m + 1) * B] = acc


def alone(plan: tile.TilePlan) -> tile.TilePlan:
    """The same program where every core loads its tiles itself, with two buffers each where that is more than once."""
    made = plan
    for step in plan.steps:
        if step.name in ("load", "store"):
            name = step.arguments[0]
            for buffers in (2, 1):
                try:
                    inside = dict(step.named).get("inside")
                    more = made.load(name, "per core", inside=inside, buffers=buffers)
                    made = more if step.name == "load" else made.store(name, buffers=buffers)
                    break
                except allo.TargetError:
                    continue
    return made


def searched(kernel: Any, fixed: dict[str, int], blocks: dict[str, list[int]]) -> tuple[float, tile.TilePlan]:
    """Seconds of this process for one choice of blocks, and the best plan."""
    started = process_time()
    best = allo.map(kernel, TARGET, 5, fixed, blocks)
    return (process_time() - started) / len(list(product(*blocks.values()))), best


def compared(best: tile.TilePlan) -> tuple[float, float]:
    """How many times faster than loads by every core, estimated, and the share of DRAM accesses that are saved."""
    single = baseline(best)
    ours, theirs = best.estimate, single.estimate
    return theirs.cycles / ours.cycles, 1 - ours.memory_bytes / theirs.memory_bytes


def baseline(best: tile.TilePlan) -> tile.TilePlan:
    """Loads by every core where they are used: the plan to begin with, in its best number of buffers."""
    return alone(tile.plan(best.kernel, TARGET, dict(best.values)))


def square(size: int) -> str:
    """One line of table 1: search, estimates, simulations."""
    seconds, best = searched(gemm, {"M": size}, {"BM": [64, 128], "BK": [64, 128]})
    singles = [alone(tile.plan(gemm, TARGET, dict(best.values) | {"BM": block})) for block in (64, 128)]
    single = min(singles, key=lambda plan: plan.estimate.cycles)
    saved = 1 - best.estimate.memory_bytes / single.estimate.memory_bytes
    tera = [2 * size**3 / plan.estimate.cycles * 1e-3 for plan in (single, best)]
    simulated = "-"
    if size <= SIMULATED:
        tera = [2 * size**3 / plan.simulate().cycles * 1e-3 for plan in (single, best)]
        simulated = f"{tera[1]:.1f}"
    estimated = 2 * size**3 / best.estimate.cycles * 1e-3
    paper = " ".join(f"{value:8}" for value in TABLE_1.get(size, ("-", "-", "-")))
    rates = f"{estimated:10.1f} {simulated:>10} {tera[0]:11.1f} {tera[1] / tera[0]:8.2f}"
    return f"{size:6} {seconds:9.2f} {rates} {saved:9.0%} {paper}"


def shapes() -> Iterator[str]:
    """The 140 shapes, and their means."""
    yield "      M      N      K   s/search  TFLOP/s  speedup  saved  binding   (estimated, HiFi4, 1 GHz)"
    found = []
    for m, n in combinations_with_replacement(SIDES, 2):
        for k in DEPTHS:
            fixed = {"M": m, "N": n, "K": k}
            seconds, best = searched(any_gemm, fixed, {"BM": [128], "BN": [64, 128], "BK": [64]})
            speedup, saved = compared(best)
            tera = 2 * m * n * k / best.estimate.cycles * 1e-3
            found.append((seconds, tera, speedup, saved))
            row = f"{m:7}{n:7}{k:7} {seconds:10.2f} {tera:8.1f} {speedup:8.2f} {saved:6.0%}  {best.estimate.binding}"
            yield row
    yield summary(found)


def heads() -> Iterator[str]:
    """The shapes of FlashAttention, and their means."""
    yield "  heads  length   s/search  TFLOP/s  speedup  saved  binding   (estimated, HiFi4, 1 GHz)"
    found = []
    for count, length in product((64, 128), (512, 1024, 2048, 4096, 8192)):
        fixed = {"H": count * TOKENS // length, "L": length, "D": HIDDEN // count}
        seconds, best = searched(attention, fixed, {"B": [64, 128]})
        speedup, saved = compared(best)
        tera = best.program.operations / best.estimate.cycles * 1e-3
        found.append((seconds, tera, speedup, saved))
        yield f"{count:7}{length:8} {seconds:10.2f} {tera:8.1f} {speedup:8.2f} {saved:6.0%}  {best.estimate.binding}"
    yield summary(found)


SMALL = [
    (m * b, n * b, k * b, b) for b in (32, 64) for m, n in ((8, 8), (8, 16), (16, 8)) for k in (2, 4)
] + [(512, 512, 512, 64), (256, 256, 256, 32), (256, 1024, 256, 64), (1024, 1024, 128, 128)]  # M, N, K, blocks
HEADS = ((8, 256, 64, 32), (16, 256, 64, 64), (4, 512, 64, 64), (8, 512, 64, 64), (8, 512, 32, 64), (4, 512, 128, 64))


def against_all(name: str, kernel: Any, fixed: dict[str, int], *, by_bytes: bool = True) -> str:
    """A search against the fastest plan of the whole space in the simulator: a line of the table.

    A plan is not simulated if what its cores compute, or (`by_bytes`) the bytes that they read and write, take longer
    than the fastest so far; a simulation ends when that is sure. So the fastest is found exactly: waves are full here,
    where estimated bytes are those of the simulator, which random tests compare.
    """
    started = process_time()
    best = allo.map(kernel, TARGET, 5, fixed)
    seconds = process_time() - started
    cycles = [one.simulate().cycles for one in (best, *best.others)]
    fastest, count, simulated = min(cycles), 0, 0
    channels = best.mesh.memory("dram").bandwidth * best.mesh.size("channel")
    hopeful = []
    for one in tile.plans(kernel, TARGET, fixed):
        count += 1
        known = one.estimate
        bound = max(known.compute, known.memory_bytes / channels) if by_bytes else known.compute
        if bound < fastest:
            hopeful.append((known.cycles, count, bound, one))
    for _, _, bound, one in sorted(hopeful, key=lambda entry: entry[:2]):
        if bound >= fastest:
            continue
        simulated += 1
        if (run := one.within(fastest)) is not None:
            fastest = run.cycles
    first, five = cycles[0] / fastest - 1, min(cycles) / fastest - 1
    return f"{_case(name, fixed)},{seconds:.2f},{count},{simulated},{fastest:.0f},{first:.2%},{five:.2%}"


def _case(name: str, fixed: dict[str, int]) -> str:
    return f"{name},{'x'.join(str(value) for value in fixed.values())}"


def whole(file: str = "", *, by_bytes: bool = True) -> Iterator[str]:
    """All small shapes; lines that a file has are taken from there, others are added to it."""
    path = Path(file)
    known = path.read_text().splitlines() if file and path.exists() else []
    yield "kernel,shape,search s,plans,simulated,fastest,first plan,best of five"
    cases: list[tuple[str, Any, dict[str, int]]] = [
        ("gemm", any_gemm, {"M": m, "N": n, "K": k, "BM": b, "BN": b, "BK": b}) for m, n, k, b in SMALL
    ]
    cases += [("attention", attention, {"H": h, "L": length, "D": d, "B": b}) for h, length, d, b in HEADS]
    for name, kernel, fixed in cases:
        line = next((line for line in known if line.startswith(f"{_case(name, fixed)},")), "")
        if not line:
            line = against_all(name, kernel, fixed, by_bytes=by_bytes)
            if file:
                with path.open("a") as out:
                    print(line, file=out)
        yield line


def computing(file: str = "") -> Iterator[str]:
    """As `whole`, without the bound on bytes."""
    return whole(file, by_bytes=False)


UNSEEN: list[tuple[str, Any, list[tuple[int, ...]]]] = [
    ("wormhole_n300d", any_gemm, [(320, 448, 512, 32), (896, 640, 256, 64)]),
    ("wormhole_n300d", any_gemm, [(1536, 1024, 768, 128), (2048, 512, 512, 64)]),
    ("wormhole_n300d", attention, [(6, 384, 64, 32), (32, 512, 32, 64), (8, 768, 128, 64)]),
    ("mesh8x8", any_gemm, [(640, 384, 256, 32), (768, 1024, 512, 64)]),
    ("mesh8x8", attention, [(16, 384, 32, 32)]),
    ("mesh8x8_open", any_gemm, [(384, 640, 512, 32)]),
    ("mesh8x8_open", attention, [(8, 384, 64, 32)]),
    ("xdna1_mesh", any_gemm, [(192, 320, 256, 32)]),
    ("xdna1_mesh", attention, [(4, 384, 32, 32)]),
    ("xdna2_mesh", any_gemm, [(320, 512, 256, 32)]),
    ("xdna2_mesh", attention, [(8, 384, 32, 32)]),
    ("u280_mesh", any_gemm, [(384, 256, 320, 32)]),
    ("u280_mesh", attention, [(4, 512, 32, 32)]),
]
BEST = 12  # plans of each search


def model() -> Iterator[str]:
    """Estimates of the best plans of searches against the simulator."""
    yield "target,kernel,shape,plans,off,bias"
    everything: list[float] = []
    for target, kernel, sizes in UNSEEN:
        for size in sizes:
            names = ("M", "N", "K", "BM", "BN", "BK") if kernel is any_gemm else ("H", "L", "D", "B")
            values = (*size, size[-1], size[-1]) if kernel is any_gemm else size
            best = allo.map(kernel, target, BEST, dict(zip(names, values, strict=True)), profile=False)
            plans = (best, *best.others)
            ratios = [log(one.estimate.cycles / one.simulate().cycles) for one in plans]
            everything += ratios
            shape, name = "x".join(map(str, size)), "gemm" if kernel is any_gemm else "attention"
            yield f"{target},{name},{shape},{len(plans)},{off(ratios):.1%},{exp(mean(ratios)) - 1:+.1%}"
    yield f"all,,,{len(everything)},{off(everything):.1%},{exp(mean(everything)) - 1:+.1%}"


def off(ratios: list[float]) -> float:
    """The error on the geometric mean."""
    return exp(mean(map(abs, ratios))) - 1


def summary(found: list[tuple[float, float, float, float]]) -> str:
    """Means of all lines."""
    seconds, tera, speedup, saved = zip(*found, strict=True)
    geometric = exp(mean(map(log, speedup)))
    return (
        f"{len(found)} shapes: {max(seconds):.2f} s a search at most, {mean(seconds):.2f} s on the mean; "
        f"{min(tera):.1f} to {max(tera):.1f} TFLOP/s; {geometric:.2f} times faster on the geometric mean; "
        f"{mean(saved):.0%} of the DRAM accesses saved"
    )


def main(arguments: list[str]) -> None:
    """Print a table."""
    tables = {"shapes": shapes, "attention": heads, "whole": whole, "computing": computing, "model": model}
    if arguments and arguments[0] in tables:
        for line in tables[arguments[0]](*arguments[1:]):
            print(line, flush=True)
        return
    print("  size  s/search  estimated  simulated  every core  speedup     saved  TL card  without  speedup  (TFLOP/s)")
    for size in [int(size) for size in arguments] or list(TABLE_1):
        print(square(size), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
