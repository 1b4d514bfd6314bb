"""Printer of hardware modules as SystemVerilog that simulators and synthesis tools read, and people too."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator

from ....errors import Location
from .design import ConstantTable, HardwareModule, ModuleInstance, Register, Signal

_LINE = 110


def printed(modules: Iterable[HardwareModule]) -> str:
    """The text of some modules."""
    return "\n".join("\n".join(_module(module)) + "\n" for module in modules)


def _module(module: HardwareModule) -> Iterator[str]:
    for remark in module.remarks:
        yield f"// {remark}"
    yield f"module {module.name} ("
    ports = [f"  {port.direction.value} {_declared(port.signal)}" for port in module.ports]
    yield ",\n".join(ports) + ");"
    yield from _signals(module.signals)
    for table in module.tables:
        yield from printed_table(table)
    at: Location | None = None
    for assign in module.assigns:
        if assign.at is not None and (at is None or (assign.at.file, assign.at.line) != (at.file, at.line)):
            at = assign.at
            yield from _remark(at)
        yield f"  assign {assign.signal.name} = {assign.expression};"
    yield from _observers([instance for instance in module.instances if instance.observes])
    for instance in (instance for instance in module.instances if not instance.observes):
        if instance.at is not None and (at is None or instance.at.line != at.line):
            at = instance.at
            yield from _remark(at)
        yield from _instance(instance)
    yield from _registers(module.registers)
    yield "endmodule"


def _declared(signal: Signal) -> str:
    kind = "logic signed" if signal.signed else "logic"
    return f"{kind} {_range(signal.width)}{signal.name}"


def _range(width: int) -> str:
    return "" if width == 1 else f"[{width - 1}:0] "


def _signals(signals: list[Signal]) -> Iterator[str]:
    """Declarations, those of one type together."""
    groups: dict[tuple[int, bool], list[str]] = {}
    for signal in signals:
        groups.setdefault((signal.width, signal.signed), []).append(signal.name)
    for (width, signed), names in groups.items():
        start = f"  {_declared(Signal('', width, signed))}".rstrip()
        line = start
        for number, name in enumerate(names):
            end = ";" if number == len(names) - 1 else ","
            if len(line) + len(name) + 2 > _LINE:
                yield line
                line = "   "
            line += f" {name}{end}"
        yield line


def printed_table(table: ConstantTable) -> Iterator[str]:
    """The lines of a memory of constant words."""
    yield f"  logic {_range(table.width)}{table.name} [0:{len(table.words) - 1}];"
    yield "  initial begin"
    line = "   "
    for place, word in enumerate(table.words):
        text = f" {table.name}[{place}] = {table.width}'h{word:x};"
        if len(line) + len(text) > _LINE and line.strip():
            yield line
            line = "   "
        line += text
    yield line
    yield "  end"


def _remark(at: Location) -> Iterator[str]:
    text = linecache.getline(at.file, at.line).strip()
    yield f"  // line {at.line}: {text}" if text else f"  // line {at.line}"


def _observers(instances: list[ModuleInstance]) -> Iterator[str]:
    if instances:
        yield "`ifdef ALLO_SIMULATION"
        for instance in instances:
            yield from _instance(instance)
        yield "`endif"


def _instance(instance: ModuleInstance) -> Iterator[str]:
    given = ", ".join(f".{name}({value})" for name, value in instance.parameters.items())
    start = f"  {instance.module} #({given}) {instance.name} (" if given else f"  {instance.module} {instance.name} ("
    line = start
    for number, (port, value) in enumerate(instance.ports.items()):
        text = f".{port}" if port == value else f".{port}({value})"
        text += ");" if number == len(instance.ports) - 1 else ","
        if len(line) + len(text) + 1 > _LINE:
            yield line
            line = "   "
        line += text if line.endswith("(") else f" {text}"
    yield line


def _registers(registers: list[Register]) -> Iterator[str]:
    """Registers under one condition in one process."""
    groups: dict[str | None, list[Register]] = {}
    for register in registers:
        groups.setdefault(register.enable, []).append(register)
    for enable, group in groups.items():
        yield "  always_ff @(posedge clk) begin"
        resets = [register for register in group if register.reset is not None]
        inside = "    "
        if resets:
            yield "    if (rst) begin"
            yield from (f"      {r.signal.name} <= {r.signal.width}'d{r.reset};" for r in resets)
            yield "    end else begin" if enable is None else f"    end else if ({enable}) begin"
            yield from (f"      {r.signal.name} <= {r.next};" for r in resets)
            yield "    end"
        others = [register for register in group if register.reset is None]
        if others and enable is not None:
            yield f"    if ({enable}) begin"
            inside = "      "
        yield from (f"{inside}{r.signal.name} <= {r.next};" for r in others)
        if others and enable is not None:
            yield "    end"
        yield "  end"
