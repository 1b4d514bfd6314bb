"""All mistakes of a kernel are reported, in the order of the lines."""

from allo.ir.types import int32


def kernel(A: int32[4], alpha):
    for i in range(4):
        A[i, 0] = alhpa
        B[i] = A[9]
    x: itn32 = 1
    while A[0] > 1.5 @ 2:
        break
    return A
