"""FIFOs and processes of runs without data: what they hold, where they are, for what they wait."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class TokenFifo:
    """A FIFO that has room as long as fewer elements than its `limit` have been put into it.

    `number` is that of what makes it, `index` its place in an array of FIFOs; no more than `most` elements may go in.
    `putter` and `getter` are who has used it last.
    """

    number: int
    index: int | None
    declared: int
    depth: int
    puts: int = 0
    gets: int = 0
    most: int | None = None
    limit: int = 0
    reader: Task | None = None
    writer: Task | None = None
    putter: Task | None = None
    getter: Task | None = None

    @property
    def is_walled(self) -> bool:
        """Whether no element may be put into it any more."""
        return self.most is not None and self.puts >= self.most


class Walled(TokenFifo):
    """A FIFO that takes no more than `most` elements, however many are taken out."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "limit" and self.most is not None:
            value = min(value, self.most)
        object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class StuckTask:
    """A task that could not go on: at this FIFO, through which so much had passed, or until others had ended.

    `iteration` are the loops around the place with their variables.
    """

    task: Task
    site: int | None
    full: TokenFifo | None
    empty: TokenFifo | None
    passed: tuple[int, int]
    leaders: tuple[Task, ...]
    iteration: tuple[tuple[str, int], ...]


@dataclass(slots=True, eq=False)
class Task:
    """A process at a position of its grid: the place where it waits, and the variables of its loops."""

    process: int
    position: tuple[int, ...]
    parent: Task | None = None
    steps: Generator[Any] | None = None
    site: int | None = None
    values: list[int] = field(default_factory=list)
    tests: tuple[Callable[[], int], ...] = ()
    missing: int = 0
    followers: list[Task] = field(default_factory=list)
    done: bool = False
    full: TokenFifo | None = None
    empty: TokenFifo | None = None
