"""Grids of equal instances as loops over arrays, which simulators compile in the time of one instance."""

from .design import GridDesign, grid_design
from .places import GridPlace

__all__ = ["GridDesign", "GridPlace", "grid_design"]
