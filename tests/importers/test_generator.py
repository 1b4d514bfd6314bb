"""The host program of a language model says the tokens that NumPy says; it runs on a stand-in for XRT."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.headers import include_directory
from allo.errors import TargetError
from allo.importers import write_generator
from allo.ir.types import float32, int64
from tests.backend.hls.tools import HERE, needs_make

from .models import MODELS, kernel_of

N, V = 12, 7


def decode(x: int64[1], at: int64[1], seen: float32[N, V], w: float32[V, V]) -> float32[V]:
    scores: float32[V] = 0.0
    for v in range(V):
        seen[at[0], v] = w[x[0], v]
    for n, v in allo.grid(N, V):
        scores[v] += seen[n, v] * (n + 1)
    return scores


def prefill(x: int64[3], seen: float32[N, V], w: float32[V, V]) -> float32[3, V]:
    scores: float32[3, V] = 0.0
    for t in range(3):
        for v in range(V):
            seen[t, v] = w[x[t], v]
        for n, v in allo.grid(N, V):
            scores[t, v] += seen[n, v] * (n + 1)
    return scores


W = np.random.default_rng(0).normal(size=(V, V)).astype(np.float32)


def said_by_numpy(prompt: list[int], count: int) -> list[int]:
    said = list(prompt)
    while len(said) < len(prompt) + count:
        said.append(int(np.argmax(sum(W[token] * (n + 1) for n, token in enumerate(said)))))
    return said


def project(kernel: Any, folder: Path) -> Any:
    return allo.customize(kernel).build(target="vitis_hls", mode="hw", project=folder)


def said(folder: Path, built: list[Any], prompt: list[int], count: int) -> list[int]:
    """Compile the program and the kernels with a stand-in for the card, and run it."""
    for module in built:
        top, own = module.top_func_name, module.project.folder
        entry = f'#include "call.h"\nextern "C" void fake_entry_{module.emitted.top}(void **m) {{ call_kernel(m); }}\n'
        (own / "entry.cpp").write_text(entry)
        command = ["g++", "-fPIC", "-shared", "-fvisibility-inlines-hidden", "-w", f"-I{include_directory()}",
                   "kernel.cpp", "entry.cpp", "-o", str(folder / f"{top}.so")]  # fmt: skip
        subprocess.run(command, check=True, cwd=own)
    libraries = [f"./{module.top_func_name}.so" for module in built]
    subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-x", "none", "-Wl,--no-as-needed", *libraries,
                    "-o", "both.xclbin"], check=True, cwd=folder)  # fmt: skip
    headers = f"-I{HERE / 'fake_xrt'}"
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", headers, "generate.cpp", "-o", "generate"],
                   check=True, cwd=folder)  # fmt: skip
    words = ["./generate", "both.xclbin", str(count), *map(str, prompt)]
    run = subprocess.run(words, check=True, cwd=folder, capture_output=True, text=True,
                         env={"LD_LIBRARY_PATH": str(folder)})  # fmt: skip
    return list(map(int, run.stdout.splitlines()[0].split()))


@needs_make
def test_a_prompt_and_tokens_behind_it(tmp_path: Path) -> None:
    one, several = project(decode, tmp_path / "decode"), project(prefill, tmp_path / "prefill")
    names: dict[str, Any] = {"token": "x", "position": "at", "caches": ["seen"], "positions": N, "weights": {"w": W}}
    folder = write_generator(tmp_path / "host", one, several, **names)
    for prompt in ([4], [1, 6, 2], [3, 0, 5, 5]):
        assert said(folder, [one, several], prompt, 6) == said_by_numpy(prompt, 6)
    assert "../decode ../prefill" in (folder / "Makefile").read_text()


@needs_make
@pytest.mark.slow
def test_the_model_of_pytorch(tmp_path: Path) -> None:
    kernel = kernel_of("generator", weights_as_arguments=True)
    token, position, *caches = list(kernel.arguments)[:4]
    one = project(kernel, tmp_path / "decode")
    folder = write_generator(tmp_path / "host", one, token=token, position=position, caches=caches, positions=40,
                             weights=kernel.weights)  # fmt: skip
    with np.load(MODELS / "generator.npz") as file:
        wanted = file["said"].tolist()
    assert len(wanted) >= 32 and said(folder, [one], wanted[:1], len(wanted) - 1) == wanted


def test_kernels_that_are_no_language_models(tmp_path: Path) -> None:
    one = project(decode, tmp_path / "decode")
    names: dict[str, Any] = {"token": "x", "position": "at", "caches": ["seen"], "positions": N, "weights": {"w": W}}
    for change, text in (
        ({"caches": []}, "'decode' gives no scores, or changes an argument that is no cache\n"
                         "  hint: name all arguments that it changes: caches=['keys', 'values']"),
        ({"weights": {"w": W[0]}}, "the argument 'w' of 'decode' takes 196 bytes of weights, and 28 are given\n"
                                   "  hint: weights=kernel.weights, of the kernel from which it was built"),
        ({"token": "y"}, "the argument 'x' of 'decode' takes 8 bytes of weights, and none are given\n"
                         "  hint: weights=kernel.weights, of the kernel from which it was built"),
    ):  # fmt: skip
        with pytest.raises(TargetError) as error:
            write_generator(tmp_path / "host", one, **{**names, **change})
        assert str(error.value) == text
    with pytest.raises(TargetError) as error:
        write_generator(tmp_path / "host", allo.customize(decode).build(target="vitis_hls"), **names)
    assert str(error.value) == (
        "'decode' has no project for a card\n  hint: s.build(target=\"vitis_hls\", mode=\"hw\", project=\"folder\")"
    )
