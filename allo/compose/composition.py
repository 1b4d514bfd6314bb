"""Composition of schedules: replay of their steps, refusal of conflicts (Allo paper, Algorithm 1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from ..customize import Schedule
from ..customize.step.primitive import schedule_line
from ..customize.step.record import Step
from ..errors import Location, Note, ScheduleError
from ..ir.names import unique_name
from ..ir.recursion import reads_programs
from .correspondence import Origins, instances, reachable
from .footprint import History, Touch
from .renaming import Renaming, buffers_in, functions_in, renamed_functions
from .transplant import transplant


@reads_programs
def replay(schedule: Schedule, parts: Sequence[Schedule], id: str | None) -> None:
    """Apply the steps of `parts` to their kernels in `schedule`; on an error nothing has changed."""
    at, before = schedule_line(), len(schedule.steps)
    history = History.of(schedule)
    try:
        for part in parts:
            _Composition(history, part, id, at).run()
    except ScheduleError as error:
        schedule.undo(len(schedule.steps) - before)
        error.diagnostics = tuple(
            dataclasses.replace(d, at=at, message=f"compose: {d.message}")
            if d.at is None
            else dataclasses.replace(d, notes=(*d.notes, Note("its schedule is composed here", at)))
            if d.at != at
            else d
            for d in error.diagnostics
        )
        raise
    except Exception:
        schedule.undo(len(schedule.steps) - before)
        raise


class _Composition:
    """One schedule that is composed into another one."""

    def __init__(self, history: History, part: Schedule, id: str | None, at: Location | None) -> None:
        schedule = history.schedule
        self.schedule = schedule
        self.part = part
        self.id = id
        self.at = at
        self.part_history = History.of(part)
        self.history = history
        self.known = schedule.steps  # those that are there already
        self.origins = Origins(self.history)
        self.changes: dict[str, set[int]] = {}  # the steps of the part that changed a function of it
        self.untouched = (
            False  # whether the functions of the part are in the schedule as they were in the part
        )
        self.is_same = True  # whether the functions are those of the part, but for what steps have done to them
        self.shared: set[int] = set()  # steps of the schedule that the part has too

    def run(self) -> None:
        images = self._images()
        if self.id is not None:
            self._separate(images)
        names = [Renaming(functions) for functions in images]
        end = len(self.known)
        self.untouched = self.is_same and not any(
            self._changed_before(f, end) for table in names for f in table.functions.values()
        )
        for number, step in enumerate(self.part.steps):
            applied: list[tuple[Step, int]] = []  # instances may share the function of a step
            for table in names:
                wanted = table.step(step)
                found = next((k for other, k in applied if _same(wanted, other)), None)
                index = self._apply(wanted, number, table) if found is None else found
                applied.append((wanted, index))
                self._learn(table, number, index)

    def _apply(self, wanted: Step, number: int, table: Renaming) -> int:
        """Do step `number` of the part, unless the schedule has done it: the number that it has there."""
        if (index := self._done(wanted, number, table)) is not None:
            self.shared.add(index)
            return index
        self._check(wanted, number, table)
        if not transplant(self.part_history, number, wanted, self.history, table):
            self.schedule._replay(wanted)
        return len(self.schedule.steps) - 1

    def _images(self) -> list[dict[str, str]]:
        """For each instance of the kernel, what the functions of the part are called now."""
        found = []
        for first, instance in instances(self.schedule, self.part, self.id).items():
            self.is_same &= instance.is_same
            copies = self.origins.copies(first)
            if not copies:
                self._refuse_removed(first)
            for copy in copies:
                below = reachable(self.schedule._state.definitions(), copy)
                found.append(self._image(copy, instance.pairs, below))
        return found

    def _image(self, copy: str, pairs: dict[str, str], below: list[str]) -> dict[str, str]:
        functions = {}
        for ours in self.part._after(0).names():
            if ours not in pairs and self._uses(ours):
                raise ScheduleError(
                    f"the schedule of '{self.part.top_func_name}' has steps on '{ours}', and '{copy}' calls nothing "
                    "in its place",
                    hint="compose a schedule of the kernel as it is called here",
                )
        for ours, theirs in pairs.items():
            now = [copy] if ours == self.part.top_func_name else []
            now = now or [name for name in below if self.origins.first(name) == theirs]
            if len(now) > 1 and self._uses(ours):
                listed = " and ".join(f"'{name}'" for name in now)
                raise ScheduleError(
                    f"'{ours}' has become {listed} in '{copy}' by earlier steps, and each is another function now",
                    hint="compose before these steps",
                )
            if not now and self._uses(ours):
                self._refuse_removed(theirs)
            functions[ours] = now[0] if now else theirs
        return functions

    def _separate(self, images: list[dict[str, str]]) -> None:
        """Copy the functions that the steps are about, and those between, where others call them too."""
        own = {image[self.part.top_func_name] for image in images}
        wanted = {theirs for image in images for ours, theirs in image.items() if self._uses(ours)}
        functions = self.schedule._state.definitions()
        order = list(dict.fromkeys(name for start in sorted(own) for name in reachable(functions, start)))
        for name in [name for name in order if name not in own and wanted & set(reachable(functions, name))]:
            functions = self.schedule._state.definitions()
            callers = [caller for caller, function in functions.items() if name in function.calls]
            mine = [caller for caller in callers if caller in own]
            if len(mine) == len(callers):
                own.add(name)
                continue
            copy = unique_name(f"{name}_{self.id}", set(functions))
            self.schedule.specialize(name, callers=mine, name=copy)
            own.add(copy)
            self.origins.made[copy] = (name, len(self.known))
            for image in images:
                image.update({ours: copy for ours, theirs in image.items() if theirs == name})

    def _uses(self, function: str) -> bool:
        """Whether a step of the part names or changes a function."""
        return any(function in functions_in(step) for step in self.part.steps) or bool(
            self._changes(function)
        )

    def _changes(self, function: str) -> set[int]:
        """The steps of the part that changed a function of it."""
        if function not in self.changes:
            self.changes[function] = self.part_history.changes(function, 0, len(self.part.steps))
        return self.changes[function]

    def _changed_before(self, function: str, end: int) -> set[int]:
        """The steps before number `end`, which the part does not have, that changed a function of the schedule."""
        found: set[int] = set()
        for holder, first, last in self.origins.holders(function, end):
            found |= self.history.changes(holder, first, last)
        return found - self.shared

    def _refuse_removed(self, function: str) -> None:
        for number, step in enumerate(self.known):
            if (
                self.history.at(number + 1, function) is None
                and self.history.at(number, function) is not None
            ):
                raise ScheduleError(
                    f"'{function}' is no function of its own any more",
                    hint="compose its schedule first",
                    notes=[Note(f"the step that removed it, {step}, is here", step.at)],
                )

    def _changed_functions(self, number: int, table: Renaming) -> list[str]:
        """The functions of the part that its step `number` changed and the schedule has."""
        there = self.part_history.functions(number)
        return [
            function
            for function in there
            if function in table.functions and number in self._changes(function)
        ]

    def _touched(self, wanted: Step, number: int, table: Renaming) -> list[Touch]:
        """What a step of the part changes, and the types that it was written for, by the names in the schedule."""
        found = self._parts_changed(number, table)
        named = [Touch(buffer.function, "type", buffer.name) for buffer in buffers_in(wanted)]
        return [*found, *(touch for touch in named if touch not in found)]

    def _parts_changed(self, number: int, table: Renaming) -> list[Touch]:
        """What a step of the part changes, by the names in the schedule."""
        found: list[Touch] = []
        for function in self._changed_functions(number, table):
            for touch in self.part_history.touched(number, function):
                nest, dot, loop = touch.name.partition(".") if touch.kind == "loop" else (touch.name, "", "")
                name = table.parts.get((function, nest), nest) + dot + loop
                found.append(Touch(table.functions[function], touch.kind, name))
        return found

    def _earlier(self, touches: list[Touch], end: int) -> Iterator[tuple[int, Touch]]:
        """The steps before number `end`, the last first, that the part does not have and that touched the same."""
        changed = {touch.function: self._changed_before(touch.function, end) for touch in touches}
        for number in reversed(range(end)):
            for touch in touches:
                if number not in changed[touch.function]:
                    continue
                holder = self.origins.at(touch.function, number)
                here = dataclasses.replace(touch, function=holder)
                for other in self.history.touched(number, holder):
                    if here.overlaps(other):
                        yield number, other if here.kind == "loop" else here

    def _done(self, wanted: Step, number: int, table: Renaming) -> int | None:
        """The step of the schedule that did the same before, and does not depend on steps the part does not have."""
        named = functions_in(wanted)
        for index, step in enumerate(self.known):
            if step.name != wanted.name or index in self.shared:
                continue
            now = {f: self.origins.at(f, index) for f in named}
            renamed = any(f != name for f, name in now.items())
            if _same(renamed_functions(wanted, now) if renamed else wanted, step):
                before = next(self._earlier(self._touched(wanted, number, table), index), None)
                return index if before is None else None
        return None

    def _check(self, wanted: Step, number: int, table: Renaming) -> None:
        if self.untouched:
            return
        conflicts = list(self._earlier(self._touched(wanted, number, table), len(self.known)))
        if not conflicts:
            return
        others = [found for found in conflicts if not _same(self.known[found[0]], wanted)]
        index, touch = (others or conflicts)[0]
        earlier = self.known[index]
        both = touch.kind != "type" or touch in self._parts_changed(number, table)
        raise ScheduleError(
            f"{wanted} conflicts with {earlier}: {'both change' if both else 'the second one changes'} {touch}",
            hint="drop one of the two steps, or compose before the caller's own steps on that function",
            notes=[Note("the first one is here", wanted.at), Note("the second one is here", earlier.at)],
        )

    def _learn(self, table: Renaming, number: int, index: int) -> None:
        """The names of what step `number` of the part made, and step `index` of the schedule."""
        made, there = self.part_history.made_functions(number), self.history.made_functions(index)
        table.functions.update(zip(made, there, strict=False))
        is_new = index >= len(self.known)
        if there and is_new:
            self._follow_copies(table, there, index)
        if self.untouched:
            return  # the same steps make parts of the same names
        for ours, theirs in list(table.functions.items()):
            if number in self._changes(ours):
                holder = theirs if is_new else self.origins.at(theirs, index)
                if parts := self.part_history.made_parts(number, ours):
                    table.learn_parts(ours, parts, self.history.made_parts(index, holder))

    def _follow_copies(self, table: Renaming, made: list[str], index: int) -> None:
        """A step copied functions that others call too: the kernel now calls the copies."""
        for copy in made:
            self.origins.add(copy, index, len(self.known))
        below = reachable(self.history.functions(index + 1), table.functions[self.part.top_func_name])
        for ours, theirs in table.functions.items():
            copies = [copy for copy in made if self.origins.made.get(copy, ("",))[0] == theirs]
            if theirs not in below and copies:
                table.functions[ours] = copies[0]


def _same(left: Step, right: Step) -> bool:
    return (left.name, left.arguments) == (right.name, right.arguments)
