"""`import allo` loads what every program needs, and the rest when it is first asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import allo


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_a_cpu_program_loads_only_what_it_needs() -> None:
    program = "\n".join(
        [
            "import sys, allo",
            "first = [*sys.modules]",
            "from allo.ir.types import int32",
            "def f(a: int32) -> int32:",
            "    return a + 1",
            "print(allo.customize(f).build()(2), *first, 'then', *sys.modules)",
        ]
    )
    # the source of a kernel must be a file
    kernel = f"import linecache; s = {program!r}; linecache.cache['k'] = (len(s), None, s.splitlines(True), 'k')"
    result, *names = run(f"{kernel}\nexec(compile(s, 'k', 'exec'))").split()
    first, loaded = set(names[: names.index("then")]), set(names)
    assert result == "3" and "allo.customize" in first
    later = {"allo.backend.hls", "allo.backend.external", "allo.estimate", "allo.verify", "allo.target"}
    assert not loaded & later
    assert not first & {"torch", "matplotlib", "z3", "rich", "typer", "scipy", "ortools"}
    assert not first & {"allo.backend.cpu", "allo.compose", "allo.poly.hangs"}


def test_arrays_of_processors_load_no_backends_for_fpgas() -> None:
    from allo.backend.registry import backend_called, backends

    program = "\n".join(
        [
            "import sys, allo, allo.dataflow as df",
            "from allo.ir.types import int32",
            "@df.region()",
            "def top(A: int32[4]):",
            "    @df.kernel(mapping=[1], args=[A])",
            "    def f(a: int32[4]):",
            "        a[0] = 1",
            "df.build(top, target='aie')",
            "print(*sys.modules)",
        ]
    )
    kernel = f"import linecache; s = {program!r}; linecache.cache['k'] = (len(s), None, s.splitlines(True), 'k')"
    loaded = set(run(f"{kernel}\nexec(compile(s, 'k', 'exec'))").split())
    assert "allo.backend.aie" in loaded and not loaded & {"allo.backend.hls", "allo.backend.rtl"}
    for backend in backends():
        assert all(backend_called(name) is backend for name in backend.names)


@pytest.mark.parametrize("name", allo.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert name in dir(allo) and getattr(allo, name) is not None


def test_names_that_are_loaded_later_are_what_they_say() -> None:
    from allo.backend.external.module import IPModule
    from allo.backend.hls import HLSModule
    from allo.equivalence import verify
    from allo.estimate import Estimate, estimate

    assert (allo.verify, allo.estimate, allo.Estimate) == (verify, estimate, Estimate)
    assert (allo.HLSModule, allo.IPModule) == (HLSModule, IPModule)


@pytest.mark.parametrize("before", ["", "allo.verify, allo.estimate"])
def test_a_function_stays_one_when_its_package_is_loaded(before: str) -> None:
    load = "import allo.verify.affine.bounds, allo.estimate.resources"
    program = f"import allo; {before}\n{load}\nprint(type(allo.verify).__name__, type(allo.estimate).__name__)"
    assert run(program) == "function function\n"


def test_packages_that_are_loaded_later() -> None:
    program = "import allo; print(*dir(allo)); print(allo.backend.hls.is_available.__name__, allo.target.__name__)"
    names, packages = run(program).splitlines()
    assert packages == "is_available allo.target" and {"verify", "target", "HLSModule"} <= set(names.split())


@pytest.mark.parametrize("module", ["allo", "allo.backend"])
def test_an_unknown_name(module: str) -> None:
    with pytest.raises(AttributeError) as caught:
        _ = import_module(module).nothing
    assert str(caught.value) == f"module '{module}' has no attribute 'nothing'"


def test_packages_that_pages_name_are_there_after_a_bare_import() -> None:
    names = ["dataflow", "equivalence", "importers", "layout", "library", "mapping", "passes", "report", "tile"]
    program = f"import allo; print(*(getattr(allo, name).__name__ for name in {names}))"
    assert run(program).split() == [f"allo.{name}" for name in names]
