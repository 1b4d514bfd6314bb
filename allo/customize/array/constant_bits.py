"""Elements of a constant array, read from its attribute and written to it as plain bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mlir import ir

from ...ir.context import context, unknown_location
from ...ir.dense import dense_bits


def element_bits(attribute: ir.Attribute, width: int) -> np.ndarray[Any, Any]:
    """The elements, of `width` bits each, as Python integers that are not negative, in the shape of the array."""
    shaped = ir.ShapedType(ir.DenseElementsAttr(attribute).type)
    shape = [shaped.get_dim_size(dimension) for dimension in range(shaped.rank)]
    found = dense_bits(attribute, shaped.element_type, math.prod(shape))
    mask = (1 << width) - 1
    return np.array([number & mask for number in found], object).reshape(shape)


def words_attribute(words: np.ndarray[Any, Any], word: ir.Type) -> ir.Attribute:
    """The attribute of an array of words, given as Python integers that are not negative."""
    made = ir.RankedTensorType.get(words.shape, word, None, unknown_location())
    return ir.Attribute.parse(f"dense<{words.tolist()}> : {made}", context())
