"""Steps as operations of the `allo` dialect, written and read back."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from types import UnionType
from typing import Any

from mlir import ir

from ...errors import InternalError, Location, ScheduleError, counted
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.walk import location_of
from .handles import HANDLES, Buffer, FifoName, Function, Handle, Loop, Nest
from .record import Step
from .signature import call_signature
from .text import Primitive, find_primitive, hints_of, make_step, values_of

_HANDLE = "!allo.handle"


def write_steps(module: Module, steps: Iterable[Step], primitives: Mapping[str, Primitive]) -> Module:
    """A copy of `module` with an `allo.schedule` of `steps` behind its functions."""
    result = module.clone()
    point = ir.InsertionPoint(result.mlir.body)
    schedule = ir.Operation.create("allo.schedule", regions=1, ip=point, loc=unknown_location())
    _Writer(schedule.regions[0].blocks.append(), primitives).write(steps)
    result.verify()
    return result


class _Writer:
    """The values of the handles that are written already."""

    def __init__(self, block: ir.Block, primitives: Mapping[str, Primitive]) -> None:
        self.point = ir.InsertionPoint(block)
        self.primitives = primitives
        self.values: dict[Handle, ir.Value] = {}

    def write(self, steps: Iterable[Step]) -> None:
        for step in steps:
            operands: list[ir.Value] = []
            values: dict[str, ir.Attribute] = {}
            parameters = call_signature(self.primitives[step.name]).parameters
            for name, value in step.arguments:
                items = value if name == step.variadic else (value,)
                is_optional = parameters[name].default is not inspect.Parameter.empty
                if not is_optional and all(isinstance(item, HANDLES) for item in items):
                    operands += [self._handle(item) for item in items]
                elif value is not None:
                    values[name] = _attribute(value)
            made = _made(step.result)
            attributes = {
                "primitive": ir.StringAttr.get(step.name, context()),
                "values": ir.DictAttr.get(values, context()),
            }
            op = self._create("allo.step", operands, attributes, len(made), step.at)
            self.values.update(zip(made, op.results, strict=True))

    def _handle(self, handle: Handle) -> ir.Value:
        if handle not in self.values:
            texts = _reference(handle)
            attributes = {name: ir.StringAttr.get(text, context()) for name, text in texts.items()}
            kind = type(handle).__name__.lower()
            self.values[handle] = self._create(f"allo.{kind}", [], attributes, 1, None).results[0]
        return self.values[handle]

    def _create(
        self,
        name: str,
        operands: list[ir.Value],
        attributes: dict[str, ir.Attribute],
        results: int,
        at: Location | None,
    ) -> ir.Operation:
        location = unknown_location()
        if at is not None:
            location = ir.Location.file(at.file, at.line, at.column or 0, context())
        types = [ir.Type.parse(_HANDLE, context())] * results
        return ir.Operation.create(
            name, results=types, operands=operands, attributes=attributes, ip=self.point, loc=location
        )


def _reference(handle: Handle) -> dict[str, str]:
    """The attributes of the operation that names `handle`."""
    match handle:
        case Loop():
            return {"function": handle.function, "target": f"{handle.nest}.{handle.name}"}
        case Function():
            return {"function": handle.name}
        case _:
            return {"function": handle.function, "target": handle.name}


def _made(result: Any) -> list[Handle]:
    """The handles among what a primitive has returned."""
    return [item for item in (result if isinstance(result, tuple) else (result,)) if isinstance(item, HANDLES)]


def _attribute(value: Any) -> ir.Attribute:
    match value:
        case bool():
            return ir.BoolAttr.get(value, context())
        case int():
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context()), value)
        case float():
            return ir.FloatAttr.get_f64(value, ir.Location.unknown(context()))
        case Enum():
            return ir.StringAttr.get(value.name, context())
        case str():
            return ir.StringAttr.get(value, context())
        case Loop() | Buffer() | Function() | Nest() | FifoName():
            return ir.StringAttr.get(str(value), context())
        case list() | tuple():
            return ir.ArrayAttr.get([_attribute(item) for item in value], context())
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        named = {name: _attribute(item) for name, item in fields.items() if item is not None}
        return ir.DictAttr.get(named, context())
    raise InternalError(f"no attribute for {value!r}")


def take_schedules(module: Module) -> tuple[Module, list[ir.Operation]]:
    """`module` without its `allo.schedule` operations, and the operations in them in their order.

    The operations belong to `module`: keep it while you use them.
    """
    rest = module.clone()
    for op in list(rest.mlir.body.operations):
        if op.operation.name == "allo.schedule":
            op.operation.erase()
    schedules = [op for op in module.mlir.body.operations if op.operation.name == "allo.schedule"]
    return rest, [inner.operation for op in schedules for inner in op.operation.regions[0].blocks[0].operations]


class StepReader:
    """Turns operations into steps, one after the other: the results of a step are given back by `made`."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        self.primitives = primitives
        self.values: dict[ir.Value, Any] = {}

    def read(self, op: ir.Operation) -> Step | None:
        """The step of `op`; None for an operation that only names a handle. ScheduleError if it is neither."""
        texts = {n: ir.StringAttr(a).value for n, a in op.attributes.items() if n in ("function", "target")}
        match op.name:
            case "allo.loop" | "allo.buffer" | "allo.nest":
                self.values[op.results[0]] = f"{texts['function']}:{texts['target']}"
            case "allo.function":
                self.values[op.results[0]] = texts["function"]
            case "allo.step":
                return self._step(op)
            case _:
                raise ScheduleError(f"`{op.name}` is no step")
        return None

    def made(self, op: ir.Operation, result: Any) -> None:
        """The step of `op` was applied and gave `result`."""
        handles = _made(result)
        if len(op.results) > len(handles):
            raise ScheduleError(f"`{_name_of(op)}` returns {counted(len(handles), 'handle')}")
        self.values.update(zip(op.results, handles, strict=False))

    def _step(self, op: ir.Operation) -> Step:
        name = _name_of(op)
        primitive = find_primitive(name, self.primitives)
        hints, values = hints_of(primitive), values_of(primitive)
        attributes = {item.name: item.attr for item in ir.DictAttr(op.attributes["values"])}
        handles = [self.values[operand] for operand in op.operands]
        arguments: dict[str, Any] = {}
        positional: list[Any] = []
        for parameter in call_signature(primitive).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional, handles = handles, []
            elif parameter.name in attributes:
                attribute = attributes.pop(parameter.name)
                arguments[parameter.name] = _value(attribute, hints[parameter.name], values)
            elif handles and parameter.default is parameter.empty:
                arguments[parameter.name] = handles.pop(0)
        if attributes:
            raise ScheduleError(f"`{name}` has no parameter '{next(iter(attributes))}'")
        if handles:
            raise ScheduleError(f"`{name}` takes {counted(len(op.operands) - len(handles), 'handle')}")
        return make_step(primitive, positional, arguments, location_of(op))


