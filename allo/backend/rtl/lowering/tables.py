"""Tables of constant arrays: a memory that nothing writes for each bank."""

from __future__ import annotations

from ..netlist.builder import ModuleBuilder
from .ports import ArrayPorts


def place_tables(builder: ModuleBuilder, ports: ArrayPorts) -> None:
    """The table of each bank of a constant array, and registers behind its ports as a memory has them."""
    array, contents = ports.array, ports.contents or []
    width = array.memory.width
    bank_of, address_of = (numbers.reshape(-1).tolist() for numbers in array.positions())
    for bank in sorted({bank for bank, _ in ports.words}):
        words = [0] * array.depth
        for value, own, address in zip(contents, bank_of, address_of, strict=True):
            if own == bank:
                words[address] = value & ((1 << width) - 1)
        table = builder.table(f"{ports.bank_name(bank)}_table", width, words)
        for port in (port for of, port in ports.words if of == bank):
            _, _, address_signal, _ = ports.drivers[bank, port]
            word = builder.wire(f"{ports.bank_name(bank)}_entry", width, f"{table}[{address_signal.name}]")
            behind = builder.delayed(word, array.memory.read)
            builder.drive(ports.words[bank, port], behind.name)
