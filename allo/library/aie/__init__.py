"""Regions for arrays of AMD NPUs, with the steps that map them on cores."""

from .modules.attention import flash_attention
from .modules.gemm import GEMM

__all__ = ["GEMM", "flash_attention"]
