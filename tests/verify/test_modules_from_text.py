"""Modules of other tools: loops without a sign, casts that wrap, undefined operations, extrema of zeros."""

import ml_dtypes
import numpy as np
import pytest

import allo
from allo import Schedule
from allo.errors import KernelError
from allo.ir.types import int8, int32, uint8
from allo.poly.computation import Computation
from allo.poly.extract import Reading
from allo.poly.values import Values
from allo.verify import Different, Equivalent, load
from allo.verify.certificate.reading import demand_same_reading
from allo.verify.certificate.sums import Wrong


def counted(loop: str, kind: str = "i32") -> str:
    return f"""func.func @f(%A: memref<300xi32>, %n: {kind}) {{
      %from = arith.constant -1 : {kind}
      %zero = arith.constant 0 : {kind}
      %five = arith.constant 5 : {kind}
      %one = arith.constant 1 : {kind}
      %step = arith.constant 100 : {kind}
      %first = arith.constant 0 : index
      %c = arith.constant 1 : i32
      scf.for {loop} : {kind} {{
        %old = memref.load %A[%first] : memref<300xi32>
        %new = arith.addi %old, %c : i32
        memref.store %new, %A[%first] : memref<300xi32>
      }}
      return }}"""


def trips(text: str, n: int) -> int:
    A = np.zeros(300, np.int32)
    Schedule.from_mlir(text).build()(A, n)
    return int(A[0])


def test_loops_without_a_sign_are_not_those_with_one():
    signed, unsigned = (counted(f"{sign} %i = %from to %five step %one") for sign in ("", "unsigned"))
    assert trips(signed, 0) == 6 and trips(unsigned, 0) == 0
    for method in ("affine", "concrete"):
        assert isinstance(allo.verify(signed, unsigned, method=method), Different)


def test_loops_without_a_sign_run_to_the_greatest_number():
    assert trips(counted("unsigned %i = %zero to %n step %one", "i8"), -1) == 255
    assert trips(counted("unsigned %i = %zero to %n step %step", "i8"), -1) == 3
    assert trips(counted("%i = %zero to %n step %step", "i8"), 127) == 2
    code = Schedule.from_mlir(counted("unsigned %i = %zero to %n step %one", "i8")).build(target="vhls").hls_code
    assert "for (int64_t i = int64_t(0); i < int64_t(uint8_t(n)); i += int64_t(1))" in code.replace("arg1", "n")


def test_loops_without_a_sign_that_64_bits_do_not_hold_are_refused():
    with pytest.raises(KernelError) as caught:
        Schedule.from_mlir(counted("unsigned %i = %zero to %n step %one", "i64"))
    assert str(caught.value) == (
        'File "-", line 9, column 7: a loop over i64 compares without a sign, and a bound may be above the greatest '
        "signed number\n  hint: give constant bounds, or bounds of fewer than 64 bits"
    )
    assert trips(counted("unsigned %i = %zero to %five step %one", "i64"), 0) == 5


def compared(number: str) -> str:
    return f"""func.func @f(%A: memref<8xi32>) {{
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      affine.for %i = 0 to 8 {{
        {number}
        %small = arith.index_cast %x : index to i32
        %is = arith.cmpi eq, %small, %zero : i32
        %r = arith.select %is, %one, %zero : i32
        affine.store %r, %A[%i] : memref<8xi32>
      }}
      return }}"""


GREAT = compared("%k = arith.constant 4294967296 : index\n%x = arith.muli %i, %k : index")
PLAIN = compared("%k = arith.constant 1 : index\n%x = arith.muli %i, %k : index")


def test_casts_of_indices_wrap():
    assert isinstance(allo.verify(GREAT, PLAIN), Different)
    assert not allo.verify(GREAT, PLAIN, method="affine")
    assert isinstance(allo.verify(PLAIN, PLAIN.replace("eq, %small, %zero", "eq, %zero, %small")), Equivalent)


def test_products_of_indices_wrap():
    twice = "%k = arith.constant 4294967296 : index\n%y = arith.muli %i, %k : index\n%x = arith.muli %y, %k : index"
    indices = [
        compared(number).replace("arith.index_cast %x : index to i32", "arith.index_cast %q : index to i32")
        for number in (
            f"{twice}\n%q = arith.divui %x, %k : index",
            "%k = arith.constant 4294967296 : index\n%q = arith.muli %i, %k : index",
        )
    ]
    assert not allo.verify(*indices, method="affine")


def test_the_checker_reads_casts_itself(monkeypatch):
    """The fault of the former model, planted: whatever it finds, no certificate of it holds."""
    program = load(GREAT)
    demand_same_reading(Computation(Reading.of(program.module)))
    monkeypatch.setattr(Values, "_fits", lambda *_: True)
    with pytest.raises(Wrong, match="may wrap"):
        demand_same_reading(Computation(Reading.of(program.module)))
    assert isinstance(allo.verify(GREAT, PLAIN), Different)


