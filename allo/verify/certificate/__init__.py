"""Certificates of proofs, checked without the prover."""

from .check import problems

__all__ = ["problems"]
