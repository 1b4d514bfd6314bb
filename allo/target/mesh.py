"""Meshes of cores: dimensions, cores with units, memories, networks and shared ports (TL, section 2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from .description import Target


@dataclass(frozen=True, slots=True)
class SpatialDim:
    """An axis along which components are repeated `size` times."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class MatrixUnit:
    """A unit that multiplies m x k with k x n matrices, `shape`, at `throughput` operations a cycle.

    Multiplications and additions count one each. The first result is there after `latency` more cycles.
    """

    name: str
    shape: tuple[int, int, int]
    throughput: float
    latency: int = 0

    def cycles(self, m: int, k: int, n: int) -> float:
        """The time of a product of an m x k with a k x n matrix, which is cut to pieces of `shape`."""
        pieces = prod(ceil(extent / size) for extent, size in zip((m, k, n), self.shape, strict=True))
        return pieces * 2 * prod(self.shape) / self.throughput + self.latency


@dataclass(frozen=True, slots=True)
class VectorUnit:
    """A unit that does an operation on `lanes` elements at once, `throughput` operations of elements a cycle.

    An elementary function, such as `exp`, takes the time of `elementary` operations.
    """

    name: str
    lanes: int
    throughput: float
    latency: int = 0
    elementary: int = 1

    def cycles(self, elements: int) -> float:
        """The time of one operation on so many elements."""
        return ceil(elements / self.lanes) * self.lanes / self.throughput + self.latency


@dataclass(frozen=True, slots=True)
class ScalarUnit:
    """A unit that does one scalar operation in `latency` cycles; it also takes a step of a loop."""

    name: str
    latency: int


type CoreUnit = MatrixUnit | VectorUnit | ScalarUnit


@dataclass(frozen=True, slots=True)
class CoreArray:
    """Cores, one at each position of `dims`, that all have `units`."""

    name: str
    dims: tuple[str, ...]
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeshMemory:
    """Memories, one at each position of `dims`: bytes, bytes a cycle of each, cycles until the first one is there.

    An array in a memory with several positions is spread over them, `page` bytes each in turn (0: it is in one).
    """

    name: str
    dims: tuple[str, ...]
    size: int
    bandwidth: float
    latency: int = 0
    page: int = 0


@dataclass(frozen=True, slots=True)
class Interconnect:
    """Links between positions of a memory or of cores, from each position to that of `map`.

    `bandwidth` is bytes a cycle of each link, `latency` cycles to the next position.
    """

    name: str
    component: str
    map: str
    bandwidth: float
    latency: int = 0


@dataclass(frozen=True, slots=True)
class MeshMux:
    """Ports from each position of `source` to those of the memory `target` that `map` gives.

    `bandwidth` is bytes a cycle of one port.
    """

    name: str
    target: str
    bandwidth: float
    source: str
    map: str


@dataclass(frozen=True, slots=True, repr=False)
class CoreMesh(Target):
    """Cores that tile programs are mapped on, with the memories and networks around them.

    Times are cycles at `frequency`, sizes bytes, bandwidths bytes a cycle.
    """

    dims: tuple[SpatialDim, ...]
    units: tuple[CoreUnit, ...]
    cores: CoreArray
    memories: tuple[MeshMemory, ...]
    interconnects: tuple[Interconnect, ...]
    muxes: tuple[MeshMux, ...]

    def size(self, dim: str) -> int:
        """How often components are repeated along a dimension. KeyError if there is none of that name."""
        return {known.name: known.size for known in self.dims}[dim]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cores there are along each dimension of theirs."""
        return tuple(self.size(dim) for dim in self.cores.dims)

    @property
    def count(self) -> int:
        """How many cores there are."""
        return prod(self.shape)

    def dims_of(self, component: str) -> tuple[str, ...]:
        """The dimensions of the cores, or of a memory. KeyError if there is neither of that name."""
        return ({memory.name: memory.dims for memory in self.memories} | {self.cores.name: self.cores.dims})[component]

    def memory(self, name: str) -> MeshMemory:
        """The memory of a name. KeyError if there is none."""
        return {known.name: known for known in self.memories}[name]

    def _units(self, kind: type[CoreUnit]) -> Iterator[CoreUnit]:
        return (unit for unit in self.units if unit.name in self.cores.units and isinstance(unit, kind))

    @property
    def matrix(self) -> MatrixUnit | None:
        """The first matrix unit of a core."""
        return next((unit for unit in self._units(MatrixUnit) if isinstance(unit, MatrixUnit)), None)

    @property
    def vector(self) -> VectorUnit | None:
        """The first vector unit of a core."""
        return next((unit for unit in self._units(VectorUnit) if isinstance(unit, VectorUnit)), None)

    @property
    def scalar(self) -> ScalarUnit | None:
        """The first scalar unit of a core."""
        return next((unit for unit in self._units(ScalarUnit) if isinstance(unit, ScalarUnit)), None)

    @property
    def peak(self) -> float:
        """Operations a second of the matrix units of all cores, 10^12 of them; 0 without matrix units."""
        return 0.0 if self.matrix is None else self.count * self.matrix.throughput * self.frequency * 1e-6
