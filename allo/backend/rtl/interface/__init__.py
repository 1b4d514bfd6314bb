"""Interfaces of a kernel over AXI: registers, memory in bursts, streams, and the cycles that they take."""
