"""Simulation of SystemVerilog cycle by cycle: Verilator's C++, compiled and driven on NumPy arrays."""

from .build import Waveform
from .model import Model
from .outcome import Outcome
from .tool import find_verilator, is_available

__all__ = ["Model", "Outcome", "Waveform", "find_verilator", "is_available"]
