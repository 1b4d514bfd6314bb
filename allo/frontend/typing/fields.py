"""Fields of structs: the variable that one belongs to, the value of one, and their names in messages."""

from __future__ import annotations

from ...ir.types import AlloType, Struct
from ..read.source import Position
from .nodes import Construct, Expr, Field, Load, Var

type Place = Var | Load | Field


def names_of(struct: Struct) -> str:
    """The names of the fields, for messages."""
    return ", ".join(name for name, _ in struct.fields)


def root_of(place: Expr) -> tuple[Var | Load, tuple[str, ...]] | None:
    """The variable or element that a field belongs to, with the names that lead from there to the field."""
    if not isinstance(place, Field):
        return (place, ()) if isinstance(place, Var | Load) else None
    outer = root_of(place.operand)
    return None if outer is None else (outer[0], (*outer[1], place.name))


def field_hint(*operands: AlloType) -> str | None:
    """What to do about an operator on a struct."""
    struct = next((operand for operand in operands if isinstance(operand, Struct)), None)
    return None if struct is None else f"operators work on numbers; take one of its fields: {names_of(struct)}"


def field_of(base: Expr, name: str, at: Position) -> Expr:
    """`base.name`; of a value that was just made, what it was made of."""
    assert isinstance(base.type, Struct)
    if isinstance(base, Construct):
        return base.values[[given for given, _ in base.type.fields].index(name)]
    field = base.type.field(name)
    assert field is not None
    return Field(field, at, base, name)
