"""s.compose: the steps of a kernel's schedule on the kernel as another one calls it."""

# ruff: noqa: F821 - kernels declare arrays without a value

from textwrap import dedent

import pytest

import allo
from allo import Partition, Schedule, customize
from allo.errors import ScheduleError
from allo.ir.types import float32, index, int32

from .checks import assert_faithful, assert_refused, refusal, run


def scale(A: int32[4, 8], B: int32[4, 8]):
    for i, j in allo.grid(4, 8):
        B[i, j] = A[i, j] * 2


def shift(A: int32[4, 8], B: int32[4, 8]):
    T: int32[4, 8]
    scale(A, T)
    for i, j in allo.grid(4, 8, name="add"):
        B[i, j] = T[i, j] + 1


def top(A: int32[4, 8], B: int32[4, 8]):
    X: int32[4, 8]
    shift(A, X)
    scale(X, B)


def product[T, M: index, N: index, K: index](A: "T[M, K]", B: "T[K, N]", C: "T[M, N]"):
    for i, j in allo.grid(M, N, name="PE"):
        for k in range(K):
            C[i, j] += A[i, k] * B[k, j]


def named(A: int32[4, 4], B: int32[4, 4], C: int32[4, 4], D: int32[4, 4]):
    product[int32, 4, 4, 4, "first"](A, B, C)
    product[int32, 4, 4, 4, "second"](C, B, D)


def sizes(A: int32[4, 8], B: int32[8, 4], C: int32[4, 4], D: int32[4, 8]):
    product[int32, 4, 4, 8](A, B, C)
    product[int32, 4, 8, 4](C, A, D)


def schedule_product(s):
    s.pipeline("j")
    s.partition("C", dim=2)


def of_scale():
    s = customize(scale)
    s.split("j", 4)
    s.pipeline("j.inner")
    return s


def of_shift():
    s = customize(shift)
    s.compose(of_scale())
    s.unroll("add.j", factor=2)
    return s


def texts(schedule):
    return [str(step) for step in schedule.steps]


SCALE = ['s.split("scale:S_i_j_0.j", factor=4)', 's.pipeline("scale:S_i_j_0.j.inner")']


def test_steps_are_replayed_on_the_callee():
    s = customize(top)
    assert s.compose(of_scale()) is None
    assert texts(s) == SCALE
    assert [loop.name for loop in s.get_loops("scale")["S_i_j_0"]] == ["i", "j.outer", "j.inner"]
    assert_faithful(top, s)


def test_a_composed_step_keeps_the_line_it_was_written_on():
    part = of_scale()
    s = customize(top)
    s.compose(part)
    assert [step.at for step in s.steps] == [step.at for step in part.steps]


def test_schedules_that_were_composed():
    s = customize(top)
    s.compose(of_shift())
    assert texts(s) == [*SCALE, 's.unroll("shift:add.j", factor=2)']
    assert_faithful(top, s)


def test_a_shared_callee_is_customised_once():
    """Both schedules bring the steps of `scale`: they are the same, and one function stays."""
    s = customize(top)
    s.compose([of_scale(), of_shift()])
    assert texts(s) == [*SCALE, 's.unroll("shift:add.j", factor=2)']
    assert [f.name.value for f in s.ir.functions()] == ["scale", "shift", "top"]
    s.compose(of_shift())
    assert len(s.steps) == 3


def test_allo_compose_leaves_its_argument_alone():
    s = customize(top)
    s.unroll("shift:add.j", factor=4)
    made = allo.compose(s, [of_scale()])
    assert texts(made) == ['s.unroll("shift:add.j", factor=4)', *SCALE]
    assert len(s.steps) == 1 and "j.outer" not in str(s.module)
    assert texts(allo.compose(top, of_shift())) == [*SCALE, 's.unroll("shift:add.j", factor=2)']


def test_all_instances_of_a_template():
    s = customize(named)
    s.compose(product, instantiate=[int32, 4, 4, 4])
    assert texts(s) == [
        's.pipeline("product_first:PE.j")',
        's.pipeline("product_second:PE.j")',
        's.partition("product_first:C", dim=2)',
        's.partition("product_second:C", dim=2)',
    ]
    assert_faithful(named, s)


def test_one_instance_by_its_name():
    s = customize(named)
    s.compose(product, id="second", instantiate={"T": int32, "M": 4, "N": 4, "K": 4})
    assert texts(s) == ['s.pipeline("product_second:PE.j")', 's.partition("product_second:C", dim=2)']
    assert_faithful(named, s)


def test_only_instances_of_the_same_types():
    s = customize(sizes)
    s.compose(product, instantiate=[int32, 4, 8, 4])
    assert texts(s) == ['s.pipeline("product_1:PE.j")', 's.partition("product_1:C", dim=2)']
    assert_faithful(sizes, s)


