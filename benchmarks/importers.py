"""Measures imported models of published shapes: seconds and memory from the exported file to C++ for HLS tools, seconds
of `fuse_streams`, of the C++ of what it makes, and the bytes between layers that it leaves in tiles on the chip.

python -m benchmarks.importers FOLDER [NAME ...]

takes `FOLDER/NAME.pt2`, and exports what is missing there first, which needs PyTorch with torchvision (networks) or
transformers (blocks of language models, one layer, 32 tokens, random weights). Each model is opened in a process of its
own, with its weights as arguments.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import allo

TOKENS = 32
LIMIT_SECONDS, LIMIT_MIB = 30.0, 3072.0
NETWORKS = ("vgg16", "mobilenet_v2", "resnet18")
# Width, heads, heads of keys and values, width inside of the gate: GPT-2, Llama 3.2 1B, Qwen2 0.5B, Gemma 2B.
BLOCKS = {
    "gpt2": (768, 12, 12, 3072), "llama": (2048, 32, 8, 8192), "qwen2": (896, 14, 2, 4864),
    "gemma": (2048, 8, 1, 16384),
}  # fmt: skip


def network(name: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A network for images of 224 x 224."""
    import torch
    import torchvision

    return getattr(torchvision.models, name)(weights=None), (torch.randn(1, 3, 224, 224),), {}


def block(name: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """One layer of a language model, from embedded tokens to its norm at the end."""
    import torch
    import transformers

    width, heads, shared, inside = BLOCKS[name]
    config = transformers.AutoConfig.for_model(name)
    sizes = {"n_embd": width, "n_head": heads, "n_inner": inside, "n_layer": 1} if name == "gpt2" else {
        "hidden_size": width, "num_attention_heads": heads, "num_key_value_heads": shared, "head_dim": width // heads,
        "intermediate_size": inside, "num_hidden_layers": 1, "layer_types": ["full_attention"],
    }  # fmt: skip
    for key, value in {**sizes, "vocab_size": 256}.items():
        setattr(config, key, value)

    class Block(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.model = transformers.AutoModel.from_config(config, attn_implementation="sdpa")

        def forward(self, x: Any) -> Any:
            return self.model(inputs_embeds=x, use_cache=False).last_hidden_state

    return Block(), (torch.randn(1, TOKENS, width),), {}


MODELS: dict[str, Callable[[str], tuple[Any, tuple[Any, ...], dict[str, Any]]]] = {
    **dict.fromkeys(NETWORKS, network), **dict.fromkeys(BLOCKS, block),
}  # fmt: skip


def export(name: str, path: Path) -> None:
    """Write one model, by the file of Allo that needs nothing but PyTorch."""
    spec = importlib.util.spec_from_file_location("export", Path(allo.__file__).parent / "importers" / "export.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    path.write_bytes(script.exported(*MODELS[name](name)))


def measure(path: Path) -> str:
    """The row of one model: seconds of this process for each part, and the most memory that it had."""
    times = [time.process_time()]
    kernel = allo.from_pt2(path, weights_as_arguments=True)
    times.append(time.process_time())
    schedule = allo.customize(kernel)
    times.append(time.process_time())
    lines = schedule.build(target="vhls").hls_code.count("\n")
    times.append(time.process_time())
    streams = allo.customize(kernel, lower_linalg=True)
    plan = streams.fuse_streams(kernel.__name__)
    fused = time.process_time() - times[-1]
    assert streams.build(target="vhls").hls_code.count("hls::stream<") >= len(plan.streamed)
    written = time.process_time() - times[-1] - fused
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = [later - before for before, later in pairwise(times)]
    longest = max(sum(parts), parts[0] + fused + written)
    slow = " over the limit" if longest > LIMIT_SECONDS or most > LIMIT_MIB else ""
    numbers = " ".join(f"{part:9.2f}" for part in (*parts, sum(parts)))
    left = f"{fused:9.2f} {written:9.2f} {100 * plan.after / plan.before:7.1f}"
    return f"{path.stem:14} {len(kernel.graph.layers):7} {numbers} {most:9.0f} {lines:8} {left}{slow}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    parser.add_argument("--one", choices=["export", "measure"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one == "export":
        export(given.names[0], given.folder / f"{given.names[0]}.pt2")
    elif given.one == "measure":
        print(measure(given.folder / f"{given.names[0]}.pt2"))
    else:
        columns = ("open s", "module s", "C++ s", "all s", "MiB")
        head = f"{'model':14} {'layers':>7} {' '.join(f'{column:>9}' for column in columns)} {'lines':>8} "
        head += f"{'streams s':>9} {'C++ s':>9} "
        head += f"{'left %':>7}"
        print(head, f"(limits: {LIMIT_SECONDS:.0f} s, {LIMIT_MIB:.0f} MiB)", flush=True)
        for name in given.names:
            command = [sys.executable, "-m", "benchmarks.importers", str(given.folder), name, "--one"]
            if not (given.folder / f"{name}.pt2").exists():
                subprocess.run([*command, "export"], check=True)
            subprocess.run([*command, "measure"], check=True)


if __name__ == "__main__":
    main()
