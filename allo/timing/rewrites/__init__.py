"""Rewrites before scheduling: what a schedule may assume, done to the module, so that what is scheduled is emitted."""

from .pipeline import NAMES, OF_OWN_HARDWARE, PIPELINE, Prepared, RewriteOptions, prepared, prepared_again
from .plain_operations import plain_operations
from .record import Rewrite

__all__ = [
    "NAMES",
    "OF_OWN_HARDWARE",
    "PIPELINE",
    "Prepared",
    "Rewrite",
    "RewriteOptions",
    "plain_operations",
    "prepared",
    "prepared_again",
]
