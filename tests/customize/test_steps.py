"""Schedules as data: steps as Python text, as operations of MLIR, on modules without a kernel, and as diffs."""

# ruff: noqa: E501 - golden text is not wrapped

import numpy as np
import pytest

import allo
from allo import Partition, Schedule, ScheduleError
from allo.errors import KernelError
from allo.ir.types import float32


def gemm(A: float32[30, 32], B: float32[32, 8], C: float32[30, 8]):
    for i, j in allo.grid(30, 8, name="PE"):
        for k in range(32):
            C[i, j] += A[i, k] * B[k, j]


def scheduled() -> Schedule:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")
    _, inner = s.split("i", 4)
    s.pipeline(inner)
    s.partition(s.A, partition_type=Partition.Cyclic, dim=1, factor=4)
    return s


STEPS = """\
s.reorder("gemm:PE.k", "gemm:PE.j")
s.buffer_at("gemm:C", axis="gemm:PE.i")
s.split("gemm:PE.i", factor=4)
s.pipeline("gemm:PE.i.inner")
s.partition("gemm:A", partition_type=Partition.Cyclic, dim=1, factor=4)
"""


def test_steps_print_as_python() -> None:
    assert str(scheduled().steps) == STEPS


def test_printed_steps_recreate_the_schedule() -> None:
    s = allo.customize(gemm)
    s.replay(STEPS)
    assert str(s.module) == str(scheduled().module) and str(s.steps) == STEPS


def test_printed_steps_apply_to_another_kernel() -> None:
    def other(A: float32[6, 32], B: float32[32, 8], C: float32[6, 8]):
        for i, j in allo.grid(6, 8, name="PE"):
            for k in range(32):
                C[i, j] += A[i, k] * B[k, j]

    s, t = allo.customize(gemm), allo.customize(other)
    s.replay(STEPS, on=t)
    assert len(t.steps) == 5 and not s.steps
    assert str(t.steps[0]) == 's.reorder("other:PE.k", "other:PE.j")'


def test_a_replay_that_fails_changes_nothing() -> None:
    s = allo.customize(gemm)
    with pytest.raises(ScheduleError) as refused:
        s.replay('s.reorder("k", "j")\ns.split("x", 4)')
    assert str(refused.value) == (
        'File "<steps>", line 2, column 1: split: function \'gemm\' has no loop \'x\'\n'
        "  note: this is step 1 of the replay (the first is 0): s.split(loop='x', factor=4)\n"
        "  hint: its loops are i, k, j"
    )
    assert not s.steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('s.spilt("i", 4)', 'File "<steps>", line 1, column 1: there is no primitive \'spilt\'\n  hint: did you mean \'split\'?'),
        ("x = 3", 'File "<steps>", line 1, column 1: `x = 3` is not a step\n  hint: s.split("i", 4), a call of a method of the schedule `s` with literal arguments on each line'),
        ('x.y.split("i", 4)', "File \"<steps>\", line 1, column 1: `x.y.split('i', 4)` is not a step\n  hint: s.split(\"i\", 4), a call of a method of the schedule `s` with literal arguments on each line"),
        ('s.split("i", 4)\nt.split("j", 4)', "File \"<steps>\", line 2, column 1: `t.split('j', 4)` is a step of 't', and the first step is one of 's'\n  hint: replay the steps of one schedule at a time"),
        ('s.split("i", 2 + f())', "File \"<steps>\", line 1, column 1: `2 + f()` is not a literal\n  hint: give names of loops and buffers as strings"),
        ('a, b, c = s.split("i", 2)\ns.pipeline(c)', "File \"<steps>\", line 2, column 1: 'c' is to be value 2 (the first is 0) of a step that returns 2 values\n  note: this is step 1 of the replay (the first is 0): s.pipeline(loop=c)"),
        ('a.b = s.split("i", 2)', "File \"<steps>\", line 1, column 1: `a.b = s.split('i', 2)` is not a step\n  hint: s.split(\"i\", 4), a call of a method of the schedule `s` with literal arguments on each line"),
        ('s.split("i")', "File \"<steps>\", line 1, column 1: s.split(): missing a required argument: 'factor'"),
        ('s.split("i", {[]})', 'File "<steps>", line 1, column 1: `{[]}` is not a literal\n  hint: give names of loops and buffers as strings'),
        ('s.split("i", 4, **{"x": 1})', "File \"<steps>\", line 1, column 1: `s.split('i', 4, **{'x': 1})` hides names of parameters\n  hint: write name=value for each"),
        (f's.split("i", {"-" * 5000}4)', 'File "<steps>", line 1: the step is nested too deeply'),
        ("s.split(", "File \"<steps>\", line 1, column 8: the steps are not Python: '(' was never closed"),
    ],
)  # fmt: skip
def test_what_is_not_a_step_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        allo.customize(gemm).replay(text)
    assert str(refused.value) == message


