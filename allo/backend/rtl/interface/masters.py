"""Masters of a shell: control behind AXI4-Lite, ports of memory over AXI4, streams of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..library import library_module
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Direction, Signal
from .access import ArrayAccess, WordDrain, WordSource, widened
from .plan import ADDRESS_BITS, REGISTER_BITS, ArrayTransfer, InterfacePlan, MemoryPort, ValueRegisters

_CONTROL = "s_axi_control"
_RISING, _CACHED = "2'b01", "4'b0011"
_PARTS = "valid|ready|addr|len|data|resp|last|strb"  # of a channel, as the library calls them


@dataclass(slots=True)
class ShellControl:
    """The registers and the phases of a shell; `loaded`, `stored` and `failed` are conditions that parts add."""

    plan: InterfacePlan
    ports: dict[str, str]
    load: Signal
    run: Signal
    ran: Signal
    store: Signal
    loaded: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def finish(self, builder: ModuleBuilder, read_values: Sequence[tuple[ValueRegisters, Signal]]) -> None:
        """Place what all has been connected to."""
        reads = max(1, self.plan.read_registers)
        parts = []
        for registers, value in sorted(read_values, key=lambda pair: pair[0].offset):
            parts.append(widened(value, registers.count * REGISTER_BITS, registers.is_signed))
        results = "{" + ", ".join(reversed(parts)) + "}" if parts else f"{REGISTER_BITS}'d0"
        signals = {name: builder.signal(f"control_{name}", 1) for name in ("start", "done", "idle", "failed")}
        builder.drive(signals["failed"], " || ".join(self.failed) or "1'b0")
        parameters = {"WORDS": max(1, self.plan.written_registers), "READS": reads}
        sockets = {"clk": "clk", "rst": "rst", **self.ports}
        sockets |= {name: signal.name for name, signal in signals.items()}
        sockets |= {"stuck": "stuck", "interrupt": "interrupt", "values": "values", "results": results}
        builder.instance("allo_axi_lite", "control", parameters, sockets)
        loaded = builder.wire("loaded", 1, " && ".join(self.loaded) or "1'b1")
        stored = builder.wire("stored", 1, " && ".join(self.stored) or "1'b1")
        builder.instance(
            "allo_phases", "phases", {},
            {
                "clk": "clk", "rst": "rst", "start": signals["start"].name, "loaded": loaded.name,
                "ran": self.ran.name, "stored": stored.name, "load": self.load.name, "run": self.run.name,
                "store": self.store.name, "done": signals["done"].name, "idle": signals["idle"].name,
            },
        )  # fmt: skip


def add_control(builder: ModuleBuilder, plan: InterfacePlan) -> ShellControl:
    """The ports of the control of a shell, and its signals."""
    for name in ("clk", "rst"):
        builder.port(name, 1, Direction.INPUT)
    outside = ("clk", "rst", "start", "done", "idle", "failed", "stuck", "interrupt", "values", "results")
    words, reads = max(1, plan.written_registers), max(1, plan.read_registers)
    ports = {}
    for port in library_module("allo_axi_lite").ports({"WORDS": words, "READS": reads}):
        if port.name not in outside:
            direction = Direction.INPUT if port.is_input else Direction.OUTPUT
            ports[port.name] = builder.port(f"{_CONTROL}_{port.name}", port.width, direction).name
    builder.port("interrupt", 1, Direction.OUTPUT)
    builder.module.signals.append(Signal("stuck", 1))
    builder.signal("values", words * REGISTER_BITS)
    load, run, ran, store = (builder.signal(name, 1) for name in ("load", "run", "ran", "store"))
    return ShellControl(plan, ports, load, run, ran, store)


class MemoryMaster:
    """A port of memory: its arrays are loaded one after the other, and stored so."""

    def __init__(self, builder: ModuleBuilder, port: MemoryPort, plan: InterfacePlan) -> None:
        self.builder, self.port, self.plan = builder, port, plan
        self.accesses: dict[str, ArrayAccess] = {}
        name = self.name = port.name
        self.read_ports = self._ports("allo_axi_read", "ar", "r") if port.loads else {}
        self.write_ports = self._ports("allo_axi_write", "aw", "w", "b") if port.stores else {}
        if port.loads:
            self.turn = builder.signal(f"{name}_load_turn", len(port.loads))
            self.valid = builder.signal(f"{name}_valid", 1)
            self.word = builder.signal(f"{name}_word", port.word_bits)
        if port.stores:
            self.store_turn = builder.signal(f"{name}_store_turn", len(port.stores))
            self.full = builder.signal(f"{name}_full", 1)

    def _ports(self, module: str, *channels: str) -> dict[str, str]:
        """The ports of some channels, by their names in the library."""
        builder, width = self.builder, self.port.word_bits
        start, found = f"m_axi_{self.name}", {}
        parameters = {"W": width, "A": ADDRESS_BITS, "OUTSTANDING": self.plan.outstanding}
        for port in library_module(module).ports(parameters):
            if re.fullmatch(rf"({'|'.join(channels)})({_PARTS})", port.name):
                direction = Direction.INPUT if port.is_input else Direction.OUTPUT
                found[port.name] = builder.port(f"{start}_{port.name}", port.width, direction).name
        size = (width // 8).bit_length() - 1
        constants = {"size": (3, f"3'd{size}"), "burst": (2, _RISING), "cache": (4, _CACHED), "prot": (3, "3'd0")}
        for kind, (bits, text) in constants.items():
            builder.drive(builder.port(f"{start}_{channels[0]}{kind}", bits, Direction.OUTPUT), text)
        return found

    def source(self, transfer: ArrayTransfer) -> WordSource:
        """Where the words of an array come from."""
        return WordSource(self.valid.name, self.word.name, _bit(self.turn, self.port.loads.index(transfer)))

    def drain(self, transfer: ArrayTransfer) -> WordDrain:
        """Where the words of an array go to."""
        return WordDrain(self.full.name, _bit(self.store_turn, self.port.stores.index(transfer)))

    def connect(self, transfer: ArrayTransfer, access: ArrayAccess) -> None:
        """Take an array over."""
        self.accesses[transfer.label] = access

    def finish(self, control: ShellControl) -> None:
        """Place what reads and writes memory."""
        if self.port.loads:
            accesses = [self.accesses[one.label] for one in self.port.loads]
            take = " || ".join(f"({_bit(self.turn, n)} && {one.take.name})" for n, one in enumerate(accesses))
            failed = self._place(
                "read", self.port.loads, control.load, self.read_ports,
                {"valid": self.valid.name, "data": self.word.name, "take": take},
            )  # fmt: skip
            self._turns(self.turn, control.load, " || ".join(one.load_ends.name for one in accesses))
            control.loaded.append(f"{self.turn.name} == '0")
            control.failed.append(failed)
        if self.port.stores:
            accesses = [self.accesses[one.label] for one in self.port.stores]
            idle = self.builder.signal(f"{self.name}_idle", 1)
            failed = self._place(
                "write", self.port.stores, control.store, self.write_ports,
                {
                    "put": " || ".join(one.put.name for one in accesses),
                    "data": _picked(self.store_turn, [one.data.name for one in accesses]),
                    "strobes": _picked(self.store_turn, [one.strobes.name for one in accesses]),
                    "full": self.full.name, "idle": idle.name,
                },
            )  # fmt: skip
            self._turns(self.store_turn, control.store, " || ".join(one.store_ends.name for one in accesses))
            control.stored += [f"{self.store_turn.name} == '0", f"{self.name}_write_request == '0", idle.name]
            control.failed.append(failed)

    def _place(
        self, kind: str, transfers: Sequence[ArrayTransfer], begins: Signal, ports: dict[str, str], more: dict[str, str]
    ) -> str:
        """What reads or writes memory, and its requests; the signal that says that it has failed."""
        builder, name = self.builder, f"{self.name}_{kind}"
        requests = builder.signal(f"{name}_request", len(transfers))
        ready = builder.signal(f"{name}_ready", 1)
        self._turns(requests, begins, f"|{requests.name} && {ready.name}")
        places = {one.label: one.place for one in self.plan.registers.values()}
        bases = [f"values[{places[one.label] * REGISTER_BITS} +: {ADDRESS_BITS}]" for one in transfers]
        counts = [f"32'd{one.words(self.port.word_bits)}" for one in transfers]
        failed = builder.signal(f"{name}_failed", 1)
        builder.instance(
            f"allo_axi_{kind}", f"{name}er" if kind == "read" else f"{name}r",
            {"W": self.port.word_bits, "A": ADDRESS_BITS, "OUTSTANDING": self.plan.outstanding},
            {
                "clk": "clk", "rst": "rst", "req": f"|{requests.name}", "req_ready": ready.name,
                "from": _picked(requests, bases), "beats": _picked(requests, counts), **ports, **more,
                "failed": failed.name,
            },
        )  # fmt: skip
        return failed.name

    def _turns(self, turn: Signal, begins: Signal, next_: str) -> None:
        _place_turns(self.builder, turn, begins.name, next_)


class StreamMaster:
    """The streams that an array comes and goes by: `s_axis_<name>` and `m_axis_<name>`."""

    def __init__(self, builder: ModuleBuilder, transfer: ArrayTransfer) -> None:
        self.builder, self.transfer = builder, transfer
        name, bits = transfer.label, transfer.group_bits
        self.ports: dict[str, str] = {}
        layout = [("tvalid", 1), ("tdata", bits), ("tlast", 1)]
        if transfer.loads:
            for part, width in layout:
                self.ports[f"s_{part}"] = builder.port(f"s_axis_{name}_{part}", width, Direction.INPUT).name
            self.ports["s_tready"] = builder.port(f"s_axis_{name}_tready", 1, Direction.OUTPUT).name
            self.turn, self.empty = (builder.signal(f"{name}_{part}", 1) for part in ("load_turn", "empty"))
            self.word = builder.signal(f"{name}_in", bits)
        if transfer.stores:
            for part, width in (*layout, ("tkeep", bits // 8)):
                self.ports[f"m_{part}"] = builder.port(f"m_axis_{name}_{part}", width, Direction.OUTPUT).name
            self.ports["m_tready"] = builder.port(f"m_axis_{name}_tready", 1, Direction.INPUT).name
            self.store_turn, self.full = (builder.signal(f"{name}_{part}", 1) for part in ("store_turn", "full"))

    def source(self, _: ArrayTransfer) -> WordSource:
        """Where the words come from."""
        return WordSource(f"!{self.empty.name}", self.word.name, self.turn.name)

    def drain(self, _: ArrayTransfer) -> WordDrain:
        """Where the words go to."""
        return WordDrain(self.full.name, self.store_turn.name)

    def connect(self, _: ArrayTransfer, access: ArrayAccess) -> None:
        """Take the array over."""
        self.access = access

    def finish(self, control: ShellControl) -> None:
        """Place the FIFOs at the streams."""
        builder, name, bits = self.builder, self.transfer.label, self.transfer.group_bits
        if self.transfer.loads:
            full = builder.signal(f"{name}_in_full", 1)
            builder.drive(Signal(self.ports["s_tready"], 1), f"!{full.name}")
            put = f"{self.ports['s_tvalid']} && !{full.name}"
            sockets = {"put": put, "put_data": self.ports["s_tdata"], "full": full.name}
            sockets |= {"get": self.access.take.name, "get_data": self.word.name, "empty": self.empty.name}
            self._fifo(f"{name}_source", bits, sockets)
            _place_turns(builder, self.turn, control.load.name, self.access.load_ends.name)
            control.loaded.append(f"!{self.turn.name}")
        if self.transfer.stores:
            empty = builder.signal(f"{name}_out_empty", 1)
            builder.drive(Signal(self.ports["m_tvalid"], 1), f"!{empty.name}")
            access, parts = self.access, (self.ports[f"m_{part}"] for part in ("tlast", "tkeep", "tdata"))
            given = f"{{{access.store_ends.name}, {access.strobes.name}, {access.data.name}}}"
            sockets = {"put": access.put.name, "put_data": given, "full": self.full.name}
            sockets |= {"get": f"!{empty.name} && {self.ports['m_tready']}", "get_data": f"{{{', '.join(parts)}}}"}
            self._fifo(f"{name}_sink", bits + bits // 8 + 1, {**sockets, "empty": empty.name})
            _place_turns(builder, self.store_turn, control.store.name, access.store_ends.name)
            control.stored += [f"!{self.store_turn.name}", empty.name]

    def _fifo(self, name: str, bits: int, sockets: dict[str, str]) -> None:
        self.builder.instance("allo_fifo", name, {"W": bits, "DEPTH": 2}, {"clk": "clk", "rst": "rst", **sockets})


def _place_turns(builder: ModuleBuilder, turn: Signal, begins: str, next_: str) -> None:
    sockets = {"clk": "clk", "rst": "rst", "begins": begins, "next": next_, "turn": turn.name}
    builder.instance("allo_turns", f"{turn.name}s", {"COUNT": turn.width}, sockets)


def _bit(signal: Signal, place: int) -> str:
    return signal.name if signal.width == 1 else f"{signal.name}[{place}]"


def _picked(turn: Signal, words: Sequence[str]) -> str:
    """The word whose turn it is."""
    *rest, last = words
    return "".join(f"{_bit(turn, n)} ? {word} : " for n, word in enumerate(rest)) + last