def _name_of(op: ir.Operation) -> str:
    name: str = ir.StringAttr(op.attributes["primitive"]).value
    return name


def at_operation(error: ScheduleError, op: ir.Operation) -> ScheduleError:
    """`error` with the place of the operation that asked for the step, where it has none."""
    at = location_of(op)
    error.diagnostics = tuple(dataclasses.replace(d, at=d.at or at) for d in error.diagnostics)
    return error


def _value(attribute: ir.Attribute, hint: Any, values: Mapping[str, type]) -> Any:
    """The argument that an attribute stands for, where `hint` is the type of its parameter."""
    kinds = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    match attribute:
        case ir.BoolAttr():
            return attribute.value
        case ir.IntegerAttr() if isinstance(attribute.type, ir.IndexType) or _is_machine_integer(attribute.type):
            return attribute.value
        case ir.FloatAttr():
            return float(attribute.value)
        case ir.StringAttr():
            kind = next((k for k in kinds if isinstance(k, type) and issubclass(k, Enum)), None)
            if kind is None or attribute.value not in kind.__members__:
                return attribute.value
            return kind[attribute.value]
        case ir.ArrayAttr():
            return [_value(item, None, values) for item in attribute]
        case ir.DictAttr():
            fields = {item.name: _value(item.attr, None, values) for item in attribute}
            record: Any = next((k for k in kinds if isinstance(k, type) and dataclasses.is_dataclass(k)), None)
            if record is None:
                raise ScheduleError(f"`{attribute}` has no meaning here")
            try:
                return record(**fields)
            except (TypeError, ValueError) as error:
                raise ScheduleError(f"`{attribute}`: {error}") from None
    raise ScheduleError(f"`{attribute}` has no meaning as an argument of a primitive")


def _is_machine_integer(kind: ir.Type) -> bool:
    """Whether the bindings read values of the type: they abort where one needs more than 64 bits."""
    return isinstance(kind, ir.IntegerType) and kind.width <= 64 and not kind.is_unsigned
