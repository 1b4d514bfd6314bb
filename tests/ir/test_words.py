"""Arrays to the bits of memory and back, against one value at a time with Python integers."""

import random
from typing import Any

import numpy as np
import pytest

from allo.ir.arrays import dtype_element, form_dtype, get_np_struct_type
from allo.ir.forms import array_words, exact_array, fill_array
from allo.ir.quantize import mantissa
from allo.ir.types import (
    OVERFLOWS,
    ROUNDINGS,
    AlloType,
    Fixed,
    Int,
    Struct,
    UFixed,
    UInt,
    bfloat16,
    float32,
    float64,
)
from allo.ir.types import bool as bool_
from allo.ir.words import (
    container_bits,
    direct_dtype,
    from_memory,
    ints_of_words,
    pack,
    to_memory,
    unpack,
    words_of_ints,
)
from tests.seeds import sweep


def random_type(chosen: random.Random, depth: int = 0) -> AlloType:
    width = chosen.choice([1, 3, 8, 13, 32, 33, 64, 65, 100, 128, 200, 512])
    kind = chosen.randrange(9 if depth < 2 else 7)
    if kind < 5:
        fracs = chosen.randint(0, width)
        return (Int(width), UInt(width), Fixed(width, fracs), UFixed(width, fracs), bool_)[kind]
    if kind < 7:
        return chosen.choice([float32, float64, bfloat16])
    return Struct({f"f{k}": random_type(chosen, depth + 1) for k in range(chosen.randint(1, 4))})


def random_bits(element: AlloType, chosen: random.Random) -> int:
    """The bits of a value; of a float, of a small integer: bits of others need not come back (NaN)."""
    if element in (float32, float64, bfloat16):
        return pack(element, float(chosen.randint(-100, 100)), "it")
    if not isinstance(element, Struct):
        return chosen.getrandbits(element.bits)
    bits, offset = 0, 0
    for _, field in element.fields:
        bits |= random_bits(field, chosen) << offset
        offset += field.bits
    return bits


@sweep(40)
def test_there_and_back(seed: int) -> None:
    chosen = random.Random(seed)
    element = random_type(chosen)
    bits = [random_bits(element, chosen) for _ in range(6)]
    array = np.empty((2, 3), form_dtype(element))
    fill_array(element, words_of_ints(bits, element.bits, (2, 3)), array)
    for position, value in enumerate(bits):
        assert pack(element, array.ravel()[position], "it") == value
        assert pack(element, unpack(element, value), "it") == value
    words = array_words(element, array, "it")
    assert ints_of_words(words) == bits
    memory = to_memory(element, words)
    assert memory.nbytes == 6 * container_bits(element) // 8
    assert ints_of_words(from_memory(element, memory)) == bits


@sweep(20)
def test_objects_mean_the_same_as_arrays(seed: int) -> None:
    chosen = random.Random(seed)
    element = random_type(chosen)
    values = [unpack(element, random_bits(element, chosen)) for _ in range(4)]
    objects = np.empty(4, object)
    objects[:] = values
    array = exact_array(element, values, "it")
    assert array.dtype == form_dtype(element)
    assert (array_words(element, objects, "it") == array_words(element, array, "it")).all()


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_floats_become_fixed_point_as_in_kernels(rounding: str, overflow: str) -> None:
    chosen = random.Random(7)
    for kind in (Fixed, UFixed):
        for width, fracs in ((2, 1), (8, 0), (13, 13), (53, 20), (64, 10), (65, 64), (128, 3), (1024, 500)):
            element = kind(width, fracs, rounding, overflow)
            values = [chosen.uniform(-4, 4) * 2.0 ** chosen.randint(-12, 12) for _ in range(8)]
            values += [(chosen.randint(-9, 9) + 0.5) * 2.0**-fracs for _ in range(8)]  # in the middle of two
            values += [0.0, -(2.0**-fracs) / 2 + 2.0 ** -(54 + fracs), 1e300, -1e300]
            values += [] if width > 1000 else [2.0 ** (width - 1 - fracs), -(2.0 ** (width - 1 - fracs))]
            found = ints_of_words(array_words(element, np.array(values), "it"))
            assert found == [mantissa(value, element) % (1 << width) for value in values]


