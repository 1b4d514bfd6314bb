"""Tiled products and layers: caches of several levels, regions in tasks, feed-forward and attention layers."""

from __future__ import annotations

# ruff: noqa: E741, F821 - kernels as the literature writes them; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import Stream, float32, int16, int32
from allo.memory import Layout

M, N, K = 8, 8, 8
TM, TN, TK = 4, 4, 4


@df.region()
def tiled_gemm(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    """Tiles of both operands go through streams of blocks to one engine."""
    tiles_A: Stream[int16[TM, TK], 2]
    tiles_B: Stream[int16[TK, TN], 2]
    tiles_C: Stream[int16[TM, TN], 2]

    @df.kernel(mapping=[1], args=[A, B])
    def load(A: int16[M, K], B: int16[K, N]):
        for mt, nt, kt in allo.grid(M // TM, N // TN, K // TK):
            a: int16[TM, TK]
            b: int16[TK, TN]
            for m, k in allo.grid(TM, TK):
                a[m, k] = A[mt * TM + m, kt * TK + k]
            for k, n in allo.grid(TK, TN):
                b[k, n] = B[kt * TK + k, nt * TN + n]
            tiles_A.put(a)
            tiles_B.put(b)

    @df.kernel()
    def engine():
        for _mt, _nt in allo.grid(M // TM, N // TN):
            c: int16[TM, TN] = 0
            for _kt in range(K // TK):
                a: int16[TM, TK] = tiles_A.get()
                b: int16[TK, TN] = tiles_B.get()
                for m, n in allo.grid(TM, TN):
                    for k in range(TK):
                        c[m, n] += a[m, k] * b[k, n]
            tiles_C.put(c)

    @df.kernel(mapping=[1], args=[C])
    def store(C: int16[M, N]):
        for mt, nt in allo.grid(M // TM, N // TN):
            c: int16[TM, TN] = tiles_C.get()
            for m, n in allo.grid(TM, TN):
                C[mt * TM + m, nt * TN + n] = c[m, n]


@df.region()
def multi_cache(A: int16[M, K], B: int16[K, N], C: int16[M, N]):
    """A chain of caches: each keeps the rows that are for its row of elements and hands the others on."""
    L3_A: Stream[int16, 4]
    L3_B: Stream[int16, 4]
    L2_A: Stream[int16, 4][TM + 1]
    L2_B: Stream[int16, 4][TN + 1]
    L1_A: Stream[int16, 4][TM, TN]
    L1_B: Stream[int16, 4][TM, TN]

    @df.kernel(mapping=[1], args=[A])
    def read_A(A: int16[M, K]):
        for mt, _nt, k, m in allo.grid(M // TM, N // TN, K, TM):
            L3_A.put(A[mt * TM + m, k])

    @df.kernel(mapping=[1], args=[B])
    def read_B(B: int16[K, N]):
        for _mt, nt, k, n in allo.grid(M // TM, N // TN, K, TN):
            L3_B.put(B[k, nt * TN + n])

    @df.kernel()
    def first_caches():
        for _mt, _nt, _k in allo.grid(M // TM, N // TN, K):
            for _m in range(TM):
                L2_A[0].put(L3_A.get())
            for _n in range(TN):
                L2_B[0].put(L3_B.get())

    @df.kernel(mapping=[TM])
    def cache_A():
        i = df.get_pid()
        for _mt, _nt, _k in allo.grid(M // TM, N // TN, K):
            L1_A[i, 0].put(L2_A[i].get())
            for _m in range(TM - 1 - i):
                L2_A[i + 1].put(L2_A[i].get())

    @df.kernel(mapping=[TN])
    def cache_B():
        j = df.get_pid()
        for _mt, _nt, _k in allo.grid(M // TM, N // TN, K):
            L1_B[0, j].put(L2_B[j].get())
            for _n in range(TN - 1 - j):
                L2_B[j + 1].put(L2_B[j].get())

    @df.kernel(mapping=[TM, TN], args=[C])
    def element(C: int16[M, N]):
        i, j = df.get_pid()
        for mt, nt in allo.grid(M // TM, N // TN):
            c: int16 = 0
            for _k in range(K):
                a: int16 = L1_A[i, j].get()
                b: int16 = L1_B[i, j].get()
                c += a * b
                with allo.meta_if(j < TN - 1):
                    L1_A[i, j + 1].put(a)
                with allo.meta_if(i < TM - 1):
                    L1_B[i + 1, j].put(b)
            C[mt * TM + i, nt * TN + j] = c


@df.region()
def inner_product[T, L](A: T[L, L], B: T[L, L], C: T[L, L]):
    """A region with parameters: rows of products, half of them in each of two tasks."""

    @df.kernel(mapping=[2], args=[A, B, C])
    def half(A: T[L, L], B: T[L, L], C: T[L, L]):
        p = df.get_pid()
        for i, j in allo.grid(L // 2, L):
            total: T = 0
            for k in range(L):
                total += A[p * (L // 2) + i, k] * B[k, j]
            C[p * (L // 2) + i, j] = total


@df.region()
def hierarchy(A: int32[TM, TM], B: int32[TM, TM], C: int32[TM, TM], D: int32[TM, TM]):
    """Regions in tasks of a region: (A @ B) @ B."""
    pipe: Stream[int32[TM], 2]

    @df.kernel(mapping=[1], args=[A, B])
    def first(A: int32[TM, TM], B: int32[TM, TM]):
        AB: int32[TM, TM] = 0
        inner_product[int32, TM](A, B, AB)
        for i in range(TM):
            pipe.put(AB[i])

    @df.kernel(mapping=[1], args=[C, D])
    def second(B: int32[TM, TM], D: int32[TM, TM]):
        AB: int32[TM, TM]
        for i in range(TM):
            AB[i, :] = pipe.get()
        inner_product[int32, TM](AB, B, D)


S, D, H = 4, 4, 8  # rows of tokens, features, hidden features
S_, R_ = Layout.Shard, Layout.Replicate


@df.region()
def feed_forward(X: float32[S, D], W1: float32[D, H], W2: float32[H, D], Y: float32[S, D]):
    """`relu(X @ W1) @ W2`: two positions, each with half of the tokens, and a stream of rows between the layers."""
    hidden: Stream[float32[H], 2][2]

    @df.kernel(mapping=[2], args=[X, W1])
    def up(X: float32[S, D] @ [S_(0), R_], W1: float32[D, H]):
        p = df.get_pid()
        for s in range(S // 2):
            row: float32[H] = 0
            for h in range(H):
                for d in range(D):
                    row[h] += X[s, d] * W1[d, h]
                row[h] = max(row[h], 0.0)
            hidden[p].put(row)

    @df.kernel(mapping=[2], args=[W2, Y])
    def down(W2: float32[H, D], Y: float32[S, D] @ [S_(0), R_]):
        p = df.get_pid()
        for s in range(S // 2):
            row: float32[H] = hidden[p].get()
            for d in range(D):
                total: float32 = 0
                for h in range(H):
                    total += row[h] * W2[h, d]
                Y[s, d] = total


HEADS, L, E = 2, 4, 4  # heads, tokens, features of a head


@df.region()
def multi_head(
    Q: float32[HEADS, L, E], K_: float32[HEADS, E, L], V: float32[HEADS, L, E], O: float32[HEADS, L, E]
):
    """Attention of several heads: each has a chain of tasks for scores, softmax and values."""
    scores: Stream[float32[L, L], 2][HEADS]
    weights: Stream[float32[L, L], 2][HEADS]

    @df.kernel(mapping=[HEADS], args=[Q, K_])
    def score(Q: float32[HEADS, L, E], K_: float32[HEADS, E, L]):
        h = df.get_pid()
        scores[h].put(allo.matmul(Q[h], K_[h]))

    @df.kernel(mapping=[HEADS])
    def soften():
        h = df.get_pid()
        s: float32[L, L] = scores[h].get()
        weights[h].put(allo.softmax(s))

    @df.kernel(mapping=[HEADS], args=[V, O])
    def value(V: float32[HEADS, L, E], O: float32[HEADS, L, E]):
        h = df.get_pid()
        w: float32[L, L] = weights[h].get()
        O[h, :, :] = allo.matmul(w, V[h])


NT, DT, TQ, TKV = 4, 4, 2, 2
P0, P1 = NT // TQ, NT // TKV
LyQ, LyK, LyV = Layout("S1R"), Layout("RS0"), Layout("S0R")


@df.region()
def flash_attention():
    """FlashAttention of figure 10 of the Dato paper: an online softmax between grids of products."""
    q: Stream[float32[TQ, DT]][P0, P1]
    s: Stream[float32[TQ, TKV]][P0, P1]
    w: Stream[float32[TQ, TKV]][P0, P1]
    exp_sum: Stream[float32[TQ]][P0]
    exp_scale: Stream[float32[TQ]][P0]
    o: Stream[float32[TQ, DT]][P0, P1]

    @df.task(mapping=[P0, 1])
    def send_q(Q: float32[NT, DT] @ LyQ):
        ti, _ = df.get_tid()
        with allo.meta_for(P1) as i:
            q[ti, i].put(Q)

    @df.task(mapping=[P0, P1])
    def gemm0(K: float32[DT, NT] @ LyK):
        ti, tj = df.get_tid()
        s[ti, tj].put(allo.matmul(q[ti, tj].get(), K))

    @df.task(mapping=[P0, 1])
    def softmax():
        ti, _ = df.get_tid()
        m: float32[TQ] = -1000.0
        total: float32[TQ] = 0
        for i in range(P1):
            scores: float32[TQ, TKV] = s[ti, i].get()
            weight: float32[TQ, TKV]
            scale: float32[TQ]
            for r in range(TQ):
                most: float32 = m[r]
                for c in range(TKV):
                    most = max(most, scores[r, c])
                scale[r] = allo.exp(m[r] - most)
                total[r] = total[r] * scale[r]
                for c in range(TKV):
                    weight[r, c] = allo.exp(scores[r, c] - most)
                    total[r] += weight[r, c]
                m[r] = most
            exp_scale[ti].put(scale)
            w[ti, i].put(weight)
        exp_sum[ti].put(total)

    @df.task(mapping=[P0, P1])
    def gemm1(V: float32[NT, DT] @ LyV):
        ti, tj = df.get_tid()
        o[ti, tj].put(allo.matmul(w[ti, tj].get(), V))

    @df.task(mapping=[P0, 1])
    def acc(O: float32[NT, DT] @ LyQ):
        output: float32[TQ, DT] = 0
        ti, _ = df.get_tid()
        for i in range(P1):
            scale: float32[TQ] = exp_scale[ti].get()
            part: float32[TQ, DT] = o[ti, i].get()
            for r, c in allo.grid(TQ, DT):
                output[r, c] = output[r, c] * scale[r] + part[r, c]
        total: float32[TQ] = exp_sum[ti].get()
        for r, c in allo.grid(TQ, DT):
            O[r, c] = output[r, c] / total[r]
