"""Entry of published Allo for models of PyTorch: `allo.frontend.from_pytorch`, which also builds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..customize.schedule import customize
from ..errors import AlloError
from .pytorch import from_pytorch as imported


def from_pytorch(
    model: Any,
    example_inputs: Any,
    leaf_modules: Any = None,
    verbose: bool = False,
    enable_tensor: bool = False,
    target: str = "llvm",
    mode: str | None = None,
    project: str | None = None,
) -> Any:
    """What `Schedule.build` gives for the kernel of `model`, or with `target="mlir"` its schedule.

    Weights are constants; `verbose` prints the layers and the module. Errors are those of `allo.from_pytorch` and
    `Schedule.build`; exported programs have no `leaf_modules`, and AlloError says so.
    """
    if leaf_modules is not None:
        raise AlloError(
            "leaf_modules belong to the tracer of published Allo, and exported programs have none",
            hint="leave them out: norms and attention are one layer each, and all else is exported as it is",
        )
    kernel = imported(model, example_inputs)
    schedule = customize(kernel, verbose=verbose, enable_tensor=enable_tensor)
    if verbose:
        print(kernel)
        print(schedule.module)
    if target == "mlir":
        return schedule
    build: Callable[..., Any] = schedule.build
    return build(target=target, mode=mode, project=project)
