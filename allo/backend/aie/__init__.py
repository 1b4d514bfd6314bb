"""AI engines of AMD, a target of published Allo that is not here: programs that ask whether it is are told so."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether programs can be built for AI engines: not here. Regions run with `target="simulator"`."""
    return False
