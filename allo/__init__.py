"""Allo: plain Python kernels, schedules that rewrite them step by step, backends that run them."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from . import dsl, errors
from .customize import Partition, Schedule, customize
from .errors import (
    AlloError,
    CheckError,
    ContractionError,
    DataflowError,
    KernelError,
    KernelNote,
    LayoutConflict,
    ModelError,
    ScheduleError,
    ScheduleNote,
    SearchError,
    TargetError,
    ToolError,
    VerificationError,
)
from .frontend.dsl import (
    abs,
    add,
    bmm,
    concat,
    conv2d,
    copy,
    cos,
    div,
    exp,
    gelu,
    grid,
    layernorm,
    linear,
    log,
    log2,
    log10,
    matmul,
    maxpool,
    meta_elif,
    meta_else,
    meta_for,
    meta_if,
    mul,
    ones,
    power,
    reduction,
    relu,
    sin,
    softmax,
    sqrt,
    sub,
    sumpool,
    tan,
    tanh,
    transpose,
    tril,
    view,
    zeros,
)
from .frontend.regions import all_gather, allreduce, reduce_scatter
from .memory import Layout, Memory
from .tracebacks import show_users_frames

show_users_frames()

# What many programs never use is loaded when it is first asked for: each would add to the time of `import allo`.
if TYPE_CHECKING:
    from . import backend as backend
    from . import dataflow as dataflow
    from . import equivalence as equivalence
    from . import importers as importers
    from . import layout as layout
    from . import mapping as mapping
    from . import passes as passes
    from . import report as report
    from . import target as target
    from . import testing as testing
    from . import tile as tile
    from . import utils as utils
    from .backend.cpu import LLVMModule
    from .backend.external.module import IPModule
    from .backend.hls import HLSModule
    from .build import build
    from .compose import compose
    from .equivalence import verify
    from .estimate import Estimate, estimate
    from .frontend.reference.compare import check_python
    from .frontend.reference.difference import PythonDifference
    from .importers import from_onnx, from_pt2, from_pytorch
    from .importers.einsum import einsum
    from .passes import invoke_mlir_parser
    from .reference import interpret
    from .search import search
    from .tile import map

    __version__: str
else:
    _LATER = {
        "Estimate": ".estimate",
        "HLSModule": ".backend.hls",
        "IPModule": ".backend.external.module",
        "LLVMModule": ".backend.cpu",
        "PythonDifference": ".frontend.reference.difference",
        "backend": "",
        "build": ".build",
        "check_python": ".frontend.reference.compare",
        "compose": ".compose",
        "dataflow": "",
        "einsum": ".importers.einsum",
        "equivalence": "",
        "estimate": ".estimate",
        "from_onnx": ".importers",
        "from_pt2": ".importers",
        "from_pytorch": ".importers",
        "importers": "",
        "interpret": ".reference",
        "invoke_mlir_parser": ".passes",
        "layout": "",
        "library": "",
        "map": ".tile",
        "mapping": "",
        "passes": "",
        "report": "",
        "target": "",
        "search": ".search",
        "testing": "",
        "tile": "",
        "utils": "",
        "verify": ".equivalence",
    }

    class _Package(ModuleType):
        """Python binds a package, when it is loaded, in the one around it: not over a function of the same name."""

        def __setattr__(self, name: str, value: object) -> None:
            if not (isinstance(value, ModuleType) and _LATER.get(name)):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return import_module("importlib.metadata").version("allo")
        if name not in _LATER:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        source = _LATER[name]
        value = getattr(import_module(source, __name__), name) if source else import_module(f".{name}", __name__)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATER, "__version__"})


__all__ = [
    "AlloError",
    "CheckError",
    "ContractionError",
    "DataflowError",
    "Estimate",
    "HLSModule",
    "IPModule",
    "KernelError",
    "KernelNote",
    "LLVMModule",
    "Layout",
    "LayoutConflict",
    "Memory",
    "ModelError",
    "Partition",
    "PythonDifference",
    "Schedule",
    "ScheduleError",
    "ScheduleNote",
    "SearchError",
    "TargetError",
    "ToolError",
    "VerificationError",
    "abs",
    "add",
    "all_gather",
    "allreduce",
    "bmm",
    "build",
    "check_python",
    "compose",
    "concat",
    "conv2d",
    "copy",
    "cos",
    "customize",
    "div",
    "dsl",
    "einsum",
    "errors",
    "estimate",
    "exp",
    "from_onnx",
    "from_pt2",
    "from_pytorch",
    "gelu",
    "grid",
    "interpret",
    "invoke_mlir_parser",
    "layernorm",
    "linear",
    "log",
    "log2",
    "log10",
    "map",
    "matmul",
    "maxpool",
    "meta_elif",
    "meta_else",
    "meta_for",
    "meta_if",
    "mul",
    "ones",
    "power",
    "reduce_scatter",
    "reduction",
    "relu",
    "search",
    "sin",
    "softmax",
    "sqrt",
    "sub",
    "sumpool",
    "tan",
    "tanh",
    "transpose",
    "tril",
    "verify",
    "view",
    "zeros",
]
