"""Uses of arrays by the name that published Allo gives to their analysis."""

from __future__ import annotations

from ..absent import Absent

__all__ = ["UseDefChain"]

UseDefChain = Absent(
    "allo.ir.use_def.UseDefChain",
    's.graph tells producers, consumers and users, s.get_equivalent_variables("f:A") the other names of an array',
)
