"""External kernels of published programs for the NPU: a function of C++, and which parameters it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import KernelError
from ..external.module import IPModule
from ..external.options import FilePath, paths
from ..headers import templates_directory


class ExternalModule(IPModule):
    """A function of C++ that tasks call, and that cores link: `ExternalModule("f", "f.cc", [0, 1], [2])`.

    `input_idx` are the numbers of the parameters that it only reads, `output_idx` of those that it may change; each is
    in one of both. What it changes is brought in too, since it may read it: a task that overwrites it first, as by
    `c[:] = 0`, needs no transfer for that. Other options are those of `IPModule`; it runs on CPUs as one does, where
    `aie_api/aie.hpp`, `lut_based_ops.h` and `aie_kernel_utils.h` are headers of ours that compute what the API says.

    Raises KernelError for parameters in none or both, and for one that is `const` and among the outputs.
    """

    def __init__(
        self,
        top: str,
        impl_path: str | Path,
        input_idx: Sequence[int],
        output_idx: Sequence[int],
        include_paths: FilePath | Sequence[FilePath] | None = None,
        **options: Any,
    ) -> None:
        host = templates_directory() / "aie" / "host"
        super().__init__(top, impl_path, [*paths("include_paths", include_paths), host], **options)
        parameters = self._kernel.parameters
        given = sorted([*input_idx, *output_idx])
        if given != list(range(len(parameters))):
            raise KernelError(
                f"'{top}' has parameters 0 to {len(parameters) - 1}, each to be an input or an output; "
                f"got input_idx={list(input_idx)} and output_idx={list(output_idx)}"
            )
        for number in output_idx:
            if not parameters[number].written:
                raise KernelError(
                    f"parameter {number} of '{top}', '{parameters[number].name}', is const, and output_idx says that "
                    "it is changed",
                    hint="list it in input_idx",
                )
        marked = tuple(replace(p, written=k in output_idx) for k, p in enumerate(parameters))
        self._kernel = replace(self._kernel, parameters=marked)
