"""Devices that projects know by name, from `lib/templates/hls/devices.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from ....errors import TargetError, nearest
from ..text.module import template


@dataclass(frozen=True, slots=True)
class Device:
    """A board or device: its part and platform, the banks of each kind of memory, the usual width of a port.

    `banks` is None for a part of which nothing else is known.
    """

    name: str
    part: str
    platform: str
    family: str
    banks: Mapping[str, int] | None
    word_bits: int
    most_frequency: float = 0  # in MHz; 0 if it is not known
    slrs: int = 1  # dies


@cache
def devices() -> Mapping[str, Device]:
    """All devices, by name."""
    data = tomllib.loads(template("devices.toml"))
    return MappingProxyType({name: Device(name, **entry) for name, entry in data.items()})


def devices_of(families: Collection[str]) -> list[str]:
    """The names of the devices of some families."""
    return [device.name for device in devices().values() if device.family in families]


def device_named(name: str, families: Collection[str]) -> Device:
    """Raises TargetError for a name that is not known, with those of the families."""
    known = devices()
    if name not in known:
        names = devices_of(families)
        listed = f"the devices: {', '.join(names)}; for another one give configs['part']"
        near = nearest(name, names)
        raise TargetError(f"there is no device '{name}'", hint=f"{near} {listed}" if near else listed)
    return known[name]


_FAMILIES = (("xc7z", "zynq"), ("xczu", "zynqmp"), ("xck", "zynqmp"), ("xcu", "alveo"))


def device_of_part(part: str, default: Device) -> Device:
    """The device with this part: `default` if it has it, else the first one that is known, else one without banks."""
    if default.part == part:
        return default
    found = next((device for device in devices().values() if device.part == part), None)
    if found is not None:
        return found
    family = next((name for start, name in _FAMILIES if part.startswith(start)), "")
    return Device(part, part, "", family, None, {"zynq": 64, "zynqmp": 128}.get(family, 512))
