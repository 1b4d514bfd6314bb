"""Values of every type into a built module and back: NumPy and Python forms against exact Python numbers."""

import random
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.quantize import quantize
from allo.ir.types import (
    AlloType,
    Fixed,
    Int,
    Struct,
    UFixed,
    UInt,
    bfloat16,
    float16,
    float32,
    float64,
    index,
    int8,
    int32,
    wrap,
)
from allo.ir.types import bool as bool_
from allo.utils import get_np_struct_type, int_array_to_struct_array, struct_array_to_int_array

WIDTHS = (1, 3, 8, 13, 32, 33, 64, 65, 100, 128, 200, 512, 1024)
NARROW = [width for width in WIDTHS if width <= 64]
WIDE = [width for width in WIDTHS if width > 64]
SIGNS = pytest.mark.parametrize("kind", [Int, UInt], ids=["int", "uint"])
FIXED = pytest.mark.parametrize("kind", [Fixed, UFixed], ids=["fixed", "ufixed"])


def mirrored(element: AlloType) -> Any:
    """A kernel for any type: B becomes A from right to left with `s` in front; A and `s` are given back."""

    def kernel(A: element[6], B: element[6], s: element) -> (element[6], element):
        C: element[6] = A
        for i in range(6):
            B[i] = A[5 - i]
        B[0] = s
        return C, s

    return allo.customize(kernel).build()


def bounds(element: Int | UInt) -> tuple[int, int]:
    if isinstance(element, UInt):
        return 0, (1 << element.width) - 1
    return -(1 << element.width - 1), (1 << element.width - 1) - 1


def numbers(element: Int | UInt) -> list[int]:
    """The bounds and four numbers between them."""
    low, high = bounds(element)
    chosen = random.Random(element.width)
    return [low, high, *(chosen.randint(low, high) for _ in range(4))]


def expected(values: list[Any]) -> list[Any]:
    """What `mirror` leaves in B for s = values[1]."""
    return [values[1], *values[4::-1]]


@SIGNS
@pytest.mark.parametrize("width", NARROW)
def test_integers(width: int, kind: type[Int | UInt]) -> None:
    values = numbers(kind(width))
    dtype = np.dtype(f"{kind.__name__.lower()}{max(8, 1 << (width - 1).bit_length())}")
    A, B = np.array(values, dtype), np.zeros(6, dtype)
    C, s = mirrored(kind(width))(A, B, values[1])
    assert (C.dtype, C.tolist(), B.tolist(), s) == (dtype, values, expected(values), values[1])


@SIGNS
@pytest.mark.parametrize("width", WIDE)
def test_wide_integers(width: int, kind: type[Int | UInt]) -> None:
    values, signed = numbers(kind(width)), kind is Int
    built = mirrored(kind(width))
    A, B = int_array_to_struct_array(values, width, signed), np.zeros(6, get_np_struct_type(width))
    C, s = built(A, B, values[1])
    assert C.dtype == get_np_struct_type(width) and s == values[1]
    assert struct_array_to_int_array(C, width, signed).tolist() == values
    assert struct_array_to_int_array(B, width, signed).tolist() == expected(values)
    D = np.zeros(6, object)
    E, _ = built(np.array(values, object), D, values[1])
    assert D.tolist() == expected(values) and E.tobytes() == C.tobytes()


def test_wide_integers_from_numpy_integers() -> None:
    B = np.zeros(6, object)
    C, _ = mirrored(Int(100))(np.arange(-3, 3), B, -7)
    assert struct_array_to_int_array(C, 100).tolist() == [-3, -2, -1, 0, 1, 2]
    assert B.tolist() == [-7, 1, 0, -1, -2, -3]


@pytest.mark.parametrize("width", WIDTHS)
@FIXED
@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_fixed_point(width: int, kind: type[Fixed | UFixed], part: float) -> None:
    element = kind(width, int(width * part))
    chosen = random.Random(width)
    values = [chosen.uniform(-4, 4) * 2.0 ** chosen.randint(-20, 20) for _ in range(6)]
    exact = [quantize(value, element) for value in values]
    B = np.zeros(6, object)
    C, s = mirrored(element)(np.array(values), B, values[1])
    assert C.dtype == (np.float64 if width <= 53 else object)
    assert isinstance(s, float if width <= 53 else Fraction) and s == exact[1]
    assert [Fraction(c) for c in C] == exact
    assert B.tolist() == expected(exact)


