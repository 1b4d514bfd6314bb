"""Products of matrices in parts of rows, columns and terms, each a task, and the steps that share cores among them."""

# Streams of regions are declared by annotations, which are read by the front end with the names around them.
# ruff: noqa: F821
# mypy: disable-error-code="valid-type, no-untyped-def, misc"

from collections.abc import Callable
from typing import Any

import allo.dataflow as df
from allo import add, matmul, meta_elif, meta_else, meta_if
from allo.errors import TargetError
from allo.ir.types import Stream
from allo.memory import Layout

_S = Layout.Shard

type MappingStep = tuple[str, list[str]]


def GEMM(
    M: int, N: int, K: int, Pm: int, Pn: int, Pk: int, TyI: Any, TyO: Any, col_num: int = 4, row_num: int = 4,
    TyB: Any = None,
) -> tuple[Callable[..., Any], list[MappingStep]]:  # fmt: skip
    """The region `top(A: TyI[M, K], B: TyB[K, N], C: TyO[M, N])` and its `mapping_primitives`; TyB is TyI if not given.

    A product of parts of `M // Pm x N // Pn x K // Pk` is a task. Those of one part of C are a chain, whose sums stay
    on the core (ping-pong GEMM of published Allo); chains are bundled on `row_num x col_num` cores. Where rows or
    columns are not made of equal parts of whole words, parts are multiples of four of them, the last ones are smaller,
    and each chain has a core. Raises TargetError if a part would be empty, terms are not made of equal parts, or the
    cores do not divide the parts.
    """
    TyB = TyB or TyI
    if Pk < 1 or K % Pk or K // Pk * TyI.bits % 32:
        raise TargetError(
            f"K = {K} is not made of {Pk} equal parts of whole words: cores of a chain get parts of one shape",
            hint="let Pk divide K",
        )
    if min(Pm, Pn) < 1 or M % Pm or N % Pn or N // Pn * min(TyB.bits, TyO.bits) % 32:
        sizes = (_part("M", M, Pm), _part("N", N, Pn), K // Pk)
        return _uneven((M, N, K), (Pm, Pn, Pk), sizes, TyI, TyB, TyO), gemm_steps(Pm, Pn, Pk, Pn, Pm)
    Mt, Nt = M // Pm, N // Pn

    if Pk == 1:

        @df.region()
        def top(A: TyI[M, K], B: TyB[K, N], C: TyO[M, N]):
            @df.kernel(mapping=[1, Pm, Pn], args=[A, B, C])
            def gemm(
                local_A: TyI[M, K] @ [_S(1), _S(0)],
                local_B: TyB[K, N] @ [_S(0), _S(2)],
                local_C: TyO[M, N] @ [_S(1), _S(2)],
            ):
                local_C[:, :] = matmul(local_A, local_B)

    else:

        @df.region()
        def top(A: TyI[M, K], B: TyB[K, N], C: TyO[M, N]):
            pipe: Stream[TyO[Mt, Nt], 2][Pk - 1, Pm, Pn]

            @df.kernel(mapping=[Pk, Pm, Pn], args=[A, B, C])
            def gemm(
                local_A: TyI[M, K] @ [_S(1), _S(0)],
                local_B: TyB[K, N] @ [_S(0), _S(2)],
                local_C: TyO[M, N] @ [_S(1), _S(2)],
            ):
                pk, pm, pn = df.get_pid()
                C_in: TyO[Mt, Nt]
                with meta_if(pk > 0):
                    C_in[:, :] = pipe[pk - 1, pm, pn].get()
                with meta_else():
                    C_in[:, :] = 0
                C_out: TyO[Mt, Nt] = add(matmul(local_A, local_B), C_in)
                with meta_if(pk < Pk - 1):
                    pipe[pk, pm, pn].put(C_out)
                with meta_elif(pk == Pk - 1):
                    local_C[:, :] = C_out

    return top, gemm_steps(Pm, Pn, Pk, col_num, row_num)


def _part(name: str, extent: int, parts: int) -> int:
    """The extent of all parts but perhaps the last one."""
    if parts < 1:
        raise TargetError(f"{name} = {extent} is not made of {parts} parts", hint="ask for one part or more")
    size = -(-extent // (4 * parts)) * 4
    if size * (parts - 1) >= extent:
        raise TargetError(
            f"{name} = {extent} has nothing left for the last of {parts} parts of {size}",
            hint="ask for fewer parts",
        )
    return size


def _uneven(
    extents: tuple[int, int, int], parts: tuple[int, int, int], sizes: tuple[int, int, int],
    TyI: Any, TyB: Any, TyO: Any,
) -> Callable[..., Any]:  # fmt: skip
    """The region for parts of which the last ones are smaller."""
    (M, N, K), (Pm, Pn, Pk), (Mt, Nt, Kt) = extents, parts, sizes

    @df.region()
    def top(A: TyI[M, K], B: TyB[K, N], C: TyO[M, N]):
        pipe: Stream[TyO[Mt, Nt], 2][Pk, Pm, Pn]

        @df.kernel(mapping=[Pk, Pm, Pn], args=[A, B, C])
        def gemm(a: TyI[M, K], b: TyB[K, N], c: TyO[M, N]):
            pk, pm, pn = df.get_pid()
            total: TyO[Mt, Nt] = 0
            with meta_if(pk > 0):
                total[:, :] = pipe[pk - 1, pm, pn].get()
            for i in range(min(Mt, M - pm * Mt)):
                for j in range(min(Nt, N - pn * Nt)):
                    for k in range(min(Kt, K - pk * Kt)):
                        total[i, j] += a[pm * Mt + i, pk * Kt + k] * b[pk * Kt + k, pn * Nt + j]
            with meta_if(pk < Pk - 1):
                pipe[pk, pm, pn].put(total)
            with meta_else():
                for i in range(min(Mt, M - pm * Mt)):
                    for j in range(min(Nt, N - pn * Nt)):
                        c[pm * Mt + i, pn * Nt + j] = total[i, j]

    return top


def gemm_steps(Pm: int, Pn: int, Pk: int, col_num: int = 4, row_num: int = 4) -> list[MappingStep]:
    """The steps for tasks `gemm_k_i_j`: a chain over `k` for each `i, j`, then bundles for `row_num x col_num` cores.

    A core has parts that are `row_num` rows and `col_num` columns apart, so that cores of a row share the parts of A.
    """
    rows, columns = min(row_num, Pm), min(col_num, Pn)
    if min(rows, columns) < 1 or Pm % rows or Pn % columns:
        raise TargetError(
            f"{Pm} x {Pn} parts are not shared evenly by {row_num} x {col_num} cores",
            hint="let row_num divide Pm, and col_num Pn",
        )
    steps: list[MappingStep] = []
    chains = {}
    for i in range(Pm):
        for j in range(Pn):
            chain = f"gemm_0_{i}_{j}"
            for k in range(1, Pk):
                steps.append(("chain", [chain, f"gemm_{k}_{i}_{j}"]))
                chain += f"-gemm_{k}_{i}_{j}"
            chains[i, j] = chain
    for i in range(rows):
        for j in range(columns):
            own = [chains[a, b] for a in range(i, Pm, rows) for b in range(j, Pn, columns)]
            if len(own) > 1:
                steps.append(("bundle", own))
    return steps
