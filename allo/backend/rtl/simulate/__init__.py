"""Simulation of SystemVerilog cycle by cycle: Verilator's C++, compiled and driven on NumPy arrays."""

from .build import Waveform
from .bus import Bus
from .model import Simulation
from .outcome import SimulatedRun
from .tool import find_verilator, is_available
from .variables import SimulatedVariables

__all__ = ["Bus", "SimulatedRun", "SimulatedVariables", "Simulation", "Waveform", "find_verilator", "is_available"]
