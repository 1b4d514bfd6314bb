"""The whole schedule language on one screen: a file, a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .step.primitive import is_primitive


class Primitives:
    """The methods that rewrite the module of a schedule, in the order of the reference."""

    # isort: off
    from .split import split
    from .reorder import reorder
    from .fuse import fuse
    from .fission import fission
    from .compute_at import compute_at
    from .skew import skew
    from .peel import peel
    from .unroll import unroll
    from .unfold import unfold
    from .pipeline import pipeline
    from .parallel import parallel
    from .dataflow import dataflow
    from .inline import inline
    from .specialize import specialize
    from .separate import separate
    from .unify import unify
    from .partition import partition
    from .distribute import distribute
    from .buffer_at import buffer_at
    from .reuse_at import reuse_at
    from .relay import relay
    to = relay
    from .convert import convert
    from .interleave_sums import interleave_sums
    from .fuse_streams import fuse_streams
    from .widen import widen
    from .unroll_stages import unroll_stages
    from .size_fifos import size_fifos
    from .reshape import reshape
    from .pack import pack
    from .bind import bind
    from .place_arrays import place_arrays
    from .place_arguments import place_arguments
    from .place_stages import place_stages
    # isort: on

    @classmethod
    def primitives(cls) -> dict[str, Callable[..., Any]]:
        """The primitives by name, in the order of the table."""
        return {name: member for name, member in vars(Primitives).items() if is_primitive(member)}
