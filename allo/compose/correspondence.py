"""Instances of a scheduled kernel among the functions of another module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from allo._mlir import fingerprint

from ..customize import Schedule
from ..errors import Location, Note, ScheduleError, nearest
from ..ir.parts import Part
from ..ir.states import FinishedModule
from ..ir.walk import location_of
from .footprint import History

SYMBOL = re.compile(r'@(?:"[^"]*"|[\w$.-]+)')


@dataclass(frozen=True, slots=True)
class Instance:
    """A function that steps of a part are for, with what the functions of the part are called there.

    `is_same`: it is the kernel of the part but for names; else the steps say whether they can be taken.
    """

    pairs: dict[str, str]
    is_same: bool = True


def instances(schedule: Schedule, part: Schedule, id: str | None) -> dict[str, Instance]:
    """The functions of the first module of `schedule` that are the kernel of `part`, or its instance named `id`.

    An instance that `id` names may have other types, another body, or another name in front of the `id`. Raises
    ScheduleError if there is none, and, without `id`, if the functions that come from the same kernel differ from it.
    """
    if id is not None and not isinstance(id, str):
        raise ScheduleError(f"id is the name of an instance, a string, got {type(id).__name__} {id!r}")
    module, kernel = schedule._after(0), part._after(0)
    top = kernel.definitions()[kernel.top]
    related = {name: f for name, f in module.definitions().items() if _same_source(f, top)}
    names = list(related)
    wanted = None if id is None else _named(module, kernel.top, names, id)
    if not related and wanted is None:
        known = [name for name in module.names() if name != module.top]
        listed = f"the functions are {', '.join(known)}" if known else f"'{module.top}' calls nothing"
        hint = nearest(kernel.top, known) or listed
        raise ScheduleError(f"'{module.top}' does not call the kernel '{kernel.top}'", hint=hint)
    if id is not None and wanted is None:
        raise ScheduleError(
            f"there is no instance '{id}' of '{kernel.top}', which would be function '{kernel.top}_{id}'",
            hint=f'its instances are {", ".join(names)}; {kernel.top}[..., "{id}"](...) in the kernel names one',
        )
    found: dict[str, Instance] = {}
    for name in names if wanted is None else [wanted]:
        pairs = correspondence(kernel, kernel.top, module, name)
        if pairs is not None:
            found[name] = Instance(pairs)
        elif wanted is not None:
            found[name] = Instance(_alike(kernel, kernel.top, module, name), is_same=False)
    if not found:
        raise _mismatch(kernel, module.top, related)
    return found


def _named(module: FinishedModule, kernel: str, related: Sequence[str], id: str) -> str | None:
    """The function that is the instance `id`: of the kernel, else of the same source, else the only one so called."""
    if f"{kernel}_{id}" in related:
        return f"{kernel}_{id}"
    others = [[n for n in names if n.endswith(f"_{id}")] for names in (related, module.names())]
    return next((names[0] for names in others if len(names) == 1), None)


def _alike(kernel: FinishedModule, name: str, module: FinishedModule, other: str) -> dict[str, str]:
    """What functions that differ call in turn, from `name` and `other` on, as long as they call equally many."""
    ours, theirs = kernel.definitions(), module.definitions()
    pairs, todo = {name: other}, [name]
    for current in todo:
        sides = ours[current].calls, theirs[pairs[current]].calls
        for first, second in zip(*sides, strict=False) if len(sides[0]) == len(sides[1]) else ():
            if first in ours and second in theirs and first not in pairs:
                pairs[first] = second
                todo.append(first)
    return pairs


def _same_source(left: Part, right: Part) -> bool:
    """Whether two functions come from one `def`; by name, or that of an instance, if their lines are not known."""
    first, second = _source(left), _source(right)
    if first is None or second is None:
        return f"{left.op.opview.name.value}_".startswith(f"{right.op.opview.name.value}_")
    return first == second


def _source(function: Part) -> Location | None:
    """The line of the `def`; a module that was read from text knows only lines of that text."""
    place = location_of(function.op)
    return None if place is None or place.file == "-" or place.file.endswith(".mlir") else place


def correspondence(kernel: FinishedModule, name: str, module: FinishedModule, other: str) -> dict[str, str] | None:
    """What function `name` of `kernel` and all that it calls are called in `module`, where `name` is `other`.

    None if the functions differ in more than the names of functions and constants.
    """
    ours, theirs = kernel.definitions(), module.definitions()
    pairs, todo = {name: other}, [name]
    for current in todo:
        left, right = ours[current], theirs[pairs[current]]
        if left is right or fingerprint(left.op, {current: pairs[current]}) == fingerprint(right.op, {}):
            named: list[tuple[str, str]] | None = [(callee, callee) for callee in left.calls]
        else:
            named = _renamed(left.op, right.op)
        if named is None:
            return None
        for first, second in named:
            if first in ours and second in theirs:
                if pairs.setdefault(first, second) != second:
                    return None
                if first not in todo:
                    todo.append(first)
    return pairs


def _renamed(left: ir.Operation, right: ir.Operation) -> list[tuple[str, str]] | None:
    """The names of two functions that differ in names only, in the order of the text; None if they differ in more."""
    texts = [f.get_asm(use_local_scope=True, assume_verified=True) for f in (left, right)]
    if SYMBOL.split(texts[0]) != SYMBOL.split(texts[1]):
        return None
    found = [[symbol[1:].strip('"') for symbol in SYMBOL.findall(text)] for text in texts]
    return list(zip(*found, strict=True))


def _mismatch(kernel: FinishedModule, top: str, related: Mapping[str, Part]) -> ScheduleError:
    """Why no function of the module of `top` is the kernel, though it has the same source."""
    wanted = _signature(kernel.definitions()[kernel.top])
    notes = []
    for name, function in related.items():
        found = _signature(function)
        differs = f"it is {found}" if found != wanted else "its body, or that of a function it calls, is another one"
        notes.append(Note(f"'{name}' in '{top}': {differs}", location_of(function.op)))
    return ScheduleError(
        f"the schedule is of '{kernel.top}' {wanted}, and '{top}' has no such instance",
        hint="customize the kernel as it is called here: the same instantiate=, typing_rule_set= and lower_linalg=",
        notes=notes,
    )


def _signature(function: Part) -> str:
    return str(ir.TypeAttr(function.op.attributes["function_type"]).value)


class Origins:
    """Where the functions of a schedule come from: copies that steps have made stand for their originals."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.made: dict[str, tuple[str, int]] = {}  # a copy: its original, and the number of the step
        for step in range(len(history.schedule.steps)):
            for name in history.made_functions(step):
                self.add(name, step, step)

    def add(self, name: str, step: int, since: int) -> None:
        """Step number `step` made a function, which from step `since` on is its own."""
        after, before = self.history.functions(step + 1), self.history.functions(step)
        place = location_of(after[name].op)
        same = [n for n, f in before.items() if location_of(f.op) == place and name.startswith(n)]
        if same:
            self.made[name] = (max(same, key=len), since)

    def first(self, name: str) -> str:
        """The function of the first module that a function is, or is a copy of."""
        while name in self.made:
            name = self.made[name][0]
        return name

    def at(self, name: str, step: int) -> str:
        """The function that held the code of `name` before step number `step`."""
        while name in self.made and step <= self.made[name][1]:
            name = self.made[name][0]
        return name

    def holders(self, name: str, end: int) -> Iterator[tuple[str, int, int]]:
        """Which functions held the code of `name` before the steps before number `end`: each, from which and until."""
        while name in self.made:
            original, since = self.made[name]
            if since + 1 < end:
                yield name, since + 1, end
                end = since + 1
            name = original
        yield name, 0, end

    def copies(self, first: str) -> list[str]:
        """The functions now that are `first` or copies of it."""
        now = self.history.functions(len(self.history.schedule.steps))
        return [name for name in now if self.first(name) == first]


def reachable(functions: Mapping[str, Part], start: str) -> list[str]:
    """The functions that `start` calls, directly or not, after it: callers first."""
    order: list[str] = []
    _visit(functions, start, set(), order)
    return order[::-1]


def _visit(functions: Mapping[str, Part], name: str, seen: set[str], order: list[str]) -> None:
    """Add a function behind those that it calls."""
    if name in seen or name not in functions:
        return
    seen.add(name)
    for callee in functions[name].calls:
        _visit(functions, callee, seen, order)
    order.append(name)
