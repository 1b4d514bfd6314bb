"""`allo-cpu-locality`: the loop orders it makes, the ones it refuses, and that no result changes by a bit."""

import random

import numpy as np
import pytest

from tests.seeds import sweep

from .compiled import Compiled, on_function, run_passes, skeleton
from .nests import SIZE, accumulate, copy, function, nest

ORDER_ONLY = "allo-cpu-locality{jam=1 outer-jam=1}"
PRODUCT = accumulate("C i j", "A i k", "B k j")


def reshaped(text: str, passes: str = ORDER_ONLY) -> str:
    return skeleton(on_function(text, f"{passes},canonicalize"))


def names(text: str, passes: str = ORDER_ONLY) -> str:
    """Names of the loops in the order in which they close, innermost first."""
    body = on_function(text, passes)
    return " ".join(line.split('"')[1] for line in body.splitlines() if "allo.name" in line)


def test_innermost_loop_becomes_contiguous() -> None:
    assert names(function(nest("ijk", PRODUCT), matrices="ABC")) == "j k i"


def test_column_walk_is_turned() -> None:
    assert names(function(nest("ij", accumulate("x i", "A j i", "y j")), matrices="A", vectors="xy")) == "i j"


@pytest.mark.parametrize("statement", [accumulate("x i", "A i j", "y j"), copy("B i j", "A j i")])
def test_tie_keeps_the_order(statement: str) -> None:
    assert names(function(nest("ij", statement), matrices="AB", vectors="xy")) == "j i"


def test_imperfect_nest_is_distributed() -> None:
    start = f"affine.store %zero, %C[%i, %j] : memref<{SIZE}x{SIZE}xf32>"
    text = function(nest("ij", start + nest("k", PRODUCT)), matrices="ABC")
    assert (
        reshaped(text)
        == """\
affine.for %arg3 = 1 to 23
  affine.for %arg4 = 1 to 23
    affine.store %cst, %arg2[%arg3, %arg4]
  affine.for %arg4 = 1 to 23
    affine.for %arg5 = 1 to 23
      affine.store %4, %arg2[%arg3, %arg5]"""
    )


def test_statement_after_the_inner_loop() -> None:
    text = function(nest("ij", nest("k", PRODUCT) + copy("D i j", "C i j")), matrices="ABCD")
    assert names(text) == "j k j i"


def test_distribution_against_a_dependence_is_refused() -> None:
    # The copy needs the sum of this j before the next j starts to read what the copy wrote.
    body = nest("k", accumulate("C i j", "A i k", "B k j")) + copy("A i j", "C i j")
    assert names(function(nest("ij", body), matrices="ABC")) == "k j i"


def test_interchange_against_a_dependence_is_refused() -> None:
    # (i, j) reads what (i - 1, j + 1) wrote.
    forbidden = "%m = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)\n%n = affine.apply affine_map<(d0) -> (d0 + 1)>(%j)"
    text = function(nest("ij", forbidden + copy("A j i", "A n m")), matrices="A")
    assert names(text) == "j i"
    allowed = "%m = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)"
    assert names(function(nest("ij", allowed + copy("A j i", "A j m")), matrices="A")) == "i j"


def test_bounds_that_depend_on_the_moved_loop() -> None:
    text = function(
        nest(["i", "j 0 to affine_map<(d0) -> (d0)>(%i)"], accumulate("x i", "A j i", "y j")),
        matrices="A",
        vectors="xy",
    )
    assert names(text) == "j i"


@pytest.mark.parametrize(
    "mark", ["allo.scheduled", "allo.unroll = 2 : i32", "allo.parallel", "allo.pipeline = 1 : i32"]
)
def test_scheduled_nest_is_left_alone(mark: str) -> None:
    text = function(nest("ij", nest("k", PRODUCT, mark)), matrices="ABC")
    assert reshaped(text, "allo-cpu-locality") == skeleton(on_function(text, "canonicalize"))


@pytest.mark.parametrize("name", ["k.outer", "j_k_fused"])
def test_names_of_loops_say_nothing(name: str) -> None:
    text = function(nest("ijk", PRODUCT), matrices="ABC").replace('allo.name = "k"', f'allo.name = "{name}"')
    assert names(text) == f"j {name} i"


