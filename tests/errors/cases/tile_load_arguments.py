"""The arguments of tile.load() do not fit its parameters."""

import allo.tile as tile
from allo.ir.types import float32


@tile.kernel
def kernel(X: float32[64], Z: float32[64]):
    for m in tile.programs(4):
        x: float32[16] = tile.load(X, (16 * m,), (16,), when=lambda i: i < 60)
        tile.store(Z, (16 * m,), x)