def test_signed_numbers_fill_their_container() -> None:
    words = array_words(Int(100), np.array([-1, 5]), "it")
    assert to_memory(Int(100), words).view(np.uint8).reshape(2, 16)[0].tolist() == [255] * 16
    assert to_memory(UInt(5), array_words(UInt(5), np.array([31]), "it")).tolist() == [31]
    assert to_memory(Fixed(5, 2), array_words(Fixed(5, 2), np.array([-0.25]), "it")).tolist() == [255]


@pytest.mark.parametrize(
    ("element", "direct"),
    [
        (Int(128), True),
        (UInt(100), False),
        (Fixed(8, 4), False),
        (Struct({"a": float32, "b": Int(32)}), True),
        (Struct({"a": float32, "b": Int(31), "c": bool_}), False),
        (Struct({"a": float32, "b": float64}), False),
        (Struct({"a": Struct({"x": Int(8), "y": UInt(8)}), "b": Int(16), "c": float32}), True),
    ],
    ids=repr,
)
def test_what_lies_in_memory_as_in_numpy(element: AlloType, direct: bool) -> None:
    dtype = direct_dtype(element)
    assert (dtype is not None) == direct
    if dtype is not None:
        chosen = random.Random(0)
        bits = [random_bits(element, chosen) for _ in range(3)]
        array = np.empty(3, dtype)
        fill_array(element, words_of_ints(bits, element.bits, (3,)), array)
        assert array.tobytes() == to_memory(element, words_of_ints(bits, element.bits, (3,))).tobytes()


def test_types_of_structured_arrays() -> None:
    dtype = np.dtype([("n", "u2"), ("p", [("x", "f4"), ("b", "?")]), ("w", get_np_struct_type(128))])
    wanted = Struct({"n": UInt(16), "p": Struct({"x": float32, "b": bool_}), "w": UInt(128)})
    assert dtype_element(dtype) == wanted
    assert dtype_element(np.dtype([("n", "O")])) is None


def test_exact_arrays() -> None:
    pair = Struct({"n": Int(100), "x": Fixed(8, 4)})
    given: Any = [[{"n": -(1 << 98), "x": 0.3}], [{"n": 1, "x": -1}]]
    array = exact_array(pair, given, "it")
    assert array.shape == (2, 1) and array["x"].tolist() == [[0.25], [-1.0]]
    assert pack(pair, array[0, 0], "it") & ((1 << 100) - 1) == (1 << 100) - (1 << 98)
    with pytest.raises(TypeError, match=r"^an element of it must be a dict or a structured value with the fields n, x"):
        exact_array(pair, [1], "it")


def test_integers_of_other_sizes_keep_their_value() -> None:
    """64 bits into 512, and 256 bits of bytes into 8."""
    wide = array_words(Int(512), np.array([-1, 5, -(1 << 63)]), "A")
    assert ints_of_words(wide) == [(1 << 512) - 1, 5, (1 << 512) - (1 << 63)]
    long = np.frombuffer(b"".join(v.to_bytes(32, "little", signed=True) for v in (-3, 100)), "V32")
    assert [v % 256 for v in ints_of_words(array_words(Int(8), long, "A"))] == [253, 100]
    with pytest.raises(ValueError, match="A has the element 128, but "):
        array_words(Int(8), np.frombuffer((128).to_bytes(32, "little"), "V32"), "A")


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, "S4", "datetime64[s]"])
def test_other_arrays_are_no_bytes(dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"^A "):
        array_words(Int(32), np.zeros(2, dtype), "A")
