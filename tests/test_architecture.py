"""The rules of docs/architecture.md that a machine can check: layers, sizes, public names only in the examples."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "allo"

# A package imports only from layers below its own; packages of one layer do not know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("allo.errors", "allo._mlir", "allo.messages", "allo.picture"),
    ("allo.tracebacks",),
    ("allo.ir", "allo.absent"),
    ("allo.layout",),
    ("allo.frontend", "allo.poly", "allo.target"),
    ("allo.customize",),
    ("allo.compose", "allo.verify", "allo.dataflow", "allo.timing"),
    ("allo.mapping", "allo.estimate"),
    ("allo.backend",),
    ("allo.backend.checked",),
    ("allo.backend.arguments",),
    ("allo.backend.external",),
    ("allo.backend.cpu", "allo.backend.hls", "allo.backend.rtl"),
    ("allo.backend.aie", "allo.backend.mesh"),  # their models run code of the CPU
    ("allo.backend.metalium",),  # emits what mesh has read
    ("allo.backend.ip", "allo.backend.llvm", "allo.backend.vitis", "allo.backend.registry"),
    ("allo.equivalence",),
    ("allo.build", "allo.report", "allo.search"),
    ("allo.cli",),
    ("allo.importers",),
    # names of published Allo for parts of ours, and for its own, which are not here
    ("allo", "allo.ir.transform", "allo.ir.use_def", "allo.ir.utils"),
    ("allo.library",),
)
# Methods of a schedule that are sugar for a layer above: (file, function) -> modules they may import.
UPWARD = {
    ("allo/customize/uses.py", "build"): ("allo.build",),
    ("allo/customize/size_fifos.py", "size_fifos"): ("allo.estimate.fifo_sizes",),
    ("allo/customize/place_arrays.py", "place_arrays"): ("allo.estimate.memories",),
    ("allo/customize/place_stages.py", "place_stages"): ("allo.estimate.dies", "allo.mapping.dies"),
    ("allo/customize/unroll_stages.py", "_planned"): ("allo.estimate.stage_costs",),
    ("allo/customize/schedule.py", "compose"): ("allo.compose",),
    ("allo/customize/uses.py", "verify"): ("allo.equivalence",),
    ("allo/customize/uses.py", "graph"): ("allo.compose",),
    ("allo/customize/uses.py", "draw"): ("allo.report",),
    ("allo/estimate/report/result.py", "to_html"): ("allo.report.design_page",),
    ("allo/customize/uses.py", "draw_loops"): ("allo.report",),
    ("allo/customize/uses.py", "draw_banks"): ("allo.report",),
    ("allo/customize/uses.py", "report"): ("allo.estimate.estimate", "allo.report"),
    ("allo/customize/schedule.py", "from_mlir"): ("allo.backend.external.given",),
    ("allo/dataflow/__init__.py", "build"): ("allo.build",),
    ("allo/verify/__init__.py", "__getattr__"): ("allo.equivalence",),
    ("allo/frontend/__init__.py", "__getattr__"): ("allo.importers.published",),
}
# Inside a package: what each folder (or file) is built on stands before it; what is not named is built on all of them.
INSIDE: dict[str, tuple[str, ...]] = {
    "allo.frontend": ("read", "typing", "library", "dsl regions tiles", "check", "emit", "program", "reference"),
    "allo.customize": ("function", "step", "module", "nest", "array", "fifo"),
    "allo.verify": ("result deadline", "program", "certificate", "affine concrete run"),
    "allo.timing": (
        "reason", "problem", "roles", "interval", "reservations", "binding", "schedule", "placement check",
        "leveling copy_starts", "modulo exact", "pipeline", "vendor_rules", "control", "rewrites",
    ),
    "allo.estimate": ("report", "stated", "traces", "advice", "rules"),
    "allo.backend.hls": ("requested", "text", "vendors", "interface", "csim", "project"),
    "allo.backend.metalium": (
        "statements", "branches", "elements", "lowering", "nest", "buffers", "compute", "movement", "host", "project",
    ),
    "allo.importers": ("graph", "operators", "einsum"),
    "allo.backend.rtl": (
        "library collector", "netlist simulate synthesise", "lowering grids", "interface",
        "extents host bus_host left loops stuck", "chip units", "module",
    ),
}

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_CIRCLE = 3  # files that import each other
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
TWICE = {  # the typed tree, and text of C++: no stage knows both
    "Expr": ["allo/backend/hls/text/expression.py", "allo/frontend/typing/nodes.py"],
}
NO_NOUNS = ("Decides ", "Emits ", "Reads ", "Turns ", "Refuses ", "Builds ", "Whether ", "How ", "What ", "Which ")
GENERATED = ("_allo_ops_gen.py", "_allo_enum_gen.py")

# Who reads, by name, which operations load, store, put and get; all others ask `allo.ir.access` and `allo.ir.effects`.
ACCESS = re.compile(r"(affine|memref)?\.(load|store)|memref\.copy|allo\.stream_(put|get|empty|full)?")
READS_OPERATIONS = {
    "allo/ir/": "",
    "allo/backend/hls/": "emits them",
    "allo/backend/aie/": "emits them",
    "allo/backend/cpu/": "emits them",
    "allo/verify/concrete/": "emits them",
    "allo/verify/certificate/reading.py": "checks what the model has read, without its reader",
}


def sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.name not in GENERATED]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> frozenset[str]:
    return frozenset(module_name(path) for path in PACKAGE.rglob("*.py"))


@cache
def package_of(module: str) -> str:
    """The entry of LAYERS that `module` belongs to: the longest that is a prefix of it."""
    entries = [entry for layer in LAYERS for entry in layer]
    matches = [entry for entry in entries if module == entry or module.startswith(entry + ".")]
    return max(matches, key=len)


def level(package: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if package in layer)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The syntax tree of a file, from the module on."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def source_of(path: Path, node: ast.ImportFrom) -> str:
    """The module that an import of `path` names."""
    parts = module_name(path).split(".") if path.name == "__init__.py" else module_name(path).split(".")[:-1]
    base = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*base, *(node.module or "").split(".")]).strip(".")


@cache
def imports(path: Path) -> tuple[tuple[str, ast.AST], ...]:
    """The modules of this project that a file imports, with the statement."""
    found: list[tuple[str, ast.AST]] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += ((alias.name, node) for alias in node.names if alias.name.split(".")[0] == "allo")
        elif isinstance(node, ast.ImportFrom):
            source = source_of(path, node)
            if source.split(".")[0] == "allo":
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    found.append((inner if inner in modules() else source, node))
    return tuple(found)


def upward_exception(path: Path, node: ast.AST, target: str) -> bool:
    return any(
        function.lineno <= node.lineno <= (function.end_lineno or 0)  # type: ignore[attr-defined]
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef) and target in UPWARD.get((relative(path), function.name), ())
    )


def test_imports_go_downwards() -> None:
    wrong = []
    for path in sources():
        own = package_of(module_name(path))
        wrong += [
            f"{relative(path)}:{node.lineno} imports {target}"  # type: ignore[attr-defined]
            for target, node in imports(path)
            if package_of(target) != own
            and level(package_of(target)) >= level(own)
            and not upward_exception(path, node, target)
        ]
    assert not wrong


def import_graph() -> dict[str, set[str]]:
    """What each file imports outside of functions, for run time or for types only."""
    files = {module_name(path): path for path in sources()}
    graph = {}
    for module, path in files.items():
        functions = [node for node in nodes(path) if isinstance(node, ast.FunctionDef)]
        inside = {line for f in functions for line in range(f.lineno, (f.end_lineno or f.lineno) + 1)}
        outside = {target for target, node in imports(path) if node.lineno not in inside}  # type: ignore[attr-defined]
        graph[module] = outside & set(files)
    return graph


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """The files that `start` imports, at first or at second hand."""
    found: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead += graph[module]
    return found


def test_circles_of_imports_are_small() -> None:
    """Files that import each other can only be read together."""
    graph = import_graph()
    reach = {module: reached(graph, module) for module in graph}
    circles = {frozenset(m for m in reach[module] if module in reach[m]) for module in graph}
    assert not [sorted(circle) for circle in circles if len(circle) > MAX_CIRCLE]


def test_class_names_are_unique() -> None:
    """One word a thing: who searches for a class finds one, whatever package it is in."""
    seen: dict[str, list[str]] = {}
    for path in sources():
        module = nodes(path)[0]
        assert isinstance(module, ast.Module)
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name[0] != "_":
                seen.setdefault(node.name, []).append(relative(path))
    assert {name: paths for name, paths in seen.items() if len(paths) > 1} == TWICE


def place_inside(package: str, module: str) -> tuple[int, str]:
    """Where a module stands in INSIDE: the number of its row, and the folder or file of it that it is or is in."""
    first = module.removeprefix(package).removeprefix(".").partition(".")[0]
    rows = INSIDE[package]
    return next(((k, first) for k, row in enumerate(rows) if first in row.split()), (len(rows), ""))


@pytest.mark.parametrize("package", INSIDE)
def test_imports_inside_a_package_go_downwards(package: str) -> None:
    found = []
    for path in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        own_row, own = place_inside(package, module_name(path))
        for target, node in imports(path):
            if target.startswith(f"{package}."):
                row, other = place_inside(package, target)
                if other != own and row >= own_row:
                    found.append(f"{relative(path)}:{node.lineno} imports {target}")  # type: ignore[attr-defined]
    assert not found


def test_folders_inside_packages_are_named() -> None:
    for package, rows in INSIDE.items():
        folder = ROOT / package.replace(".", "/")
        named = {name for row in rows for name in row.split()}
        assert {path.name for path in folder.iterdir() if (path / "__init__.py").exists()} <= named
        assert all((folder / name).is_dir() or (folder / f"{name}.py").exists() for name in named)


def test_file_length() -> None:
    lines = {relative(path): len(path.read_text().splitlines()) for path in sources()}
    assert not {path: n for path, n in lines.items() if n > MAX_FILE_LINES and path not in LONG_FILES}


def test_function_length() -> None:
    long = []
    for path in sources():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES and f"{relative(path)}:{node.name}" not in LONG_FUNCTIONS:
                    long.append(f"{relative(path)}:{node.name}: {lines} lines")
    assert not long


def test_module_docstrings_name_what_is_in_the_file() -> None:
    """A list of the docstrings reads like an index: a noun comes first."""
    for path in sources():
        tree = nodes(path)[0]
        assert isinstance(tree, ast.Module)
        docstring = ast.get_docstring(tree) or ""
        assert (docstring or not tree.body) and not docstring.startswith(NO_NOUNS), relative(path)


def test_only_ir_and_emitters_name_accesses() -> None:
    found = []
    for path in sources():
        if not relative(path).startswith(tuple(READS_OPERATIONS)):
            constants = [node for node in nodes(path) if isinstance(node, ast.Constant)]
            named = [node for node in constants if isinstance(node.value, str) and ACCESS.fullmatch(node.value)]
            found += [f"{relative(path)}:{node.lineno} names {node.value}" for node in named]
    assert not found


def test_partitions_are_read_in_one_place() -> None:
    """All others ask `allo.ir.partitions`, and `allo.layout` what a partition means."""
    readers = [relative(path) for path in sources() if "allo_d.PartitionAttr" in path.read_text()]
    assert readers == ["allo/ir/partitions.py"]


@pytest.mark.parametrize("path", sorted((PACKAGE / "frontend" / "library").glob("*.py")), ids=relative)
def test_operators_know_no_syntax_of_python(path: Path) -> None:
    """Importers call the operators of the library as the checker of kernels does: with typed values."""
    syntax = ("allo.frontend.check.statements", "allo.frontend.typing.scope", "allo.frontend.check.checker")
    wrong = [target for target, _ in imports(path) if target.startswith(syntax)]
    assert not wrong and "import ast" not in path.read_text().splitlines()


def test_exceptions_are_needed() -> None:
    """An exception that no file needs any more is taken off the list."""
    for name in LONG_FILES:
        assert len((ROOT / name).read_text().splitlines()) > MAX_FILE_LINES


PACKAGES = [path for path in sources() if path.name == "__init__.py" and path.parent != PACKAGE]


@pytest.mark.parametrize("path", PACKAGES, ids=relative)
def test_no_file_hides_a_name_of_its_package(path: Path) -> None:
    """`from .a import b` in a package with a file `b.py` means either, whichever is loaded last."""
    files = {entry.stem for entry in path.parent.iterdir() if entry.suffix == ".py" or entry.is_dir()}
    body = ast.parse(path.read_text()).body
    taken = [node for node in body if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module]
    names = [(node.module, alias.asname or alias.name) for node in taken for alias in node.names]
    assert not [name for module, name in names if name in files and module != name]


PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("path", [page for page in PAGES if page.name != "primitives.md"], ids=relative)
def test_lines_of_pages(path: Path) -> None:
    """Prose is easy to compare by lines; blocks of code and tables are as wide as they are."""
    prose, is_code = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code and not line.startswith(("    ", "|", "```")):
            prose.append((number, len(line)))
    assert not [number for number, length in prose if length > 120]


def test_no_vague_module_names() -> None:
    vague = {"helpers.py", "common.py", "misc.py"}  # `allo.utils` is a name of the public API
    assert not [relative(path) for path in sources() if path.name in vague]


@pytest.mark.parametrize("folder", ["polybench", "benchmarks", "examples", "docs"])
def test_public_names_only(folder: str) -> None:
    """What users read as a model reaches into no package of ours below `allo` and its public modules."""
    public = {
        "allo",
        "allo.ir.types",
        "allo.dsl",
        "allo.errors",
        "allo.customize",
        "allo.compose",
        "allo.layout",
        "allo.library",
        "allo.memory",
    }
    public |= {f"allo.library.{name}" for name in ("aie", "gemv", "nn", "reference", "systolic")}
    public |= {"allo.dataflow", "allo.frontend", "allo.backend.hls", "allo.utils", "allo.testing", "allo.passes"}
    public |= {"allo.verify", "allo.verify.certificate", "allo.importers"}
    public |= {"allo.importers.einsum", "allo.mapping.teir", "allo.mapping.teir.npu"}  # docs/einsum.md
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in nodes(path):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            wrong += [
                f"{relative(path)}:{node.lineno} {n}"
                for n in names
                if n.startswith("allo.") and n not in public
            ]
    assert not wrong
