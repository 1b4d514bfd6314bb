"""Upstream's helpers under the relative name by which generated bindings ask for them."""

from mlir.dialects._ods_common import *  # noqa: F403
from mlir.dialects._ods_common import _cext  # noqa: F401
