"""Cores as the text for MLIR-AIE has them, lowered to native widths, compute what they computed before."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from mlir import ir

import allo.dataflow as df
from allo.backend.aie import core_text
from allo.backend.aie.core_body import CORE, CoreBodies
from allo.backend.element_class import set_signature
from allo.errors import TargetError
from allo.ir.builder import Builder, segments_attr, string_attr
from allo.ir.module import Module
from allo.ir.walk import entry_block, statements
from allo.mapping import MappedCore
from tests.seeds import sweep

from . import programs
from .random_mapped import program


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the model of the array run bodies that have been lowered."""
    original = CoreBodies.body

    def body(own: CoreBodies, core: MappedCore, runs: int) -> Module:
        module = original(own, core, runs)
        core_text.lower_core(module, "core")
        function = module.function(CORE)
        entry = entry_block(function)
        assert entry is not None
        while len(entry.arguments):
            argument = entry.arguments[0]
            builder = Builder(ir.InsertionPoint(statements(entry)[0]), function.operation.location)
            marks = {"allo.name": string_attr("array"), "operandSegmentSizes": segments_attr((0, 0))}
            argument.replace_all_uses_with(builder.value("memref.alloc", argument.type, (), marks))
            entry.erase_argument(0)
        if "arg_attrs" in function.operation.attributes:
            del function.operation.attributes["arg_attrs"]
        set_signature(function.operation, [])
        return module

    monkeypatch.setattr(CoreBodies, "body", body)


SHAPES: dict[str, tuple[list[tuple[int, ...]], Any]] = {
    "vector_scale": ([(programs.N,)] * 2, np.int32),
    "split_k": ([(programs.M, programs.K), (programs.K, programs.M), (programs.M, programs.M)], np.int16),
}


@pytest.mark.parametrize("name", SHAPES)
def test_programs(lowered: None, name: str) -> None:
    shapes, kind = SHAPES[name]
    arrays = [np.random.default_rng(k).integers(-9, 9, shape).astype(kind) for k, shape in enumerate(shapes)]
    wanted = [array.copy() for array in arrays]
    df.build(getattr(programs, name))(*wanted)
    df.build(getattr(programs, name), target="aie")(*arrays)
    for one, other in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_of_odd_widths(lowered: None) -> None:
    A, B = (np.random.default_rng(k).integers(-9000, 9000, (32, 32)).astype(np.int16) for k in range(2))
    A, B = A[:, : programs.K].copy(), B[: programs.K].copy()
    C = np.zeros((programs.M, programs.M), np.int32)
    steps = [("bundle", ["gemm_1_0_0", "gemm_2_0_0"]), ("chain", ["gemm_0_0_0", "gemm_1_0_0x2"])]
    df.build(programs.ping_pong, target="aie", instantiate=[4, 1, 1], mapping_primitives=steps)(A, B, C)
    np.testing.assert_array_equal(C, (A.astype(np.int64) @ B.astype(np.int64)).astype(np.int32))


@sweep(60, 5)
def test_random(lowered: None, seed: int, tmp_path: Path) -> None:
    made = program(seed)
    if made.kind.startswith("u"):
        pytest.skip("streams of the model keep their types, and lowered bodies have none without a sign")
    region = made.region(tmp_path, seed)
    seen = made.arrays(Random(seed))
    wanted = [array.copy() for array in seen]
    df.build(region)(*wanted)
    try:
        df.build(region, target="npu-model", mapping_primitives=made.steps)(*seen)
    except TargetError as error:
        pytest.skip(str(error).splitlines()[0])
    for one, other in zip(seen, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
