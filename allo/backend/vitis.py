"""Settings of the linker of Vitis: which bank of memory each argument of a kernel is in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .hls import is_available
from .hls.interface.settings import bank_text

__all__ = ["generate_hbm_config", "is_available"]


def generate_hbm_config(top: Any, hbm_mapping: Any, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of `link.cfg` for the kernel `top`, a bank (`0`, `"HBM[0]"`, `"DDR[1]"`) for each name of `hbm_mapping`.

    The two may be given in the other order. `names` tells what ports of the hardware are called that the program calls
    otherwise, such as `output_0`. Projects write the file themselves (`configs={"hbm_mapping": ...}`). Raises
    TargetError for what is no bank.
    """
    if isinstance(top, Mapping):
        top, hbm_mapping = hbm_mapping, top
    lines = [f"sp={top}_1.{names.get(name, name)}:{bank_text(name, bank)}" for name, bank in hbm_mapping.items()]
    return "\n".join(["[connectivity]", *lines, ""])