@pytest.mark.parametrize("fault", ["bounds", "strides", "conditions"])
def test_the_checker_reads_loops_itself(monkeypatch, fault):
    program = load("""func.func @f(%A: memref<9xi32>) {
      %zero = arith.constant 0 : i32
      affine.for %i = 1 to 8 step 3 {
        affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) {
          affine.store %zero, %A[%i + 1] : memref<9xi32>
        }
      }
      return }""")
    demand_same_reading(Computation(Reading.of(program.module)))
    planted = {
        "bounds": ("bounded", lambda outer, *_: outer),
        "strides": ("strided", lambda outer, *_: outer),
        "conditions": ("under", lambda domain, *_: (domain, domain)),
    }
    monkeypatch.setattr(f"allo.poly.domains.{planted[fault][0]}", planted[fault][1])
    with pytest.raises(Wrong, match="has other iterations"):
        demand_same_reading(Computation(Reading.of(program.module)))


def guarded(body: str) -> str:
    return f"""func.func @f(%A: memref<8xi32>, %B: memref<8xi32>) {{
      %zero = arith.constant 0 : i32
      affine.for %i = 0 to 8 {{
        %a = affine.load %A[%i] : memref<8xi32>
        %b = affine.load %B[%i] : memref<8xi32>
        %is = arith.cmpi eq, %b, %zero : i32
        {body}
        affine.store %r, %A[%i] : memref<8xi32>
      }}
      return }}"""


BRANCH = guarded(
    """%r = scf.if %is -> (i32) { scf.yield %zero : i32 } else {
      %q = arith.divui %a, %b : i32
      scf.yield %q : i32 }"""
)
SELECT = guarded("%q = arith.divui %a, %b : i32\n%r = arith.select %is, %zero, %q : i32")
SHIFT = guarded("%r = arith.shli %a, %b : i32")


@pytest.mark.slow
def test_a_guarded_division_is_not_one_that_always_divides():
    answer = allo.verify(BRANCH, SELECT)
    assert not answer and "`arith.divui` with a divisor that may be 0" in str(answer)
    assert isinstance(allo.verify(SELECT, SELECT), Equivalent)


@pytest.mark.parametrize("name", ["divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi"])
def test_each_division_by_what_may_be_zero_is_left_open(name):
    text = guarded(f"%r = arith.{name} %a, %b : i32")
    assert [x.what for x in load(text).opaque] == [f"`arith.{name}` with a divisor that may be 0"]
    safe = text.replace("%is =", "%three = arith.constant 3 : i32\n%is =").replace("%a, %b : i32", "%a, %three : i32")
    assert load(safe).opaque == ()
    assert isinstance(allo.verify(safe, safe.replace("eq, %b, %zero", "eq, %zero, %b"), method="affine"), Equivalent)


@pytest.mark.parametrize("name", ["divsi", "remsi", "floordivsi", "ceildivsi"])
def test_the_least_number_by_minus_one_is_left_open(name):
    text = guarded(f"%m = arith.constant -1 : i32\n%r = arith.{name} %a, %m : i32")
    assert [x.what for x in load(text).opaque] == [f"`arith.{name}` with a divisor that may be -1 of the least number"]


@pytest.mark.parametrize("name", ["shli", "shrsi", "shrui"])
def test_shifts_by_what_may_be_the_width_are_left_open(name):
    text = guarded(f"%r = arith.{name} %a, %b : i32")
    assert [x.what for x in load(text).opaque] == [f"`arith.{name}` with an amount that may be the width or more"]
    assert load(text.replace("%r =", "%m = arith.constant 31 : i32\n%c = arith.andi %b, %m : i32\n%r =").replace(
        "%a, %b : i32", "%a, %c : i32")).opaque == ()  # fmt: skip


def guards(A: int32[4], B: int8[4], C: uint8[4]):
    for i in range(4):
        A[i] = A[i] // B[i] + A[i] % A[3 - i] + A[i] / C[i] + (A[i] >> B[i]) + (C[i] << C[3 - i]) + C[i] % C[3 - i]


def test_what_the_front_end_guards_is_defined():
    assert load(guards).opaque == ()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_extrema_have_one_meaning_in_either_order(dtype):
    kind = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}[np.dtype(dtype).name]
    s = Schedule.from_mlir(f"""func.func @f(%A: memref<64x{kind}>, %B: memref<64x{kind}>, %C: memref<2x64x{kind}>) {{
      affine.for %i = 0 to 64 {{
        %a = affine.load %A[%i] : memref<64x{kind}>
        %b = affine.load %B[%i] : memref<64x{kind}>
        %most = arith.maximumf %a, %b : {kind}
        %least = arith.minimumf %a, %b : {kind}
        affine.store %most, %C[0, %i] : memref<2x64x{kind}>
        affine.store %least, %C[1, %i] : memref<2x64x{kind}>
      }}
      return }}""")
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-7], dtype)
    A, B = (grid.ravel().copy() for grid in np.meshgrid(special, special))
    built, found = s.build(), []
    for left, right in ((A, B), (B, A)):
        found.append(np.zeros((2, 64), dtype))
        built(left, right, found[-1])
    expected = np.stack([np.maximum(A, B), np.minimum(A, B)])
    zeros = (A == 0) & (B == 0)
    positive = ~(np.signbit(A) & np.signbit(B)), ~(np.signbit(A) | np.signbit(B))
    expected[:, zeros] = np.where(positive, 0.0, -0.0).astype(dtype)[:, zeros]
    numbers = ~np.isnan(expected)
    for one in found:
        assert (np.isnan(one) == ~numbers).all() and one[numbers].tobytes() == expected[numbers].tobytes()
