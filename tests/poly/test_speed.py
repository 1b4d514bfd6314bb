"""The price of a question: within the budgets of an interactive primitive, whatever the extents."""

from __future__ import annotations

import time

from allo.poly import extract, order_violation

from .test_model import GEMM
from .test_order import HEAD, JACOBI, loop, stencil


def seconds(question):
    """CPU seconds, the best of five."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        question()
        best = min(best, time.process_time() - start)
    return best


def all_orders(function, names, new):
    loops = function.loops
    return lambda: order_violation(extract(function.op), [loops[n] for n in names], [loops[n] for n in new])


def test_gemm(parse):
    for size in ("8", "4096"):
        function = parse(GEMM.replace("8", size))
        assert seconds(all_orders(function, "ijk", "kji")) < 0.005


def test_jacobi(parse):
    function = parse(f"{HEAD}{JACOBI}\nreturn\n}}")
    assert seconds(all_orders(function, "tij", "itj")) < 0.015
    assert seconds(all_orders(function, "ij", "ji")) < 0.015


def test_two_hundred_loops(parse):
    nests = "\n".join(stencil("A", "B", f"i{k}", f"j{k}") for k in range(100))
    function = parse(f"{HEAD}{loop('t', '0 to 3', nests)}\nreturn\n}}")
    assert seconds(lambda: extract(function.op)) < 0.06
