"""The kernel is a bound method."""

from allo.ir.types import int32


class Design:
    def run(self, A: int32[4]):
        A[0] = 1


kernel = Design().run
