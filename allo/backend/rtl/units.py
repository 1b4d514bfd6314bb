"""Counts of designs with many parts: each kind of unit and of element synthesised alone, what is around them once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .grids.alike import Likeness, alike
from .grids.level import LEAST
from .library import UNITS, LibraryPort, library_files, library_module
from .netlist.design import HardwareModule, ModuleInstance
from .netlist.printer import printed
from .synthesise import Utilization, synthesised, synthesised_around

BOXES = UNITS | {"allo_fifo"}


def counted_by_unit(modules: Sequence[HardwareModule], files: Mapping[str, str], top: str) -> Utilization:
    """What the module `top` takes of an UltraScale+ device; `modules` are all of the design, callees first.

    `files` are the library without what is synthesised alone: units, FIFOs, and modules of which there are eight or
    more. What Yosys would leave out of these, since an operand is constant or a result not needed, counts too.
    """
    return _Counting(modules, files).of(top)


class _Counting:
    def __init__(self, modules: Sequence[HardwareModule], files: Mapping[str, str]) -> None:
        self.modules = {module.name: module for module in modules}
        self.files = files
        self.likeness: Mapping[str, Likeness] = alike(modules)
        counts = Counter(self._class(one.module) for module in modules for one in module.instances
                         if one.module in self.modules)  # fmt: skip
        self.many = {name for name, count in counts.items() if count >= LEAST}
        self.alone: dict[str, Utilization] = {}

    def of(self, top: str) -> Utilization:
        """What a module takes, with all in it."""
        inside = self._inside(top)
        units: dict[str, ModuleInstance] = {}
        elements: dict[str, HardwareModule] = {}
        around: list[HardwareModule] = []
        for module in inside:
            instances = [_as_box(one) if one.module in BOXES else one for one in module.instances]
            units |= {box.module: one for box, one in zip(instances, module.instances, strict=True) if box is not one}
            elements |= {one.module: self.modules[one.module] for one in instances if self._is_one_of_many(one.module)}
            around.append(replace(module, instances=instances))
        heads = [f"module {name} ({_listed(_ports(one))});" for name, one in units.items()]
        heads += [f"module {name} ({_ports_of(module)});" for name, module in elements.items()]
        empty = "".join(f"(* blackbox *)\n{head}\nendmodule\n" for head in heads)
        texts = {**self.files, "boxes.sv": empty, f"{top}.sv": printed(around)}
        boxes = {name: _alone(one) for name, one in units.items()}
        boxes |= {name: self._element(self._class(name)) for name in elements}
        return synthesised_around(texts, top, boxes)

    def _element(self, name: str) -> Utilization:
        """What the first module of a class takes, found once."""
        if name not in self.alone:
            self.alone[name] = self.of(name)
        return self.alone[name]

    def _class(self, name: str) -> str:
        """The first module that one is equal to but for names."""
        return self.likeness[name].module.name

    def _is_one_of_many(self, name: str) -> bool:
        return name in self.modules and self._class(name) in self.many

    def _inside(self, top: str) -> Iterable[HardwareModule]:
        """A module and all in it that is synthesised with it, callees first."""
        found: dict[str, HardwareModule] = {}
        for one in self.modules[top].instances:
            if one.module in self.modules and not self._is_one_of_many(one.module):
                found |= {module.name: module for module in self._inside(one.module)}
        return [*found.values(), self.modules[top]]


def _as_box(one: ModuleInstance) -> ModuleInstance:
    """The unit as a module without parameters, which only units of the same parameters are."""
    values = library_module(one.module).values(one.parameters)
    name = "_".join([one.module, *(f"{key}{value}" for key, value in values.items())])
    return one._replace(module=name, parameters={})


def _alone(one: ModuleInstance) -> Utilization:
    values = ", ".join(f".{key}({value})" for key, value in one.parameters.items())
    text = f"module unit ({_listed(_ports(one))});\n  {one.module} #({values}) one (.*);\nendmodule\n"
    return synthesised({**library_files([one.module]), "unit.sv": text}, "unit")


def _ports(one: ModuleInstance) -> Sequence[LibraryPort]:
    return library_module(one.module).ports(one.parameters)


def _listed(ports: Sequence[LibraryPort]) -> str:
    return ", ".join(f"{'input' if p.is_input else 'output'} logic [{p.width - 1}:0] {p.name}" for p in ports)


def _ports_of(module: HardwareModule) -> str:
    ports = ((port.direction.value, port.signal) for port in module.ports)
    return ", ".join(f"{direction} logic [{signal.width - 1}:0] {signal.name}" for direction, signal in ports)
