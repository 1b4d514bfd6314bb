from allo.frontend.typing.external import ExternalKernel, ExternalParameter, ExternalValue
from allo.ir.types import float32, int32

PARAMETERS = (ExternalParameter("A", float32, None, True), ExternalParameter("n", int32, (), False))


class Fill(ExternalValue):
    kernel = ExternalKernel("fill", PARAMETERS, None, "fill.cpp", 1, ())


fill = Fill()


def kernel(A: float32[...], x: float32):
    fill(A, 3)
    fill(x, 3)
    fill(unknown, 3)
