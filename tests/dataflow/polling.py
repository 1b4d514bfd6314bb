"""Designs that ask before they wait: arbiters, merges, credits, what is lost."""

# ruff: noqa: F821 - tasks are compiled where they stand
import allo
import allo.dataflow as df
from allo.ir.types import Stream, Struct, UFixed, bfloat16, bool, int16, int32, uint8

N = 12


@df.region()
def arbiter(A: int32[N], B: int32[N], C: int32[2 * N]):
    """Takes from whichever stream has something."""
    one: Stream[int32, 2]
    other: Stream[int32, 3]
    merged: Stream[int32, 1]

    @df.kernel(mapping=[1], args=[A])
    def first(A: int32[N]):
        for i in range(N):
            one.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def second(B: int32[N]):
        for i in range(N):
            while not other.try_put(B[i]):
                pass

    @df.kernel(mapping=[1])
    def merge():
        taken: int32 = 0
        while taken < 2 * N:
            x, ok = one.try_get()
            if ok:
                merged.put(x)
                taken += 1
            x, ok = other.try_get()
            if ok:
                merged.put(-x)
                taken += 1

    @df.kernel(mapping=[1], args=[C])
    def store(C: int32[2 * N]):
        for i in range(2 * N):
            C[i] = merged.get()


P = 3


@df.region()
def round_robin(A: int16[P, N], C: int16[P * N], turns: int32[1]):
    """Looks at the streams in turns, and counts how often it looked."""
    lanes: Stream[int16, 2][P]

    @df.kernel(mapping=[P], args=[A])
    def source(A: int16[P, N]):
        p = df.get_pid()
        for i in range(N):
            lanes[p].put(A[p, i])

    @df.kernel(mapping=[1], args=[C, turns])
    def sink(C: int16[P * N], turns: int32[1]):
        taken: int32 = 0
        looked: int32 = 0
        while taken < P * N:
            for p in range(P):
                if not lanes[p].empty():
                    C[taken] = lanes[p].get()
                    taken += 1
                looked += 1
        turns[0] = looked


@df.region()
def credits(A: int32[N], C: int32[N], waits: int32[1]):
    """Sends only what it has credits for, which come back."""
    data: Stream[int32, 4]
    credit: Stream[uint8, 4]

    @df.kernel(mapping=[1], args=[A, waits])
    def sender(A: int32[N], waits: int32[1]):
        have: int32 = 2
        sent: int32 = 0
        idle: int32 = 0
        while sent < N:
            back, ok = credit.try_get()
            if ok:
                have += back
            if have > 0:
                data.put(A[sent])
                sent += 1
                have -= 1
            else:
                idle += 1
        while have < 2:
            have += credit.get()
        waits[0] = idle

    @df.kernel(mapping=[1], args=[C])
    def receiver(C: int32[N]):
        for i in range(N):
            C[i] = data.get()
            credit.put(1)


@df.region()
def lossy(A: int32[N], C: int32[N], lost: int32[1]):
    """What finds no room is lost; 0 ends it."""
    pipe: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A, lost])
    def source(A: int32[N], lost: int32[1]):
        missed: int32 = 0
        for i in range(N):
            if pipe.full():
                missed += 1
            elif not pipe.try_put(A[i] + 1):
                missed += 100
            pipe.try_put(A[i] + 50)
        pipe.put(0)
        lost[0] = missed

    @df.kernel(mapping=[1], args=[C])
    def sink(C: int32[N]):
        x: int32 = pipe.get()
        i: int32 = 0
        while x != 0:
            if i < N:
                C[i] = x
            i += 1
            x = pipe.get()


@df.region()
def sorted_merge(A: int32[N], B: int32[N], C: int32[2 * N]):
    """The lesser of the two elements that come next, each time."""
    one: Stream[int32, 2]
    other: Stream[int32, 2]

    @df.kernel(mapping=[1], args=[A])
    def first(A: int32[N]):
        for i in range(N):
            one.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def second(B: int32[N]):
        for i in range(N):
            other.put(B[i])

    @df.kernel(mapping=[1], args=[C])
    def merge(C: int32[2 * N]):
        a: int32 = 0
        b: int32 = 0
        for i in range(2 * N):
            left = b == N
            if a < N and b < N:
                x = one.peek()
                left = x <= other.peek()
            if left:
                C[i] = one.get()
                a += 1
            else:
                C[i] = other.get()
                b += 1


Pair = Struct({"key": uint8, "value": UFixed(12, 4)})


@df.region()
def kinds(A: int32[N], B: int32[N]):
    """Elements of many types; what is not there is zero."""
    pairs: Stream[Pair, 2]
    flags: Stream[bool, 2]
    brains: Stream[bfloat16, 2]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[N]):
        for i in range(N):
            p: Pair = {"key": A[i], "value": A[i]}
            while not pairs.try_put(p):
                pass
            while not flags.try_put(A[i] > 3):
                pass
            while not brains.try_put(A[i]):
                pass

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            pair, ok = pairs.try_get()
            while not ok:
                B[i] += 1000 * pair.key
                pair, ok = pairs.try_get()
            flag, has_flag = flags.try_get()
            while not has_flag:
                flag, has_flag = flags.try_get()
            number: int32 = 0
            found: int32 = 0  # of another type than the answer
            while found == 0:
                number, found = brains.try_get()
            B[i] += pair.key + pair.value + number
            if flag:
                B[i] += 100


@df.region()
def element_places(A: int32[N], B: int32[2, N]):
    """What `try_get` gives goes to elements."""
    pipe: Stream[int32, 4]

    @df.kernel(mapping=[1], args=[A])
    def source(A: int32[N]):
        for i in range(N):
            pipe.put(A[i])

    @df.kernel(mapping=[1], args=[B])
    def sink(B: int32[2, N]):
        for i in range(N):
            while B[1, i] == 0:
                B[0, i], B[1, i] = pipe.try_get()


@allo.customize  # a kernel without tasks: its statements run one after the other
def sequence(A: int32[4]):
    pipe: Stream[int32, 2]
    A[0] = pipe.full()
    A[1] = pipe.try_put(5)
    pipe.put(6)
    A[2] = pipe.full()
    if not pipe.try_put(7):
        A[3] = 10 * pipe.get() + pipe.get()
    x, ok = pipe.try_get()
    if not ok and pipe.empty():
        A[3] += x