def test_calls_are_left_alone() -> None:
    call = "func.call @g() : () -> ()\n"
    text = "func.func private @g()\n" + function(nest("ij", call + nest("k", PRODUCT)), matrices="ABC")
    assert str(run_passes(text, f"canonicalize,func.func({ORDER_ONLY})")) == str(
        run_passes(text, "canonicalize")
    )


def test_other_subscripts_are_left_alone() -> None:
    gather = f"%g = memref.load %C[%j, %i] : memref<{SIZE}x{SIZE}xf32>\n"
    text = function(nest("ijk", gather + PRODUCT), matrices="ABC")
    assert names(text) == "k j i"


def test_scalar_between_the_loops_is_not_cut_off() -> None:
    # The loaded value is used on both sides of the cut; loading it again later could give another one.
    load = f"%v = affine.load %D[%i, %j] : memref<{SIZE}x{SIZE}xf32>\n"
    use = f"affine.store %v, %D[%i, %j] : memref<{SIZE}x{SIZE}xf32>"
    text = function(nest("ij", load + nest("k", PRODUCT) + use), matrices="ABCD")
    assert names(text) == "k j i"


def test_local_sum_becomes_an_array() -> None:
    scalar = "%q = memref.alloc() : memref<f32>\naffine.store %zero, %q[] : memref<f32>"
    body = scalar + nest("k", accumulate("q", "A i k", "B k j")) + copy("C i j", "q")
    assert (
        reshaped(function(nest("ij", body), matrices="ABC"))
        == """\
affine.for %arg3 = 1 to 23
  affine.for %arg4 = 1 to 23
    affine.store %cst, %alloc[%arg4 - 1]
  affine.for %arg4 = 1 to 23
    affine.for %arg5 = 1 to 23
      affine.store %4, %alloc[%arg5 - 1]
  affine.for %arg4 = 1 to 23
    affine.store %0, %arg2[%arg3, %arg4]"""
    )


def test_local_of_one_block_becomes_a_value() -> None:
    store = "\n%q = memref.alloc() : memref<f32>\naffine.store %zero, %q[] : memref<f32>"
    text = function(
        nest("ij", store + accumulate("q", "A i j", "B i j") + copy("C i j", "q")), matrices="ABC"
    )
    assert "alloc" not in on_function(text, ORDER_ONLY)


def test_local_read_before_it_is_written_is_left_alone() -> None:
    body = (
        "%q = memref.alloc() : memref<f32>"
        + nest("k", accumulate("q", "A i k", "B k j"))
        + copy("C i j", "q")
    )
    assert names(function(nest("ij", body), matrices="ABC")) == "k j i"


def test_jam_keeps_sums_in_registers() -> None:
    text = function(nest("ij", accumulate("x i", "A i j", "y j")), matrices="A", vectors="xy")
    assert (
        reshaped(text, "allo-cpu-locality{jam=2}")
        == """\
affine.for %arg3 = 1 to 23 step 2
  affine.for %arg4 = 1 to 23
    affine.store %4, %arg1[%arg3]
    affine.store %9, %arg1[%arg3 + 1]"""
    )


def test_jam_of_two_levels() -> None:
    body = on_function(function(nest("ikj", PRODUCT), matrices="ABC"), "allo-cpu-locality{jam=2 outer-jam=2}")
    assert body.count("step 2") == 2
    assert body.count("affine.store") == 4


def test_jam_with_a_clean_up_loop() -> None:
    text = function(nest(["i 0 to 23", "j"], accumulate("x i", "A i j", "y j")), matrices="A", vectors="xy")
    assert "step 4" in reshaped(text, "allo-cpu-locality")
    assert names(text, "allo-cpu-locality") == "j i j i"


def triangle(start: int) -> str:
    """Sums over k, which stays innermost: all of its accesses are contiguous."""
    rows = f"j {start} to affine_map<(row) -> (row)>(%i)"
    text = function(nest(["i", rows, "k"], accumulate("C i j", "A i k", "A j k")), matrices="AC")
    return on_function(text, "allo-cpu-locality")


def test_jam_of_a_triangle() -> None:
    text = triangle(0)
    assert text.count("step 4") == 1
    assert text.count("affine.store") == 4 + 1  # and the clean-up loop


