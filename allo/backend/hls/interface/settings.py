"""Settings `configs` of a project: their defaults, and what is wrong with those given."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from ....errors import TargetError, nearest
from .devices import Device, device_named, device_of_part

HOSTS = ("xrt", "opencl")
OPERATORS = {"add": ("fabric",)}  # adders of LUTs, without DSPs
_WORDS = (32, 64, 128, 256, 512, 1024)
_BANK = re.compile(r"(\w+)\[(\d+)(?::(\d+))?\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project is made for.

    `frequency` is in MHz, `timeout` in seconds for each run of a tool (None: as long as it takes), `word_bits` the
    widest word of a port. `hbm_mapping` gives a bank and `bundles` a port to arguments, by name; arrays `in_place` are
    not copied to the chip, nor is any other that can stay in memory unless it `copies`. `operators` chooses
    implementations as `allo.estimate` does: `{"add": "fabric"}`.
    """

    device: Device
    part: str
    platform: str
    frequency: float
    hbm_mapping: Mapping[str, str]
    bundles: Mapping[str, str]
    in_place: tuple[str, ...]
    word_bits: int
    host: str
    timeout: float | None
    operators: Mapping[str, str]
    copies: bool = True

    @property
    def asked_frequency(self) -> int:
        """In MHz, as the linker is asked for it."""
        return ceil(self.frequency)


def settings_of(
    configs: Mapping[str, Any],
    default_device: str,
    families: Collection[str],
    names: Collection[str] | None = None,
) -> Settings:
    """`configs` with defaults; TargetError for settings that are none of `names` or make no sense."""
    names = _CHECKS if names is None else names
    for name in configs:
        if name not in names:
            near = nearest(str(name), names)
            known = f"the settings: {', '.join(names)}"
            raise TargetError(
                f"there is no setting '{name}' in configs", hint=f"{near} {known}" if near else known
            )
    for name, value in configs.items():
        _CHECKS[name](name, value)
    device = device_named(configs.get("device", default_device), families)
    if "part" in configs:
        if "device" in configs and configs["part"] != device.part:
            raise TargetError(
                f"configs has part '{configs['part']}', but device '{device.name}' is part '{device.part}'",
                hint="give one of them",
            )
        device = device_of_part(configs["part"], device)
    frequency = float(configs.get("frequency", 100.0 if device.family in ("zynq", "zynqmp") else 300.0))
    if 0 < device.most_frequency < frequency:
        raise TargetError(
            f"configs['frequency'] is {frequency:g} MHz, and device '{device.name}' reaches "
            f"{device.most_frequency:g} MHz at most",
            hint="ask for a lower clock",
        )
    mapping = {name: _bank(name, value, device) for name, value in configs.get("hbm_mapping", {}).items()}
    return Settings(
        device=device,
        part=device.part,
        platform=configs.get("platform", device.platform),
        frequency=frequency,
        hbm_mapping=mapping,
        bundles=dict(configs.get("bundles", {})),
        in_place=tuple(configs.get("in_place", ())),
        word_bits=configs.get("word_bits", device.word_bits),
        host=configs.get("host", HOSTS[0]),
        timeout=None if configs.get("timeout") is None else float(configs["timeout"]),
        operators=dict(configs.get("operators", {})),
    )


def bank_text(argument: str, value: Any) -> str:
    """`HBM[0]`, `DDR[1]`, `HBM[0:3]`; a number is a bank of HBM. Raises TargetError for anything else."""
    return _bank_of(argument, value).string


def _bank_of(argument: str, value: Any) -> re.Match[str]:
    text = f"HBM[{value}]" if isinstance(value, int) and not isinstance(value, bool) else value
    match = _BANK.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise TargetError(
            f"configs['hbm_mapping']['{argument}'] must be a bank of memory, got {value!r}",
            hint='write "HBM[0]", "DDR[1]", or "HBM[0:3]" for several banks',
        )
    if int(match[2]) > int(match[3] or match[2]):
        raise TargetError(
            f"configs['hbm_mapping']['{argument}'] is {text}, whose first bank is behind its last"
        )
    return match


def _bank(argument: str, value: Any, device: Device) -> str:
    """The bank of an argument, which the device has."""
    match = _bank_of(argument, value)
    text, kind, last = match.string, match[1], int(match[3] or match[2])
    if device.banks is None:
        return text
    count = device.banks.get(kind, 0)
    if last >= count:
        has = ", ".join(f"{k}[0] to {k}[{n - 1}]" for k, n in device.banks.items())
        raise TargetError(
            f"configs['hbm_mapping']['{argument}'] is {text}, but device '{device.name}' has "
            + (f"{count} banks of {kind}" if count else f"no {kind}"),
            hint=f"its banks: {has}" if has else "it has no banks to choose from: leave hbm_mapping out",
        )
    return text


# -- one check for each setting ----------------------------------------------------------------------


def _name(setting: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        what = {"device": "the name of a device", "platform": "the name of a platform"}
        raise TargetError(
            f"configs['{setting}'] must be {what.get(setting, 'the name of a part')}, got {value!r}"
        )
    if not re.fullmatch(r"[\w.:/+-]+", value, re.ASCII):
        raise TargetError(f"configs['{setting}'] has characters that no such name has: {value!r}")


def _positive(setting: str, value: Any) -> None:
    unit = {"frequency": "MHz", "timeout": "seconds"}[setting]
    if setting == "timeout" and value is None:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < float("inf"):
        raise TargetError(f"configs['{setting}'] must be a positive number of {unit}, got {value!r}")


def _names(setting: str, value: Any) -> None:
    if not isinstance(value, Mapping) or any(not isinstance(name, str) for name in value):
        to = {"hbm_mapping": "banks", "bundles": "ports"}[setting]
        raise TargetError(
            f"configs['{setting}'] must be a dict from names of arguments to {to}, got {value!r}"
        )
    if setting == "bundles":
        for name, bundle in value.items():
            if not isinstance(bundle, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", bundle):
                raise TargetError(
                    f"configs['bundles']['{name}'] must be a name of small letters and digits, got {bundle!r}",
                    hint='write "gmem0"',
                )


def _listed(setting: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or any(not isinstance(name, str) for name in value):
        raise TargetError(f"configs['{setting}'] must be a list of names of arguments, got {value!r}")


def _word(setting: str, value: Any) -> None:
    if isinstance(value, bool) or value not in _WORDS:
        raise TargetError(
            f"configs['word_bits'] must be one of {', '.join(map(str, _WORDS))}, got {value!r}",
            hint="a port of AXI has at most 1024 bits",
        )


def _host(setting: str, value: Any) -> None:
    if value not in HOSTS:
        raise TargetError(f"configs['host'] must be one of {', '.join(map(repr, HOSTS))}, got {value!r}")


def _operators(setting: str, value: Any) -> None:
    if not isinstance(value, Mapping) or any(value[name] not in OPERATORS.get(name, ()) for name in value):
        choices = ", ".join(f'"{kind}": "{name}"' for kind, names in OPERATORS.items() for name in names)
        raise TargetError(
            f"configs['{setting}'] must be a dict from operators on floats to implementations, got {value!r}",
            hint=f"the choices are {choices}",
        )


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "device": _name,
    "part": _name,
    "platform": _name,
    "frequency": _positive,
    "hbm_mapping": _names,
    "bundles": _names,
    "in_place": _listed,
    "word_bits": _word,
    "host": _host,
    "timeout": _positive,
    "operators": _operators,
}