@FIXED
def test_fixed_point_comes_back_as_the_floats_that_were_given(kind: type[Fixed | UFixed]) -> None:
    values = [0.3, 1.7, 2.25, 3.99, 0.0, 1.0]
    exact = [float(quantize(value, kind(9, 4))) for value in values]
    for dtype in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16):
        A, B = np.array(exact, dtype), np.zeros(12, dtype)[::2]  # no array of consecutive elements either
        mirrored(kind(9, 4))(A, B, exact[1])
        assert B.astype(float).tolist() == expected(exact)


@pytest.mark.parametrize("rounding", ["trn_zero", "rnd", "rnd_conv"])
@pytest.mark.parametrize("overflow", ["wrap", "sat", "sat_sym"])
def test_fixed_point_arguments_round_as_assignments(rounding: str, overflow: str) -> None:
    element = Fixed(8, 3, rounding, overflow)
    values = [0.1875, -0.1875, 0.3125, -100.0, 100.0, -0.06]
    C, s = mirrored(element)(np.array(values), np.zeros(6), values[3])
    assert C.tolist() == [quantize(value, element) for value in values] and s == quantize(-100, element)


def test_fixed_point_from_exact_numbers() -> None:
    values = [Fraction(1, 3), 2, 0.5, -1, Fraction(-7, 2), 0]
    C, s = mirrored(Fixed(70, 30))(np.array(values, object), np.zeros(6, object), Fraction(1, 3))
    assert C.tolist() == [quantize(value, Fixed(70, 30)) for value in values] and s == C[0]
    D, _ = mirrored(Fixed(70, 30))(np.arange(6), np.zeros(6), 1)
    assert D.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("element", [float16, float32, float64, bfloat16], ids=repr)
def test_floats(element: AlloType) -> None:
    dtype = np.dtype(ml_dtypes.bfloat16) if element == bfloat16 else np.dtype(repr(element))
    A, B = np.array([0.5, -1.25, 3, 1e4, 0, -8], dtype), np.zeros(6, dtype)
    C, s = mirrored(element)(A, B, 2.5)
    assert C.dtype == dtype and s == 2.5
    assert B.tolist() == [2.5, *A.tolist()[4::-1]]


def test_bool_and_index() -> None:
    C, s = mirrored(bool_)(np.array([True, False] * 3), np.zeros(6, bool), True)
    assert (C.tolist(), s) == ([True, False] * 3, True)
    C, s = mirrored(index)(np.arange(6), np.zeros(6, np.int64), 1 << 40)
    assert (C.tolist(), s) == (list(range(6)), 1 << 40)


INNER = Struct({"y": Int(5), "z": UFixed(9, 3)})
ALL = Struct(
    {"a": int32, "f": Fixed(8, 4), "inner": INNER, "r": float32, "b": bool_, "w": UInt(100), "x": Fixed(60, 2)}
)


def one_of_all(seed: int) -> dict[str, Any]:
    chosen = random.Random(seed)
    return {
        "a": chosen.randint(-(1 << 31), (1 << 31) - 1),
        "f": chosen.randint(-128, 127) / 16,
        "inner": {"y": chosen.randint(-16, 15), "z": chosen.randint(0, 511) / 8},
        "r": chosen.randint(-100, 100) / 4,
        "b": chosen.random() < 0.5,
        "w": chosen.getrandbits(100),
        "x": Fraction(chosen.getrandbits(59), 4),
    }


def as_dict(record: Any) -> dict[str, Any]:
    fields = {name: record[name] for name in record.dtype.names}
    wide = fields.get("w")
    if wide is not None:
        fields["w"] = int.from_bytes(wide.tobytes(), "little")
        fields["inner"] = as_dict(fields["inner"])
    return fields


def test_structs() -> None:
    values = [one_of_all(seed) for seed in range(6)]
    A = np.array([ALL(value) for value in values])
    B = np.zeros(6, A.dtype)
    C, s = mirrored(ALL)(A, B, values[1])
    assert C.dtype == A.dtype and isinstance(s, np.void)
    assert [as_dict(record) for record in C] == values and as_dict(s) == values[1]
    assert [as_dict(record) for record in B] == expected(values)
    mirrored(ALL)(np.array(values, object), B, s)
    assert as_dict(B[0]) == values[1]


