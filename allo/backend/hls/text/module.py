"""Module as one file of HLS C++: includes, constants, functions, callees first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mlir import ir

from ....errors import counted
from ....frontend.emit.given_code import EXTERNAL
from ....ir.access import callee_name
from ....ir.linalg import lower_linalg
from ....ir.module import Module
from ....ir.processes import simulated_regions
from ....ir.states import FinishedModule
from ....ir.types import Struct
from ....ir.walk import entry_block, location_of, operations, statements
from ...checked import REQUIRE
from ...declared import refuse_undefined
from ...headers import templates_directory
from ...instantiate import instantiate
from ...open_arrays import check_open_arrays, pass_extents
from .allocation import shared_callees
from .bits import BitWriter
from .canonical import make_canonical
from .constants import global_text
from .copies import give_copies
from .cxx_types import TypeNames
from .dies import DieFunction, has_placed_stages, mark_stages, placed_functions
from .escape import line_comment, uncommented
from .external import NO_EXTERNAL, ExternalCode, external_code, external_names
from .memory import copy_loops
from .names import Names, identifier
from .operations import MATH
from .outline import outline_tasks
from .sharing import SharingChecks
from .signature import Facts, FunctionText, SignatureWriter
from .single_trips import move_pipelines
from .statements import StatementWriter
from .tasks import PortsWriter
from .twins import OPEN_HEAD, OPEN_NAME, Family, OpenPlaces, Twin, Twins
from .vendor import Vendor

_WORD = re.compile(r"[A-Za-z_]\w*")
# what occurs in code that needs each header of a vendor
_HEADERS = (
    (("ap_int<", "ap_uint<"), "integers"),
    (("ap_fixed<", "ap_ufixed<"), "fixed"),
    (("half ", "half("), "half"),
    (tuple(MATH.values()), "mathematics"),
    (("hls::stream<", "ac_channel<"), "streams"),
)
# functions of the prelude in the order of the file, with what each needs
PRELUDE: dict[str, tuple[str, ...]] = {
    "floor_div": (), "floor_mod": (), "ceil_div": (), "absolute": (), "reversed": (), "from_bits": (),
    "integer_of": (), "to_signed": (), "to_unsigned": (), "maximum": (), "minimum": (), "maximum_number": (),
    "minimum_number": (), "fixed_div": ("integer_of", "floor_div", "from_bits"), "float_bits": (), "half_bits": (),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Emitted:
    """The text of a module: the whole file, the declarations that a header has; of the entry the prototype, its name
    and those of its parameters."""

    code: str
    preamble: str
    prototype: str
    top: str
    parameters: tuple[str, ...]
    structs: tuple[tuple[Struct, str], ...]
    vendor: Vendor
    external: ExternalCode = NO_EXTERNAL
    returns: bool = False  # the entry returns a number; else results are its last arguments
    prelude: frozenset[str] = frozenset()  # the functions in front of the kernels: names of `PRELUDE`, "struct_bits"
    dies: tuple[DieFunction, ...] = ()  # of stages that steps have placed


@cache
def template(name: str) -> str:
    """A text of `lib/templates/hls`."""
    return (templates_directory() / "hls" / name).read_text()


def needed_functions(
    operations: BitWriter, folder: str = "", given: frozenset[str] = frozenset()
) -> tuple[frozenset[str], list[str]]:
    """The functions that the operations need, by name and as texts in their order, without those that are `given`.

    Those of a vendor whose dialect has a `folder` are there if they are written otherwise.
    """
    structs = operations.struct_functions() if "struct_bits" in operations.needs - given else []
    needs = set(operations.needs)
    for name, others in PRELUDE.items():
        if name in needs:
            needs.update(others)
    needs -= given
    texts = []
    for name in PRELUDE:
        if name in needs:
            own = f"code/{folder}/{name}.h"
            exists = bool(folder) and (templates_directory() / "hls" / own).is_file()
            texts.append(template(own if exists else f"code/{name}.h").rstrip())
    return frozenset(needs), [*texts, *(["\n".join(structs).rstrip()] if structs else [])]


def emit(module: Module, vendor: Vendor) -> Emitted:
    """The C++ of `module`.

    Raises TargetError, with the line of the kernel, for what HLS C++ cannot express.
    """
    refuse_undefined(module, (EXTERNAL,))
    check_open_arrays(module, vendor.open_arrays)
    has_dies = has_placed_stages(module)
    if has_dies:
        module = module.clone()
        mark_stages(module)  # functions are renamed
    module = instantiate(module)
    if has_dies:
        mark_stages(module)  # elements of grids
    pass_extents(module)
    lower_linalg(module)
    move_pipelines(module)
    if vendor.tasks_only:
        outline_tasks(module)
    if vendor.canonical:
        make_canonical(module)
        give_copies(module, vendor.name)
    return FileWriter(FinishedModule(module.mlir), vendor).run()


class FileWriter:
    """One module on its way to text."""

    def __init__(self, module: Module, vendor: Vendor) -> None:
        self.module = module
        self.vendor = vendor
        self.types = TypeNames()
        self.operations = BitWriter(self.types, vendor.words)
        taken: set[str] = set()
        self.functions = {
            function.name.value: identifier(function.name.value, taken, function=True)
            for function in module.functions()
        }
        self.functions |= external_names(module, taken)
        self.globals = {
            ir.StringAttr(op.attributes["sym_name"]).value: identifier(
                ir.StringAttr(op.attributes["sym_name"]).value, taken
            )
            for op in (view.operation for view in module.mlir.body.operations)
            if op.name == "memref.global"
        }
        self.names = frozenset({*self.functions.values(), *self.globals.values()})
        self.tasks = _tasks(module)
        self.facts = Facts(module)
        self.processes = simulated_regions(module) if vendor.simulated else {}
        self.twins = Twins(module, templates=vendor.templates and not self.processes)
        self.elements: dict[object, FunctionText] = {}
        self.families: dict[str, Family] = {}  # by the names of functions that are instances of templates

    def run(self) -> Emitted:
        bodies: list[str] = []
        written: list[FunctionText] = []
        external = external_code(self.module, self.functions, self.types, self.vendor.streams.source)
        sharing = SharingChecks(self.module, self.vendor.name)
        self._find_families()
        for function in self._ordered():
            if self.vendor.canonical:
                sharing.check(function)
            if function.name.value in external.prototypes:
                bodies.append(f"{external.prototypes[function.name.value]};")
                continue
            if self.vendor.memory_ports and function.name.value == self.facts.top:
                written.append(PortsWriter(self, function).run())
            elif self._is_written_as_another(function.name.value):
                continue
            else:
                written.append(self.function(function))
            bodies.append("\n".join(written[-1].lines))
        constants = list(self._constants())
        needs, functions = needed_functions(self.operations, self.vendor.dialect.folder)
        structs = self.types.declarations()
        if any("bfloat16" in part for part in (*structs, *constants, *bodies)):
            structs.insert(0, template("code/bfloat16.h"))
        parts = [*structs, *functions, *constants, *bodies]
        preamble = "\n".join([*self._includes("\n".join(parts)), "", *structs])
        parts = [preamble, *parts[len(structs) :]]
        parts = [self.vendor.dialect.checked(part, self.vendor.name).rstrip() for part in parts]
        preamble = "\n\n".join(parts[: 1 + len(functions)])
        code = "\n\n".join(part for part in parts if part) + "\n"
        top = self.functions[self.facts.top]
        last = written[-1] if written else FunctionText("", (), ())
        prototype = self.vendor.dialect.checked(last.prototype, self.vendor.name)
        structs_by_name = tuple(self.types.structs.items())
        entry = entry_block(self.module.function(self.facts.top))
        returns = entry is not None and _returns_number(statements(entry)[-1])
        return Emitted(
            code, preamble, prototype, top, last.parameters, structs_by_name, self.vendor, external, returns, needs,
            placed_functions(self.module, self.functions),
        )  # fmt: skip

    def _ordered(self) -> list[ir.OpView]:
        """Callees first, the entry last; functions that the entry does not reach are left out."""
        done: dict[str, ir.OpView] = {}
        self._visit(self.facts.top, done)
        return list(done.values())

    def _visit(self, name: str, done: dict[str, ir.OpView]) -> None:
        function = self.module.function(name)
        block = entry_block(function)
        for op in operations(block, "func.call") if block is not None else ():
            callee = callee_name(op)
            if callee not in done:
                self._visit(callee, done)
        done[name] = function

    # -- around the functions ----------------------------------------------------------------------

    def _includes(self, text: str) -> list[str]:
        """The headers whose names occur in the rest of the file."""
        dialect = self.vendor.dialect
        kinds = [kind for names, kind in _HEADERS if any(name in text for name in names)]
        simulation = ["allo_sim/simulation.h"] if "allo_sim::" in text else []
        checks = ["allo_sim/require.h"] if f"{REQUIRE}(" in text else []
        own = dict.fromkeys([*dialect.always, *simulation, *checks, *(getattr(dialect, kind) for kind in kinds)])
        return [f"#include <{file}>" for file in (*dialect.standard, *own) if file]

    def _constants(self) -> Iterator[str]:
        lines = []
        for view in self.module.mlir.body.operations:
            op = view.operation
            if op.name == "memref.global":
                symbol = ir.StringAttr(op.attributes["sym_name"]).value
                seen = self._seen_as(symbol)
                if seen is not None:
                    lines.append(global_text(op, seen, self.globals[symbol], self.operations))
        return iter(["\n".join(lines)])

    def _seen_as(self, symbol: str) -> ir.Type | None:
        """The type by which kernels see a constant of integers; None if nothing uses it."""
        for function in self.module.functions():
            block = entry_block(function)
            for op in operations(block, "memref.get_global") if block is not None else ():
                if ir.FlatSymbolRefAttr(op.attributes["name"]).value == symbol:
                    casts = [use.owner.operation for use in op.results[0].uses]
                    cast = next((user for user in casts if user.name == "allo.element_cast"), None)
                    kind: ir.Type = cast.results[0].type if cast is not None else op.results[0].type
                    return kind
        return None

    # -- functions -----------------------------------------------------------------------------------

    def _find_families(self) -> None:
        """Let calls of processing elements that differ in numbers alone call instances of one template."""
        found: dict[object, dict[str, Twin]] = {}
        for function in self._ordered() if self.vendor.templates and not self.processes else ():
            if (twin := self.twins.of(function)) is not None:
                found.setdefault(twin.key, {})[function.name.value] = twin
        for members in found.values():
            first = next(iter(members))
            if len(members) > 1:
                family = Family(self.functions[first], members)
                self.functions |= family.instances()
                self.families |= dict.fromkeys(members, family)

    def _is_written_as_another(self, name: str) -> bool:
        """Whether a function is an instance of a template that is written where the first one stands."""
        family = self.families.get(name)
        return family is not None and name != next(iter(family.members))

    def function(self, function: ir.OpView) -> FunctionText:
        """One function; the text of a processing element may be known from another one."""
        name = function.name.value
        family = self.families.get(name)
        twin = None if self.processes else self.twins.of(function)  # what processes wait for depends on elements
        if twin is None or (family is None and twin.values):
            return self._written(function, self.functions[name], {})
        key = (twin.key, name in self.tasks)
        if key not in self.elements:
            places = twin.places if family is None else family.open_places(twin)
            self.elements[key] = self._written(function, OPEN_NAME, places)
        made = self.elements[key]
        if family is None:
            return made.filled(twin.filling(self.functions[name]))
        return made.filled(family.filling({*self.names, *_WORD.findall("\n".join(made.lines))}))

    def _written(self, function: ir.OpView, called: str, places: OpenPlaces) -> FunctionText:
        """A function that is `called` so."""
        name = function.name.value
        entry = entry_block(function)
        assert entry is not None
        taken = Names(self.names, {self.functions[name]})
        writer = StatementWriter(self.operations, self.vendor, self.globals, self.functions, taken, entry)
        writer.processes, writer.open_places = self.processes, places
        signature = SignatureWriter(self.facts, function, writer)
        signature.add_arguments()
        returned = writer.body.statements(entry)[-1]
        scalar = _returns_number(returned)
        leaving = signature.add_results(returned) if not scalar else {}
        parameters, pragmas = signature.parameters, signature.pragmas
        result = self.types.of(returned.operands[0].type) if scalar else "void"
        before_type = OPEN_HEAD if called == OPEN_NAME else ""
        head = f"{before_type}{result} {called}({', '.join(p.text for p in parameters)})"
        body = self._body(entry, returned, scalar, leaving, writer)
        at, vendor = location_of(function.operation), self.vendor
        if name != self.facts.top:
            pragmas.insert(0, vendor.inline_off)
        if "allo.dataflow" in function.operation.attributes:
            pragmas.append(vendor.known(vendor.dataflow, "dataflow", at))
        pragmas += [vendor.allocation.format(name=self.functions[f]) for f in shared_callees(entry)]
        pragmas = [line for line in pragmas if line]
        before = vendor.before_top if name == self.facts.top else ""
        if name in self.tasks:
            before = vendor.before_task
        words = set(_WORD.findall(uncommented("\n".join(body))))
        body = [*(f"(void){p.name};" for p in parameters if p.name not in words), *body]
        pragmas = [line if line.startswith("#") else f"  {line}" for line in pragmas]
        lines = [line if line.startswith("#") else f"  {line}" for line in body]
        if name == self.facts.top:
            head = vendor.top_prefix + head
        definition = [*([before] if before else []), f"{head} {{{line_comment(at)}", *pragmas, *lines, "}"]
        return FunctionText(head, tuple(p.name for p in parameters), tuple(definition))

    def _body(
        self,
        entry: ir.Block,
        returned: ir.Operation,
        scalar: bool,
        leaving: dict[int, str],
        writer: StatementWriter,
    ) -> list[str]:
        lines: list[str] = []
        lines += writer.region(entry)
        results = writer.body.operands(returned)
        lines += writer._declared(results)
        values = writer.take(results)
        if scalar:
            lines += writer.flush(results)
            return [
                *lines,
                f"return {writer.assigned(values[0], results[0].type)};",
                *writer._declare_all(),
            ]
        for position, name in leaving.items():
            kind = results[position].type
            if isinstance(kind, ir.MemRefType) and kind.shape:
                lines += copy_loops(ir.MemRefType(kind), values[position].text, name, writer.taken)
            elif isinstance(kind, ir.MemRefType):
                lines.append(f"{name} = {values[position].text};")
            else:
                lines.append(f"{name} = {writer.assigned(values[position], kind)};")
        return lines


def _returns_number(returned: ir.Operation) -> bool:
    """Whether a function has one result, which is no array: C++ returns it."""
    return len(returned.operands) == 1 and not isinstance(returned.operands[0].type, ir.MemRefType)


def _tasks(module: Module) -> set[str]:
    """The functions that dataflow graphs are made of."""
    found = set()
    for function in module.functions():
        block = entry_block(function)
        if block is not None and "allo.dataflow" in function.operation.attributes:
            calls = [op for op in statements(block) if op.name == "func.call"]
            found |= {callee_name(call) for call in calls}
    return found


def described(emitted: Emitted) -> str:
    """One line for `repr`."""
    return f"{emitted.top}: {counted(emitted.code.count(chr(10)), 'line')} of C++"
