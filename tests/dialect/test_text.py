"""Round trips of `valid/*.mlir`; the whole message, with its place, of `invalid/*.mlir`."""

from pathlib import Path

import pytest
from mlir import ir

HERE = Path(__file__).parent
EXPECTED = "// expected: "


def files(kind: str) -> list[pytest.param]:
    return [pytest.param(path, id=path.stem) for path in sorted((HERE / kind).glob("*.mlir"))]


def messages(error: ir.MLIRError) -> list[str]:
    """`line:column: message` of each diagnostic."""
    return [
        f"{d.location.start_line}:{d.location.start_col}: {d.message}"
        if hasattr(d.location, "start_line")
        else d.message
        for d in error.error_diagnostics
    ]


@pytest.mark.parametrize("path", files("valid"))
def test_valid(path: Path, context: ir.Context) -> None:
    text = path.read_text()
    module = ir.Module.parse(text)
    assert module.operation.verify()
    printed = str(module)
    if not text.startswith("module"):
        assert printed == "module {\n" + "".join(f"  {line}\n" for line in text.splitlines()) + "}\n"
    else:
        assert printed == text
    assert str(ir.Module.parse(printed)) == printed
    generic = module.operation.get_asm(print_generic_op_form=True)
    assert str(ir.Module.parse(generic)) == printed


@pytest.mark.parametrize("path", files("invalid"))
def test_invalid(path: Path, context: ir.Context) -> None:
    text = path.read_text()
    expected = [line.removeprefix(EXPECTED) for line in text.splitlines() if line.startswith(EXPECTED)]
    with pytest.raises(ir.MLIRError) as error:
        ir.Module.parse(text)
    assert messages(error.value) == expected
