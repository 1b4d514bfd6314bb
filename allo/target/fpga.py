"""FPGAs: resources, kinds of memory, cycles of control, and what operators cost at a clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..errors import TargetError
from .description import Target


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a chip has; blocks of 18 Kb are counted, two make one of 36 Kb."""

    dsp: int
    bram18: int
    uram: int
    lut: int
    ff: int


@dataclass(frozen=True, slots=True)
class Control:
    """Cycles beside the datapath: to enter and leave a loop, per iteration of one that is not pipelined, per call."""

    pipelined_loop: int
    loop: int
    iteration: int
    call: int
    uncertainty: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What no design goes beyond: banks of an array, 0 where that is not known.

    `platform_dsp` are the DSP blocks of the device that a kernel cannot have, since the platform of a card takes them.
    """

    banks: int = 0
    platform_dsp: int = 0


@dataclass(frozen=True, slots=True)
class Multiplexer:
    """A choice of one bit among `inputs`, which takes a LUT and `delay` ps; wider ones are trees."""

    inputs: int
    delay: int

    def of(self, inputs: int, width: int) -> Operator:
        """The choice of one of `inputs` words of `width` bits."""
        levels, reached = 0, 1
        while reached < inputs:
            levels, reached = levels + 1, reached * self.inputs
        lut = width * -(-(inputs - 1) // (self.inputs - 1))
        return Operator(f"choice of {inputs}", delay=levels * self.delay, lut=lut)


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """A kind of memory: ports of a bank (0: no limit), cycles of a read and of a write, (width, depth) of a block."""

    name: str
    ports: int
    read: int
    write: int
    shapes: tuple[tuple[int, int], ...] = ()

    def blocks(self, width: int, depth: int) -> int:
        """How many blocks hold `depth` words of `width` bits."""
        return min((-(-width // w) * -(-depth // d) for w, d in self.shapes), default=0)


@dataclass(frozen=True, slots=True)
class Operator:
    """What one unit costs: `latency` registers between operands and result, or `delay` ps without a register."""

    name: str
    latency: int = 0
    delay: int = 0
    dsp: int = 0
    lut: int = 0
    ff: int = 0

    @property
    def free(self) -> bool:
        """It is wiring."""
        return not (self.latency or self.delay or self.dsp or self.lut or self.ff)


@dataclass(frozen=True, slots=True)
class IntegerOperator:
    """The cost of an operator on integers as a function of their width."""

    delay: int = 0
    delay_per_bit: float = 0.0
    latency: int = 0
    latency_per_bit: float = 0.0
    lut_per_bit: float = 0.0
    ff_per_bit: float = 0.0

    def of(self, name: str, width: int, dsp: int = 0) -> Operator:
        """The operator for `width` bits."""
        return Operator(
            name,
            self.latency + math.ceil(self.latency_per_bit * width),
            self.delay + math.ceil(self.delay_per_bit * width),
            dsp,
            math.ceil(self.lut_per_bit * width),
            math.ceil(self.ff_per_bit * width),
        )


@dataclass(frozen=True, slots=True)
class FloatOperator:
    """A row of a table: the operator for clocks up to `up_to` MHz; `implementation` is empty for the tool's choice."""

    kind: str
    type: str
    up_to: float
    operator: Operator
    implementation: str = ""


@dataclass(frozen=True, slots=True)
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
                f"target '{self.name}' does not say what '{kind}' on {type_} costs",
                hint=f'add [[operator]] with kind = "{kind}" and type = "{type_}" to its file',
            )
        fitting = [row for row in rows if row.up_to >= self.frequency]
        if not fitting:
            fastest = max(row.up_to for row in rows)
            raise TargetError(
                f"target '{self.name}' has no '{kind}' on {type_} for {self.frequency:g} MHz, the fastest is for "
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
