"""Layers of an exported program, or one error with all that no layer means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath

from ..errors import Diagnostic, ModelError
from ..ir.names import unique_name
from ..ir.types import Bool, TensorType
from .aten import READERS
from .aten_quantized import QUANTIZED
from .composed import with_own_names
from .exported import MALFORMED, AtenNode, ExportedProgram, NotImported, TensorName
from .graph import Layer, LayerGraph, LayerOrigin, Operand
from .node_layers import NodeLayers

_SAME = {
    f"aten.{name}" for name in (
        "clone.default", "alias.default", "detach.default", "detach_.default", "lift_fresh_copy.default",
        "contiguous.default", "dropout.default", "native_dropout.default",
    )
}  # fmt: skip
_CONVERSIONS = {
    f"aten.{name}" for name in ("_to_copy.default", "to.dtype", "to.dtype_layout", "to.device", "copy.default")
}
_NOTHING = ("aten._assert", "aten.sym_constrain_range", "aten.sym_size")


def missing(origin: LayerOrigin, what: str, why: str = "") -> Diagnostic:
    """One thing that cannot be imported."""
    module = f" of module '{origin.module}'" if origin.module else ""
    return Diagnostic(f"{what}{module} cannot be imported{f': {why}' if why else ''}", origin.at)


def reason(error: Exception) -> str:
    """Why a node cannot be read."""
    return str(error) if isinstance(error, NotImported) else f"its arguments do not fit ({error})"


def all_missing(found: Iterable[Diagnostic]) -> ModelError:
    """The error that shows all of them."""
    return ModelError.collected(found)


def layers_of(program: ExportedProgram) -> LayerGraph:
    """The graph of an exported program. Raises ModelError with every node that cannot be read."""
    same: dict[str, str] = {}
    known = {*program.arguments, *program.constants}
    names = {*known, *(name for node in program.nodes for name in node.outputs)}
    layers: list[Layer] = []
    wrong: list[Diagnostic] = []
    for node in program.nodes:
        if node.target.startswith(_NOTHING):
            continue
        try:
            made = with_own_names(_read(node, same), node.outputs, names)
        except (NotImported, *MALFORMED) as error:
            wrong.append(missing(node.origin, f"the operator {node.target}", reason(error)))
        else:
            layers += made
            here = known | {layer.name for layer in made}
            absent = [name for layer in made for name in layer.arrays if name not in here]
            if absent and not wrong:
                text = f"it needs '{absent[0]}', a second result of another operator"
                wrong.append(missing(node.origin, f"the operator {node.target}", text))
            known |= {layer.name for layer in made}
        known |= set(node.outputs) if wrong else set()
    makers = {name: node for node in program.nodes for name in node.outputs}
    for name in (*program.results, *program.updates.values()):
        if not wrong and same.get(name, name) not in known and name in makers:
            text = f"its result '{name}' is not computed"
            wrong.append(missing(makers[name].origin, f"the operator {makers[name].target}", text))
    if wrong:
        raise all_missing(wrong)
    changed = set(program.updates)
    return LayerGraph(
        kernel_name(PurePath(program.name).stem),
        {name: program.types[name] for name in program.arguments},
        {name: array for name, array in program.constants.items() if name not in changed},
        tuple(layers),
        tuple(same.get(name, name) for name in program.results),
        {argument: same.get(name, name) for argument, name in program.updates.items()},
        program.targets,
    )


def kernel_name(wanted: str) -> str:
    """A name that functions can have."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in wanted).strip("_")
    return unique_name(name if name[:1].isalpha() else f"model_{name}".strip("_"), set())


def _read(node: AtenNode, same: dict[str, str]) -> list[Layer]:
    """The layers of a node; none for one whose result is its operand, which `same` learns."""
    if node.target.endswith("dropout.default") and node.arguments.get("train") is not False and node.float("p", 0.5):
        raise NotImported("it drops values at random (train)")
    if node.target in _SAME or node.target in _CONVERSIONS:
        source = _through(node, same)
        if source is None:
            raise NotImported("its operand is not an array")
        if node.type_of(source) == node.type_of(node.outputs[0]):
            same[node.outputs[0]] = source
            return []
        return _converted(node, source)
    reader = QUANTIZED.get(node.target)
    if node.target.startswith("aten."):
        reader = READERS.get(node.target.removeprefix("aten."))
    if reader is None:
        raise NotImported("no layer means it")
    return [_renamed(layer, same) for layer in reader(node)]


def _converted(node: AtenNode, source: str) -> list[Layer]:
    """The elements of `source` in the shape and the type of the result."""
    own, kind = node.type_of(source), node.type_of(node.outputs[0])
    layers = NodeLayers(node)
    if own.element != kind.element:
        is_last = own.shape == kind.shape
        source = layers.add("" if is_last else "converted", "convert", (source,), TensorType(kind.element, own.shape))
    if own.shape != kind.shape:
        layers.add("", "expand", (source,), kind)
    return layers.made


def _through(node: AtenNode, same: dict[str, str]) -> str | None:
    """What a node passes on: `src` of a copy, else the first array."""
    given = node.arguments.get("src") or next(iter(node.arguments.values()), None)
    return same.get(given.name, given.name) if isinstance(given, TensorName) else None


def _renamed(layer: Layer, same: dict[str, str]) -> Layer:
    inputs: tuple[Operand, ...] = tuple(same.get(o, o) if isinstance(o, str) else o for o in layer.inputs)
    if layer.operator in ("logical_and", "logical_or", "logical_not") and not _is_truth(layer.type):
        raise NotImported("it works on the bits of integers")
    return replace(layer, inputs=inputs)


def _is_truth(kind: TensorType) -> bool:
    return isinstance(kind.element, Bool)
