"""Random chains of layers: streams that are widened to balance stages change no bit, and take what is planned."""

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import allo
from tests.seeds import sweep

HEADER = "import allo\nfrom allo.ir.types import float32\n\n\n"


def nest(kind: str, n: int, size: int, channels: int, more: int) -> tuple[list[str], int, int]:
    """The text of layer `n` of an image of `size` x `size`; the size and the channels of what it makes."""
    made, taken = f"T{n}", "A" if n == 0 else f"T{n - 1}"
    if kind == "act":
        return [
            f"{made}: float32[{size}, {size}, {channels}]",
            f'for y, x, c in allo.grid({size}, {size}, {channels}, name="act{n}"):',
            f"    {made}[y, x, c] = max({taken}[y, x, c], 0.0)",
        ], size, channels
    rows, reach = (size - 2, 3) if kind == "depth" else (size, 1)
    wide = channels if kind == "depth" else more
    loops = f"y, x, i, j, c in allo.grid({rows}, {rows}, {reach}, {reach}, {channels}"
    product = f"{made}[y, x, c] += {taken}[y + i, x + j, c] * W[i, j, c]"
    if kind == "point":
        loops = f"y, x, d, c in allo.grid({rows}, {rows}, {channels}, {wide}"
        product = f"{made}[y, x, c] += {taken}[y, x, d] * V[d, c]"
    return [
        f"{made}: float32[{rows}, {rows}, {wide}]",
        f'for y, x, c in allo.grid({rows}, {rows}, {wide}, name="zero{n}"):',
        f"    {made}[y, x, c] = 0.0",
        f'for {loops}, name="{kind}{n}"):',
        f"    {product}",
    ], rows, wide


def network(rng: random.Random) -> str:
    """A chain of layers as the text of a kernel."""
    size = last = rng.choice([5, 6, 7])
    channels = rng.choice([8, 16, 24])
    first, lines = channels, []
    count = rng.randint(2, 4)
    for n in range(count):
        kind = rng.choice(["act", "depth", "point"] if last > 3 else ["act", "point"])
        text, last, channels = nest(kind, n, last, channels, rng.choice([8, 16, 32]))
        lines += text
    lines += [
        f'for y, x, c in allo.grid({last}, {last}, {channels}, name="store"):',
        f"    B[y, x, c] = T{count - 1}[y, x, c]",
    ]
    head = (
        f"def kernel(A: float32[{size}, {size}, {first}], W: float32[3, 3, 32], V: float32[32, 32],"
        f" B: float32[{last}, {last}, {channels}]):"
    )
    return "\n    ".join([head, *lines]) + "\n"


def loaded(text: str, folder: Path) -> Callable[..., None]:
    path = folder / "kernel.py"
    path.write_text(HEADER + text)
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Callable[..., None] = module.kernel
    return kernel


@pytest.mark.slow
@sweep(30, quick=2)
def test_networks(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = random.Random(seed)
    kernel = loaded(network(rng), tmp_path_factory.mktemp("kernels"))
    s = allo.customize(kernel)
    s.fuse_streams("kernel")
    plan = s.unroll_stages("kernel", dsp=rng.choice([60, 100, 200]))
    for bank in plan.banks:
        s.partition(bank.array, dim=bank.dim, factor=bank.factor)
    found = allo.estimate(s)
    by_nest = {loop.nest: loop.latency for loop in found.loops if loop.level == 0}
    assert found.dsp == plan.dsp
    for stage in plan.stages:
        assert by_nest[stage.name] == pytest.approx(stage.chosen.cycles, rel=0.02, abs=2)
    numbers = np.random.default_rng(seed)
    shapes = [tuple(kernel.__annotations__[name].shape) for name in "AWVB"]
    given = [numbers.standard_normal(shape).astype(np.float32) for shape in shapes]
    wanted = [array.copy() for array in given]
    allo.customize(kernel).build()(*wanted)
    for target in ("llvm", "simulator"):
        made = [array.copy() for array in given]
        s.build(target=target)(*made)
        np.testing.assert_array_equal(made[3], wanted[3])
