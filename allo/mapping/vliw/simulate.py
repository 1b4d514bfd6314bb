"""Model of the slots of a compute tile: it runs a program with the latencies of the machine on data in its banks.

Results are seen when their latency is over, and not before: an operation that comes too early computes with what the
register held, so that a wrong schedule gives wrong numbers. Two accesses of one bank in a cycle cost one more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ...errors import ContractionError
from .instruction import MachineOperation
from .program import KernelProgram

Tile = NDArray[Any]
_BF16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True, slots=True)
class KernelRun:
    """What a run gave: the output tile, and where its cycles went."""

    out: Tile
    instructions: int
    bank_conflicts: int
    products: int

    @property
    def cycles(self) -> int:
        """Instructions and bank conflicts; the call is not in it."""
        return self.instructions + self.bank_conflicts

    @property
    def utilisation(self) -> float:
        """The share of cycles that multiply."""
        return self.products / self.cycles

    def __str__(self) -> str:
        return (
            f"{self.cycles:,} cycles ({self.instructions:,} instructions, {self.bank_conflicts} bank conflicts):"
            f" {self.utilisation:.1%} of peak (simulated)"
        )


def simulated(program: KernelProgram, in0: Tile, in1: Tile, out: Tile) -> KernelRun:
    """Run a program on bfloat16 matrices of M x K, K x N and M x N.

    Products are summed in float32 as the vector unit does; how it rounds inside of one product of blocks is not
    documented, and done once here. Raises ContractionError for matrices of other shapes.
    """
    shape = program.shape
    sizes = ((shape.m, shape.k), (shape.k, shape.n), (shape.m, shape.n))
    for name, tile, wanted in zip(("in0", "in1", "out"), (in0, in1, out), sizes, strict=True):
        if tile.shape != wanted or tile.dtype != _BF16:
            raise ContractionError(f"{name} is a bfloat16 matrix of {wanted}, got {tile.dtype} of {tile.shape}")
    model = _TileModel(program)
    m, k, n = shape.m // 4, shape.k // 8, shape.n // 4
    model.store(0, in0.reshape(m, 4, k, 8).transpose(0, 2, 1, 3))
    model.store(1, in1.reshape(k, 8, n, 4).transpose(0, 2, 1, 3))
    model.store(2, out.reshape(m, 4, n, 4).transpose(0, 2, 1, 3))
    for instruction in program.run():
        model.step(list(instruction.values()))
    start = shape.addresses[2]
    tiles = model.memory[start : start + shape.bytes[2]].view(_BF16).reshape(m, n, 4, 4)
    result = tiles.transpose(0, 2, 1, 3).reshape(shape.m, shape.n).copy()
    return KernelRun(result, model.cycle, model.conflicts, model.products)


class _TileModel:
    def __init__(self, program: KernelProgram) -> None:
        self.shape, self.machine = program.shape, program.shape.machine
        self.memory = np.zeros(self.machine.banks * self.machine.bank_bytes, np.uint8)
        self.vectors = np.zeros((self.machine.vectors, 2, 32), np.uint8)
        self.accumulators = np.zeros((self.machine.accumulators, 4, 4), np.float32)
        self.scalars: dict[str, int] = {f"p{k}": self.shape.addresses[k] for k in range(3)}
        self.cycle = self.conflicts = self.products = 0
        self.arriving: defaultdict[int, list[Callable[[], None]]] = defaultdict(list)
        self.accesses: list[int] = []

    def store(self, tensor: int, tiles: Tile) -> None:
        """Put a tile where it lies."""
        data = np.ascontiguousarray(tiles).reshape(-1).view(np.uint8)
        start = self.shape.addresses[tensor]
        self.memory[start : start + data.size] = data

    def step(self, operations: list[MachineOperation]) -> None:
        """One instruction: what arrives is written first; then all operations read, and none sees what others write."""
        for write in self.arriving.pop(self.cycle, ()):
            write()
        self.accesses = []
        for operation in operations:
            self._start(operation)
        self.conflicts += sum(count - 1 for count in Counter(map(self.machine.bank, self.accesses)).values())
        self.cycle += 1

    def _later(self, latency: int, write: Callable[[], None]) -> None:
        self.arriving[self.cycle + latency].append(write)

    def _start(self, operation: MachineOperation) -> None:
        kind = operation.kind
        if kind == "vmac.f":
            self._multiply(operation)
        elif kind in ("vlda", "vldb"):
            self._load(operation)
        elif kind in ("vlda.conv", "vst.conv"):
            self._convert(operation)
        elif kind != "ret":
            self._scalar(operation)

    def _value(self, operand: str | int) -> int:
        if isinstance(operand, int):
            return operand
        if operand not in self.scalars:
            raise ContractionError(f"register {operand} is read in cycle {self.cycle}, and was never written")
        return self.scalars[operand]

    def _multiply(self, operation: MachineOperation) -> None:
        target = int(operation.target[2:])
        a, b = (self.vectors[int(str(name)[1:])].reshape(-1).view(_BF16) for name in operation.operands)
        self._value("r15")
        product = a.reshape(4, 8).astype(np.float64) @ b.reshape(8, 4).astype(np.float64)
        total = (self.accumulators[target] + product).astype(np.float32)
        self.products += 1
        self._later(self.machine.multiply, lambda: self._accumulate(target, total))

    def _accumulate(self, target: int, total: Tile) -> None:
        self.accumulators[target] = total

    def _load(self, operation: MachineOperation) -> None:
        pointer, after = operation.operands
        at = self._value(pointer)
        half, number = int(operation.target.startswith("wh")), int(operation.target[2:])
        data = self._bytes(at).copy()
        self._later(self.machine.load, lambda: self._arrive(number, half, data))
        moved = at + self._value(after)
        self._later(self.machine.scalar, lambda: self._set(str(pointer), moved))

    def _arrive(self, number: int, half: int, data: Tile) -> None:
        self.vectors[number, half] = data

    def _convert(self, operation: MachineOperation) -> None:
        pointer, offset = operation.operands
        at, number = self._value(pointer) + int(offset), int(operation.target[2:])
        if operation.kind == "vst.conv":
            data = self.accumulators[number].astype(_BF16).reshape(-1).view(np.uint8)
            self._bytes(at)[:] = data
        else:
            block = self._bytes(at).view(_BF16).reshape(4, 4).astype(np.float32)
            self._later(self.machine.load_converted, lambda: self._accumulate(number, block))

    def _bytes(self, at: int) -> Tile:
        if not 0 <= at <= self.memory.size - 32:
            raise ContractionError(f"address {at} in cycle {self.cycle} is outside of data memory")
        self.accesses.append(at)
        return self.memory[at : at + 32]

    def _set(self, name: str, value: int) -> None:
        self.scalars[name] = value

    def _scalar(self, operation: MachineOperation) -> None:
        values = [self._value(operand) for operand in operation.operands]
        target = operation.target
        if operation.kind.startswith("padd"):
            result = self._value(target) + values[0]
        else:
            result = _SCALARS[operation.kind](*values)
        self._later(self.machine.scalar, lambda: self._set(target, result))


_SCALARS: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "movxm": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "ge": lambda a, b: int(a >= b),
}
