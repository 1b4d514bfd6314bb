"""The kernel is a coroutine."""

from allo.ir.types import int32


async def kernel(A: int32[4]):
    A[0] = 1
