from allo.ir.types import int32
from allo.memory import Layout


def kernel(A: "int32[4] @ Layout('S')"):
    A[0] = 1
