"""Upstream's `mlir.ir` under the relative name by which generated bindings ask for it."""

from mlir.ir import *  # noqa: F403
from mlir.ir import register_attribute_builder  # noqa: F401
