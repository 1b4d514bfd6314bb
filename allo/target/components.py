"""Values of which descriptions of FPGAs consist: capacities, control, memories, operators at clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a chip has; blocks of 18 Kb are counted, two make one of 36 Kb."""

    dsp: int
    bram18: int
    uram: int
    lut: int
    ff: int


@dataclass(frozen=True, slots=True)
class Die:
    """One of the dies of a package, in a row with the others; of `whole` a design can have what is `free` beside the
    platform of a card."""

    name: str
    whole: Capacity
    free: Capacity


@dataclass(frozen=True, slots=True)
class ControlSize:
    """What is beside units and memories: LUTs and FFs of a loop (a counter, a comparison, addresses) and of a function
    (its state machine), LUTs of the choice before a unit that places may share, FFs of a bit of a pipeline register,
    LUTs for each bit of the operands that one more operation brings to a unit that it shares, and
    for each bit of a result of such a unit that may have to wait for its operation.
    """

    loop_lut: int = 100
    loop_ff: int = 90
    function_lut: int = 120
    function_ff: int = 120
    choice_lut: int = 32
    register_ff: float = 1.0
    choice_lut_per_bit: float = 0.0
    wait_lut_per_bit: float = 0.0


@dataclass(frozen=True, slots=True)
class Control:
    """Cycles beside the datapath: to enter and leave a loop, per iteration of one that is not pipelined, per call.

    `function` are the cycles of a function beside its body; `uncertainty` is the part of the period that is kept free.
    """

    pipelined_loop: int
    loop: int
    iteration: int
    call: int
    uncertainty: float
    function: int = 0
    size: ControlSize = ControlSize()


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
    """The cost of an operator on integers as a function of their width, and of its square for arrays of logic."""

    delay: int = 0
    delay_per_bit: float = 0.0
    latency: int = 0
    latency_per_bit: float = 0.0
    lut_per_bit: float = 0.0
    ff_per_bit: float = 0.0
    lut_per_square: float = 0.0
    ff_per_square: float = 0.0

    def on(self, device: IntegerOperator | None) -> IntegerOperator:
        """The same with the delays of a device, if it states none itself."""
        if device is None or self.delay or self.delay_per_bit:
            return self
        return replace(self, delay=device.delay, delay_per_bit=device.delay_per_bit)

    def of(self, name: str, width: int, dsp: int = 0) -> Operator:
        """The operator for `width` bits."""
        return Operator(
            name,
            self.latency + math.ceil(self.latency_per_bit * width),
            self.delay + math.ceil(self.delay_per_bit * width),
            dsp,
            math.ceil(self.lut_per_bit * width + self.lut_per_square * width**2),
            math.ceil(self.ff_per_bit * width + self.ff_per_square * width**2),
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
class PlaceAndRoute:
    """The tool that places and routes for a device, and how it names the device, its package and its speed grade."""

    tool: str
    device: str
    package: str
    speed: int
