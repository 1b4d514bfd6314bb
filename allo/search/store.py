"""Stores of searches: points in a file of SQLite, so that a search goes on where another one was stopped."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ..errors import SearchError
from .choices import Hole
from .point import FIGURES, PipelineFacts, Point, PointState

SCHEMA = 2
_TABLE = """
create table if not exists points (
    search text not null, key text not null, kernel text not null, state text not null, reason text not null,
    steps text not null, module text not null, holes text not null, cycles integer, milliseconds real,
    interval integer, dsp integer, bram18 integer, uram integer, lut integer, ff integer, least integer,
    simulated integer,
    proof text not null, places text not null, primary key (search, key)
)
"""

_COLUMNS = (
    *("search", "key", "kernel", "state", "reason", "steps", "module", "holes"),
    *FIGURES,
    *("least", "simulated", "proof", "places"),
)


class PointStore:
    """The points of searches in one file; `search` says what was asked (kernel, target, options), `key` the point.

    A point that is written is there after a crash. Raises SearchError if the file is no store.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        hint = "name a file that does not exist yet, or one that a search has made"
        try:
            self._connection = sqlite3.connect(self.path)
        except sqlite3.Error as error:
            raise SearchError(f"'{path}' cannot be used as a store: {error}", hint=hint) from None
        try:
            self._connection.execute("pragma journal_mode=wal")
            (version,) = self._connection.execute("pragma user_version").fetchone()
            if version not in (0, SCHEMA):
                raise SearchError(f"the store '{path}' is of version {version}, this is {SCHEMA}")
            self._connection.execute(_TABLE)
            self._connection.execute(f"pragma user_version = {SCHEMA}")
            self._connection.commit()
        except sqlite3.Error as error:
            self.close()
            raise SearchError(f"'{path}' cannot be used as a store: {error}", hint=hint) from None
        except SearchError:
            self.close()
            raise

    def get(self, search: str, key: str) -> Point | None:
        """A point that was looked at before."""
        row = self._rows("where search = ? and key = ?", (search, key)).fetchone()
        return None if row is None else _point(dict(zip(_COLUMNS, row, strict=True)))

    def put(self, search: str, key: str, kernel: str, point: Point) -> None:
        holes = json.dumps([dataclasses.asdict(hole) for hole in point.holes])
        places = json.dumps([dataclasses.asdict(place) for place in point.places])
        figures = [point.figures.get(name) for name in FIGURES]
        row = (search, key, kernel, point.state.value, point.reason, point.steps, point.module, holes, *figures)
        marks = ", ".join("?" * len(_COLUMNS))
        statement = f"insert or replace into points ({', '.join(_COLUMNS)}) values ({marks})"
        with self._connection:
            self._connection.execute(statement, (*row, point.least, point.simulated, point.proof, places))

    def points(self, where: str = "", *values: Any) -> list[Point]:
        """The points for which a condition in SQL holds, in the order in which they were found.

        Columns are `kernel`, `state`, `steps`, `reason`, the figures (`cycles`, `dsp`, ...), `simulated` and `proof`:
        `store.points("dsp <= ? and state = 'estimated'", 440)`.
        """
        try:
            rows = self._rows(f"where {where} order by rowid" if where else "order by rowid", values).fetchall()
        except sqlite3.Error as error:
            raise SearchError(f"the store does not understand '{where}': {error}") from None
        return [_point(dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> PointStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with closing(self._connection.execute("select count(*) from points")) as found:
            return int(found.fetchone()[0])

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points())

    def _rows(self, rest: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        return self._connection.execute(f"select {', '.join(_COLUMNS)} from points {rest}", values)


def _point(row: dict[str, Any]) -> Point:
    holes = tuple(Hole(**{**h, **_tuples(h, "options", "walks")}) for h in json.loads(row["holes"]))
    places = tuple(PipelineFacts(**{**p, **_tuples(p, "titles")}) for p in json.loads(row["places"]))
    state = PointState(row["state"])
    figures = {name: row[name] for name in FIGURES} if state is PointState.ESTIMATED else {}
    return Point(
        *(holes, row["steps"], state, row["reason"], row["module"], figures),
        *(row["least"], row["simulated"], row["proof"], places),
    )


def _tuples(given: dict[str, Any], *names: str) -> dict[str, tuple[str, ...]]:
    """What JSON has as lists."""
    return {name: tuple(given[name]) for name in names}
