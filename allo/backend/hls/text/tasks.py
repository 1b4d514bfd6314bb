"""Entry that only starts tasks: each task copies its arrays from ports of memory, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....errors import TargetError
from ....ir.access import base_of, callee_name, is_view
from ....ir.processes import ELEMENT_NAME
from ....ir.walk import argument_names, entry_block, location_of, string_of
from .escape import line_comment
from .expression import Expr
from .memory import linear
from .names import identifier
from .outline import is_graph
from .signature import Declared, FunctionText
from .statements import StatementWriter

if TYPE_CHECKING:
    from .module import FileWriter

_SILENT = ("func.return", "arith.constant")


@dataclass(frozen=True, slots=True)
class _Port:
    """An array of the entry, as a task takes it."""

    name: str
    element: str
    shape: tuple[int, ...]
    is_written: bool
    is_result: bool
    layout: tuple[str, ...]

    def parameter(self, name: str) -> Declared:
        """The port as a parameter."""
        return Declared(name, f"tapa::mmap<{self.element}> {name}")

    def copy(self, source: str, target: str, label: str) -> list[str]:
        """Loops over all elements; the one of `source` and `target` that is `{}` has the subscripts of memory."""
        taken = {source, target}
        variables = [identifier(f"i{n}", taken) for n in range(len(self.shape))]
        subscripts = "".join(f"[{variable}]" for variable in variables)
        place = f"[{linear(variables, self.shape)}]"
        lines = []
        for depth, (variable, extent) in enumerate(zip(variables, self.shape, strict=True)):
            head = f"{'  ' * depth}for (int {variable} = 0; {variable} < {extent}; {variable}++) {{"
            lines.append(f"l_{label}: {head}" if depth == 0 else head)
        inside = "  " * len(variables)
        if label.startswith("load"):
            copied = f"{target}{subscripts} = {source}{place};"
        else:
            copied = f"{target}{place} = {source}{subscripts};"
        lines += ["#pragma HLS pipeline II=1", f"{inside}{copied}"]
        return [*lines, *("  " * depth + "}" for depth in reversed(range(len(variables))))]


class _Task:
    """A function that takes ports, copies them to arrays, calls a kernel, and copies back what that has written."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.parameters: list[Declared] = []
        self.arguments: list[str] = []  # of the kernel
        self.before: list[str] = []
        self.after: list[str] = []

    def add_array(self, port: _Port) -> None:
        """What is written in full is loaded too, since a kernel may leave elements as they are."""
        outside = identifier(f"{port.name}_port", self.taken)
        self.parameters.append(port.parameter(outside))
        self.arguments.append(port.name)
        declared = f"{port.element} {port.name}{''.join(f'[{extent}]' for extent in port.shape)};"
        self.before += [declared, *port.layout]
        self.before += [] if port.is_result else port.copy(outside, port.name, f"load_{port.name}")
        self.after += port.copy(port.name, outside, f"store_{port.name}") if port.is_written else []

    def add(self, parameter: Declared) -> None:
        """A number or a stream, which the kernel takes as it is."""
        self.parameters.append(parameter)
        self.arguments.append(parameter.name)

    def definition(self, name: str, kernel: str) -> list[str]:
        lines = [*self.before, f"{kernel}({', '.join(self.arguments)});", *self.after]
        head = f"void {name}({', '.join(p.text for p in self.parameters)}) {{"
        return [head, *(line if line.startswith("#") else f"  {line}" for line in lines), "}"]


