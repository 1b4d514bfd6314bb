"""The benchmarks that have a schedule for one core of a CPU."""

from collections.abc import Mapping
from dataclasses import replace

from .benchmark import Design
from .cpu_products import PRODUCTS
from .cpu_rows import OF_ROWS

CPU: Mapping[str, Design] = {
    name: replace(design, on_cpu=True) for name, design in {**PRODUCTS, **OF_ROWS}.items()
}
"""Designs by name of the benchmark, which has them as `designs["cpu"]`."""
