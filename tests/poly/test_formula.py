"""Affine sets and maps as linear forms, evaluated at numbers."""

from __future__ import annotations

import pytest
from mlir import ir

from allo.ir.context import context
from allo.poly.formula import compile_set, evaluate, satisfies


@pytest.mark.parametrize(("point", "inside"), [((3, 3), True), ((4, 4), False), ((4, 3), False), ((2, 2), False)])
def test_a_point_of_a_set_satisfies_its_constraints(point: tuple[int, int], inside: bool) -> None:
    with context():
        formula, equalities = compile_set(ir.Attribute.parse("affine_set<(i, j) : (i mod 4 - 3 >= 0, i - j == 0)>"))
    assert satisfies(evaluate(formula, point), equalities) is inside
