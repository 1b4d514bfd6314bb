"""Names of published Allo for its internals, which are not here: what to use instead, told where they are used."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import AlloError


class Absent:
    """Something that programs import from the internals of published Allo; using it is an error that says more."""

    def __init__(self, name: str, instead: str) -> None:
        self.name = name
        self.instead = instead

    def _refuse(self) -> NoReturn:
        raise AlloError(f"{self.name} belongs to the internals of published Allo, and is not here", hint=self.instead)

    def __call__(self, *arguments: Any, **keywords: Any) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self) -> str:
        return f"<{self.name}: {self.instead}>"
