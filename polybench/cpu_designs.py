"""The benchmarks that have a schedule for one core of a CPU."""

from collections.abc import Mapping

from .benchmark import Design
from .cpu_products import PRODUCTS
from .cpu_rows import OF_ROWS

CPU: Mapping[str, Design] = {**PRODUCTS, **OF_ROWS}
"""Designs by name of the benchmark; their `dsp` means nothing."""
