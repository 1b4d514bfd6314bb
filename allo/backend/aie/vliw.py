"""Kernels in Python that cores link as functions of C++, as `allo.backend.aie.vliw` of published Allo names them."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from ...customize import customize
from ...errors import KernelError
from ..arguments.parameters import parameters_of, results_of
from ..external.compiler import cache_folder
from ..hls import HLSModule
from .external_kernel import ExternalModule

__all__ = ["kernel"]


@overload
def kernel(function: Callable[..., Any], /) -> ExternalModule: ...
@overload
def kernel(*, project: str | Path | None = None, **options: Any) -> Callable[[Callable[..., Any]], ExternalModule]: ...


def kernel(
    function: Callable[..., Any] | None = None, /, *, project: str | Path | None = None, **options: Any
) -> Any:
    """A kernel in Python as scalar C++ for the compiler of cores: `@vliw.kernel`, or `@vliw.kernel(project="folder")`.

    Tasks call what it gives as any `ExternalModule`, and so does Python, with NumPy arrays: parameters that the kernel
    writes are outputs, all others inputs. The file `<name>.cc` is in the folder `project`, or else in the cache.
    `options` are those of `allo.customize`.

    Raises KernelError for a kernel that returns a value, or whose arguments are no arrays, TypeError for an option that
    there is not.
    """
    known = list(inspect.signature(customize).parameters)[1:]
    for name in options:
        if name not in known:
            listed = ", ".join(known)
            raise TypeError(f"vliw.kernel() has no option '{name}'; it takes project, and of allo.customize {listed}")
    if function is None:
        return lambda given: _external(given, project, options)
    return _external(function, project, options)


def _external(function: Callable[..., Any], project: str | Path | None, options: dict[str, Any]) -> ExternalModule:
    module = customize(function, **options).ir
    parameters = parameters_of(module)
    if results_of(module) or any(parameter.form is None or not parameter.form[1] for parameter in parameters):
        raise KernelError(
            f"'{module.top}' is no function that cores link: these take arrays of numbers and return nothing",
            hint="let it write to an argument; pass a number as an array of one element",
        )
    emitted = HLSModule(module).emitted
    name = emitted.top
    text = emitted.code.replace(emitted.preamble, f'{emitted.preamble}\n\nextern "C" {emitted.prototype};', 1)
    folder = cache_folder("vliw") / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = folder if project is None else Path(project)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.cc"
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)
    written = [parameter.written for parameter in parameters]
    numbers = range(len(parameters))
    return ExternalModule(
        name, file.resolve(), [n for n in numbers if not written[n]], [n for n in numbers if written[n]]
    )
