"""The operators of the kernel language under the name `allo.dsl`: `from allo.dsl import matmul`."""

from .frontend.dsl import *  # noqa: F403
from .frontend.dsl import __all__ as __all__
