"""Arrays of processing elements whose data decide: instructions, sparse operands, sequence alignment; and tori."""

from __future__ import annotations

# ruff: noqa: F821, F841 - kernels as the literature writes them; tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import Stream, bool, int8, int16, int32

R, C, T = 2, 3, 4  # rows, columns, and how long each operation lasts


@df.region()
def unified(
    code: bool[2], X: int16[2, T, R], W: int16[2, T, C], G: int16[2, R, C], Y: int16[2, R, C], Z: int16[2, T, C]
):
    """One array for two dataflows, told by an instruction: 0 keeps sums (`X[0].T @ W[0]`), 1 keeps weights `G[1]`."""
    order: Stream[bool, 2][R, C + 1]
    right: Stream[int16, 4][R, C + 1]
    down: Stream[int16, 4][R + 1, C]

    @df.kernel(mapping=[R], args=[code, X])
    def feed_rows(code: bool[2], X: int16[2, T, R]):
        r = df.get_pid()
        for n in range(2):
            order[r, 0].put(code[n])
            for t in range(T):
                right[r, 0].put(X[n, t, r])

    @df.kernel(mapping=[C], args=[W])
    def feed_columns(W: int16[2, T, C]):
        c = df.get_pid()
        for n, t in allo.grid(2, T):
            down[0, c].put(W[n, t, c])

    @df.kernel(mapping=[R, C], args=[G, Y])
    def element(G: int16[2, R, C], Y: int16[2, R, C]):
        r, c = df.get_pid()
        for n in range(2):
            keeps: bool = order[r, c].get()
            order[r, c + 1].put(keeps)
            held: int16 = G[n, r, c]
            for _t in range(T):
                x: int16 = right[r, c].get()
                w: int16 = down[r, c].get()
                right[r, c + 1].put(x)
                if keeps:
                    down[r + 1, c].put(w + x * held)
                else:
                    held += x * w
                    down[r + 1, c].put(w)
            Y[n, r, c] = held

    @df.kernel(mapping=[R])
    def drain():
        r = df.get_pid()
        for _n in range(2):
            order[r, C].get()
            for _t in range(T):
                right[r, C].get()

    @df.kernel(mapping=[C], args=[Z])
    def collect(Z: int16[2, T, C]):
        c = df.get_pid()
        for n, t in allo.grid(2, T):
            Z[n, t, c] = down[R, c].get()


SM, SN, SK = 4, 3, 8


