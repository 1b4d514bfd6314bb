"""FPGAs: resources, kinds of memory, cycles of control, and what operators cost at a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..errors import TargetError, nearest
from .components import (
    Capacity,
    Control,
    Die,
    FloatOperator,
    IntegerOperator,
    Limits,
    MemoryKind,
    Multiplexer,
    Operator,
    PlaceAndRoute,
)
from .description import Target
from .profile import Profile, ToolRules

_FLUSH = "flush"  # the implementation of operators on floats that know no subnormal numbers


@dataclass(frozen=True, slots=True, repr=False)
class Fpga(Target):
    """A chip of logic, multipliers and memories, for the designs that HLS tools make."""

    device: Capacity
    limits: Limits
    control: Control
    memories: Mapping[str, MemoryKind]
    registers_up_to: int
    lutram_up_to: int
    dsp_tile: tuple[int, int]
    small_factor: int  # bits of the factors of a product that is made of LUTs
    multiplexer: Multiplexer
    integers: Mapping[str, IntegerOperator]
    floats: tuple[FloatOperator, ...]
    implementations: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    profile: Profile | None = None
    flushes: bool = False  # whether arithmetic of our own takes and makes zeros in the place of subnormal numbers
    place_and_route: PlaceAndRoute | None = None  # without a vendor's tool
    dies: tuple[Die, ...] = ()  # in the order in which they lie side by side; none where there is but one
    crossing_wires: int = 0  # between two dies that lie side by side; 0 where that is not known

    @property
    def rules(self) -> ToolRules:
        """What is done unasked."""
        return ToolRules() if self.profile is None else self.profile.rules

    @property
    def shares_operators(self) -> bool:
        """Whether nests of one function that follow one another have units together."""
        return self.profile is None or self.profile.rules.shared_operators is not None

    def under(self, profile: str) -> Fpga:
        """The same device under one of its profiles. Raises TargetError if it has none of that name."""
        if not isinstance(profile, str):
            raise TargetError(f"a profile is given by its name, got {type(profile).__name__} {profile!r}")
        if profile not in self.profiles:
            known = ", ".join(self.profiles) or "none"
            raise TargetError(
                f"target '{self.name}' has no profile '{profile}'; there are {known}",
                hint=nearest(profile, self.profiles) or "name its file in `profiles` in the file of the target",
            )
        found = self.profiles[profile]
        integers = {kind: one.on(self.integers.get(kind)) for kind, one in found.integers.items()}
        return replace(
            self, profile=found, control=found.control, floats=found.floats or self.floats,
            memories={**self.memories, **found.memories}, integers={**self.integers, **integers},
        )  # fmt: skip

    def using(self, **implementations: str) -> Fpga:
        """The same device with other operators on floats, such as `add="fabric"`: adders of LUTs without DSPs.

        Raises TargetError for an operator or an implementation that the target does not have.
        """
        known: dict[str, list[str]] = {}
        for row in self.floats:
            if row.implementation:
                known.setdefault(row.kind, [])
                known[row.kind] += [row.implementation] if row.implementation not in known[row.kind] else []
        listed = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in known.items()) or "none"
        for kind, name in implementations.items():
            if name not in known.get(kind, ()):
                raise TargetError(
                    f"target '{self.name}' has no implementation '{name}' of '{kind}' on floats",
                    hint=f"the choices are {listed}",
                )
        return replace(self, implementations={**self.implementations, **implementations})

    def flushing(self) -> Fpga:
        """The same device with operators that know no subnormal numbers, where the target has such."""
        kinds = {row.kind for row in self.floats if row.implementation == _FLUSH}
        return replace(self, flushes=True, implementations={**dict.fromkeys(kinds, _FLUSH), **self.implementations})

    @property
    def _owner(self) -> str:
        """Who says what operators on floats cost."""
        own = self.profile is not None and self.profile.floats
        return f"profile '{self.profile.name}'" if own and self.profile is not None else f"target '{self.name}'"

    @property
    def budget(self) -> int:
        """The picoseconds of a cycle that logic may take."""
        return int(1e6 / self.frequency * (1 - self.control.uncertainty))

    def integer(self, kind: str, width: int) -> Operator:
        """The operator `kind` (a table `integer` of the file) on `width` bits; `product` knows of narrower factors."""
        return self.product(width, width, width) if kind == "mul" else self.integers[kind].of(kind, width)

    def product(self, left: int, right: int, result: int) -> Operator:
        """A multiplier of signed numbers of `left` and `right` bits, of whose product `result` bits are needed.

        A DSP multiplies numbers as wide as its `tile`; wider ones are cut into digits of one bit less, and products
        of digits that lie above the result are left out. What is small is made of LUTs.
        """
        if max(left, right) <= self.small_factor:
            return self.integers["mul"].of("mul", result)
        wide, narrow = self.dsp_tile
        dsp = min(_tiles(left, right, result, wide, narrow), _tiles(right, left, result, wide, narrow))
        return self.integers["mul"].of("mul", result, dsp)

    def floating(self, kind: str, type_: str) -> Operator:
        """The operator `kind` on floats of `type_`, as fast as the clock demands. TargetError if it has none."""
        rows = [row for row in self.floats if row.kind == kind and row.type == type_]
        chosen = self.implementations.get(kind, "")
        rows = [row for row in rows if row.implementation == chosen] or [r for r in rows if not r.implementation]
        if not rows:
            raise TargetError(
                f"{self._owner} does not say what '{kind}' on {type_} costs",
                hint=f'add [[operator]] with kind = "{kind}" and type = "{type_}" to its file',
            )
        fitting = [row for row in rows if row.up_to >= self.frequency]
        if not fitting:
            fastest = max(row.up_to for row in rows)
            raise TargetError(
                f"{self._owner} has no '{kind}' on {type_} for {self.frequency:g} MHz, the fastest is for "
                f"{fastest:g} MHz",
                hint="ask for a lower clock with `load_target(...).at(frequency)`",
            )
        return min(fitting, key=lambda row: row.up_to).operator


def _tiles(left: int, right: int, result: int, wide: int, narrow: int) -> int:
    """How many products of a digit of `left` and one of `right` reach into the low `result` bits."""
    rows, columns = (max(1, -(-(bits - 1) // (tile - 1))) for bits, tile in ((left, wide), (right, narrow)))
    return sum(
        row * (wide - 1) + column * (narrow - 1) < result for row in range(rows) for column in range(columns)
    )
