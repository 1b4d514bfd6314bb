"""Operations of the IR as hardware: expressions for logic, instances of library units for what has registers."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....ir.dense import float_bits
from ....ir.mlir_types import integer_of
from ....ir.module import Module
from ....ir.subnormals import UNITS
from ....ir.walk import entry_block, location_of, operations
from ....ir.widths import INDEX_BITS, Widths
from ....timing.problem.operators import bits_of, no_hardware
from ....timing.problem.region import Surroundings
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .flow import UnitRegisters
from .shared_units import SharedUnits, UnitUse

_WIRES = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "allo.sign_cast",
          "arith.bitcast", "allo.bitcast")  # fmt: skip
_LOGIC = {"arith.addi": "+", "arith.subi": "-", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_EXTREMES = {"arith.minsi": ("<", True), "arith.maxsi": (">", True), "arith.minui": ("<", False),
             "arith.maxui": (">", False)}  # fmt: skip
_COMPARISONS = {0: ("==", False), 1: ("!=", False), 2: ("<", True), 3: ("<=", True), 4: (">", True), 5: (">=", True),
                6: ("<", False), 7: ("<=", False), 8: (">", False), 9: (">=", False)}  # fmt: skip
_SELECTIONS = ("arith.constant", "arith.select", "arith.cmpi", "arith.muli", "math.absi")
_CONVERSIONS = ("arith.cmpf", "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi",
                "arith.fptoui")  # fmt: skip
_DIVISIONS = {
    "arith.divsi": ("quotient", 1, 0), "arith.remsi": ("remainder", 1, 0), "arith.floordivsi": ("quotient", 1, 1),
    "arith.ceildivsi": ("quotient", 1, 2), "arith.divui": ("quotient", 0, 0), "arith.remui": ("remainder", 0, 0),
}  # fmt: skip
_SHIFTS = {"arith.shli": 0, "arith.shrui": 1, "arith.shrsi": 2}
_FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
_FLOAT_UNITS: dict[str, tuple[str, dict[str, int]]] = {
    "arith.addf": ("allo_fadd", {}), "arith.subf": ("allo_fsub", {}), "arith.mulf": ("allo_fmul", {}),
    "arith.divf": ("allo_fdiv", {}), "math.sqrt": ("allo_fsqrt", {}), "arith.negf": ("allo_fneg", {}),
    "math.absf": ("allo_fabs", {}), "math.floor": ("allo_ffloor", {}),
    "arith.maximumf": ("allo_fmax", {}), "arith.minimumf": ("allo_fmin", {}),
    "arith.maxnumf": ("allo_fmax", {"NUMBER": 1}), "arith.minnumf": ("allo_fmin", {"NUMBER": 1}),
}  # fmt: skip
_BUILT = {*_WIRES, *_LOGIC, *_EXTREMES, *_SELECTIONS, *_CONVERSIONS, *_DIVISIONS, *_SHIFTS, *_FLOAT_UNITS}


@dataclass(frozen=True, slots=True)
class OperationPrinter:
    """Operations in one module; integers are as wide as anything needs them."""

    builder: ModuleBuilder
    shared: SharedUnits
    around: Surroundings
    flushes: bool  # whether units of floats know no subnormal numbers

    @property
    def widths(self) -> Widths:
        """The widths that values need, which are found out only where something is computed."""
        return self.around.widths

    def width(self, value: ir.Value) -> int:
        """The bits that are built of a value."""
        if isinstance(value.type, ir.IntegerType):
            return max(1, self.widths.needed(value))
        return bits_of(value.type)

    def constant(self, op: ir.Operation) -> Signal:
        """The literal of a constant."""
        attribute, result = op.attributes["value"], op.results[0]
        if isinstance(attribute, ir.BoolAttr):
            return Signal("", 1, literal=int(attribute.value))
        if isinstance(attribute, ir.IntegerAttr):
            return Signal("", self.width(result), literal=integer_of(attribute))
        if isinstance(attribute, ir.FloatAttr):
            return Signal("", bits_of(result.type), literal=float_bits(attribute))
        raise no_hardware(op, f"a constant of type {result.type}")

    def result(
        self, op: ir.Operation, operands: list[Signal], latency: int, registers: UnitRegisters | None = None
    ) -> Signal:
        """The result of an operation on operands of its cycle, `latency` cycles later, behind these registers."""
        if not len(op.operands):  # what makes an array, for one
            raise no_hardware(op)
        at, width = location_of(op), self.width(op.results[0])
        hint = op.name.partition(".")[2].removesuffix("i").removesuffix("f")
        unit = self._unit(op, operands, latency)
        if unit is not None:
            module, parameters, ports, output, out_width = unit
            if registers is not None and (number := self.shared.numbers.get(op)) is not None:
                return self.shared.result(UnitUse(module, parameters, ports, out_width), number, registers, hint, at)
            made = self.builder.signal(hint, out_width)
            sockets = {"clk": "clk", "en": registers.enable if registers else "en", **ports, output: made.name}
            self.builder.instance(module, f"{hint}_unit", parameters, sockets, at)
            return registers.settled(made) if registers else made
        text, signed = self._logic(op, operands, width)
        made = self.builder.wire(hint, width, text, signed=signed, at=at)
        return registers.delayed(made) if registers else self.builder.delayed(made, latency)

    # -- logic -------------------------------------------------------------------------------------------

    def _logic(self, op: ir.Operation, given: list[Signal], width: int) -> tuple[str, bool]:
        """An expression for an operation, and whether it has a sign."""
        name = op.name
        if name in _WIRES:
            return self._wire(op, given[0], width)
        if name in _LOGIC:
            return f"{given[0].fit(width)} {_LOGIC[name]} {given[1].fit(width)}", False
        if name == "arith.muli":  # by a power of two
            return f"{given[0].fit(width)} * {given[1].fit(width)}", False
        if name == "arith.select":
            return f"{given[0].fit(1)} ? {given[1].fit(width)} : {given[2].fit(width)}", False
        if name == "arith.cmpi":
            sign, signed = _COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value]
            full = bits_of(op.operands[0].type)
            if isinstance(op.operands[0].type, ir.IndexType):  # sums may have more bits
                full = max(full, *(one.width for one in given))
            return f"{_number(given[0], full, signed)} {sign} {_number(given[1], full, signed)}", False
        if name in _EXTREMES:
            sign, signed = _EXTREMES[name]
            full = bits_of(op.operands[0].type)
            less = f"{_number(given[0], full, signed)} {sign} {_number(given[1], full, signed)}"
            return f"({less}) ? {given[0].fit(width)} : {given[1].fit(width)}", False
        if name.startswith("allo.") and (found := self._bits(op, given, width)) is not None:
            return found, False
        if name == "math.absi":
            full = bits_of(op.operands[0].type)
            value = given[0].with_sign(full)
            return f"({value} < 0) ? -{given[0].fit(width)} : {given[0].fit(width)}", False
        raise no_hardware(op)

    def _bits(self, op: ir.Operation, given: list[Signal], width: int) -> str | None:
        """The expression of an operation on single bits; `full` are those of the integer."""
        full = bits_of(op.operands[0].type)
        number = given[0].fit(full)
        if op.name == "allo.get_bit":
            return f"1'({number} >> {given[1].fit(INDEX_BITS)})"
        if op.name == "allo.set_bit":
            one = f"({full}'d1 << {given[1].fit(INDEX_BITS)})"
            return f"{width}'({given[2].fit(1)} ? ({number} | {one}) : ({number} & ~{one}))"
        if op.name in ("allo.get_slice", "allo.set_slice"):
            high, low = given[1].fit(INDEX_BITS), given[2].fit(INDEX_BITS)
            mask = f"~({{{full}{{1'b1}}}} << ({high} - {low}))"
            if op.name == "allo.get_slice":
                return f"{width}'(({number} >> {low}) & {mask})"
            size = bits_of(op.operands[3].type)
            word = f"{full}'({given[3].fit(size)})"
            return f"{width}'(({number} & ~(({mask}) << {low})) | (({word} & {mask}) << {low}))"
        if op.name == "allo.reverse_bits":
            return f"{width}'({{<<{{{number}}}}})"
        return None

    def _wire(self, op: ir.Operation, given: Signal, width: int) -> tuple[str, bool]:
        source, result = op.operands[0], op.results[0]
        if isinstance(result.type, ir.IndexType):
            full = bits_of(source.type)
            signed = op.name != "arith.index_castui"
            return (f"{width}'({_number(given, full, signed)})", True) if full < width else (given.fit(width), True)
        full = self.width(source)
        if op.name == "arith.extsi" and width > full:
            return f"{width}'({given.with_sign(full)})", False
        if width > full and op.name in ("arith.index_cast",):
            return f"{width}'({given.with_sign(bits_of(source.type))})", False
        if width > full:
            return f"{width}'({given.fit(full)})", False
        return given.fit(width), False

    # -- units -------------------------------------------------------------------------------------------

    def _unit(
        self, op: ir.Operation, given: list[Signal], latency: int
    ) -> tuple[str, dict[str, int | str], dict[str, str], str, int] | None:
        """Module, parameters, inputs, output and its width."""
        name, result = op.name, op.results[0]
        if name == "arith.muli" and latency:
            first, second = (self.widths.signed_bits(value) for value in op.operands)
            first, second = max(first, 1), max(second, 1)
            out = self.width(result)
            parameters: dict[str, int | str] = {"WA": first, "WB": second, "WO": out, "LAT": latency}
            return "allo_mul", parameters, {"a": given[0].fit(first), "b": given[1].fit(second)}, "y", out
        if name in _DIVISIONS:
            output, signed, rounds = _DIVISIONS[name]
            full = bits_of(result.type)
            parameters = {"W": full, "SIGNED": signed, "ROUND": rounds, "LAT": latency}
            return "allo_divmod", parameters, {"a": given[0].fit(full), "b": given[1].fit(full)}, output, full
        if name in _SHIFTS:
            full = bits_of(result.type)
            parameters = {"W": full, "WB": full, "KIND": _SHIFTS[name], "LAT": latency}
            return "allo_shift", parameters, {"a": given[0].fit(full), "b": given[1].fit(full)}, "y", full
        return self._float_unit(op, given, latency)

    def _float_unit(
        self, op: ir.Operation, given: list[Signal], latency: int
    ) -> tuple[str, dict[str, int | str], dict[str, str], str, int] | None:
        name, result = op.name, op.results[0]
        source = str(op.operands[0].type)
        flush = {"FLUSH": 1} if self.flushes and name in UNITS else {}
        if name == "arith.cmpf":
            exponent, mantissa = _FLOATS[source]
            predicate = ir.IntegerAttr(op.attributes["predicate"]).value
            parameters: dict[str, int | str] = {"EXP": exponent, "MAN": mantissa, "PRED": predicate, "LAT": latency}
            return "allo_fcmp", parameters, _operands(given), "y", 1
        if name in _FLOAT_UNITS:
            module, more = _FLOAT_UNITS[name]
            exponent, mantissa = _FLOATS[source]
            parameters = {"EXP": exponent, "MAN": mantissa, **more, **flush, "LAT": latency}
            return module, parameters, _operands(given), "y", bits_of(result.type)
        if name in ("arith.extf", "arith.truncf"):
            one, other = _FLOATS[source], _FLOATS[str(result.type)]
            parameters = {"EXP_A": one[0], "MAN_A": one[1], "EXP_Y": other[0], "MAN_Y": other[1]}
            parameters |= {**flush, "LAT": latency}
            return "allo_fconv", parameters, _operands(given), "y", bits_of(result.type)
        if name in ("arith.sitofp", "arith.uitofp"):
            exponent, mantissa = _FLOATS[str(result.type)]
            full, signed = bits_of(op.operands[0].type), int(name == "arith.sitofp")
            parameters = {"W": full, "SIGNED": signed, "EXP": exponent, "MAN": mantissa, "LAT": latency}
            return "allo_itof", parameters, {"a": given[0].fit(full)}, "y", bits_of(result.type)
        if name in ("arith.fptosi", "arith.fptoui"):
            exponent, mantissa = _FLOATS[source]
            full, signed = bits_of(result.type), int(name == "arith.fptosi")
            parameters = {"EXP": exponent, "MAN": mantissa, "W": full, "SIGNED": signed, "LAT": latency}
            return "allo_ftoi", parameters, _operands(given), "y", full
        return None


def _operands(given: list[Signal]) -> dict[str, str]:
    return {name: signal.fit(signal.width) for name, signal in zip("ab", given, strict=False)}


def _number(signal: Signal, width: int, signed: bool) -> str:
    return signal.with_sign(width) if signed else signal.fit(width)


def demand_hardware(module: Module) -> None:
    """Raises TargetError for the first operation on numbers that has neither logic nor a unit."""
    entries = [entry for function in module.functions() if (entry := entry_block(function)) is not None]
    for op in (op for entry in entries for op in operations(entry)):
        if op.name.startswith(("arith.", "math.")) and op.name not in _BUILT:
            raise no_hardware(op, f"'{op.name.partition('.')[2]}' of {op.results[0].type}")