def test_steps_may_name_what_others_return() -> None:
    named, plain = allo.customize(gemm), allo.customize(gemm)
    named.replay(
        'outer, inner = s.split("j", 4)\n'
        's.reorder(inner, outer, "k"); kept = s.buffer_at("gemm:C", "i")\n'
        's.partition(kept); s.partition(s.buffer_at("gemm:A", axis="i"), dim=1)'
    )
    outer, inner = plain.split("j", 4)
    plain.reorder(inner, outer, "k")
    plain.partition(plain.buffer_at(plain.C, "i"))
    plain.partition(plain.buffer_at(plain.A, "i"), dim=1)
    assert str(named.steps) == str(plain.steps) and str(named.ir) == str(plain.ir)


def test_all_wrong_lines_are_reported() -> None:
    with pytest.raises(ScheduleError) as refused:
        allo.customize(gemm).replay("s.a()\ns.b()")
    assert len(refused.value.diagnostics) == 2


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ('"bind"(%0) {memory = {size = "BRAM"}}', "unexpected keyword argument 'size'"),
        ('"partition"(%0) {dim = 36893488147419103232 : i128}', "has no meaning as an argument of a primitive"),
        ('"partition"(%0) {dim = 18446744073709551615 : ui64}', "has no meaning as an argument of a primitive"),
    ],
)
def test_attributes_that_are_no_arguments_are_refused(step: str, message: str) -> None:
    text = allo.customize(gemm).to_mlir().rstrip().removesuffix("}")
    with pytest.raises(ScheduleError, match=message):
        Schedule.from_mlir(f'{text}allo.schedule {{\n%0 = allo.buffer "gemm" "A"\nallo.step {step}\n}}\n}}')


def test_steps_as_operations() -> None:
    text = scheduled().to_mlir()
    start = text.index("  allo.schedule")
    assert (
        text[start:]
        == """\
  allo.schedule {
    %0 = allo.loop "gemm" "PE.k"
    %1 = allo.loop "gemm" "PE.j"
    allo.step "reorder"(%0, %1)
    %2 = allo.buffer "gemm" "C"
    %3 = allo.loop "gemm" "PE.i"
    %buffer_at = allo.step "buffer_at"(%2, %3)
    %split:2 = allo.step "split"(%3) {factor = 4 : i32}
    allo.step "pipeline"(%split#1)
    %4 = allo.buffer "gemm" "A"
    allo.step "partition"(%4) {dim = 1 : i32, factor = 4 : i32, partition_type = "Cyclic"}
  }
}
"""
    )


def test_operations_parse_back_and_apply() -> None:
    s = scheduled()
    t = Schedule.from_mlir(s.to_mlir())
    assert str(t.module) == str(s.module) and str(t.steps) == STEPS


PLAIN = """
func.func @scale(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c = arith.constant 2.0 : f32
  %t = memref.alloc() : memref<f32>
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xf32>
    %y = arith.mulf %x, %c : f32
    affine.store %y, %b[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %x = affine.load %b[%i] : memref<8xf32>
    affine.store %x, %a[%i] : memref<8xf32>
  }
  return
}
allo.schedule {
  %i = allo.loop "scale" "S_i_0.i"
  %0:2 = allo.step "split"(%i) {factor = 3 : i32}
  allo.step "unroll"(%0#1)
}
"""


def test_a_module_without_a_kernel_gets_names_and_runs() -> None:
    s = Schedule.from_mlir(PLAIN)
    assert str(s.steps) == 's.split("scale:S_i_0.i", factor=3)\ns.unroll("scale:S_i_0.i.inner")\n'
    assert str(s.get_loops()) == "scale\n  S_i_0:\n    i.outer\n      i.inner  (unroll=0)\n  S_i_1:\n    i"
    assert list(s.buffers)[:3] == ["scale:arg0", "arg0", "scale:arg1"]
    a, b = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    s.build()(a, b)
    assert np.array_equal(b, 2 * np.arange(8))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"S_i_0.i"', '"S_i_0.x"', "split: nest 'scale:S_i_0' has no loop 'x'\n  hint: its loops are i"),
        ("{factor = 3 : i32}", "", "s.split(): missing a required argument: 'factor'"),
        ("{factor = 3 : i32}", "{factor = 3 : i32, by = 1 : i32}", "`split` has no parameter 'by'"),
        ("(%0#1)", "(%0#0, %0#1)", "`unroll` takes 1 handle"),
        ("%0:2", "%0:3", "`split` returns 2 handles"),
        ('"split"', '"splt"', "there is no primitive 'splt'\n  hint: did you mean 'split'?"),
    ],
)
def test_operations_that_are_wrong_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        Schedule.from_mlir(PLAIN.replace(old, new))
    place = "line 19, column 3" if old == "(%0#1)" else "line 18, column 10"
    assert str(refused.value) == f'File "-", {place}: {message}'


