"""Systolic arrays: 1-D, weight-stationary, packed, daisy chain, with instructions, sparse, for convolutions."""

from __future__ import annotations

# ruff: noqa: B007, F821 - kernels as the literature writes them; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import Stream, UInt, int8, int16, int32

M, N, K = 4, 4, 6


@df.region()
def one_dimension(A: int16[M, K], x: int16[K], y: int16[M]):
    """A matrix-vector product: element `p` keeps row `p`, and `x` goes past all."""
    pipe: Stream[int16, 4][M + 1]

    @df.kernel(mapping=[1], args=[x])
    def load(x: int16[K]):
        for k in range(K):
            pipe[0].put(x[k])

    @df.kernel(mapping=[M], args=[A, y])
    def element(A: int16[M, K], y: int16[M]):
        p = df.get_pid()
        total: int16 = 0
        for k in range(K):
            v: int16 = pipe[p].get()
            total += A[p, k] * v
            pipe[p + 1].put(v)
        y[p] = total

    @df.kernel(mapping=[1])
    def drain():
        for _k in range(K):
            pipe[M].get()


@df.region()
def weight_stationary(X: int16[M, K], W: int16[K, N], Y: int16[M, N]):
    """Element `(k, n)` keeps one weight; inputs go right, and partial sums go down."""
    inputs: Stream[int16, 4][K, N + 1]
    sums: Stream[int16, 4][K + 1, N]

    @df.kernel(mapping=[K], args=[X])
    def feed(X: int16[M, K]):
        k = df.get_pid()
        for m in range(M):
            inputs[k, 0].put(X[m, k])

    @df.kernel(mapping=[N])
    def zeros():
        n = df.get_pid()
        for _m in range(M):
            sums[0, n].put(0)

    @df.kernel(mapping=[K, N], args=[W])
    def element(W: int16[K, N]):
        k, n = df.get_pid()
        weight: int16 = W[k, n]
        for _m in range(M):
            x: int16 = inputs[k, n].get()
            total: int16 = sums[k, n].get()
            inputs[k, n + 1].put(x)
            sums[k + 1, n].put(total + x * weight)

    @df.kernel(mapping=[K])
    def drain():
        k = df.get_pid()
        for _m in range(M):
            inputs[k, N].get()

    @df.kernel(mapping=[N], args=[Y])
    def collect(Y: int16[M, N]):
        n = df.get_pid()
        for m in range(M):
            Y[m, n] = sums[K, n].get()


PP = 4  # numbers in a word
PACKED = 8


