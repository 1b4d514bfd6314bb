"""A kernel as machine code, called with NumPy arrays."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from mlir import ir

from ...errors import InternalError, counted
from ...ir.effects import written_arguments
from ...ir.mlir_types import from_mlir
from ...ir.module import Module
from ...ir.types import AlloType, TensorType
from ...ir.walk import argument_names
from .arguments import (
    Array,
    Parameter,
    dtype_of,
    overlapping,
    pointer_to,
    scalar_argument,
    tensor_argument,
)
from .entry import ENTRY, add_entry
from .pipeline import lower


class LLVMModule:
    """The result of `s.build()`: call it with the arguments of the kernel.

    Arrays are passed by reference and changed in place; results are returned (a tuple if there are several). Machine
    code is made at the first call. Raises TypeError or ValueError, naming the argument, for arguments that do not fit.
    """

    def __init__(self, module: Module, *, fastmath: bool = False) -> None:
        top = module.function(module.top)
        signature = ir.FunctionType(ir.TypeAttr(top.operation.attributes["function_type"]).value)
        written = written_arguments(module, module.top)
        self.top_func_name = module.top
        self.module = module.mlir
        self.parameters = tuple(
            Parameter(name, from_mlir(t), position in written)
            for position, (name, t) in enumerate(zip(argument_names(top), signature.inputs, strict=True))
        )
        self.results: tuple[AlloType | TensorType, ...] = tuple(from_mlir(t) for t in signature.results)
        for parameter in self.parameters:
            element = parameter.type.element if isinstance(parameter.type, TensorType) else parameter.type
            dtype_of(element, f"'{parameter.name}'")
        for result in self.results:  # now, rather than at the first call
            dtype_of(result.element if isinstance(result, TensorType) else result, "the result")
        self._lowered = module.clone()
        add_entry(self._lowered)
        lower(self._lowered, fastmath=fastmath)
        self._engine: Any = None
        self._function: Any = None

    @property
    def llvm(self) -> str:
        """The module in the LLVM dialect, as text."""
        return str(self._lowered)

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) != len(self.parameters):
            wanted = ", ".join(map(str, self.parameters))
            takes = f"{counted(len(self.parameters), 'argument')} ({wanted})" if wanted else "no arguments"
            raise TypeError(f"{self.top_func_name}() takes {takes}, got {len(arguments) or 'none'}")
        arrays: list[Array | None] = []
        holders: list[Array] = []
        afterwards = []
        for parameter, value in zip(self.parameters, arguments, strict=True):
            if isinstance(parameter.type, TensorType):
                array, bring_back = tensor_argument(parameter, value)
                arrays.append(array)
                holders.append(array)
                if bring_back is not None:
                    afterwards.append(bring_back)
            else:
                arrays.append(None)
                holders.append(scalar_argument(parameter, value))
        clash = overlapping(self.parameters, arrays)
        if clash is not None:
            first, second = (self.parameters[position].name for position in clash)
            raise ValueError(
                f"arguments '{first}' and '{second}' share memory, and the kernel writes to it; pass a copy"
            )
        outputs = [self._output(result) for result in self.results]
        self._invoke(holders, outputs)
        for bring_back in afterwards:
            bring_back()
        values = [self._returned(result, array) for result, array in zip(self.results, outputs, strict=True)]
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def _output(self, result: AlloType | TensorType) -> Array:
        if isinstance(result, TensorType):
            return np.empty(result.shape, dtype_of(result.element, "the result"))
        return np.empty(1, dtype_of(result, "the result"))

    def _returned(self, result: AlloType | TensorType, array: Array) -> Any:
        return array if isinstance(result, TensorType) else array[0].item()

    def _invoke(self, holders: list[Array], outputs: list[Array]) -> None:
        """Call the machine code: for each argument the address of where its value lies."""
        if self._function is None:
            self._compile()
        slots: list[Any] = []
        for parameter, holder in zip(self.parameters, holders, strict=True):
            slots.append(pointer_to(holder) if isinstance(parameter.type, TensorType) else holder)
        slots.extend(pointer_to(output) for output in outputs)
        packed = (ctypes.c_void_p * max(len(slots), 1))()
        for position, slot in enumerate(slots):
            address = slot.ctypes.data if isinstance(slot, np.ndarray) else ctypes.addressof(slot)
            packed[position] = address
        self._function(packed)

    def reset(self) -> None:
        """Give Stateful variables their first values again."""
        self._engine = self._function = None

    def _compile(self) -> None:
        from .engine import (
            compile_module,  # loads the compiler of LLVM, which `import allo` need not wait for
        )

        self._engine = compile_module(self._lowered)
        address = self._engine.raw_lookup(ENTRY)
        if not address:
            raise InternalError(f"the machine code of '{self.top_func_name}' calls a function that is nowhere defined")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
