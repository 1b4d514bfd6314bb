"""Units of hardware: how many there are in the text, and in the estimate of what is built."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import allo
from allo.backend.unrolled import unrolled
from allo.target import Fpga, load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.trees import Trees


def units(kernel: Callable[..., Any] | allo.Schedule, **options: Any) -> Counter[str]:
    """How many units of each module the hardware of a kernel has."""
    s = kernel if isinstance(kernel, allo.Schedule) else allo.customize(kernel)
    code = s.build(target="rtl", **options).code
    return Counter(re.findall(r"^  (allo_(?:mul|f(?:add|sub|mul|div|sqrt))) ", code, re.MULTILINE))


def assert_as_estimated(s: allo.Schedule) -> Counter[str]:
    """There are as many units of each kind as the estimate has of what is built; what it has."""
    device = load_target("u280")
    assert isinstance(device, Fpga)
    device = device.under("rtl")
    module = unrolled(s.ir, device, banks=True)
    trees = Trees(module, TreeOptions(device, assumes=False))
    stated: Counter[str] = Counter()
    for function in module.functions():
        for operator, count in trees.span(function.name.value).units.items():
            stated[operator.name] += count
    found = units(s)
    names = {"add": ("allo_fadd", "allo_fsub"), "mul": ("allo_fmul",), "div": ("allo_fdiv",), "sqrt": ("allo_fsqrt",)}
    for kind, modules in names.items():
        given = sum(count for name, count in stated.items() if name.startswith(f"{kind}_f"))
        assert given == sum(found[name] for name in modules)
    assert stated["mul"] == found["allo_mul"]
    return stated
