"""Puts and gets that move whole blocks: what is said of their loops is what plain loops do."""

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path

import allo
from allo.poly import Access, Cut, Model, extract, whole_blocks
from tests.seeds import sweep

HEADER = "from allo.ir.types import Stream, int32\n\n\ndef kernel():\n    pipe: Stream[int32, 512]\n"


def random_loops(rng: random.Random) -> list[str]:
    """Loops around a statement, perhaps with a condition."""
    lines: list[str] = []
    for k in range(rng.randint(1, 3)):
        low, step = rng.choice([0, 0, 1, -2]), rng.choice([1, 1, 2])
        end = low + rng.choice([1, 2, 4, 6, 8]) * step
        lines.append(f"for i{k} in range({low}, {end}, {step}):")
        if rng.random() < 0.3:
            lines.append(f"if i{k} {rng.choice(['<', '>='])} {rng.choice([0, 2, 4])}:")
    return lines


def body(loops: list[str], statement: str) -> str:
    lines = [*loops, statement]
    return "".join(f"{'    ' * (k + 1)}{line}\n" for k, line in enumerate(lines))


def modelled(text: str, folder: Path) -> tuple[Model, Access]:
    """The model of a kernel, and its only put."""
    path = folder / "kernel.py"
    path.write_text(HEADER + text)
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Callable[..., None] = module.kernel
    s = allo.customize(kernel)
    model = extract(s.ir.function("kernel"))
    return model, next(access for access in model.accesses if access.op.name == "allo.stream_put")


def iterations(loops: list[str]) -> list[dict[str, int]]:
    """The values of the loops at each put, in order."""
    found: list[dict[str, int]] = []
    names = ", ".join(f"i{k}=i{k}" for k in range(sum(line.startswith("for") for line in loops)))
    program = "def run(found):\n" + body(loops, f"found.append(dict({names}))")
    scope: dict[str, Callable[[list[dict[str, int]]], None]] = {}
    exec(program, scope)
    scope["run"](found)
    return found


def bounds(loops: list[str]) -> dict[str, range]:
    heads = [line.removeprefix("for ").rstrip(":").split(" in range") for line in loops if line.startswith("for")]
    return {name: range(*map(int, ends.strip("()").split(", "))) for name, ends in heads}


@sweep(200, quick=12)
def test_random_loops(seed: int, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    """Element n of all that is put is in place n % size of its block, as the number of its iteration says."""
    rng = random.Random(seed)
    loops, size = random_loops(rng), rng.choice([2, 3, 4, 8])
    model, put = modelled(body(loops, "pipe.put(1)"), tmp_path_factory.mktemp("kernels"))
    found, ranges = whole_blocks(model, put, size), bounds(loops)
    places = []
    for values in iterations(loops):
        number = 0
        for loop in () if isinstance(found, Cut) else found:
            number = number * len(ranges[loop.name]) + ranges[loop.name].index(values[loop.name])
        places.append(number % size)
    wanted = [n % size for n in range(len(places))]
    if isinstance(found, Cut):
        assert found.reason
    else:
        assert places == wanted and len(places) % size == 0


def test_whole_and_cut(tmp_path: Path) -> None:
    """What is accepted, with the loops, and each reason why something is not."""

    def said(text: str, size: int = 4) -> list[str] | str:
        found = whole_blocks(*modelled(text, tmp_path), size)
        return found.reason if isinstance(found, Cut) else [loop.name for loop in found]

    assert said(body(["for i in range(3):", "for j in range(8):"], "pipe.put(1)")) == ["j"]
    assert said(body(["for i in range(2):", "for j in range(2):"], "pipe.put(1)")) == ["i", "j"]
    assert said(body(["for i in range(5):", "if i < 3:", "for j in range(4):"], "pipe.put(1)")) == ["j"]
    assert said(body(["for i in range(8):", "if i < 4:"], "pipe.put(1)")) == ["i"]
    assert said(body(["for i in range(8):", "if i < 6:"], "pipe.put(1)")) == "a branch leaves out parts of blocks of 4"
    assert said("    pipe.put(1)\n") == "it is in no loop"
    assert said(body(["for i in range(6):"], "pipe.put(1)")) == "it is in loops of 6 iterations, no multiple of 4"
    assert said(body(["for i in range(4):", "for j in range(i):"], "pipe.put(1)")) == (
        "loop 'j' has no constant bounds"
    )
    two = body(["for i in range(4):"], "pipe.put(1)") + "        pipe.put(2)\n"
    assert said(two) == "another put is in loop 'i'"
