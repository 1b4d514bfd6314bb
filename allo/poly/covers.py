"""Covers in a pipelined body: stores that surely write an element, in the same iteration, before or after others.

An access is covered if a store runs whenever it runs, on the same element whatever that is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol

from .space import PlacedAccess, Space, common, renewed


class OrderedAccess(PlacedAccess, Protocol):
    """An access with its place in the text, and the branches of conditions that it is in."""

    @property
    def position(self) -> tuple[int, ...]: ...
    @property
    def guards(self) -> Sequence[tuple[Hashable, int]]: ...


def cover_of[A: OrderedAccess](stores: Iterable[A], load: A) -> A | None:
    """The last store in front of a load that surely writes what it reads, in the same iteration and copy."""
    found = None
    for store in stores:
        if store.position <= load.position and _surely(store, load) and _is_around(store, load):
            found = store
    return found


def is_overwritten(space: Space, stores: Iterable[OrderedAccess], store: OrderedAccess) -> bool:
    """Whether what a store writes is surely overwritten in the same iteration and copy."""
    return any(
        other.position > store.position
        and _surely(other, store)
        and _is_around(store, other)
        and space.count(other.around) > 0
        for other in stores
    )


def lasting_copies(space: Space, stores: Iterable[OrderedAccess], access: OrderedAccess) -> dict[int, int]:
    """Copy loops of whose copies only one has to do with other iterations, with that copy.

    If each copy writes the same elements, these are what the last one wrote; what is read then is what the copy before
    has written, but for the first one. `stores` are those of the array, the access among them if it is one.
    """
    used = {number for form in access.forms if form is not None for number, _ in form.copies}
    scope = renewed(access.access)
    still = [n for n in access.around if n not in used and space.copies[n].variable not in scope]
    all_stores = list(stores)
    is_store = any(store is access for store in all_stores)
    found: dict[int, int] = {}
    for store in [access] if is_store else all_stores:
        runs = not store.guards and space.count(store.around) > 0
        if runs and None not in store.forms and store.forms == access.forms:
            shared = common(store.around, access.around)
            if used <= set(shared):
                found |= {n: space.copies[n].trip - 1 if is_store else 0 for n in still if n in shared}
    return found


def alike(first: PlacedAccess, second: PlacedAccess) -> bool:
    """Whether copies of two accesses meet in all iterations or in none."""
    return all(
        one is not None and other is not None and (one.time, one.other) == (other.time, other.other)
        for one, other in zip(first.forms, second.forms, strict=True)
    )


def _surely(store: OrderedAccess, access: OrderedAccess) -> bool:
    """Whether a store runs if an access does, on the same element."""
    guards = access.guards[: len(store.guards)]
    return None not in store.forms and store.guards == guards and store.forms == access.forms


def _is_around(outer: OrderedAccess, inner: OrderedAccess) -> bool:
    """Whether the copy loops around the first are around the second too."""
    return inner.around[: len(outer.around)] == outer.around
