"""An external kernel as a value: Python calls it with NumPy arrays, kernels call it as they call kernels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import KernelError
from ...frontend.emit.given_code import EXTERNAL, give, source_attribute
from ...frontend.typing.external import ExternalKernel, ExternalValue
from ...ir.types import AlloType, TensorType
from ..arguments.arrays import pointer_to
from ..arguments.conversion import bound_arguments, converted, refuse_overlap
from ..arguments.parameters import Array, Parameter
from ..arguments.results import result_memory, result_value
from .compiler import find_compiler
from .library import Library, compiled
from .options import FilePath, directions, entry_name, paths, type_texts
from .signature import signature_of
from .source import ExternalSource, found_files


class IPModule(ExternalValue):
    """The function `top` of C++ files, which Python and kernels may call.

        vadd = allo.IPModule(top="vadd", impl="vadd.cpp")
        vadd(A, B, C)                    # NumPy arrays, changed in place; a number that it returns is returned

    `impl` is the file that defines `top`; `impls` are several, of which one does. Relative paths start from the folder
    of the file that makes the module, or else from the current one. Headers are looked for in the folders of `headers`
    and implementations and in `include_paths`. `top` may be in a namespace (`"math::vadd"`) and an instance of a
    template (`"vadd<float, 32>"`). Arrays of fixed extents, pointers, references and numbers can be passed; a
    pointer takes an array of any shape unless `signature` (`["float32[32]", "int32"]`) gives it one. Arrays that are
    not `const` count as written. The kernel must depend on its arguments only: a schedule may reorder its calls.
    An `hls::stream` is an array of its elements: those that the function takes, all of which it must take, or those
    that it puts, as many as the array has; `streams={"a": "in"}` says which, if the body of the function does not.
    Projects of HLS backends get the files, whether `link_hls` asks for it or not.

    Raises ToolError if a file or the compiler is missing or the compiler fails, KernelError if `top` is not found
    or has a parameter that kernels cannot pass. It is compiled when it is first called or built, and kept (see
    `allo.backend.external.compiler`). Calls raise TypeError or ValueError, naming the argument, as built kernels do,
    RuntimeError if the function throws an exception, and DataflowError if it gets from an empty stream or leaves
    elements in one.
    """

    def __init__(
        self,
        top: str,
        impl: FilePath | Sequence[FilePath] | None = None,
        include_paths: FilePath | Sequence[FilePath] | None = None,
        link_hls: bool = False,
        *,
        headers: FilePath | Sequence[FilePath] | None = None,
        impls: FilePath | Sequence[FilePath] | None = None,
        signature: Sequence[str | AlloType | TensorType] | None = None,
        streams: Mapping[str, str] | None = None,
    ) -> None:
        name = entry_name(top)
        given = [*paths("impl", impl), *paths("impls", impls)]
        if not given:
            raise KernelError(
                f"the external kernel '{name}' has no implementation", hint='pass impl="vadd.cpp"'
            )
        folders = _folders()
        self.source = ExternalSource(
            name,
            found_files(given, "implementation", folders),
            found_files(paths("headers", headers), "header", folders),
            tuple(str((folders[0] / path).resolve()) for path in paths("include_paths", include_paths)),
            bool(link_hls),
            type_texts(signature),
            directions(streams),
        )
        self._compiler = find_compiler()
        self._signature = signature_of(self._compiler, self.source)
        self._kernel = replace(self._signature.kernel, call=self)
        give(EXTERNAL, source_attribute(self.kernel))
        self._libraries: dict[tuple[AlloType | TensorType, ...], Library] = {}

    @property
    def top(self) -> str:
        """The name of the function."""
        return self.source.top

    @property
    def kernel(self) -> ExternalKernel:
        """Its name, parameters and result."""
        return self._kernel

    def __repr__(self) -> str:
        listed = ", ".join(map(str, self.kernel.parameters))
        return f"IPModule {self.top}({listed})"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        kernel = self.kernel
        values = bound_arguments(self.top, kernel.parameters, arguments, named)
        parameters = self._parameters(values)
        holders, _, afterwards = converted(parameters, values)
        if afterwards or any(p.is_vendor for p in self._signature.parameters):
            # each is a copy, and one would undo the other
            pairs = zip(parameters, values, strict=True)
            refuse_overlap(parameters, [value if isinstance(p.type, TensorType) else None for p, value in pairs])
        result = None if kernel.result is None else result_memory(kernel.result)
        self._run([p.type for p in parameters], holders if result is None else [*holders, result])
        for bring_back in afterwards:
            bring_back()
        return None if kernel.result is None or result is None else result_value(kernel.result, result)

    def _parameters(self, values: Sequence[Any]) -> list[Parameter]:
        """The parameters of this call: arrays of any shape have that of their argument."""
        found = []
        for parameter, value in zip(self.kernel.parameters, values, strict=True):
            kind = parameter.type
            if kind is None:
                kind = TensorType(parameter.element, value.shape if isinstance(value, np.ndarray) else (-1,))
            found.append(Parameter(parameter.name, kind, parameter.written))
        return found

    def _run(self, types: Sequence[AlloType | TensorType], holders: Sequence[Array]) -> None:
        key = tuple(types)
        if key not in self._libraries:
            self._libraries[key] = compiled(self._compiler, self.source, self._signature, key)
        library = self._libraries[key]
        addresses = [pointer_to(holder) for holder in holders]
        library.function()(*addresses)
        library.raise_failure()


def _folders() -> tuple[Path, ...]:
    """Where relative paths start: the folder of the file that makes the module, and the current one.

    What this class and those made of it do while they are made stands between.
    """
    frame = inspect.currentframe()
    own_files = {__file__, *(inspect.getfile(kind) for kind in IPModule.__subclasses__())}
    while frame is not None and frame.f_code.co_filename in own_files:
        frame = frame.f_back
    file = Path(frame.f_code.co_filename) if frame is not None else None
    own = (file.resolve().parent,) if file is not None and file.is_file() else ()
    return tuple(dict.fromkeys((*own, Path.cwd())))
