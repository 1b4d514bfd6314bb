"""Drivers of a search: which decisions to look at next, given what is known of those before."""

from .beam import beam
from .evolution import evolution
from .exhaustive import exhaustive
from .sampled import sampled
from .searched import Candidates, Proposals

__all__ = ["Candidates", "Proposals", "beam", "evolution", "exhaustive", "sampled"]
