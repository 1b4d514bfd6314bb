"""Loops over shots of a bundle whose bodies differ in numbers: a number grows by as much from each shot to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, index_type, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.walk import argument_names, entry_block, operations
from ..element_class import set_signature

CALL = "@{}"  # the function of a call in the lines of a shot


@dataclass(frozen=True, slots=True)
class ShotText:
    """What a shot does, with a mark for the function of each of its calls, and these functions."""

    lines: tuple[str, ...]
    calls: tuple[str, ...]

    def text(self, calls: Sequence[str], counted: Sequence[bool]) -> list[str]:
        """The lines with calls of functions, of which some are given the number of the shot."""
        rest = iter(zip(calls, counted, strict=True))
        return [self._line(line, *next(rest)) if line.startswith(f"func.call {CALL}") else line for line in self.lines]

    def _line(self, line: str, call: str, is_counted: bool) -> str:
        made = line.replace(CALL, f"@{call}", 1)
        if not is_counted:
            return made
        head, kinds = made.split(") : (")
        comma = "" if head.endswith("(") else ", "
        return f"{head}{comma}%shot) : ({kinds.replace(')', f'{comma}index)', 1)}"


def shots_in_loops(module: Module, shots: Sequence[ShotText]) -> list[str]:
    """The text of shots one after the other, those that do the same but for numbers in a loop; `module` has functions
    of their calls, and gets those that take the number of the shot."""
    lines: list[str] = []
    while shots:
        count = _alike(module, shots)
        first = shots[0]
        made = [_counted(module, [shot.calls[k] for shot in shots[:count]]) for k in range(len(first.calls))]
        counted = [name != own for name, own in zip(made, first.calls, strict=True)]
        lines += [f"affine.for %shot = 0 to {count} {{", *first.text(made, counted), "}"]
        shots = shots[count:]
    return lines


def _alike(module: Module, shots: Sequence[ShotText]) -> int:
    """How many of the first shots are one loop."""
    first = shots[0]
    count = 1
    while count < len(shots) and shots[count].lines == first.lines:
        calls = [[shot.calls[k] for shot in shots[: count + 1]] for k in range(len(first.calls))]
        if not all(_steps(module, own) is not None for own in calls):
            break
        count += 1
    return count


def _steps(module: Module, names: Sequence[str]) -> list[tuple[int, int]] | None:
    """The first value of each constant of functions that are alike, and by how much it grows; None if they are not."""
    if len(set(names)) == 1:
        return [(number, 0) for number in _numbers(module, names[0])]
    if len({_without_numbers(module, name) for name in names}) > 1:
        return None
    values = [_numbers(module, name) for name in names]
    steps = [(a, b - a) for a, b in zip(*values[:2], strict=True)]
    grown = [[a + k * step for a, step in steps] for k in range(len(names))]
    return steps if grown == values else None


def _constants(module: Module, name: str) -> Iterator[ir.Operation]:
    """The constants of a function that are integers of more than one bit."""
    entry = entry_block(module.function(name))
    assert entry is not None
    for op in operations(entry, "arith.constant"):
        kind = op.results[0].type
        if isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and 1 < kind.width <= 64):
            yield op


def _numbers(module: Module, name: str) -> list[int]:
    return [ir.IntegerAttr(op.attributes["value"]).value for op in _constants(module, name)]


def _without_numbers(module: Module, name: str) -> str:
    """The text of a function with 0 in the place of its constants."""
    function = module.function(name).operation
    before = [(op, op.attributes["value"]) for op in _constants(module, name)]
    for op, value in before:
        op.attributes["value"] = ir.IntegerAttr.get(value.type, 0)
    function.attributes["sym_name"] = string_attr("same")
    text: str = function.get_asm(use_local_scope=True, assume_verified=True)
    function.attributes["sym_name"] = string_attr(name)
    for op, value in before:
        op.attributes["value"] = value
    return text


def _counted(module: Module, names: Sequence[str]) -> str:
    """The function that does what functions do, one after the other, by the number that it takes last."""
    steps = _steps(module, names)
    assert steps is not None
    if len(set(names)) == 1:
        return names[0]
    source = module.function(names[0])
    symbol = f"{names[0]}x{len(names)}"
    made = source.operation.clone(ir.InsertionPoint(module.mlir.body))
    made.attributes["sym_name"] = string_attr(symbol)
    block = made.regions[0].blocks[0]
    number = block.add_argument(index_type(), made.location)
    set_signature(made, [*argument_names(source), "shot"])
    for op, (first, step) in zip(list(_constants(module, symbol)), steps, strict=True):
        if step:
            start = Builder(ir.InsertionPoint.at_block_begin(block), op.location)
            place = ir.AffineMap.get(1, 0, [affine_dim(0) * step + affine_constant(first)], context())
            value = start.value("affine.apply", index_type(), [number], {"map": ir.AffineMapAttr.get(place)})
            kind = op.results[0].type
            if not isinstance(kind, ir.IndexType):
                cast = Builder(ir.InsertionPoint(value.owner), op.location)
                narrow = cast.value("arith.index_cast", kind, [value])
                narrow.owner.move_after(value.owner)
                value = narrow
            op.results[0].replace_all_uses_with(value)
            op.erase()
    return symbol