@df.region()
def packed(X: UInt(PP * 8)[M // PP, K], W: UInt(PP * 8)[K, PACKED // PP], Z: UInt(PP * 8)[M, PACKED // PP]):
    """Words of four int8, which each element takes apart: `PP` by `PP` products a cycle."""
    fifo_x: Stream[UInt(PP * 8), 4][M // PP + 2, PACKED // PP + 2]
    fifo_w: Stream[UInt(PP * 8), 4][M // PP + 2, PACKED // PP + 2]

    @df.kernel(mapping=[M // PP + 2, PACKED // PP + 2], args=[X, W, Z])
    def gemm(X: UInt(PP * 8)[M // PP, K], W: UInt(PP * 8)[K, PACKED // PP], Z: UInt(PP * 8)[M, PACKED // PP]):
        i, j = df.get_pid()
        with allo.meta_if(i in {0, M // PP + 1} and j in {0, PACKED // PP + 1}):
            pass
        with allo.meta_elif(j == 0):
            for k in range(K):
                fifo_x[i, j + 1].put(X[i - 1, k])
        with allo.meta_elif(i == 0):
            for k in range(K):
                fifo_w[i + 1, j].put(W[k, j - 1])
        with allo.meta_elif(i == M // PP + 1 and j > 0):
            for _k in range(K):
                fifo_w[i, j].get()
        with allo.meta_elif(j == PACKED // PP + 1 and i > 0):
            for _k in range(K):
                fifo_x[i, j].get()
        with allo.meta_else():
            tile: int8[PP, PP] = 0
            for _k in range(K):
                x: UInt(PP * 8) = fifo_x[i, j].get()
                w: UInt(PP * 8) = fifo_w[i, j].get()
                for m in range(PP):
                    for n in range(PP):
                        a: int8 = x[m * 8 : (m + 1) * 8]
                        b: int8 = w[n * 8 : (n + 1) * 8]
                        tile[m, n] += a * b
                fifo_x[i, j + 1].put(x)
                fifo_w[i + 1, j].put(w)
            for m in range(PP):
                word: UInt(PP * 8) = 0
                for n in range(PP):
                    word[n * 8 : (n + 1) * 8] = tile[m, n]
                Z[(i - 1) * PP + m, j - 1] = word


Rt, Ct = 4, 4
DM, DN, DK = 8, 8, 6
D0, D1 = Rt + 2, Ct + 2


@df.region()
def daisy_chain():
    """The array of appendix A of the Dato paper: operands and results go from element to element, packed."""
    L3_A: Stream[UInt(Rt * 8), 4]
    L3_B: Stream[UInt(Ct * 8), 4]
    L3_C: Stream[UInt(Rt * 8), 4]

    L2_A: Stream[UInt(Rt * 8)][D0 - 1]
    L2_B: Stream[UInt(Ct * 8)][D1 - 1]

    L1_C: Stream[UInt(Rt * 8)][Rt, Ct]
    L2_C: Stream[UInt(Rt * 8)][Ct]

    fifo_A: Stream[int8][Rt, Ct]
    fifo_B: Stream[int8][Rt, Ct]

    @df.task(mapping=[1])
    def offchip_loadA(A_Packed: UInt(Rt * 8)[DM * DK // Rt]):
        for mt, nt in allo.grid(DM // Rt, DN // Ct):
            for k in range(DK):
                L3_A.put(A_Packed[mt * DK + k])

    @df.task(mapping=[1])
    def offchip_loadB(B_Packed: UInt(Ct * 8)[DK * DN // Ct]):
        for mt, nt in allo.grid(DM // Rt, DN // Ct):
            for k in range(DK):
                L3_B.put(B_Packed[nt * DK + k])

    @df.task(mapping=[D0, D1])
    def gemm_systolic():
        i, j = df.get_tid()
        with allo.meta_if(i == 0 and j == 0):
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                for k in range(DK):
                    L2_A[1].put(L3_A.get())
                    L2_B[1].put(L3_B.get())

        with allo.meta_elif(i == D0 - 1 and j == D1 - 1):
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                for n in range(Ct):
                    L3_C.put(L2_C[Ct - 1].get())

        with allo.meta_elif(i in {0, D0 - 1} and j in {0, D1 - 1}):
            pass

        with allo.meta_elif(j == 0):
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                for k in range(DK):
                    a = L2_A[i].get()
                    fifo_A[i - 1, 0].put(a[8 * (i - 1) : 8 * i])
                    with allo.meta_if(i < Rt):
                        L2_A[i + 1].put(a)

        with allo.meta_elif(i == 0):
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                for k in range(DK):
                    b = L2_B[j].get()
                    fifo_B[0, j - 1].put(b[8 * (j - 1) : 8 * j])
                    with allo.meta_if(j < Ct):
                        L2_B[j + 1].put(b)

        with allo.meta_elif(i == D0 - 1):
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                c_C = L1_C[i - 2, Ct - j].get()
                L2_C[j - 1].put(c_C)
                with allo.meta_if(j != 1):
                    for ind in range(j - 1):
                        L2_C[j - 1].put(L2_C[j - 2].get())

        with allo.meta_elif(j == D1 - 1):
            pass

        with allo.meta_else():
            for mt, nt in allo.grid(DM // Rt, DN // Ct):
                c: int8 = 0
                for k in range(DK):
                    a: int8 = fifo_A[i - 1, j - 1].get()
                    b: int8 = fifo_B[i - 1, j - 1].get()
                    c += a * b
                    with allo.meta_if(j < Ct):
                        fifo_A[i - 1, j].put(a)
                    with allo.meta_if(i < Rt):
                        fifo_B[i, j - 1].put(b)

                with allo.meta_if(i == 1):
                    packed_tmp: UInt(Rt * 8) = 0
                with allo.meta_else():
                    packed_tmp: UInt(Rt * 8) = L1_C[i - 2, j - 1].get()

                packed_c: UInt(Rt * 8) = 0
                for m in range(Rt):
                    if m == i - 1:
                        packed_c[m * 8 : (m + 1) * 8] = c
                    else:
                        packed_c[m * 8 : (m + 1) * 8] = packed_tmp[m * 8 : (m + 1) * 8]
                L1_C[i - 1, j - 1].put(packed_c)

    @df.task(mapping=[1])
    def offchip_store(C_Packed: UInt(Rt * 8)[DM * DN // Rt]):
        for mt, nt in allo.grid(DM // Rt, DN // Ct):
            for n in range(Ct):
                C_Packed[mt * DN + nt * Ct + n] = L3_C.get()


H, TAPS = 8, 3


@df.region()
def convolution(X: int32[H, H], F: int32[TAPS, TAPS], Y: int32[H - TAPS + 1, H - TAPS + 1]):
    """A convolution: element `r` has row `r` of the filter, and passes partial sums of a row of outputs on."""
    rows: Stream[int32, 16][TAPS]
    sums: Stream[int32, 16][TAPS + 1]

    @df.kernel(mapping=[TAPS], args=[X])
    def feed(X: int32[H, H]):
        r = df.get_pid()
        for i, j in allo.grid(H - TAPS + 1, H):
            rows[r].put(X[i + r, j])

    @df.kernel()
    def begin():
        for _i, _j in allo.grid(H - TAPS + 1, H - TAPS + 1):
            sums[0].put(0)

    @df.kernel(mapping=[TAPS], args=[F])
    def element(F: int32[TAPS, TAPS]):
        r = df.get_pid()
        window: int32[TAPS] = 0
        for _i, j in allo.grid(H - TAPS + 1, H):
            for t in range(TAPS - 1):
                window[t] = window[t + 1]
            window[TAPS - 1] = rows[r].get()
            if j >= TAPS - 1:
                total: int32 = sums[r].get()
                for t in range(TAPS):
                    total += window[t] * F[r, t]
                sums[r + 1].put(total)

    @df.kernel(mapping=[1], args=[Y])
    def collect(Y: int32[H - TAPS + 1, H - TAPS + 1]):
        for i, j in allo.grid(H - TAPS + 1, H - TAPS + 1):
            Y[i, j] = sums[TAPS].get()
