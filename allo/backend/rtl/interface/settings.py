"""Settings of the interface of a kernel: what users may ask for, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....errors import TargetError, nearest
from ....target import Fpga

_WORDS = (32, 64, 128, 256, 512)
_NAME = "axi"
_MOST_OPEN = 64


@dataclass(frozen=True, slots=True)
class InterfaceSettings:
    """How arguments and results come to the chip.

    `word_bits` is the widest word of a port; `bundles` gives ports to arrays by name, `streams` are those that come and
    go over AXI4-Stream; `memory` is the kind in which all others lie, or kinds by name (None: the first of the target).
    At most `outstanding` bursts of a port are open. `back_pressure` seeds models that let all wait at random.
    """

    word_bits: int = 512
    bundles: Mapping[str, str] | None = None
    streams: tuple[str, ...] = ()
    memory: str | Mapping[str, str] | None = None
    outstanding: int = 4
    back_pressure: int | None = None


def settings_of(given: Any, target: Fpga) -> InterfaceSettings:
    """What the option `interface` says. Raises TargetError for what makes no sense."""
    if given == _NAME:
        return InterfaceSettings()
    if not isinstance(given, Mapping):
        raise TargetError(
            f'interface must be "{_NAME}" or a dict of settings, got {given!r}',
            hint='write interface="axi", or interface={"word_bits": 128}',
        )
    for name, value in given.items():
        if name not in _CHECKS:
            known = f"the settings: {', '.join(_CHECKS)}"
            near = nearest(str(name), _CHECKS)
            raise TargetError(f"interface has no setting '{name}'", hint=f"{near} {known}" if near else known)
        _CHECKS[name](value, target)
    return InterfaceSettings(**{**given, "streams": tuple(given.get("streams", ()))})


def _word(value: Any, _: Fpga) -> None:
    if isinstance(value, bool) or value not in _WORDS:
        raise TargetError(f"word_bits of the interface must be one of {', '.join(map(str, _WORDS))}, got {value!r}")


def _bundles(value: Any, _: Fpga) -> None:
    if not isinstance(value, Mapping):
        raise TargetError(f"bundles of the interface must be a dict from names of arrays to ports, got {value!r}")
    for name, bundle in value.items():
        is_name = isinstance(bundle, str) and bundle.isascii() and bundle.isidentifier() and bundle.islower()
        if not is_name or "__" in bundle:
            raise TargetError(
                f"the port of '{name}' must be a name of small letters and digits, got {bundle!r}",
                hint='write "gmem0"',
            )


def _streams(value: Any, _: Fpga) -> None:
    if not isinstance(value, list | tuple) or any(not isinstance(name, str) for name in value):
        raise TargetError(f"streams of the interface must be a list of names of arrays, got {value!r}")


def _memory(value: Any, target: Fpga) -> None:
    wanted = value.values() if isinstance(value, Mapping) else [value]
    for kind in wanted:
        if not isinstance(kind, str) or kind not in target.external:
            known = ", ".join(target.external) or "none"
            raise TargetError(f"target '{target.name}' has no memory {kind!r} beside the chip", hint=f"it has: {known}")


def _outstanding(value: Any, _: Fpga) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_OPEN:
        raise TargetError(f"outstanding of the interface must be a number from 1 to {_MOST_OPEN}, got {value!r}")


def _seed(value: Any, _: Fpga) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise TargetError(f"back_pressure of the interface must be a seed, a number from 0 on, got {value!r}")


_CHECKS: dict[str, Callable[[Any, Fpga], None]] = {
    "word_bits": _word,
    "bundles": _bundles,
    "streams": _streams,
    "memory": _memory,
    "outstanding": _outstanding,
    "back_pressure": _seed,
}
