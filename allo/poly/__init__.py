"""The polyhedral model of a function, and the questions that schedules put to it."""

from .bounds import OutOfBounds, out_of_bounds
from .carried import carried_by
from .dependences import Relation, dependences, union
from .extract import extract
from .footprint import AffineForm, Extent, Footprint, footprint
from .model import Access, Buffer, Kind, Loop, Model, Parameter, Source
from .order import order_violation
from .pairs import Dependence
from .trips import max_trip_count, trip_count
from .violation import Undecided, Violation

__all__ = [
    "Access",
    "AffineForm",
    "Buffer",
    "Dependence",
    "Extent",
    "Footprint",
    "Kind",
    "Loop",
    "Model",
    "OutOfBounds",
    "Parameter",
    "Relation",
    "Source",
    "Undecided",
    "Violation",
    "carried_by",
    "dependences",
    "extract",
    "footprint",
    "max_trip_count",
    "order_violation",
    "out_of_bounds",
    "trip_count",
    "union",
]
