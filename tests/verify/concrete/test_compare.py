"""Two programs of fixed sizes, compared by their computation graphs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import allo
import polybench
from allo.ir.types import Fixed, UInt, float32, int8, int32, uint8
from allo.verify.concrete import Equal, Limit, compare
from allo.verify.program.programs import load
from allo.verify.result import InputValue, Mismatch, Stuck
from tests.seeds import sampled

type Subject = allo.Schedule | Callable[..., Any]


def answer(a: Subject, b: Subject, **options: Any) -> Equal | Mismatch | Stuck:
    return compare(load(a), load(b), **options)


def gemm(A: float32[6, 8], B: float32[8, 7], C: float32[6, 7]):
    for i, j, k in allo.grid(6, 7, 8):
        C[i, j] += A[i, k] * B[k, j]


def gemm_backwards(A: float32[6, 8], B: float32[8, 7], C: float32[6, 7]):
    for i, j, k in allo.grid(6, 7, 8):
        C[i, j] += A[i, 7 - k] * B[7 - k, j]


def test_a_schedule_computes_the_same_expressions() -> None:
    s = allo.customize(gemm)
    s.split("i", 4)
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i.inner")
    found = answer(gemm, s)
    assert isinstance(found, Equal)
    assert (found.elements, found.rewritten, found.solved) == (48 + 56 + 42, 0, 0)
    assert found.expressions == 48 + 56 + 42 + 2 * 6 * 7 * 8


def test_sums_of_floats_have_an_order() -> None:
    found = answer(gemm, gemm_backwards)
    assert isinstance(found, Mismatch)
    assert (found.output, found.element, found.elements) == ("C", (0, 0), 42)
    assert found.left.endswith(" + A[0, 6] * B[6, 0] + A[0, 7] * B[7, 0]")
    assert (
        found.reason == "the same sums or products of floats in another order (reassociate=True allows that)"
    )


def test_sums_of_floats_have_no_order_if_asked() -> None:
    found = answer(gemm, gemm_backwards, reassociate=True)
    assert isinstance(found, Equal) and found.rewritten == 42


def test_sums_of_integers_have_no_order_modulo_their_width() -> None:
    def forwards(A: int8[9], B: int8[9], s: int32[1]):
        for k in range(9):
            s[0] += A[k] * B[k]

    def backwards(A: int8[9], B: int8[9], s: int32[1]):
        for k in range(9):
            s[0] -= B[8 - k] * (0 - A[8 - k])

    assert isinstance(answer(forwards, backwards), Equal)


def test_a_sum_that_wraps_earlier_is_another_one() -> None:
    def wide(A: int8[9], s: int32[1]):
        for k in range(9):
            s[0] += A[k]

    def narrow(A: int8[9], s: int32[1]):
        total: int8 = 0
        for k in range(9):
            total += A[k]
        s[0] += total

    found = answer(wide, narrow)
    assert isinstance(found, Mismatch) and found.inputs


def test_the_element_that_is_read_instead() -> None:
    def shifted(A: float32[9], B: float32[8]):
        for i in range(8):
            B[i] = A[i] * 2.0 + 1.0

    def unshifted(A: float32[9], B: float32[8]):
        for i in range(8):
            B[i] = A[i + 1 if i == 5 else i] * 2.0 + 1.0

    found = answer(shifted, unshifted)
    assert isinstance(found, Mismatch)
    assert (found.element, found.reason, found.elements) == ((5,), "reads A[6] instead of A[5]", 1)
    assert (found.left, found.right) == ("A[5] * 2.0 + 1.0", "A[6] * 2.0 + 1.0")


def test_strength_reduction() -> None:
    def times(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i] * 5 + A[i] // 8 + A[i] % 16

    def shifts(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = (A[i] << 2) + A[i] + (A[i] >> 3) + (A[i] & 15)

    assert isinstance(answer(times, shifts), Equal)


def count_bits(A: uint8[4], B: uint8[4]):
    for i in range(4):
        n: uint8 = 0
        for k in range(8):
            n += A[i][k]
        B[i] = n


def test_bit_tricks_by_the_solver() -> None:
    def tree(A: uint8[4], B: uint8[4]):
        for i in range(4):
            x: uint8 = A[i]
            x = x - ((x >> 1) & 0x55)
            x = (x & 0x33) + ((x >> 2) & 0x33)
            B[i] = (x + (x >> 4)) & 0x0F

    found = answer(count_bits, tree)
    assert isinstance(found, Equal) and found.solved == 4


def test_a_wrong_bit_trick_has_an_input() -> None:
    def tree(A: uint8[4], B: uint8[4]):
        for i in range(4):
            x: uint8 = A[i]
            x = x - ((x >> 1) & 0x55)
            x = (x & 0x33) + ((x >> 2) & 0x33)
            B[i] = (x + (x >> 4)) & 0x07

    found = answer(count_bits, tree)
    assert isinstance(found, Mismatch)
    assert found.inputs == (InputValue("A", (0,), 255),)  # the only byte with eight ones


def test_a_trick_inside_of_a_long_sum_is_proved_where_it_is() -> None:
    def halves(A: int32[40], s: float32[1]):
        for k in range(40):
            s[0] += (A[k] & 1) * 3

    def parity(A: int32[40], s: float32[1]):
        for k in range(40):
            s[0] += 3 if A[k] % 2 == 1 else 0

    assert isinstance(answer(halves, parity), Equal)


def test_rounding_of_fixed_point() -> None:
    Q, R = Fixed(12, 6), Fixed(8, 2)
    Rounded = Fixed(8, 2, rounding="rnd")

    def by_type(A: Q[4], B: R[4]):
        for i in range(4):
            x: Rounded = A[i]
            B[i] = x

    def by_hand(A: Q[4], B: R[4]):
        half: Q = 0.125
        for i in range(4):
            B[i] = A[i] + half

    def too_low(A: Q[4], B: R[4]):
        half: Q = 0.0625
        for i in range(4):
            B[i] = A[i] + half

    assert isinstance(answer(by_type, by_hand), Equal)
    assert isinstance(answer(by_type, too_low), Mismatch)


def test_branches_on_data_are_compared_as_values() -> None:
    def branch(A: int32[8], B: int32[8]):
        for i in range(8):
            if A[i] > 3:
                B[i] = A[i]
            else:
                B[i] = 3

    def variable(A: int32[8], B: int32[8]):
        for i in range(8):
            x: int32 = 3
            if not (A[i] <= 3):
                x = A[i]
            B[i] = x

    def greater(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = max(A[i], 3)

    assert isinstance(answer(branch, variable), Equal)
    assert isinstance(answer(branch, greater), Equal)


def test_a_histogram_and_a_search_for_each_bin() -> None:
    def scatter(A: UInt(2)[6], H: int32[4]):
        for i in range(6):
            H[A[i]] += 1

    def search(A: UInt(2)[6], H: int32[4]):
        for i, k in allo.grid(6, 4):
            if A[i] == k:
                H[k] += 1

    assert isinstance(answer(scatter, search), Equal)


def test_loops_on_data_stop_the_method_with_their_line() -> None:
    def search(A: int32[8], n: int32) -> int32:
        i: int32 = 0
        while i < n:
            i += A[i]
        return i

    found = answer(search, search)
    assert isinstance(found, Stuck)
    assert found.reason == "how often a loop runs depends on data"
    assert found.at is not None and found.at.line


def test_undefined_elements_of_the_first_may_be_anything() -> None:
    def partly() -> int32[4]:
        B: int32[4]
        for i in range(3):
            B[i] = i  # noqa: F821
        return B  # noqa: F821

    def wholly() -> int32[4]:
        B: int32[4] = 7
        for i in range(3):
            B[i] = i
        return B

    assert isinstance(answer(partly, wholly), Equal)
    found = answer(wholly, partly)
    assert isinstance(found, Mismatch)
    assert found.reason == "the second program reads an element that nothing has written"


def test_elements_that_are_not_written_are_those_of_the_input() -> None:
    def some(A: int32[4]):
        for i in range(3):
            A[i] = i

    def all_of_them(A: int32[4]):
        for i in range(4):
            A[i] = i

    found = answer(some, all_of_them)
    assert isinstance(found, Mismatch) and (found.element, found.left, found.right) == ((3,), "A[3]", "3")


def test_an_access_outside_of_an_array_is_named() -> None:
    def inside(A: int32[4], B: int32[4], n: int32[1]):
        for i in range(4):
            B[i] = A[i]

    def outside(A: int32[4], B: int32[4], n: int32[1]):
        last: int32 = 4
        for i in range(last + 1):
            B[i] = A[i]

    found = answer(inside, outside)
    assert isinstance(found, Mismatch)
    assert found.reason == "the second program reads outside of 'A': subscript 0 is 4, and the extent is 4"


def two_stages(A: int32[8, 4], B: int32[8, 4]):
    T: int32[8, 4] = 0
    for i, j in allo.grid(8, 4):
        T[i, j] = A[i, j] * 2
    for i, j in allo.grid(8, 4):
        B[i, j] = T[i, j] + 1


def test_the_number_of_expressions_is_bounded() -> None:
    found = answer(two_stages, two_stages, limit=Limit(nodes=60))
    assert isinstance(found, Stuck) and found.reason == "too large: more than 59 different expressions"
    assert isinstance(answer(two_stages, two_stages, limit=Limit(nodes=1000)), Equal)


def test_the_memory_for_expressions_is_bounded() -> None:
    found = answer(two_stages, two_stages, limit=Limit(memory=35_000))
    assert isinstance(found, Stuck) and found.reason.startswith("too large: more than 1")


def test_the_time_is_bounded() -> None:
    found = answer(polybench.load("gemm").kernel("MEDIUM"), two_stages, seconds=0.0)
    assert found == Stuck("the time is over", found.at)


def produce(A: int32[9, 4], T: int32[8, 4]):
    for i, j in allo.grid(8, 4):
        T[i, j] = A[i, j] * 2


def consume(T: int32[8, 4], B: int32[8, 4]):
    for i, j in allo.grid(8, 4):
        B[i, j] = T[i, j] + 1


def staged(A: int32[9, 4], B: int32[8, 4]):
    T: int32[8, 4] = 0
    produce(A, T)
    consume(T, B)


def streamed(first: int, second: int) -> allo.Schedule:
    """The two tasks with a stream between them; their outer loops end at other bounds."""
    s = allo.customize(staged)
    s.relay(s.T, "consume")
    text = str(s.module)
    loops = list(re.finditer(r"affine\.for %\w+ = 0 to 8 ", text))
    assert len(loops) == 2
    for loop, bound in reversed(list(zip(loops, (first, second), strict=True))):
        text = text[: loop.start()] + loop[0].replace("8", str(bound)) + text[loop.end() :]
    return allo.Schedule.from_mlir(text)


def test_streams_are_arrays_in_the_order_of_their_tokens() -> None:
    assert isinstance(answer(staged, streamed(8, 8)), Equal)


def test_tokens_in_another_order() -> None:
    s = streamed(8, 8)
    loads = re.search(r"affine\.load %\w+\[(%\w+), (%\w+)\]", str(s.module))
    assert loads is not None
    turned = loads[0].replace(f"[{loads[1]}, {loads[2]}]", f"[{loads[1]} * 0 + 1, {loads[2]}]")
    found = answer(staged, allo.Schedule.from_mlir(str(s.module).replace(loads[0], turned, 1)))
    assert isinstance(found, Mismatch)
    assert (found.output, found.element, found.reason) == ("B", (0, 0), "reads A[1, 0] instead of A[0, 0]")


def test_a_get_that_waits_for_ever_is_a_deadlock() -> None:
    found = answer(staged, streamed(7, 8))
    assert isinstance(found, Mismatch) and found.output == "fifo_T"
    assert (
        found.reason
        == "the second program waits for ever (deadlock): gets from 'fifo_T', into which nothing puts any more"
    )


def test_elements_that_are_left_in_a_stream() -> None:
    found = answer(staged, streamed(9, 8))
    assert isinstance(found, Mismatch)
    assert found.reason == "counts: 4 elements are left in 'fifo_T', not 0"


DESIGNS = [(name, design) for name in polybench.NAMES for design in polybench.load(name).designs]


@pytest.mark.parametrize(("name", "design"), sampled(DESIGNS))
def test_designs_of_polybench_compute_what_their_kernels_do(name: str, design: str) -> None:
    s = polybench.load(name).designs[design].customized("MINI")
    found = compare(load(s.state(0)), load(s))
    assert isinstance(found, Equal) and found.rewritten == 0, found


def test_updates_at_subscripts_from_data_in_another_order() -> None:
    def forwards(A: UInt(4)[16], H: int32[16]):
        for i in range(16):
            H[A[i]] += 1

    def backwards(A: UInt(4)[16], H: int32[16]):
        for i in range(16):
            H[A[15 - i]] += 1

    def twice(A: UInt(4)[16], H: int32[16]):
        for i in range(16):
            H[A[i if i > 0 else 1]] += 1

    assert isinstance(answer(forwards, backwards), Equal)
    assert isinstance(answer(forwards, twice), Mismatch)


def test_the_statements_that_wrote_the_element() -> None:
    found = answer(gemm, gemm_backwards)
    assert isinstance(found, Mismatch) and found.left_at is not None and found.right_at is not None
    first = gemm.__code__.co_firstlineno
    assert (found.left_at.line, found.right_at.line) == (
        first + 2,
        gemm_backwards.__code__.co_firstlineno + 2,
    )


def test_a_sum_that_starts_with_what_nothing_has_written() -> None:
    def cleared(A: int32[8], s: int32[1]):
        total: int32 = 0
        for k in range(8):
            total += A[k]
        s[0] = total

    def forgotten(A: int32[8], s: int32[1]):
        total: int32
        for k in range(8):
            total += A[k]  # noqa: F821
        s[0] = total

    found = answer(cleared, forgotten)
    assert isinstance(found, Mismatch) and found.output == "s"
    assert isinstance(answer(forgotten, cleared), Stuck)
    assert isinstance(answer(forgotten, forgotten), Equal)


def test_a_branch_that_leaves_an_array_stops_the_method_unless_the_first_program_leaves_one_there() -> None:
    def often(A: int32[4], B: int32[4]):
        for i in range(4):
            B[i] = 1
            if A[i] >= 0:
                unused: int32 = A[i + 1]  # noqa: F841

    def seldom(A: int32[4], B: int32[4]):
        for i in range(3, -1, -1):
            B[i] = 1
            if A[i] >= 0 and A[i] != 5:
                unused: int32 = A[i + 1]  # noqa: F841

    def nested(A: int32[4], B: int32[4]):
        for i in range(4):
            B[i] = 1
            if A[i] >= 0:  # noqa: SIM102
                if B[i] + A[i] != 6:
                    unused: int32 = A[i + 1]  # noqa: F841

    assert isinstance(answer(often, often), Equal)
    assert isinstance(answer(often, nested), Equal)
    for other in (nested, seldom):
        found = answer(other, often)
        assert isinstance(found, Stuck)
        assert found.reason == "a branch that depends on data reads outside of 'A'"
        assert found.at is not None and found.at.line == often.__code__.co_firstlineno + 4


def test_elements_that_nothing_has_written_are_different_ones() -> None:
    def itself(A: int32[4], B: int32[4]):
        t: int32[2]
        for i in range(4):
            B[i] = A[i] + (t[0] - t[0])  # noqa: F821

    def two(A: int32[4], B: int32[4]):
        t: int32[2]
        for i in range(4):
            B[i] = A[i] + (t[0] - t[1])  # noqa: F821

    def copied(A: int32[4], B: int32[4]):
        for i in range(4):
            B[i] = A[i]

    assert isinstance(answer(copied, itself), Equal)
    found = answer(copied, two)
    assert isinstance(found, Mismatch)
    assert found.reason == "computes A[0] + (undefined - undefined) instead of A[0]"
    assert answer(two, copied) == Stuck(
        "B[0] may be equal or not: the first program computes it from an element that nothing has written"
    )


def test_a_subscript_that_may_leave_its_array_stops_the_method() -> None:
    def guarded(A: int32[4], H: int32[8]):
        for i in range(4):
            if A[i] >= 0 and A[i] < 8:
                H[A[i]] += 1

    def careless(A: int32[4], H: int32[8]):
        for i in range(4):
            H[A[i]] += 1

    found = answer(guarded, careless)
    assert isinstance(found, Stuck) and found.reason == "a bound or a subscript depends on data"


def test_a_subscript_that_is_cut_to_the_extent_is_followed() -> None:
    def masked(A: int32[4], H: int32[8]):
        for i in range(4):
            at: UInt(3) = A[i]
            H[at] += 1

    def backwards(A: int32[4], H: int32[8]):
        for i in range(4):
            at: UInt(3) = A[3 - i]
            H[at] += 1

    assert isinstance(answer(masked, backwards), Equal)
