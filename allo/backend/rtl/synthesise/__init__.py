"""Synthesis without a vendor: what a design takes of an FPGA, counted by Yosys, or placed and routed by nextpnr."""

from .counts import Utilization
from .lint import LintWarning, linted
from .placement import PlacedDesign, placed
from .synthesis import synthesised, synthesised_around
from .yosys import is_available

__all__ = [
    "LintWarning",
    "PlacedDesign",
    "Utilization",
    "is_available",
    "linted",
    "placed",
    "synthesised",
    "synthesised_around",
]
