"""Two tasks count in a scalar of the region."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(n: int32):
    @df.task()
    def one():
        n = n + 1

    @df.task()
    def two():
        n = n + 2