class PortsWriter:
    """The entry of a module, and the tasks that it starts."""

    def __init__(self, file: FileWriter, function: ir.OpView) -> None:
        self.file = file
        self.function = function
        self.name = function.name.value
        entry = entry_block(function)
        assert entry is not None
        self.entry = entry
        self.at = location_of(function.operation)
        self.vendor = file.vendor
        self.written = file.facts.effects.written_arguments(self.name)
        self.taken = set(file.functions.values())
        self.ports: dict[ir.Value, str] = {}
        self.used: dict[ir.Value, str] = {}

    def run(self) -> FunctionText:
        """The entry, behind the tasks."""
        self._check()
        return self._graph() if is_graph(self.function) else self._one_task()

    def _check(self) -> None:
        for function in self.file.module.functions():
            if function.name.value != self.name and is_graph(function):
                raise TargetError(
                    f"{self.vendor.name} has no graphs of tasks inside of others, and '{function.name.value}' is one",
                    at=location_of(function.operation), hint="build that kernel by itself, or inline it",
                )  # fmt: skip
        returned = [view.operation for view in self.entry.operations][-1]
        for value in returned.operands:
            if not isinstance(value.type, ir.MemRefType) or not value.type.shape:
                raise TargetError(
                    f"{self.vendor.name} cannot return a number from '{self.name}': the entry only starts tasks",
                    at=self.at, hint="return an array of one element",
                )  # fmt: skip

    # -- a kernel that is one task ---------------------------------------------------------------------

    def _one_task(self) -> FunctionText:
        """The kernel as a function, a task that calls it, and the entry."""
        public = self.file.functions[self.name]
        inner, started = (identifier(f"{public}_{what}", self.taken) for what in ("kernel", "task"))
        self.file.functions[self.name] = inner
        kernel = self.file.function(self.function)
        self.file.functions[self.name] = public
        names = kernel.parameters
        values = [*self.entry.arguments, *self._returned()]
        task = _Task(set(names))
        outer: list[Declared] = []
        for position, (name, value) in enumerate(zip(names, values, strict=True)):
            if isinstance(value.type, ir.MemRefType):
                is_result = position >= len(self.entry.arguments)
                port = self._port(name, value, is_result or position in self.written, is_result)
                task.add_array(port)
                outer.append(port.parameter(name))
            else:
                outer.append(self._number(value, name))
                task.add(outer[-1])
        start = f"  tapa::task().invoke({', '.join([started, *names])});"
        return self._entry(public, outer, [*kernel.lines, "", *task.definition(started, inner), ""], [start])

    def _entry(self, name: str, parameters: list[Declared], before: list[str], body: list[str]) -> FunctionText:
        prototype = f"void {name}({', '.join(p.text for p in parameters)})"
        definition = [f"{prototype} {{{line_comment(self.at)}", *body, "}"]
        return FunctionText(prototype, tuple(p.name for p in parameters), (*before, *definition))

    def _number(self, value: ir.Value, name: str) -> Declared:
        return Declared(name, f"{self.file.types.of(value.type)} {name}")

    def _port(self, name: str, value: ir.Value, is_written: bool, is_result: bool = False) -> _Port:
        memref = ir.MemRefType(value.type)
        if not memref.shape:
            raise TargetError(
                f"{self.vendor.name} has no port for '{name}': it is a variable of the caller", at=self.at,
                hint="pass an array of one element",
            )  # fmt: skip
        writer = StatementWriter(self.file.operations, self.vendor, {}, {})
        layout = tuple(writer.layout(memref, name))
        return _Port(name, self.file.types.of(memref.element_type), tuple(memref.shape), is_written, is_result, layout)

    def _returned(self) -> list[ir.Value]:
        return list([view.operation for view in self.entry.operations][-1].operands)

    # -- a dataflow graph ------------------------------------------------------------------------------

    def _graph(self) -> FunctionText:
        """A task for each call, and the entry that starts them."""
        file = self.file
        writer = StatementWriter(file.operations, self.vendor, file.globals, file.functions, entry=self.entry)
        parameters: list[Declared] = []
        for label, value in zip(argument_names(self.function), self.entry.arguments, strict=True):
            name = identifier(label, writer.taken)
            writer.exprs[value] = Expr(name)
            parameters.append(self._argument(value, name))
        for value in self._returned():
            if value not in self.ports:
                name = identifier("result", writer.taken)
                parameters.append(self._argument(value, name))
                writer.exprs[value] = Expr(name)
        tasks: list[str] = []
        lines: list[str] = []
        started: list[str] = []
        for view in self.entry.operations:
            op = view.operation
            if op.name == "func.call":
                started.append(f"      .invoke({', '.join(self._task(op, writer, tasks))})")
            elif op.name not in _SILENT and not is_view(op) and not self._is_result(op):
                lines += self._statement(op, writer)
            elif op.name == "arith.constant":
                writer.operation(op)
        if started:
            started[-1] += ";"
        body = [*(f"  {line}" for line in lines), "  tapa::task()", *started]
        return self._entry(self.file.functions[self.name], parameters, tasks, body)

    def _argument(self, value: ir.Value, name: str) -> Declared:
        if not isinstance(value.type, ir.MemRefType):
            return self._number(value, name)
        self.ports[value] = name
        return self._port(name, value, True).parameter(name)

    def _is_result(self, op: ir.Operation) -> bool:
        return any(result in self.ports for result in op.results)

    def _statement(self, op: ir.Operation, writer: StatementWriter) -> list[str]:
        made = [result.type for result in op.results]
        streams = [
            kind for kind in made if isinstance(kind, allo_d.StreamType)
            or (isinstance(kind, ir.MemRefType) and isinstance(kind.element_type, allo_d.StreamType))
        ]  # fmt: skip
        if streams:
            return writer.operation(op)
        name = ir.StringAttr(op.attributes["allo.name"]).value if "allo.name" in op.attributes else op.name
        raise TargetError(
            f"{self.vendor.name} cannot keep '{name}' in '{self.name}': the entry of a dataflow graph has streams and "
            "tasks only",
            at=location_of(op), hint="pass the data from task to task by a stream: s.relay",
        )  # fmt: skip

    def _refuse_parts(self, call: ir.Operation) -> None:
        """A port is one memory, which a task has to itself."""
        for value in call.operands:
            array = base_of(value)
            if array in self.ports and array != value:
                task = string_of(call, ELEMENT_NAME) or callee_name(call)
                raise TargetError(
                    f"{self.vendor.name} cannot give one element of '{self.ports[array]}' to '{task}': a task has the "
                    "arrays of the entry that it uses to itself",
                    at=location_of(call), hint="let one task load or store the array, and connect the others by FIFOs",
                )  # fmt: skip

    def _task(self, call: ir.Operation, writer: StatementWriter, tasks: list[str]) -> list[str]:
        """What `invoke` takes for a call; a task in front of the callee if that has arrays."""
        symbol = callee_name(call)
        callee = self.file.functions[symbol]
        values = [*call.operands, *call.results]
        self._refuse_parts(call)
        arrays = [value for value in values if value in self.ports]
        passed = [writer.exprs[value].text for value in values]
        if not arrays:
            return [callee, *passed]
        for value in arrays:
            if value in self.used:
                raise TargetError(
                    f"{self.vendor.name} cannot give '{self.ports[value]}' to two tasks, '{self.used[value]}' and "
                    f"'{symbol}'",
                    at=location_of(call), hint="pass two arrays, or put the tasks into one kernel",
                )  # fmt: skip
            self.used[value] = symbol
        fed = self.file.facts.effects.fed_arguments(symbol)
        written = self.file.facts.effects.written_arguments(symbol)
        names = argument_names(self.file.module.function(symbol))
        task = _Task(set())
        for position, value in enumerate(values):
            text = passed[position]
            own = names[position] if position < len(names) else "result"
            label = identifier(text if text.isidentifier() else own, task.taken)
            if value in self.ports:
                is_result = position >= len(call.operands)
                task.add_array(self._port(label, value, is_result or position in written, is_result))
            elif isinstance(value.type, allo_d.StreamType):
                element = writer.stream_type(value.type)
                made = self.vendor.streams.argument(element, label, "", is_read=position in fed)
                task.add(Declared(label, self.vendor.known(made, "streams between kernels", self.at)))
            elif isinstance(value.type, ir.MemRefType):
                raise TargetError(
                    f"{self.vendor.name} cannot pass '{text}' to '{symbol}': an array of streams has one task at each "
                    "end of each stream",
                    at=location_of(call), hint="give each task the streams that it uses",
                )  # fmt: skip
            else:
                task.add(self._number(value, label))
        name = identifier(f"{callee}_task", self.taken)
        tasks += [*task.definition(name, callee), ""]
        return [name, *passed]
