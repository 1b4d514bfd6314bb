"""Conditions of `affine.if`, for which the Python bindings have no accessor."""

from __future__ import annotations

from mlir import ir


def constraints_of(condition: ir.Attribute) -> tuple[ir.AffineMap, tuple[bool, ...]]:
    """The left sides of the constraints `e >= 0` and `e == 0` as a map, and which of them are equalities.

    The printed form `affine_set<(d0)[s0] : (e0 >= 0, e1 == 0)>` is that of a map once the comparisons are cut off.
    """
    head, _, body = str(condition).removeprefix("affine_set").partition(" : (")
    texts = [text for text in body.removesuffix(")>").split(", ") if text]
    results = ", ".join(text.rsplit(" ", 2)[0] for text in texts)
    parsed = ir.Attribute.parse(f"affine_map{head} -> ({results})>", condition.context)
    assert isinstance(parsed, ir.AffineMapAttr)
    return parsed.value, tuple(text.endswith("== 0") for text in texts)