@pytest.mark.parametrize(("given", "shown"), [(None, "NoneType None"), (5, "int 5"), (b"module {}", "bytes b'module {}'")])
def test_what_is_no_text_of_a_module_is_refused(given: object, shown: str) -> None:
    with pytest.raises(KernelError) as refused:
        Schedule.from_mlir(given)
    assert str(refused.value) == f"a module is read from its text or a Path, got {shown}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(", "the text is not a valid module: "),
        ("module {}", "the module has no function to schedule"),
        ('module attributes {allo.top = "g"} { func.func @f() { return } }', "the module has no function 'g', which allo.top names as its entry"),
    ],
)  # fmt: skip
def test_texts_that_are_no_modules_are_refused(text: str, message: str) -> None:
    with pytest.raises(KernelError) as refused:
        Schedule.from_mlir(text)
    assert str(refused.value).startswith(message)


def test_branches_between_blocks_are_refused() -> None:
    text = """module {
  func.func private @leaf(%A: memref<8xf32>, %c: i1) -> memref<8xf32> {
    cf.cond_br %c, ^a, ^b
  ^a:
    return %A : memref<8xf32>
  ^b:
    return %A : memref<8xf32>
  }
  func.func @top(%A: memref<8xf32>, %c: i1) {
    %r = call @leaf(%A, %c) : (memref<8xf32>, i1) -> memref<8xf32>
    return
  }
}"""
    with pytest.raises(KernelError) as refused:
        Schedule.from_mlir(text)
    assert str(refused.value) == (
        "File \"-\", line 3, column 5: 'leaf' branches between blocks: there are no loops and conditions that a schedule names\n"
        "  hint: write it with affine.for, scf.for, scf.while and scf.if; `mlir-opt --lift-cf-to-scf` makes these"
    )


def test_diff_shows_what_a_step_changed() -> None:
    assert (
        scheduled().diff(2)
        == """\
# step 2: s.split("gemm:PE.i", factor=4)
@@ -1,10 +1,12 @@
 def gemm(A: float32[30, 32], B: float32[32, 8], C: float32[30, 8]):
-    for i in range(30, name="PE"):
-        buf_C: float32[8]
-        for j_init in range(8):
-            buf_C[j_init] = C[i, j_init]
-        for k in range(32):
-            for j in range(8):
-                buf_C[j] += A[i, k] * B[k, j]
-        for j_back in range(8):
-            C[i, j_back] = buf_C[j_back]
+    for i.outer in range(8, name="PE"):
+        for i.inner in range(4):
+            if 4 * i.outer + i.inner <= 29:
+                buf_C: float32[8]
+                for j_init in range(8):
+                    buf_C[j_init] = C[4 * i.outer + i.inner, j_init]
+                for k in range(32):
+                    for j in range(8):
+                        buf_C[j] += A[4 * i.outer + i.inner, k] * B[k, j]
+                for j_back in range(8):
+                    C[4 * i.outer + i.inner, j_back] = buf_C[j_back]"""
    )


def test_diff_of_a_step_that_is_not_there() -> None:
    with pytest.raises(ScheduleError, match=r"^there is no step 5: the schedule has 5 steps$"):
        scheduled().diff(5)


NAMED_CALL = """
module attributes {allo.top = "top"} {
  func.func @f(%a: memref<4xi32> {allo.name = "a"}) {
    %c = arith.constant 1 : i32
    affine.store %c, %a[0] : memref<4xi32>
    return
  }
  func.func @top(%a: memref<4xi32> {allo.name = "a"}) {
    call @f(%a) {allo.name = "first"} : (memref<4xi32>) -> ()
    return
  }
}
"""


def test_a_call_without_result_may_have_a_name() -> None:
    a = np.zeros(4, np.int32)
    allo.Schedule.from_mlir(NAMED_CALL).build()(a)
    np.testing.assert_array_equal(a, [1, 0, 0, 0])