def test_structs_that_lie_in_memory_as_in_numpy_are_not_copied() -> None:
    pair = Struct({"re": float32, "im": float32})
    A = np.zeros(6, np.dtype([("re", "f4"), ("im", "f4")]))
    A["re"], A["im"] = np.arange(6), -np.arange(6)
    C, s = mirrored(pair)(A, B := np.zeros_like(A), {"re": 0.5, "im": 2})
    assert (C == A).all() and (B["re"].tolist(), s["im"]) == ([0.5, 4, 3, 2, 1, 0], 2)
    unaligned = np.frombuffer(b"....." + A.tobytes(), A.dtype, offset=5)
    assert (mirrored(pair)(unaligned, B, A[0])[0] == A).all()


def test_fields_may_stand_in_another_order_and_in_wider_types() -> None:
    pair = Struct({"n": int8, "x": Fixed(8, 4)})
    A = np.zeros(6, np.dtype([("x", "f4"), ("n", "i8")]))
    A["n"], A["x"] = np.arange(6), 0.5
    C, _ = mirrored(pair)(A, B := np.zeros_like(A), A[3])
    assert C["n"].tolist() == [0, 1, 2, 3, 4, 5] and B["n"].tolist() == [3, 4, 3, 2, 1, 0]


def test_helpers_for_wide_integers() -> None:
    values = np.array([[1, -2], [1 << 98, -(1 << 99)]], object)
    array = int_array_to_struct_array(values, 100)
    assert (array.dtype.itemsize, array.shape) == (13, (2, 2))
    assert (struct_array_to_int_array(array, 100) == values).all()
    assert struct_array_to_int_array(int_array_to_struct_array([255], 8, False), 8, False).tolist() == [255]
    assert [wrap(v, UInt(8)) for v in array.view(np.uint8)[0, :2]] == [1, 0]
    with pytest.raises(TypeError, match=r"^get_np_struct_type takes a number of bits, got 0$"):
        get_np_struct_type(0)
    message = r"^an element of the array must be an integer for uint8 \(0 to 255\), got 256$"
    with pytest.raises(ValueError, match=message):
        int_array_to_struct_array([256], 8, False)


@pytest.mark.parametrize("door", ["build", "interpret"])
def test_numbers_of_python_are_the_same_behind_each_door(door: str) -> None:
    """A truth value is an integer, of any width; an integer that no float holds is refused by its name."""

    def numbers(n: int8, wide: Int(100), x: float32) -> (int8, Int(100), float32):
        return n + 1, wide + 1, x

    called = allo.customize(numbers).build() if door == "build" else allo.interpret(numbers)
    n, wide, x = called(True, True, 3)
    assert (n, int.from_bytes(np.asarray(wide).tobytes(), "little"), x) == (2, 2, 3.0)
    message = r"^argument 'x' must be a number for float32, got an integer of 1329 bits$"
    with pytest.raises(ValueError, match=message):
        called(1, 1, 10**400)


def test_a_field_that_no_float_holds_is_refused() -> None:
    def field(p: Struct({"x": float32})) -> float32:
        return p.x

    for called in (allo.customize(field).build(), allo.interpret(field)):
        with pytest.raises(ValueError, match=r"must be a number for float32, got an integer of 1329 bits$"):
            called({"x": 10**400})


def refusal(element: AlloType, A: Any, B: Any, s: Any) -> str:
    """The type and the text of the error of a call."""
    with pytest.raises((TypeError, ValueError)) as caught:
        mirrored(element)(A, B, s)
    return f"{type(caught.value).__name__}: {caught.value}"


