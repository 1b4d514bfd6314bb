"""Kinds of memory that an array can be bound to, and which of their properties go together."""

from __future__ import annotations

from dataclasses import dataclass

# What implements each type of storage (the storage binding of Vitis HLS); a resource of AUTO fits all.
STORAGE_TYPES: dict[str, tuple[str, ...]] = {
    "FIFO": ("BRAM", "LUTRAM", "URAM", "SRL"),
    "RAM_1P": ("BRAM", "LUTRAM", "URAM"),
    "RAM_1WNR": ("BRAM", "LUTRAM", "URAM"),
    "RAM_2P": ("BRAM", "LUTRAM", "URAM"),
    "RAM_S2P": ("BRAM", "BRAM_ECC", "LUTRAM", "URAM", "URAM_ECC"),
    "RAM_T2P": ("BRAM", "URAM"),
    "ROM_1P": ("BRAM", "LUTRAM"),
    "ROM_2P": ("BRAM", "LUTRAM"),
    "ROM_NP": ("BRAM", "LUTRAM"),
}
RESOURCES = ("AUTO", "BRAM", "BRAM_ECC", "LUTRAM", "SRL", "URAM", "URAM_ECC")
# The largest latency in cycles; the tools choose it for the others.
LATENCIES = {"BRAM": 3, "BRAM_ECC": 3, "LUTRAM": 3, "URAM": 8, "URAM_ECC": 8}


@dataclass(frozen=True, slots=True)
class Memory:
    """A kind of memory: what it is made of, its ports, its latency in cycles, its depth in elements.

    Names may be in small letters. `None` leaves the choice to the tools. `depth` is that of a FIFO, or of what an
    argument or a result points to outside. Raises ValueError for names that do not exist and properties that do not
    go together.
    """

    resource: str = "AUTO"
    storage_type: str | None = None
    latency: int | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        for name in ("resource", "storage_type"):
            if isinstance(given := getattr(self, name), str) and given.upper() in (*RESOURCES, *STORAGE_TYPES):
                object.__setattr__(self, name, given.upper())
        if self.resource not in RESOURCES:
            raise ValueError(f"resource must be one of {', '.join(RESOURCES)}, got {self.resource!r}")
        if self.storage_type is not None and self.storage_type not in STORAGE_TYPES:
            raise ValueError(
                f"storage_type must be one of {', '.join(STORAGE_TYPES)}, got {self.storage_type!r}"
            )
        fitting = RESOURCES if self.storage_type is None else ("AUTO", *STORAGE_TYPES[self.storage_type])
        if self.resource not in fitting:
            raise ValueError(
                f"{self.storage_type} cannot be made of {self.resource}, only of {', '.join(fitting)}"
            )
        self._check_latency()
        if self.depth is not None and (not _is_integer(self.depth) or not 1 <= self.depth < 2**31):
            raise ValueError(f"depth must be an integer of at least 1, got {self.depth!r}")

    def _check_latency(self) -> None:
        if self.latency is None:
            return
        if not _is_integer(self.latency) or self.latency < 0:
            raise ValueError(f"latency must be an integer of at least 0, got {self.latency!r}")
        if self.resource not in LATENCIES:
            raise ValueError(f"a latency needs a resource of {', '.join(LATENCIES)}, got {self.resource}")
        if self.latency > LATENCIES[self.resource]:
            raise ValueError(
                f"the latency of {self.resource} is at most {LATENCIES[self.resource]}, got {self.latency}"
            )

    @property
    def is_rom(self) -> bool:
        """Whether it can only be read."""
        return self.storage_type is not None and self.storage_type.startswith("ROM")

    def get_memory_space(self) -> int:
        """One number for the resource and the type of storage, 0 if the tools choose both."""
        kinds = (None, *STORAGE_TYPES)
        return RESOURCES.index(self.resource) * 16 + kinds.index(self.storage_type)

    def __repr__(self) -> str:
        given = {"storage_type": self.storage_type, "latency": self.latency, "depth": self.depth}
        parts = [f"resource={self.resource!r}", *(f"{k}={v!r}" for k, v in given.items() if v is not None)]
        return f"Memory({', '.join(parts)})"


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
