"""Text of a module with arrays: declarations, loops over them, tables of places in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ....ir.names import unique_name

type Column = tuple[int, ...]


class GridText:
    """The text of one module while it is made; `inputs` of what is computed at once are kept by name.

    The sizes of arrays are powers of two, with which simulators check no bounds.
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.p = unique_name("p", taken)
        self.declared: list[str] = []
        self.lines: list[str] = []
        self.sizes: dict[str, int] = {}  # of arrays
        self.inputs: dict[str, set[str]] = {}
        self._tables: dict[Column, str] = {}
        self._kinds: dict[str, tuple[int, bool]] = {}  # of arrays: the width of an element, and whether it has a sign
        self._starts: dict[tuple[int, bool, int, int], str] = {}  # arrays of reset values

    def copy(self) -> GridText:
        """The text so far, to which other parts can be added."""
        made = GridText(set(self.taken))
        made.p = self.p
        made.declared, made.lines, made.sizes = [*self.declared], [*self.lines], dict(self.sizes)
        made.inputs = {name: set(others) for name, others in self.inputs.items()}
        made._tables, made._kinds, made._starts = dict(self._tables), dict(self._kinds), dict(self._starts)
        return made

    def name(self, hint: str) -> str:
        """A free name."""
        return unique_name(hint, self.taken)

    def array(self, hint: str, width: int, signed: bool, count: int | None) -> str:
        """A new array of so many elements, or one signal; its name."""
        name = self.name(hint)
        self.declare(name, width, signed, count)
        return name

    def declare(self, name: str, width: int, signed: bool, count: int | None) -> None:
        """Declare an array, or one signal."""
        if count is None:
            self.declared.append(f"  {declared(name, width, signed)};")
            return
        self.sizes[name], self._kinds[name] = size_of(count), (width, signed)
        self.declared.append(f"  {declared(name, width, signed)} [0:{self.sizes[name] - 1}];")

    def depends(self, name: str, others: Iterable[str]) -> None:
        """Say what a signal is computed from in the same cycle."""
        self.inputs.setdefault(name, set()).update(others)

    def loop(self, count: int) -> str:
        """The head of a loop."""
        return f"for (int {self.p} = 0; {self.p} < {count}; {self.p}++)"

    def registers(self, names: Iterable[tuple[str, str, int | None]]) -> None:
        """Let arrays take what others hold, or a reset value: the names of both, and that value."""
        for array, following, reset in names:
            start = "" if reset is None else f"if (rst) {array} <= {self._start(array, reset)}; else "
            self.lines.append(f"  always_ff @(posedge clk) {start}{array} <= {following};")

    def _start(self, array: str, reset: int) -> str:
        """An array of reset values: `'{default: 0}` becomes a number for each element in C++."""
        kind = (*self._kinds[array], self.sizes[array], reset)
        if kind not in self._starts:
            width, signed, size, _ = kind
            name = self._starts[kind] = self.array(f"reset_{reset}_{width}", width, signed, size)
            self.lines.append(f"  initial {self.loop(size)} {name}[{self.p}] = {reset};")
        return self._starts[kind]

    def place(self, column: Column) -> str:
        """The places in an array that the iterations of a loop come to."""
        step = column[1] - column[0] if len(column) > 1 else 0
        if all(place == column[0] + step * number for number, place in enumerate(column)):
            return _affine(step, column[0], self.p)
        if column not in self._tables:
            self._tables[column] = self.name(f"places_{len(self._tables)}")
        return f"{self._tables[column]}[{self.p}]"

    def tables(self) -> Iterable[str]:
        """Declarations of all tables: by a formula, which simulators read in no time, where there is one."""
        for column, name in self._tables.items():
            formula = _rows(column, self.p)
            if formula is not None:
                yield f"  int {name} [0:{size_of(len(column)) - 1}];"
                yield f"  initial {self.loop(len(column))} {name}[{self.p}] = {formula};"
                continue
            places = [*column, *[0] * (size_of(len(column)) - len(column))]
            yield f"  localparam int {name} [0:{len(places) - 1}] = '{{{', '.join(map(str, places))}}};"


def size_of(count: int) -> int:
    """The size of an array with so many elements."""
    return 1 << (count - 1).bit_length()


def declared(name: str, width: int, signed: bool) -> str:
    """A declaration of a signal."""
    return f"logic{' signed' if signed else ''}{'' if width == 1 else f' [{width - 1}:0]'} {name}"


def instance(module: str, parameters: Sequence[tuple[str, int | str]], name: str, ports: Sequence[str]) -> str:
    """The text of an instance."""
    given = ", ".join(f".{parameter}({value})" for parameter, value in parameters)
    return f"  {module}{f' #({given})' if given else ''} {name} ({', '.join(ports)});"


def _rows(column: Column, variable: str) -> str | None:
    """The places as rows of one length, of which the first and the last may be shorter; None if they are none."""
    steps = [after - before for before, after in pairwise(column)]
    ((step, _),) = Counter(steps).most_common(1)
    starts = [number for number, one in enumerate(steps, start=1) if one != step]
    if len(starts) < 2:
        return None
    length = starts[1] - starts[0]
    missing = length - starts[0]
    between = column[starts[1]] - column[starts[0]]
    first = column[starts[0]] - between
    formula = [first + between * row + step * place
               for row, place in (divmod(number + missing, length) for number in range(len(column)))]  # fmt: skip
    if missing < 0 or formula != list(column):
        return None
    at = f"({variable} + {missing})" if missing else variable
    return f"{between} * ({at} / {length}) + {step} * ({at} % {length}) + {first}"


def _affine(step: int, first: int, variable: str) -> str:
    if step == 0:
        return str(first)
    term = variable if step == 1 else f"{step} * {variable}"
    return term if first == 0 else f"{term} + {first}"
