"""Einsum expressions as programs of contractions: on NumPy arrays, as schedules, as TECs."""

from .contraction import Operand, binary_tec, operand, unary_tec
from .expression import EinsumExpression
from .hardware import hardware_schedule
from .kernel import kernel_text, plain_schedule, tec_schedule
from .on_array import ArrayContraction, ArrayResult, array_contraction, einsum_on_array
from .program import EinsumProgram, EinsumStep, einsum_program
from .run import einsum
from .systolic import systolic_schedule
from .tree import ContractionPath, TreeStep, contraction_tree

__all__ = [
    "ArrayContraction",
    "ArrayResult",
    "ContractionPath",
    "EinsumExpression",
    "EinsumProgram",
    "EinsumStep",
    "Operand",
    "TreeStep",
    "array_contraction",
    "binary_tec",
    "contraction_tree",
    "einsum",
    "einsum_on_array",
    "einsum_program",
    "hardware_schedule",
    "kernel_text",
    "operand",
    "plain_schedule",
    "systolic_schedule",
    "tec_schedule",
    "unary_tec",
]