def test_rows_that_may_count_backwards_are_not_jammed() -> None:
    # From 5 to 1, rounded down to whole groups of 4, is nothing; the clean-up loop would start below 5.
    assert "step" not in triangle(5)


def test_jam_against_a_dependence_is_refused() -> None:
    # y of one row is read by the sum of the next row, and written after the sum of this one.
    rows = nest("j", accumulate("x i", "A i j", "y j")) + nest(["k"], accumulate("y k", "A i k", "x i"))
    text = function(nest("i", rows), matrices="A", vectors="xy")
    assert "step" not in on_function(text, "allo-cpu-locality{jam=2}")


class RandomNest:
    """A function with nests of two or three loops over matrices X, Y and vectors V, W; its values stay small."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.scalars: list[str] = []  # local to the loop bodies around the statement

    def text(self) -> str:
        body = "".join(
            self.loop([], self.random.choice([2, 3, 3])) for _ in range(self.random.choice([1, 2]))
        )
        return f"""
        func.func @f(%X: memref<24x24xf32>, %Y: memref<24x24xf32>, %V: memref<24xf32>, %W: memref<24xf32>) {{
          %half = arith.constant 0.5 : f32
          %quarter = arith.constant 0.25 : f32
          {body}
          return
        }}"""

    def loop(self, outer: list[str], depth: int) -> str:
        variable = self.fresh()
        low = outer[-1] if outer and self.random.random() < 0.1 else "1"
        inner = [*outer, variable]
        parts, visible = [], len(self.scalars)
        if self.random.random() < 0.3:
            scalar = self.fresh()
            parts = [
                f"{scalar} = memref.alloc() : memref<f32>\naffine.store %half, {scalar}[] : memref<f32>\n"
            ]
            self.scalars.append(scalar)
        if depth == 1:
            parts += [self.statement(inner) for _ in range(self.random.choice([1, 2]))]
        else:
            parts += [self.statement(inner)] if self.random.random() < 0.3 else []
            parts += [self.loop(inner, depth - 1) for _ in range(self.random.choice([1, 1, 2]))]
            parts += [self.statement(inner)] if self.random.random() < 0.3 else []
        del self.scalars[visible:]
        low = f"affine_map<(d0) -> (d0)>({low})" if low != "1" else low
        return f"affine.for {variable} = {low} to {self.random.choice([17, 18, 21])} {{\n{''.join(parts)}}}\n"

    def statement(self, variables: list[str]) -> str:
        target, left, right = (self.access(variables) for _ in range(3))
        if self.random.random() < 0.5:
            left = target
        a, b, c, d, e = (self.fresh() for _ in range(5))
        return f"""
          {a} = affine.load {left}
          {b} = affine.load {right}
          {c} = arith.mulf {a}, %half : f32
          {d} = arith.mulf {b}, %quarter : f32
          {e} = arith.{self.random.choice(["addf", "subf"])} {c}, {d} : f32
          affine.store {e}, {target}
        """

    def access(self, variables: list[str]) -> str:
        if self.scalars and self.random.random() < 0.3:
            return f"{self.random.choice(self.scalars)}[] : memref<f32>"
        buffer = self.random.choice("XYVW")
        rank = 2 if buffer in "XY" else 1
        subscripts = [
            self.random.choice(variables) + self.random.choice(["", "", " + 1", " - 1"]) for _ in range(rank)
        ]
        return f"%{buffer}[{', '.join(subscripts)}] : memref<{'x'.join(['24'] * rank)}xf32>"

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"


def results(text: str, passes: str) -> list[np.ndarray]:
    generator = np.random.default_rng(3)
    arrays = [generator.random(shape, dtype=np.float32) for shape in ((24, 24), (24, 24), (24,), (24,))]
    Compiled(text, passes)(*arrays)
    return arrays


@sweep(22, quick=1)
def test_random_nests_keep_every_bit(seed: int) -> None:
    changed = 0
    for number in range(15 * seed, 15 * (seed + 1)):
        text = RandomNest(number).text()
        plain = on_function(text, "canonicalize")
        if on_function(text, "canonicalize,allo-cpu-locality,allo-vectorize") == plain:
            continue
        changed += 1
        before = results(text, "")
        after = results(text, "canonicalize,func.func(allo-cpu-locality,allo-vectorize)")
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)), text
    assert changed > 3
