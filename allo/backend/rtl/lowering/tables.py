"""Tables of constant arrays: a word of logic for each bank, of which ports read parts."""

from __future__ import annotations

from ..netlist.builder import ModuleBuilder
from .ports import ArrayPorts


def place_tables(builder: ModuleBuilder, ports: ArrayPorts) -> None:
    """The table of each bank of a constant array, and registers behind its ports as a memory has them."""
    array, contents = ports.array, ports.contents or []
    width = array.memory.width
    bank_of, address_of = (numbers.reshape(-1).tolist() for numbers in array.positions())
    for bank in sorted({bank for bank, _ in ports.words}):
        number = 0
        for value, own, address in zip(contents, bank_of, address_of, strict=True):
            if own == bank:
                number |= (value & ((1 << width) - 1)) << (address * width)
        size = array.depth * width
        table = builder.wire(f"{ports.bank_name(bank)}_table", size, f"{size}'h{number:x}")
        for port in (port for of, port in ports.words if of == bank):
            _, _, address_signal, _ = ports.drivers[bank, port]
            bits = max(1, (size - 1).bit_length())
            place = f"{bits}'({address_signal.name}) * {bits}'d{width}"
            word = builder.wire(f"{ports.bank_name(bank)}_entry", width, f"{table.name}[{place} +: {width}]")
            behind = builder.delayed(word, array.memory.read)
            builder.drive(ports.words[bank, port], behind.name)
