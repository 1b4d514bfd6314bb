"""Values of which structural hardware consists: signals, assignments, registers, instances, modules.

There are many of most kinds: these are tuples, which are made four times as fast as frozen dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ....errors import Location


class Direction(Enum):
    """Where a port leads."""

    INPUT = "input"
    OUTPUT = "output"


class Signal(NamedTuple):
    """A bundle of `width` wires with a name; `literal` is the number of one that is constant.

    Integers, floats and addresses carry bits; indices of loops are `signed`, as subscripts may be negative in between.
    """

    name: str
    width: int
    signed: bool = False
    literal: int | None = None

    def fit(self, width: int) -> str:
        """The signal as an expression of so many bits: its low ones, or extended by its sign if it has one."""
        if self.literal is not None:
            return f"{width}'d{self.literal & ((1 << width) - 1)}"
        if width == self.width:
            return f"$unsigned({self.name})" if self.signed else self.name
        if width < self.width:
            return f"{self.name}[{width - 1}:0]" if width > 1 else f"{self.name}[0]"
        return f"{width}'({self.name})"

    def with_sign(self, width: int) -> str:
        """The signal as a signed expression of so many bits, which its own bits with their sign fill."""
        if self.literal is not None:
            number = self.literal & ((1 << width) - 1)
            return f"$signed({width}'d{number})"
        if width < self.width:
            return f"$signed({self.fit(width)})"
        return self.name if self.signed else f"$signed({self.fit(width)})"


class ModulePort(NamedTuple):
    """A signal that leads into a module or out of it."""

    signal: Signal
    direction: Direction


class Assign(NamedTuple):
    """A signal that follows an expression; `at` is the line of the kernel that it comes from."""

    signal: Signal
    expression: str
    at: Location | None = None


class Register(NamedTuple):
    """A signal that takes the value of an expression at each clock edge, if `enable` holds; `reset` is its first."""

    signal: Signal
    next: str
    enable: str | None = None
    reset: int | None = None


class ModuleInstance(NamedTuple):
    """A module inside of another one: parameters, and what its ports are connected to.

    `observes`: it is there in simulations only.
    """

    module: str
    name: str
    parameters: Mapping[str, int | str]
    ports: Mapping[str, str]
    at: Location | None = None
    observes: bool = False


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """A memory that nothing writes: words of `width` bits."""

    name: str
    width: int
    words: tuple[int, ...]


@dataclass(slots=True)
class HardwareModule:
    """A module; `remarks` stand above it."""

    name: str
    remarks: list[str] = field(default_factory=list)
    ports: list[ModulePort] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    tables: list[ConstantTable] = field(default_factory=list)
    assigns: list[Assign] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    instances: list[ModuleInstance] = field(default_factory=list)
