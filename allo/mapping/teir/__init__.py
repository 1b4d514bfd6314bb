"""Tensor contractions as values: TECs of the tiled execution IR, their rules, optimisation steps, cost, choice."""

from .choose import chosen_plan, fused
from .cost import WIDE, Processor, RegisterBlock, TecCost, registers_for, shared_cycles
from .plan import TecPlan, TecStep
from .rules import ORIGINAL, ORIGINAL_NPU, PROCESSOR, TecDomain, inferred_type
from .values import DataType, DimType, ExecType, PrimFirst, PrimLast, PrimMain, Tec, TecDimension, word

__all__ = [
    "ORIGINAL",
    "ORIGINAL_NPU",
    "PROCESSOR",
    "WIDE",
    "DataType",
    "DimType",
    "ExecType",
    "PrimFirst",
    "PrimLast",
    "PrimMain",
    "Processor",
    "RegisterBlock",
    "Tec",
    "TecCost",
    "TecDimension",
    "TecDomain",
    "TecPlan",
    "TecStep",
    "chosen_plan",
    "fused",
    "inferred_type",
    "registers_for",
    "shared_cycles",
    "word",
]
