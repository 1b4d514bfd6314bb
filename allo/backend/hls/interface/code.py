"""Interface of a kernel in C++: bursts between memory and arrays on chip, and its pragmas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ....ir.types import Float, Int
from ....ir.words import is_signed
from ..text.bits import BitWriter
from ..text.cxx_types import TypeNames
from ..text.expression import Expr, convert
from ..text.module import Emitted, needed_functions
from ..text.names import identifier
from ..text.statements import StatementWriter
from ..text.vendor import Vendor
from .ports import Port

_MAX_BURST = 256  # transfers; a burst stays inside 4 KiB
_PAGE = 4096


def file_names(code: str) -> set[str]:
    """The names at the level of the file in `code`."""
    heads = [line.split("(")[0].split("=")[0] for line in code.splitlines() if line[:1].isalpha()]
    return {word for head in heads for word in re.findall(r"\w+", head)}


def word_type(port: Port) -> str:
    """The type that the pointer of a port points to, or that of its register."""
    element = port.element
    if port.is_direct and isinstance(element, Float):
        return {16: "half", 32: "float", 64: "double"}[element.width]
    if port.is_direct and isinstance(element, Int):
        return f"int{port.bits}_t"
    return f"uint{port.word_bits}_t" if port.word_bits <= 64 else f"ap_uint<{port.word_bits}>"


def with_interface(emitted: Emitted, ports: tuple[Port, ...], vendor: Vendor) -> Emitted:
    """What is emitted, behind it the entry that connects it to memory; that is the entry of the whole then."""
    return _InterfaceWriter(emitted, ports, vendor).run()


class _InterfaceWriter:
    def __init__(self, emitted: Emitted, ports: tuple[Port, ...], vendor: Vendor) -> None:
        self.emitted = emitted
        self.ports = ports
        self.types = TypeNames()
        self.types.structs = dict(emitted.structs)
        self.operations = BitWriter(self.types, vendor.words)
        self.writer = StatementWriter(self.operations, vendor, {}, {})
        self.names = file_names(emitted.code) | {port.name for port in ports}
        self.top = identifier(f"{emitted.top}_top", self.names)
        self.locals = {port.name: identifier(f"local_{port.name}", self.names) for port in ports}
        self.pipeline = vendor.pipeline_text(1, False)
        self.unroll = vendor.unroll_text(0)
        self.inline_off = vendor.inline_off
        self.stream_port = vendor.streams.port

    def run(self) -> Emitted:
        functions: list[str] = []
        body: list[str] = []
        after: list[str] = []
        arguments: list[str] = []
        returned = ""
        for port in self.ports:
            if port.in_place or port.is_stream:
                arguments.append(port.name)
            elif port.is_array:
                self._array(port, functions, body, after)
                arguments.append(self.locals[port.name])
            elif not port.bundle:
                arguments.append(self._value(port, Expr(port.name)))
            elif port.is_result and self.emitted.returns:
                local = self.locals[port.name]
                returned = f"{self._type(port)} {local} = "
                after.append(f"{port.name}[0] = {self._word(port, Expr(local, type=self._type(port)))};")
            else:
                self._number(port, body, after)
                arguments.append(self.locals[port.name])
        call = f"{returned}{self.emitted.top}({', '.join(arguments)});"
        prototype = f'extern "C" void {self.top}({", ".join(map(self._parameter, self.ports))})'
        lines = [line if line.startswith("#") else f"  {line}" for line in [*body, call, *after]]
        entry = "\n".join([f"{prototype} {{", *self._pragmas(), *lines, "}"])
        needs, needed = needed_functions(self.operations, given=self.emitted.prelude)
        text = "\n\n".join([*needed, *functions, entry]) + "\n"
        preamble = self._preamble(f"{prototype}{text}")
        rest = self.emitted.code.removeprefix(self.emitted.preamble.rstrip())
        inner = re.escape(self.stream_port).replace(r"\{name\}", r"\w+") + "\n"
        rest = re.sub(inner, "", rest)  # the kernel is no longer the entry
        code = f"{preamble.rstrip()}{rest.rstrip()}\n\n{text}"
        prelude = self.emitted.prelude | needs
        return replace(
            self.emitted, code=code, preamble=preamble, prototype=prototype, top=self.top, prelude=prelude,
            parameters=tuple(port.name for port in self.ports),
        )  # fmt: skip

    def _preamble(self, text: str) -> str:
        """That of the kernel, with the header of words that only the interface has."""
        found, header, before = self.emitted.preamble, "#include <ap_int.h>", "#include <cstring>\n"
        if not re.search(r"\bap_u?int<", text) or header in found:
            return found
        return found.replace(before, f"{before}{header}\n") if before in found else f"{found}\n{header}"

    def _type(self, port: Port) -> str:
        return self.types.scalar(port.element)

    def _parameter(self, port: Port) -> str:
        if port.is_stream:
            return f"hls::stream<{self._type(port)}> &{port.name}"
        if not port.bundle:
            return f"{word_type(port)} {port.name}"
        if port.in_place:
            return self._declared(port, port.name)
        return f"{'' if port.writes else 'const '}{word_type(port)} *{port.name}"

    # -- arrays ------------------------------------------------------------------------------------

    def _array(self, port: Port, functions: list[str], body: list[str], after: list[str]) -> None:
        """The array on chip, and the bursts that fill it and bring it back."""
        local = self.locals[port.name]
        body += [f"{self._declared(port, local)};", *self.writer.layout(port.kind, local)]
        if port.storage is not None and not port.is_rom:  # a burst writes to what is on chip
            body += self.writer.storage(port.storage, port.kind, local)
        if port.reads:
            load = identifier(f"load_{port.name}", self.names)
            functions.append(self._burst(port, load, load=True))
            body.append(f"{load}({port.name}, {local});")
        if port.writes:
            store = identifier(f"store_{port.name}", self.names)
            functions.append(self._burst(port, store, load=False))
            after.append(f"{store}({local}, {port.name});")

    def _declared(self, port: Port, name: str) -> str:
        return f"{self._type(port)} {name}{''.join(f'[{extent}]' for extent in port.shape or ())}"

    def _burst(self, port: Port, name: str, *, load: bool) -> str:
        """A function whose accesses of memory are one after the other, a word a cycle."""
        shape = port.shape
        assert shape
        memory = f"{'const ' if load else ''}{word_type(port)} *memory"
        array = self._declared(port, "array")
        order = (memory, array) if load else (array, memory)
        extents = [*shape[:-1], shape[-1] // port.lanes]
        index = "w" if port.lanes > 1 else f"i{len(shape) - 1}"
        variables = [*(f"i{n}" for n in range(len(shape) - 1)), index]
        lines = [
            f"static void {name}({', '.join(order)}) {{",
            self.inline_off,
            *self.writer.layout(port.kind, "array"),
        ]
        for depth, (variable, extent) in enumerate(zip(variables, extents, strict=True)):
            head = f"for (int {variable} = 0; {variable} < {extent}; {variable}++) {{"
            lines.append(f"{'  ' * (depth + 1)}l_{name}_{variable}: {head}")
        lines.append(self.pipeline)
        place = _linear(variables, extents)
        subscripts = "".join(f"[{variable}]" for variable in variables[:-1])
        body = self._packed if port.lanes > 1 else self._single
        indent = "  " * (len(variables) + 1)
        inner = body(port, f"memory[{place}]", f"array{subscripts}", index, load)
        lines += [line if line.startswith("#") else indent + line for line in inner]
        lines += ["  " * depth + "}" for depth in range(len(variables), 0, -1)]
        chip = "the array on chip"
        what = f"burst from memory into {chip}" if load else f"burst from {chip} into memory"
        each = f", {port.lanes} elements a word" if port.lanes > 1 else ""
        return "\n".join([f"// {what}{each}", *lines, "}"])

    def _single(self, port: Port, memory: str, row: str, index: str, load: bool) -> list[str]:
        """One element a word."""
        element = f"{row}[{index}]"
        if load:
            return [f"{element} = {self._value(port, Expr(memory))};"]
        return [f"{memory} = {self._word(port, Expr(element, type=self._type(port)))};"]

    def _packed(self, port: Port, memory: str, row: str, index: str, load: bool) -> list[str]:
        """Several elements a word, all of them in one cycle."""
        element = f"{row}[{index} * {port.lanes} + lane]"
        part = f"word.range(lane * {port.bits} + {port.bits - 1}, lane * {port.bits})"
        lane = f"for (int lane = 0; lane < {port.lanes}; lane++) {{"
        whole = f"ap_uint<{port.word_bits}>"
        if load:
            value = self._value(port, Expr(f"ap_uint<{port.bits}>({part})", type=f"ap_uint<{port.bits}>"))
            return [f"const {whole} word = {memory};", lane, self.unroll, f"  {element} = {value};", "}"]
        word = self._container(port, Expr(element, type=self._type(port)))
        lines = [f"{whole} word = 0;", lane, self.unroll, f"  {part} = {word};", "}"]
        return [*lines, f"{memory} = {'word' if port.word_bits > 64 else f'{word_type(port)}(word)'};"]

    def _number(self, port: Port, body: list[str], after: list[str]) -> None:
        """One element in memory."""
        local = self.locals[port.name]
        first = f" = {self._value(port, Expr(f'{port.name}[0]'))}" if port.reads else ""
        body.append(f"{self._type(port)} {local}{first};")
        if port.writes:
            after.append(f"{port.name}[0] = {self._word(port, Expr(local, type=self._type(port)))};")

    # -- elements and words ------------------------------------------------------------------------

    def _value(self, port: Port, word: Expr) -> str:
        """The element that a word, or a part of it, holds."""
        element = port.element
        if port.is_direct:
            target = self._type(port)
            return word.text if target == word_type(port) else convert(target, word).text
        bits = f"ap_uint<{element.bits}>"
        return self.operations.from_bits(element, convert(bits, word)).text

    def _word(self, port: Port, value: Expr) -> str:
        """The word of one element."""
        target = word_type(port)
        if port.is_direct:
            return value.text if value.type == target else convert(target, value).text
        return convert(target, Expr(self._container(port, value), type=f"ap_uint<{port.bits}>")).text

    def _container(self, port: Port, value: Expr) -> str:
        """The bits of an element as memory has them, `ap_uint`."""
        element, whole = port.element, f"ap_uint<{port.bits}>"
        bits = self.operations.bits_of(element, value)
        if element.bits == port.bits:
            return convert(whole, bits).text
        if is_signed(element):
            return f"{whole}(ap_int<{port.bits}>(ap_int<{element.bits}>({bits.text})))"
        return f"{whole}({bits.text})"

    # -- around --------------------------------------------------------------------------------------

    def _pragmas(self) -> list[str]:
        lines = []
        for port in self.ports:
            if port.bundle:
                lines.append(
                    f"#pragma HLS interface m_axi port={port.name} offset=slave bundle={port.bundle} "
                    f"depth={port.words}{self._burst_lengths(port.bundle)}"
                )
            if port.is_stream:
                lines.append(self.stream_port.format(name=port.name))
        registers = [port for port in self.ports if not port.is_stream]
        lines += [f"#pragma HLS interface s_axilite port={port.name} bundle=control" for port in registers]
        return [*lines, "#pragma HLS interface s_axilite port=return bundle=control"]

    def _burst_lengths(self, bundle: str) -> str:
        """The longest bursts that the ports of a bundle can use, if they are longer than what tools take by default."""
        ports = [port for port in self.ports if port.bundle == bundle]
        widest = max(port.word_bits for port in ports)
        most = min(_MAX_BURST, _PAGE * 8 // widest)
        reads = max((port.words for port in ports if port.reads), default=0)
        writes = max((port.words for port in ports if port.writes), default=0)
        kinds = (("read", reads), ("write", writes))
        return "".join(
            f" max_{kind}_burst_length={min(most, 1 << (words - 1).bit_length())}"
            for kind, words in kinds
            if words > 16
        )


def _linear(variables: Sequence[str], extents: Sequence[int]) -> str:
    """The position of an element in memory, the last dimension fastest."""
    text = variables[0]
    for variable, extent in zip(variables[1:], extents[1:], strict=True):
        text = f"({text}) * {extent} + {variable}" if " " in text else f"{text} * {extent} + {variable}"
    return text
