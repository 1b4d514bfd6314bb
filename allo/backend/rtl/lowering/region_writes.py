"""Writes of arrays in a region, and which reads and writes are of one element."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....timing.problem.region import RegionNode
from ..netlist.design import Signal
from .arrays import BankPlace


@dataclass(frozen=True, slots=True)
class RegionWrite:
    """A write of an array in this region, for reads of the same cycle and for writes behind it."""

    node: RegionNode
    place: BankPlace
    condition: str
    chosen: Signal | None
    data: str
    guards: tuple[tuple[ir.Operation, int], ...]


def meets(write: RegionWrite, place: BankPlace, chosen: Signal | None) -> str | None:
    """The further condition under which a write and a read are of one element; None if they never are."""
    both = set(write.place.banks) & set(place.banks)
    if not both:
        return None
    if write.chosen is None and chosen is None:
        return ""
    if write.chosen is not None and chosen is not None:
        return f" && {write.chosen.name} == {chosen.name}"
    one = write.chosen or chosen
    assert one is not None
    return f" && {one.name} == {one.width}'d{both.pop()}"
