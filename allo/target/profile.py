"""Profiles: who makes hardware of a module, with which control, operators and rules; each rule with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .components import Control, FloatOperator, IntegerOperator, MemoryKind


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a tool does unasked, and where that is said or seen."""

    source: str


@dataclass(frozen=True, slots=True)
class AutomaticPipelines(ToolRule):
    """Innermost loops of more iterations than the threshold are pipelined, else the loop around them is."""

    threshold: int


@dataclass(frozen=True, slots=True)
class ShortRecurrences(ToolRule):
    """Recurrences that a pragma asks to repeat in less than `below` cycles get operators with fewer registers."""

    below: int
    operators: tuple[FloatOperator, ...]


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What a tool does unasked; None: it does not. `unsafe_math` is done if a user asks for it.

    `own_hardware`: it is built by `allo.backend.rtl`, of the module with the rewrites done and the loops unrolled, and
    what waits for a FIFO stands still only from then on.
    """

    automatic_pipelines: AutomaticPipelines | None = None
    flattened_nests: ToolRule | None = None
    overlapped_nests: ToolRule | None = None
    short_recurrences: ShortRecurrences | None = None
    shared_operators: ToolRule | None = None
    automatic_partitions: ToolRule | None = None
    unsafe_math: ToolRule | None = None
    own_hardware: ToolRule | None = None
    plain_operations: ToolRule | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """Who makes hardware of a module: control, rules, and what takes the place of the target's own values.

    `memories` and `integers` replace those of the same name (without delays of their own, these have those of the
    target); `floats`, where there are any, all of the target.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    control: Control
    rules: ToolRules
    memories: Mapping[str, MemoryKind]
    integers: Mapping[str, IntegerOperator]
    floats: tuple[FloatOperator, ...]
