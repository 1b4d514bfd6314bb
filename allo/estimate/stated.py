"""Loops whose iterations a user states by name."""

from __future__ import annotations

from ..errors import TargetError, nearest
from ..timing.control.trees import Trees


def demand_stated_loops(trees: Trees) -> None:
    """Raises TargetError for a trip count of a loop that does not exist."""
    counts = [builder.trip_counts for builder in trees.builders.values()]
    for name in trees.options.trips:
        if not any(name in count.used for count in counts):
            views = [(function, view) for function, b in trees.builders.items() for view in b.views.values()]
            loops = [text for function, view in views for text in (view.name, f"{function}:{view.name}")]
            hint = nearest(name, loops) or "give the name of a loop"
            raise TargetError(f"trips names no loop of the kernel: '{name}'", hint=hint)