@df.region()
def sparse(A: int8[SM, SK // 2], place: int8[SM, SK // 2], B: int8[SK, SN], Y: int32[SM, SN]):
    """Two of four weights in a group are not zero: elements choose the operands by the places of these."""
    groups: Stream[int8[4], 2][SM + 1, SN]

    @df.kernel(mapping=[SN], args=[B])
    def feed(B: int8[SK, SN]):
        n = df.get_pid()
        for g in range(SK // 4):
            group: int8[4]
            for k in range(4):
                group[k] = B[g * 4 + k, n]
            groups[0, n].put(group)

    @df.kernel(mapping=[SM, SN], args=[A, place, Y])
    def element(A: int8[SM, SK // 2], place: int8[SM, SK // 2], Y: int32[SM, SN]):
        m, n = df.get_pid()
        total: int32 = 0
        for g in range(SK // 4):
            group: int8[4] = groups[m, n].get()
            for h in range(2):
                total += A[m, 2 * g + h] * group[place[m, 2 * g + h]]
            groups[m + 1, n].put(group)
        Y[m, n] = total

    @df.kernel(mapping=[SN])
    def drain():
        n = df.get_pid()
        for _g in range(SK // 4):
            rest: int8[4] = groups[SM, n].get()


QUERY, TEXT = 4, 9
MATCH, MISMATCH, GAP = 2, -1, -1


@df.region()
def smith_waterman(query: int8[QUERY], text: int8[TEXT], best: int16[QUERY]):
    """Local alignment: element `q` computes a row of scores, an anti-diagonal behind the element before it."""
    letters: Stream[int8, 2][QUERY + 1]
    scores: Stream[int16, 2][QUERY + 1]

    @df.kernel(mapping=[1], args=[text])
    def feed(text: int8[TEXT]):
        for t in range(TEXT):
            letters[0].put(text[t])
            scores[0].put(0)

    @df.kernel(mapping=[QUERY], args=[query, best])
    def element(query: int8[QUERY], best: int16[QUERY]):
        q = df.get_pid()
        own: int8 = query[q]
        left: int16 = 0
        corner: int16 = 0
        most: int16 = 0
        for _t in range(TEXT):
            letter: int8 = letters[q].get()
            above: int16 = scores[q].get()
            score: int16 = corner + (MATCH if letter == own else MISMATCH)
            score = max(score, above + GAP, left + GAP, 0)
            corner = above
            left = score
            most = max(most, score)
            letters[q + 1].put(letter)
            scores[q + 1].put(score)
        best[q] = most

    @df.kernel()
    def drain():
        for _t in range(TEXT):
            letters[QUERY].get()
            scores[QUERY].get()


P, B = 3, 2  # a torus of P by P elements, each with blocks of B by B


@df.region()
def cannon(X: int32[P * B, P * B], Y: int32[P * B, P * B], Z: int32[P * B, P * B]):
    """Cannon's algorithm: blocks go round the rows and columns of a torus."""
    left: Stream[int32[B, B], 2][P, P]
    up: Stream[int32[B, B], 2][P, P]

    @df.kernel(mapping=[P, P], args=[X, Y, Z])
    def element(X: int32[P * B, P * B], Y: int32[P * B, P * B], Z: int32[P * B, P * B]):
        i, j = df.get_pid()
        a: int32[B, B]
        b: int32[B, B]
        c: int32[B, B] = 0
        for m, n in allo.grid(B, B):  # skewed: block (i, j) begins with blocks of diagonal i + j
            a[m, n] = X[i * B + m, (i + j) % P * B + n]
            b[m, n] = Y[(i + j) % P * B + m, j * B + n]
        for step in range(P):
            for m, n in allo.grid(B, B):
                for k in range(B):
                    c[m, n] += a[m, k] * b[k, n]
            if step < P - 1:
                left[i, (j + P - 1) % P].put(a)
                up[(i + P - 1) % P, j].put(b)
                a[:, :] = left[i, j].get()
                b[:, :] = up[i, j].get()
        for m, n in allo.grid(B, B):
            Z[i * B + m, j * B + n] = c[m, n]


@df.region()
def summa(X: int32[P * B, P * B], Y: int32[P * B, P * B], Z: int32[P * B, P * B]):
    """SUMMA: in step `k`, column `k` of blocks goes along the rows of a torus, and row `k` along its columns."""
    along: Stream[int32[B, B], 2][P, P]
    across: Stream[int32[B, B], 2][P, P]

    @df.kernel(mapping=[P, P], args=[X, Y, Z])
    def element(X: int32[P * B, P * B], Y: int32[P * B, P * B], Z: int32[P * B, P * B]):
        i, j = df.get_pid()
        a: int32[B, B]
        b: int32[B, B]
        c: int32[B, B] = 0
        with allo.meta_for(P) as k:
            with allo.meta_if(j == k):
                for m, n in allo.grid(B, B):
                    a[m, n] = X[i * B + m, j * B + n]
            with allo.meta_else():
                a[:, :] = along[i, j].get()
            with allo.meta_if((j + 1) % P != k):
                along[i, (j + 1) % P].put(a)
            with allo.meta_if(i == k):
                for m, n in allo.grid(B, B):
                    b[m, n] = Y[i * B + m, j * B + n]
            with allo.meta_else():
                b[:, :] = across[i, j].get()
            with allo.meta_if((i + 1) % P != k):
                across[(i + 1) % P, j].put(b)
            for m, n in allo.grid(B, B):
                for k2 in range(B):
                    c[m, n] += a[m, k2] * b[k2, n]
        for m, n in allo.grid(B, B):
            Z[i * B + m, j * B + n] = c[m, n]
