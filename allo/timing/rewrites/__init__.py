"""Rewrites before scheduling: what a schedule may assume, done to the module, so that what is scheduled is emitted."""

from .pipeline import NAMES, PIPELINE, Prepared, RewriteOptions, prepared
from .plain_operations import plain_operations
from .record import Rewrite

__all__ = ["NAMES", "PIPELINE", "Prepared", "Rewrite", "RewriteOptions", "plain_operations", "prepared"]
