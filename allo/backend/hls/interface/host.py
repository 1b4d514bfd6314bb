"""Kernel as a host sees it: the table of its arguments, their registers, and the files of their data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import ToolError
from ....ir.types import Float
from ...arguments.parameters import Array
from ..text.escape import code_span
from ..text.module import template
from .code import word_type
from .ports import Port

DATA = "data"
_FIRST_REGISTER = 0x10  # below: control, and three of interrupts
_SEED = 0


def argument_lines(ports: Sequence[Port]) -> str:
    """The entries of `arguments.h`."""
    lines = []
    for port in ports:
        kind = "memory" if port.bundle or port.is_stream else "number"
        reads, writes = (str(flag).lower() for flag in (port.reads, port.writes))
        sizes = {32: "single", 64: "twice"} if isinstance(port.element, Float) else {}
        element = sizes.get(port.bits, "bits")
        lines.append(
            f'    {{"{port.name}", Kind::{kind}, Element::{element}, {reads}, {writes}, {port.size}}},'
        )
    return "\n".join(lines)


def argument_table(ports: Sequence[Port], *, has_interface: bool) -> str:
    """The rows of the table in README.md."""
    rows = []
    for port in ports:
        if port.is_stream:
            place = "a stream"
        elif port.bundle:
            place = f"memory, port `{port.bundle}`" if has_interface else "memory"
            place += f" at {port.bank}" if port.bank else ""
        else:
            place = "a register" if has_interface else "a number"
        does = "read and written" if port.reads and port.writes else "read" if port.reads else "written"
        kind = code_span(f"{port.element!r}{list(port.shape) if port.shape else ''}")
        rows.append(f"| `{port.name}` | {place}; {does} | `{kind}` | {port.size} |")
    return "\n".join(rows)


def bank_lines(ports: Sequence[Port], top: str) -> str:
    """The lines of `link.cfg` that give ports banks."""
    return "\n".join(f"sp={top}_1.{port.name}:{port.bank}" for port in ports if port.bank)


def call_text(ports: Sequence[Port], top: str) -> str:
    """`call.h`: the call of the kernel with blocks of memory."""
    before, arguments, after = [], [], []
    for n, port in enumerate(ports):
        kind, words = word_type(port), f"words_{port.name}"
        if port.is_stream:
            before.append(f'Tokens<{kind}> {words}("{port.name}", memory[{n}], {port.count});')
            before += [f"{words}.fill();"] if port.reads else []
            arguments.append(f"{words}.stream")
            after.append(f"{words}.{'drain' if port.writes else 'require_empty'}();")
        elif not port.bundle:
            before.append(f"Words<{kind}> {words}(memory[{n}], 1);")
            arguments.append(f"*{words}.data()")
        elif port.in_place:
            rows = "".join(f"[{extent}]" for extent in (port.shape or ())[1:])
            arguments.append(f"static_cast<{kind} (*){rows}>(memory[{n}])")
        elif port.lanes == 1 and port.is_direct:
            arguments.append(f"static_cast<{kind} *>(memory[{n}])")
        else:
            before.append(f"Words<{kind}> {words}(memory[{n}], {port.words});")
            arguments.append(f"{words}.data()")
            if port.writes:
                after.append(f"{words}.bring_back();")
    lines = [*before, f"{top}({', '.join(arguments)});", *after]
    wide = any("ap_uint" in line for line in lines)
    parts = [template("project/wide.h")] if wide else []
    parts += [template("project/tokens.h")] if any(port.is_stream for port in ports) else []
    text = template("project/call.h").replace("@WIDE@", "".join(parts))
    return text.replace("@BODY@", "\n".join(f"  {line}" for line in lines))


# -- registers -------------------------------------------------------------------------------------


def registers(ports: Sequence[Port], found_at: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    """Where the arguments are behind the address of the kernel: words of 32 bits, an empty one behind each argument.

    `found_at` are the addresses that the tool says, by the name of the argument in small letters.
    """
    offset = _FIRST_REGISTER
    found = []
    for port in ports:
        words = 2 if port.bundle or port.bits > 32 else 1
        place = offset if found_at is None else found_at[port.name.lower()]
        found.append({
            "name": port.name, "kind": "memory" if port.bundle else "number", "offset": place, "registers": words,
            "bytes": port.size, "read": port.reads, "written": port.writes,
        })  # fmt: skip
        offset += 4 * (words + 1)
    return found


def registers_text(ports: Sequence[Port], found_at: Mapping[str, int] | None = None) -> str:
    """`registers.json`."""
    return json.dumps({"arguments": registers(ports, found_at)}, indent=2) + "\n"


# -- data ------------------------------------------------------------------------------------------


def example_data(port: Port) -> bytes:
    """Data for an argument until a call gives it some: floats are random, all else zero, which is a valid index."""
    if isinstance(port.element, Float) and not port.element.brain:
        numbers = np.random.default_rng(_SEED).standard_normal(port.count)
        return numbers.astype(f"float{port.bits}").tobytes()
    return bytes(port.size)


def write_inputs(folder: Path, ports: Sequence[Port], slots: Sequence[Array]) -> None:
    """The files that a run reads; results of earlier runs are removed."""
    (folder / DATA).mkdir(exist_ok=True)
    for port, slot in zip(ports, slots, strict=True):
        for kind in ("out", "expected"):
            (folder / DATA / f"{port.name}.{kind}.bin").unlink(missing_ok=True)
        if port.reads:
            (folder / DATA / f"{port.name}.bin").write_bytes(slot.tobytes())


def write_expected(folder: Path, ports: Sequence[Port], slots: Sequence[Array]) -> None:
    """What a simulation computed."""
    for port, slot in zip(ports, slots, strict=True):
        if port.writes:
            (folder / DATA / f"{port.name}.expected.bin").write_bytes(slot.tobytes())


def read_outputs(folder: Path, ports: Sequence[Port], slots: Sequence[Array], command: str) -> None:
    """Bring what a run wrote into memory; ToolError if it wrote nothing, or not as much as there is."""
    for port, slot in zip(ports, slots, strict=True):
        if not port.writes:
            continue
        path = folder / DATA / f"{port.name}.out.bin"
        data = path.read_bytes() if path.exists() else None
        if data is None or len(data) != slot.nbytes:
            left = "did not write" if data is None else f"wrote {len(data)} bytes, not {slot.nbytes}, to"
            raise ToolError(f"the run ended well, but {left} {path}\n  command: {command}")
        slot[...] = np.frombuffer(data, slot.dtype).reshape(slot.shape)