def inner[T](A: "T[8]"):
    for i in range(8):
        A[i] = A[i] + 1


def outer[T](A: "T[8]"):
    inner[T](A)
    for i in range(8):
        A[i] = A[i] * 2


def shares(A: int32[8], B: int32[8]):
    outer[int32, "a"](A)
    outer[int32, "b"](B)


def of_outer(factor):
    s = customize(outer, instantiate=[int32])
    s.split("inner:i", factor)
    s.partition("inner:A", factor=factor)
    return s


def test_a_function_that_instances_share_is_copied():
    s = customize(shares)
    s.compose(of_outer(2), id="a")
    s.compose(of_outer(4), id="b")
    assert texts(s) == [
        's.specialize("inner", callers=["outer_a"], name=\'inner_a\')',
        's.split("inner_a:S_i_0.i", factor=2)',
        's.partition("inner_a:A", factor=2)',
        's.split("inner:S_i_0.i", factor=4)',
        's.partition("inner:A", factor=4)',
    ]
    assert [s.report().buffers[k].layout for k in range(3)] == ["cyclic 4", "cyclic 2", "cyclic 2"]
    assert_faithful(shares, s)


def test_handles_of_what_a_step_made_mean_what_it_made_there():
    """`buffer_at` makes `buf_A_1` in the caller's module, where another nest has its `buf_A` already."""

    def two(A: int32[4, 8], B: int32[4, 8], C: int32[4, 8]):
        for i, j in allo.grid(4, 8, name="one"):
            B[i, j] = A[i, j] + A[i, 0]
        for i, j in allo.grid(4, 8, name="other"):
            C[i, j] = A[i, j] + A[i, 1]

    def calls(A: int32[4, 8], B: int32[4, 8], C: int32[4, 8]):
        two(A, B, C)

    part = customize(two)
    part.partition(part.buffer_at("A", "other.i"), factor=2)
    s = customize(calls)
    s.buffer_at("two:A", "two:one.i")
    s.compose(part)
    assert texts(s)[1:] == ['s.buffer_at("two:A", axis="two:other.i")', 's.partition("two:buf_A_1", factor=2)']
    assert_faithful(calls, s)


def test_reshape_of_an_argument_reaches_the_caller():
    part = customize(scale)
    part.reshape("A", (8, 4))
    part.reshape("B", (8, 4))
    s = customize(top)
    s.compose(part)
    shapes = {name: str(s.ir.function("top").type.inputs[k]) for k, name in enumerate("AB")}
    assert shapes == {"A": "memref<8x4xi32>", "B": "memref<8x4xi32>"}
    assert '{allo.name = "X"} : memref<8x4xi32>' in str(s.module)


def test_pack_of_an_argument_reaches_the_caller():
    part = customize(scale)
    part.pack("A", dim=2, factor=4)
    s = customize(top)
    s.compose(part)
    assert '{allo.name = "X"} : memref<4x2xui128>' in str(s.module)


def test_layouts_of_two_parts_meet():
    first, second = customize(scale), customize(shift)
    first.partition("A", Partition.Cyclic, dim=2, factor=4)
    second.partition("B", Partition.Block, dim=2, factor=2)
    s = allo.compose(top, [first, second])
    (meet,) = s.report().meets
    assert meet.layout == "[none, complete]" and {"top:X", "scale:A", "shift:B"} <= set(meet.arrays)
    assert [r.layout for r in meet.requests] == ["[none, cyclic 4]", "[none, block 2]"]
    assert_faithful(top, s)


def test_the_order_of_parts_is_of_no_matter():
    first, second = customize(scale), customize(shift)
    first.partition("A", dim=2, factor=4)
    first.pipeline("j")
    second.partition("B", Partition.Block, dim=2, factor=2)
    second.split("add.j", 4)
    texts = {str(allo.compose(top, parts).module) for parts in ([first, second], [second, first])}
    assert len(texts) == 1


def test_steps_on_other_nests_and_functions_commute():
    s = customize(top)
    s.split("shift:add.i", 2)
    s.partition("X", dim=1)
    s.compose(of_scale())
    other = customize(top)
    other.compose(of_scale())
    other.split("shift:add.i", 2)
    other.partition("X", dim=1)
    assert str(s.module) == str(other.module)


def test_the_schedule_of_the_same_kernel():
    first, second = customize(shift), customize(shift)
    first.unroll("add.j", factor=2)
    second.pipeline("add.i")
    first.compose(second)
    assert texts(first) == ['s.unroll("shift:add.j", factor=2)', 's.pipeline("shift:add.i")']


