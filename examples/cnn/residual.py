"""A small residual network from PyTorch's file to stages that run at the same time, with line buffers between them.

    python examples/cnn/residual.py [--weights BITS] [--project FOLDER]

The file is one of `scripts/export_models.py`, with what PyTorch computes. With `--weights`, values have 8 bits and
weights 2 to 8 in place of floats.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import allo
from allo.importers import compare_layers, quantized

MODELS = Path(__file__).resolve().parents[2] / "tests" / "importers" / "models"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--project", type=Path, help="write the design as a project for Vitis HLS")
    parser.add_argument("--weights", type=int, help="quantise the network, with weights of so many bits")
    asked = parser.parse_args(arguments)

    kernel = allo.from_pt2(MODELS / "resnet.pt2")
    with np.load(MODELS / "resnet.npz") as stored:
        image, wanted = stored["in0"], stored["out0"]
    if asked.weights is not None:
        floats, kernel = kernel, quantized(kernel, [(image,)], weights=asked.weights)
        print(compare_layers(kernel, image, expected=floats.values(image), tolerance=0.25))
        wanted = kernel(image)
    s = allo.customize(kernel, lower_linalg=True)
    plan = s.fuse_streams(s.top_func_name)
    print(plan)
    print(f"{len(plan.streamed)} arrays between layers became streams; {plan.round_trips} go through memory")
    print(f"{plan.after:,} of {plan.before:,} bytes stay on the chip")
    error = float(np.abs(s.build()(image) - wanted).max())
    if asked.weights is not None:
        assert error == 0
        print("results are those of the quantised network in NumPy, bit by bit")
    else:
        assert error < 1e-4
        print(f"results are those of PyTorch but for {error:.1g}")
    if asked.project:
        s.build(target="vitis_hls", mode="csyn", project=str(asked.project))
        print(f"the project for Vitis HLS is in {asked.project}")


if __name__ == "__main__":
    main()
