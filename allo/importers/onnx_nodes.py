"""Nodes of an ONNX model with their arguments, and what goes in and out, as the `onnx` package reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import AlloError, Location, ToolError
from ..ir.arrays import array_element_type
from ..ir.names import unique_name
from ..ir.types import TensorType
from .exported import NotImported
from .graph import Array, LayerOrigin, Operand
from .reading import kernel_name

LEAST_VERSION = 13  # of the operators: before, `Softmax` meant something else
_NARROW = {"int4": np.int8, "uint4": np.uint8, "int2": np.int8, "uint2": np.uint8}
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(slots=True)
class OnnxValues:
    """Types of all values by name, and the arrays of those that are known."""

    types: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)


class ReadAttributes(dict[str, Any]):
    """ReadAttributes of a node; `read` are those that were asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or the default."""
        self.read.add(name)
        return super().get(name, default)


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation; `inputs` that are left out are empty texts."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: ReadAttributes
    values: OnnxValues
    origin: LayerOrigin

    def has(self, position: int) -> bool:
        """Whether an input is given."""
        return len(self.inputs) > position and bool(self.inputs[position])

    def array(self, position: int) -> str:
        """An input."""
        if not self.has(position):
            raise NotImported(f"its input {position} is missing")
        return self.inputs[position]

    def maybe(self, position: int) -> str | None:
        """An input, or None where there is none."""
        return self.inputs[position] if self.has(position) else None

    def operand(self, position: int) -> Operand:
        """An input, or the number that it is known to be."""
        name = self.array(position)
        array = self.values.constants.get(name)
        return name if array is None or array.ndim or array.dtype.kind not in "fiub" else array.item()

    def type_of(self, name: str) -> TensorType:
        """The type of a value. Raises NotImported where it is not known."""
        if name in self.values.types:
            return self.values.types[name]
        raise NotImported("an array has an extent that is not known, or elements that kernels do not have")

    def shape(self, position: int) -> tuple[int, ...]:
        """The shape of an input."""
        return self.type_of(self.array(position)).shape

    def known(self, position: int) -> Array:
        """The elements of an input. Raises NotImported where they are not known."""
        array = self.values.constants.get(self.array(position))
        if array is None:
            raise NotImported(f"its input {position} is not known before the model runs")
        return array

    def ints(self, position: int, attribute: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Integers that are an input, or an attribute in older versions."""
        if self.has(position):
            return tuple(int(value) for value in self.known(position).reshape(-1))
        return tuple(self.attributes.get(attribute, default))


@dataclass(slots=True)
class OnnxProgram:
    """What a file holds."""

    name: str
    arguments: dict[str, TensorType]
    values: OnnxValues
    nodes: list[OnnxNode]
    results: list[str]


def _inferred(model: Any) -> Any:
    """The model with the types of all values. ONNX does not say that the norm of groups keeps the shape of its input,
    so it passes for one of channels, which does, while types are inferred."""
    from onnx import shape_inference

    groups = {number: node for number, node in enumerate(model.graph.node) if node.op_type == "GroupNormalization"}
    originals = {number: type(node)() for number, node in groups.items()}
    for number, node in groups.items():
        originals[number].CopyFrom(node)
        node.op_type = "InstanceNormalization"
        del node.attribute[:]
    found = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    for number, node in originals.items():
        found.graph.node[number].CopyFrom(node)
    return found


