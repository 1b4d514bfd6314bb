"""Operators of layers: what each computes on NumPy arrays, and as typed values of the front end."""

from .layer_call import LayerCall, LayerOperator
from .moves import MOVES, put
from .pointwise import POINTWISE
from .quantized import QUANTIZED
from .shapes import SUBSCRIPTS, WrongShape, check_layer
from .sums import SUMS
from .windows import WINDOWS

OPERATORS: dict[str, LayerOperator] = {**POINTWISE, **SUMS, **WINDOWS, **MOVES, **QUANTIZED}

__all__ = ["OPERATORS", "SUBSCRIPTS", "LayerCall", "LayerOperator", "WrongShape", "check_layer", "put"]
