"""Schedules and what they build, copied and sent to other processes: equal, and on their own from then on."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo import Partition
from allo.ir.types import Stateful, float32, int32

COPIES = [pickle.dumps, copy.copy, copy.deepcopy]


def copied(value: Any, how: Callable[[Any], Any]) -> Any:
    made = how(value)
    return pickle.loads(made) if isinstance(made, bytes) else made


def doubled(A: float32[16, 16], B: float32[16, 16]):
    for i, j in allo.grid(16, 16):
        B[i, j] = A[i, j] * 2.0


def kernel(A: float32[16, 16], B: float32[16, 16]):
    T: float32[16, 16] = 0
    doubled(A, T)
    for i, j in allo.grid(16, 16):
        B[i, j] = T[i, j] + 1.0


def counted() -> int32:
    calls: Stateful(int32) = 0
    calls += 1
    return calls


def scheduled() -> allo.Schedule:
    s, inner = allo.customize(kernel), allo.customize(doubled)
    inner.pipeline("j")
    s.compose(inner)
    s.split("i", 4)
    s.partition(s.T, partition_type=Partition.Cyclic, dim=2, factor=4)
    return s


def checked(built: Any) -> bool:
    A = np.arange(256, dtype=np.float32).reshape(16, 16)
    B = np.zeros_like(A)
    built(A, B)
    return bool((B == 2 * A + 1).all())


def finished(s: allo.Schedule, factor: int) -> tuple[str, bool, allo.LLVMModule]:
    s.undo()
    s.unroll("j", factor)
    built = s.build()
    return str(s.module), checked(built), built


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_a_schedule_goes_its_own_way(how: Callable[[Any], Any]) -> None:
    s = scheduled()
    made = copied(s, how)
    assert (made.steps, made.to_mlir(), repr(made)) == (s.steps, s.to_mlir(), repr(s))
    assert made.module.operation.get_asm(enable_debug_info=True) == s.module.operation.get_asm(enable_debug_info=True)
    before = str(s.module)
    made.undo(2)
    made.pipeline("j")
    assert [step.name for step in made.steps] == ["pipeline", "pipeline"] and made.pseudocode(0) == s.pseudocode(0)
    assert (str(s.module), len(s.steps)) == (before, 3)
    s.undo(3)
    assert str(s.module) == str(allo.customize(kernel).module)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("options", [{"contract": True}, {"target": "vhls"}, {"target": "catapult"}])
def test_copies_of_built_modules(options: dict[str, Any], how: Callable[[Any], Any]) -> None:
    built = scheduled().build(**options)
    made = copied(built, how)
    assert type(made) is type(built) and str(made) == str(built)
    assert options.get("target") or checked(made)


def test_copies_have_states_of_their_own() -> None:
    built = allo.customize(counted).build()
    assert (built(), built()) == (1, 2)
    made = copy.deepcopy(built)
    assert (made(), built()) == (1, 3)


def test_a_copy_of_a_simulation() -> None:
    assert checked(copied(scheduled().build(target="vitis_hls", mode="csim"), pickle.dumps))


def test_a_copy_of_a_project_is_in_the_same_folder(tmp_path: Path) -> None:
    built = scheduled().build(target="vitis_hls", mode="csyn", project=str(tmp_path / "project"))
    files = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    made = copied(built, pickle.dumps)
    assert made.project == built.project and made.hls_code == built.hls_code
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == files


def test_modules_that_build_did_not_make_are_refused() -> None:
    code = type(scheduled().build(target="vhls"))(allo.customize(counted).ir)
    with pytest.raises(TypeError, match="was not made by"):
        pickle.dumps(code)


def test_other_processes_finish_schedules() -> None:
    s = scheduled()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [pool.submit(finished, s, factor) for factor in (2, 4)]
        wrong = pool.submit(finished, s, -1)
        for factor, (text, is_right, built) in zip((2, 4), (future.result() for future in found), strict=True):
            assert is_right and checked(built)
            assert text == finished(copy.copy(s), factor)[0]
        with pytest.raises(allo.ScheduleError) as caught:
            wrong.result()
    assert str(caught.value).count("unroll") >= 1
