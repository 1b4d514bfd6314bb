"""Unique names of loops, buffers, functions and constants."""

from __future__ import annotations


def unique_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or the first of `wanted_1`, `wanted_2`, ... that is not in `taken`, which gets the answer too."""
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name)
    return name
