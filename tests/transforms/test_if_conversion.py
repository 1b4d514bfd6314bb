"""`allo-if-conversion`: what may run always does, branches become choices, and what may trap or write stays guarded."""

import pytest

from .compiled import on_function


def converted(body: str, arguments: str = "%c: i1, %x: i32, %y: i32, %A: memref<8xi32>, %i: index") -> str:
    return on_function(f"func.func @f({arguments}) {{\n{body}\nreturn }}", "allo-if-conversion")


def test_a_branch_that_only_computes_becomes_a_choice() -> None:
    text = converted("""
      %0 = scf.if %c -> (i32) {
        %1 = arith.addi %x, %y : i32
        scf.yield %1 : i32
      } else {
        scf.yield %y : i32
      }
      memref.store %0, %A[%i] : memref<8xi32>""")
    assert text.splitlines() == [
        "%0 = arith.addi %arg1, %arg2 : i32",
        "%1 = arith.select %arg0, %0, %arg2 : i32",
        "memref.store %1, %arg3[%arg4] : memref<8xi32>",
    ]


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_quotients_by_what_may_be_0_stay_guarded(name: str) -> None:
    text = converted(f"scf.if %c {{ %0 = arith.{name} %x, %y : i32\n memref.store %0, %A[%i] : memref<8xi32> }}")
    assert text.startswith("scf.if") and text.index("scf.if") < text.index(name)


@pytest.mark.parametrize(("divisor", "always"), [(3, True), (0, False), (-1, False)])
def test_quotients_by_constants(divisor: int, always: bool) -> None:
    text = converted(f"""
      %d = arith.constant {divisor} : i32
      scf.if %c {{
        %0 = arith.divsi %x, %d : i32
        memref.store %0, %A[%i] : memref<8xi32>
      }}""")
    assert (text.index("divsi") < text.index("scf.if")) == always


@pytest.mark.parametrize(("mark", "always"), [("", False), (" {allo.x_inside}", True)])
def test_loads_run_always_only_if_they_are_inside_of_their_array(mark: str, always: bool) -> None:
    text = converted(f"""
      scf.if %c {{
        %0 = memref.load %A[%i]{mark} : memref<8xi32>
        memref.store %0, %A[%i] : memref<8xi32>
      }}""")
    assert (text.index("memref.load") < text.index("scf.if")) == always


def test_a_load_stays_behind_a_store_to_its_array() -> None:
    text = converted("""
      scf.if %c {
        memref.store %x, %A[%i] : memref<8xi32>
        %0 = memref.load %A[%i] {allo.x_inside} : memref<8xi32>
        memref.store %0, %A[%i] : memref<8xi32>
      }""")
    assert text.index("scf.if") < text.index("memref.load")


def test_two_stores_to_one_place_become_one() -> None:
    text = converted("""
      scf.if %c {
        memref.store %x, %A[%i] : memref<8xi32>
      } else {
        memref.store %y, %A[%i] : memref<8xi32>
      }""")
    assert text.splitlines() == [
        "%0 = arith.select %arg0, %arg1, %arg2 : i32",
        "memref.store %0, %arg3[%arg4] : memref<8xi32>",
    ]


def test_stores_to_arrays_in_one_branch_stay_guarded() -> None:
    assert converted("scf.if %c { memref.store %x, %A[%i] : memref<8xi32> }").startswith("scf.if")


def test_a_variable_keeps_its_value_if_the_condition_does_not_hold() -> None:
    text = converted("""
      %v = memref.alloc() : memref<i32>
      scf.if %c { affine.store %x, %v[] : memref<i32> } else { }
      %0 = affine.load %v[] : memref<i32>
      memref.store %0, %A[%i] : memref<8xi32>""")
    assert text.splitlines()[1:4] == [
        "%0 = affine.load %alloc[] : memref<i32>",
        "%1 = arith.select %arg0, %arg1, %0 : i32",
        "affine.store %1, %alloc[] : memref<i32>",
    ]


def test_stores_to_a_variable_keep_their_order() -> None:
    """The second one may not pass what reads the variable in the branch."""
    text = converted("""
      %v = memref.alloc() : memref<i32>
      scf.if %c {
        func.call @g(%v) : (memref<i32>) -> ()
        affine.store %x, %v[] : memref<i32>
      }""".replace("func.call @g(%v) : (memref<i32>) -> ()", "memref.copy %v, %v : memref<i32> to memref<i32>"))
    assert text.index("scf.if") < text.index("affine.store")


def test_conditions_on_loops_are_computed() -> None:
    text = converted("""
      %0 = affine.if affine_set<(d0) : (d0 - 3 >= 0, d0 - 5 == 0)>(%i) -> i32 {
        affine.yield %x : i32
      } else {
        affine.yield %y : i32
      }
      memref.store %0, %A[%i] : memref<8xi32>""")
    assert "affine.if" not in text and "arith.cmpi sge" in text and "arith.cmpi eq" in text and "arith.andi" in text


def test_inner_branches_first() -> None:
    text = converted("""
      scf.if %c {
        %0 = scf.if %c -> (i32) {
          scf.yield %x : i32
        } else {
          scf.yield %y : i32
        }
        memref.store %0, %A[%i] : memref<8xi32>
      }""")
    assert text.index("arith.select") < text.index("scf.if") and text.count("scf.if") == 1


def test_what_has_regions_or_effects_stays() -> None:
    text = converted("""
      scf.if %c {
        affine.for %k = 0 to 8 {
          affine.store %x, %A[%k] : memref<8xi32>
        }
      }""")
    assert text.index("scf.if") < text.index("affine.for")
