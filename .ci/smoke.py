"""The installed package works away from the repository: a module with every kind of type is made and lowered."""

import sys
from pathlib import Path

from mlir import ir
from mlir.passmanager import PassManager

import allo
from allo import _mlir
from allo._mlir.dialects import allo as dialect

root = Path(sys.argv[1])
for module in (allo, _mlir):
    assert root not in Path(module.__file__).parents, f"{module.__name__} was imported from the repository"

with ir.Context(), ir.Location.unknown():
    assert str(dialect.FixedType.get(8, 4)) == "!allo.fixed<8, 4>"
    text = "func.func private @f(memref<4x!allo.fixed<8, 4>, #allo.partition<[cyclic 2]>>)"
    module = ir.Module.parse(text)
    PassManager.parse("builtin.module(allo-lower-types)").run(module.operation)
    assert "memref<4xi8>" in str(module)
print("the installed package works")
