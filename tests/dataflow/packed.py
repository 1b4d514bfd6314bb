"""Streams of words: packed by their type, and by the bits of integers, as users of Dato write them."""

# ruff: noqa: F821 - tasks are compiled where they stand
import allo.dataflow as df
from allo.ir.types import Fixed, Stream, Struct, UInt, bfloat16, bool, float32, int8, int16, uint5

M, P, W = 6, 4, 8


def scaled(T):
    """A region that sends rows of `T` in words, and gets them."""

    @df.region()
    def region(A: T[M, P], B: T[M, P]):
        pipe: Stream[T, 2 * P, P]

        @df.kernel(mapping=[1], args=[A])
        def source(A: T[M, P]):
            for i in range(M):
                pipe.put(A[i, :])

        @df.kernel(mapping=[1], args=[B])
        def sink(B: T[M, P]):
            for i in range(M):
                B[i, :] = pipe.get()

    return region


@df.region()
def tried(A: int16[M, P], B: int16[M, P]):
    """Words are tried and looked at as elements are."""
    pipe: Stream[int16, P, P][2]

    @df.kernel(mapping=[2], args=[A])
    def source(A: int16[M, P]):
        p = df.get_pid()
        for i in range(M // 2):
            while not pipe[p].try_put(A[2 * i + p, :] + 1):
                pass

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int16[M, P]):
        taken: int16 = 0
        while taken < M:
            for p in range(2):
                row, ok = pipe[p].try_get()
                if ok:
                    for k in range(P):
                        B[taken, k] = row[k]
                    taken += 1


@df.region()
def looked(A: int16[M, P], B: int16[M, P]):
    """The first element of the word that comes next decides; what is found is the whole row."""
    pipe: Stream[int16, 2 * P, P]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int16[M, P]):
        for i in range(M):
            pipe.put(A[i, :])

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int16[M, P]):
        for i in range(M):
            next = pipe.peek()
            row = pipe.get()
            if next[0] % 2 == 0:
                B[i, :] = row
            else:
                B[i, :] = next + row


@df.region()
def words(A: UInt(W * 40)[M], B: UInt(W * 40)[M], C: int8[M, 40]):
    """Words of 320 bits, of which bits are taken and replaced."""
    pipe: Stream[UInt(W * 40), 4]
    back: Stream[UInt(W * 40)][2]

    @df.kernel(mapping=[1], args=[A])
    def source(A: UInt(W * 40)[M]):
        for i in range(M):
            pipe.put(A[i])

    @df.kernel(mapping=[1], args=[C])
    def middle(C: int8[M, 40]):
        for i in range(M):
            word = pipe.get()
            changed: UInt(W * 40) = 0
            for k in range(40):
                C[i, k] = word[k * W : (k + 1) * W]
                changed[(39 - k) * W : (40 - k) * W] = word[k * W : (k + 1) * W]
            changed[3] = 1
            back[1].put(changed)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: UInt(W * 40)[M]):
        for i in range(M):
            B[i] = back[1].get()


Pair = Struct({"key": uint5, "value": Fixed(11, 3)})
KINDS = {"int8": int8, "uint5": uint5, "fixed": Fixed(11, 3), "float32": float32, "bfloat16": bfloat16, "bool": bool}


@df.region()
def pairs(A: int8[M, 2], B: int8[M, 2]):
    """Structs side by side."""
    pipe: Stream[Pair, 4, 2]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int8[M, 2]):
        for i in range(M):
            both: Pair[2]
            for k in range(2):
                both[k] = Pair(key=A[i, k], value=A[i, k])
            pipe.put(both)

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int8[M, 2]):
        for i in range(M):
            both: Pair[2] = pipe.get()
            for k in range(2):
                B[i, k] = both[k].key + both[k].value
