"""Description of a library module: parameters with their defaults, ports whose widths follow from them, latency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ....errors import InternalError

type Parameter = int | str
type Parameters = Mapping[str, Parameter]
type Width = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """Digits of the exponent and of the fraction of a float."""

    exponent: int
    fraction: int

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    def parameters(self) -> dict[str, int]:
        """As most float units name them."""
        return {"EXP": self.exponent, "MAN": self.fraction}


@dataclass(frozen=True, slots=True)
class LibraryPort:
    """A port of a module whose parameters have values."""

    name: str
    width: int
    is_input: bool


@dataclass(frozen=True, slots=True)
class LibraryModule:
    """A module of `lib/templates/rtl`: `name` is also the name of its file.

    `latency_of` names the parameter that is the number of enabled cycles from inputs to outputs; None if there is no
    such number. `needs` are the modules that it instantiates, `memory` is the array that a simulation may look into.
    `has_grid`: there is a module for simulation, `name_grid`, whose ports but `clk` and `rst` are arrays of GRID each.
    """

    name: str
    defaults: Parameters
    inputs: tuple[tuple[str, Width], ...]
    outputs: tuple[tuple[str, Width], ...]
    latency_of: str | None = None
    needs: tuple[str, ...] = ()
    memory: str | None = None
    has_fast_model: bool = False
    has_grid: bool = False

    def values(self, parameters: Parameters) -> dict[str, Parameter]:
        """All parameters, those that are not given with their defaults."""
        unknown = [name for name in parameters if name not in self.defaults]
        if unknown:
            raise InternalError(f"{self.name} has no parameter '{unknown[0]}', only {', '.join(self.defaults)}")
        values = dict(self.defaults)
        for name, value in parameters.items():
            if isinstance(values[name], int) != isinstance(value, int):
                raise InternalError(f"the parameter {name} of {self.name} cannot be {value!r}")
            values[name] = value
        return values

    def ports(self, parameters: Parameters) -> tuple[LibraryPort, ...]:
        """Inputs, then outputs, in the order of the module's text."""
        numbers = {name: value for name, value in self.values(parameters).items() if isinstance(value, int)}
        made = [LibraryPort(name, width(numbers), True) for name, width in self.inputs]
        return (*made, *(LibraryPort(name, width(numbers), False) for name, width in self.outputs))

    def latency(self, parameters: Parameters) -> int:
        """Enabled cycles from inputs to outputs."""
        if self.latency_of is None:
            raise InternalError(f"{self.name} has no latency")
        value = self.values(parameters)[self.latency_of]
        assert isinstance(value, int)
        return value


def address_width(depth: int) -> int:
    """Digits of an address of a memory of `depth` words: at least one."""
    return max(1, (depth - 1).bit_length())