def test_a_composed_schedule_is_undone_step_by_step():
    s = customize(top)
    s.compose(of_scale())
    s.undo()
    assert texts(s) == SCALE[:1]


def test_a_kernel_without_a_default_schedule():
    assert_refused(
        f"""
        File: compose: kernel 'scale' has no default schedule: there is no function 'schedule_scale' in '{__name__}'
          hint: compose a schedule: allo.customize(scale)
        """,
        customize(top),
        scale,
    )


def test_a_template_without_its_values():
    assert_refused(
        """
        File: compose: 'product' is a template, and the instance to compose is not known
          hint: s.compose(kernel, instantiate=[...]) with the values of the call
        """,
        customize(named),
        product,
    )


def test_values_for_a_schedule():
    assert_refused(
        """
        File: compose: the schedule of 'scale' is of no template, and instantiate= asks for [float32]
          hint: give these values to allo.customize, or leave them out here
        """,
        customize(top),
        of_scale(),
        instantiate=[float32],
    )


@pytest.mark.parametrize("values", [[int32, 4, 4, 8], {"T": int32, "K": 8}, [int32]])
def test_values_that_are_those_of_the_schedule(values):
    s, part = customize(sizes), customize(product, instantiate=[int32, 4, 4, 8])
    part.pipeline("j")
    s.compose(part.copy(), instantiate=values)
    assert len(s.steps) == 1
    assert_faithful(sizes, s)


def test_values_of_another_instance():
    assert_refused(
        """
        File: compose: the schedule of 'product' is of the instance product[int32, 4, 4, 8], and instantiate= asks for \
[int32, 4, 8, 4]
          hint: give these values to allo.customize, or leave them out here
        """,
        customize(sizes),
        customize(product, instantiate=[int32, 4, 4, 8]),
        instantiate=[int32, 4, 8, 4],
    )


@pytest.mark.parametrize("values", [4, "int32"])
def test_what_is_no_list_of_values(values):
    with pytest.raises(ScheduleError) as caught:
        customize(sizes).compose(customize(product, instantiate=[int32, 4, 4, 8]), instantiate=values)
    message = f"compose: instantiate is a list of values, or a dictionary of them by name, got {values!r}"
    assert caught.value.diagnostics[0].message == message


def test_what_is_no_schedule():
    assert_refused("File: compose: a schedule or a kernel is composed, got str 'scale'", customize(top), "scale")


@pytest.mark.parametrize(
    ("id", "shown"), [(0, "int 0"), (b"first", "bytes b'first'"), (["first"], "list ['first']"), (True, "bool True")]
)
def test_what_is_no_name_of_an_instance(id, shown):
    s = customize(product, instantiate=[int32, 4, 4, 4])
    wanted = f"File: compose: id is the name of an instance, a string, got {shown}"
    assert_refused(wanted, customize(named), s, id=id)


def test_a_kernel_that_is_not_called():
    assert refusal(customize(shift), customize(named)) == dedent(
        """\
        File: compose: 'shift' does not call the kernel 'named'
          hint: the functions are scale"""
    )


def test_an_instance_that_is_not_there():
    s = customize(product, instantiate=[int32, 4, 4, 4])
    assert refusal(customize(named), s, id="third") == dedent(
        """\
        File: compose: there is no instance 'third' of 'product', which would be function 'product_third'
          hint: its instances are product_first, product_second; product[..., "third"](...) in the kernel names one"""
    )


def test_instances_of_other_types():
    s = customize(product, instantiate=[int32, 4, 4, 8])
    message = refusal(customize(named), s)
    assert message.splitlines()[:3] == [
        "File: compose: the schedule is of 'product' (memref<4x8xi32>, memref<8x4xi32>, memref<4x4xi32>) -> (), "
        "and 'named' has no such instance",
        "  note: 'product_first' in 'named': it is (memref<4x4xi32>, memref<4x4xi32>, memref<4x4xi32>) -> ()",
        "    File",
    ]
    assert message.splitlines()[-1] == (
        "  hint: customize the kernel as it is called here: the same instantiate=, typing_rule_set= and lower_linalg="
    )


def other_types():
    part = customize(product, instantiate=[float32, 8, 8, 8])
    part.buffer_at("C", "j")
    part.split("k", 3)
    part.reorder("k.inner", "k.outer", reassociate=True)
    part.partition("A", dim=2, factor=2)
    return part


def test_steps_for_an_instance_of_other_types():
    s = customize(named)
    s.compose(other_types(), id="second")
    second = s.pseudocode().split("def product_second")[1].split("\ndef ")[0]
    assert "for k.outer in range(2):" in second and "buf_C" in second
    assert "k.outer" not in s.pseudocode().split("def product_first")[1].split("\ndef ")[0]
    assert_faithful(named, s)


