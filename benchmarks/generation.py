"""GPT-2 medium that says tokens, beside the published one of StreamTensor.

python -m benchmarks.generation FOLDER

takes the two blocks that `scripts/export_networks.py FOLDER gpt2 gpt2_step` writes where PyTorch is: 32 tokens of a
prompt, and one token behind a cache. Weights have 4 bits, activations 8, on the U55C at 250 MHz; 24 blocks run one
after the other, and each reads its weights from HBM before it begins. Cycles of a block are those of a run with the
static schedules of all stages, whose results must be those of the block without a schedule, to the bit; no tool has
synthesised the designs. It takes some minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import allo
from allo.importers import quantized

from .accelerators import sample

# StreamTensor, Table 4, [32:32] on a U55C, measured: milliseconds in all and to the first token, tokens a second.
LATENCY, FIRST, SPEED = 194.99, 34.59, 199.51
BLOCKS, SAID, MEGAHERTZ = 24, 32, 250
HBM = 460e9  # bytes a second of all channels (DS978)
DSP = 4500  # for each of both kernels, which are on the card together; of its 9,024, since the paper gives none

# Sums of a prompt that take turns: along all tokens in the softmax, whose arrays wait for all keys anyway, and in
# attention; along four tokens in the first norm, so that the first of them go on early; along two in the second norm,
# which keeps up with the wide product so, and in the last product, so that 1,024 are there at once.
ATTENTION = "scaled_dot_product_attention"
INSIDE = (
    "linear_sums.j", f"{ATTENTION}_scores.j", f"{ATTENTION}.j", "linear_1_sums.j", "linear_2_sums.j", "linear_3_sums.j",
    f"{ATTENTION}_softmax_max.i2", f"{ATTENTION}_softmax_sum.i2",
)  # fmt: skip
TILES = {
    "layer_norm_sum.i1": 4, "layer_norm_squares.i1": 4, f"{ATTENTION}_scores.i": 32, f"{ATTENTION}.i": 32,
    "layer_norm_1_sum.i1": 2, "layer_norm_1_squares.i1": 2, "linear_3_sums.i": 2,
}  # fmt: skip

# Copies of attention that run at once: left to the plan, 16 of the scores and one of the softmax, it takes 92,000
# cycles behind the last keys; with these 42,000.
COPIES = {f"{ATTENTION}_scores.{loop}": 32 for loop in ("k_take", "j_init", "j", "j_init_back")}
COPIES |= {f"{ATTENTION}_softmax.{loop}": 2 for loop in ("i2_3", "i3_1", "i2_2", "i3")}
WIDTHS = {f"fifo_{ATTENTION}_products": 32, f"fifo_{ATTENTION}_scores_1": 2}
BANKS = {
    (f"buf_{ATTENTION}_products", 2): 32, ("transpose_turns", 2): 32, ("transpose", 4): 32, ("transpose_1", 3): 32,
    (f"{ATTENTION}_softmax_sum", 3): 2, (f"buf_{ATTENTION}_weights", 1): 2, (f"buf_{ATTENTION}_weights", 2): 0,
}  # fmt: skip


class Block(NamedTuple):
    """One call of a block: cycles of its run, resources by the estimator, and bytes of its weights, packed.

    `difference` is the greatest one of its results from those of NumPy, of the largest result.
    """

    cycles: int
    dsp: int
    bram: int
    lut: int
    weights: float
    difference: float

    @property
    def milliseconds(self) -> float:
        """Those of all blocks, with the weights of each read before it begins."""
        return BLOCKS * (self.cycles / (1000 * MEGAHERTZ) + 1000 * self.weights / HBM)


def designed(folder: Path, name: str) -> tuple[Any, allo.Schedule]:
    """A quantised block with streams between its layers, so that one input takes the fewest cycles."""
    kernel = allo.from_pt2(folder / f"{name}.pt2", weights_as_arguments=True)
    kernel = quantized(kernel, [sample(kernel)], weights=4)
    s = allo.customize(kernel, lower_linalg=True)
    if name == "gpt2":
        loops, around, copied, fifos = ([f"{name}:{one}" for one in names] for names in (INSIDE, TILES, COPIES, WIDTHS))
        s.interleave_sums(name, loops=loops, around=around, tiles=list(TILES.values()))
        s.fuse_streams(name, budget=100_000)
        factors, widths = list(COPIES.values()), list(WIDTHS.values())
        s.unroll_stages(name, loops=copied, factors=factors, fifos=fifos, widths=widths)
        for (array, dim), factor in BANKS.items():
            s.partition(f"{name}:{array}", dim=dim, factor=factor)
    else:
        s.interleave_sums(name, turns=512)  # heads take turns: 64 sums of each
        s.fuse_streams(name, budget=100_000)
    for bank in s.unroll_stages(name, dsp=DSP, target="u55c", objective="latency").banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    return kernel, s


def slower(folder: Path) -> Path:
    """The target U55C at 250 MHz, as a file."""
    described = (Path(allo.__file__).parents[1] / "targets" / "u55c.toml").read_text()
    path = folder / "u55c.toml"
    path.write_text(described.replace("frequency = 300 ", f"frequency = {MEGAHERTZ} ", 1))
    return path


def measured(folder: Path, name: str) -> Block:
    """The run of a block. Raises ValueError if results or caches are not those of the block without a schedule."""
    kernel, s = designed(folder, name)
    weights = kernel.weights
    target = slower(folder)
    built, plain = s.build(target="simulator", timed=target), allo.customize(kernel).build()
    given, kept, calls = sample(kernel), sample(kernel), tuple(weights.values())
    found, wanted = (built(*given, *calls), *given), (plain(*kept, *calls), *kept)
    if not all(map(np.array_equal, found, wanted)):
        raise ValueError(f"results of '{name}' are not those of the block without a schedule")
    reference = kernel(*sample(kernel), *calls)
    difference = float(np.abs(found[0] - reference).max() / np.abs(reference).max())
    size = sum(array.size / 2 if array.dtype == np.int8 else array.nbytes for array in weights.values())
    costs = allo.estimate(s, target=target)
    return Block(built.timing.cycles, costs.dsp, costs.bram18, costs.lut, size, difference)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    step, prompt = measured(folder, "gpt2_step"), measured(folder, "gpt2")
    for name, block in (("32 tokens", prompt), ("one token", step)):
        print(
            f"a block for {name}: {block.cycles:,} cycles (simulated); {block.dsp:,} DSPs, {block.bram:,} BRAM, "
            f"{block.lut:,} LUTs (estimated); {block.weights / 1e6:.2f} MB of weights, {block.milliseconds:.2f} ms for "
            f"{BLOCKS} blocks; results differ from those of NumPy by {block.difference:.2g} of the largest"
        )
    for name, theirs, ours in (
        ("ms", LATENCY, prompt.milliseconds + (SAID - 1) * step.milliseconds),
        ("ms to the first token", FIRST, prompt.milliseconds),
        ("tokens/s", SPEED, 1000 / step.milliseconds),
    ):
        print(f"published {theirs:>7} {name}, ours {ours:.4g}, {ours / theirs:.2f} times as much")


if __name__ == "__main__":
    main()
