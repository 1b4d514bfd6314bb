"""Arrays by the names that programs give them: `npu1`, `npu2`, and parts of them such as `npu1_2col`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...errors import TargetError
from ...target import ProcessorArray, load_target

_NAMES = {"npu1": "xdna1_npu1", "npu2": "xdna2_npu2"}
_PART = re.compile(r"(npu[12])(?:_(\d+)col)?")


def array_of(device: Any) -> ProcessorArray:
    """The array of that name, or of a target. Raises TargetError if there is none, or if it is no array."""
    named = _PART.fullmatch(device) if isinstance(device, str) else None
    if named is None:
        found = load_target(device)
        if not isinstance(found, ProcessorArray):
            raise TargetError(
                f"tasks are mapped on arrays of processors, and '{found.name}' is none", hint='take device_type="npu1"'
            )
        return found
    whole = load_target(_NAMES[named[1]])
    assert isinstance(whole, ProcessorArray)
    columns = int(named[2] or whole.columns)
    if not 1 <= columns <= whole.columns:
        raise TargetError(f"'{named[1]}' has {whole.columns} columns, and {columns} are asked for")
    return whole if columns == whole.columns else replace(whole, part=device, columns=columns)
