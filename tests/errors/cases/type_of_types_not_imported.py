"""A type of the library was not imported, while another one was."""

from allo.ir.types import int32


def kernel(A: "float32[8]", B: int32[8]):  # noqa: F821
    for i in range(8):
        B[i] = 1
