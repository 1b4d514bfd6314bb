"""Counts of designs with many units: each kind of unit synthesised alone, and what is around them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .library import UNITS, LibraryPort, library_files, library_module
from .netlist.design import HardwareModule, ModuleInstance
from .netlist.printer import printed
from .synthesise import Utilization, synthesised, synthesised_around


def counted_by_unit(modules: Iterable[HardwareModule], files: Mapping[str, str], top: str) -> Utilization:
    """What the module `top` takes of an UltraScale+ device.

    `files` are the library without units. What Yosys would leave out of a unit, since an operand is constant or a
    result not needed, counts too.
    """
    around: list[HardwareModule] = []
    kinds: dict[str, ModuleInstance] = {}
    for module in modules:
        instances = [_as_box(one) if one.module in UNITS else one for one in module.instances]
        kinds |= {box.module: one for box, one in zip(instances, module.instances, strict=True) if box is not one}
        around.append(replace(module, instances=instances))
    heads = (f"module {name} ({_listed(_ports(one))});" for name, one in kinds.items())
    empty = "".join(f"(* blackbox *)\n{head}\nendmodule\n" for head in heads)
    texts = {**files, "boxes.sv": empty, f"{top}.sv": printed(around)}
    return synthesised_around(texts, top, {name: _alone(one) for name, one in kinds.items()})


def _as_box(one: ModuleInstance) -> ModuleInstance:
    """The unit as a module without parameters, which only units of the same parameters are."""
    values = library_module(one.module).values(one.parameters)
    name = "_".join([one.module, *(f"{key}{value}" for key, value in values.items())])
    return replace(one, module=name, parameters={})


def _alone(one: ModuleInstance) -> Utilization:
    values = ", ".join(f".{key}({value})" for key, value in one.parameters.items())
    text = f"module unit ({_listed(_ports(one))});\n  {one.module} #({values}) one (.*);\nendmodule\n"
    return synthesised({**library_files([one.module]), "unit.sv": text}, "unit")


def _ports(one: ModuleInstance) -> Sequence[LibraryPort]:
    return library_module(one.module).ports(one.parameters)


def _listed(ports: Sequence[LibraryPort]) -> str:
    return ", ".join(f"{'input' if p.is_input else 'output'} logic [{p.width - 1}:0] {p.name}" for p in ports)
