"""Tile programs of 32 x 32 tiles."""

import allo
from allo import tile
from allo.ir.types import bfloat16, float32, index, int32

M, N, K = 128, 96, 96


@tile.kernel
def gemm[BM: index, BN: index, BK: index](A: bfloat16[M, K], B: bfloat16[K, N], C: bfloat16[M, N]):
    for m, n in tile.programs(M // BM, N // BN):
        acc: float32[BM, BN] = 0
        for k in range(K // BK):
            a: bfloat16[BM, BK] = A[m * BM : (m + 1) * BM, k * BK : (k + 1) * BK]
            b: bfloat16[BK, BN] = B[k * BK : (k + 1) * BK, n * BN : (n + 1) * BN]
            part: float32[BM, BN] = allo.matmul(a, b)
            acc += part
        C[m * BM : (m + 1) * BM, n * BN : (n + 1) * BN] = acc


@tile.kernel
def batched(A: float32[3, 64, 64], B: float32[3, 64, 32], C: float32[3, 64, 32]):
    for batch, m in tile.programs(3, 2):
        acc: float32[32, 32] = 0
        for k in range(2):
            a: float32[32, 32] = A[batch, m * 32 : (m + 1) * 32, k * 32 : (k + 1) * 32]
            b: float32[32, 32] = B[batch, k * 32 : (k + 1) * 32, :]
            acc += allo.matmul(a, b)
        C[batch, m * 32 : (m + 1) * 32, :] = acc


@tile.kernel
def split_k(A: float32[64, 128], B: float32[128, 32], P: float32[2, 64, 32]):
    for part, m in tile.programs(2, 2):
        acc: float32[32, 32] = 0
        for k in range(2):
            a: float32[32, 32] = A[m * 32 : (m + 1) * 32, part * 64 + k * 32 : part * 64 + (k + 1) * 32]
            b: float32[32, 32] = B[part * 64 + k * 32 : part * 64 + (k + 1) * 32, :]
            acc += allo.matmul(a, b)
        P[part, m * 32 : (m + 1) * 32, :] = acc


@tile.kernel
def softmax(X: float32[96, 64], Y: float32[96, 64]):
    for m in tile.programs(3):
        Y[m * 32 : (m + 1) * 32] = allo.softmax(X[m * 32 : (m + 1) * 32])


@tile.kernel
def layernorm(X: float32[96, 64], G: float32[64], B: float32[64], Y: float32[96, 64]):
    for m in tile.programs(3):
        x: float32[32, 64] = X[m * 32 : (m + 1) * 32]
        gamma: float32[64] = G[:]
        beta: float32[64] = B[:]
        Y[m * 32 : (m + 1) * 32] = allo.layernorm(x, gamma, beta)


@tile.kernel
def mlp(X: float32[64, 32], W: float32[32, 96], V: float32[96, 32], Y: float32[64, 32]):
    for m in tile.programs(2):
        x: float32[32, 32] = X[m * 32 : (m + 1) * 32]
        acc: float32[32, 32] = 0
        for h in range(3):
            w: float32[32, 32] = W[:, h * 32 : (h + 1) * 32]
            v: float32[32, 32] = V[h * 32 : (h + 1) * 32]
            hidden: float32[32, 32] = allo.matmul(x, w)
            acc += allo.matmul(allo.relu(hidden), v)
        Y[m * 32 : (m + 1) * 32] = acc


HEADS, LENGTH, DEPTH, BLOCK = 2, 128, 32, 32


@tile.kernel
def attention[CAUSAL: index](
    Q: float32[HEADS, LENGTH, DEPTH],
    K: float32[HEADS, LENGTH, DEPTH],
    V: float32[HEADS, LENGTH, DEPTH],
    O: float32[HEADS, LENGTH, DEPTH],  # noqa: E741
):
    for head, m in tile.programs(HEADS, LENGTH // BLOCK):
        q: float32[BLOCK, DEPTH] = Q[head, m * BLOCK : (m + 1) * BLOCK]
        acc: float32[BLOCK, DEPTH] = 0
        largest: float32[BLOCK] = -1e30
        total: float32[BLOCK] = 0
        for n in range((m + 1) if CAUSAL else LENGTH // BLOCK):
            k: float32[BLOCK, DEPTH] = K[head, n * BLOCK : (n + 1) * BLOCK]
            v: float32[BLOCK, DEPTH] = V[head, n * BLOCK : (n + 1) * BLOCK]
            s: float32[BLOCK, BLOCK] = allo.matmul(q, k.T)
            for i in range(BLOCK):
                new: float32 = largest[i]
                for j in range(BLOCK):
                    with allo.meta_if(CAUSAL):
                        if n * BLOCK + j > m * BLOCK + i:
                            s[i, j] = -1e30
                    new = max(new, s[i, j])
                scale: float32 = allo.exp(largest[i] - new)
                largest[i] = new
                total[i] *= scale
                for j in range(BLOCK):
                    s[i, j] = allo.exp(s[i, j] - new)
                    total[i] += s[i, j]
                for j in range(DEPTH):
                    acc[i, j] *= scale
            acc += allo.matmul(s, v)
        for i, j in allo.grid(BLOCK, DEPTH):
            acc[i, j] /= total[i]
        O[head, m * BLOCK : (m + 1) * BLOCK] = acc


R, S, T = 70, 50, 40


@tile.kernel
def uneven(A: float32[R, T], B: float32[T, S], C: float32[R, S]):
    for m, n in tile.programs((R + 31) // 32, (S + 31) // 32):
        acc: float32[32, 32] = 0
        for k in range((T + 31) // 32):
            a: float32[32, 32] = 0
            b: float32[32, 32] = 0
            for i, j in allo.grid(32, 32):
                if m * 32 + i < R and k * 32 + j < T:
                    a[i, j] = A[m * 32 + i, k * 32 + j]
            for i, j in allo.grid(32, 32):
                if k * 32 + i < T and n * 32 + j < S:
                    b[i, j] = B[k * 32 + i, n * 32 + j]
            acc += allo.matmul(a, b)
        for i, j in allo.grid(32, 32):
            if m * 32 + i < R and n * 32 + j < S:
                C[m * 32 + i, n * 32 + j] = acc[i, j]


@tile.kernel
def heads(X: float32[3, 3, 32, 64], W: float32[64, 64], Y: float32[3, 3, 32, 64]):
    """All programs use the same W."""
    for m, n in tile.programs(3, 3):
        acc: float32[32, 64] = 0
        for k in range(2):
            x: float32[32, 32] = X[m, n, :, k * 32 : (k + 1) * 32]
            w: float32[32, 64] = W[k * 32 : (k + 1) * 32]
            acc += allo.matmul(x, w)
        Y[m, n] = acc


@tile.kernel
def tails(X: float32[320, 32], W: float32[32, 32], Y: float32[320, 32]):
    """Ten programs, of which the second wave has two."""
    for m in tile.programs(10):
        x: float32[32, 32] = X[m * 32 : (m + 1) * 32]
        w: float32[32, 32] = W[:]
        y: float32[32, 32] = allo.matmul(x, w)
        for i, j in allo.grid(32, 32):
            y[i, j] = y[i, j] + 1.0
        Y[m * 32 : (m + 1) * 32] = y


@tile.kernel
def chosen(A: float32[64, 64], D: float32[64, 64], V: float32[64], B: float32[64, 64]):
    """Choices by data: of values, with `and`, `or` and `not`, and of what is stored."""
    for m in tile.programs(2):
        a: float32[32, 64] = A[m * 32 : (m + 1) * 32]
        d: float32[32, 64] = D[m * 32 : (m + 1) * 32]
        v: float32[64] = V[:]
        r: float32[32, 64] = 0
        for i, j in allo.grid(32, 64):
            x: float32 = a[i, j]
            y: float32 = v[j] if 0.5 < x or x == d[i, j] else -3.0  # noqa: SIM300
            r[i, j] = x * 2.0 if x > d[i, j] and not d[i, j] <= 0.25 else y
        for i, j in allo.grid(32, 64):
            if a[i, j] < 0.0:
                r[i, j] += 1.0
            else:
                r[i, j] = max(r[i, j], d[i, j])
        B[m * 32 : (m + 1) * 32] = r


@tile.kernel
def integers(A: int32[64, 64], D: int32[64, 64], B: int32[64, 64]):
    for m in tile.programs(2):
        a: int32[32, 64] = A[m * 32 : (m + 1) * 32]
        d: int32[32, 64] = D[m * 32 : (m + 1) * 32]
        r: int32[32, 64] = 0
        for i, j in allo.grid(32, 64):
            r[i, j] = min(a[i, j], d[i, j]) if a[i, j] != 7 else a[i, j] - d[i, j]
        for i, j in allo.grid(32, 64):
            if m * 32 + i <= j:
                r[i, j] = max(r[i, j], 3) * (d[i, j] + 100000)
        B[m * 32 : (m + 1) * 32] = r


@tile.kernel
def convolution[R: index](X: bfloat16[6, 66, 32], F: bfloat16[R, R, 32, 64], Y: float32[4, 64, 64]):
    """Windows of R x R over rows, columns and channels: blocks of X begin at any column."""
    for h, w in tile.programs(4, 2):
        acc: float32[32, 64] = 0
        for p in range(R):
            for q in range(R):
                x: bfloat16[32, 32] = X[h + p, w * 32 + q : w * 32 + q + 32]
                f: bfloat16[32, 64] = F[p, q]
                part: float32[32, 64] = allo.matmul(x, f)
                acc += part
        Y[h, w * 32 : (w + 1) * 32] = acc


@tile.kernel
def windows(X: float32[70, 96], Y: float32[64, 64]):
    """Sums of shifted blocks, also from column 8 on."""
    for m in tile.programs(2):
        y: float32[32, 64] = 0
        for k in range(4):
            x: float32[32, 64] = X[m * 32 + 2 * k : m * 32 + 2 * k + 32, 8 * k : 8 * k + 64]
            for i, j in allo.grid(32, 64):
                y[i, j] += x[i, j]
        Y[m * 32 : (m + 1) * 32] = y


@tile.kernel
def compared(A: float32[32, 32], D: float32[32, 32], B: float32[6, 32, 32]):
    """All six comparisons of floats, which infinities and NaN may be among."""
    for m in tile.programs(1):
        a: float32[32, 32] = A[m * 32 : (m + 1) * 32]
        d: float32[32, 32] = D[m * 32 : (m + 1) * 32]
        eq: float32[32, 32] = 0
        ne: float32[32, 32] = 0
        lt: float32[32, 32] = 0
        le: float32[32, 32] = 0
        gt: float32[32, 32] = 0
        ge: float32[32, 32] = 0
        for i, j in allo.grid(32, 32):
            eq[i, j] = 2.0 if a[i, j] == d[i, j] else 1.0
            ne[i, j] = 2.0 if a[i, j] != d[i, j] else 1.0
            lt[i, j] = 2.0 if a[i, j] < d[i, j] else 1.0
            le[i, j] = 2.0 if a[i, j] <= 0.5 else 1.0
            gt[i, j] = 2.0 if 0.5 > d[i, j] else 1.0  # noqa: SIM300
            ge[i, j] = 2.0 if a[i, j] >= d[i, j] else 1.0
        B[0] = eq
        B[1] = ne
        B[2] = lt
        B[3] = le
        B[4] = gt
        B[5] = ge