def elsewhere(A: int32[4, 8], B: int32[4, 8]):
    for i, j in allo.grid(4, 8, name="PE"):
        B[i, j] = 0
        for k in range(3):
            B[i, j] += A[i, j] * k


def test_steps_for_an_instance_of_another_kernel():
    def unlike[T, M: index](A: "T[M, 8]", B: "T[M, 8]"):
        for i, j in allo.grid(M, 8, name="PE"):
            B[i, j] = A[i, j] + 1

    def caller(A: int32[4, 8], B: int32[4, 8]):
        unlike[int32, 4, "here"](A, B)

    part, s = customize(elsewhere), customize(caller)
    part.split("j", 2)
    part.pipeline("j.inner")
    s.compose(part, id="here")
    assert "for j.inner in range(2):  # pipeline=1" in s.pseudocode()
    assert_faithful(caller, s)


def test_a_step_that_an_instance_of_another_kernel_cannot_take():
    def longer(A: int32[4, 8], B: int32[4, 8]):
        for i, j, r in allo.grid(4, 8, 3, name="PE"):
            B[i, j] += A[i, j] * r

    part, s = customize(longer), customize(named)
    part.split("j", 2)
    part.unroll("r")
    message = refusal(s, part, id="first")
    assert message.splitlines()[0] == "File: unroll: nest 'product_first:PE' has no loop 'r'"
    assert "its schedule is composed here" in message


def test_nothing_in_the_place_of_a_function():
    def caller(A: int32[4, 8], B: int32[4, 8]):
        scale(A, B)

    def wrapped[T](A: "T[4, 8]", B: "T[4, 8]"):
        for i, j in allo.grid(4, 8):
            B[i, j] = A[i, j]

    def around(A: int32[4, 8], B: int32[4, 8]):
        wrapped[int32, "only"](A, B)

    part = customize(caller)
    part.split("scale:j", 4)
    assert refusal(customize(around), part, id="only") == dedent(
        """\
        File: compose: the schedule of 'caller' has steps on 'scale', and 'wrapped_only' calls nothing in its place
          hint: compose a schedule of the kernel as it is called here"""
    )


def test_nothing_is_kept_of_a_composition_that_fails_late():
    wrong = customize(shift)
    wrong.split("add.j", 2)
    s = customize(top)
    s.unroll("shift:add.j", factor=2)
    before = run(s, top)
    refusal(s, [of_scale(), wrong])
    assert all((a == b).all() for a, b in zip(run(s, top)[:2], before[:2], strict=True))


def test_names_of_a_function_that_two_instances_share():
    """Both instances call `rows`, where the new array of the part is `buf_A_1`: each step on it is done once."""

    def rows[T](A: "T[4, 8]", B: "T[4, 8]"):
        for i, j in allo.grid(4, 8, name="one"):
            B[i, j] = A[i, j] + A[i, 0]
        for i, j in allo.grid(4, 8, name="other"):
            B[i, j] = A[i, j] + B[i, 1]

    def wraps[T](A: "T[4, 8]", B: "T[4, 8]"):
        rows[T](A, B)

    def calls(A: int32[4, 8], B: int32[4, 8], C: int32[4, 8]):
        wraps[int32, "a"](A, B)
        wraps[int32, "b"](B, C)

    part = customize(wraps, instantiate=[int32])
    part.partition(part.buffer_at("rows:A", "rows:other.i"), factor=2)
    s = customize(calls)
    s.buffer_at("rows:A", "rows:one.i")
    s.compose(part)
    assert texts(s)[1:] == ['s.buffer_at("rows:A", axis="rows:other.i")', 's.partition("rows:buf_A_1", factor=2)']
    assert_faithful(calls, s)


def test_a_module_that_was_read_from_text():
    """It has no lines of the kernels: functions are found by their names, and by the code in them."""
    s = Schedule.from_mlir(str(customize(named).module))
    part = customize(product, instantiate=[int32, 4, 4, 4])
    part.pipeline("j")
    s.compose(part, id="second")
    s.compose(part)
    assert texts(s) == ['s.pipeline("product_second:PE.j")', 's.pipeline("product_first:PE.j")']


def test_operators_that_one_schedule_has_as_loops():
    def square(A: float32[4, 4]) -> float32[4, 4]:
        return allo.matmul(A, A)

    def calls(A: float32[4, 4]) -> float32[4, 4]:
        return square(A)

    part = customize(square, lower_linalg=True)
    part.pipeline("j")
    assert "its body, or that of a function it calls, is another one" in refusal(customize(calls), part)
    s = customize(calls, lower_linalg=True)
    s.compose(part)
    assert texts(s) == ['s.pipeline("square:matmul_0.j")']
