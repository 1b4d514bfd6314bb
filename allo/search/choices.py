"""Choices of a schedule with holes: each has a name and options, and one of these is decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import SearchError

type Decisions = Mapping[str, int]
"""The option taken of each hole, by its number; holes that are not named have their first option."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole that was met: what may fill it, as text, and which option does; `ordered` ones have neighbours.

    Of lanes of a loop it says which dimensions of arrays the loop `walks` along, and whether its iterations need one
    another (`carries`), as those of a sum.
    """

    name: str
    options: tuple[str, ...]
    ordered: bool
    taken: int
    walks: tuple[str, ...] = ()
    carries: bool = False

    @property
    def value(self) -> str:
        return self.options[self.taken]


@dataclass
class Choose:
    """What a space asks: `choose("tile", (2, 4, 8))` gives one of the options, in the order of the text.

    A hole has one name, and the same options whenever the decisions before it are the same. Numbers that rise are
    ordered: a search then tries the next ones first. Raises SearchError for a hole without options, or a name that
    was asked before with others.
    """

    decisions: Decisions = field(default_factory=dict)
    holes: dict[str, Hole] = field(default_factory=dict)

    def __call__[T](
        self,
        name: str,
        options: Iterable[T],
        *,
        ordered: bool | None = None,
        walks: tuple[str, ...] = (),
        carries: bool = False,
    ) -> T:
        given = tuple(options)
        if not given:
            raise SearchError(f"hole '{name}' has no options", hint="give at least one, or do not ask")
        texts = tuple(_text(option) for option in given)
        known = self.holes.get(name)
        if known is not None:
            if known.options != texts:
                raise SearchError(
                    f"hole '{name}' was asked twice with other options: {', '.join(known.options)}, then "
                    f"{', '.join(texts)}",
                    hint="give each decision a name of its own",
                )
            return given[known.taken]
        if ordered is None:
            ordered = all(isinstance(option, int | float) for option in given) and list(given) == sorted(given)  # type: ignore[type-var]
        taken = self.decisions.get(name, 0)
        if not 0 <= taken < len(given):
            taken = 0  # other decisions have left it fewer options
        self.holes[name] = Hole(name, texts, ordered, taken, walks, carries)
        return given[taken]

    def flag(self, name: str) -> bool:
        """Whether to do something; no is the first option."""
        return self(name, (False, True), ordered=False)


def _text(option: Any) -> str:
    if isinstance(option, tuple | list):
        return ", ".join(_text(item) for item in option)
    return str(option)