PAIR = Struct({"n": int8, "x": Fixed(8, 4)})
PAIRS = np.zeros(6, np.dtype([("n", "i1"), ("x", "f8")]))
LARGE = PAIRS.astype([("n", "i8"), ("x", "f8")])
LARGE["n"][2] = 300
FLOATS = np.zeros(6)
REFUSED = {
    "wide_float": (
        (UInt(100), FLOATS, FLOATS, 0),
        "TypeError: argument 'A' must have dtype allo.utils.get_np_struct_type(100), or objects that are Python "
        "integers, got float64, which does not convert without loss",
    ),
    "wide_range": (
        (UInt(100), np.array([0, 1, 2, 3, 4, -5]), FLOATS, 0),
        "ValueError: argument 'A' has the element -5, but uint100 holds 0 to 2**100 - 1",
    ),
    "wide_bytes_range": (
        (Int(100), int_array_to_struct_array([0, 0, 0, 0, 0, 1 << 100], 104), FLOATS, 0),
        "ValueError: argument 'A' has the element 1267650600228229401496703205376, but int100 holds "
        "-2**99 to 2**99 - 1",
    ),
    "wide_object": (
        (Int(100), np.array([0, 1, 2, 3, 4, "x"], object), FLOATS, 0),
        "TypeError: an element of argument 'A' must be an integer for int100, got str 'x'",
    ),
    "wide_written": (
        (UInt(100), np.zeros(6, object), np.zeros(6, np.uint64), 0),
        "TypeError: argument 'B' is written by the kernel and must have dtype allo.utils.get_np_struct_type(100), or "
        "objects that are Python integers; uint64 does not hold every uint100",
    ),
    "wide_scalar": (
        (Int(65), np.zeros(6, object), np.zeros(6, object), 1 << 65),
        "ValueError: argument 's' must be an integer for int65 (-2**64 to 2**64 - 1), got 36893488147419103232",
    ),
    "fixed_list": (
        (Fixed(8, 4), [0.5] * 6, FLOATS, 0),
        "TypeError: argument 'A' must be a NumPy array of shape (6,) and float dtype, or objects that are numbers, for "
        "Fixed(8, 4), got list [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]",
    ),
    "fixed_complex": (
        (Fixed(8, 4), FLOATS.astype(complex), FLOATS, 0),
        "TypeError: argument 'A' must have float dtype, or objects that are numbers, for Fixed(8, 4), got complex128, "
        "which does not convert without loss",
    ),
    "fixed_nan": (
        (Fixed(8, 4), np.array([0, np.nan, 0, 0, 0, 0]), FLOATS, 0),
        "ValueError: argument 'A' must have finite numbers for Fixed(8, 4), got nan",
    ),
    "fixed_written": (
        (Fixed(8, 4), FLOATS, np.zeros(6, int), 0),
        "TypeError: argument 'B' is written by the kernel and must have float dtype, or objects that are numbers, for "
        "Fixed(8, 4); int64 does not hold every Fixed(8, 4)",
    ),
    "fixed_scalar": (
        (Fixed(8, 4), FLOATS, FLOATS.copy(), "1"),
        "TypeError: argument 's' must be a number for Fixed(8, 4), got str '1'",
    ),
    "fixed_infinite": (
        (Fixed(8, 4), FLOATS, FLOATS.copy(), float("inf")),
        "ValueError: argument 's' must be a finite number for Fixed(8, 4), got inf",
    ),
    "struct_floats": (
        (PAIR, FLOATS, PAIRS, PAIRS[0]),
        "TypeError: argument 'A' must have a structured dtype with the fields n, x, got float64",
    ),
    "struct_names": (
        (PAIR, np.zeros(6, [("n", "i1"), ("y", "f8")]), PAIRS, PAIRS[0]),
        "TypeError: argument 'A' must have a structured dtype with the fields n, x, got a structured dtype with the "
        "fields n, y",
    ),
    "struct_field_range": (
        (PAIR, LARGE, PAIRS, PAIRS[0]),
        "ValueError: field 'n' of argument 'A' has the element 300, but int8 holds -128 to 127",
    ),
    "struct_field_type": (
        (PAIR, PAIRS.astype([("n", "f4"), ("x", "f8")]), PAIRS, PAIRS[0]),
        "TypeError: field 'n' of argument 'A' must have dtype int8, got float32, which does not convert without loss",
    ),
    "struct_scalar": (
        (PAIR, PAIRS, PAIRS.copy(), 3),
        "TypeError: argument 's' must be a dict or a structured value with the fields n, x, got int 3",
    ),
    "struct_scalar_field": (
        (PAIR, PAIRS, PAIRS.copy(), {"n": 0.5, "x": 1}),
        "TypeError: field 'n' of argument 's' must be an integer for int8, got float 0.5",
    ),
    "struct_scalar_missing": (
        (PAIR, PAIRS, PAIRS.copy(), {"n": 1}),
        "TypeError: argument 's' must be a dict or a structured value with the fields n, x, got the fields n",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals(call: tuple[Any, ...], message: str) -> None:
    assert refusal(*call) == message


def exchange(A: Fixed(8, 4)[2], B: Fixed(8, 4)[2]):
    A[0] = B[1]
    B[0] = A[1]


def test_two_written_arguments_do_not_share_memory() -> None:
    A = np.zeros(2)
    message = r"^arguments 'A' and 'B' share memory, and the kernel writes to it; pass a copy$"
    with pytest.raises(ValueError, match=message):
        allo.customize(exchange).build()(A, A)
