"""External kernels called from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import allo


def ints(count: int = 32) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def test_arrays_are_changed_in_place() -> None:
    vadd = allo.IPModule(top="vadd", impl="sources/vadd.cpp")
    C = np.zeros(32, np.int32)
    assert vadd(ints(), ints(), C) is None
    assert np.array_equal(C, 2 * ints())


def test_published_spelling_with_several_files(sources: Path) -> None:
    vadd = allo.IPModule(
        top="vadd",
        headers=[],
        impls=[sources / "offset.cpp", sources / "shifted.cpp"],
        signature=["int32[32]", "int32[32]", "int32[32]"],
        link_hls=False,
    )
    C = np.zeros(32, np.int32)
    vadd(ints(), ints(), C)
    assert np.array_equal(C, 2 * ints() + 100)


def test_namespace_typedef_constants_and_result(sources: Path) -> None:
    trace = allo.IPModule("math::trace", sources / "vadd.cpp")
    assert repr(trace) == "IPModule math::trace(A: float32[4, 3], scale: float32)"
    A = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert trace(A, scale=0.5) == 6.0


def test_instance_of_a_template(sources: Path) -> None:
    scale = allo.IPModule("scale<double, 2 * 3>", sources / "vadd.cpp")
    values = np.ones(6)
    scale(values, 2.5)
    assert values.tolist() == [2.5] * 6


def test_explicit_instance_takes_arrays_of_any_shape(sources: Path) -> None:
    fill = allo.IPModule("fill<short>", sources / "vadd.cpp")
    values = np.zeros((2, 3), np.int16)
    fill(values, 5, -7)
    assert values.tolist() == [[-7, -7, -7], [-7, -7, 0]]


def test_reference_is_an_array_of_one_element(sources: Path) -> None:
    checked = allo.IPModule("checked", sources / "vadd.cpp")
    seen = np.array([4], np.int32)
    checked(3, seen)
    assert seen.tolist() == [5]


def test_exception_becomes_one_of_python_and_is_forgotten(sources: Path) -> None:
    checked = allo.IPModule("checked", sources / "vadd.cpp")
    seen = np.zeros(1, np.int32)
    with pytest.raises(RuntimeError, match=r"^the external kernel 'checked' threw: value is negative$"):
        checked(-1, seen)
    checked(1, seen)
    assert seen.tolist() == [2]


def test_one_array_for_two_arguments(sources: Path) -> None:
    A = ints()
    allo.IPModule("vadd", sources / "vadd.cpp")(A, A, A)
    assert np.array_equal(A, 2 * ints())


def test_other_dtype_is_converted_there_and_back(sources: Path) -> None:
    C = np.zeros(32, np.int64)
    allo.IPModule("vadd", sources / "vadd.cpp")(ints().astype(np.int8), ints(), C)
    assert np.array_equal(C, 2 * ints())


SCALARS = (
    *(("bool", np.bool_), ("signed char", np.int8), ("unsigned char", np.uint8), ("short", np.int16)),
    *(("unsigned short int", np.uint16), ("int", np.int32), ("unsigned", np.uint32), ("long", np.int64)),
    *(("unsigned long long", np.uint64), ("int8_t", np.int8), ("std::uint16_t", np.uint16)),
    *(("float", np.float32), ("double", np.float64), ("_Float16", np.float16)),
)


def test_every_number_by_value_by_address_and_as_result(tmp_path: Path) -> None:
    file = tmp_path / "numbers.cpp"
    functions = "\n".join(
        f"{name} f{k}(const {name} value, {name} *all, const {name} &other) {{ all[1] = value; return other; }}"
        for k, (name, _) in enumerate(SCALARS)
    )
    calls = "\n".join(f"  r{k}[0] = f{k}(v{k}, a{k}, o{k});" for k in range(len(SCALARS)))
    parameters = ", ".join(f"{n} v{k}, {n} *a{k}, {n} const &o{k}, {n} r{k}[1]" for k, (n, _) in enumerate(SCALARS))
    file.write_text(f"#include <cstdint>\n{functions}\nvoid all({parameters}) {{\n{calls}\n}}\n")
    values, arrays, results, given = [], [], [], []
    for _, dtype in SCALARS:
        kind = np.dtype(dtype)
        low = {"i": np.iinfo(kind).min, "u": np.iinfo(kind).max}[kind.kind] if kind.kind in "iu" else kind.type(1.5)
        value = True if kind == np.bool_ else low
        arrays.append(np.zeros(3, kind))
        results.append(np.zeros(1, kind))
        values.append(kind.type(value))
        given += [values[-1], arrays[-1], values[-1], results[-1]]
    allo.IPModule("all", file)(*given)
    assert [a.tolist() for a in arrays] == [[0, v.item(), 0] for v in values]
    assert [r.item() for r in results] == [v.item() for v in values]
