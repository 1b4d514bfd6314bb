"""What the dialect library tells of functions: which operations are there, are two the same, what is not valid."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from mlir import ir

from allo import _mlir
from allo.errors import InternalError
from allo.ir.context import context
from allo.ir.module import Module
from allo.ir.states import FinishedModule
from allo.ir.walk import array_operations, entry_block, loops_of, operations, statements

TEXT = """
func.func private @leaf(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i] : memref<8xf32>
    affine.store %x, %A[%i] : memref<8xf32>
  } {allo.name = "i", allo.nest = "S"}
  return
}
func.func @top(%A: memref<8xf32>, %n: index) {
  %T = memref.alloc() {allo.name = "T"} : memref<8xf32>
  affine.for %i = 0 to 4 {
    scf.for %j = %i to %n step %n {
      %x = memref.load %A[%j] : memref<8xf32>
      memref.store %x, %T[%j] : memref<8xf32>
    } {allo.name = "j"}
    func.call @leaf(%A) : (memref<8xf32>) -> ()
  } {allo.name = "i"}
  affine.for %k = 0 to 2 {
  }
  call @leaf(%T) : (memref<8xf32>) -> ()
  return
}
"""


def module(text: str = TEXT) -> Module:
    return Module.parse(f'module attributes {{allo.top = "top"}} {{{text}}}')


def block(made: Module, name: str = "top") -> ir.Block:
    found = entry_block(made.function(name))
    assert found is not None
    return found


def fingerprint(made: Module, name: str, layouts: bool = True, **names: str) -> bytes:
    return _mlir.fingerprint(made.function(name).operation, names, layouts)


def test_operations_are_those_of_the_walk() -> None:
    made = module()
    walked: list[ir.Operation] = []

    def note(op: ir.Operation) -> ir.WalkResult:
        walked.append(op)
        return ir.WalkResult.ADVANCE

    made.function("top").operation.walk(note, ir.WalkOrder.PRE_ORDER)
    assert operations(block(made)) == walked[1:]
    assert [op.name for op in statements(block(made))] == [
        "memref.alloc", "affine.for", "affine.for", "func.call", "func.return",
    ]  # fmt: skip


def test_operations_by_name() -> None:
    made = module()
    found = operations(block(made), "func.call", "scf.for")
    assert [op.name for op in found] == ["scf.for", "func.call", "func.call"]
    assert operations(block(made), "arith.addf") == []
    assert [(op.name, name) for op, name in array_operations(block(made), "func.call")] == [
        ("memref.alloc", "T"), ("func.call", None), ("func.call", None),
    ]  # fmt: skip


def test_loops_know_what_is_around_them() -> None:
    loops = loops_of(module().function("top"))
    assert [(loop.name, loop.nest, loop.parent and loop.parent.name) for loop in loops] == [
        ("i", "i", None), ("j", "i", "i"), ("loop_2", "loop_2", None),
    ]  # fmt: skip
    assert [(loop.name, loop.nest) for loop in loops_of(module().function("leaf"))] == [("i", "S")]


def test_fingerprints_of_equal_functions_are_equal() -> None:
    """Places in the source, other functions and the names of values are of no matter."""
    made = module()
    other = module("\n\n" + TEXT.replace("%x", "%y").replace("8xf32>) {", "8xf32>) attributes {a = 1} {", 1))
    assert fingerprint(made, "top") == fingerprint(made.clone(), "top") == fingerprint(other, "top")
    assert fingerprint(made, "leaf") != fingerprint(other, "leaf")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0 to 4", "0 to 5"),  # an attribute of the operation
        ('allo.name = "j"', 'allo.name = "k"'),  # one that MLIR does not know
        ("%T[%j]", "%T[%i]"),  # an operand
        ("@leaf(%T)", "@leaf(%A)"),
        ("%i to %n step %n", "%n to %i step %n"),
        ("memref.load %A[%j] : memref<8xf32>", "memref.load %A[%j] {nontemporal = true} : memref<8xf32>"),
        ("  affine.for %k = 0 to 2 {\n  }\n", ""),  # a region
        ("%n: index) {", '%n: index {allo.name = "n"}) {'),
        ("call @leaf(%T)", "call @top_(%T)"),  # a name
    ],
)
def test_fingerprints_of_other_functions_differ(old: str, new: str) -> None:
    external = "func.func private @top_(memref<8xf32>)"
    assert TEXT.count(old) == 1
    assert fingerprint(module(TEXT), "top") != fingerprint(module(TEXT.replace(old, new) + external), "top")


def test_fingerprints_under_other_names() -> None:
    made, other = module(), module(TEXT.replace("@leaf", "@leaf_1").replace("@top", "@top_1"))
    assert fingerprint(made, "top") != fingerprint(other, "top_1")
    assert fingerprint(made, "top", leaf="leaf_1") != fingerprint(other, "top_1")
    assert fingerprint(made, "top", leaf="leaf_1", top="top_1") == fingerprint(other, "top_1")
    _mlir.rename_symbols(made.function("top").operation, {"leaf": "leaf_1", "top": "top_1", "n": "m"})
    assert fingerprint(made, "top_1") == fingerprint(other, "top_1")


def test_fingerprints_without_layouts() -> None:
    divided = TEXT.replace("memref<8xf32>", "memref<8xf32, #allo.partition<[cyclic 2]>>")
    made, other = module(), module(divided)
    assert fingerprint(made, "top") != fingerprint(other, "top")
    assert fingerprint(made, "top", layouts=False) == fingerprint(other, "top", layouts=False)
    strided = module(TEXT.replace("memref<8xf32>", "memref<8xf32, strided<[2]>>"))
    assert fingerprint(made, "top", layouts=False) != fingerprint(strided, "top", layouts=False)


def test_a_draft_is_verified_where_it_changed() -> None:
    before = FinishedModule(module().mlir)
    assert before.draft().finished().parts == before.parts
    draft = before.draft()
    top = draft.function("top").operation
    top.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [], context()), context())
    with pytest.raises(InternalError, match=r"(?s)the module is not valid: .*entry block must have 0"):
        draft.finished()


def test_a_draft_is_verified_where_it_calls_what_changed() -> None:
    draft = FinishedModule(module().mlir).draft()
    draft.function("leaf").operation.erase()
    with pytest.raises(InternalError, match=r"(?s)not valid: .*'leaf' does not reference a valid function"):
        draft.finished()


def test_a_draft_is_verified_where_another_type_is_called() -> None:
    """The caller is as it was, and calls what takes one value more now."""
    draft = FinishedModule(module().mlir).draft()
    leaf = draft.function("leaf").operation
    body = leaf.regions[0].blocks[0]
    body.add_argument(ir.IndexType.get(context()), leaf.location)
    kinds = [argument.type for argument in body.arguments]
    leaf.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context())
    with pytest.raises(InternalError, match=r"(?s)not valid: .*incorrect number of operands for callee"):
        draft.finished()


def test_a_draft_may_add_rename_and_move_functions() -> None:
    draft = FinishedModule(module().mlir).draft()
    top, leaf = draft.function("top").operation, draft.function("leaf").operation
    copy = leaf.clone(ir.InsertionPoint(leaf))
    copy.attributes["sym_name"] = ir.StringAttr.get("bud", context())
    top.attributes["sym_name"] = ir.StringAttr.get("crown", context())
    top.move_before(copy)
    made = draft.finished()
    assert made.names() == ["crown", "bud", "leaf"] == [f.name.value for f in made.functions()]
    assert sorted(draft.changed) == ["bud", "crown"] and made.parts["leaf"] is draft.before.parts["leaf"]
    assert draft.before.names() == ["leaf", "top"] == [f.name.value for f in draft.before.functions()]


@pytest.mark.parametrize("find", [operations, statements, lambda b: [loop.op for loop in loops_of(b.owner)]])
def test_operations_keep_their_module(find: Callable[[ir.Block], list[ir.Operation]]) -> None:
    gc.collect()
    before = context()._get_live_module_count()
    found = find(block(module()))
    gc.collect()
    assert context()._get_live_module_count() == before + 1
    assert [op.name for op in found][-1] in ("func.return", "affine.for")
    del found
    gc.collect()
    assert context()._get_live_module_count() == before
