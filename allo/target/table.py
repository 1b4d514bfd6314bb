"""Tables of a TOML file that are asked for keys: an error names the file and the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import TargetError, nearest


class Table:
    """A table of a file; asks for keys and names file and key where one is missing or wrong."""

    def __init__(self, file: Path, path: str, data: Mapping[str, Any]) -> None:
        self.file, self.path, self.data = file, path, data
        self.used: set[str] = set()

    def error(self, key: str, problem: str, hint: str | None = None) -> TargetError:
        return TargetError(f"{self.file}: '{self.path}{key}' {problem}", hint=hint)

    def get[T](self, key: str, kinds: tuple[type, ...], described: str, default: T | None) -> Any:
        self.used.add(key)
        if key not in self.data:
            if default is None:
                raise self.error(key, f"is missing; it must be {described}")
            return default
        value = self.data[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise self.error(key, f"must be {described}, got {value!r}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        return str(self.get(key, (str,), "a text", default))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, which is not empty."""
        items = self.get(key, (list,), "a list of texts", None)
        if not items or not all(isinstance(item, str) for item in items):
            raise self.error(key, "must be a list of texts that say where the numbers are from")
        return tuple(items)

    def count(self, key: str, default: int | None = None) -> int:
        """An integer that is not negative."""
        value: int = self.get(key, (int,), "an integer of at least 0", default)
        if value < 0:
            raise self.error(key, f"must be an integer of at least 0, got {value}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number that is not negative."""
        value: float = self.get(key, (int, float), "a number of at least 0", default)
        if value < 0:
            raise self.error(key, f"must be a number of at least 0, got {value}")
        return value

    def table(self, key: str) -> Table:
        return Table(self.file, f"{self.path}{key}.", self.get(key, (dict,), "a table", None))

    def tables(self, key: str) -> list[Table]:
        items = self.get(key, (list,), "an array of tables", None)
        return [Table(self.file, f"{self.path}{key}[{n}].", item) for n, item in enumerate(items)]

    def pairs(self, key: str) -> tuple[tuple[int, int], ...]:
        """A list of pairs of positive integers; empty if it is missing."""
        items = self.get(key, (list,), "a list of [width, depth]", [])
        for item in items:
            if not isinstance(item, list) or len(item) != 2 or not all(isinstance(n, int) and n > 0 for n in item):
                raise self.error(key, f"must be a list of [width, depth], got {item!r} in it")
        return tuple((a, b) for a, b in items)

    def done(self) -> None:
        """Refuse what nothing has asked for: it is a mistake of spelling."""
        for key in self.data:
            if key not in self.used:
                raise self.error(key, "is not known", nearest(key, sorted(self.used)))


def each[T](table: Table, read: Callable[[str, Table], T], needed: tuple[str, ...]) -> dict[str, T]:
    """What `read` makes of each table in a table, which must hold those of the names `needed`."""
    return {key: read(key, table.table(key)) for key in dict.fromkeys((*needed, *table.data))}
