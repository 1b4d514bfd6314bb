"""Random arrays behind AXI: types, shapes, partitions, ports and widths of words; the bits of the CPU, in the predicted
cycles."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo.customize import Partition
from tests.seeds import sweep

from .test_axi import assert_over_axi

TYPES = {
    "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint5": np.uint8,
    "int11": np.int16, "float32": np.float32, "float64": np.float64,
}  # fmt: skip
ARRAYS = 5


def kernel_text(random: np.random.Generator) -> tuple[str, list[np.ndarray]]:
    """A kernel that moves elements within each of its arrays, and arguments."""
    head, body, arguments = [], [], []
    for n in range(ARRAYS):
        kind = str(random.choice(list(TYPES)))
        shape = [int(extent) for extent in random.choice([1, 2, 3, 4, 6, 8, 16], random.integers(1, 4))]
        if random.integers(4) == 0 and prod(shape[:-1]) < 9:
            shape[-1] = int(random.integers(100, 700))
        head.append(f"a{n}: {kind}[{', '.join(map(str, shape))}]")
        low = 0 if kind[0] == "u" else -16
        arguments.append(random.integers(low, 16, shape).astype(TYPES[kind]))
        loops = ", ".join(f"i{k}" for k in range(len(shape))) + ("," if len(shape) == 1 else "")
        to = ", ".join(f"i{k}" for k in range(len(shape)))
        back = ", ".join(f"{extent - 1} - i{k}" for k, extent in enumerate(shape))
        body.append(f"    for {loops} in allo.grid({', '.join(map(str, shape))}):")
        what = random.integers(3)  # only written, changed, only read in places
        body.append(f"        a{n}[{to}] {'=' if what == 0 else '+='} {'3' if what == 0 else f'a{n}[{back}]'}")
    return "\n".join([f"def moved({', '.join(head)}):", *body, ""]), arguments


def schedule(text: str, place: Path, random: np.random.Generator, arguments: list[np.ndarray]) -> allo.Schedule:
    place.write_text(f"import allo\nfrom allo.ir.types import *\n\n\n{text}")
    names: dict[str, Any] = {}
    exec(compile(place.read_text(), str(place), "exec"), names)
    s = allo.customize(names["moved"])
    for n, array in enumerate(arguments):
        for dim in range(1, array.ndim + 1):
            kind = int(random.integers(5))
            extent = array.shape[dim - 1]
            if kind == 1 and extent <= 8 and array.size <= 64:
                s.partition(f"a{n}", dim=dim)
            elif kind in (2, 3) and extent > 2:
                form = Partition.Cyclic if kind == 2 else Partition.Block
                s.partition(f"a{n}", dim=dim, factor=int(random.integers(2, min(extent, 4) + 1)), partition_type=form)
    return s


@sweep(12, quick=0)
def test_same_bits_in_the_predicted_cycles(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    text, arguments = kernel_text(random)
    s = schedule(text, tmp_path / "moved.py", random, arguments)
    names = [f"a{n}" for n in range(ARRAYS)]
    streams = [name for name in names if random.integers(4) == 0]
    bundles = {name: f"gmem{random.integers(3)}" for name in names if name not in streams}
    assert_over_axi(
        s, *arguments, streams=streams, bundles=bundles, word_bits=int(random.choice([32, 64, 128, 512])),
        outstanding=int(random.integers(1, 5)), device=str(random.choice(["u280", "zynq7020"])),
    )  # fmt: skip
