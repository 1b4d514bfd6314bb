"""Connections of grids: signals as elements of arrays, and loops of all that is the same but for places in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....errors import InternalError
from ..library import MODULES
from .element import Held, Socket, library_sockets, sockets_of
from .expressions import ALONE, Chain, Expression, without_digits
from .level import LEAST, Level, LevelInstance, LevelRegister
from .text import GridText

type At = tuple[str, int | None]  # a signal, or an element of an array
_PAIR = 2  # in a design with grids, as many instances are one too
_FEW = 3  # as many statements are worth a loop
_CLOCKS = ("clk", "rst")


@dataclass(frozen=True, slots=True)
class InstanceGrid:
    """Instances of one module, or of modules that are equal, and the sockets of each by port."""

    name: str
    family: str
    instances: tuple[LevelInstance, ...]
    ports: tuple[Socket, ...]
    sockets: tuple[dict[str, Expression], ...]
    is_library: bool


class _Kind(NamedTuple):
    """What statements have in common that are one loop: `reset` and `enabled` are those of registers."""

    target: str
    is_element: bool
    gaps: tuple[tuple[str, ...], ...]
    names: tuple[tuple[str, bool], ...]  # and whether it is an array
    is_register: bool = False
    reset: int | None = None


class GridConnections:
    """The connections of one design; `families` say what arrays are of, by name, and those `apart` are not made."""

    def __init__(self, level: Level, text: GridText, apart: set[str]) -> None:
        self.level, self.text, self.apart = level, text, apart
        self.families: dict[str, str] = {}
        self.grids: list[InstanceGrid] = []
        self.bound: dict[str, dict[str, Held]] = {}  # what ports are connected to, by the names of grids
        self.single: list[LevelInstance] = []
        self.at: dict[str, At] = {name: (name, None) for name in level.ports}
        self._counts: dict[str, int] = {}
        self._resets = {one.name: one.reset for one in level.registers}
        self._following: dict[str, tuple[str, int | None]] = {}  # of arrays of registers: what is next, and the reset
        self._outputs: dict[tuple[str, str], str] = {}
        self._copies: list[tuple[str, tuple[str, int]]] = []
        self._rows: dict[_Kind, list[tuple[int, ...]]] = {}

    # -- signals as elements ----------------------------------------------------------------------------

    def place(self) -> None:
        """Find the grids, and say what all signals are."""
        found: dict[str, list[LevelInstance]] = {}
        for one in self.level.instances:
            found.setdefault(self._family(one), []).append(one)
        for family, members in found.items():
            if family and len(members) >= _PAIR and family not in self.apart:
                self.grids.append(self._grid(family, members))
            else:
                self.single += members
        for grid in self.grids:
            for port in grid.ports:
                if not port.is_input:
                    self._place_output(grid, port)
        self._place_families()
        for table in self.level.tables:
            self.at[table.name] = (table.name, None)

    def _family(self, one: LevelInstance) -> str:
        """What instances have in common that are a grid; nothing for one that is none."""
        module = one.instance.module
        if module in self.level.modules:
            return f"module {self.level.likeness[module].module.name}"
        if not MODULES[module].has_grid:
            return ""
        sources = ", ".join([" ".join((*source.names, *source.gaps)) for source in one.sockets.values()])
        return f"{module} {dict(one.instance.parameters)} {list(one.sockets)} {without_digits(sources)}"

    def _grid(self, family: str, members: Sequence[LevelInstance]) -> InstanceGrid:
        first = members[0].instance
        if first.module in self.level.modules:
            like = self.level.likeness
            module = like[first.module].module
            sockets = tuple(
                {like[one.instance.module].names[port]: source for port, source in one.sockets.items()}
                for one in members
            )
            name, ports, is_library = module.name, sockets_of(module), False
        else:
            name, ports, is_library = without_digits(members[0].name).strip("_"), library_sockets(first), True
            sockets = tuple(dict(one.sockets) for one in members)
        return InstanceGrid(self.text.name(name), family, tuple(members), tuple(ports), sockets, is_library)

    def _place_output(self, grid: InstanceGrid, port: Socket) -> None:
        made = self._array(grid.family, f"{grid.name}__{port.name}", port.width, port.signed, len(grid.instances))
        self._outputs[grid.name, port.name] = made
        signals, at, own, kind = self.level.signals, self.at, port.name, (port.width, port.signed)
        for number, sockets in enumerate(grid.sockets):
            gaps, names = sockets[own]
            if gaps != ALONE:
                raise InternalError(f"an output of '{grid.name}' is connected to an expression")
            (name,) = names
            if name in at or signals[name][1:3] != kind:
                self._copies.append((name, (made, number)))
            else:
                at[name] = (made, number)

    def _place_families(self) -> None:
        families: dict[tuple[str, int, bool, bool, int | None], list[str]] = {}
        for name, signal in self.level.signals.items():
            if name not in self.at:
                kind = (name in self._resets, self._resets.get(name))
                families.setdefault((without_digits(name), signal.width, signal.signed, *kind), []).append(name)
        for (hint, width, signed, is_register, reset), names in families.items():
            family = f"signals {hint} {width} {signed} {is_register} {reset}"
            if len(names) < LEAST or family in self.apart:
                for name in names:
                    self.text.declare(name, width, signed, None)
                    self.at[name] = (name, None)
                continue
            made = self._array(family, hint.strip("_"), width, signed, len(names))
            self.at |= {name: (made, number) for number, name in enumerate(names)}
            if is_register:
                self._following[made] = self._array(family, f"{made}_next", width, signed, len(names)), reset

    def _array(self, family: str, hint: str, width: int, signed: bool, count: int) -> str:
        made = self.text.array(hint, width, signed, count)
        self.families[made] = family
        self._counts[made] = count
        return made

    # -- ports of grids ---------------------------------------------------------------------------------

    def bind(self) -> None:
        """Find what the ports of grids are connected to."""
        for grid in self.grids:
            self.bound[grid.name] = {
                port.name: self._input(grid, port)
                if port.is_input
                else Held(self._outputs[grid.name, port.name], self.text.p, True)
                for port in grid.ports
            }

    def _input(self, grid: InstanceGrid, port: Socket) -> Held:
        sources = [sockets[port.name] for sockets in grid.sockets]
        first = sources[0]
        is_shared = all(source == first for source in sources) and all(
            self.at[name][1] is None for name in first.names if name in self.at
        )
        if is_shared and (port.name in _CLOCKS if grid.is_library else True):
            if first.name is not None and port.is_like(self.level.signals[first.name]):
                return Held(self.at[first.name][0])
            made = self.text.array(f"{grid.name}__{port.name}", port.width, port.signed, None)
            self._row(_Target((made, None)), first)
            return Held(made)
        signals, bits = self.level.signals, (port.width, port.signed)
        alone = [names[0] if gaps == ALONE else "" for gaps, names in sources]
        ats = [self.at.get(name, ("", None)) for name in alone]
        array = ats[0][0]
        places = [place for name, place in ats if name == array and place is not None]
        if len(places) == len(ats) and all(signals[name][1:3] == bits for name in alone if name in signals):
            is_own = self._counts[array] == len(ats) and places == list(range(len(ats)))
            if is_own or not grid.is_library:
                return Held(array, self.text.p if is_own else self.text.place(tuple(places)), is_own)
        made = self._array(grid.family, f"{grid.name}__{port.name}", port.width, port.signed, len(sources))
        rows: dict[tuple[str, bool], list[tuple[int, ...]]] = {}
        for number, (source, (name, place)) in enumerate(zip(sources, ats, strict=True)):
            if not name:
                self._row(_Target((made, number)), source)
                continue
            is_array = place is not None
            if (name, is_array) not in rows:
                kind = _Kind(made, True, (ALONE,), ((name, is_array),))
                rows[name, is_array] = self._rows.setdefault(kind, [])
            rows[name, is_array].append((number, place or 0))
        return Held(made, self.text.p, True)

    # -- statements -------------------------------------------------------------------------------------

    def socket(self, source: Expression) -> str:
        """What a port of a single instance is connected to."""
        return source.filled(self._text)

    def inputs(self, source: Expression) -> list[str]:
        """The signals and arrays of an expression."""
        return [self.at[name][0] for name in source.names if name in self.at]

    def follow(self, name: str, source: Expression | Chain) -> None:
        """Let a signal follow an expression."""
        if isinstance(source, Expression):
            self._row(_Target(self.at[name]), source)
            return
        target, start = self._text(name), "1'b1" if source.operator == "&&" else "1'b0"
        terms: dict[_Kind, list[tuple[int, ...]]] = {}
        for term in source.terms:
            kind, places = self._kind(_Target((self.at[name][0], None)), (term,))
            terms.setdefault(kind, []).append(places)
        self.text.lines.append(f"  always_comb begin\n    {target} = {start};")
        for kind, rows in terms.items():
            for head, _, (text,) in self._loops(kind, rows):
                self.text.lines.append(f"    {head}{target} = {target} {source.operator} ({text});")
            self.text.depends(kind.target, (one for one, _ in kind.names))
        self.text.lines.append("  end")

    def registers(self, registers: Iterable[LevelRegister]) -> None:
        """Let signals be registers."""
        for one in registers:
            sources = (one.next,) if one.enable is None else (one.next, one.enable)
            self._row(_Target(self.at[one.name], True, one.reset), *sources)

    def finish(self) -> None:
        """Write all statements, those that are the same but for places in loops."""
        for name, (array, number) in self._copies:
            target, place = self.at[name]
            kind = _Kind(target, place is not None, (("", ""),), ((array, True),))
            self._rows.setdefault(kind, []).append((place or 0, number))
        for kind, rows in self._rows.items():
            if not kind.is_register:
                self.text.depends(kind.target, (name for name, _ in kind.names))
            for head, target, sources in self._loops(kind, rows):
                self.text.lines.append(self._statement(kind, head, target, sources))
        self.text.registers((name, following, reset) for name, (following, reset) in self._following.items())

    def _row(self, target: _Target, *sources: Expression) -> None:
        kind, places = self._kind(target, sources)
        self._rows.setdefault(kind, []).append(places)

    def _kind(self, target: _Target, sources: tuple[Expression, ...]) -> tuple[_Kind, tuple[int, ...]]:
        """What a statement is, and the places in it."""
        gaps: list[tuple[str, ...]] = []
        names: list[tuple[str, bool]] = []
        places = [target.at[1] or 0]
        for source in sources:
            if source.gaps is ALONE and (at := self.at.get(source.names[0])) is not None:
                names.append((at[0], at[1] is not None))
                places.append(at[1] or 0)
                gaps.append(ALONE)
                continue
            kept = [source.gaps[0]]
            for name, gap in zip(source.names, source.gaps[1:], strict=True):
                at = self.at.get(name)
                if at is None:  # a word of the language
                    kept[-1] += name + gap
                    continue
                names.append((at[0], at[1] is not None))
                places.append(at[1] or 0)
                kept.append(gap)
            gaps.append(tuple(kept))
        is_element = target.at[1] is not None
        kind = _Kind(target.at[0], is_element, tuple(gaps), tuple(names), target.is_register, target.reset)
        return kind, tuple(places)

    def _loops(self, kind: _Kind, rows: list[tuple[int, ...]]) -> Iterator[tuple[str, str, list[str]]]:
        """Heads of loops, with the target and the sources in them; without a head, single statements."""
        if len(rows) < _FEW:
            for row in rows:
                yield "", *_filled(kind, [f"[{place}]" for place in row])
            return
        columns = list(zip(*sorted(rows), strict=True))
        yield f"{self.text.loop(len(rows))} ", *_filled(kind, [f"[{self.text.place(one)}]" for one in columns])

    def _statement(self, kind: _Kind, head: str, target: str, sources: list[str]) -> str:
        source, *enable = sources
        if not kind.is_register:
            return f"  always_comb {head}{target} = {source};" if head else f"  assign {target} = {source};"
        if kind.is_element:
            following = self._following[kind.target][0] + target.removeprefix(kind.target)
            step = f"{following} = {source};"
            if enable:
                step = f"if ({enable[0]}) {step} else {following} = {target};"
            return f"  always_comb {head}{step}"
        step = f"if ({enable[0]}) {target} <= {source};" if enable else f"{target} <= {source};"
        reset = "" if kind.reset is None else f"if (rst) {target} <= {kind.reset}; else "
        return f"  always_ff @(posedge clk) {reset}{step}"

    def _text(self, name: str) -> str:
        name, place = self.at.get(name, (name, None))
        return name if place is None else f"{name}[{place}]"


class _Target(NamedTuple):
    at: At
    is_register: bool = False
    reset: int | None = None


def _filled(kind: _Kind, places: Sequence[str]) -> tuple[str, list[str]]:
    """The target and the sources of a statement with these places in arrays."""
    target = f"{kind.target}{places[0] if kind.is_element else ''}"
    pairs = zip(kind.names, places[1:], strict=True)
    names = [name + (place if is_array else "") for (name, is_array), place in pairs]
    sources, rest = [], iter(names)
    for gaps in kind.gaps:
        sources.append(gaps[0] + "".join(next(rest) + gap for gap in gaps[1:]))
    return target, sources

