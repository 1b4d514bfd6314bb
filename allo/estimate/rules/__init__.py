"""Rules of tools: what they do to a module unasked, before it is scheduled."""

from __future__ import annotations

from ...ir.module import Module
from ...target import ToolRules
from ...timing.rewrites import plain_operations
from .automatic import mark_pipelines
from .flattened import flatten_nests


def as_the_tool_reads(module: Module, rules: ToolRules) -> Module:
    """The module with the pipelines that a tool makes, with statements between loops in the innermost one, in plain
    operations."""
    if rules.plain_operations is not None:
        module = plain_operations(module)
    if rules.automatic_pipelines is None and rules.flattened_nests is None:
        return module
    read = module.clone()
    for function in read.functions():
        if rules.automatic_pipelines is not None:
            mark_pipelines(function, rules.automatic_pipelines.threshold)
        if rules.flattened_nests is not None:
            flatten_nests(function)
    read.verify()
    return read
