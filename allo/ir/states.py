"""States of a schedule: modules that share the functions in which they are the same, and drafts of the next one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from mlir import ir

from allo import _mlir

from ..errors import InternalError
from .module import Module
from .parts import Part
from .walk import LoopView, buffers_of, loops_of, statements, string_of


class _Site:
    """A part in the module of a state, with its loops and arrays there."""

    __slots__ = ("_loops", "buffers", "number", "op")

    def __init__(self, op: ir.Operation, number: int) -> None:
        self.op = op
        self.number = number
        self._loops: list[LoopView] | None = None
        self.buffers: dict[str, ir.Value] | None = None

    @property
    def loops(self) -> list[LoopView]:
        """Its loops, found once."""
        if self._loops is None:
            self._loops = loops_of(self.op.opview)
        return self._loops


class _Home:
    """The module that a state has for itself, its parts in their order, and what steps have replaced in it."""

    __slots__ = ("aside", "mlir", "sites")

    def __init__(self, mlir: ir.Module, empty: ir.Module) -> None:
        self.mlir = mlir
        self.aside = _mlir.clone_module(empty.operation)
        self.sites = self.found()

    def become(self, before: Mapping[str, Part], parts: Mapping[str, Part]) -> None:
        """Hold `parts` instead of those `before`, which others keep."""
        changed = {name: part for name, part in parts.items() if part is not before[name]}
        unwritten = {name: part for name, part in changed.items() if not part.is_written}
        for name, part in changed.items():
            place, _ = _mlir.set_aside(self.mlir, self.sites[name].op, self.aside)
            if name not in unwritten or part.plain is not before[name].plain:
                part.copy(ir.InsertionPoint(place))
                place.erase()
        self.sites = self.found()
        self.write(unwritten)

    def write(self, parts: Mapping[str, Part]) -> None:
        """Write parts that nobody has looked at; copies of what they are but for types stand in their places."""
        for name, part in parts.items():
            part.written(self.sites[name].op)
        ops, plain = [self.sites[name].op for name in parts], [part.plain.op for part in parts.values()]
        if parts and not _mlir.verify_changed(self.mlir.operation, ops, plain, True):
            Module(self.mlir).verify()

    def found(self) -> dict[str, _Site]:
        """What stands in the module now."""
        numbered = zip(_mlir.top_level(self.mlir.body), statements(self.mlir.body), strict=True)
        return {name or f"#{k}": _Site(op, number) for k, ((name, number), op) in enumerate(numbered)}


class FinishedModule(Module):
    """One that is not changed any more: functions (unfolded arrays have thousands), loops and arrays are found once.

    While nobody else can see its MLIR, a draft of the next state takes it over; if this one is asked for it again, it
    makes a module of its parts.
    """

    __slots__ = ("_before", "_empty", "_found", "_home", "_names", "_published", "parts")

    def __repr__(self) -> str:
        return f"<FinishedModule of '{self.top}': {', '.join(self.names())}>"

    def __init__(self, mlir: ir.Module) -> None:
        empty = _mlir.empty_module_like(mlir.operation)
        home = _Home(mlir, empty)
        self._become(empty, home, {name: Part(site.op) for name, site in home.sites.items()})

    @classmethod
    def of(cls, name: str, part: Part) -> FinishedModule:
        """A module of nothing but a function, which is called `name` there."""
        alone = Module.empty(name).mlir
        if string_of(part.op, "sym_name") != name:
            part.copy(ir.InsertionPoint(alone.body), name)
            return cls(alone)
        made = cls.__new__(cls)
        made._become(alone, None, {name: part})
        return made

    def _become(
        self, empty: ir.Module, home: _Home | None, parts: dict[str, Part], names: list[str] | None = None
    ) -> None:
        self._empty = empty  # has the attributes of the module, which steps do not change
        self._home = home
        self._before: FinishedModule | None = None  # which has almost the same module, if it has one
        self._names = names or [name for name, part in parts.items() if part.is_function]
        self._published = False
        self._found: dict[Hashable, Any] = {}  # what was read of functions in the module at home
        self.parts = parts

    @classmethod
    def after(cls, draft: Draft, parts: dict[str, Part], same_names: bool) -> FinishedModule:
        """The state that a draft has become."""
        made = cls.__new__(cls)
        made._become(draft.before._empty, draft.home, parts, draft.before._names if same_names else None)
        return made

    def taking(self, parts: Mapping[str, Part]) -> FinishedModule:
        """The next state, with other parts that use the same symbols, and are valid, in place of its own."""
        made = FinishedModule.__new__(FinishedModule)
        made._become(self._empty, None, self.parts | dict(parts), self._names)
        made._before = self
        return made

    @property
    def mlir(self) -> ir.Module:
        return self._at_home().mlir

    @property
    def top(self) -> str:
        name: str = ir.StringAttr(self._empty.operation.attributes["allo.top"]).value
        return name

    def _at_home(self) -> _Home:
        if self._home is None:
            self._home = self._taken_over() or self._made()
        return self._home

    def _made(self) -> _Home:
        mlir = _mlir.clone_module(self._empty.operation)
        point = ir.InsertionPoint(mlir.body)
        unwritten = {name: part for name, part in self.parts.items() if not part.is_written}
        for part in self.parts.values():
            part.copy(point)
        home = _Home(mlir, self._empty)
        home.write(unwritten)
        return home

    def _taken_over(self) -> _Home | None:
        """The module of the state that this one was made from by taking parts, with these parts."""
        state = self._before
        while state is not None and state._home is None:
            state = state._before
        if state is None or state._home is None or state._published:
            return None
        home, state._home, state._found = state._home, None, {}
        home.become(state.parts, self.parts)
        return home

    def published(self) -> FinishedModule:
        """This one, for users who may keep its MLIR: it stays as it is."""
        self._published = True
        return self

    def draft(self) -> Draft:
        """The start of the next state."""
        return Draft(self)

    def lend(self) -> _Home:
        """The module, for the next state."""
        home = self._at_home()
        if self._published:
            return _Home(_mlir.clone_module(home.mlir.operation), self._empty)
        self._home, self._found = None, {}
        return home

    def definitions(self) -> dict[str, Part]:
        """The functions by name."""
        return {name: self.parts[name] for name in self._names}

    def read[T](self, name: str, find: Callable[[ir.OpView], T]) -> T:
        """What `find` says of function `name`, with what it calls: found once."""
        if (name, find) not in self._found:
            self._found[name, find] = find(self.function(name))
        found: T = self._found[name, find]
        return found

    def once[T](self, find: Callable[[Module], T]) -> T:
        """What `find` says of the module: found once."""
        if ("", find) not in self._found:
            self._found["", find] = find(self)
        found: T = self._found["", find]
        return found

    def symbol(self, name: str) -> ir.Operation:
        return self._site(name).op

    def functions(self) -> Iterator[ir.OpView]:
        sites = self._at_home().sites
        return iter([sites[name].op.opview for name in self._names])

    def __contains__(self, name: str) -> bool:
        return name in self.parts and self.parts[name].is_function

    def names(self) -> list[str]:
        return list(self._names)

    def loops(self, name: str) -> list[LoopView]:
        return list(self._site(name).loops)

    def buffer_names(self, name: str) -> list[str]:
        return list(self._part(name).fact("buffers", lambda op: list(buffers_of(op.opview)), any_layout=True))

    def buffers(self, name: str) -> dict[str, ir.Value]:
        site = self._site(name)
        if site.buffers is None:
            site.buffers = buffers_of(site.op.opview)
        return dict(site.buffers)

    def _site(self, name: str) -> _Site:
        self._part(name)
        return self._at_home().sites[name]

    def _part(self, name: str) -> Part:
        if name not in self.parts:
            raise InternalError(f"nothing is called '{name}' in the module")
        return self.parts[name]


class Draft(Module):
    """The next state of a schedule while a step writes it: a function is copied when it is asked for.

    What stands in the module without being asked for belongs to the state before: it is read, and left as it is.
    """

    __slots__ = ("_home", "_mine", "_types", "before", "changed")

    def __init__(self, before: FinishedModule) -> None:
        self.before = before
        self.changed: list[str] = []  # once it is finished, the names of parts that are new or another than before
        self._home: _Home | None = None  # as long as nothing but types of arrays is asked for
        self._mine: dict[str, _Site] = {}
        self._types: Mapping[str, Mapping[int, ir.Type]] = {}

    @property
    def home(self) -> _Home:
        """The module that is written."""
        if self._home is None:
            self._home = self.before.lend()
        return self._home

    @property
    def mlir(self) -> ir.Module:
        return self.home.mlir

    def symbol(self, name: str) -> ir.Operation:
        if name not in self.home.sites:
            return super().symbol(name)
        if name not in self._mine:
            copy = _mlir.set_aside(self.home.mlir, self.home.sites[name].op, self.home.aside)
            self._mine[name] = _Site(*copy)
        return self._mine[name].op

    def earlier_loops(self, name: str) -> list[LoopView]:
        """The loops of a function in the state before."""
        return self.home.sites[name].loops

    def written_loops(self, name: str) -> list[LoopView]:
        """The loops of a function in which no more loops change."""
        function = self.function(name)
        return self._mine[name].loops if name in self._mine else loops_of(function)

    def functions(self) -> Iterator[ir.OpView]:
        for name in self.home.sites:
            self.symbol(name)
        return super().functions()

    def names(self) -> list[str]:
        return [function.name.value for function in super().functions()]

    def retype(self, types: Mapping[str, Mapping[int, ir.Type]]) -> None:
        """Give arrays of parts, by their numbers there, other types: all that the step does."""
        self._types = types

    def finished(self) -> FinishedModule:
        """The next state. Raises InternalError if it is not valid; only what was changed is looked at."""
        if self._home is None:
            retyped = {name: self.before.parts[name].retyped(types) for name, types in self._types.items()}
            self.changed = [name for name, part in retyped.items() if part is not self.before.parts[name]]
            return self.before.taking(retyped)
        assert not self._types, "a step that changes types does nothing else"
        known, before = self.before.parts, self.home.sites
        sites, asked = self._sites()
        made = {n: site for n, site in asked.items() if n not in known or not _mlir.are_same(before[n].op, site.op)}
        parts = known | {name: Part(site.op) for name, site in made.items()}
        same_names = list(sites) == list(known)
        if not same_names:
            parts = {name: parts[name] for name in sites}
        symbols = not same_names or any(_type(known[name].op) != _type(site.op) for name, site in made.items())
        earlier = [known[name].op if name in known else None for name in made]
        if not _mlir.verify_changed(self.mlir.operation, [site.op for site in made.values()], earlier, symbols):
            self.verify()
        self.home.sites = sites
        self.changed = list(made)
        return FinishedModule.after(self, parts, same_names)

    def _sites(self) -> tuple[dict[str, _Site], dict[str, _Site]]:
        """What stands in the module now, and those of it that the step has asked for or made."""
        before = self.home.sites
        sites = before | self._mine
        if _mlir.stand_as(self.mlir.body, [site.number for site in sites.values()]) and all(
            string_of(site.op, "sym_name") in (name, None) for name, site in self._mine.items()
        ):
            return sites, self._mine
        known = {site.number: site for site in before.values()}
        sites = {name: known.get(site.number, site) for name, site in self.home.found().items()}
        return sites, {name: site for name, site in sites.items() if site is not before.get(name)}


def _type(op: ir.Operation) -> ir.Attribute | None:
    """What the uses of a symbol must agree with."""
    name = "function_type" if op.name == "func.func" else "type"
    return op.attributes.get(name)
