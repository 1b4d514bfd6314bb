"""`allo-expand-wide-division`: what aborts in LLVM is written otherwise, and means the same."""

import numpy as np
import pytest

import allo
from allo.ir.types import Int

from .compiled import on_function


@pytest.mark.parametrize(("width", "expanded"), [(255, False), (256, True), (257, True)])
def test_from_256_bits_on(width: int, expanded: bool) -> None:
    text = f"""
    func.func @f(%x: i{width}, %y: i{width}) -> i{width} {{
      %q = arith.divsi %x, %y : i{width}
      %r = arith.remsi %q, %y : i{width}
      return %r : i{width}
    }}"""
    rewritten = on_function(text, "allo-expand-wide-division")
    assert ("divsi" not in rewritten and "remsi" not in rewritten) == expanded
    assert ("divui" in rewritten and "remui" in rewritten) == expanded


LEAST = -(1 << 255)


@pytest.mark.parametrize("divisor", [4, -8, 1, -1, 7, LEAST])
def test_quotients_of_256_bits(divisor: int) -> None:
    def f(X: "Int(256)[6]", Q: "Int(256)[6]", R: "Int(256)[6]"):
        for i in range(6):
            Q[i] = X[i] // divisor
            R[i] = X[i] % divisor

    values = [LEAST, (1 << 255) - 1, -1, 0, 17, -(1 << 200) + 3]
    X, Q, R = (np.array(values, dtype=object), *(np.zeros(6, dtype=object) for _ in range(2)))
    allo.customize(f).build()(X, Q, R)
    wrapped = [(value // divisor + (1 << 255)) % (1 << 256) - (1 << 255) for value in values]
    assert (Q.tolist(), R.tolist()) == (wrapped, [value % divisor for value in values])
