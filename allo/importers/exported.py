"""Exported programs of PyTorch: the nodes of a `.pt2` archive with their arguments, and what goes in and out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import AlloError, Location
from ..ir.types import TensorType
from .archive import ELEMENT_TYPES, Pt2Archive
from .extents import Extents
from .graph import Array, LayerOrigin

# What Python raises where a description of a model lacks something, or has something else in its place.
MALFORMED = (IndexError, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, SyntaxError)
_SYMBOLS = {"as_sym_int", "as_sym_bool", "as_sym_float"}
_NUMBERS_OF_ELEMENTS = ("aten.item.default", "aten._local_scalar_dense.default")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_INSIDE_TORCH = ("-packages/torch/", "-packages\\torch\\")


class NotImported(Exception):
    """What keeps a node from being imported, without the place, which its node knows."""


@dataclass(frozen=True, slots=True)
class TensorName:
    """An argument that is an array."""

    name: str


@dataclass(frozen=True, slots=True)
class AtenNode:
    """One operation of an exported program; `outputs` are the names of its results, in their order."""

    target: str
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...]
    types: Mapping[str, TensorType]
    origin: LayerOrigin

    def array(self, name: str) -> str:
        """The name of an array. Raises NotImported if the argument is none."""
        value = self.arguments.get(name)
        if not isinstance(value, TensorName):
            raise NotImported(f"its argument '{name}' is not an array")
        return value.name

    def maybe(self, name: str) -> str | None:
        """The name of an array, or None where there is none."""
        return self.array(name) if self.arguments.get(name) is not None else None

    def operand(self, name: str) -> str | int | float | bool:
        """An array or a number."""
        value = self.arguments.get(name)
        if isinstance(value, TensorName):
            return value.name
        if isinstance(value, int | float):
            return value
        raise NotImported(f"its argument '{name}' is neither an array nor a number")

    def arrays(self, name: str) -> tuple[str | None, ...]:
        """A list of arrays; None where the list has none."""
        value = self.arguments.get(name)
        if isinstance(value, tuple) and all(v is None or isinstance(v, TensorName) for v in value):
            return tuple(v.name if isinstance(v, TensorName) else None for v in value)
        raise NotImported(f"its argument '{name}' is not a list of arrays")

    def ints(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """A list of integers that are known."""
        value = self.arguments.get(name, default)
        value = (value,) if isinstance(value, int) else default if value is None else value
        if isinstance(value, tuple) and all(isinstance(v, int) for v in value):
            return value
        raise NotImported(f"its argument '{name}' is not a list of integers that are known")

    def int(self, name: str, default: int | None = None) -> int:
        """An integer that is known."""
        value = self.arguments.get(name)
        value = default if value is None else value
        if isinstance(value, int):
            return value
        raise NotImported(f"its argument '{name}' is not an integer that is known")

    def float(self, name: str, default: float) -> float:
        """A number."""
        value = self.arguments.get(name)
        if value is None:
            return default
        if isinstance(value, int | float):
            return value
        raise NotImported(f"its argument '{name}' is not a number that is known")

    def type_of(self, name: str) -> TensorType:
        """The type of an array. Raises NotImported for shapes and elements that kernels do not have."""
        if name not in self.types:
            raise NotImported("an array has an extent that is not known, or elements that kernels do not have")
        return self.types[name]


@dataclass(slots=True)
class ExportedProgram:
    """What an archive holds: nodes, and what their free names mean."""

    name: str
    types: dict[str, TensorType] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    nodes: list[AtenNode] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)  # arrays without elements


def read_program(archive: Pt2Archive, sizes: Mapping[str, int]) -> ExportedProgram:
    """The program of an archive, whose extents with names are `sizes`.

    Raises AlloError for what no kernel has as argument or result, and for extents without numbers.
    """
    found = ExportedProgram(archive.name)
    try:
        extents = Extents(archive.name, archive.program, sizes)
        module = archive.program["graph_module"]
        graph, signature = module["graph"], module["signature"]
        for name, meta in graph["tensor_values"].items():
            if (kind := _tensor_type(meta, extents)) is not None:
                found.types[name] = kind
            elif any(extents.number(extent) == 0 for extent in meta["sizes"]):
                found.empty.add(name)
        extents.check()
        _read_inputs(archive, found, signature["input_specs"], extents)
        for node in graph["nodes"]:
            target, results = _target(node), node["outputs"]
            if results and all(_SYMBOLS & output.keys() for output in results) and target not in _NUMBERS_OF_ELEMENTS:
                continue  # its result is an extent, which `extents` knows
            arguments = {told["name"]: _value(told["arg"], extents) for told in node["inputs"]}
            outputs = tuple(_output_names(results, extents))
            if outputs and found.empty.issuperset(outputs):
                continue  # it has no element to compute
            if target == "aten.cat.default":
                arguments["tensors"] = tuple(part for part in arguments["tensors"] if part.name not in found.empty)
            found.nodes.append(AtenNode(target, arguments, outputs, found.types, _origin(node["metadata"])))
        _read_outputs(archive, found, signature["output_specs"], extents)
    except MALFORMED as error:
        text = f"the model of '{archive.name}' is not as its schema says: {type(error).__name__} {error}"
        raise AlloError(text, hint="export the model again") from error
    return found


def _target(node: Mapping[str, Any]) -> str:
    return str(node["target"]).removeprefix("torch.ops.").removeprefix("_operator.")


def _tensor_type(meta: Mapping[str, Any], extents: Extents) -> TensorType | None:
    element = ELEMENT_TYPES.get(meta["dtype"])
    shape = [extents.number(extent) for extent in meta["sizes"]]
    known = tuple(extent for extent in shape if extent is not None and extent > 0)
    return None if element is None or len(known) < len(shape) else TensorType(element, known)


def _read_inputs(archive: Pt2Archive, found: ExportedProgram, specs: list[Any], extents: Extents) -> None:
    held = {**archive.weights(), **archive.constants()}
    for spec in specs:
        ((kind, told),) = spec.items()
        if kind == "user_input":
            value = _value(told["arg"], extents)
            if isinstance(value, TensorName):
                found.arguments.append(value.name)
            elif value is not None and not isinstance(value, int | float | str):
                raise AlloError(f"an argument of '{archive.name}' is neither an array nor a constant")
        elif kind in ("parameter", "buffer", "tensor_constant"):
            name, target = told["arg"]["name"], told[f"{kind}_name"]
            if target not in held:
                raise AlloError(f"'{archive.name}' has no tensor '{target}'", hint="export the model again")
            found.constants[name] = held[target]
            found.targets[name] = target
        elif kind not in ("constant_input", "token"):  # a token is what operators with effects take, which are told
            raise AlloError(f"'{archive.name}' takes a {kind.replace('_', ' ')}, which a kernel cannot take")
    unknown = [name for name in found.arguments if name not in found.types]
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        raise AlloError(
            f"kernels have no type for the arguments {listed} of '{archive.name}'",
            hint="export the model with floats, integers or truth values, in arrays that are not empty",
        )


def _read_outputs(archive: Pt2Archive, found: ExportedProgram, specs: list[Any], extents: Extents) -> None:
    buffers = {target: name for name, target in found.targets.items()}
    for spec in specs:
        ((kind, told),) = spec.items()
        if kind == "token":
            continue
        value = _value(told["arg"], extents) if kind == "user_output" else TensorName(str(told["arg"]["name"]))
        if not isinstance(value, TensorName):
            raise AlloError(f"a result of '{archive.name}' is not an array", hint="let the model return tensors only")
        if value.name in found.empty:
            raise AlloError(f"a result of '{archive.name}' has no elements", hint="let the model return others only")
        if kind == "user_output":
            found.results.append(value.name)
        elif kind == "buffer_mutation":  # the state of the model becomes an argument that is written
            buffer = buffers[told["buffer_name"]]
            found.updates[buffer] = value.name
            found.arguments.append(buffer)
        elif kind == "user_input_mutation":
            found.updates[told["user_input_name"]] = value.name
        else:
            raise AlloError(f"'{archive.name}' gives a {kind.replace('_', ' ')}, which a kernel cannot give")


def _value(argument: Mapping[str, Any], extents: Extents) -> Any:
    """An argument as a Python value; an array is a TensorName, what is not known a text."""
    ((kind, value),) = argument.items()
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return TensorName(str(value["name"]))
    if kind == "as_tensors":
        return tuple(TensorName(str(part["name"])) for part in value)
    if kind in ("as_optional_tensors", "as_nested_tensors"):
        return tuple(_value(part, extents) for part in value)
    if kind == "as_float":
        return float(value)  # infinities and NaN are texts
    if kind == "as_floats":
        return tuple(map(float, value))
    if kind in ("as_ints", "as_bools"):
        return tuple(value)
    if kind == "as_sym_int":
        number = extents.number(value)
        return str(value) if number is None else number
    if kind == "as_sym_ints":
        return tuple(_value({"as_sym_int": part}, extents) for part in value)
    if kind in ("as_sym_float", "as_sym_bool"):
        return _value(value, extents) if isinstance(value, Mapping) else str(value)
    if kind == "as_sym_floats":
        return tuple(_value(part, extents) for part in value)
    return value


def _output_names(outputs: list[Any], extents: Extents) -> Iterator[str]:
    for output in outputs:
        value = _value(output, extents)
        for part in value if isinstance(value, tuple) else (value,):
            yield part.name if isinstance(part, TensorName) else ""


def _origin(metadata: Mapping[str, str]) -> LayerOrigin:
    """The innermost module, and the innermost line of the program that is not one of PyTorch."""
    stack = metadata.get("nn_module_stack", "")
    last = stack.split(";")[-1].split(",") if stack else []
    frames = _FRAME.findall(metadata.get("stack_trace", ""))
    own = [frame for frame in frames if not any(part in frame[0] for part in _INSIDE_TORCH)] or frames
    at = Location(own[-1][0], int(own[-1][1])) if own else None
    module = last[1].removeprefix("L['self'].") if len(last) > 1 else ""
    return LayerOrigin(module, at)
