"""Estimate of GPT-2 medium that says tokens, beside the published one of StreamTensor.

python -m benchmarks.generation FOLDER

takes the two blocks that `scripts/export_networks.py FOLDER gpt2 gpt2_step` writes where PyTorch is: 32 tokens of a
prompt, and one token behind a cache. Weights have 4 bits, activations 8, on the U55C at 250 MHz; 24 blocks run one
after the other. It takes less than a minute. All is estimated: no tool has synthesised the designs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from allo.importers import GeneratorEstimate, estimate_generator

from .accelerators import Published, accelerator

# StreamTensor, Table 4, [32:32] on a U55C, measured: milliseconds in all and to the first token, tokens a second.
LATENCY, FIRST, SPEED = 194.99, 34.59, 199.51
BLOCKS = 24


def generation(folder: Path) -> GeneratorEstimate:
    """32 tokens behind a prompt of 32."""
    designs = [Published(None, 9024, name, "u55c", weights=4, budget=100_000) for name in ("gpt2_step", "gpt2")]
    decode, prefill = (accelerator(folder, design)[1] for design in designs)
    return estimate_generator(
        decode, prefill, prefill_tokens=32, prompt=32, said=32, blocks=BLOCKS, target="u55c", frequency=250
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    found = generation(parser.parse_args().folder)
    print(found)
    for name, theirs, ours in (
        ("ms", LATENCY, found.latency), ("ms to the first token", FIRST, found.first_token),
        ("tokens/s", SPEED, found.tokens_per_second),
    ):  # fmt: skip
        print(f"published {theirs:>7} {name}, ours {ours:.4g}, {ours / theirs:.2f} times as much")


if __name__ == "__main__":
    main()