def read_onnx(source: str | Path | bytes, sizes: Mapping[str, int]) -> OnnxProgram:
    """The model of a file; `sizes` are extents that the file has names for.

    Raises ToolError without the `onnx` package, AlloError for files that are no models, or whose shapes are not known.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        hint = "pip install 'allo[onnx]'"
        raise ToolError(f"from_onnx needs the package onnx, which cannot be imported: {error}", hint=hint) from None
    name = "model" if isinstance(source, bytes) else Path(source).stem
    try:
        model = onnx.load_from_string(source) if isinstance(source, bytes) else onnx.load(source)
        onnx.checker.check_model(model)
        _give_sizes(model.graph, sizes)
        model = _inferred(model)
    except OSError:
        raise
    except Exception as error:  # of protobuf, the checker or the inference, none of which has a common class
        text = str(error).strip().splitlines() or [type(error).__name__]
        raise AlloError(f"'{name}' is no valid ONNX model: {text[0]}") from error
    version = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    if version < LEAST_VERSION:
        hint = "convert it with onnx.version_converter"
        raise AlloError(f"'{name}' has operators of version {version}, and {LEAST_VERSION} is the least", hint=hint)
    names = _Names()
    values = OnnxValues()
    for initial in model.graph.initializer:
        array = np.array(numpy_helper.to_array(initial))
        narrow = _NARROW.get(array.dtype.name)  # NumPy has no integers of four bits
        values.constants[names.of(initial.name)] = array if narrow is None else array.astype(narrow)
    for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        if (kind := _tensor_type(value)) is not None:
            values.types[names.of(value.name)] = kind
    for known, array in values.constants.items():
        if (element := array_element_type(array)) is not None:
            values.types[known] = TensorType(element, array.shape)
    given = [value.name for value in model.graph.input if names.of(value.name) not in values.constants]
    nodes = [_node(node, names, values, numpy_helper) for node in model.graph.node]
    return OnnxProgram(
        kernel_name(name), _arguments(name, given, names, values), values, nodes,
        [names.of(value.name) for value in model.graph.output],
    )  # fmt: skip


def _arguments(model: str, given: list[str], names: _Names, values: OnnxValues) -> dict[str, TensorType]:
    unknown = [name for name in given if names.of(name) not in values.types]
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        raise AlloError(
            f"kernels have no type for the arguments {listed} of '{model}'",
            hint="give extents that have names: from_onnx(path, sizes={'batch': 1}); elements are floats, integers or "
            "truth values",
        )
    return {names.of(name): values.types[names.of(name)] for name in given}


class _Names:
    """Names that arrays of kernels can have, for those of a model."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The name for `name`; none for none."""
        if not name:
            return ""
        if name not in self._known:
            plain = re.sub(r"_+", "_", re.sub(r"\W", "_", name, flags=re.ASCII)).strip("_")
            self._known[name] = unique_name(plain if plain[:1].isalpha() else f"value_{plain}", self._taken)
        return self._known[name]


def _give_sizes(graph: Any, sizes: Mapping[str, int]) -> None:
    """Extents that have names become numbers; what was inferred from the names before is forgotten."""
    for value in graph.input:
        for extent in value.type.tensor_type.shape.dim:
            if extent.dim_param in sizes:
                extent.dim_value = sizes[extent.dim_param]
    if sizes:
        del graph.value_info[:]
        for value in graph.output:
            value.type.tensor_type.ClearField("shape")


def _tensor_type(value: Any) -> TensorType | None:
    from onnx import helper

    kind = value.type.tensor_type
    extents = [extent.dim_value for extent in kind.shape.dim]
    if not kind.HasField("shape") or not all(extent > 0 for extent in extents):
        return None
    try:
        element = array_element_type(np.empty(0, helper.tensor_dtype_to_np_dtype(kind.elem_type)))
    except (KeyError, TypeError):
        return None
    return None if element is None else TensorType(element, tuple(extents))


def _node(node: Any, names: _Names, values: OnnxValues, numpy_helper: Any) -> OnnxNode:
    from onnx import helper

    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        if type(value).__name__ == "TensorProto":
            value = np.array(numpy_helper.to_array(value))
        attributes[attribute.name] = value.decode() if isinstance(value, bytes) else value
    operator = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
    inputs, outputs = tuple(map(names.of, node.input)), tuple(map(names.of, node.output))
    return OnnxNode(operator, inputs, outputs, ReadAttributes(attributes), values, _origin(node))


def _origin(node: Any) -> LayerOrigin:
    """The module and line that PyTorch's exporter notes; else the name of the node, which often has the path."""
    noted = {entry.key: entry.value for entry in getattr(node, "metadata_props", ())}
    scopes = re.findall(r"'([^']*)'", noted.get("pkg.torch.onnx.name_scopes", ""))
    frames = _FRAME.findall(noted.get("pkg.torch.onnx.stack_trace", ""))
    own = [frame for frame in frames if "-packages/" not in frame[0]] or frames
    at = Location(own[-1][0], int(own[-1][1])) if own else None
    return LayerOrigin(scopes[-2] if len(scopes) > 1 else node.name, at)
