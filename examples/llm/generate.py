"""A small language model from PyTorch's file to an accelerator of streams that says the same tokens.

    python examples/llm/generate.py [--streams TOKENS] [--project FOLDER]

The file holds 2 layers of 16 columns with a cache of 40 positions, which `scripts/export_models.py Generator` exported
with what PyTorch says: 24 tokens are known, and the most likely one is said each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo.importers import estimate_generator

MODELS = Path(__file__).resolve().parents[2] / "tests" / "importers" / "models"
FIRST, POSITIONS = 5, 40


def decoded(step: Callable[..., Any], count: int, cache: tuple[int, ...]) -> list[int]:
    """The tokens that a step says one after the other, with a cache of keys and values that it changes in place."""
    keys, values = (np.zeros(cache, np.float32) for _ in range(2))
    said = [FIRST]
    for position in range(count):
        scores = step(np.array(said[-1:]), np.array([position]), keys, values)
        said.append(int(np.argmax(scores)))
    return said


def accelerator(kernel: Any) -> tuple[allo.Schedule, Any]:
    """All layers as stages that run at the same time, and the plan of what lies between them."""
    s = allo.customize(kernel, lower_linalg=True)
    return s, s.fuse_streams(s.top_func_name)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=1, metavar="TOKENS", help="tokens that the streams say")
    parser.add_argument("--project", type=Path, help="write the accelerator as a project for Vitis HLS")
    asked = parser.parse_args(arguments)

    kernel = allo.from_pt2(MODELS / "generator.pt2")
    wanted = np.load(MODELS / "generator.npz")["said"].tolist()
    cache = kernel.arguments[list(kernel.arguments)[2]].shape
    said = decoded(allo.customize(kernel).build(), len(wanted) - 1, cache)
    assert said == wanted
    print(f"machine code says {len(wanted)} tokens as PyTorch does: {' '.join(map(str, said))}")

    s, plan = accelerator(kernel)
    print(f"{len(plan.streamed)} arrays between layers became streams; {plan.round_trips} go through memory")
    print(f"{plan.after:,} of {plan.before:,} bytes stay on the chip")
    print(estimate_generator(s, prompt=1, said=len(wanted), target="u55c"))
    said = decoded(s.build(), asked.streams, cache)
    assert said == wanted[: asked.streams + 1]
    print(f"the accelerator says {asked.streams} of them, simulated")
    if asked.project:
        s.build(target="vitis_hls", mode="csyn", project=str(asked.project))
        print(f"the project for Vitis HLS is in {asked.project}")


if __name__ == "__main__":
    main()
