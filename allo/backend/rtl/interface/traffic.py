"""Traffic of a call: what came to the chip and left it, and how long that took."""

from __future__ import annotations

from dataclasses import dataclass

from ....errors import counted


@dataclass(frozen=True, slots=True)
class PortTraffic:
    """What went through a port of memory in a call: bursts, and bytes of the words in them."""

    port: str
    bursts_read: int
    bytes_read: int
    bursts_written: int
    bytes_written: int

    def __str__(self) -> str:
        parts = [
            f"{size:,} bytes {what} in {counted(bursts, 'burst')}"
            for what, size, bursts in (
                ("read", self.bytes_read, self.bursts_read), ("written", self.bytes_written, self.bursts_written),
            )
            if bursts
        ]  # fmt: skip
        return f"{self.port}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class CallTraffic:
    """The cycles of a call: to load the memories on chip, of the kernel, and to store what it has written."""

    load_cycles: int
    kernel_cycles: int
    store_cycles: int
    ports: tuple[PortTraffic, ...] = ()

    @property
    def cycles(self) -> int:
        return self.load_cycles + self.kernel_cycles + self.store_cycles

    def __str__(self) -> str:
        cycles = f"{self.load_cycles:,} cycles to load, {self.kernel_cycles:,} of the kernel"
        return "\n".join([f"{cycles}, {self.store_cycles:,} to store", *map(str, self.ports)])
