"""Search for schedules: spaces with holes, drivers, goals, stores (docs/search.md)."""

from .choices import Choose, Hole
from .clusters import RayExecutor
from .found import SearchResult
from .point import Point, PointState
from .search import search
from .store import PointStore

__all__ = ["Choose", "Hole", "Point", "PointState", "PointStore", "RayExecutor", "SearchResult", "search"]
