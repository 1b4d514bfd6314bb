"""Regions for arrays of AMD NPUs, with the steps that map them on cores."""

from .modules.gemm import GEMM

__all__ = ["GEMM"]
