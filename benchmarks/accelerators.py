"""Estimates of accelerators of whole networks beside published ones, at the published number of DSPs.

python -m benchmarks.accelerators FOLDER [NAME ...]

takes exported networks that `scripts/export_networks.py FOLDER` writes where PyTorch is, and adds a row for each to
`FOLDER/accelerators.json`; rows that are there are not computed again. Each network takes a process of its own and
up to some minutes. Intervals and resources are those of `allo.estimate`, and cycles of one input too, where they are
not simulated: no tool has synthesised the designs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import allo
from allo.importers import quantized


class Published(NamedTuple):
    """Cycles and DSPs of a design that a paper reports; DSPs are the budget of ours, which is made from `file`.

    `cycles` is None where no paper has any, and the DSPs are those of a network like it. `weights` are the bits of
    weights beside activations of 8 bits (None: floats), `budget` that of `fuse_streams`, `turns` those of
    `interleave_sums`, `tails` whether factors may divide no trips. One input of shape `sample` is simulated.
    """

    cycles: int | None
    dsp: int
    file: str
    target: str = "u280"
    weights: int | None = None
    budget: int | None = None
    turns: int = 1
    tails: bool = False
    sample: tuple[int, ...] | None = None


# Networks: Allo (PLDI 2024), Table 4, reports of HLS for the U280 at 300 MHz; neither the type of elements nor the size
# of images is given. GPT-2: StreamTensor, Table 4, 34.59 ms to the first token on a U55C at 250 MHz with weights of 4
# bits and activations of 8, one block after the other, here as cycles of one of 24; DSPs are not given: all there are.
BLOCK = round(34.59e-3 * 250e6 / 24)
IMAGE = (1, 3, 32, 32)
PUBLISHED = {
    "VGG16": Published(3_850_000, 440, "vgg16", turns=128, tails=True, sample=IMAGE),
    "MobileNet": Published(260_000, 1942, "mobilenet", turns=256, tails=True, sample=IMAGE),
    "MobileNetV2": Published(None, 1942, "mobilenet_v2", turns=256, tails=True, sample=IMAGE),
    "ResNet-18": Published(8_290_000, 652, "resnet18", tails=True, sample=IMAGE),
    "VGG16, W8A8": Published(3_850_000, 440, "vgg16", weights=8, turns=128, tails=True, sample=IMAGE),
    "MobileNet, W8A8": Published(260_000, 1942, "mobilenet", weights=8, turns=256, tails=True, sample=IMAGE),
    "ResNet-18, W8A8": Published(8_290_000, 652, "resnet18", weights=8, turns=128, tails=True, sample=IMAGE),
    "GPT-2": Published(BLOCK, 9024, "gpt2", "u55c"),
    "GPT-2, W4A8": Published(BLOCK, 9024, "gpt2", "u55c", weights=4, budget=100_000),
}


def sample(kernel: Any) -> tuple[Any, ...]:
    """Random numbers as the image of a network, or as tokens of a block of GPT-2, with zeros in its cache."""
    random, found = np.random.default_rng(0), []
    for name, tensor in kernel.arguments.items():
        if name == "x":
            found.append(random.standard_normal(tensor.shape).astype(np.float32))
        elif name == "position":
            found.append(np.array([3]))
        elif name.startswith("b_"):
            found.append(np.zeros(tensor.shape, np.float32))
    return tuple(found)


def accelerator(folder: Path, design: Published) -> tuple[Any, allo.Schedule, Any, Any]:
    """Streams between all layers, and stages of one speed: the kernel, the schedule, and the plans of both."""
    kernel = allo.from_pt2(folder / f"{design.file}.pt2", weights_as_arguments=True)
    if design.weights is not None:
        kernel = quantized(kernel, [sample(kernel)], weights=design.weights)
    s = allo.customize(kernel, lower_linalg=True)
    name = s.top_func_name
    s.interleave_sums(name, turns=design.turns)
    streams = s.fuse_streams(name, budget=design.budget)
    stages = s.unroll_stages(name, dsp=design.dsp, target=design.target, tails=design.tails)
    for bank in stages.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return kernel, s, streams, stages


def simulated(kernel: Any, s: allo.Schedule, design: Published) -> int | None:
    """The cycles of one input, in a run with the static schedules of all stages; None if there is no sample."""
    if design.sample is None:
        return None
    built = s.build(target="simulator", timed=design.target)
    built(np.random.default_rng(0).standard_normal(design.sample).astype(np.float32), *kernel.weights.values())
    return int(built.timing.cycles)


def measure(folder: Path, design: Published) -> dict[str, Any]:
    """The row of one network."""
    begin = time.process_time()
    kernel, s, streams, stages = accelerator(folder, design)
    found = allo.estimate(s, target=design.target)
    seconds = round(time.process_time() - begin, 1)
    one = simulated(kernel, s, design)
    slowest = max(stages.stages, key=lambda stage: stage.chosen.cycles)
    return {
        "cycles": found.cycles if one is None else one, "is_simulated": one is not None,
        "interval": stages.cycles, "dsp": found.dsp, "bram": found.bram18,
        "bytes_before": streams.before, "bytes_after": streams.after,
        "streams": len(streams.streamed), "round_trips": streams.round_trips,
        "slowest": slowest.name, "limit": slowest.limit, "seconds": seconds,
        "plan": str(stages), "fusion": str(streams),
    }  # fmt: skip


def line(name: str, row: dict[str, Any]) -> str:
    """A row of the table."""
    theirs = PUBLISHED[name]
    cycles, ratio = "none", ""
    if theirs.cycles is not None:
        cycles, ratio = f"{theirs.cycles:,}", f"{theirs.cycles / row['interval']:.2f}"
    left = f"{100 * row['bytes_after'] / row['bytes_before']:.1f} %"
    return (
        f"{name:15} {cycles:>10} {theirs.dsp:>6,} {row['cycles']:>10,} {row['interval']:>10,} {row['dsp']:>6,} "
        f"{row['bram']:>6,} {ratio:>6} {left:>7}  {row['slowest']}: {row['limit']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    store = given.folder / "accelerators.json"
    if given.one:
        rows = json.loads(store.read_text()) if store.exists() else {}
        rows[given.names[0]] = measure(given.folder, PUBLISHED[given.names[0]])
        store.write_text(json.dumps(rows, indent=1))
        return
    columns = f"{'cycles':>10} {'DSP':>6} {'ours':>10} {'slowest':>10} {'DSP':>6} {'BRAM':>6} {'ratio':>6} {'left':>7}"
    print(f"{'published':15} {columns}  the slowest stage, and why it is not faster")
    for name in given.names:
        if name not in (json.loads(store.read_text()) if store.exists() else {}):
            command = [sys.executable, "-m", "benchmarks.accelerators", str(given.folder), name, "--one"]
            subprocess.run(command, check=True)
        print(line(name, json.loads(store.read_text())[name]), flush=True)


if __name__ == "__main__":
    main()
