"""Synthesis without a vendor: what a design takes of an FPGA, counted by Yosys."""

from .counts import Utilization
from .synthesis import synthesised
from .yosys import is_available

__all__ = ["Utilization", "is_available", "synthesised"]
