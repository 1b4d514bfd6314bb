"""ONNX models as kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import Diagnostic
from ..ir.arrays import array_element_type, form_dtype
from ..ir.types import TensorType
from .composed import with_own_names
from .exported import MALFORMED, NotImported
from .fold import simplified
from .graph import Array, Layer, LayerGraph, LayerOrigin
from .kernel import ImportedKernel
from .onnx_nodes import OnnxNode, OnnxProgram, OnnxValues, read_onnx
from .onnx_operators import READERS, constant
from .operators import OPERATORS
from .reading import all_missing, kernel_name, missing, reason

_SAME = ("Identity", "Dropout")
# Attributes that the types of results follow, that say how exact sums are, or what training does.
_TOLD_BY_TYPES = frozenset({
    "allowzero", "axes", "axis", "cubic_coeff_a", "exclude_outside", "keepdims", "kernel_shape", "momentum",
    "noop_with_empty_axes", "num_outputs", "output_dtype", "precision", "qk_matmul_output_mode", "round_mode",
    "saturate", "softmax_precision", "stash_type", "storage_order", "to",
})  # fmt: skip


def from_onnx(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    weights_as_arguments: bool = False,
) -> ImportedKernel:
    """The kernel of an ONNX model, a file or its bytes; it needs the package `onnx` (`pip install allo[onnx]`).

    `sizes` gives the extents that the model has names for: `{"batch": 1}`. All else is as in `allo.from_pt2`; caches
    are arguments and results. Operators are those of version 13 of the default domain, or later.

    Raises ModelError with all operators that no layer means, AlloError for files that are no models, and ToolError
    without the package.
    """
    program = read_onnx(source, sizes or {})
    if name is not None:
        program.name = kernel_name(name)
    return ImportedKernel(simplified(_layers_of(program)), weights_as_arguments=weights_as_arguments)


def _layers_of(program: OnnxProgram) -> LayerGraph:
    """The graph of a model; what is known is computed on the way, since shapes depend on it."""
    same: dict[str, str] = {}
    layers: list[Layer] = []
    wrong: list[Diagnostic] = []
    names = {*program.arguments, *program.values.constants, *(n for node in program.nodes for n in node.outputs)}
    for given in program.nodes:
        node = replace(given, inputs=tuple(same.get(name, name) for name in given.inputs))
        try:
            layers += _read(node, same, names)
        except (NotImported, *MALFORMED) as error:
            wrong.append(missing(_named(node), f"the operator {node.operator}", reason(error)))
    if wrong:
        raise all_missing(wrong)
    results = tuple(same.get(name, name) for name in program.results)
    return LayerGraph(program.name, program.arguments, program.values.constants, tuple(layers), results)


def _named(node: OnnxNode) -> LayerOrigin:
    """Where a node comes from; by its result where the model does not say."""
    return node.origin if node.origin.module or node.origin.at else LayerOrigin(node.outputs[0])


def _read(node: OnnxNode, same: dict[str, str], names: set[str]) -> list[Layer]:
    """The layers of a node whose operands are not all known."""
    if node.operator in _SAME:
        if node.has(2) and bool(node.known(2).any()):
            raise NotImported("it is in training mode")
        same[node.outputs[0]] = node.array(0)
        return []
    if (array := constant(node)) is not None:
        _learn(node.values, node.outputs[0], array)
        return []
    reader = READERS.get(node.operator)
    if reader is None:
        raise NotImported("no layer means it")
    made = with_own_names(reader(node), node.outputs, names)
    if unread := sorted(node.attributes.keys() - node.attributes.read - _TOLD_BY_TYPES):
        raise NotImported(f"no layer means its attribute '{unread[0]}'")
    left = []
    for layer in made:
        constants = node.values.constants
        node.values.types.setdefault(layer.name, layer.type)
        if layer.arrays and layer.operator != "dequantize" and all(name in constants for name in layer.arrays):
            operands = [constants[o] if isinstance(o, str) else o for o in layer.inputs]
            result = OPERATORS[layer.operator].evaluate(layer, operands)
            array = np.asarray(result, form_dtype(layer.type.element)).reshape(layer.type.shape)
            _learn(node.values, layer.name, array)
        else:
            left.append(layer)
    return left


def _learn(values: OnnxValues, name: str, array: Array) -> None:
    values.constants[name] = array
    if (element := array_element_type(array)) is not None:
        values.types[name] = TensorType(element, array.shape)
